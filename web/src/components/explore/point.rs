//! The selected point: its numbers in words, its scenario in Plan, and the command that gives them again.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::run::Exploration;
use crate::components::advice::way;
use crate::components::erased::{block, on};
use crate::components::mark_icon::MarkIcon;
use crate::state::advice::ApplyCommand;
use crate::state::explore::command;
use crate::state::explore::row::ExploreRow;
use crate::state::explore::shown::{kept_rows, opened, spoken};
use crate::state::session::Step;

/// The point at the pointer, else the one that was chosen, else the first one of the table.
pub fn selected(this: Exploration) -> Option<ExploreRow> {
    let key = this.pointed.get().or_else(|| this.chosen.get());
    this.answer.with(|answer| {
        let answer = answer.as_ref()?;
        let first = || {
            let kept = this.session.inputs.with_untracked(kept_rows);
            answer.rows.get(*answer.visible(kept, None).first()?)
        };
        answer.row(key.as_deref()).or_else(first).cloned()
    })
}

/// The selected point.
#[component]
pub fn Point() -> impl IntoView {
    let this = expect_context::<Exploration>();
    let body = block(move || match selected(this) {
        Some(row) => view! { <PointBody row=row/> }.into_any(),
        None => ().into_any(),
    });
    view! { <section class="point" aria-label="Selected point">{body}</section> }
}

#[component]
fn PointBody(
    /// The selected row.
    row: ExploreRow,
) -> impl IntoView {
    let session = expect_context::<Exploration>().session;
    let scenario = session.inputs.with_untracked(|inputs| opened(inputs, &row));
    let command = session.inputs.with_untracked(|inputs| command::sweep(inputs, &row));
    let href = session.address(&scenario);
    let on_open = move |event: MouseEvent| {
        // With a modifier key the browser opens the link in another tab.
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            session.edit(Step::Choice, |inputs| *inputs = scenario.clone());
        }
    };
    let said = spoken(&row);
    let parts = said.split(" · ").map(|part| view! { <li>{part.to_owned()}</li> }).collect_view();
    view! {
        <h2><MarkIcon mark=row.mark()/> {row.name.clone()}</h2>
        <ul>{parts}</ul>
        <p><a class="chip strong" id="open-in-plan" href=href on:click=on(on_open)>"Open in Plan"</a></p>
        {way(ApplyCommand { tool: "The same numbers by a command".to_owned(), text: command })}
    }
}
