//! Every public item has a doc comment; fields and variants need one only where the name does not say enough.
//!
//! The compiler's `missing_docs` cannot tell items from fields, and so made people write docs that repeat a field's name.

use super::Finding;
use super::crate_modules::CrateModules;
use super::rust_file::{Item, Visibility};

pub(super) fn check(name: &str, modules: &CrateModules) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (module, code) in modules.modules() {
        findings.extend(code.items.iter().filter(|item| needs_doc(item)).map(|item| {
            let Item { keyword, name: item, .. } = item;
            Finding::new(
                format!("{name} {module}"),
                format!("public `{keyword} {item}` has no doc comment"),
            )
        }));
    }
    findings
}

/// The doc of a module is the first line of its file, which is checked there.
fn needs_doc(item: &Item) -> bool {
    item.visibility == Visibility::Public && !item.documented && item.keyword != "mod"
}

#[cfg(test)]
mod tests {
    use super::super::rust_file::RustFile;
    use super::*;

    fn findings(text: &str) -> usize {
        let file = ("lib.rs".to_owned(), RustFile::read(text).unwrap());
        check("some-crate", &CrateModules::new("some-crate", [file])).len()
    }

    #[test]
    fn a_public_item_without_a_doc_is_refused() {
        for text in [
            "pub struct A;",
            "#[derive(Debug)] pub enum A {}",
            "pub const fn f() {}",
            "pub const A: [u8; { 1 }] = [1];",
            "pub async fn f() {} // documented?",
            "impl A { pub fn f() {} }",
            "impl<T: Copy> A<T> { const B: u8 = 1; pub const C: u8 = 1; }",
            "/// A trait.\npub trait A { fn f(); }",
            "mod a { pub type A = u8; }",
            "pub unsafe extern \"C\" fn f() {}",
        ] {
            assert_eq!(findings(text), 1, "{text}");
        }
    }

    #[test]
    fn fields_variants_and_what_is_not_public_need_none() {
        for text in [
            "/// A.\npub struct A { pub b: u8 }",
            "/// A.\n#[derive(Debug)]\npub enum A { B, C { d: u8 } }",
            "#[doc = \"A.\"] pub union A { b: u8 }",
            "pub(crate) struct A; fn f() { pub fn g() {} }",
            "impl Display for A { fn fmt() {} const B: u8 = 1; }",
            "#[cfg(test)] pub fn f() {}",
            "pub mod a; pub use a::B;",
        ] {
            assert_eq!(findings(text), 0, "{text}");
        }
    }
}
