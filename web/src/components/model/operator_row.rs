//! Row of the table of operators.

use chart::theme::Hue;
use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{block, derived, flag, memo, on};
use crate::components::explained::ExplainedLater;
use crate::state::model::layers::{Numbers, OperatorRow, PhaseTable};

/// Head of a row, which stays while its numbers change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowHead {
    id: String,
    /// Key of its point on the chart.
    key: String,
    name: &'static str,
    /// Color family of the peak that it runs on.
    hue: Hue,
}

impl RowHead {
    /// The head of a row.
    pub fn of(row: &OperatorRow) -> Self {
        Self { id: row.id.clone(), key: row.key.clone(), name: row.name, hue: row.hue }
    }
}

/// One operator. Its cells are updated in place and all at once, so that typing rebuilds no row.
#[component]
pub fn OperatorTableRow(
    /// The table of the phase.
    table: Memo<Option<PhaseTable>>,
    /// Index of its part of the layers, from 0.
    part: usize,
    /// Index of the row in the part, from 0.
    index: usize,
    /// Name, color and keys.
    head: RowHead,
) -> impl IntoView {
    let pointed = expect_context::<ModelContext>().pointed;
    let RowHead { id, key, name, hue } = head;
    let key = StoredValue::new(key);
    let row = memo(move |_| {
        table.with(|table| table.as_ref()?.parts.get(part)?.rows.get(index).cloned())
    });
    let cells = block(move || {
        row.with(|row| row.as_ref().map(|row| numbers(row.numbers.clone()))).into_any()
    });
    let is_pointed =
        flag(move || pointed.with(|pointed| key.with_value(|key| pointed.as_ref() == Some(key))));
    let point = move || pointed.set(Some(key.get_value()));
    let explain = derived(move || row.with(|row| row.as_ref().map(|row| row.explanation.clone())));
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

/// The cells of a row after its head.
pub fn numbers(numbers: Numbers) -> impl IntoView + use<> {
    let Numbers { count, flops, bytes: [weights, cache, activations], intensity, share, bound } =
        numbers;
    view! {
        <td>{count}</td>
        <td>{flops}</td>
        <td>{weights}</td>
        <td>{cache}</td>
        <td>{activations}</td>
        <td>{intensity}</td>
        <td>{share}</td>
        <td>{bound}</td>
    }
}
