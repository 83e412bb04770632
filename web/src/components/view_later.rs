//! Views that are loaded as a chunk when they are first opened.

use core::pin::Pin;

use leptos::prelude::*;

use crate::components::erased::{block, later};
use crate::lazy::{
    MakeView, Part, Refusal, explore_view, kernel_view, measure_view, model_view, more, trust_view,
};
use crate::state::inputs::View;

/// Status line while the chunk loads, then the view, or a message when loading failed.
#[component]
pub fn ViewLater(
    /// View to load; the Plan view is part of the main program and needs no loading.
    view: View,
) -> impl IntoView {
    let made = RwSignal::new(None::<Result<MakeView, String>>);
    // Boxed to one type, because the code that awaits each future would be duplicated.
    let fetched: Pin<Box<dyn Future<Output = Result<MakeView, Refusal>>>> = match view {
        View::Compare => Box::pin(more(Part::Compare)),
        View::Explore => Box::pin(explore_view()),
        View::Kernel => Box::pin(kernel_view()),
        View::Trust => Box::pin(trust_view()),
        View::Measure => Box::pin(measure_view()),
        View::Plan | View::Model => Box::pin(model_view()),
    };
    later(async move {
        let found = fetched.await;
        // The user may have left the view, which disposes the signal.
        drop(made.try_set(Some(found.map_err(|Refusal(text)| text))));
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
