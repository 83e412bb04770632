//! Formulas of the chosen format with the present values, and the tiles of a matrix product.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::components::erased::{flag, later, memo, on};
use crate::state::chunks::{Refusal, generate};
use crate::state::export_kinds::Document;
use crate::state::inputs::Inputs;
use crate::state::operator::Op;
use crate::state::session::Session;
use crate::state::url;

/// Section that opens on demand: title, CSS class, label of its content, and the content.
type Section = (&'static str, &'static str, &'static str, Document);

const FORMULAS: Section = ("Show the work", "work", "Formulas", Document::Work);
const TILES: Section = ("Tiles and waves", "tiles", "Tiles", Document::Tiles);

/// Section with the formulas and, for a matrix product, a section with its tiles.
#[component]
pub fn ShowWork() -> impl IntoView {
    let session = expect_context::<Session>();
    let has_tiles = flag(move || session.inputs.with(|inputs| inputs.op == Op::Gemm));
    view! {
        <Written section=FORMULAS/>
        <div hidden=flag(move || !has_tiles.get())><Written section=TILES/></div>
    }
}

/// Section that opens on demand; the chunk that writes its content is loaded then.
#[component]
fn Written(
    /// Title, CSS class, label and content of the section.
    section: Section,
) -> impl IntoView {
    let (title, class, label, kind) = section;
    let session = expect_context::<Session>();
    let is_open = RwSignal::new(false);
    let written = RwSignal::new(String::new());
    let on_toggle = move |event: leptos::ev::Event| {
        let details = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        is_open.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    // While an input is invalid, the last valid inputs are kept.
    let asked = memo(move |before: Option<&Inputs>| {
        session.inputs.with(|inputs| {
            let kept = before.filter(|_| !url::is_readable(inputs));
            kept.unwrap_or(inputs).clone()
        })
    });
    // The code is in a chunk, so the content arrives asynchronously.
    Effect::new(move |_| {
        if !is_open.get() {
            return;
        }
        let inputs = asked.get();
        later(async move {
            let reply = generate(kind, &inputs).await;
            let is_current = asked.try_with_untracked(|now| *now == inputs) == Some(true);
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
