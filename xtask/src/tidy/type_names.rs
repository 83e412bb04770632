//! A public type has a name of its own within its crate: two types called `Row` make a reader ask which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::crate_modules::CrateModules;
use super::rust_file::Visibility;

const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

pub(super) fn check(name: &str, modules: &CrateModules) -> Vec<Finding> {
    let finding = |(type_name, modules): (&str, BTreeSet<&str>)| {
        let modules = modules.into_iter().collect::<Vec<_>>().join(", ");
        let what =
            format!("`{type_name}` is a public type in {modules}; name each by what it holds");
        Finding::new(name, what)
    };
    several(modules).into_iter().map(finding).collect()
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

#[cfg(test)]
mod tests {
    use super::super::rust_file::RustFile;
    use super::*;

    fn findings(a: &str, b: &str) -> usize {
        let files = [("lib.rs", ""), ("a.rs", a), ("b.rs", b)];
        let read = |(path, text): (&str, &str)| (path.to_owned(), RustFile::read(text).unwrap());
        let modules = CrateModules::new("some-crate", files.map(read));
        check("some-crate", &modules).len()
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
            assert_eq!(findings(a, b), 1, "{a} {b}");
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
            assert_eq!(findings(a, b), 0, "{a} {b}");
        }
    }
}
