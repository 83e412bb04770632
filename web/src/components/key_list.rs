//! Global keyboard shortcuts. The dialog that lists them is loaded when it is first opened.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::erased::block;
use super::fetched::Fetched;
use crate::lazy::Part;
use crate::state::session::Session;

/// Handles the global shortcuts, except in form fields: `?` opens their list, `/` focuses the device field.
#[component]
pub fn KeyList() -> impl IntoView {
    let session = expect_context::<Session>();
    let list = Fetched::new(Part::KeyDialog);
    let on_key = window_event_listener(leptos::ev::keydown, move |event| {
        if is_typing(&event) || event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        match event.key().as_str() {
            "?" => session.help.set(true),
            "/" => {
                event.prevent_default();
                focus("device");
            }
            _ => {}
        }
    });
    on_cleanup(move || on_key.remove());
    block(move || {
        if !session.help.get() {
            return ().into_any();
        }
        list.ask();
        list.show()
    })
}

fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA")
    })
}

fn focus(id: &str) {
    let element = document().get_element_by_id(id);
    if let Some(element) =
        element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok())
    {
        drop(element.focus()); // a hidden element cannot be focused
        if let Some(field) = element.dyn_ref::<web_sys::HtmlInputElement>() {
            field.select(); // typing then replaces the present text
        }
    }
}
