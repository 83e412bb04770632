//! Records of a daemon beside what the core expects of the same operator and formats on the chosen device.

use calc_core::analysis::{Analysis, AnalyzeRequest, Operator, analyze};
use calc_core::catalog;
use calc_core::cost::gemm::GemmShape;
use calc_core::error::Error;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::{BytesPerSec, FlopsPerByte, FlopsPerSec, Seconds};
use chart::mark::{Mark, mark};
use chart::roofline::{PointInput, Roofline};
use protocol::bench::BenchRecord;
use report::number_text::{self, percent, time, time_range};
use report::verdict;

use crate::state::derived::refusal;
use crate::state::names::short_name;
use crate::state::place::Place;
use crate::state::trust::words::signed;

/// Roofs that are drawn.
const ROOFS: [ComputeClass; 5] = [
    ComputeClass::Fp32,
    ComputeClass::Fp16,
    ComputeClass::Bf16,
    ComputeClass::Fp8,
    ComputeClass::Int8,
];

/// A record in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its key in the chart.
    pub key: String,
    /// Its mark.
    pub mark: Mark,
    /// Its format.
    pub format: String,
    /// What was timed.
    pub work: String,
    /// Measured time.
    pub measured: String,
    /// Its confidence interval, and how many samples.
    pub interval: String,
    /// Rates: bytes and FLOP per second.
    pub rates: String,
    /// Expected time, or why there is none.
    pub expected: Result<String, String>,
    /// Error of the expectation with its sign; empty without one.
    pub error: String,
    /// The ideal time.
    pub ideal: String,
    /// What disturbed the measurement, and what cannot be about it.
    pub warnings: Vec<String>,
}

/// What the records of a job say.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The chart.
    pub chart: Roofline,
    /// The table, in the order of the records.
    pub rows: Vec<Row>,
    /// How right the expectations were; empty without any.
    pub sentence: String,
    /// What was measured is called otherwise than what was expected of.
    pub device_note: String,
}

/// A prediction for a record.
fn predicted(record: &BenchRecord, place: Place<'_>) -> Result<Analysis, String> {
    let shape = record.shape.ok_or_else(|| "it has no shape".to_owned())?;
    let format = |key: &str| catalog::format(key).map_err(|error: Error| refusal(&error));
    let weights = format(&record.precision.weights)?;
    let activations = format(&record.precision.activations)?;
    let ask = |activations: Option<&'static QuantFormat>| {
        analyze(&AnalyzeRequest {
            device: place.device,
            mode: place.mode,
            operator: Operator::Gemm(GemmShape { m: shape.m, n: shape.n, k: shape.k }),
            precision: PrecisionChoice { activations, ..PrecisionChoice::weights(weights) },
            engine: None,
            calibration: place.calibration(),
        })
    };
    ask(Some(activations)).map_err(|error| refusal(&error))
}

/// Puts the records beside their predictions.
pub fn answer(records: &[BenchRecord], place: Place<'_>) -> Option<Answer> {
    let chart = Roofline::of_device(place.device, place.mode, &ROOFS)
        .or_else(|_| Roofline::of_device(place.device, None, &ROOFS));
    let mut chart = chart.ok()?;
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let found = predicted(record, place);
        chart.points.extend(point(index, record, found.as_ref().ok()));
        errors.extend(found.as_ref().ok().map(|found| error_of(record, found)));
        rows.push(row(index, record, found));
    }
    let sentence = sentence(&mut errors);
    let measured_on = records.first().map_or("", |record| record.device.as_str());
    let is_other = !measured_on.is_empty() && measured_on != place.device.name;
    let device_note = if is_other {
        format!(
            "Measured on {measured_on}; expected of {}, which is the chosen device.",
            place.device.name
        )
    } else {
        String::new()
    };
    Some(Answer { chart, rows, sentence, device_note })
}

