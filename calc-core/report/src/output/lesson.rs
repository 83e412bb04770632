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

/// Bytes, intensity, ideal times.
pub const ROOFLINE: Lesson = lesson("theory/roofline", "The roofline");
/// Bytes of a matrix product.
pub const PRODUCTS: Lesson = lesson("theory/gemm", "Matrix products");
/// Peaks and the formats that run on them.
pub const COMPUTE_PATH: Lesson = lesson("theory/compute-path", "On which peak a product runs");
/// Expected times and what they rest on.
pub const EXPECTED: Lesson = lesson("theory/expected", "Expected times");
/// Prefill, decode and the rates made of them.
pub const STEP: Lesson = lesson("theory/transformer", "A step of a transformer");
/// Memory that a model needs and a device has.
pub const MEMORY: Lesson = lesson("theory/memory", "Memory");
/// A model on several devices.
pub const PARALLEL: Lesson = lesson("theory/parallel", "Several devices");
/// A model on a card and its host.
pub const TIERS: Lesson = lesson("theory/two-tiers", "Memory in two tiers");
/// Power and energy.
pub const ENERGY: Lesson = lesson("theory/energy", "Energy");
/// Schemes and their loss of quality.
pub const SCHEMES: Lesson = lesson("theory/recommendation", "Which scheme to use");
/// Measurements and their grades.
pub const MEASURING: Lesson = lesson("guides/measuring", "Measuring from the page");

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_lesson_is_a_page_with_its_title() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for lesson in [
            ROOFLINE,
            PRODUCTS,
            COMPUTE_PATH,
            EXPECTED,
            STEP,
            MEMORY,
            TIERS,
            ENERGY,
            SCHEMES,
            MEASURING,
        ] {
            let page = docs.join(format!("{}.md", lesson.path));
            let text = std::fs::read_to_string(&page).expect("a page of the documents");
            assert_eq!(text.lines().next(), Some(&*format!("# {}", lesson.title)), "{page:?}");
        }
    }
}
