//! The formulas behind the chosen format, with the reader's numbers.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::erased::{later, memo, on};
use crate::lazy::{self, Refusal};
use crate::state::fragment;
use crate::state::session::Session;
use crate::state::url;

/// Opens on demand; the program that writes the formulas is fetched then.
#[component]
pub fn ShowWork() -> impl IntoView {
    let session = expect_context::<Session>();
    let is_open = RwSignal::new(false);
    let formulas = RwSignal::new(String::new());
    let on_toggle = move |event: leptos::ev::Event| {
        let details = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        is_open.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    // The formulas of an input that cannot be read are those of the last that could.
    let asked = memo(move |before: Option<&(String, String)>| {
        session.inputs.with(|inputs| {
            let kept = before.filter(|_| !url::is_readable(inputs)).cloned();
            kept.unwrap_or_else(|| (url::write(inputs), fragment::text(inputs)))
        })
    });
    // The reply comes from another program, so it can only arrive later.
    Effect::new(move |_| {
        if !is_open.get() {
            return;
        }
        let (query, carried) = asked.get();
        later(async move {
            let reply = lazy::ask("show_work", &[&query, &carried]).await;
            let is_current = asked.try_with_untracked(|now| now.0 == query) == Some(true);
            if is_current {
                formulas.set(reply.unwrap_or_else(|Refusal(text)| text));
            }
        });
    });
    view! {
        <details class="work" on:toggle=on(on_toggle)>
            <summary>"Show the work"</summary>
            <div tabindex="0" role="group" aria-label="Formulas" inner_html=move || formulas.get()></div>
        </details>
    }
}
