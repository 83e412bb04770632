//! Legends of the rooflines: each names only what the chart has.

use chart::mark::mark;
use chart::roofline::Roofline;

/// The legend of predictions in several formats, beside which points of the reader may stand.
pub fn of_predictions(chart: &Roofline) -> String {
    let has = |filled: bool| chart.points.iter().any(|point| point.filled == filled);
    joined([
        (has(true), "mark: expected"),
        (has(true), "stub above: ideal"),
        (has(false), "hollow: your own"),
        (has(true), "shape and color: format"),
        (has_measured_roof(chart), "dashed: measured"),
    ])
}

/// The legend of points that were measured.
pub fn of_measurements(chart: &Roofline) -> String {
    let has_points = !chart.points.is_empty();
    let is_tied = chart.points.iter().any(|point| point.expected.is_some());
    // Kernels without a format all have the mark of none.
    let has_formats = chart.points.iter().any(|point| point.mark != mark(""));
    joined([
        (has_points && is_tied, "hollow: measured here, tied to the expected rate"),
        (has_points && !is_tied, "hollow: measured here"),
        (has_formats, "shape and color: format"),
        (has_measured_roof(chart), "dashed: measured roof"),
    ])
}

const fn has_measured_roof(chart: &Roofline) -> bool {
    !chart.sustained.is_empty() || chart.l2.is_some()
}

fn joined<const N: usize>(entries: [(bool, &str); N]) -> String {
    let shown = entries.into_iter().filter(|(is_shown, _)| *is_shown);
    shown.map(|(_, entry)| entry).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;
    use calc_core::quant_format::ComputeClass;
    use calc_core::units::{FlopsPerByte, FlopsPerSec};
    use chart::roofline::PointInput;

    use super::*;

    fn chart(device: &str, points: &[PointInput]) -> Roofline {
        let device = catalog::device(device).expect("catalog key");
        let chart = Roofline::of_device(device, None, &[ComputeClass::Fp16]).expect("roofs");
        Roofline { points: points.to_vec(), ..chart }
    }

    fn point(format: &str, is_filled: bool, is_expected: bool) -> PointInput {
        let rate = FlopsPerSec::from_tera(1.0);
        PointInput {
            key: String::new(),
            mark: mark(format),
            label: String::new(),
            intensity: FlopsPerByte::new(1.0),
            attained: rate,
            expected: is_expected.then_some(rate),
            filled: is_filled,
        }
    }

    #[test]
    fn a_legend_names_only_what_the_chart_has() {
        let (plain, measured) = ("epyc_9654", "jetson_orin_nano_8gb_super");
        assert!(has_measured_roof(&chart(measured, &[])) && !has_measured_roof(&chart(plain, &[])));
        for (device, points, legend) in [
            (plain, vec![], ""),
            (measured, vec![], "dashed: measured roof"),
            (plain, vec![point("", false, false)], "hollow: measured here"),
            (
                plain,
                vec![point("int8", false, true), point("", false, false)],
                "hollow: measured here, tied to the expected rate · shape and color: format",
            ),
        ] {
            assert_eq!(of_measurements(&chart(device, &points)), legend);
        }
        let predicted = "mark: expected · stub above: ideal · shape and color: format";
        let own = "mark: expected · stub above: ideal · hollow: your own · shape and color: format · dashed: measured";
        for (device, points, legend) in [
            (plain, vec![], ""),
            (plain, vec![point("int8", true, true)], predicted),
            (measured, vec![point("int8", true, true), point("", false, false)], own),
        ] {
            assert_eq!(of_predictions(&chart(device, &points)), legend);
        }
    }
}
