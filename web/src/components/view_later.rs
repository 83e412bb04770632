//! A view when it has come: its chunk is fetched when somebody first goes there.

use core::pin::Pin;

use leptos::prelude::*;

use crate::components::erased::{block, later};
use crate::lazy::{MakeView, Refusal, measure_view, model_view, trust_view};
use crate::state::inputs::View;

/// Nothing at first, then the view, or a sentence when it cannot be fetched.
#[component]
pub fn ViewLater(
    /// Which; the Kernel view is there from the start.
    view: View,
) -> impl IntoView {
    let made = RwSignal::new(None::<Result<MakeView, String>>);
    // One type for both, because the code that waits for each would be a copy.
    let fetched: Pin<Box<dyn Future<Output = Result<MakeView, Refusal>>>> = match view {
        View::Trust => Box::pin(trust_view()),
        View::Measure => Box::pin(measure_view()),
        View::Kernel | View::Model => Box::pin(model_view()),
    };
    later(async move {
        let found = fetched.await;
        // The reader may have gone back meanwhile, and the signal with it.
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
