//! Import of the user's own model: opened, pasted, dropped, or fetched from the Hugging Face hub on a click.

use js_sys::Array;
use leptos::ev::{DragEvent, Event};
use leptos::html::Textarea;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{File, HtmlInputElement};

use crate::components::erased::{later, on, text};
use crate::components::focus::reveal_element;
use crate::components::open_file::{read_file, read_text};
use crate::state::model::hub;
use crate::state::program;
use crate::state::session::{Session, Step};
use crate::state::take_over::Ready;

/// Name of a pasted text in messages.
const PASTED: &str = "pasted config.json";

/// Takes a config.json from a file, a paste or the hub; a file can also be dropped anywhere. Only the hub is fetched from.
#[component]
pub fn Import() -> impl IntoView {
    let session = expect_context::<Session>();
    let refusal = RwSignal::new(String::new());
    let id = RwSignal::new(String::new());
    let pasted = NodeRef::<Textarea>::new();
    let refuse = move |text: String| {
        refusal.set(text);
        request_animation_frame(|| reveal_element("import-message"));
    };
    let take = move |reply: Result<Ready, String>| match reply {
        Ok(ready) => {
            refusal.set(String::new());
            ready.take(session, Step::Choice);
        }
        Err(text) => refuse(text),
    };
    let open = move |file: File| later(async move { take(read_file(&file).await) });
    let on_file = move |event: Event| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(input) = input {
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                open(file);
            }
            input.set_value(""); // the same file can be opened again after it was edited
        }
    };
    let on_paste = move |_| {
        let Some(field) = pasted.get_untracked() else { return };
        let text = field.value();
        later(async move { take(read_text(PASTED, &text).await) });
    };
    let on_fetch = move |_| match hub::address(&id.get_untracked()) {
        Err(text) => refuse(text),
        Ok(address) => {
            let name = id.get_untracked().trim().to_owned();
            later(async move {
                match fetch(&address).await {
                    Ok(content) => take(read_text(&name, &content).await),
                    Err(status) => refuse(hub::refusal_of(status)),
                }
            });
        }
    };
    let over = window_event_listener(leptos::ev::dragover, |event| event.prevent_default());
    let dropped = window_event_listener(leptos::ev::drop, move |event: DragEvent| {
        event.prevent_default(); // otherwise the browser navigates to the file
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            open(file);
        }
    });
    on_cleanup(move || {
        over.remove();
        dropped.remove();
    });
    view! {
        <details class="more-fields import">
            <summary>"A model of your own"</summary>
            <div class="field open-file">
                <label for="file">"Open a config.json, or drop it anywhere"</label>
                <input id="file" type="file" accept=".json,application/json" on:change=on(on_file)/>
            </div>
            <div class="field">
                <label for="paste">"Paste a config.json"</label>
                <textarea id="paste" rows="3" spellcheck="false" node_ref=pasted></textarea>
            </div>
            <button type="button" class="chip" on:click=on(on_paste)>"Use what is pasted"</button>
            <div class="field">
                <label for="hub">"Hugging Face id"</label>
                <input
                    id="hub"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    placeholder="owner/name"
                    prop:value=id
                    on:input=on(move |event| id.set(event_target_value(&event)))
                />
            </div>
            <button type="button" class="chip" on:click=on(on_fetch)>"Fetch config.json from huggingface.co"</button>
        </details>
        <p class="message" id="import-message" role="alert">{text(move || refusal.get())}</p>
    }
}

/// Fetches a text through the boot script; `Err` is the HTTP status without content, and 0 without a response.
async fn fetch(address: &str) -> Result<String, u16> {
    let reply = program::ask("ridgepointFetch", &[&address.into()]).await;
    let reply: Array = reply.ok().and_then(|reply| reply.dyn_into().ok()).ok_or(0_u16)?;
    let status = reply.get(0).as_f64().unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a status has three digits"
    )]
    let status = status as u16;
    reply.get(1).as_string().filter(|_| status == 200).ok_or(status)
}
