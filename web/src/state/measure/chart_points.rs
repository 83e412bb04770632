//! Reduces a crowded chart to the points of one precision and the pointed one.

use chart::roofline::Roofline;
use chart::scene::TIED_POINTS;

use super::answer::{MeasureAnswer, MeasuredRow};

/// A precision to choose from: key and name.
pub type PrecisionOption = (String, String);

/// The precisions to choose from if an answer has too many points; empty if all are shown.
pub fn choices(answer: &MeasureAnswer) -> Vec<PrecisionOption> {
    let mut found: Vec<PrecisionOption> = Vec::new();
    if answer.chart.points.len() <= TIED_POINTS {
        return found;
    }
    for row in answer.rows.iter().filter(|row| !row.weights.is_empty()) {
        if !found.iter().any(|(key, _)| *key == row.weights) {
            found.push((row.weights.clone(), row.format.clone()));
        }
    }
    found
}

/// The shown precision: the wanted one if the answer has it, else the first; `None` if all are shown.
pub fn shown<'a>(choices: &'a [PrecisionOption], wanted: &str) -> Option<&'a str> {
    let known = choices.iter().find(|(key, _)| key == wanted).or(choices.first());
    known.map(|(key, _)| key.as_str())
}

/// The chart with the points of one precision, and the pointed one.
pub fn chart(answer: &MeasureAnswer, wanted: &str, pointed: Option<&str>) -> Roofline {
    let choices = choices(answer);
    let Some(shown) = shown(&choices, wanted).or_else(|| only(answer)) else {
        return answer.chart.clone();
    };
    let is_shown = |key: &str| {
        let row = answer.rows.iter().find(|row| row.key == key);
        pointed == Some(key) || row.is_some_and(|row| row.weights == shown)
    };
    let mut chart = answer.chart.clone();
    chart.points.retain(|point| is_shown(&point.key));
    // Points of one precision are labeled by their shapes.
    for point in &mut chart.points {
        let row = answer.rows.iter().find(|row| row.key == point.key);
        if let Some(row) = row.filter(|row| row.weights == shown) {
            point.label = row.work.split(',').next().unwrap_or_default().to_owned();
        }
    }
    chart
}

/// The precision of several points that all have it; `None` of others.
fn only(answer: &MeasureAnswer) -> Option<&str> {
    let [first, second, rest @ ..] = &answer.rows[..] else { return None };
    let same = |row: &MeasuredRow| row.weights == first.weights;
    let is_one = !first.weights.is_empty() && same(second) && rest.iter().all(same);
    is_one.then_some(&*first.weights)
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;

    use super::*;
    use crate::state::measure::answer::answer;
    use crate::state::measure::answer::tests::record;
    use crate::state::measure::machine::MeasuredMachine;
    use crate::state::place::Place;

    fn of(formats: &[&str]) -> MeasureAnswer {
        let records: Vec<_> = formats.iter().map(|format| record(format, 0.001)).collect();
        let mut device = catalog::device("epyc_9654").expect("catalog key").clone();
        device.name = "a processor (measured here)".into();
        answer(&records, Place::of(&device), &MeasuredMachine::default()).expect("roofs")
    }

    #[test]
    fn few_points_are_all_shown() {
        let few = of(&["fp32", "int8"]);
        assert!(choices(&few).is_empty());
        assert_eq!(chart(&few, "int8", None).points.len(), 2);
    }

    #[test]
    fn points_of_one_precision_are_labeled_by_their_shapes() {
        let labels = |formats: &[&str]| -> Vec<String> {
            let points = chart(&of(formats), "", None).points;
            points.into_iter().map(|point| point.label).collect()
        };
        assert!(labels(&["int8", "int8"]).iter().all(|label| label.starts_with("1 × 4")));
        assert_eq!(labels(&["int8", "fp32"]), ["INT8", "FP32"]);
        assert_eq!(labels(&["int8"]), ["INT8"]);
    }

    #[test]
    fn of_many_points_one_precision_is_shown_and_what_is_pointed_at() {
        let many = of(&[["fp32"; 11], ["int8"; 11]].concat());
        let keys: Vec<String> = choices(&many).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["fp32", "int8"]);
        for (wanted, pointed, count) in [
            ("", None, 11),
            ("int8", None, 11),
            ("gone", None, 11),
            ("int8", Some("measured-0"), 12),
            ("int8", Some("measured-11"), 11),
        ] {
            let shown = chart(&many, wanted, pointed);
            assert_eq!(shown.points.len(), count, "{wanted} {pointed:?}");
            let first = if wanted == "int8" && pointed != Some("measured-0") { 11 } else { 0 };
            assert_eq!(shown.points[0].key, format!("measured-{first}"));
            assert!(shown.points.last().is_some_and(|point| point.label.starts_with("1 × 4")));
        }
    }
}
