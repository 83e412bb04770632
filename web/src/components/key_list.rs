//! Global keyboard shortcuts. The dialog that lists them is loaded when it is first opened.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::erased::{block, memo};
use super::fetched::Fetched;
use super::focus::focus;
use super::startup::Startup;
use crate::components::chunk::LazyPart;
use crate::state::session::{Dialog, Session};

/// Handles the global shortcuts, except in form fields: `?` opens their list, `/` focuses the device field.
#[component]
pub fn KeyList() -> impl IntoView {
    let session = expect_context::<Session>();
    let startup: Startup = expect_context();
    let list = Fetched::new(LazyPart::KeyDialog);
    let on_key = window_event_listener(leptos::ev::keydown, move |event| {
        if !startup.is_over()
            || is_typing(&event)
            || event.ctrl_key()
            || event.alt_key()
            || event.meta_key()
        {
            return;
        }
        match event.key().as_str() {
            "?" => session.dialog.set(Some(Dialog::Keys)),
            "/" => {
                event.prevent_default();
                search_device();
            }
            _ => {}
        }
    });
    on_cleanup(move || on_key.remove());
    let is_open = memo(move |_| session.dialog.get() == Some(Dialog::Keys));
    Effect::new(move |_| {
        if is_open.get() {
            list.ask();
        }
    });
    block(move || if is_open.get() { list.show() } else { ().into_any() })
}

fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA")
    })
}

/// Goes to the device field. In the Plan view a click on the scenario's device opens it.
fn search_device() {
    let part = document().get_element_by_id("part-device");
    match part.and_then(|part| part.dyn_into::<web_sys::HtmlElement>().ok()) {
        Some(part) if document().get_element_by_id("device").is_none() => part.click(),
        _ => focus_field("device"),
    }
}

/// Moves the focus to a field and selects its text, which typing then replaces.
fn focus_field(id: &str) {
    focus(id);
    let field = document().get_element_by_id(id);
    if let Some(field) = field.and_then(|field| field.dyn_into::<web_sys::HtmlInputElement>().ok())
    {
        field.select();
    }
}
