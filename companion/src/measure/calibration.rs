//! Calibration of this machine: which points are measured, and what their records gave.
//! Rows of products of one token and of matrices are fitted in `fits`, of 2 to 16 tokens with packed weights in `packed`, of attention and
//! the norm in `layer`; `judge` compares all of them with the measured times.

mod fits;
mod judge;
mod layer;
mod packed;

use std::time::Duration;

use kernels::backend::{Cache, Element, GemmShape, GemvShape, Kernel, Support};
use kernels::measure::{Plan, StopRule, WarmUp};
use kernels::pack::Layout;
use kernels::stats::median;
use protocol::bench::Shape;
use protocol::device::file_key;
use protocol::sizes;
use report::input::calibration_file::{OwnMeasurements, OwnRow};
use report::output::accuracy::Typical;
use report::output::json::bench::BenchJson;

use super::device::{self, MeasuredRoofs};
use super::roofs::{self, is_disturbed};
use fits::Fits;
use judge::HeldOut;

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
/// M, N and K of the held-out point of waves of tiles.
const WAVES_HELD_OUT: (u64, u64, u64) = (896, 6144, 4096);
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
    // A device whose library of products shows its peaks computes them in waves of tiles.
    let waves = support.peak_side.map(|_| Shape::FITTED_WAVES.into_iter().chain([WAVES_HELD_OUT]));
    for element in Element::ALL {
        let matrices = MATRICES.into_iter().chain([MATRICES_HELD_OUT]);
        for (m, n, k) in matrices.chain(waves.clone().into_iter().flatten()) {
            points.push((Kernel::Gemm(GemmShape { element, m, n, k }), Cache::Cold));
        }
    }
    points.retain(|(kernel, _)| support.has(*kernel));
    Ok(points)
}

/// Whether a product is measured for the waves of its tiles.
pub(crate) fn is_of_waves(product: &GemmShape) -> bool {
    let all = (product.m, product.n, product.k);
    all == WAVES_HELD_OUT || Shape::FITTED_WAVES.contains(&all)
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
    /// Relative errors of the held-out points.
    pub(crate) held_out: HeldOut,
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
    /// Fits the records of [`points`]. `base` is the catalog key of the device, if the user gave one.
    ///
    /// # Errors
    /// A record that is missing or invalid, or that has no expected time.
    pub(crate) fn new(
        records: &[BenchJson],
        device: &kernels::devices::Device,
        base: Option<&str>,
    ) -> Result<Self, String> {
        let (first, read) = roofs::bandwidth(records)?;
        let faster = faster(records, read);
        // Memory delivered that rate undisturbed, so all three readings were disturbed: the roof is the highest rate reached.
        let read = faster.iter().fold(read, |roof, (_, times)| roof.max(read * times));
        let roofs = MeasuredRoofs::calibrated(read, records)?;
        let place = device::measured(&roofs, device, base)?;
        let (rows, held_out) = Fits::new(records, read, &place)?.judged(&place)?;
        Ok(Self {
            read,
            faster,
            rows,
            held_out,
            key: file_key(&first.backend, first.index),
            device: first.device.clone(),
            version: first.conditions.version.clone(),
            kernel_hash: first.conditions.kernel_hash.clone(),
            driver: first.conditions.driver(),
            flagged: records.iter().filter(|record| is_disturbed(record)).count(),
            points: records.len(),
        })
    }

    /// Median relative error of the held-out GEMV points.
    pub(crate) fn error(&self) -> f64 {
        median_of(&self.held_out.vectors)
    }

    /// Median relative error of the held-out GEMM points.
    pub(crate) fn error_of_matrices(&self) -> f64 {
        median_of(&self.held_out.matrices)
    }

    /// `median error 8.1 % of 11 points of GEMV, largest error 4.0 % of 3 points of GEMM`
    pub(crate) fn held_out_in_words(&self) -> String {
        let words = |errors: &[f64], kernel: &str| {
            let typical = Typical::of(errors.iter().copied());
            let (name, percent) = (typical.name(), typical.error() * 100.0);
            let points = if errors.len() == 1 { "point" } else { "points" };
            format!("{name} {percent:.1} % of {} {points} of {kernel}", errors.len())
        };
        let HeldOut { vectors, packed, matrices, attention, norms } = &self.held_out;
        let mut parts = vec![words(vectors, "GEMV")];
        if !packed.is_empty() {
            parts.push(words(packed, "products of few tokens"));
        }
        parts.push(words(matrices, "GEMM"));
        for (errors, kernel) in [(attention, "attention"), (norms, "norm")] {
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

fn weights(record: &BenchJson) -> Option<&str> {
    record.precision.as_ref().map(|precision| precision.weights.as_str())
}

/// Whether a record judges the fit, to which it does not belong.
fn is_held_out(record: &BenchJson) -> bool {
    match (&*record.kernel, record.shape) {
        ("gemv", Some(s)) => HELD_OUT.contains(&(s.n, s.k)),
        ("gemm_packed", Some(s)) => (s.m, s.n, s.k) == packed::HELD_OUT,
        (_, Some(s)) => [MATRICES_HELD_OUT, WAVES_HELD_OUT].contains(&(s.m, s.n, s.k)),
        ("attention" | "norm", None) => !sizes::is_fitted(&record.kernel, &record.sizes),
        (_, None) => false,
    }
}

/// Fitted GEMV points that exceeded the read bandwidth. A flagged point is no evidence of a faster memory: its median may be of a
/// moment in which the clock, the cache or the other programs were others.
fn faster(records: &[BenchJson], read: f64) -> Vec<(String, f64)> {
    let gemvs = records.iter().filter(|it| it.kernel == "gemv" && !is_held_out(it));
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

fn median_of(errors: &[f64]) -> f64 {
    let errors: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    median(&errors).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
