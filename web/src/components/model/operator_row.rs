//! A row of the table of operators.

use leptos::prelude::*;

use super::view::ModelContext;
use crate::components::erased::{block, flag, on, text};
use crate::components::explained::Explained;
use crate::state::model::operators::OperatorRow;

/// One operator. Its cells change in place: nothing is made again while the reader types.
#[component]
pub fn OperatorTableRow(
    /// 0 for prefill, 1 for decode.
    phase: usize,
    /// Place of the row.
    index: usize,
    /// What names the operator to the program.
    key: String,
) -> impl IntoView {
    let ModelContext { shown, pointed } = expect_context();
    let key = StoredValue::new(key);
    let row = Memo::new(move |_| {
        shown.with(|shown| shown.answer.tables.get(phase)?.rows.get(index).cloned())
    });
    let cell = move |show: fn(&OperatorRow) -> &str| {
        text(move || row.with(|row| row.as_ref().map_or("", show).to_owned()))
    };
    let is_pointed =
        flag(move || pointed.with(|pointed| key.with_value(|key| pointed.as_ref() == Some(key))));
    let point = move || pointed.set(Some(key.get_value()));
    let name = block(move || {
        let Some(row) = row.get() else { return ().into_any() };
        let class = format!("dot hue-{}{}", row.hue.key(), if phase == 0 { "" } else { " hollow" });
        view! {
            <span class=class aria-hidden="true"></span>
            <Explained id=row.key cell=row.name on_focus=Callback::new(move |()| point())/>
        }
        .into_any()
    });
    view! {
        <tr
            class:pointed=is_pointed
            on:pointerenter=on(move |_| point())
            on:pointerleave=on(move |_| pointed.set(None))
        >
            <th scope="row">{name}</th>
            <td class="wide">{cell(|row| &row.count)}</td>
            <td class="wide">{cell(|row| &row.flops)}</td>
            <td>{cell(|row| &row.bytes[0])}</td>
            <td class="wide">{cell(|row| &row.bytes[1])}</td>
            <td class="wide">{cell(|row| &row.bytes[2])}</td>
            <td class="wide">{cell(|row| &row.intensity)}</td>
            <td>{cell(|row| &row.share)}</td>
            <td>{cell(|row| row.bound)}</td>
        </tr>
    }
}
