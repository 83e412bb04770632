//! Marks of unfinished work. The words are put together here so that this file does not contain them.

use std::path::Path;

use super::Finding;

const WORDS: [&str; 6] = [
    concat!("to", "do!"),
    concat!("unimpl", "emented!"),
    concat!("db", "g!("),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("#[ig", "nore"),
];

/// Files that people write by hand and that are not prose or data.
const KINDS: [&str; 7] = ["rs", "mjs", "js", "css", "html", "toml", "sh"];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let kind = Path::new(path).extension().unwrap_or_default().to_string_lossy();
    if !KINDS.contains(&&*kind) {
        return Vec::new();
    }
    let left_in = |line: &str| WORDS.into_iter().find(|word| line.contains(word));
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            left_in(line).map(|word| {
                Finding::new(format!("{path}:{number}"), format!("`{word}` is a leftover"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leftover_is_found_with_its_line() {
        for word in WORDS {
            let found = check("web/src/app.rs", &format!("//! a\n    {word} later\n"));
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!(found[0].place, "web/src/app.rs:2");
        }
    }

    #[test]
    fn prose_and_clean_code_are_fine() {
        assert!(check("docs/a.md", WORDS[3]).is_empty());
        assert!(check("web/src/app.rs", "//! a\nfn mastodon() {}\n").is_empty());
    }
}
