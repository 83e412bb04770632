//! What nobody sees before a click: it is fetched with the click.

use leptos::prelude::*;

use super::erased::{block, flag, later, on};
use crate::lazy::{MakeView, Part, Refusal, more};

/// A part of the page that is fetched when it is first asked for.
#[derive(Debug, Clone, Copy)]
pub struct Fetched {
    part: Part,
    made: RwSignal<Option<Result<MakeView, String>>>,
}

impl Fetched {
    /// Nothing of the part yet.
    pub fn new(part: Part) -> Self {
        Self { part, made: RwSignal::new(None) }
    }

    /// Somebody wants to see it. What could not be fetched is tried again.
    pub fn ask(self) {
        if self.made.with_untracked(|made| matches!(made, Some(Ok(_)))) {
            return;
        }
        later(async move {
            let found = more(self.part).await.map_err(|Refusal(text)| text);
            // The reader may have gone to another view meanwhile, and the signal with it.
            drop(self.made.try_set(Some(found)));
        });
    }

    /// The part, nothing while it is on its way, or a sentence when it cannot be fetched.
    pub fn show(self) -> AnyView {
        match self.made.get() {
            None => ().into_any(),
            Some(Ok(make)) => make(),
            Some(Err(text)) => view! { <p class="message" role="alert">{text}</p> }.into_any(),
        }
    }
}

/// A heading that unfolds a part.
#[component]
pub fn Folded(
    /// Class of the element.
    class: &'static str,
    /// The heading.
    title: &'static str,
    /// What it unfolds.
    part: Part,
    /// It is unfolded from the start.
    open: bool,
) -> impl IntoView {
    let fetched = Fetched::new(part);
    view! {
        <details class=class prop:open=flag(move || open) on:toggle=on(move |_| fetched.ask())>
            <summary>{title}</summary>
            {block(move || fetched.show())}
        </details>
    }
}
