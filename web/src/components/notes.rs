//! Notes on values that the page could not use.

use leptos::prelude::*;

use super::erased::{block, on};
use crate::state::session::Session;
use crate::state::url::Note;

/// List of the notes, each with a button that dismisses it.
#[component]
pub fn Notes() -> impl IntoView {
    let session = expect_context::<Session>();
    let note = move |note: Note| {
        let text = note.text.clone();
        let on_dismiss =
            move |_| session.notes.update(|notes| notes.retain(|other| *other != note));
        view! {
            <li>
                <span>{text}</span>
                <button type="button" class="quiet" aria-label="Dismiss this note" on:click=on(on_dismiss)>
                    "×"
                </button>
            </li>
        }
    };
    let list = block(move || session.notes.get().into_iter().map(note).collect_view().into_any());
    view! {
        <div role="status" class="notes">
            <ul>{list}</ul>
        </div>
    }
}
