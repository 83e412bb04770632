//! Compares all devices with a model, beside the page: a program of its own, fetched for the first comparison and compiled for
//! speed, which a worker runs.

fn main() {}

#[cfg(target_arch = "wasm32")]
thread_local! {
    static SWEEP: std::cell::RefCell<Option<web::state::explore::Sweep>> = const { std::cell::RefCell::new(None) };
}

/// Answers a function with its text, as [`web::state::explore::answer`] does.
///
/// # Errors
/// A sentence.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn answer(function: &str, text: &str, now_ms: f64) -> Result<String, String> {
    SWEEP.with_borrow_mut(|sweep| web::state::explore::answer(sweep, function, text, now_ms))
}
