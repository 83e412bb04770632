//! What the page rarely needs, as a program of its own that is fetched on the first use: reading files and writing what can
//! be saved would be half of the page.

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

/// What is saved of the answer to an address; `colors` are `dark` or `light`.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "strings come from JavaScript as values")]
pub fn export_answer(kind: String, query: String, carried: String, colors: String) -> String {
    web::state::export::export(&kind, &query, &carried, colors == "dark")
}

/// The formulas behind the answer to an address, as HTML.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "strings come from JavaScript as values")]
pub fn show_work(query: String, carried: String) -> String {
    web::state::export::show_work(&query, &carried)
}

/// The device file of a device in lines.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "strings come from JavaScript as values")]
pub fn device_file(lines: String) -> String {
    report::device_file::lines::to_json(&lines)
}
