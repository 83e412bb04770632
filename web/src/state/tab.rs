//! Short texts that a tab keeps over a reload. Without the browser's storage, which it may forbid, nothing is kept.

use leptos::prelude::window;

/// Begin of all keys, because pages of others may have the same origin.
const PREFIX: &str = "ridgepoint.";

/// The text of a key; `None` if the tab has none.
pub fn kept(key: &str) -> Option<String> {
    storage()?.get_item(&stored(key)).ok().flatten()
}

/// Keeps a text under a key.
pub fn keep(key: &str, text: &str) {
    if let Some(storage) = storage() {
        drop(storage.set_item(&stored(key), text)); // full storage keeps the text before
    }
}

fn stored(key: &str) -> String {
    format!("{PREFIX}{key}")
}

fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_this_page() {
        assert_eq!(stored("engine"), "ridgepoint.engine");
    }
}
