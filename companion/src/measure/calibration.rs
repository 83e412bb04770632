//! The points that fix this device's factors, and what follows from them: shares of the bandwidth and floors for each format,
//! and a device whose roofs are measured.

use std::time::Duration;

use calc_core::calibration::{FactorRow, Interval};
use calc_core::op::OpKind;
use calc_core::text::Text;
use calc_core::units::Seconds;
use kernels::backend::{Cache, Kernel, Product};
use kernels::measure::{Plan, StopRule, WarmUp};
use kernels::pack::Layout;
use kernels::stats::median;
use report::calibration_file::{OwnMeasurements, OwnRow};
use report::json::bench::BenchJson;
use serde_json::{Value, json};

use super::fit::{Line, Point, fit};
use super::sensors::Sensors;

/// Key of this device in the files that are written.
const KEY: &str = "this_machine";

/// Layouts whose factors are fitted: one of each format that people use.
const LAYOUTS: [Layout; 11] = [
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
    Layout::GgufQ4_0,
];
/// Outputs and inputs of the points that are fitted: from 4 to 64 million weights.
const SHAPES: [(u64, u64); 4] = [(2048, 2048), (4096, 4096), (8192, 4096), (16_384, 4096)];
/// Those that judge the fit and take no part in it.
const HELD_OUT: [(u64, u64); 1] = [(5120, 5120)];

/// A product reads its weights, so it is not faster than reading but for what measuring is uncertain.
const MOST_SHARE: f64 = 1.1;

/// Short, because there are sixty points and three minutes.
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

/// What is measured.
pub(crate) fn points(cold_bytes: u64) -> Vec<(Kernel, Cache)> {
    let read = (Kernel::Read { bytes: cold_bytes }, Cache::Cold);
    let mut points = vec![read, (Kernel::Fma, Cache::Hot), (Kernel::Dot, Cache::Hot)];
    for (index, layout) in LAYOUTS.into_iter().enumerate() {
        // Everything is a ratio to reading, so it is measured three times, and the best counts: nothing makes it faster
        // than it is.
        if index == LAYOUTS.len() / 2 {
            points.push(read);
        }
        for (n, k) in SHAPES.into_iter().chain(HELD_OUT) {
            points.push((Kernel::Gemv(Product { layout, n, k }), Cache::Cold));
        }
    }
    points.push(read);
    points
}

/// What came out.
#[derive(Debug)]
pub(crate) struct Calibrated {
    read: f64,
    /// A row per format.
    pub(crate) rows: Vec<OwnRow>,
    /// Predicted over measured, less 1, of points that took no part.
    pub(crate) held_out: Vec<f64>,
    /// The device, by its own name.
    pub(crate) device: String,
    version: String,
    kernel_hash: String,
    /// Points that something disturbed.
    pub(crate) flagged: usize,
    /// All of them.
    pub(crate) points: usize,
}

impl Calibrated {
    /// What the records of [`points`] say.
    ///
    /// # Errors
    /// What is missing among them, or contradicts itself.
    pub(crate) fn new(records: &[BenchJson]) -> Result<Self, String> {
        let reads = records.iter().filter(|record| record.kernel == "read");
        let (first, read) = reads
            .filter_map(|record| record.byte_per_s.map(|rate| (record, rate)))
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .ok_or_else(|| "the bandwidth could not be measured".to_owned())?;
        let mut rows = Vec::new();
        let mut held_out = Vec::new();
        for layout in LAYOUTS {
            let (fitted, judged) = split(records, layout);
            let line = fit(&fitted)
                .ok_or_else(|| format!("no points of {} could be measured", layout.key()))?;
            held_out.extend(judged.iter().map(|point| 1.0 / line.ratio(*point) - 1.0));
            let share = line.rate / read;
            if share > MOST_SHARE {
                return Err(format!(
                    "products of {} moved {share:.1} times what reading did, so others disturbed one of them; calibrate again when the machine rests",
                    layout.key()
                ));
            }
            rows.push(row(layout, line, share, &fitted));
        }
        Ok(Self {
            read,
            rows,
            held_out,
            device: first.device.clone(),
            version: first.conditions.version.clone(),
            kernel_hash: first.conditions.kernel_hash.clone(),
            flagged: records.iter().filter(|record| !record.flags.is_empty()).count(),
            points: records.len(),
        })
    }

    /// Median error of the points that took no part.
    pub(crate) fn error(&self) -> f64 {
        let errors: Vec<f64> = self.held_out.iter().map(|error| error.abs()).collect();
        median(&errors).unwrap_or(f64::NAN)
    }

    /// The calibration.
    pub(crate) fn own(&self) -> OwnMeasurements {
        OwnMeasurements {
            device: KEY.into(),
            about: format!(
                "{}, ridgepoint {}, kernels {}; {} points, {} of them flagged; median error {:.1} % on {} that took no part",
                self.device,
                self.version,
                self.kernel_hash,
                self.points,
                self.flagged,
                self.error() * 100.0,
                self.held_out.len()
            ),
            rows: self.rows.clone(),
        }
    }

    /// A device file: what was measured stands for what no datasheet of this machine is known to say.
    ///
    /// # Errors
    /// A machine that does not say how much memory it has.
    pub(crate) fn device(&self, records: &[BenchJson]) -> Result<Value, String> {
        let memory = Sensors::here().memory_gib().ok_or_else(|| {
            "the system does not say how much memory it has, and a device file must".to_owned()
        })?;
        let rate = |kernel: &str| {
            records.iter().find(|it| it.kernel == kernel).and_then(|it| it.flop_per_s)
        };
        let tera = |rate: Option<f64>| rate.map(|rate| rounded(rate * 1e-12));
        Ok(json!({
            "key": KEY,
            "name": format!("{} (measured here)", self.device),
            "class": "cpu",
            "memory_gib": memory,
            "bandwidth_gb_s": rounded(self.read * 1e-9),
            "unified_memory": true,
            "dense_peaks_tflops": {"fp32": tera(rate("fma_fp32")), "int8": tera(rate("dot_int8"))},
            "source": format!(
                "measured by `ridgepoint calibrate` {}, kernels {}: reading, FP32 multiply-adds, INT8 dot products",
                self.version, self.kernel_hash
            ),
            "notes": "Ceilings that were measured, not those of a datasheet.",
        }))
    }
}

