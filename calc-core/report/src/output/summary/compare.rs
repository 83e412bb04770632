//! Answer of `compare` for people.

use calc_core::units::Seconds;

use super::Document;
use crate::number_text as n;
use crate::output::json::compare::CompareJson;
use crate::output::table::{Align, Table};
use crate::output::words;

/// Document of a comparison, with its verdict.
pub fn compare(title: &str, answer: &CompareJson) -> Document {
    let mut out = Document::default();
    out.heading(title);
    if let (Some(mean), Some(worst)) = answer.errors() {
        out.line(format!(
            "Mean error {}, worst {}. Verdict: {}.",
            n::percent(mean),
            n::percent(worst),
            answer.verdict().unwrap_or("")
        ));
    }
    let mut table = Table::new(&[
        ("weights", Align::Left),
        ("ideal", Align::Right),
        ("expected", Align::Right),
        ("measured", Align::Right),
        ("error", Align::Right),
        ("bound", Align::Left),
        ("intensity / ridge", Align::Right),
        ("speedup predicted", Align::Right),
        ("measured", Align::Right),
    ]);
    for row in &answer.rows {
        let [ideal, expected, measured, error, distance, predicted, reached] = row.cells();
        let (weights, bound) = row.labels();
        let time = |seconds| n::time(Seconds::new(seconds));
        let speedup =
            |value: f64| if value.is_nan() { "no fp16 row".into() } else { n::ratio(value) };
        table.push(vec![
            weights.into(),
            time(ideal),
            time(expected),
            time(measured),
            n::percent(error),
            words::bound(bound).into(),
            n::percent(distance),
            speedup(predicted),
            speedup(reached),
        ]);
    }
    out.table(table);
    let above: Vec<String> = answer.rows.iter().filter(|row| row.above_roof()).map(|row| {
        format!("{} is faster than the roofline allows: cached data, a wrong device or mode, or a timer that stops early", row.labels().0)
    }).collect();
    out.notes(above);
    out
}
