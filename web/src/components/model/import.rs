//! Import of the user's own model: opened, pasted, dropped, or fetched from the Hugging Face hub on a click.

use calc_core::hf_config::Unread;
use js_sys::Array;
use leptos::ev::{DragEvent, Event};
use leptos::html::Textarea;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::File;

use crate::components::erased::{flag, later, memo, on, text};
use crate::components::focus::reveal_element;
use crate::components::open_file::{chosen_file, read_file};
use crate::state::files::Refused;
use crate::state::model::hub;
use crate::state::model::refused::RefusedFile;
use crate::state::program;
use crate::state::session::{Session, Step};
use crate::state::take_over::{OpenedFile, open_file};

/// Name of a pasted text in messages.
const PASTED: &str = "pasted config.json";

/// Takes a config.json from a file, a paste or the hub; a file can also be dropped anywhere. Only the hub is fetched from.
#[component]
pub fn Import() -> impl IntoView {
    let session = expect_context::<Session>();
    let open = move |file: File| {
        later(async move { take(session, &file.name(), read_file(&file).await) });
    };
    let on_file = move |event: Event| {
        if let Some(file) = chosen_file(&event) {
            open(file);
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
            <div class="own-model">
                <div class="field open-file">
                    <label for="file">"Open a config.json, or drop it anywhere"</label>
                    <input id="file" type="file" accept=".json,application/json" on:change=on(on_file)/>
                </div>
                <div><PasteField/></div>
                <div><HubField/></div>
            </div>
        </details>
        <Message/>
    }
}

/// Text field for a pasted config.json, with the button that reads it.
#[component]
fn PasteField() -> impl IntoView {
    let session = expect_context::<Session>();
    let pasted = NodeRef::<Textarea>::new();
    let on_paste = move |_| {
        let Some(field) = pasted.get_untracked() else { return };
        let text = field.value();
        later(read(session, PASTED.to_owned(), text, Unread::Refuse));
    };
    view! {
        <div class="field">
            <label for="paste">"Paste a config.json"</label>
            <textarea id="paste" rows="3" spellcheck="false" node_ref=pasted></textarea>
        </div>
        <button type="button" class="chip" on:click=on(on_paste)>"Use what is pasted"</button>
    }
}

/// Text field for an id on the Hugging Face hub, with the button that fetches its config.json.
#[component]
fn HubField() -> impl IntoView {
    let session = expect_context::<Session>();
    let id = RwSignal::new(String::new());
    let on_fetch = move |_| match hub::address(&id.get_untracked()) {
        Err(reason) => refuse(session, "This id", reason.into()),
        Ok(address) => {
            let name = id.get_untracked().trim().to_owned();
            later(async move {
                match fetch(&address).await {
                    Ok(content) => read(session, name, content, Unread::Refuse).await,
                    Err(status) => refuse(session, &name, hub::refusal_of(status).into()),
                }
            });
        }
    };
    view! {
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
    }
}

/// Why the last file was refused, and the way to take its upper bound.
#[component]
fn Message() -> impl IntoView {
    let session = expect_context::<Session>();
    let refused = memo(move |_| session.inputs.with(|inputs| inputs.model.refused.clone()));
    let reason = text(move || {
        refused
            .with(|refused| refused.as_ref().map_or_else(String::new, |file| file.reason.clone()))
    });
    let on_bound = move |_| {
        if let Some(RefusedFile { name, bounded: Some(text), .. }) = refused.get_untracked() {
            later(read(session, name, text, Unread::UpperBound));
        }
    };
    let is_bounded =
        move || refused.with(|refused| refused.as_ref().is_some_and(|file| file.bounded.is_some()));
    view! {
        <p class="message" id="import-message" role="alert">{reason}</p>
        <button type="button" class="chip bound" id="import-bound" hidden=flag(move || !is_bounded()) on:click=on(on_bound)>
            "Take the upper bound"
        </button>
    }
}

/// Reads a model and shows it, or says why it is refused.
async fn read(session: Session, name: String, text: String, unread: Unread) {
    take(session, &name, open_file(&name, &text, unread).await);
}

fn take(session: Session, name: &str, reply: Result<OpenedFile, Refused>) {
    match reply {
        Ok(ready) => {
            session.edit(Step::Choice, |inputs| inputs.model.refused = None);
            ready.take(session, Step::Choice);
        }
        Err(refused) => refuse(session, name, refused),
    }
}

fn refuse(session: Session, name: &str, Refused { reason, bounded }: Refused) {
    let shown = if bounded.is_some() { "import-bound" } else { "import-message" };
    let refused = RefusedFile { name: name.to_owned(), reason, bounded };
    session.edit(Step::Choice, |inputs| inputs.model.refused = Some(refused));
    request_animation_frame(move || reveal_element(shown));
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
