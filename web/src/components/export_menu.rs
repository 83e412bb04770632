//! The export menu; its items are loaded when it is first opened.

use leptos::prelude::*;

use super::erased::{block, on};
use super::fetched::Fetched;
use crate::components::chunk::LazyPart;

/// Popover menu; the browser opens and closes it and restores the focus.
#[component]
pub fn ExportMenu() -> impl IntoView {
    let items = Fetched::new(LazyPart::ExportItems);
    view! {
        <button type="button" class="tool" popovertarget="export-menu" on:click=on(move |_| items.ask())>"Export"</button>
        <div class="menu" id="export-menu" popover="auto">{block(move || items.show())}</div>
    }
}
