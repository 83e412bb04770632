//! What the boot script does for the page: it packs what travels in the address, and saves files.

use js_sys::{Array, Function, Promise, Reflect, global};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::lazy::{self, Refusal};

/// Asks the boot script. The error is what it threw, or nothing in a build without it.
///
/// # Errors
/// What the script threw.
pub async fn ask(name: &str, values: &[&JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(&global(), &name.into())?.dyn_into()?;
    let values: Array = values.iter().copied().collect();
    let reply: Promise = function.apply(&JsValue::NULL, &values)?.dyn_into()?;
    JsFuture::from(reply).await
}

/// Saves what a function of `lazy` answers as a file.
///
/// # Errors
/// A sentence that says what kept it from that.
pub async fn save(name: &str, function: &str, texts: &[&str]) -> Result<(), String> {
    let content = lazy::ask(function, texts).await.map_err(|Refusal(text)| text)?;
    let saved = ask("ridgepointSave", &[&name.into(), &content.into()]).await;
    saved.map(drop).map_err(|_refused| "the browser does not let the page save files".to_owned())
}

/// Saves the chart as it is seen.
pub async fn save_picture(name: &str) {
    drop(ask("ridgepointSavePicture", &[&name.into()]).await);
}

/// A compressed text for the address.
pub async fn pack(text: &str) -> Option<String> {
    ask("ridgepointPack", &[&text.into()]).await.ok()?.as_string()
}

/// The text again; `None` for what nobody packed.
pub async fn unpack(code: &str) -> Option<String> {
    ask("ridgepointUnpack", &[&code.into()]).await.ok()?.as_string()
}

/// What the boot script unpacked before the page started.
pub fn unpacked() -> Option<String> {
    Reflect::get(&global(), &"ridgepointUnpacked".into()).ok()?.as_string()
}

/// Asks the way to a daemon (`link.js`).
///
/// # Errors
/// What the script threw.
pub async fn link(name: &str, values: &[&JsValue]) -> Result<JsValue, JsValue> {
    let name = JsValue::from_str(name);
    let values: Vec<&JsValue> = core::iter::once(&name).chain(values.iter().copied()).collect();
    ask("ridgepointLink", &values).await
}
