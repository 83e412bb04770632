//! A button that opens the reader's own device.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, HtmlInputElement};

use super::erased::on;
use crate::state::session::Session;
use crate::state::url::Note;
use report::device_file::MAX_BYTES;

/// Opens a device file. It is read here and goes nowhere.
#[component]
pub fn OpenFile() -> impl IntoView {
    let session = expect_context::<Session>();
    let on_change = move |event: leptos::ev::Event| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(input) = input {
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                spawn_local(read(session, file));
            }
            // The same file can be opened again after it was edited.
            input.set_value("");
        }
    };
    view! {
        <div class="field open-file">
            <label for="file">"Your own device"</label>
            <input
                id="file"
                type="file"
                accept=".json,application/json"
                title="A device file; it stays on this machine"
                on:change=on(on_change)
            />
        </div>
    }
}

async fn read(session: Session, file: File) {
    let name = file.name();
    let refuse = |text: String| session.notes.update(|notes| notes.push(Note { text }));
    if file.size() > MAX_BYTES as f64 {
        refuse(format!("{name}: a device file has at most {MAX_BYTES} bytes"));
        return;
    }
    match JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string()) {
        Some(text) => session.open_device(&name, &text),
        None => refuse(format!("{name}: the browser cannot read it")),
    }
}
