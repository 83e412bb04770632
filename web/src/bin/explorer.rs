//! Compares all devices for one model. This is a separate program, compiled for speed, fetched for the first comparison and run
//! in a web worker.

fn main() {}

#[cfg(target_arch = "wasm32")]
thread_local! {
    static SWEEP: std::cell::RefCell<Option<web::state::explore::Sweep>> = const { std::cell::RefCell::new(None) };
}

/// Calls a function by name, see [`web::state::explore::answer`].
///
/// # Errors
/// Returns the reason as a sentence if there is no answer.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn answer(function: &str, text: &str, now_ms: f64) -> Result<String, String> {
    SWEEP.with_borrow_mut(|sweep| web::state::explore::answer(sweep, function, text, now_ms))
}
