//! A row of the table of operators.

use leptos::prelude::*;

use super::view::ModelContext;
use crate::components::erased::{derived, flag, memo, on, text};
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
    let row =
        memo(move |_| shown.with(|shown| shown.answer.tables.get(phase)?.rows.get(index).cloned()));
    let cell = move |show: fn(&OperatorRow) -> &str| {
        text(move || row.with(|row| row.as_ref().map_or("", show).to_owned()))
    };
    let is_pointed =
        flag(move || pointed.with(|pointed| key.with_value(|key| pointed.as_ref() == Some(key))));
    let point = move || pointed.set(Some(key.get_value()));
    let class = text(move || {
        let hue = row.with(|row| row.as_ref().map_or("", |row| row.hue.key()));
        format!("dot hue-{hue}{}", if phase == 0 { "" } else { " hollow" })
    });
    let own = row.get_untracked().map(|row| row.name);
    let name = own.map(|own| {
        let cell = derived(move || {
            row.with(|row| row.as_ref().map(|row| row.name.clone())).unwrap_or_else(|| own.clone())
        });
        let on_focus = Callback::new(move |()| point());
        view! { <Explained id=key.get_value() cell=cell on_focus=on_focus/> }
    });
    view! {
        <tr
            class:pointed=is_pointed
            on:pointerenter=on(move |_| point())
            on:pointerleave=on(move |_| pointed.set(None))
        >
            <th scope="row"><span class=class aria-hidden="true"></span>{name}</th>
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
