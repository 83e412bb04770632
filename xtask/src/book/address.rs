//! Where the page of a document lies in the site, and how pages name each other: always relative, so that every sub-path works.

use std::path::Path;

/// The folder of what readers learn from: theory, guides, glossary.
pub(super) const LEARN: &str = "learn";
/// The folder of the record for developers, and of files that documents name.
pub(super) const RECORD: &str = "docs";

/// Folders and files of `docs/` whose pages are for readers.
const FOR_READERS: [&str; 4] = ["index.md", "glossary.md", "guides/", "theory/"];

pub(super) fn is_document(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

pub(super) fn is_for_readers(document: &str) -> bool {
    FOR_READERS.iter().any(|start| document.starts_with(start))
}

/// The path of a document's page in the site.
pub(super) fn of_page(document: &str) -> String {
    let folder = if is_for_readers(document) { LEARN } else { RECORD };
    format!("{folder}/{}.html", document.trim_end_matches(".md"))
}

/// The description of the site for language models, which is looked for at the root of a site.
const FOR_MODELS: &str = "llms.txt";

/// The path in the site of a file that is no document.
pub(super) fn of_file(path: &str) -> String {
    if path == FOR_MODELS { path.to_owned() } else { format!("{RECORD}/{path}") }
}

/// The path of `target` as a link in the document `from`, both relative to `docs/`; `None` if it leaves `docs/`.
pub(super) fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The relative address of `to` on the page `from`, both paths of the site. A front page is its folder.
pub(super) fn relative(from: &str, to: &str) -> String {
    let folders = from.split('/').count() - 1;
    let equal = from.split('/').zip(to.split('/')).take_while(|(from, to)| from == to).count();
    let common = equal.min(folders);
    let rest = to.split('/').skip(common).collect::<Vec<_>>().join("/");
    let rest = match rest.strip_suffix("index.html") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => &rest,
    };
    match "../".repeat(folders - common) + rest {
        address if address.is_empty() => "./".to_owned(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_and_developers_have_folders_of_their_own() {
        for (document, page) in [
            ("index.md", "learn/index.html"),
            ("theory/gemm.md", "learn/theory/gemm.html"),
            ("adr/0001-a.md", "docs/adr/0001-a.html"),
            ("style.md", "docs/style.html"),
        ] {
            assert_eq!(of_page(document), page);
        }
        assert_eq!(of_file("schema/device.schema.json"), "docs/schema/device.schema.json");
        assert_eq!(of_file("llms.txt"), "llms.txt");
    }

    #[test]
    fn links_are_resolved_inside_docs_only() {
        assert_eq!(resolve("guides/a.md", "../theory/b.md").as_deref(), Some("theory/b.md"));
        assert_eq!(resolve("guides/a.md", "./b.md").as_deref(), Some("guides/b.md"));
        assert_eq!(resolve("guides/a.md", "../../README.md"), None);
    }

    #[test]
    fn addresses_are_relative() {
        for (from, to, address) in [
            ("learn/theory/a.html", "learn/theory/b.html", "b.html"),
            ("learn/theory/a.html", "learn/theory/a.html", "a.html"),
            ("learn/theory/a.html", "docs/adr/b.html", "../../docs/adr/b.html"),
            ("learn/theory/a.html", "learn/index.html", "../"),
            ("learn/index.html", "learn/index.html", "./"),
            ("learn/theory/a.html", "index.html", "../../"),
            ("learn/index.html", "learn/search-1.js", "search-1.js"),
        ] {
            assert_eq!(relative(from, to), address, "{from} -> {to}");
        }
    }
}
