//! Records of a daemon beside the core's expectation for the same operator and formats on the chosen device.

use calc_core::catalog;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{BytesPerSec, FlopsPerByte, FlopsPerSec, Seconds};
use chart::mark::{Mark, mark};
use chart::roofline::{PointInput, Roofline};
use protocol::bench::BenchRecord;
use report::number_text::{self, time, time_range};
use report::output::verdict;

use super::errors::{Errors, roof_sentence};
use super::predict::{self, Expected};
use crate::state::place::Place;
use crate::state::trust::words::signed;

/// Roofs in the chart.
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
    /// Key of the point in the chart.
    pub key: String,
    pub mark: Mark,
    /// Key of the weight format; empty for a kernel without formats.
    pub weights: String,
    /// Short name of the format, or name of the kernel.
    pub format: String,
    /// Shape and cache state that were timed.
    pub work: String,
    /// Median of the measured time.
    pub measured: String,
    /// Confidence interval of the median, and number of samples.
    pub interval: String,
    /// Measured bandwidth and arithmetic rate.
    pub rates: String,
    /// Expected time, or the reason why there is none.
    pub expected: Result<String, String>,
    /// Basis of the expectation, as a badge with its explanation; empty without an expectation.
    pub origin: (&'static str, &'static str),
    /// Relative error of the expectation, with sign; empty without an expectation.
    pub error: String,
    /// Ideal time; empty without an expectation.
    pub ideal: String,
    /// Disturbances of the measurement, a word or two each.
    pub flags: Vec<String>,
    /// Signs that the measurement is wrong, one sentence each.
    pub warnings: Vec<String>,
}

/// The records of a job beside their expectations.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub chart: Roofline,
    /// Rows in the order of the records.
    pub rows: Vec<Row>,
    /// Errors of the expectations, and their median before a calibration; empty without expectations.
    pub sentence: String,
    /// Note that the measured device is not the chosen one; empty if it is.
    pub device_note: String,
}

