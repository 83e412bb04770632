//! Parts of the scenario in one line; each is a button that opens its fields.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::components::chunk::LazyPart;
use crate::components::erased::{block, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::focus;
use crate::state::scenario::ScenarioPart;

/// A part of the scenario: the text before it, and its own.
pub type LinePart = (ScenarioPart, &'static str, String);

/// The line, what stands below it, and the fields of the open part.
#[component]
pub fn ScenarioLine(
    /// Name of the section.
    label: &'static str,
    line: Memo<Vec<LinePart>>,
    /// Part whose fields are open.
    open: RwSignal<Option<ScenarioPart>>,
    /// Stands between the line and the fields.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let fields = Fetched::new(LazyPart::Fields);
    let button = move |(part, before, said): LinePart| {
        let is_open = move || open.get() == Some(part);
        let on_click = move |_| {
            open.update(|open| *open = if *open == Some(part) { None } else { Some(part) });
            fields.ask();
        };
        view! {
            {before}
            <button
                type="button"
                class="part"
                id=format!("part-{}", part.key())
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
            let Some(part) = open.get_untracked() else { return };
            open.set(None);
            focus(&format!("part-{}", part.key()));
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
