//! Moves the keyboard focus.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Moves the focus to the element with an id. One that is hidden or gone leaves the focus where it is.
pub fn focus(id: &str) {
    focus_on(document().get_element_by_id(id));
}

/// Moves the focus to the first element that a selector finds.
pub fn focus_first(selector: &str) {
    focus_on(document().query_selector(selector).ok().flatten());
}

fn focus_on(element: Option<web_sys::Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        drop(element.focus()); // fails for a hidden element
    }
}
