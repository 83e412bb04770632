//! A view when it has come: its chunk is fetched when somebody first goes there.

use leptos::prelude::*;

use crate::components::erased::{block, later};
use crate::lazy::{MakeView, Refusal, model_view, trust_view};
use crate::state::inputs::View;

/// Nothing at first, then the view, or a sentence when it cannot be fetched.
#[component]
pub fn ViewLater(
    /// Which; the Kernel view is there from the start.
    view: View,
) -> impl IntoView {
    let made = RwSignal::new(None::<Result<MakeView, String>>);
    later(async move {
        let found = if view == View::Trust { trust_view().await } else { model_view().await };
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
