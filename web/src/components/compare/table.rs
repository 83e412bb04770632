//! Table of the comparison: a column for each scenario, a row for each number.

use leptos::prelude::*;

use super::CompareContext;
use crate::components::erased::{block, flag, memo, on, text};
use crate::components::mark_icon::MarkIcon;
use crate::state::compare::pinning::{move_first, open, remove};
use crate::state::compare::{CompareCell, CompareColumn, CompareRow, Tone};
use crate::state::inputs::Inputs;
use crate::state::session::{Session, Step};

/// The columns with their rows, and the switch for rows that are equal.
#[component]
pub fn CompareTable() -> impl IntoView {
    let session = expect_context::<Session>();
    let CompareContext { shown, .. } = expect_context();
    let all = memo(move |_| session.inputs.with(|inputs| inputs.pins.all_rows));
    let columns = memo(move |_| shown.with(|shown| shown.columns.clone()));
    let rows = memo(move |_| shown.with(|shown| shown.shown_rows(all.get())));
    let heads =
        block(move || columns.get().into_iter().enumerate().map(head).collect_view().into_any());
    let body = block(move || rows.get().into_iter().map(row).collect_view().into_any());
    let class = text(move || format!("compared columns-{}", columns.with(Vec::len)));
    let on_all = move |event| {
        let checked = event_target_checked(&event);
        session.edit(Step::Choice, |inputs| inputs.pins.all_rows = checked);
    };
    view! {
        <div class="scroll" tabindex="0" role="group" aria-label="Comparison">
            <table class=class aria-label="Comparison">
                <thead><tr><td></td>{heads}</tr></thead>
                <tbody>{body}</tbody>
            </table>
        </div>
        <label class="all-rows">
            <input type="checkbox" id="all-rows" prop:checked=flag(move || all.get()) on:change=on(on_all)/>
            " all rows, also those that are equal"
        </label>
    }
}

/// Head of a column: its name and what can be done with it; of one that cannot be read, the reason.
fn head((place, column): (usize, CompareColumn)) -> impl IntoView {
    let CompareColumn { name, answered, .. } = column;
    let session = expect_context::<Session>();
    let act = move |change: fn(&mut Inputs, usize)| {
        on(move |_| session.edit(Step::Choice, |inputs| change(inputs, place)))
    };
    let is_readable = answered.is_ok();
    let fault = answered.err().map(|text| view! { <p class="message">{text}</p> });
    let button = |label: &'static str, change: fn(&mut Inputs, usize)| {
        view! {
            <button type="button" class="chip" aria-label=format!("{label}: {name}") on:click=act(change)>{label}</button>
        }
    };
    view! {
        <th scope="col">
            <span class="name">{name.clone()}</span>
            {fault}
            <span class="acts">
                {is_readable.then(|| button("Open in Plan", open))}
                {(place > 0).then(|| button("Move first", move_first))}
                {button("Remove", remove)}
            </span>
        </th>
    }
}

fn row(row: CompareRow) -> impl IntoView {
    let CompareRow { name, cells, is_code, .. } = row;
    let cells = cells.into_iter().map(|found| cell(found, is_code)).collect_view();
    view! { <tr><th scope="row">{name}</th>{cells}</tr> }
}

fn cell(cell: CompareCell, is_code: bool) -> impl IntoView {
    let CompareCell { text, beside, delta, mark, .. } = cell;
    if text.is_empty() {
        return view! { <td class="none">"–"</td> }.into_any();
    }
    let shown = if is_code { view! { <code>{text}</code> }.into_any() } else { text.into_any() };
    let delta = delta.map(|delta| {
        let class = match delta.tone {
            Tone::Better => "delta better",
            Tone::Worse => "delta worse",
            Tone::Unclear => "delta unclear",
            Tone::Plain => "delta",
        };
        view! { <span class=class>{delta.text}</span> }
    });
    let beside = (!beside.is_empty()).then(|| view! { <small>{beside}</small> });
    view! {
        <td>
            {mark.map(|mark| view! { <MarkIcon mark=mark/> " " })} {shown} " " {beside} {delta}
        </td>
    }
    .into_any()
}
