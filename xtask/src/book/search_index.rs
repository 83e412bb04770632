//! The text of the documents of a folder as `site/search.js` reads it: `[address, title, [[anchor, heading, text], …]]` for each page.

use serde_json::{Value, json};

use super::address;
use super::document::Document;

/// The index of the pages for readers, or of the record for developers: neither hides what the other searches for.
pub(super) fn json(documents: &[Document], for_readers: bool) -> String {
    let shown = |document: &&Document| address::is_for_readers(&document.path) == for_readers;
    Value::Array(documents.iter().filter(shown).map(page).collect()).to_string()
}

fn page(document: &Document) -> Value {
    let sections = document.sections.iter().map(|section| {
        let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
        json!([section.anchor, section.heading.trim(), text])
    });
    json!([address::of_page(&document.path), document.title, Value::Array(sections.collect())])
}
