//! JSON of the formulas behind an answer.

use serde_json::{Value, json};

use crate::output::verdict::explain::Explanation;

/// The formulas as a list; `page` is relative to the root of the site.
pub fn formulas(told: &[Explanation]) -> Value {
    let step = |step: &Explanation| {
        json!({
            "title": step.title,
            "formula": step.formula,
            "values": step.values,
            "origin": step.provenance,
            "source": step.source.text(),
            "page": step.lesson.address(),
        })
    };
    told.iter().map(step).collect()
}
