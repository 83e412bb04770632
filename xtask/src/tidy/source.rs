//! The form of Rust files: a first line that says what the file is, sizes, blanks and names.

use std::path::Path;

use super::Finding;

const LONGEST: usize = 400;
const EXCUSE: &str = "longer than 400 lines because";

/// Tables of data, which may be as long as they need.
const DATA: &str = "calc-core/src/catalog/";

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 6] = ["utils", "helpers", "common", "types", "misc", "prelude"];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let mut findings = check_lines(path, text);
    if !text.starts_with("//!") {
        findings.push(Finding::new(path, "the first line must be `//!` and say what is here"));
    }
    let length = text.lines().count();
    if length > LONGEST && !path.starts_with(DATA) && !first_comment(text).contains(EXCUSE) {
        findings.push(Finding::new(
            path,
            format!(
                "has {length} lines; split it, or say in its first comment that it is {EXCUSE} …"
            ),
        ));
    }
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let folder =
        Path::new(path).parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    if EMPTY_NAMES.contains(&&*stem) || EMPTY_NAMES.contains(&&*folder) {
        findings.push(Finding::new(path, "the name says nothing about what is inside"));
    }
    findings
}

pub(super) fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

fn check_lines(path: &str, text: &str) -> Vec<Finding> {
    let complaint = |line: &str| match line {
        line if line.ends_with([' ', '\t', '\r']) => Some("blanks at the end of the line"),
        line if line.contains('\t') => Some("a tab"),
        _ => None,
    };
    let lines = text.split('\n').zip(1..);
    lines
        .filter_map(|(line, number)| {
            complaint(line).map(|what| Finding::new(format!("{path}:{number}"), what))
        })
        .collect()
}

/// The `//!` lines at the top as one text.
fn first_comment(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.collect::<Vec<_>>().concat().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> usize {
        check(path, text).len()
    }

    #[test]
    fn a_described_short_file_is_fine() {
        assert_eq!(complaints("web/src/app.rs", "//! The page.\nfn main() {}\n"), 0);
        assert_eq!(complaints("README.md", "text \n\t"), 0);
    }

    #[test]
    fn each_fault_is_found() {
        for text in ["fn main() {}\n", "//! a\nlet a = 1; \n", "//! a\n\tlet a = 1;\n", "//! a\r\n"]
        {
            assert_eq!(complaints("web/src/app.rs", text), 1, "{text:?}");
        }
        for path in ["web/src/utils.rs", "web/src/common/chart.rs"] {
            assert_eq!(complaints(path, "//! a\n"), 1, "{path}");
        }
    }

    #[test]
    fn a_long_file_needs_an_excuse_or_data() {
        let body = "fn f() {}\n".repeat(400);
        assert_eq!(complaints("web/src/app.rs", &format!("//! a\n{body}")), 1);
        assert_eq!(
            complaints(
                "web/src/app.rs",
                &format!(
                    "//! This file is longer than\n//! 400 lines because it is one table.\n{body}"
                )
            ),
            0
        );
        assert_eq!(
            complaints("calc-core/src/catalog/devices/orin.rs", &format!("//! a\n{body}")),
            0
        );
    }
}
