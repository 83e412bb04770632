//! Comments are sentences about their subject. A line that begins with "What", "That of", "Of what" or "Its name" hides it.

use super::Finding;

/// Such lines that stood when the rule came, by crate. The number is exact: whoever mends lines lowers it in the same commit;
/// `cargo xtask tidy --tables` prints the table as it is now.
const LEFT: &[(&str, usize)] = &[];

const BEGINNINGS: [&str; 4] = ["What", "That of", "Of what", "Its name"];

/// The comment lines of a Rust file that begin so.
pub(super) fn count(text: &str) -> usize {
    text.lines().filter(|line| is_refused(line)).count()
}

fn is_refused(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let words = comment.trim_start_matches(['/', '!']).trim_start();
    BEGINNINGS.iter().any(|beginning| {
        words.strip_prefix(beginning).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

pub(super) fn check(name: &str, count: usize) -> Option<Finding> {
    let left = LEFT.iter().find(|(listed, _)| *listed == name).map_or(0, |(_, left)| *left);
    complaint(count, left).map(|what| Finding::new(name, what))
}

fn complaint(count: usize, left: usize) -> Option<String> {
    if count > left {
        return Some(format!(
            "has {count} comment lines that begin with {BEGINNINGS:?}, and {left} are left; begin with the subject"
        ));
    }
    (count < left).then(|| {
        format!("has {count} comment lines that begin with {BEGINNINGS:?}; lower its {left} in xtask/src/tidy/comments.rs")
    })
}

/// The line of the table for a crate.
pub(super) fn table_line(name: &str, count: usize) -> String {
    if count == 0 { String::new() } else { format!("    (\"{name}\", {count}),") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_hide_their_subject_are_counted() {
        let text = "//! What is here.\n    /// That of a folder.\n// Of what?\n/// Its name.\n";
        assert_eq!(count(text), 4);
        let fine = "//! Whatever.\nlet a = \"// What\"; // What\n/// The name of a folder.\n/// It is what it is.\n";
        assert_eq!(count(fine), 0);
    }

    #[test]
    fn the_number_is_exact() {
        assert!(complaint(3, 3).is_none());
        assert!(complaint(4, 3).is_some_and(|what| what.contains("begin with the subject")));
        assert!(complaint(2, 3).is_some_and(|what| what.contains("lower its 3")));
    }
}