/// Compares the records with their expectations.
pub fn answer(records: &[BenchRecord], place: Place<'_>) -> Option<Answer> {
    let chart = Roofline::of_device(place.device, place.mode, &ROOFS)
        .or_else(|_| Roofline::of_device(place.device, None, &ROOFS));
    let mut chart = chart.ok()?;
    let mut rows = Vec::new();
    let [mut errors, mut before, mut roofs] = [const { Errors::new() }; 3];
    for (index, record) in records.iter().enumerate() {
        let found = predict::expected(record, place);
        chart.points.extend(point(index, record, found.as_ref().ok()));
        if let Ok(found) = &found {
            let kind = if found.factors.is_some() { &mut errors } else { &mut roofs };
            kind.push(found.error(record));
            before.extend(predict::before(record, place).map(|found| found.error(record)));
        }
        rows.push(row(index, record, found));
    }
    let sentence = if errors.is_empty() { roof_sentence(&roofs) } else { errors.sentence(&before) };
    let measured_on = records.first().map_or("", |record| record.device.as_str());
    // The name of a device that is made of measurements starts with the name of the measured one.
    let is_other = !place.device.name.starts_with(measured_on);
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

/// Key of the weight format; empty for a kernel without formats.
fn weights(record: &BenchRecord) -> &str {
    record.precision.as_ref().map_or("", |precision| &precision.weights)
}

fn key(index: usize) -> String {
    format!("measured-{index}")
}

fn name_of(record: &BenchRecord) -> String {
    match weights(record) {
        "" => kernel_name(&record.kernel).to_owned(),
        key => catalog::format(key).map_or(key, |format| format.short_name).to_owned(),
    }
}

/// Name of a kernel that has no formats.
fn kernel_name(key: &str) -> &str {
    match key {
        "read" => "Reading",
        "copy" => "Copying",
        "triad" => "Triad",
        "fma_fp32" => "FP32 multiply-adds",
        "dot_int8" => "INT8 dot products",
        other => other,
    }
}

/// A hollow point with a line to its expectation; `None` if the kernel computed or moved nothing.
fn point(index: usize, record: &BenchRecord, found: Option<&Expected>) -> Option<PointInput> {
    let usable = |value: &f64| *value > 0.0 && value.is_finite();
    let rate = record.flop_per_s.filter(usable)?;
    if !usable(&record.flops) || !usable(&record.bytes) {
        return None;
    }
    Some(PointInput {
        key: key(index),
        mark: mark(weights(record)),
        label: name_of(record),
        intensity: FlopsPerByte::new(record.flops / record.bytes),
        attained: FlopsPerSec::new(rate),
        expected: found.map(Expected::rate),
        filled: false,
    })
}

fn row(index: usize, record: &BenchRecord, found: Result<Expected, String>) -> Row {
    let Time { measured, interval } = times(record);
    let known = found.as_ref().ok();
    let text_of = |say: &dyn Fn(&Expected) -> String| known.map(say).unwrap_or_default();
    Row {
        key: key(index),
        mark: mark(weights(record)),
        weights: weights(record).to_owned(),
        format: name_of(record),
        work: work(record),
        measured,
        interval,
        rates: rates(record),
        origin: known.map(Expected::badge).unwrap_or_default(),
        error: text_of(&|it| signed(it.error(record))),
        ideal: text_of(&|it| time(it.ideal)),
        flags: record.flags.iter().map(|flag| flag.replace('_', " ")).collect(),
        warnings: warnings(record, known),
        expected: found.map(|it| match it.range {
            Some((low, high)) => format!("{} ({})", time(it.time), time_range(low, high)),
            None => time(it.time),
        }),
    }
}

/// Measured bandwidth and arithmetic rate, where they are known.
fn rates(record: &BenchRecord) -> String {
    let bytes = record.byte_per_s.map(|rate| number_text::bandwidth(BytesPerSec::new(rate)));
    let flops =
        record.flop_per_s.map(|rate| number_text::rate(FlopsPerSec::new(rate), ComputeClass::Fp32));
    bytes.into_iter().chain(flops).collect::<Vec<_>>().join(" · ")
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

/// The timed work: `1 × 4 096 × 4 096, cold`.
fn work(record: &BenchRecord) -> String {
    let shape = record.shape.map(|shape| {
        format!("{}, ", [shape.m, shape.n, shape.k].map(number_text::count).join(" × "))
    });
    format!("{}{}", shape.unwrap_or_default(), record.cache)
}

fn warnings(record: &BenchRecord, found: Option<&Expected>) -> Vec<String> {
    let mut warnings = Vec::new();
    let check = record.check;
    if !check.passed {
        let error =
            check.worst_error.map_or_else(|| "more than any number".to_owned(), number_text::plain);
        warnings.push(format!(
            "The result is wrong by {error}, and {} is allowed.",
            number_text::plain(check.tolerance)
        ));
    }
    // Measured roofs may exceed those of the chosen device; a product above its own roof indicates an error.
    let found = found.filter(|it| it.factors.is_some());
    warnings
        .extend(found.and_then(|it| verdict::above_roof(it.ideal.get() / record.time_s.median)));
    warnings
}

#[cfg(test)]
pub(super) mod tests {
    use protocol::bench::{Check, Precision, Shape, Time};
    use report::number_text::percent;

    use super::*;

    /// A record of a matrix product.
    pub(in crate::state::measure) fn record(weights: &str, seconds: f64) -> BenchRecord {
        let (bytes, flops) = (16_809_984.0, 33_554_432.0);
        BenchRecord {
            schema: 1,
            kernel: "gemv".into(),
            route: "avx2".into(),
            backend: "cpu".into(),
            device: "a processor".into(),
            shape: Some(Shape { m: 1, n: 4096, k: 4096 }),
            precision: Some(Precision { weights: weights.into(), activations: "fp32".into() }),
            cache: "cold".into(),
            bytes,
            flops,
            accounting: String::new(),
            footprint_bytes: bytes,
            time_s: Time {
                median: seconds,
                low: seconds * 0.9,
                high: seconds * 1.1,
                n: 40,
                mad: 0.0,
                p5: seconds,
                p95: seconds,
                min: seconds,
            },
            byte_per_s: Some(bytes / seconds),
            flop_per_s: Some(flops / seconds),
            energy_j: None,
            check: Check { worst_error: Some(0.0), tolerance: 1e-4, passed: true },
            flags: Vec::new(),
            stop_rule: std::collections::BTreeMap::new(),
            calls_per_window: 1,
            samples_s: Vec::new(),
            conditions: std::collections::BTreeMap::new(),
        }
    }

    /// A record of a kernel without a shape.
    pub(in crate::state::measure) fn bare(
        kernel: &str,
        bytes: f64,
        flops: f64,
        seconds: f64,
    ) -> BenchRecord {
        BenchRecord {
            kernel: kernel.into(),
            shape: None,
            precision: None,
            bytes,
            flops,
            ..record("", seconds)
        }
    }

    fn place() -> Place<'static> {
        Place::of(catalog::device("epyc_9654").expect("catalog key"))
    }

    #[test]
    fn a_record_stands_beside_the_expectation_of_its_own_formats() {
        let found = answer(&[record("int8", 0.001)], place()).expect("roofs");
        let expected = predict::expected(&record("int8", 0.001), place()).expect("it runs");
        let row = &found.rows[0];
        assert_eq!(row.measured.replace('\u{202f}', " "), "1.00 ms");
        assert!(row.expected.as_ref().is_ok_and(|text| text.contains(&time(expected.time))));
        let error = expected.time.get() / 0.001 - 1.0;
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
        fast.check = Check { worst_error: Some(1.0), tolerance: 1e-4, passed: false };
        fast.flags = vec!["throttled".into()];
        let found = answer(&[fast], place()).expect("roofs");
        let all = found.rows[0].warnings.join(" ");
        assert!(all.contains("is wrong by") && all.contains("roof"), "{all}");
        assert_eq!(found.rows[0].flags, ["throttled"]);
    }

    #[test]
    fn what_moves_nothing_has_no_place_on_logarithmic_axes() {
        let mut nothing = record("int8", 1.0);
        nothing.flops = 0.0;
        assert!(answer(&[nothing], place()).expect("roofs").chart.points.is_empty());
    }

    #[test]
    fn roofs_are_beside_roofs_and_a_measured_device_is_not_another() {
        let mut device = place().device.clone();
        device.name = "a processor (measured here)".into();
        let found = answer(&[bare("read", 1e9, 0.0, 0.01)], Place::of(&device)).expect("roofs");
        let row = &found.rows[0];
        assert_eq!((row.format.as_str(), row.work.as_str()), ("Reading", "cold"));
        assert_eq!((row.origin.0, found.device_note.as_str()), ("roof", ""));
        assert!(!row.error.is_empty() && found.sentence.contains("roof"), "{found:?}");
    }
}
