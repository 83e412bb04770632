//! Import of the user's own model: opened, pasted, dropped, or fetched from the Hugging Face hub on a click.

use calc_core::hf_config::Unread;
use js_sys::Array;
use leptos::ev::{DragEvent, Event};
use leptos::html::Textarea;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::File;

use super::weight_files::{self, Source, status};
use crate::components::erased::{block, flag, later, memo, on, text};
use crate::components::focus::reveal_element;
use crate::components::open_file::{chosen_files, listed_files, read_file};
use crate::state::files::Refused;
use crate::state::model::hub::{self, Asked};
use crate::state::model::refused::RefusedFile;
use crate::state::program;
use crate::state::session::{Session, Step};
use crate::state::take_over::{OpenedFile, open_file, weights_reader};
use crate::state::weights::listing::Found;
use crate::state::weights::{is_of_weights, title_of};

/// Name of a pasted text in messages.
const PASTED: &str = "pasted config.json";

/// Takes a config.json or weight files: opened, pasted, or of the hub. Only the hub is fetched from.
#[component]
pub fn Import() -> impl IntoView {
    let session = expect_context::<Session>();
    let progress = RwSignal::new(String::new());
    let on_file = move |event: Event| {
        let files = chosen_files(&event);
        if !files.is_empty() {
            later(open(session, files, progress));
        }
    };
    view! {
        <details class="more-fields import spread">
            <summary>"A model of your own"</summary>
            <div class="unfolded">
                <div class="field open-file">
                    <label for="file">"Open a config.json or weight files, or drop them anywhere"</label>
                    <input
                        id="file"
                        type="file"
                        multiple
                        accept=".json,.gguf,.safetensors,application/json"
                        title="A config.json; a GGUF file, with all parts of a split; or all safetensors with their config.json. Of weights, only the header is read, and nothing leaves this machine."
                        on:change=on(on_file)
                    />
                </div>
                <div><PasteField/></div>
                <div><HubField progress=progress/></div>
            </div>
        </details>
        <p class="brief" role="status" id="import-progress">{text(move || progress.get())}</p>
        <Message/>
    }
}

/// Takes files that are dropped anywhere on the page.
#[component]
pub fn DropTarget() -> impl IntoView {
    let session = expect_context::<Session>();
    let progress = RwSignal::new(String::new());
    let over = window_event_listener(leptos::ev::dragover, |event| event.prevent_default());
    let dropped = window_event_listener(leptos::ev::drop, move |event: DragEvent| {
        event.prevent_default(); // otherwise the browser navigates to the file
        let files = event.data_transfer().and_then(|data| data.files());
        let files = files.map(|files| listed_files(&files)).unwrap_or_default();
        if !files.is_empty() {
            later(open(session, files, progress));
        }
    });
    on_cleanup(move || {
        over.remove();
        dropped.remove();
    });
}

/// Opens a file of a device, a model or measurements, or the weight files of a model.
async fn open(session: Session, files: Vec<File>, progress: RwSignal<String>) {
    let names: Vec<String> = files.iter().map(File::name).collect();
    let [first, ..] = &files[..] else { return };
    let title = title_of(&names);
    let reply = if names.len() > 1 || names.iter().any(|name| is_of_weights(name)) {
        read_weights(&title, Source::Files(files), progress).await
    } else {
        read_file(first).await
    };
    take(session, &title, reply);
}

/// Reads weight files, and shows how far it is.
async fn read_weights(
    title: &str,
    source: Source,
    progress: RwSignal<String>,
) -> Result<OpenedFile, Refused> {
    // The user may have closed the form, which disposes the signal.
    let tell = move |said: String| drop(progress.try_set(said));
    let reply = weight_files::open(title, source, Unread::Refuse, tell).await;
    tell(String::new());
    reply
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

/// Text field for an id on the Hugging Face hub, with the buttons that fetch its config.json, or the headers of its weights.
#[component]
fn HubField(
    /// Sentence on how far a reading is.
    progress: RwSignal<String>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let id = RwSignal::new(String::new());
    let offered = RwSignal::new(Vec::<String>::new());
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
    let ask = move |chosen: Option<String>| {
        let typed = id.get_untracked();
        later(async move {
            let reply = of_hub(&typed, chosen, progress, offered).await;
            if let Some(reply) = reply.transpose() {
                take(session, typed.trim(), reply);
            }
        });
    };
    let offers = block(move || offers(offered.get(), ask));
    view! {
        <div class="field">
            <label for="hub">"Hugging Face id"</label>
            <input
                id="hub"
                type="text"
                autocomplete="off"
                spellcheck="false"
                placeholder="owner/name, or owner/name:Q4_K_M"
                aria-describedby="hub-contacts"
                prop:value=id
                on:input=on(move |event| {
                    offered.set(Vec::new());
                    id.set(event_target_value(&event));
                })
            />
        </div>
        <button type="button" class="chip" on:click=on(on_fetch)>"Fetch config.json from huggingface.co"</button>
        <button type="button" class="chip" on:click=on(move |_| ask(None))>"Read weights from huggingface.co"</button>
        <p class="brief" id="hub-contacts">
            "A click contacts huggingface.co, and for weights its storage under hf.co. Of weights, only headers are fetched."
        </p>
        <div class="offers" id="hub-offers" role="group" aria-label="Models in this repository">{offers}</div>
    }
}

/// A button for each model of a repository with several.
fn offers(files: Vec<String>, ask: impl Fn(Option<String>) + Copy + 'static) -> AnyView {
    let offer = |file: String| {
        let chosen = file.clone();
        let on_choose = on(move |_| ask(Some(chosen.clone())));
        view! { <button type="button" class="chip" on:click=on_choose>{file}</button> }
    };
    files.into_iter().map(offer).collect_view().into_any()
}

/// Reads the headers of a model on the hub; `None` where several are offered instead.
async fn of_hub(
    typed: &str,
    chosen: Option<String>,
    progress: RwSignal<String>,
    offered: RwSignal<Vec<String>>,
) -> Result<Option<OpenedFile>, Refused> {
    let Asked { id, file } = hub::asked(typed)?;
    let list = fetch(&hub::list_address(&id)).await;
    let list = list.map_err(|status| format!("{id}: {}", hub::refusal_of_weights(status)))?;
    let find = weights_reader().await?.find;
    match find(&id, &list, chosen.or(file).as_deref())? {
        Found::Several(models) => {
            drop(offered.try_set(models));
            Ok(None)
        }
        Found::Files(files) => {
            let title = match &files[..] {
                [one] => format!("{id}/{}", one.name),
                _ => id.clone(),
            };
            read_weights(&title, Source::Hub { id, files }, progress).await.map(Some)
        }
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
        let Some(RefusedFile { name, bounded: Some(text), .. }) = refused.get_untracked() else {
            return;
        };
        later(async move {
            if !text.is_empty() {
                read(session, name, text, Unread::UpperBound).await;
            } else if let Some(reply) = weight_files::again().await {
                take(session, &name, reply);
            }
        });
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
    let status = status(&reply);
    reply.get(1).as_string().filter(|_| status == 200).ok_or(status)
}
