//! Parts of the scenario in one line; each is a button that opens its fields.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::components::chunk::Part;
use crate::components::erased::{block, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::focus;
use crate::state::scenario::Piece;

/// A part of the scenario: the text before it, and its own.
pub type LinePart = (Piece, &'static str, String);

/// The line, what stands below it, and the fields of the open part.
#[component]
pub fn PieceLine(
    /// Name of the section.
    label: &'static str,
    line: Memo<Vec<LinePart>>,
    /// Part whose fields are open.
    open: RwSignal<Option<Piece>>,
    /// Stands between the line and the fields.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let fields = Fetched::new(Part::Fields);
    let button = move |(piece, before, said): LinePart| {
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
        <section class="scenario" aria-label=label on:keydown=on(on_key)>
            <p class="line">{buttons}</p>
            {children.map(|children| children())}
            <div class="part-fields" id="part-fields">{block(move || fields.show())}</div>
        </section>
    }
}
