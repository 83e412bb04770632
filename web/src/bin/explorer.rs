//! Compares all points of the Explore view. This is a separate program, compiled for speed, fetched when the view is first opened
//! and run in a web worker.

fn main() {}

#[cfg(target_arch = "wasm32")]
thread_local! {
    static SWEEP: std::cell::RefCell<Option<web::state::explore::sweep::Sweep>> = const { std::cell::RefCell::new(None) };
}

/// Calls a function by name, see [`web::state::explore::sweep::answer`].
///
/// # Errors
/// Returns the reason as a sentence if there is no answer.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn answer(function: &str, text: &str, now_ms: f64) -> Result<String, String> {
    SWEEP.with_borrow_mut(|sweep| web::state::explore::sweep::answer(sweep, function, text, now_ms))
}
