//! Pages of the documents that explain the terms of an answer.

/// A page of `docs/`, which the site has below `learn/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lesson {
    /// Path below `docs/`, without its ending.
    pub path: &'static str,
    /// Title of the page.
    pub title: &'static str,
}

impl Lesson {
    /// Address on the site, relative to its root.
    pub fn address(&self) -> String {
        format!("learn/{}.html", self.path)
    }
}

const fn lesson(path: &'static str, title: &'static str) -> Lesson {
    Lesson { path, title }
}

pub const ROOFLINE: Lesson = lesson("theory/roofline", "The roofline");
pub const PRODUCTS: Lesson = lesson("theory/gemm", "Matrix products");
pub const COMPUTE_PATH: Lesson = lesson("theory/compute-path", "On which peak a product runs");
pub const EXPECTED: Lesson = lesson("theory/expected", "Expected times");
pub const STEP: Lesson = lesson("theory/transformer", "A step of a transformer");
pub const MEMORY: Lesson = lesson("theory/memory", "Memory");
pub const ENERGY: Lesson = lesson("theory/energy", "Energy");
pub const SCHEMES: Lesson = lesson("theory/recommendation", "Which scheme to use");
pub const MEASURING: Lesson = lesson("guides/measuring", "Measuring from the page");

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_lesson_is_a_page_with_its_title() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for lesson in
            [ROOFLINE, PRODUCTS, COMPUTE_PATH, EXPECTED, STEP, MEMORY, ENERGY, SCHEMES, MEASURING]
        {
            let page = docs.join(format!("{}.md", lesson.path));
            let text = std::fs::read_to_string(&page).expect("a page of the documents");
            assert_eq!(text.lines().next(), Some(&*format!("# {}", lesson.title)), "{page:?}");
        }
    }
}
