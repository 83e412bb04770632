//! Row of the table of operators.

use chart::theme::Hue;
use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{block, derived, flag, memo, on};
use crate::components::explained::ExplainedLater;
use crate::state::model::operators::{OperatorRow, explain};

/// One operator. Its cells are updated in place and all at once, so that typing rebuilds no row.
#[component]
pub fn OperatorTableRow(
    /// Counter; the row is updated from the answer when it changes.
    turn: Memo<u32>,
    /// 0 for prefill, 1 for decode.
    phase: usize,
    /// Index of the row, from 0.
    index: usize,
    /// Key that identifies the operator.
    key: String,
    /// Display name of the operator.
    name: &'static str,
    /// Color family of the peak that it runs on.
    hue: Hue,
) -> impl IntoView {
    let ModelContext { shown, pointed, .. } = expect_context();
    let id = key.clone();
    let key = StoredValue::new(key);
    let row = memo(move |_| {
        turn.get();
        shown.with_untracked(|shown| shown.answer.tables.get(phase)?.rows.get(index).cloned())
    });
    let cells = block(move || row.with(|row| row.as_ref().map(numbers)).into_any());
    let is_pointed =
        flag(move || pointed.with(|pointed| key.with_value(|key| pointed.as_ref() == Some(key))));
    let point = move || pointed.set(Some(key.get_value()));
    let explain =
        derived(move || shown.with(|shown| explain(&shown.answer.estimate, phase, index)));
    let text = Signal::stored(name.to_owned());
    let dot = format!("dot hue-{}", hue.key());
    view! {
        <tr
            class:pointed=is_pointed
            on:pointerenter=on(move |_| point())
            on:pointerleave=on(move |_| pointed.set(None))
        >
            <th scope="row">
                <span class=dot aria-hidden="true"></span>
                <ExplainedLater id=id text=text explain=explain on_focus=Callback::new(move |()| point())/>
            </th>
            {cells}
        </tr>
    }
}

fn numbers(row: &OperatorRow) -> impl IntoView + use<> {
    let OperatorRow {
        count, flops, bytes: [weights, cache, activations], intensity, share, ..
    } = row.clone();
    view! {
        <td>{count}</td>
        <td>{flops}</td>
        <td>{weights}</td>
        <td>{cache}</td>
        <td>{activations}</td>
        <td>{intensity}</td>
        <td>{share}</td>
        <td>{row.bound}</td>
    }
}
