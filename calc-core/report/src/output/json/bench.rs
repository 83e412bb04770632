//! The record of `bench`: one point that was measured, with all that it needs to be judged later.

use serde::Serialize;
use serde_json::{Map, Value};

use super::SCHEMA;

/// One point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchJson {
    /// Of the layout.
    pub schema: u32,
    /// What was timed.
    pub kernel: String,
    /// Which of its variants: on a processor the instruction set.
    pub route: String,
    /// `cpu`, later others.
    pub backend: String,
    /// The device by its own name.
    pub device: String,
    /// Of a product.
    pub shape: Option<ProductShapeJson>,
    /// Formats; of a kernel without any, none.
    pub precision: Option<BenchPrecisionJson>,
    /// `cold` or `hot`.
    pub cache: String,
    /// Moved by one call.
    pub bytes: f64,
    /// Operations of one call.
    pub flops: f64,
    /// How bytes and operations are counted.
    pub accounting: String,
    /// Memory that calls rotate through.
    pub footprint_bytes: f64,
    /// Time of one call.
    pub time_s: BenchTimeJson,
    /// Bytes over the median; none if nothing is moved.
    pub byte_per_s: Option<f64>,
    /// Operations over the median; none if there are none.
    pub flop_per_s: Option<f64>,
    /// Of one call, where the machine has a meter.
    pub energy_j: Option<f64>,
    /// Whether the result is right.
    pub check: BenchCheckJson,
    /// What makes it less than it seems.
    pub flags: Vec<String>,
    /// When it stopped.
    pub stop_rule: StopRuleJson,
    /// Calls between two looks at the clock.
    pub calls_per_window: u64,
    /// Time per call of every window, in order.
    pub samples_s: Vec<f64>,
    /// Under which it was measured.
    pub conditions: ConditionsJson,
}

impl BenchJson {
    /// Number of this layout.
    pub const SCHEMA: u32 = SCHEMA;
}

/// m, n and k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProductShapeJson {
    /// Tokens.
    pub m: u64,
    /// Outputs.
    pub n: u64,
    /// Inputs.
    pub k: u64,
}

/// Keys of formats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BenchPrecisionJson {
    /// Of the weights.
    pub weights: String,
    /// Of the activations.
    pub activations: String,
}

/// A time with its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchTimeJson {
    /// Of the samples.
    pub median: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Samples.
    pub n: usize,
    /// Median distance from the median.
    pub mad: f64,
    /// One of twenty is below.
    pub p5: f64,
    /// One of twenty is above.
    pub p95: f64,
    /// The least; for diagnosis.
    pub min: f64,
}

impl BenchTimeJson {
    /// Half the interval as a share of the median.
    pub fn uncertainty(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }
}

/// A comparison with the reference, before and after timing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchCheckJson {
    /// Infinite is null.
    pub worst_error: f64,
    /// What is allowed.
    pub tolerance: f64,
    /// Whether it is right.
    pub passed: bool,
}

/// When a measurement stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StopRuleJson {
    /// When the median was certain.
    Certain {
        /// Half the interval as a share of the median.
        half_width: f64,
        /// Time limit.
        limit_s: f64,
    },
    /// After as many samples as were asked for.
    Iterations {
        /// Samples.
        n: usize,
    },
}

/// What a result is worth nothing without. What could not be read is null, and `missing` says why.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ConditionsJson {
    /// Of this program.
    pub version: String,
    /// Of the kernels' sources.
    pub kernel_hash: String,
    /// For which target they were compiled, and how far they were optimized.
    pub build: String,
    /// Operating system and its version.
    pub system: String,
    /// Threads at work.
    pub threads: usize,
    /// Whether they stayed on their cores.
    pub pinned: bool,
    /// All last-level caches together.
    pub last_level_cache_bytes: Option<f64>,
    /// Clock of the cores, measured before the first sample.
    pub clock_before_hz: Option<f64>,
    /// And after the last.
    pub clock_after_hz: Option<f64>,
    /// Who chooses the clock.
    pub governor: Option<String>,
    /// Programs that wanted a core in the minute before.
    pub load_before: Option<f64>,
    /// Share of the machine's time that others took meanwhile.
    pub others_share: Option<f64>,
    /// Share of the machine's time that the host took away meanwhile.
    pub steal_share: Option<f64>,
    /// Of the processor before, else of the warmest sensor.
    pub temperature_before_c: Option<f64>,
    /// And after.
    pub temperature_after_c: Option<f64>,
    /// The chip or zone that tells it.
    pub temperature_source: Option<String>,
    /// Mean while sampling.
    pub power_w: Option<f64>,
    /// What was metered.
    pub power_source: Option<String>,
    /// Seconds of warming up.
    pub warm_up_s: f64,
    /// Seed of data and order.
    pub seed: u64,
    /// Why a value is null.
    pub missing: Map<String, Value>,
}
