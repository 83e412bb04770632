//! What can be taken along; what is in the menu comes when it is first opened.

use leptos::prelude::*;

use super::erased::{block, on};
use super::fetched::Fetched;
use crate::lazy::Part;

/// A menu that the browser opens, closes and takes the focus back from.
#[component]
pub fn ExportMenu() -> impl IntoView {
    let items = Fetched::new(Part::ExportItems);
    view! {
        <button type="button" class="tool" popovertarget="export-menu" on:click=on(move |_| items.ask())>"Export"</button>
        <div class="menu" id="export-menu" popover="auto">{block(move || items.show())}</div>
    }
}
