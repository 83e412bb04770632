//! What is measured, and the record of one measured point.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// What to measure: every shape in every format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchSpec {
    /// The kernel.
    pub what: BenchKind,
    /// Shapes; none for kernels without one.
    #[serde(default)]
    pub shapes: Vec<Shape>,
    /// Keys of weight formats.
    #[serde(default)]
    pub formats: Vec<String>,
    /// Key of the backend; without it the best that the machine has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// A fixed number of iterations in place of the stop rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
}

impl BenchSpec {
    /// How many points it has.
    pub fn points(&self) -> usize {
        self.shapes.len().max(1).saturating_mul(self.formats.len().max(1))
    }
}

/// The kernels that are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchKind {
    /// A matrix times a vector.
    Gemv,
    /// A matrix times a matrix.
    Gemm,
    /// Reading memory.
    Bandwidth,
    /// Peaks of arithmetic.
    Flops,
    /// What bounds all others: reading memory, multiply-adds, dot products.
    Roofs,
}

impl BenchKind {
    /// Keys of the formats that every daemon measures this kernel in, widest first; none for kernels without weights.
    /// Daemons on x86-64 measure GEMM in FP16, too. A test of `companion` compares them with the kernels.
    pub const fn formats(self) -> &'static [&'static str] {
        match self {
            Self::Gemv => &[
                "fp32",
                "fp16",
                "bf16",
                "fp8_e4m3",
                "fp8_e5m2",
                "int8",
                "int8_g128",
                "int4_g32",
                "int4_g128",
                "int4_g128_sym",
                "nf4",
                "mxfp4",
                "nvfp4",
                "gguf_q8_0",
                "gguf_q4_0",
            ],
            Self::Gemm => &["fp32", "int8"],
            Self::Bandwidth | Self::Flops | Self::Roofs => &[],
        }
    }
}

/// Rows, columns and depth of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Rows: tokens.
    pub m: u64,
    /// Columns: outputs.
    pub n: u64,
    /// Depth: inputs.
    pub k: u64,
}

/// One measured point, with the keys of `ridgepoint bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRecord {
    /// Number of the published form.
    pub schema: u32,
    /// Name of the kernel.
    pub kernel: String,
    /// Which of its implementations ran.
    pub route: String,
    /// Key of the backend.
    pub backend: String,
    /// Name of the device.
    pub device: String,
    /// The shape, where the kernel has one.
    pub shape: Option<Shape>,
    /// Formats, where the kernel has some.
    pub precision: Option<Precision>,
    /// `cold` or `hot`.
    pub cache: String,
    /// Bytes that one run moves.
    pub bytes: f64,
    /// FLOP of one run.
    pub flops: f64,
    /// How bytes and FLOP are counted.
    #[serde(default)]
    pub accounting: String,
    /// Memory that runs rotate through, in bytes.
    #[serde(default)]
    pub footprint_bytes: f64,
    /// Seconds of one run.
    pub time_s: Time,
    /// Bytes per second at the median, if any are moved.
    pub byte_per_s: Option<f64>,
    /// FLOP per second at the median, if there are any.
    pub flop_per_s: Option<f64>,
    /// Joule of one run, where the machine tells.
    pub energy_j: Option<f64>,
    /// The result against its reference.
    pub check: Check,
    /// What disturbed it: throttled, contended, and so on.
    pub flags: Vec<String>,
    /// When it stopped.
    #[serde(default)]
    pub stop_rule: BTreeMap<String, Condition>,
    /// Runs between two looks at the clock.
    #[serde(default)]
    pub calls_per_window: u64,
    /// Seconds of every run, in order; none if they are too many for the wire.
    #[serde(default)]
    pub samples_s: Vec<f64>,
    /// Under what conditions it was measured; missing sensors are null, with their reasons under `missing`.
    pub conditions: BTreeMap<String, Condition>,
}

/// Keys of formats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precision {
    /// Of the weights.
    pub weights: String,
    /// Of the activations.
    pub activations: String,
}

/// A median with its confidence interval, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Samples.
    pub n: u64,
    /// Median distance from the median.
    #[serde(default)]
    pub mad: f64,
    /// One of twenty is below.
    #[serde(default)]
    pub p5: f64,
    /// One of twenty is above.
    #[serde(default)]
    pub p95: f64,
    /// The least.
    #[serde(default)]
    pub min: f64,
}

/// How far the result of the kernel is from its reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Largest error; none if it has no bound.
    pub worst_error: Option<f64>,
    /// Largest error that is allowed.
    pub tolerance: f64,
    /// Whether it was met.
    pub passed: bool,
}

/// A condition of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Condition {
    /// Yes or no.
    Flag(bool),
    /// A number; its unit is in the key.
    Number(f64),
    /// A text.
    Text(String),
    /// Reasons by name.
    Reasons(BTreeMap<String, String>),
    /// A sensor that is missing.
    Missing(()),
}
