//! Left column of a view: its fields, which are behind a summary line on a small screen.

use leptos::prelude::*;

use super::erased::{flag, on, text};

/// The summary line, and the fields that it opens.
#[component]
pub fn InputsShell(
    /// Name of the section.
    label: &'static str,
    /// The inputs in one line.
    summary: Signal<String>,
    /// Whether the fields are open from the start, as they are where one of them is wrong.
    #[prop(optional)]
    open: bool,
    children: Children,
) -> impl IntoView {
    let unfolded = RwSignal::new(open);
    view! {
        <section class="inputs" class:unfolded=flag(move || unfolded.get()) aria-label=label>
            <button
                type="button"
                class="summary"
                aria-expanded=text(move || unfolded.get().to_string())
                aria-controls="inputs"
                on:click=on(move |_| unfolded.update(|unfolded| *unfolded = !*unfolded))
            >
                {summary}
            </button>
            <div class="fields" id="inputs">{children()}</div>
        </section>
    }
}
