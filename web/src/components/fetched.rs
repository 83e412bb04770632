//! Parts of the page that are invisible before a click and loaded with it.

use leptos::prelude::*;

use super::chunk::{Chunk, Chunks, LazyPart, MakeView};
use super::erased::{block, flag, later, on};
use super::startup::Startup;
use crate::state::chunks::Refusal;

/// Part of the page that is loaded on first use.
#[derive(Debug, Clone, Copy)]
pub struct Fetched {
    chunk: Chunk,
    chunks: Chunks,
    startup: Startup,
    made: RwSignal<Option<Result<MakeView, String>>>,
}

impl Fetched {
    /// A part that is not loaded yet.
    pub fn new(part: LazyPart) -> Self {
        Self::of(part.into())
    }

    /// A chunk that is not loaded yet.
    pub fn of(chunk: Chunk) -> Self {
        Self {
            chunk,
            chunks: expect_context(),
            startup: expect_context(),
            made: RwSignal::new(None),
        }
    }

    /// Starts loading the part unless it is loaded; a failed load is tried again.
    pub fn ask(self) {
        if self.made.with_untracked(|made| matches!(made, Some(Ok(_)))) {
            return;
        }
        later(async move {
            let Chunks(fetch) = self.chunks;
            let found = self.startup.arrival(fetch(self.chunk)).await.map_err(|Refusal(text)| text);
            // The user may have left the view, which disposes the signal.
            drop(self.made.try_set(Some(found)));
        });
    }

    /// View of the part: empty until it is loaded, a message when loading failed.
    pub fn show(self) -> AnyView {
        match self.made.get() {
            None => ().into_any(),
            Some(Ok(make)) => make(),
            Some(Err(text)) => view! { <p class="message" role="alert">{text}</p> }.into_any(),
        }
    }
}

/// Collapsible section whose content is loaded when it is first opened.
#[component]
pub fn Folded(
    /// CSS class of the `details` element.
    class: &'static str,
    /// Text of the section's summary.
    title: &'static str,
    /// Part that the section contains.
    #[prop(into)]
    part: Chunk,
    /// Whether the section is open from the start.
    open: bool,
) -> impl IntoView {
    let fetched = Fetched::of(part);
    view! {
        <details class=class prop:open=flag(move || open) on:toggle=on(move |_| fetched.ask())>
            <summary>{title}</summary>
            {block(move || fetched.show())}
        </details>
    }
}
