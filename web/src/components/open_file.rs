//! File field for the user's own device, model or measurements.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, HtmlInputElement};

use super::erased::{later, on};
use crate::lazy::{self, Refusal};
use crate::state::files::MAX_BYTES;
use crate::state::session::{Session, Step};
use crate::state::take_over::Ready;
use crate::state::url::Note;

/// Opens a device file, the config.json of a model, or a calibration. The file is read in the browser and never uploaded.
#[component]
pub fn OpenFile() -> impl IntoView {
    let session = expect_context::<Session>();
    let on_change = move |event: leptos::ev::Event| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(input) = input {
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                later(read(session, file));
            }
            // Cleared, so that the same file can be opened again after an edit.
            input.set_value("");
        }
    };
    view! {
        <div class="field open-file">
            <label for="file">"A file of your own"</label>
            <input
                id="file"
                type="file"
                accept=".json,application/json"
                title="A device file, the config.json of a model, or a calibration; it stays on this machine"
                on:change=on(on_change)
            />
        </div>
    }
}

async fn read(session: Session, file: File) {
    match read_file(&file).await {
        Ok(ready) => ready.take(session, Step::Choice),
        Err(text) => session.notes.update(|notes| notes.push(Note { text })),
    }
}

/// Reads a file and parses its content.
///
/// # Errors
/// A message that names the file and the reason.
pub async fn read_file(file: &File) -> Result<Ready, String> {
    let name = file.name();
    if file.size() > f64::from(MAX_BYTES) {
        return Err(format!("{name}: at most {} MB are read", MAX_BYTES / 1_000_000));
    }
    let text = JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string());
    let Some(text) = text else {
        return Err(format!("{name} cannot be read; a folder is no file, open what is in it"));
    };
    read_text(&name, &text).await
}

/// Parses a text; `name` identifies it in messages.
///
/// # Errors
/// A message that has the name and the reason.
pub async fn read_text(name: &str, text: &str) -> Result<Ready, String> {
    lazy::open_file(name, text).await.map_err(|Refusal(text)| text)
}
