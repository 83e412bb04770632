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
    /// Formats.
    pub precision: Precision,
    /// `cold` or `hot`.
    pub cache: String,
    /// Bytes that one run moves.
    pub bytes: f64,
    /// FLOP of one run.
    pub flops: f64,
    /// Seconds of one run.
    pub time_s: Time,
    /// Bytes per second at the median.
    pub byte_per_s: f64,
    /// FLOP per second at the median.
    pub flop_per_s: f64,
    /// Joule of one run, where the machine tells.
    pub energy_j: Option<f64>,
    /// The result against its reference.
    pub check: Option<Check>,
    /// What disturbed it: throttled, contended, and so on.
    pub flags: Vec<String>,
    /// Under what conditions it was measured; missing sensors are null, with the reason under `missing`.
    pub conditions: BTreeMap<String, Condition>,
    /// Why a condition is null, by its key.
    #[serde(default)]
    pub missing: BTreeMap<String, String>,
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
}

/// How far the result of the kernel is from its reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Largest error.
    pub worst_error: f64,
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
    /// A sensor that is missing.
    Missing(()),
}
