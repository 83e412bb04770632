//! The single popover of the page, which explains the number at the pointer or the keyboard focus.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::erased::{block, on};
use crate::state::editor::explained_badge;
use crate::state::roving::popover_place;
use crate::state::session::{Popover, Session};

/// Popover with formula, values, provenance and source of a number. Escape closes it and the inspector.
#[component]
pub fn ExplanationPopover() -> impl IntoView {
    let session = expect_context::<Session>();
    let close = move || session.popover.set(None);
    let on_key = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Escape" {
            close();
            session.inspected.set(None);
        }
    });
    on_cleanup(move || on_key.remove());
    let own: NodeRef<Div> = NodeRef::new();
    let size = |length: Result<JsValue, JsValue>| {
        length.ok().and_then(|length| length.as_f64()).unwrap_or(1000.0)
    };
    // Its size is known when its text stands in the document.
    Effect::new(move |_| {
        let (Some(own), Some(anchor)) =
            (own.get(), session.popover.with(|popover| popover.as_ref().map(|it| it.anchor)))
        else {
            return;
        };
        let rect = own.get_bounding_client_rect();
        let whole = (size(window().inner_width()), size(window().inner_height()));
        let place = popover_place(anchor, (rect.width(), rect.height()), whole);
        let style = web_sys::HtmlElement::style(&own);
        for (name, value) in [("left", place.left), ("top", place.top), ("bottom", place.bottom)] {
            drop(style.set_property(name, &value));
        }
    });
    let body = move |Popover { owner, explanation, .. }: Popover| {
        let (badge, meaning) = session
            .inputs
            .with_untracked(|inputs| explained_badge(inputs, &owner, explanation.provenance));
        view! {
            <div
                node_ref=own
                id="explanation"
                role="tooltip"
                class="explanation"
                on:mouseleave=on(move |_| close())
            >
                <p class="title">
                    {explanation.title} <span class="badge" title=meaning>{badge}</span>
                </p>
                <p class="formula">{explanation.formula}</p>
                <p class="values">{explanation.values}</p>
                <p class="source">{explanation.source.text()}</p>
            </div>
        }
    };
    block(move || session.popover.get().map(body).into_any())
}
