//! The line at the top.

use leptos::prelude::*;

use super::erased::{on, text};
use crate::state::session::Session;

/// Name, view, colors, keys.
#[component]
pub fn Header() -> impl IntoView {
    let session = expect_context::<Session>();
    let colors = session.colors;
    let other =
        text(move || if colors.is_dark() { "Light colors" } else { "Dark colors" }.to_owned());
    view! {
        <header class="top">
            <p class="brand">"Ridgepoint"</p>
            <nav aria-label="Views">
                <a href="?" aria-current="page">"Kernel"</a>
            </nav>
            <div class="tools">
                <button type="button" class="tool" aria-label=other title=other on:click=on(move |_| colors.toggle())>
                    "◐"
                </button>
                <button
                    type="button"
                    class="tool"
                    aria-label="Keys"
                    title="Keys"
                    on:click=on(move |_| session.help.set(true))
                >
                    "?"
                </button>
            </div>
        </header>
    }
}