/// Above 0 where the expectation is too slow.
fn error_of(record: &BenchRecord, found: &Analysis) -> f64 {
    found.expected.time.get() / record.time_s.median - 1.0
}

fn key(index: usize) -> String {
    format!("measured-{index}")
}

fn name_of(key: &str) -> String {
    catalog::format(key).map_or_else(|_| key.to_owned(), short_name)
}

/// A hollow point, with a tie to what was expected; none where nothing was computed or moved.
fn point(index: usize, record: &BenchRecord, found: Option<&Analysis>) -> Option<PointInput> {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    if !usable(record.flops) || !usable(record.bytes) || !usable(record.flop_per_s) {
        return None;
    }
    Some(PointInput {
        key: key(index),
        mark: mark(&record.precision.weights),
        label: name_of(&record.precision.weights),
        intensity: FlopsPerByte::new(record.flops / record.bytes),
        attained: FlopsPerSec::new(record.flop_per_s),
        expected: found.map(|found| found.cost.flops / found.expected.time),
        filled: false,
    })
}

fn row(index: usize, record: &BenchRecord, found: Result<Analysis, String>) -> Row {
    let Time { measured, interval } = times(record);
    let error = found.as_ref().map_or_else(|_| String::new(), |it| signed(error_of(record, it)));
    let ideal = found.as_ref().map_or_else(|_| String::new(), |it| time(it.ideal));
    let warnings = warnings(record, found.as_ref().ok());
    let expected = found.map(|it| {
        format!("{} ({})", time(it.expected.time), time_range(it.expected.low, it.expected.high))
    });
    Row {
        key: key(index),
        mark: mark(&record.precision.weights),
        format: name_of(&record.precision.weights),
        work: work(record),
        measured,
        interval,
        rates: format!(
            "{} · {}",
            number_text::bandwidth(BytesPerSec::new(record.byte_per_s)),
            number_text::rate(FlopsPerSec::new(record.flop_per_s), ComputeClass::Fp32)
        ),
        expected,
        error,
        ideal,
        warnings,
    }
}

struct Time {
    measured: String,
    interval: String,
}

fn times(record: &BenchRecord) -> Time {
    let it = record.time_s;
    Time {
        measured: time(Seconds::new(it.median)),
        interval: format!(
            "{}, {} samples",
            time_range(Seconds::new(it.low), Seconds::new(it.high)),
            number_text::count(it.n)
        ),
    }
}

/// What was timed: `1 × 4 096 × 4 096, cold`.
fn work(record: &BenchRecord) -> String {
    let what = match record.shape {
        Some(shape) => [shape.m, shape.n, shape.k].map(number_text::count).join(" × "),
        None => record.kernel.clone(),
    };
    format!("{what}, {}", record.cache)
}

fn warnings(record: &BenchRecord, found: Option<&Analysis>) -> Vec<String> {
    let mut warnings = record.flags.clone();
    if let Some(check) = record.check.filter(|check| !check.passed) {
        warnings.push(format!(
            "the result is wrong by {}, and {} is allowed",
            number_text::plain(check.worst_error),
            number_text::plain(check.tolerance)
        ));
    }
    let above = found.and_then(|it| verdict::above_roof(it.ideal.get() / record.time_s.median));
    warnings.extend(above);
    warnings
}

/// How far off the expectations were, in the middle and at worst.
fn sentence(errors: &mut [f64]) -> String {
    for error in errors.iter_mut() {
        *error = error.abs();
    }
    let worst = errors.iter().copied().fold(0.0, f64::max);
    // The median without sorting: fewer than half are smaller, and at least half are no larger.
    let half = errors.len().div_ceil(2);
    let is_median = |it: &f64| {
        let smaller = errors.iter().filter(|other| *other < it).count();
        let no_larger = errors.iter().filter(|other| *other <= it).count();
        smaller < half && half <= no_larger
    };
    let Some(median) = errors.iter().copied().find(is_median) else { return String::new() };
    match errors.len() {
        1 => format!("The expected time is off by {}.", percent(median)),
        many => format!(
            "Of {many} expected times half are off by at most {}, the worst by {}.",
            percent(median),
            percent(worst)
        ),
    }
}

