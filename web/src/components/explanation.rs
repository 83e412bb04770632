//! The single popover of the page, which explains a number.

use leptos::prelude::*;

use super::erased::{block, on};
use crate::state::editor::explained_badge;
use crate::state::roving::popover_place;
use crate::state::session::{Popover, Session};

/// Popover with formula, values, provenance and source of a number. Escape closes it.
#[component]
pub fn ExplanationPopover() -> impl IntoView {
    let session = expect_context::<Session>();
    let close = move || session.popover.set(None);
    let on_key = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Escape" {
            close();
        }
    });
    on_cleanup(move || on_key.remove());
    let body = move |Popover { owner, explanation, anchor }: Popover| {
        let size = |length: Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>| {
            length.ok().and_then(|length| length.as_f64()).unwrap_or(1000.0)
        };
        let place =
            popover_place(anchor, (size(window().inner_width()), size(window().inner_height())));
        let (badge, meaning) = session
            .inputs
            .with_untracked(|inputs| explained_badge(inputs, &owner, explanation.provenance));
        view! {
            <div
                id="explanation"
                role="tooltip"
                class="explanation"
                style:left=place.left
                style:top=place.top
                style:bottom=place.bottom
                on:mouseleave=on(move |_| close())
            >
                <p class="title">
                    {explanation.title}
                    <span class="badge" title=meaning>{badge}</span>
                </p>
                <p class="formula">{explanation.formula}</p>
                <p class="values">{explanation.values}</p>
                <p class="source">{explanation.source}</p>
            </div>
        }
    };
    block(move || session.popover.get().map(body).into_any())
}
