//! Views that are loaded as a chunk when they are first opened.

use leptos::prelude::*;

use crate::components::chunk::{Chunk, Chunks, LazyPart, MakeView};
use crate::components::erased::{block, later};
use crate::components::startup::Startup;
use crate::state::chunks::Refusal;
use crate::state::inputs::View;

/// Status line while the chunk loads, then the view, or a message when loading failed.
#[component]
pub fn ViewLater(
    /// View to load; the Plan view is part of the main program and needs no loading.
    view: View,
) -> impl IntoView {
    let made = RwSignal::new(None::<Result<MakeView, String>>);
    let chunk = match view {
        View::Compare => Chunk::More(LazyPart::Compare),
        View::Explore => Chunk::Explore,
        View::Kernel => Chunk::Kernel,
        View::Trust => Chunk::Trust,
        View::Measure => Chunk::Measure,
        View::Plan | View::Model => Chunk::Model,
    };
    let Chunks(fetch) = expect_context();
    let startup: Startup = expect_context();
    let release = startup.hold();
    on_cleanup(release.clone());
    later(async move {
        let found = startup.arrival(fetch(chunk)).await;
        // The user may have left the view, which disposes the signal.
        drop(made.try_set(Some(found.map_err(|Refusal(text)| text))));
        release();
    });
    block(move || {
        match made.get() {
        None => {
            view! { <p class="unseen" role="status">"The "{view.name()}" view is being fetched."</p> }
                .into_any()
        }
        Some(Ok(make)) => make(),
        Some(Err(text)) => {
            view! { <main class="later"><p class="message" role="alert">{text}</p></main> }
                .into_any()
        }
    }
    })
}
