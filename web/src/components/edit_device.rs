//! Button below the device that opens the editor of a user-defined device; the editor is loaded as a chunk.

use leptos::prelude::*;

use super::chunk::{Chunk, Chunks, MakeView};
use super::erased::{block, later, memo, on, text};
use crate::state::chunks::Refusal;
use crate::state::inputs::Inputs;
use crate::state::session::{Dialog, Session};
use crate::state::url::Note;

/// Opens the editor with a copy of the chosen device, or with the user-defined device if there is one.
#[component]
pub fn EditDevice() -> impl IntoView {
    let session = expect_context::<Session>();
    let form = RwSignal::new(None::<MakeView>);
    let Chunks(fetch) = expect_context();
    let on_open = move |_| {
        session.dialog.set(Some(Dialog::DeviceEditor));
        later(async move {
            match fetch(Chunk::DeviceEditor).await {
                // The user may have left the view, which disposes the signal.
                Ok(make) => drop(form.try_set(Some(make))),
                Err(Refusal(text)) => {
                    session.dialog.set(None);
                    session.notes.update(|notes| notes.push(Note { text }));
                }
            }
        });
    };
    let is_own = memo(move |_| session.inputs.with(Inputs::has_own_device));
    let label = text(move || if is_own.get() { "Edit" } else { "Edit a copy" }.to_owned());
    let is_open = memo(move |_| session.dialog.get() == Some(Dialog::DeviceEditor));
    let shown = block(move || match form.get().filter(|_| is_open.get()) {
        Some(make) => make(),
        None => ().into_any(),
    });
    view! {
        <button type="button" class="link" on:click=on(on_open)>{label}</button>
        {shown}
    }
}
