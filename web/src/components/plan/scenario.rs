//! The scenario in one line; each part is a button that opens its fields.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::view::PlanContext;
use crate::components::compare::bar::CompareLater;
use crate::components::erased::{block, memo, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::focus;
use crate::lazy::Part;
use crate::state::scenario::{Piece, pieces};
use crate::state::session::Session;

/// The scenario line and the fields of the open part.
#[component]
pub fn Scenario() -> impl IntoView {
    let session = expect_context::<Session>();
    let open = expect_context::<PlanContext>().open;
    let fields = Fetched::new(Part::Fields);
    let line = memo(move |_| session.inputs.with(pieces));
    let button = move |(piece, before, said): (Piece, &'static str, String)| {
        let is_open = move || open.get() == Some(piece);
        let on_click = move |_| {
            open.update(|open| *open = if *open == Some(piece) { None } else { Some(piece) });
            fields.ask();
        };
        view! {
            {before}
            <button
                type="button"
                class="part"
                id=format!("part-{}", piece.key())
                aria-expanded=text(move || is_open().to_string())
                aria-controls="part-fields"
                on:click=on(on_click)
            >
                {said}
            </button>
        }
    };
    let buttons = block(move || line.get().into_iter().map(button).collect_view().into_any());
    let on_key = move |event: KeyboardEvent| {
        // A list that is open takes the key itself.
        let is_list = document().query_selector(".picker.open").ok().flatten().is_some();
        if event.key() == "Escape" && !is_list {
            let Some(piece) = open.get_untracked() else { return };
            open.set(None);
            focus(&format!("part-{}", piece.key()));
        }
    };
    view! {
        <section class="scenario" aria-label="Scenario" on:keydown=on(on_key)>
            <p class="line">{buttons}</p>
            <CompareLater/>
            <div class="part-fields" id="part-fields">{block(move || fields.show())}</div>
        </section>
    }
}
