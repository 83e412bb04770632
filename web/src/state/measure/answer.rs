//! Records of a daemon beside the core's expectation for the same operator and formats on the chosen device.

use calc_core::catalog;
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{BytesPerSec, FlopsPerByte, FlopsPerSec, Seconds};
use chart::mark::{Mark, mark};
use chart::roofline::{PointInput, Roofline};
use protocol::bench::{BenchRecord, Shape};
use protocol::sizes;
use report::number_text::{self, time, time_range};
use report::output::lesson;
use report::output::verdict::explain::Explanation;
use report::output::words::bench_sizes;

use super::errors::{Errors, outside_sentence, roof_sentence};
use super::grade::{Grade, grade, warnings};
use super::job_words::{PACKED, kernel_name};
use super::machine::{self, MeasuredMachine};
use super::predict::{self, ExpectedTime};
use crate::state::derived::Cell;
use crate::state::place::Place;
use crate::state::trust::words::signed;

/// A record in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRow {
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
    pub grade: Grade,
    /// Reasons of the grade, one sentence each.
    pub reasons: Vec<String>,
    /// Instruction set of the kernel, or its version and how it was loaded.
    pub route: String,
}

impl MeasuredRow {
    /// The grade as a word that explains itself.
    pub fn graded(&self) -> Cell {
        let reasons = self.reasons.join(" ");
        Cell {
            text: self.grade.name().to_owned(),
            explanation: Explanation {
                title: format!("{}: {}", self.format, self.grade.name()),
                formula: reasons,
                values: self.grade.meaning().to_owned(),
                provenance: Provenance::Measured,
                source: format!("the repetitions of this measurement; what ran: {}", self.route)
                    .into(),
                lesson: lesson::MEASURING,
            },
        }
    }
}

/// The records of a job beside their expectations.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureAnswer {
    pub chart: Roofline,
    /// Rows in the order of the records.
    pub rows: Vec<MeasuredRow>,
    /// Errors of the expectations of points that took no part in a calibration, and their median before it; empty without
    /// expectations.
    pub sentence: String,
    /// Warnings of the table, each once.
    pub warnings: Vec<String>,
    /// Reason why nothing is compared or drawn: the chosen device is another machine. Empty if it is the measured one.
    pub elsewhere: String,
}

/// Compares the records with their expectations, if the chosen device is the machine that they were measured on. Without records,
/// that is the one that is measured next.
pub fn answer(
    records: &[BenchRecord],
    place: Place<'_>,
    next: &MeasuredMachine,
) -> Option<MeasureAnswer> {
    let shown = records.first().map(MeasuredMachine::of_record);
    let elsewhere = machine::elsewhere(place.device, shown.as_ref().unwrap_or(next));
    let is_here = elsewhere.is_empty();
    // No kernel measures in FP64.
    let measured = |class: &ComputeClass| *class != ComputeClass::Fp64;
    let roofs: Vec<ComputeClass> = ComputeClass::ALL.into_iter().filter(measured).collect();
    let chart = Roofline::of_device(place.device, place.mode, &roofs)
        .or_else(|_| Roofline::of_device(place.device, None, &roofs));
    let mut chart = chart.ok()?;
    let mut rows = Vec::new();
    let [mut errors, mut before, mut roofs] = [const { Errors::new() }; 3];
    let (mut fitted, mut by_kernel, mut outside, mut ranges) = (0, Vec::new(), 0, 0);
    let mut all = Vec::new();
    for (index, record) in records.iter().enumerate() {
        // Times of one machine say nothing about the roofs of another.
        let found = if is_here { predict::expected(record, place) } else { Err(String::new()) };
        if is_here {
            chart.points.extend(point(index, record, found.as_ref().ok()));
        }
        match &found {
            Ok(_) if took_part(record, place) => fitted += 1,
            Ok(found) => {
                if let Some((low, high)) = found.range {
                    let measured = record.time_s.median;
                    ranges += 1;
                    outside += usize::from(measured < low.get() || measured > high.get());
                }
                let error = predict::error(found, record);
                if found.factors.is_some() {
                    errors.push(error);
                    add(&mut by_kernel, kernel_name(&record.kernel), error);
                } else {
                    roofs.push(error);
                }
                before.extend(
                    predict::before(record, place).map(|found| predict::error(&found, record)),
                );
            }
            Err(_) => {}
        }
        all.push(found.as_ref().ok().copied());
        rows.push(row(index, record, found));
    }
    let sentence = if errors.is_empty() && !roofs.is_empty() && fitted == 0 {
        roof_sentence(&roofs)
    } else if fitted == 0 && place.own.is_none() {
        errors.sentence(&before) + &outside_sentence(outside, ranges)
    } else if fitted == 0 {
        errors.sentence(&before)
    } else {
        errors.held_out(&by_kernel, &before)
    };
    let graded = records.iter().zip(&all).zip(&rows);
    let warnings =
        warnings(graded.map(|((record, found), row)| (record, found.as_ref(), &*row.format)));
    Some(MeasureAnswer { chart, rows, sentence, warnings, elsewhere })
}