#[cfg(test)]
mod tests {
    use protocol::bench::{Check, Precision, Shape, Time};

    use super::*;

    fn record(weights: &str, seconds: f64) -> BenchRecord {
        let (bytes, flops) = (16_809_984.0, 33_554_432.0);
        BenchRecord {
            schema: 1,
            kernel: "gemv".into(),
            route: "avx2".into(),
            backend: "cpu".into(),
            device: "a processor".into(),
            shape: Some(Shape { m: 1, n: 4096, k: 4096 }),
            precision: Precision { weights: weights.into(), activations: "fp32".into() },
            cache: "cold".into(),
            bytes,
            flops,
            time_s: Time { median: seconds, low: seconds * 0.9, high: seconds * 1.1, n: 40 },
            byte_per_s: bytes / seconds,
            flop_per_s: flops / seconds,
            energy_j: None,
            check: None,
            flags: Vec::new(),
            conditions: std::collections::BTreeMap::new(),
            missing: std::collections::BTreeMap::new(),
        }
    }

    fn place() -> Place<'static> {
        Place::of(catalog::device("epyc_9654").expect("catalog key"))
    }

    #[test]
    fn a_record_stands_beside_the_expectation_of_its_own_formats() {
        let found = answer(&[record("int8", 0.001)], place()).expect("roofs");
        let expected = predicted(&record("int8", 0.001), place()).expect("it runs");
        let row = &found.rows[0];
        assert_eq!(row.measured.replace('\u{202f}', " "), "1.00 ms");
        assert!(
            row.expected.as_ref().is_ok_and(|text| text.contains(&time(expected.expected.time)))
        );
        let error = expected.expected.time.get() / 0.001 - 1.0;
        assert_eq!(row.error, signed(error));
        assert!(found.sentence.contains(&percent(error.abs())), "{}", found.sentence);
        assert!(found.device_note.contains("a processor") && found.device_note.contains("EPYC"));
        let point = &found.chart.points[0];
        assert!(!point.filled && (point.attained.get() / 33_554_432_000.0 - 1.0).abs() < 1e-12);
        assert!(point.expected.is_some());
    }

    #[test]
    fn what_cannot_be_expected_says_why_and_keeps_its_row() {
        let mut without = record("int8", 0.001);
        without.shape = None;
        let strange = record("int9", 0.001);
        let found = answer(&[without, strange], place()).expect("roofs");
        assert_eq!(found.rows[0].expected, Err("it has no shape".to_owned()));
        assert!(found.rows[1].expected.as_ref().is_err_and(|why| why.contains("int9")));
        assert_eq!((found.sentence.as_str(), found.chart.points.len()), ("", 2));
    }

    #[test]
    fn a_measurement_that_cannot_be_is_warned_about() {
        let mut fast = record("int8", 1e-6);
        fast.check = Some(Check { worst_error: 1.0, tolerance: 1e-4, passed: false });
        fast.flags = vec!["throttled".into()];
        let found = answer(&[fast], place()).expect("roofs");
        let all = found.rows[0].warnings.join("; ");
        assert!(all.contains("throttled") && all.contains("is wrong by") && all.contains("roof"));
    }

    #[test]
    fn what_moves_nothing_has_no_place_on_logarithmic_axes() {
        let mut nothing = record("int8", 1.0);
        nothing.flops = 0.0;
        assert!(answer(&[nothing], place()).expect("roofs").chart.points.is_empty());
    }

    #[test]
    fn the_median_is_that_of_the_sizes() {
        assert_eq!(sentence(&mut []), "");
        let said = sentence(&mut [-0.5, 0.1, 0.02, 0.1]);
        assert!(said.contains(&percent(0.1)) && said.contains(&percent(0.5)), "{said}");
    }
}
