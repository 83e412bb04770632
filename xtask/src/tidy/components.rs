//! A component is read in one screen: its body has at most 60 lines. What repeats goes into a component of its own.

use super::Finding;
use super::source::is_rust;

const LONGEST: usize = 60;

/// The components of a Rust file whose body is too long.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let long = bodies(text).filter(|(_, length)| *length > LONGEST);
    long.map(|(name, length)| {
        let what = format!("the body of {name} has {length} lines; at most {LONGEST}");
        Finding::new(path, what)
    })
    .collect()
}

/// Name and number of lines of each component's body.
fn bodies(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.split("\n#[component]\n").skip(1).filter_map(|code| {
        let (_, signature) = code.split_once("fn ")?;
        let name = signature.split(['(', '<']).next()?;
        let (_, body) = signature.split_once("{\n")?;
        let (body, _) = body.split_once("\n}\n")?;
        Some((name, body.lines().count()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(lines: usize) -> String {
        let lines = "    line\n".repeat(lines);
        format!(
            "//! A.\n\n#[component]\npub fn Panel(\n    a: u8,\n) -> impl IntoView {{\n{lines}}}\n\nfn f() {{}}\n"
        )
    }

    #[test]
    fn the_body_of_a_component_is_counted_without_its_properties() {
        assert_eq!(bodies(&component(3)).collect::<Vec<_>>(), [("Panel", 3)]);
        assert!(check("web/src/a.rs", &component(LONGEST)).is_empty());
        let found = check("web/src/a.rs", &component(LONGEST + 1));
        assert_eq!(
            found[0].to_string(),
            "web/src/a.rs: the body of Panel has 61 lines; at most 60"
        );
        assert!(check("a.md", &component(LONGEST + 1)).is_empty());
    }
}