/// Adds an error to those of its kernel.
fn add(by_kernel: &mut Vec<(String, Errors)>, kernel: &str, error: f64) {
    let at = by_kernel.iter().position(|(known, _)| known == kernel).unwrap_or_else(|| {
        by_kernel.push((kernel.to_owned(), Errors::new()));
        by_kernel.len() - 1
    });
    by_kernel[at].1.push(error);
}

/// Whether the place's own factors were fitted to this shape, so that its error does not test them.
fn took_part(record: &BenchRecord, place: Place<'_>) -> bool {
    place.own.is_some()
        && (record.shape.is_some_and(Shape::is_fitted)
            || sizes::is_fitted(&record.kernel, &record.sizes))
}

/// Key of the weight format; empty for a kernel without formats.
fn weights(record: &BenchRecord) -> &str {
    record.precision.as_ref().map_or("", |precision| &precision.weights)
}

fn key(index: usize) -> String {
    format!("measured-{index}")
}

/// Name of the format, after that of a kernel of a layer beside its products.
fn name_of(record: &BenchRecord) -> String {
    let key = weights(record);
    let format = catalog::format(key).map_or(key, |format| format.short_name);
    match (record.shape, format) {
        (_, "") => kernel_name(&record.kernel).to_owned(),
        (Some(_), format) => format.to_owned(),
        (None, format) => format!("{}, {format}", kernel_name(&record.kernel)),
    }
}

/// A hollow point with a line to its expectation; `None` if the kernel computed or moved nothing.
fn point(index: usize, record: &BenchRecord, found: Option<&ExpectedTime>) -> Option<PointInput> {
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
        expected: found.map(ExpectedTime::rate),
        filled: false,
    })
}

fn row(index: usize, record: &BenchRecord, found: Result<ExpectedTime, String>) -> MeasuredRow {
    let Time { measured, interval } = times(record);
    let known = found.as_ref().ok();
    let (grade, reasons) = grade(record, known);
    let text_of = |say: &dyn Fn(&ExpectedTime) -> String| known.map(say).unwrap_or_default();
    MeasuredRow {
        key: key(index),
        mark: mark(weights(record)),
        weights: weights(record).to_owned(),
        format: name_of(record),
        work: work(record),
        measured,
        interval,
        rates: rates(record),
        origin: known.map(predict::basis).unwrap_or_default(),
        error: text_of(&|it| signed(predict::error(it, record))),
        ideal: text_of(&|it| time(it.ideal)),
        grade,
        reasons,
        route: record.route.clone(),
        expected: found.map(|it| match it.range {
            Some((low, high)) => format!("{} ({})", time(it.time), time_range(low, high)),
            None => time(it.time),
        }),
    }
}

/// Measured bandwidth and arithmetic rate, where they are known.
fn rates(record: &BenchRecord) -> String {
    let bytes = record.byte_per_s.map(|rate| number_text::bandwidth(BytesPerSec::new(rate)));
    let activations = record.precision.as_ref().map(|it| &*it.activations);
    let flops = record.flop_per_s.map(|rate| {
        number_text::measured_rate(FlopsPerSec::new(rate), &record.kernel, activations)
    });
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
        interval: if it.n == 1 {
            "one sample, no interval".to_owned()
        } else {
            let range = time_range(Seconds::new(it.low), Seconds::new(it.high));
            format!("{range}, {} samples", number_text::count(it.n))
        },
    }
}

/// The timed work: `1 × 4 096 × 4 096, cold`.
fn work(record: &BenchRecord) -> String {
    let shape = record.shape.map(|shape| {
        let packed = if record.kernel == PACKED { ", packed weights" } else { "" };
        format!("{}{packed}, ", [shape.m, shape.n, shape.k].map(number_text::count).join(" × "))
    });
    let sizes = bench_sizes(&record.sizes);
    let sizes = if sizes.is_empty() { sizes } else { format!("{sizes}, ") };
    format!("{}{}", shape.unwrap_or(sizes), record.cache)
}

#[cfg(test)]
pub(super) mod tests;
