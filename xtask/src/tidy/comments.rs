//! Comments are sentences about their subject. A line that begins with "What", "That of", "Of what" or "Its name" hides it.

use super::Finding;
use super::source::is_rust;

const BEGINNINGS: [&str; 4] = ["What", "That of", "Of what", "Its name"];

/// The comment lines of a Rust file that begin so.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let refused = text.lines().zip(1..).filter(|(line, _)| is_refused(line));
    refused
        .map(|(line, number)| {
            let what = format!("begin the comment with its subject: {}", line.trim());
            Finding::new(format!("{path}:{number}"), what)
        })
        .collect()
}

fn is_refused(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let words = comment.trim_start_matches(['/', '!']).trim_start();
    BEGINNINGS.iter().any(|beginning| {
        words.strip_prefix(beginning).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_hide_their_subject_are_refused() {
        let text = "//! What is here.\n    /// That of a folder.\n// Of what?\n/// Its name.\n";
        assert_eq!(check("a.rs", text).len(), 4);
        let fine = "//! Whatever.\nlet a = \"// What\"; // What\n/// The name of a folder.\n/// It is what it is.\n";
        assert!(check("a.rs", fine).is_empty());
    }
}
