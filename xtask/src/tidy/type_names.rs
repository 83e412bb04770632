//! A public type has a name of its own within its crate: two types called `Row` make a reader ask which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::crate_modules::CrateModules;
use super::rust_file::Visibility;

/// Names that stood in several modules when the rule came, each with the number of its modules. They are to go in issue 11,
/// and the page's in the next one; `cargo xtask tidy --tables` prints the table as it is now.
const SEVERAL: &[(&str, &str)] = &[(
    "web",
    "Answer:3 Cell:2 Choice:3 Fault:2 Part:4 Question:2 Refusal:2 Role:2 Row:3 Sweep:2 Taken:2 View:2 Way:2",
)];

const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

pub(super) fn check(name: &str, modules: &CrateModules) -> Vec<Finding> {
    let allowed = SEVERAL.iter().find(|(listed, _)| *listed == name);
    compare(name, allowed.map_or("", |(_, names)| names), &several(modules))
}

/// The line of the table for a crate, empty if no name stands twice.
pub(super) fn table_line(name: &str, modules: &CrateModules) -> String {
    let names = several(modules);
    let names: Vec<String> =
        names.iter().map(|(name, modules)| format!("{name}:{}", modules.len())).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("    (\"{name}\", \"{}\"),", names.join(" "))
    }
}

/// The public type names that more than one module defines, with these modules.
fn several(modules: &CrateModules) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut defined: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, code) in modules.modules() {
        let types = code.items.iter().filter(|item| {
            !item.is_member
                && item.visibility != Visibility::Private
                && KEYWORDS.contains(&item.keyword.as_str())
        });
        for item in types {
            defined.entry(&item.name).or_default().insert(module);
        }
    }
    defined.retain(|_, modules| modules.len() > 1);
    defined
}

fn compare(
    crate_name: &str,
    allowed: &str,
    found: &BTreeMap<&str, BTreeSet<&str>>,
) -> Vec<Finding> {
    let allowed: BTreeMap<&str, usize> = allowed
        .split_whitespace()
        .filter_map(|entry| entry.split_once(':'))
        .filter_map(|(name, count)| Some((name, count.parse().ok()?)))
        .collect();
    let more = found.iter().filter_map(|(name, modules)| {
        let listed = allowed.get(name).copied().unwrap_or(1);
        let modules_text = modules.iter().copied().collect::<Vec<_>>().join(", ");
        (modules.len() > listed).then(|| {
            Finding::new(
                crate_name,
                format!("`{name}` is a public type in {modules_text}; name each by what it holds"),
            )
        })
    });
    let fewer =
        allowed.iter().filter(|(name, count)| found.get(*name).map_or(1, BTreeSet::len) < **count);
    let fewer = fewer.map(|(name, _)| {
        Finding::new(
            crate_name,
            format!("`{name}` stands in fewer modules than xtask/src/tidy/type_names.rs says; run `cargo xtask tidy --tables`"),
        )
    });
    more.chain(fewer).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rust_file::RustFile;
    use super::*;

    fn findings(allowed: &str, a: &str, b: &str) -> usize {
        let files = [("lib.rs", ""), ("a.rs", a), ("b.rs", b)];
        let read = |(path, text): (&str, &str)| (path.to_owned(), RustFile::read(text).unwrap());
        let modules = CrateModules::new("some-crate", files.map(read));
        compare("some-crate", allowed, &several(&modules)).len()
    }

    #[test]
    fn a_public_name_in_two_modules_is_refused() {
        for (a, b) in [
            ("pub struct Row;", "pub enum Row {}"),
            ("pub(crate) struct Row;", "pub(super) type Row = u8;"),
            (
                "pub struct Row;",
                "pub(crate) mod inner { #[derive(Debug)] pub(crate) struct Row { a: u8 } }",
            ),
        ] {
            assert_eq!(findings("", a, b), 1, "{a} {b}");
            assert_eq!(findings("Row:2", a, b), 0, "{a} {b}");
        }
    }

    #[test]
    fn private_types_functions_and_tests_may_share_a_name() {
        for (a, b) in [
            ("pub struct Row;", "struct Row;"),
            ("pub struct Row;", "pub struct Rows; // pub struct Row;"),
            ("pub struct Row;", "pub fn Row() {}"),
            ("pub struct Row;", "#[cfg(test)] mod tests { pub struct Row; }"),
            ("impl A { pub type Row = u8; }", "impl B { pub type Row = u8; }"),
            ("pub struct Row;", "pub use super::a::Row;"),
        ] {
            assert_eq!(findings("", a, b), 0, "{a} {b}");
        }
    }

    #[test]
    fn an_exception_that_is_too_large_is_refused() {
        assert_eq!(findings("Row:3", "pub struct Row;", "pub struct Row;"), 1);
        assert_eq!(findings("Row:2", "pub struct Row;", ""), 1);
    }
}
