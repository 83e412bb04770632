//! Reads the reader's own files for the page: a program of its own, fetched when the first file is opened, because parsing
//! and importing would be a third of the page.

fn main() {}

/// What the page can understand of a file, or a sentence that says what is wrong with it.
///
/// # Errors
/// The sentence.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "strings come from JavaScript as values")]
pub fn read_file(name: String, text: String) -> Result<String, String> {
    web::state::files::read(&name, &text)
}
