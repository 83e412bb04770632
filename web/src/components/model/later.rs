//! The Model view, when it has come: its chunk is fetched when somebody first goes there.

use leptos::prelude::*;

use crate::components::erased::{block, later};
use crate::lazy::{MakeView, Refusal, model_view};

/// Nothing at first, then the view, or a sentence when it cannot be fetched.
#[component]
pub fn ModelLater() -> impl IntoView {
    let made = RwSignal::new(None::<Result<MakeView, String>>);
    later(async move {
        let made_now = model_view().await.map_err(|Refusal(text)| text);
        // The reader may have gone back meanwhile, and the signal with it.
        drop(made.try_set(Some(made_now)));
    });
    block(move || match made.get() {
        None => view! { <p class="unseen" role="status">"The Model view is being fetched."</p> }
            .into_any(),
        Some(Ok(make)) => make(),
        Some(Err(text)) => {
            view! { <main class="later"><p class="message" role="alert">{text}</p></main> }
                .into_any()
        }
    })
}
