//! Formulas of the chosen format with the present values, and the tiles of a matrix product.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::components::erased::{flag, later, memo, on};
use crate::lazy::{self, Refusal};
use crate::state::fragment;
use crate::state::operator::Op;
use crate::state::session::Session;
use crate::state::url;

/// Section that opens on demand: title, CSS class, label of its content, and the function of the chunk that writes it.
type Asked = (&'static str, &'static str, &'static str, &'static str);

const FORMULAS: Asked = ("Show the work", "work", "Formulas", "show_work");
const TILES: Asked = ("Tiles and waves", "tiles", "Tiles", "tiles");

/// Section with the formulas and, for a matrix product, a section with its tiles.
#[component]
pub fn ShowWork() -> impl IntoView {
    let session = expect_context::<Session>();
    let has_tiles = flag(move || session.inputs.with(|inputs| inputs.op == Op::Gemm));
    view! {
        <Written asked=FORMULAS/>
        <div hidden=flag(move || !has_tiles.get())><Written asked=TILES/></div>
    }
}

/// Section that opens on demand; the chunk that writes its content is loaded then.
#[component]
fn Written(
    /// Title, CSS class, label and function of the section.
    asked: Asked,
) -> impl IntoView {
    let (title, class, label, function) = asked;
    let session = expect_context::<Session>();
    let is_open = RwSignal::new(false);
    let written = RwSignal::new(String::new());
    let on_toggle = move |event: leptos::ev::Event| {
        let details = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        is_open.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    // While an input is invalid, the last valid inputs are kept.
    let asked = memo(move |before: Option<&(String, String)>| {
        session.inputs.with(|inputs| {
            let kept = before.filter(|_| !url::is_readable(inputs)).cloned();
            kept.unwrap_or_else(|| (url::write(inputs), fragment::text(inputs)))
        })
    });
    // The reply comes from another program, so it arrives asynchronously.
    Effect::new(move |_| {
        if !is_open.get() {
            return;
        }
        let (query, carried) = asked.get();
        later(async move {
            let reply = lazy::ask(function, &[&query, &carried]).await;
            let is_current = asked.try_with_untracked(|now| now.0 == query) == Some(true);
            if is_current {
                written.set(reply.unwrap_or_else(|Refusal(text)| text));
            }
        });
    });
    view! {
        <details class=class on:toggle=on(on_toggle)>
            <summary>{title}</summary>
            <div tabindex="0" role="group" aria-label=label inner_html=move || written.get()></div>
        </details>
    }
}
