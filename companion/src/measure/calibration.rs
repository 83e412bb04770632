//! Calibration of this machine: which points are measured, and the fit of their records: for each format the share of the
//! bandwidth and a floor, for each GEMM element type the share of the peak, and a device file with measured roofs.
//! Products of 2 to 16 tokens with packed weights are in `packed`, attention and the norm in `layer`.

mod layer;
mod packed;

use std::time::Duration;

use calc_core::calibration::{FactorRow, Interval, Tokens};
use calc_core::catalog;
use calc_core::op::OpKind;
use calc_core::text::Text;
use calc_core::units::Seconds;
use kernels::backend::{Cache, Element, GemmShape, GemvShape, Kernel, Support};
use kernels::measure::{Plan, StopRule, WarmUp};
use kernels::pack::Layout;
use kernels::stats::median;
use protocol::bench::Shape;
use protocol::device::file_key;
use report::input::calibration_file::{OwnMeasurements, OwnRow};
use report::output::accuracy::Typical;
use report::output::json::bench::BenchJson;
use validation::own::{Fit, Point};
use validation::predict::TimedPart;

use super::roofs::{self, is_disturbed};

/// Layouts whose factors are fitted: one of each common format.
const LAYOUTS: [Layout; 13] = [
    Layout::Fp32,
    Layout::Fp16,
    Layout::Bf16,
    Layout::Fp8E4m3,
    Layout::Int8,
    Layout::Int4G128,
    Layout::Nf4,
    Layout::Mxfp4,
    Layout::Nvfp4,
    Layout::GgufQ8_0,
    Layout::GgufQ6K,
    Layout::GgufQ4K,
    Layout::GgufQ4_0,
];
/// N and K of the fitted GEMV points.
const SHAPES: [(u64, u64); 3] = Shape::FITTED_VECTORS;
/// Held-out GEMV points, one per format in rotation: a size in between, another aspect ratio, and a smaller size.
const HELD_OUT: [(u64, u64); 3] = [(5120, 5120), (4096, 14_336), (1024, 4096)];
/// M, N and K of the fitted GEMM points, and of the held-out one.
const MATRICES: [(u64, u64, u64); 3] = Shape::FITTED_MATRICES;
const MATRICES_HELD_OUT: (u64, u64, u64) = (48, 4096, 2048);

/// Shorter than the standard plan: some 120 points in four minutes.
pub(crate) const PLAN: Plan = Plan {
    warm_up: WarmUp {
        least: Duration::from_millis(100),
        most: Duration::from_millis(500),
        slice: Duration::from_millis(25),
        spread: 0.02,
    },
    window: Duration::from_millis(1),
    rule: StopRule::Certain {
        half_width: 0.005,
        least: 20,
        shortest: Duration::from_millis(250),
        limit: Duration::from_millis(1500),
    },
};

/// The points to measure on a device: those whose kernels it has.
///
/// # Errors
/// A device without the kernels from which factors follow.
pub(crate) fn points(support: &Support) -> Result<Vec<(Kernel, Cache)>, String> {
    let lacks = ["read", "gemv"].into_iter().find(|key| support.formats(key).is_none());
    if let Some(key) = lacks {
        return Err(format!(
            "it has no kernel {key}, and a calibration compares products with the bandwidth; `ridgepoint bench` measures what it has"
        ));
    }
    let read = (Kernel::Read { bytes: support.cold_bytes }, Cache::Cold);
    let mut points = vec![read];
    points.extend(support.peaks());
    for (index, layout) in LAYOUTS.into_iter().enumerate() {
        // All factors are relative to the read bandwidth, so it is measured three times and the best counts: nothing makes it
        // faster than it is.
        if index == LAYOUTS.len() / 2 {
            points.push(read);
        }
        for (n, k) in SHAPES.into_iter().chain([HELD_OUT[index % HELD_OUT.len()]]) {
            points.push((Kernel::Gemv(GemvShape { layout, m: 1, n, k }), Cache::Cold));
        }
    }
    points.extend(packed::points());
    points.extend(layer::points());
    points.push(read);
    for element in Element::ALL {
        for (m, n, k) in MATRICES.into_iter().chain([MATRICES_HELD_OUT]) {
            points.push((Kernel::Gemm(GemmShape { element, m, n, k }), Cache::Cold));
        }
    }
    points.retain(|(kernel, _)| support.has(*kernel));
    Ok(points)
}

