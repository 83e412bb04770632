//! The keys that work everywhere. The list of them comes when it is first opened.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::erased::block;
use super::fetched::Fetched;
use crate::lazy::Part;
use crate::state::session::Session;

/// The list of keys, which `?` opens from anywhere but a text field.
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
        drop(element.focus()); // an element that is not in sight takes no focus
        if let Some(field) = element.dyn_ref::<web_sys::HtmlInputElement>() {
            field.select(); // what one types then replaces what is there
        }
    }
}
