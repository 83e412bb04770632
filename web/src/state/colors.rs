//! Light or dark color theme: the system's preference, unless the user chose one.

use core::cell::Cell;

use chart::theme::{DARK, LIGHT, Theme};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::Element;

use super::computed_style::forced_theme;

const KEY: &str = "colors";

/// The color theme of the page.
#[derive(Debug, Clone, Copy)]
pub struct Colors {
    /// The user's choice; `None` follows the system.
    chosen_dark: RwSignal<Option<bool>>,
    /// The system prefers dark.
    system_dark: RwSignal<bool>,
    /// The reader forces colors on every page.
    is_forced: RwSignal<bool>,
}

impl Colors {
    /// Restores the choice of an earlier visit and follows changes of the system's preference.
    pub fn begin() -> Self {
        let stored = storage().and_then(|storage| storage.get_item(KEY).ok().flatten());
        let chosen = stored.and_then(|name| match name.as_str() {
            "dark" => Some(true),
            "light" => Some(false),
            _ => None,
        });
        let colors = Self {
            chosen_dark: RwSignal::new(chosen),
            system_dark: RwSignal::new(false),
            is_forced: RwSignal::new(false),
        };
        follow("(prefers-color-scheme: dark)", colors.system_dark);
        follow("(forced-colors: active)", colors.is_forced);
        if let Some(dark) = chosen {
            mark_document(dark);
        }
        colors
    }

    /// Whether the dark theme is active.
    pub fn is_dark(self) -> bool {
        self.chosen_dark.get().unwrap_or_else(|| self.system_dark.get())
    }

    /// The chart's colors in the active theme.
    pub fn theme(self) -> &'static Theme {
        let chosen = if self.is_dark() { &DARK } else { &LIGHT };
        if self.is_forced.get() { forced().unwrap_or(chosen) } else { chosen }
    }

    /// Switches to the other theme and stores the choice.
    pub fn toggle(self) {
        let dark = !untrack(move || self.is_dark());
        self.chosen_dark.set(Some(dark));
        mark_document(dark);
        if let Some(storage) = storage() {
            // Storage may be full or forbidden; the choice then lasts until the page is closed.
            drop(storage.set_item(KEY, name(dark)));
        }
    }
}

/// Sets `matches` to whether a media query matches, now and when that changes.
fn follow(query: &str, matches: RwSignal<bool>) {
    let Ok(Some(query)) = window().match_media(query) else { return };
    matches.set(query.matches());
    let watched = query.clone();
    let on_change = Closure::<dyn FnMut()>::new(move || matches.set(watched.matches()));
    let listening =
        query.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
    drop(listening); // a browser without change events keeps the initial theme
    on_change.forget();
}

thread_local! {
    static FORCED: Cell<Option<&'static Theme>> = const { Cell::new(None) };
}

/// The colors that the browser gives the page; charts take them too.
fn forced() -> Option<&'static Theme> {
    let body = document().body()?;
    let theme = forced_theme(&computed(&body, "background-color"), &computed(&body, "color"))?;
    let known = FORCED.get().filter(|known| **known == theme);
    // Kept for good: a reader changes colors a few times at most.
    FORCED.set(known.or_else(|| Some(Box::leak(Box::new(theme)))));
    FORCED.get()
}

/// A value of an element's computed style; empty without one.
pub fn computed(element: &Element, property: &str) -> String {
    let style = window().get_computed_style(element).ok().flatten();
    style.and_then(|style| style.get_property_value(property).ok()).unwrap_or_default()
}

fn name(dark: bool) -> &'static str {
    if dark { "dark" } else { "light" }
}

fn mark_document(dark: bool) {
    let root = document().document_element();
    let marked = root.map(|root| root.set_attribute("data-colors", name(dark)));
    debug_assert!(marked.is_some_and(|marked| marked.is_ok()), "every page has a root");
}

/// The browser's local storage; `None` if it is forbidden.
fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}
