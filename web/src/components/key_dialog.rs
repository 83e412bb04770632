//! Dialog that lists the keyboard shortcuts.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::erased::on;
use crate::state::session::Session;

const KEYS: [(&str, &str); 7] = [
    ("?", "this list"),
    ("/", "search a device"),
    ("Tab", "next field, chart, table"),
    ("Arrow keys", "from point to point in a chart, from cell to cell in a table, from tab to tab"),
    ("Enter", "choose the format or scheme of the point or row"),
    ("Esc", "close what is open"),
    ("Alt ←", "undo the last choice"),
];

/// Modal dialog with the keyboard shortcuts, open as long as it is mounted.
#[component]
pub fn KeyDialog() -> impl IntoView {
    let session = expect_context::<Session>();
    let dialog = NodeRef::<Dialog>::new();
    let row = |(key, meaning): (&'static str, &'static str)| view! { <dt><kbd>{key}</kbd></dt><dd>{meaning}</dd> };
    dialog.on_load(|dialog| {
        request_animation_frame(move || drop(dialog.show_modal()));
    });
    view! {
        <dialog
            node_ref=dialog
            class="keys"
            aria-labelledby="keys-title"
            on:close=on(move |_| session.dialog.set(None))
        >
            <h2 id="keys-title">"Keys"</h2>
            <dl>{KEYS.into_iter().map(row).collect_view()}</dl>
            <form method="dialog"><button class="tool">"Close"</button></form>
        </dialog>
    }
}
