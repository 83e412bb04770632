//! The text of all documents as `site/search.js` reads it: `[address, title, [[anchor, heading, text], …]]` for each page.

use serde_json::{Value, json};

use super::address;
use super::document::Document;

pub(super) fn json(documents: &[Document]) -> String {
    Value::Array(documents.iter().map(page).collect()).to_string()
}

fn page(document: &Document) -> Value {
    let sections = document.sections.iter().map(|section| {
        let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
        json!([section.anchor, section.heading.trim(), text])
    });
    json!([address::of_page(&document.path), document.title, Value::Array(sections.collect())])
}
