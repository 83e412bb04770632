//! What the boot script does for the page: it packs what travels in the address.

use js_sys::{Array, Function, Promise, Reflect, global};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

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

/// Saves a text as a file.
pub async fn save(name: &str, content: &str) {
    // Nobody waits for it, and a browser that refuses tells the reader itself.
    drop(ask("ridgepointSave", &[&name.into(), &content.into()]).await);
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
