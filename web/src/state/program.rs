//! Functions of the boot script that the page calls: packing the address's fragment, saving files, connecting to a daemon.

use js_sys::{Array, Function, Promise, Reflect, global};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::chunks::{Refusal, generate};
use super::export_kinds::Document;
use super::inputs::Inputs;

/// Reason why a file was not saved.
pub const NOT_SAVED: &str = "the browser does not let the page save files";

/// Calls a function of the boot script.
///
/// # Errors
/// Returns the thrown JavaScript error; `undefined` in a build without the boot script.
pub async fn ask(name: &str, values: &[&JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(&global(), &name.into())?.dyn_into()?;
    let values: Array = values.iter().copied().collect();
    let reply: Promise = function.apply(&JsValue::NULL, &values)?.dyn_into()?;
    JsFuture::from(reply).await
}

/// Continues in another task of the browser, so that it can react in between; at once in a build without the boot script.
pub async fn next_task() {
    drop(ask("ridgepointNextTask", &[]).await);
}

/// Saves a document as a file.
///
/// # Errors
/// Returns the reason as a sentence if the file could not be saved.
pub async fn save(name: &str, kind: Document, inputs: &Inputs) -> Result<(), String> {
    let content = generate(kind, inputs).await.map_err(|Refusal(text)| text)?;
    save_text(name, &content).await
}

/// Saves a text as a file.
///
/// # Errors
/// Returns the reason as a sentence if the file could not be saved.
pub async fn save_text(name: &str, content: &str) -> Result<(), String> {
    let saved = ask("ridgepointSave", &[&name.into(), &content.into()]).await;
    saved.map(drop).map_err(|_refused| NOT_SAVED.to_owned())
}

/// Compresses a text for the address.
pub async fn pack(text: &str) -> Option<String> {
    ask("ridgepointPack", &[&text.into()]).await.ok()?.as_string()
}

/// Decompresses a text; `None` if it is invalid.
pub async fn unpack(code: &str) -> Option<String> {
    ask("ridgepointUnpack", &[&code.into()]).await.ok()?.as_string()
}

/// The fragment's text that the boot script unpacked before the page started.
pub fn unpacked() -> Option<String> {
    Reflect::get(&global(), &"ridgepointUnpacked".into()).ok()?.as_string()
}

/// Calls a function of `link.js`, the browser's side of the daemon connection.
///
/// # Errors
/// Returns the thrown JavaScript error.
pub async fn link(name: &str, values: &[&JsValue]) -> Result<JsValue, JsValue> {
    let name = JsValue::from_str(name);
    let values: Vec<&JsValue> = core::iter::once(&name).chain(values.iter().copied()).collect();
    ask("ridgepointLink", &values).await
}
