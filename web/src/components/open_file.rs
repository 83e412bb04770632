//! File field for the user's own device, model or measurements.

use calc_core::hf_config::Unread;
use leptos::ev::Event;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileList, HtmlInputElement};

use super::erased::{later, on};
use crate::state::files::{MAX_BYTES, Refused};
use crate::state::session::{Session, Step};
use crate::state::take_over::{self, OpenedFile};
use crate::state::url::Note;

/// Opens a device file, the config.json of a model, or a calibration. The file is read in the browser and never uploaded.
#[component]
pub fn OpenFile() -> impl IntoView {
    let session = expect_context::<Session>();
    let on_change = move |event: Event| {
        if let Some(file) = chosen_file(&event) {
            later(read(session, file));
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

/// The first file that was chosen in a file field.
fn chosen_file(event: &Event) -> Option<File> {
    chosen_files(event).into_iter().next()
}

/// The files that were chosen in a file field. The field is cleared, so that the same file can be opened again after an edit.
pub fn chosen_files(event: &Event) -> Vec<File> {
    let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
    let Some(input) = input else { return Vec::new() };
    let files = input.files().map(|files| listed_files(&files)).unwrap_or_default();
    input.set_value("");
    files
}

/// The files of a list of the browser.
pub fn listed_files(files: &FileList) -> Vec<File> {
    (0..files.length()).filter_map(|place| files.get(place)).collect()
}

async fn read(session: Session, file: File) {
    match read_file(&file).await {
        Ok(ready) => ready.take(session, Step::Choice),
        Err(refused) => {
            let bound = if refused.bounded.is_some() { "; Plan has a button for that" } else { "" };
            let text = refused.reason + bound;
            session.notes.update(|notes| notes.push(Note { text }));
        }
    }
}

/// Reads a file and parses its content.
///
/// # Errors
/// A message that names the file and the reason.
pub async fn read_file(file: &File) -> Result<OpenedFile, Refused> {
    let name = file.name();
    if file.size() > f64::from(MAX_BYTES) {
        return Err(format!("{name}: at most {} MB are read", MAX_BYTES / 1_000_000).into());
    }
    let text = JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string());
    let Some(text) = text else {
        let why = "cannot be read; a folder is no file, open what is in it";
        return Err(format!("{name} {why}").into());
    };
    take_over::open_file(&name, &text, Unread::Refuse).await
}