/// The result of a calibration.
#[derive(Debug)]
pub(crate) struct Calibrated {
    /// Measured read bandwidth [B/s].
    pub(crate) read: f64,
    /// Formats whose GEMV exceeded the read bandwidth, and by what factor.
    pub(crate) faster: Vec<(String, f64)>,
    /// Fitted rows: one per format, one for all GEMV, one per GEMM element type.
    pub(crate) rows: Vec<OwnRow>,
    /// Relative errors of held-out GEMV points: predicted over measured, minus 1.
    pub(crate) held_out: Vec<f64>,
    /// Relative errors of held-out products of several tokens with packed weights.
    pub(crate) held_out_packed: Vec<f64>,
    /// Relative errors of held-out GEMM points.
    pub(crate) held_out_matrices: Vec<f64>,
    /// Relative errors of held-out points of attention and of the norm.
    held_out_attention: Vec<f64>,
    held_out_norms: Vec<f64>,
    /// Key of the device in the files.
    pub(crate) key: String,
    /// Name that the device reports.
    pub(crate) device: String,
    pub(crate) version: String,
    pub(crate) kernel_hash: String,
    /// The driver of a GPU.
    driver: Option<String>,
    /// Points with a disturbance flag.
    pub(crate) flagged: usize,
    /// All points.
    pub(crate) points: usize,
}

impl Calibrated {
    /// Fits the records of [`points`].
    ///
    /// # Errors
    /// A record that is missing or invalid.
    pub(crate) fn new(records: &[BenchJson]) -> Result<Self, String> {
        let (first, read) = roofs::bandwidth(records)?;
        let faster = faster(records, read);
        // Memory delivered that rate undisturbed, so all three readings were disturbed: the roof is the highest rate reached.
        let read = faster.iter().fold(read, |roof, (_, times)| roof.max(read * times));
        let mut calibrated = Self {
            read,
            faster,
            rows: Vec::new(),
            held_out: Vec::new(),
            held_out_packed: Vec::new(),
            held_out_matrices: Vec::new(),
            held_out_attention: Vec::new(),
            held_out_norms: Vec::new(),
            key: file_key(&first.backend, first.index),
            device: first.device.clone(),
            version: first.conditions.version.clone(),
            kernel_hash: first.conditions.kernel_hash.clone(),
            driver: first.conditions.driver(),
            flagged: records.iter().filter(|record| is_disturbed(record)).count(),
            points: records.len(),
        };
        let has = |kernel: &str, weight: &str| {
            records.iter().any(|it| it.kernel == kernel && weights(it) == Some(weight))
        };
        let layouts = || LAYOUTS.into_iter().filter(|layout| has("gemv", layout.key()));
        for layout in layouts() {
            calibrated.add_vectors(layout, records)?;
        }
        calibrated.rows.push(vectors(layouts().count()));
        for element in Element::ALL {
            if has(element.kernel_key(), element.key()) {
                calibrated.add_matrices(element, records)?;
            }
        }
        for layout in LAYOUTS {
            if has("gemm_packed", layout.key()) {
                calibrated.add_packed(layout, records);
            }
        }
        calibrated.widen_packed();
        calibrated.add_layer(records);
        for row in &mut calibrated.rows {
            row.factors.device = Some(Text::Owned(calibrated.key.clone()));
        }
        Ok(calibrated)
    }

