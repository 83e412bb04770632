//! The way to the Explore view from a place where its tables used to stand.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::components::erased::{on, text};
use crate::state::inputs::View;
use crate::state::session::{Session, Step};

/// A link that opens the scenario's model in the Explore view.
#[component]
pub fn ExploreLink() -> impl IntoView {
    let session = expect_context::<Session>();
    let on_click = move |event: MouseEvent| {
        // With a modifier key the browser opens the link in another tab.
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            session.edit(Step::Choice, |inputs| inputs.view = View::Explore);
        }
    };
    view! {
        <section class="inverse" aria-label="All devices">
            <h2>"All devices"</h2>
            <p>
                <a href=text(move || session.address_of(View::Explore)) on:click=on(on_click)>
                    "Explore all devices, or all models for this one"
                </a>
            </p>
        </section>
    }
}