/// Points of a layout that are fitted, and those that judge.
fn split(records: &[BenchJson], layout: Layout) -> (Vec<Point>, Vec<Point>) {
    let of_layout = records.iter().filter(|record| {
        record.precision.as_ref().is_some_and(|precision| precision.weights == layout.key())
    });
    let (judged, fitted): (Vec<&BenchJson>, Vec<&BenchJson>) = of_layout.partition(|record| {
        record.shape.is_some_and(|shape| HELD_OUT.contains(&(shape.n, shape.k)))
    });
    let points = |records: Vec<&BenchJson>| {
        let point = |it: &BenchJson| Point { bytes: it.bytes, time: it.time_s.median };
        records.into_iter().map(point).collect()
    };
    (points(fitted), points(judged))
}

fn row(layout: Layout, line: Line, share: f64, points: &[Point]) -> OwnRow {
    let ratios = || points.iter().map(|point| line.ratio(*point));
    let factors = FactorRow {
        device: Some(Text::Borrowed(KEY)),
        engine: None,
        format: Some(Text::Borrowed(layout.format_key())),
        op: Some(OpKind::Gemm),
        in_step: false,
        eta_memory: Some(share),
        eta_compute: None,
        floor: Some(Seconds::new(line.floor)),
        interval: Some(Interval {
            low: ratios().fold(1.0, f64::min).max(0.01),
            high: ratios().fold(1.0, f64::max).min(100.0),
        }),
    };
    OwnRow { factors, points: u32::try_from(points.len()).unwrap_or(u32::MAX) }
}

/// Four digits: more would claim too much.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::json::bench::{
        BenchCheckJson, BenchPrecisionJson, BenchTimeJson, ConditionsJson, ProductShapeJson,
        StopRuleJson,
    };

    fn record(kernel: Kernel, bytes: f64, time: f64) -> BenchJson {
        let product = match kernel {
            Kernel::Gemv(product) => Some(product),
            _ => None,
        };
        BenchJson {
            schema: 1,
            kernel: kernel.key().into(),
            route: "r".into(),
            backend: "cpu".into(),
            device: "a processor".into(),
            shape: product.map(|it| ProductShapeJson { m: 1, n: it.n, k: it.k }),
            precision: product.map(|it| BenchPrecisionJson {
                weights: it.layout.key().into(),
                activations: "fp32".into(),
            }),
            cache: "cold".into(),
            bytes,
            flops: bytes,
            accounting: String::new(),
            footprint_bytes: bytes,
            time_s: BenchTimeJson {
                median: time,
                low: time,
                high: time,
                n: 20,
                mad: 0.0,
                p5: time,
                p95: time,
                min: time,
            },
            byte_per_s: Some(bytes / time),
            flop_per_s: Some(bytes / time),
            energy_j: None,
            check: BenchCheckJson { worst_error: 0.0, tolerance: 0.0, passed: true },
            flags: Vec::new(),
            stop_rule: StopRuleJson::Iterations { n: 20 },
            calls_per_window: 1,
            samples_s: vec![time],
            conditions: ConditionsJson::default(),
        }
    }

    /// A machine of 50 GB/s whose products reach 0.9 of it and cost 5 µs each; reading is disturbed but once.
    fn records() -> Vec<BenchJson> {
        let mut reads = [30e9, 50e9, 20e9].into_iter();
        let points = points(1 << 28);
        let record = |(kernel, _): &(Kernel, Cache)| match kernel {
            Kernel::Gemv(Product { layout, n, k }) => {
                let bytes = layout.format().stored_bytes(*n, *k).get();
                record(*kernel, bytes, bytes / 45e9 + 5e-6)
            }
            Kernel::Read { .. } => record(*kernel, 1e9, 1e9 / reads.next().expect("three reads")),
            _ => record(*kernel, 1e9, 1e-3),
        };
        points.iter().map(record).collect()
    }

    #[test]
    fn there_are_30_to_60_points() {
        assert!((30..=61).contains(&points(1).len()), "{}", points(1).len());
    }

    #[test]
    fn factors_of_a_known_machine_are_found() {
        let calibrated = Calibrated::new(&records()).unwrap();
        assert_eq!(calibrated.rows.len(), LAYOUTS.len());
        for row in &calibrated.rows {
            assert!((row.factors.eta_memory.unwrap() - 0.9).abs() < 0.01, "{row:?}");
            assert!((row.factors.floor.unwrap().get() - 5e-6).abs() < 2e-6, "{row:?}");
        }
        assert!(calibrated.error() < 0.01 && calibrated.held_out.len() == LAYOUTS.len());
    }

    #[test]
    fn files_that_are_written_can_be_read() {
        let calibrated = Calibrated::new(&records()).unwrap();
        let own = report::calibration_file::write(&calibrated.own());
        let read = report::calibration_file::parse(&own).unwrap();
        assert_eq!(read.rows.len(), LAYOUTS.len());
        let device = calibrated.device(&records()).unwrap().to_string();
        let device = report::device_file::parse(&device).unwrap();
        assert!((device.bandwidth.value.get() / 50e9 - 1.0).abs() < 1e-9);
    }
}
