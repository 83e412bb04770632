//! The Model view as a whole.

use leptos::prelude::*;

use crate::components::explanation::ExplanationPopover;

/// A model on a device.
#[component]
pub fn ModelView() -> impl IntoView {
    view! { <main class="model"><h1>"Model"</h1><ExplanationPopover/></main> }
}
