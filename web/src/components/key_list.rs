//! The keys, and the list of them.

use leptos::ev::KeyboardEvent;
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::erased::{block, on};
use crate::state::session::Session;

const KEYS: [(&str, &str); 7] = [
    ("?", "this list"),
    ("/", "search a device"),
    ("Tab", "next field, chart, table"),
    ("Arrow keys", "from point to point in the chart, from cell to cell in the table"),
    ("Enter", "choose the format of the point or row"),
    ("Esc", "close what is open"),
    ("Alt ←", "undo the last choice"),
];

/// The list of keys, which `?` opens from anywhere but a text field.
#[component]
pub fn KeyList() -> impl IntoView {
    let session = expect_context::<Session>();
    let dialog = NodeRef::<Dialog>::new();
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
    let row = |(key, meaning): (&'static str, &'static str)| view! { <dt><kbd>{key}</kbd></dt><dd>{meaning}</dd> };
    let content = move |()| {
        view! {
            <dialog
                node_ref=dialog
                class="keys"
                aria-labelledby="keys-title"
                on:close=on(move |_| session.help.set(false))
            >
                <h2 id="keys-title">"Keys"</h2>
                <dl>{KEYS.into_iter().map(row).collect_view()}</dl>
                <form method="dialog"><button class="tool">"Close"</button></form>
            </dialog>
        }
    };
    dialog.on_load(|dialog| {
        request_animation_frame(move || drop(dialog.show_modal()));
    });
    block(move || session.help.get().then_some(()).map(content).into_any())
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
    }
}
