//! A button that opens the reader's own device or model.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, HtmlInputElement};

use super::erased::on;
use crate::state::files::MAX_BYTES;
use crate::state::program;
use crate::state::session::Session;
use crate::state::url::Note;

/// Opens a device file, or the config.json of a model. The file is read here and goes nowhere.
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
            <label for="file">"Your own device or model"</label>
            <input
                id="file"
                type="file"
                accept=".json,application/json"
                title="A device file, or the config.json of a model; it stays on this machine"
                on:change=on(on_change)
            />
        </div>
    }
}

async fn read(session: Session, file: File) {
    let name = file.name();
    let opened = if file.size() > f64::from(MAX_BYTES) {
        Err(format!("{name}: at most {} MB are read", MAX_BYTES / 1_000_000))
    } else {
        reply(&name, &file).await.map_err(|error| {
            error
                .as_string()
                .unwrap_or_else(|| format!("{name}: this build of the page cannot read files"))
        })
    };
    match opened {
        Ok(reply) => session.open(&reply),
        Err(text) => session.notes.update(|notes| notes.push(Note { text })),
    }
}

/// Asks the reader program, which the boot script fetches when it is first needed.
async fn reply(name: &str, file: &File) -> Result<String, JsValue> {
    let text = JsFuture::from(file.text()).await?.as_string().unwrap_or_default();
    program::ask_reader("read_file", &[name, &text]).await
}
