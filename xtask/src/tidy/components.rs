//! A component is read in one screen: its body has at most 60 lines. What repeats goes into a component of its own.

use super::Finding;
use super::source::is_rust;

const LONGEST: usize = 60;

/// Files with a component that is longer still; the list only becomes shorter.
const LONGER: [&str; 7] = [
    "web/src/components/explore/chart.rs",
    "web/src/components/measure/chart.rs",
    "web/src/components/measure/connect.rs",
    "web/src/components/measure/results.rs",
    "web/src/components/measure/spot.rs",
    "web/src/components/model/import.rs",
    "web/src/components/picker.rs",
];

/// The components of a Rust file whose body is too long, or the file if it is listed and has none.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let long: Vec<_> = bodies(text).filter(|(_, length)| *length > LONGEST).collect();
    match (LONGER.contains(&path), long.is_empty()) {
        (true, true) => {
            let what =
                "all components are short; take it from the list in xtask/src/tidy/components.rs";
            vec![Finding::new(path, what)]
        }
        (true, false) => Vec::new(),
        (false, _) => long
            .into_iter()
            .map(|(name, length)| {
                let what = format!("the body of {name} has {length} lines; at most {LONGEST}");
                Finding::new(path, what)
            })
            .collect(),
    }
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
        assert!(check(LONGER[0], &component(LONGEST + 1)).is_empty());
        assert_eq!(check(LONGER[0], &component(LONGEST)).len(), 1);
    }
}