    /// Fits the share of the bandwidth and the floor of a format.
    fn add_vectors(&mut self, layout: Layout, records: &[BenchJson]) -> Result<(), String> {
        let is_of = |record: &BenchJson| weights(record) == Some(layout.key());
        let bandwidth = self.read;
        let point = |it: &BenchJson| Point {
            part: TimedPart { memory: it.bytes / bandwidth, ..ONE },
            tokens: None,
            measured: it.time_s.median,
        };
        let (judged, fitted) = split(records, "gemv", &is_of, &is_judge_of_vectors, &point);
        let missing = || format!("no points of {} could be measured", layout.key());
        let fit = Fit::with_floor(&fitted, true).ok_or_else(missing)?;
        // A fit above the roof is set to the roof: the difference is measurement error.
        let fit = Fit { memory: fit.memory.map(|slower| slower.max(1.0)), ..fit };
        self.held_out.extend(judged.iter().map(|it| fit.time(it) / it.measured - 1.0));
        self.rows.push(row(
            &fit,
            &[fitted, judged].concat(),
            FactorRow { format: Some(Text::Borrowed(layout.format().key)), ..product() },
        ));
        Ok(())
    }

    /// Fits the share of the peak of a GEMM element type.
    fn add_matrices(&mut self, element: Element, records: &[BenchJson]) -> Result<(), String> {
        let (kernel, class) = (element.kernel_key(), element.class(roofs::backend(records)));
        let peak = roofs::peak(records, class).ok_or_else(|| {
            format!("the peak {} of {} could not be measured", class.key(), self.device)
        })?;
        let point = |it: &BenchJson| Point {
            part: TimedPart { compute: it.flops / peak, ..ONE },
            tokens: it.shape.map(|shape| shape.m as f64),
            measured: it.time_s.median,
        };
        let is_judge =
            |it: &BenchJson| it.shape.is_some_and(|s| (s.m, s.n, s.k) == MATRICES_HELD_OUT);
        let (judged, fitted) = split(records, kernel, &|_| true, &is_judge, &point);
        let missing = || format!("no products of matrices of {} could be measured", element.key());
        let fit = Fit::with_floor(&fitted, false).ok_or_else(missing)?;
        let fit = Fit { compute: fit.compute.map(|slower| slower.max(1.0)), ..fit };
        self.held_out_matrices.extend(judged.iter().map(|it| fit.time(it) / it.measured - 1.0));
        // Weights of other formats are unpacked and multiplied in one of these classes: the share of the element that is native to it is the
        // best estimate for them.
        let is_native = catalog::format(element.key()).is_ok_and(|own| own.class == Some(class));
        let format = (!is_native).then_some(Text::Borrowed(element.key()));
        self.rows.push(row(
            &fit,
            &[fitted, judged].concat(),
            FactorRow { format, compute: Some(class), tokens: Some(Tokens::Several), ..product() },
        ));
        Ok(())
    }

    /// Median relative error of the held-out GEMV points.
    pub(crate) fn error(&self) -> f64 {
        median_of(&self.held_out)
    }

    /// Median relative error of the held-out GEMM points.
    pub(crate) fn error_of_matrices(&self) -> f64 {
        median_of(&self.held_out_matrices)
    }

    /// `median error 8.1 % of 11 points of GEMV, largest error 4.0 % of 3 points of GEMM`
    pub(crate) fn held_out_in_words(&self) -> String {
        let words = |errors: &[f64], kernel: &str| {
            let typical = Typical::of(errors.iter().copied());
            let (name, percent) = (typical.name(), typical.error() * 100.0);
            let points = if errors.len() == 1 { "point" } else { "points" };
            format!("{name} {percent:.1} % of {} {points} of {kernel}", errors.len())
        };
        let mut parts = vec![words(&self.held_out, "GEMV")];
        if !self.held_out_packed.is_empty() {
            parts.push(words(&self.held_out_packed, "products of few tokens"));
        }
        parts.push(words(&self.held_out_matrices, "GEMM"));
        for (errors, kernel) in
            [(&self.held_out_attention, "attention"), (&self.held_out_norms, "norm")]
        {
            if !errors.is_empty() {
                parts.push(words(errors, kernel));
            }
        }
        parts.join(", ")
    }

