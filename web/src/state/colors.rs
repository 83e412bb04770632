//! Light or dark: what the system prefers, unless the reader chose.

use chart::theme::{DARK, LIGHT, Theme};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

const KEY: &str = "colors";

/// Light or dark.
#[derive(Debug, Clone, Copy)]
pub struct Colors {
    /// Chosen here; `None` follows the system.
    chosen_dark: RwSignal<Option<bool>>,
    /// What the system prefers.
    system_dark: RwSignal<bool>,
}

impl Colors {
    /// Begins with what was chosen on an earlier visit, and follows the system.
    pub fn begin() -> Self {
        let stored = storage().and_then(|storage| storage.get_item(KEY).ok().flatten());
        let chosen = stored.and_then(|name| match name.as_str() {
            "dark" => Some(true),
            "light" => Some(false),
            _ => None,
        });
        let colors = Self { chosen_dark: RwSignal::new(chosen), system_dark: RwSignal::new(false) };
        colors.follow_system();
        if let Some(dark) = chosen {
            mark_document(dark);
        }
        colors
    }

    /// Dark is in force.
    pub fn is_dark(self) -> bool {
        self.chosen_dark.get().unwrap_or_else(|| self.system_dark.get())
    }

    /// The colors of the chart.
    pub fn theme(self) -> &'static Theme {
        if self.is_dark() { &DARK } else { &LIGHT }
    }

    /// The other one, from now on.
    pub fn toggle(self) {
        let dark = !untrack(move || self.is_dark());
        self.chosen_dark.set(Some(dark));
        mark_document(dark);
        if let Some(storage) = storage() {
            // Storage may be full or forbidden; the choice then lasts as long as the page.
            drop(storage.set_item(KEY, name(dark)));
        }
    }

    fn follow_system(self) {
        let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") else { return };
        self.system_dark.set(query.matches());
        let watched = query.clone();
        let on_change =
            Closure::<dyn FnMut()>::new(move || self.system_dark.set(watched.matches()));
        let listening =
            query.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
        drop(listening); // a browser without it keeps the colors of the start
        on_change.forget();
    }
}

fn name(dark: bool) -> &'static str {
    if dark { "dark" } else { "light" }
}

fn mark_document(dark: bool) {
    let root = document().document_element();
    let marked = root.map(|root| root.set_attribute("data-colors", name(dark)));
    debug_assert!(marked.is_some_and(|marked| marked.is_ok()), "every page has a root");
}

/// `None` where the browser forbids it.
fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}
