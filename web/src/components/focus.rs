//! Moves the keyboard focus, and the page to an element.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};

use super::erased::text;

/// Moves the focus to the element with an id. One that is hidden or gone leaves the focus where it is.
pub fn focus(id: &str) {
    focus_on(document().get_element_by_id(id));
}

/// Opens the section around an element and moves the focus to it.
pub fn focus_unfolded(id: &str) {
    unfold_around(id);
    focus(id);
}

/// Opens the section around an element.
pub fn unfold_around(id: &str) {
    let element = document().get_element_by_id(id);
    let section = element.and_then(|element| element.closest("details").ok().flatten());
    if let Some(section) = section {
        drop(section.set_attribute("open", "")); // fails only for an invalid attribute name
    }
}

/// Shows the message of a field in which the user types, once the frame with it is there; an empty message is hidden and moves
/// nothing.
pub fn reveal_message(field: &str) {
    let id = format!("{field}-message");
    request_animation_frame(move || reveal_element(&id));
}

/// Scrolls as far as needed to show the element with an id.
pub fn reveal_element(id: &str) {
    let Some(element) = document().get_element_by_id(id) else { return };
    let nearest = web_sys::ScrollIntoViewOptions::new();
    nearest.set_block(web_sys::ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&nearest);
}

/// Moves the focus to the first element that a selector finds.
pub fn focus_first(selector: &str) {
    let first = document().query_selector(selector).ok().flatten();
    if first.is_some() && first == document().active_element() {
        return; // the reader types in it already
    }
    focus_on(first.clone());
    // Typing replaces the old value and does not append to it.
    if let Some(input) = first.and_then(|first| first.dyn_into::<HtmlInputElement>().ok()) {
        input.select();
    }
}

/// Moves the focus as [`focus_first`] does, and opens the list of the field: whoever asked for it wants to choose.
pub fn enter_first(selector: &str) {
    focus_first(selector);
    let first = document().query_selector(selector).ok().flatten();
    if let Some(field) = first.and_then(|first| first.dyn_into::<HtmlElement>().ok()) {
        field.click();
    }
}

/// The `tabindex` in a group with one tab stop: only the current element is in the order of the Tab key.
pub fn tab_index(is_current: impl Fn() -> bool + Send + Sync + 'static) -> Signal<String> {
    text(move || if is_current() { "0" } else { "-1" }.to_owned())
}

fn focus_on(element: Option<web_sys::Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        drop(element.focus()); // fails for a hidden element
    }
}