    /// The calibration file's content.
    pub(crate) fn own(&self) -> OwnMeasurements {
        let faster = match self.faster.len() {
            0 => String::new(),
            count => format!("; {count} formats exceeded the read kernel, which was disturbed"),
        };
        OwnMeasurements {
            device: self.key.clone(),
            about: format!(
                "{}, ridgepoint {}, kernels {}{}; {} points, {} of them flagged; held-out points: {}{faster}",
                self.device,
                self.version,
                self.kernel_hash,
                self.driver.as_ref().map_or_else(String::new, |it| format!(", {it}")),
                self.points,
                self.flagged,
                self.held_out_in_words(),
            ),
            rows: self.rows.clone(),
        }
    }
}

/// A kernel without any fitted factor.
const ONE: TimedPart = TimedPart { memory: 0.0, compute: 0.0, count: 1.0, floors: 0.0, rest: 0.0 };

/// A row for products; its device is set when all rows are there.
fn product() -> FactorRow {
    FactorRow { op: Some(OpKind::Gemm), ..FactorRow::OPEN }
}

/// GEMV was memory-bound in every format, so its arithmetic stays at the roof.
fn vectors(layouts: usize) -> OwnRow {
    let factors = FactorRow { tokens: Some(Tokens::One), eta_compute: Some(1.0), ..product() };
    let points = layouts * SHAPES.len();
    OwnRow { factors, points: u32::try_from(points).unwrap_or(u32::MAX) }
}

fn weights(record: &BenchJson) -> Option<&str> {
    record.precision.as_ref().map(|precision| precision.weights.as_str())
}

fn is_judge_of_vectors(record: &BenchJson) -> bool {
    record.shape.is_some_and(|s| HELD_OUT.contains(&(s.n, s.k)))
}

/// Fitted GEMV points that exceeded the read bandwidth. A flagged point is no evidence of a faster memory: its median may be of a
/// moment in which the clock, the cache or the other programs were others.
fn faster(records: &[BenchJson], read: f64) -> Vec<(String, f64)> {
    let gemvs = records.iter().filter(|it| it.kernel == "gemv" && !is_judge_of_vectors(it));
    let gemvs = gemvs.filter(|it| !is_disturbed(it));
    let mut found: Vec<(String, f64)> = Vec::new();
    for record in gemvs {
        let times = record.byte_per_s.unwrap_or(0.0) / read;
        let name = weights(record).unwrap_or_default();
        if times <= 1.0 {
            continue;
        }
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, most)) => *most = most.max(times),
            None => found.push((name.to_owned(), times)),
        }
    }
    found
}

/// Splits records into held-out and fitted points.
fn split(
    records: &[BenchJson],
    kernel: &str,
    is_of: &dyn Fn(&BenchJson) -> bool,
    is_judge: &dyn Fn(&BenchJson) -> bool,
    point: &dyn Fn(&BenchJson) -> Point,
) -> (Vec<Point>, Vec<Point>) {
    let chosen = records.iter().filter(|record| record.kernel == kernel && is_of(record));
    let (judged, fitted): (Vec<&BenchJson>, Vec<&BenchJson>) =
        chosen.partition(|record| is_judge(record));
    let points = |records: Vec<&BenchJson>| records.into_iter().map(point).collect();
    (points(judged), points(fitted))
}

/// The interval covers all points including the held-out ones, because the residuals of the fitted ones are near zero.
fn row(fit: &Fit, points: &[Point], about: FactorRow) -> OwnRow {
    let ratios = || points.iter().map(|point| point.measured / fit.time(point));
    let share = |slower: Option<f64>| slower.map(|slower| 1.0 / slower);
    let factors = FactorRow {
        eta_memory: share(fit.memory),
        eta_compute: share(fit.compute),
        extra_tokens: fit.extra,
        // A floor below 1 ns is zero.
        floor: fit.floor.map(|floor| Seconds::new(if floor < 1e-9 { 0.0 } else { floor })),
        interval: Some(Interval {
            low: ratios().fold(1.0, f64::min).max(0.01),
            high: ratios().fold(1.0, f64::max).min(100.0),
        }),
        ..about
    };
    OwnRow { factors, points: u32::try_from(points.len()).unwrap_or(u32::MAX) }
}

fn median_of(errors: &[f64]) -> f64 {
    let errors: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    median(&errors).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
