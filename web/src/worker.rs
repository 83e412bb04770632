//! The worker of the Explore view: a second instance of the page's program, in which no page is mounted.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::state::chunks::{Refusal, sweep};

/// Calls a function of the exploration by name, see [`crate::state::explore::sweep::answer`]. `now_ms` is the time of any
/// monotonic clock [ms].
///
/// # Errors
/// Returns the reason as a sentence if there is no answer, and `null` if a chunk could not be fetched.
#[wasm_bindgen]
pub async fn explore(function: String, text: String, now_ms: f64) -> Result<String, JsValue> {
    let answer = sweep(function, text, now_ms).await;
    answer.map_err(|Refusal(_)| JsValue::NULL)?.map_err(JsValue::from)
}
