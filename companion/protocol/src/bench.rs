//! The order to measure, and the record of one measured point.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::device::is_first;
use crate::tolerant::Later;

/// A measurement order: every shape, or every set of sizes, in every format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchSpec {
    pub what: BenchKind,
    /// Empty for kernels without a shape.
    #[serde(default)]
    pub shapes: Vec<Shape>,
    /// Sizes by name, for the kernels of a layer beside its products; absent for others, so that orders that older sides know stay as
    /// they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<BTreeMap<String, u64>>,
    #[serde(default)]
    pub formats: Vec<String>,
    /// Device, such as `cuda:1`, or `cuda` for the first of its backend; absent for the first of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Fixed number of iterations; absent for the stop rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
}

impl BenchSpec {
    /// Number of points: shapes or sets of sizes times formats.
    pub fn points(&self) -> usize {
        let problems = self.shapes.len().saturating_add(self.sizes.len());
        problems.max(1).saturating_mul(self.formats.len().max(1))
    }
}

/// The kernels that are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchKind {
    /// Matrix times vector.
    Gemv,
    /// Matrix times matrix.
    Gemm,
    /// Read bandwidth of memory.
    Bandwidth,
    /// Peak rates of multiply-adds and dot products.
    Flops,
    /// The roofs: read bandwidth and the peak rates.
    Roofs,
    /// Attention over a KV cache.
    Attention,
    /// Add and RMSNorm.
    Norm,
    /// Rotary positions.
    Rope,
    /// Gated activation.
    Gate,
    /// Rows of a table of embeddings.
    Embedding,
}

impl BenchKind {
    /// All kernels of this version.
    pub const ALL: [Self; 10] = [
        Self::Gemv,
        Self::Gemm,
        Self::Bandwidth,
        Self::Flops,
        Self::Roofs,
        Self::Attention,
        Self::Norm,
        Self::Rope,
        Self::Gate,
        Self::Embedding,
    ];
    /// Kernels of the first version, whose daemons tell none.
    pub const FIRST: [Self; 5] =
        [Self::Gemv, Self::Gemm, Self::Bandwidth, Self::Flops, Self::Roofs];

    /// The name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Gemv => "gemv",
            Self::Gemm => "gemm",
            Self::Bandwidth => "bandwidth",
            Self::Flops => "flops",
            Self::Roofs => "roofs",
            Self::Attention => "attention",
            Self::Norm => "norm",
            Self::Rope => "rope",
            Self::Gate => "gate",
            Self::Embedding => "embedding",
        }
    }

    /// Whether an order has shapes.
    pub const fn has_shapes(self) -> bool {
        matches!(self, Self::Gemv | Self::Gemm)
    }

    /// Whether an order has sizes by name.
    pub const fn has_sizes(self) -> bool {
        match self {
            Self::Attention | Self::Norm | Self::Rope | Self::Gate | Self::Embedding => true,
            Self::Gemv | Self::Gemm | Self::Bandwidth | Self::Flops | Self::Roofs => false,
        }
    }
}

/// The shape of a GEMV or GEMM.
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

impl Shape {
    /// N and K of the GEMV points from which a calibration is fitted: 4 to 64 million weights.
    pub const FITTED_VECTORS: [(u64, u64); 3] = [(2048, 2048), (4096, 4096), (16_384, 4096)];
    /// M, N and K of the GEMM points from which a calibration is fitted.
    pub const FITTED_MATRICES: [(u64, u64, u64); 3] =
        [(16, 4096, 4096), (96, 2048, 4096), (512, 2048, 2048)];

    /// M, N and K of the GEMM points beside them from which waves of tiles are fitted, on devices that compute products so. Their sides are
    /// odd multiples of 64, so that every two usual tiles differ by edges and last waves.
    pub const FITTED_WAVES: [(u64, u64, u64); 5] = [
        (320, 2112, 4096),
        (320, 3136, 4096),
        (1088, 3648, 4096),
        (1088, 5440, 2048),
        (1088, 6208, 4096),
    ];

    /// M, N and K of the points with packed weights from which a calibration is fitted. Kernels unpack weights for some tokens at once,
    /// so these numbers of tokens are no multiples of one another.
    pub const FITTED_FEW: [(u64, u64, u64); 3] =
        [(2, 4096, 4096), (5, 4096, 4096), (16, 4096, 4096)];

    /// Whether calibrations are fitted to this shape, so that its error does not test them.
    pub fn is_fitted(self) -> bool {
        let all = (self.m, self.n, self.k);
        if self.m == 1 {
            Self::FITTED_VECTORS.contains(&(self.n, self.k))
        } else {
            [&Self::FITTED_MATRICES[..], &Self::FITTED_WAVES, &Self::FITTED_FEW]
                .iter()
                .any(|fitted| fitted.contains(&all))
        }
    }
}

/// One measured point, with the keys of `ridgepoint bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRecord {
    /// Version of the published JSON.
    pub schema: u32,
    pub kernel: String,
    /// Implementation that ran, such as `avx2`.
    pub route: String,
    /// Key of the backend, such as `cpu`.
    pub backend: String,
    /// Number of the device among those of its backend; absent for the first.
    #[serde(default, skip_serializing_if = "is_first")]
    pub index: u32,
    /// Name that the device reports.
    pub device: String,
    /// Key of the device in the catalog, where one fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_key: Option<String>,
    /// Absent for kernels without a shape.
    pub shape: Option<Shape>,
    /// Sizes by name of a kernel of a layer beside its products; empty for others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, u64>,
    /// Absent for kernels without formats.
    pub precision: Option<Precision>,
    /// `cold` or `hot`.
    pub cache: String,
    /// Bytes that one iteration moves.
    pub bytes: f64,
    /// FLOP of one iteration.
    pub flops: f64,
    /// Rule by which bytes and FLOP are counted.
    #[serde(default)]
    pub accounting: String,
    /// Size of the buffers that iterations rotate through, in bytes.
    #[serde(default)]
    pub footprint_bytes: f64,
    /// Duration of one iteration, in s.
    pub time_s: Time,
    /// Bytes per second at the median duration; absent for kernels that move no bytes.
    pub byte_per_s: Option<f64>,
    /// FLOP per second at the median duration; absent for kernels without arithmetic.
    pub flop_per_s: Option<f64>,
    /// Energy of one iteration, in J; absent without a sensor.
    pub energy_j: Option<f64>,
    /// Comparison of the kernel's result with its f64 reference.
    pub check: Check,
    /// Disturbances: throttled, contended, and so on.
    pub flags: Vec<String>,
    /// Stop rule in force and the reason for stopping.
    #[serde(default)]
    pub stop_rule: BTreeMap<String, Condition>,
    /// Iterations between two readings of the clock.
    #[serde(default)]
    pub calls_per_window: u64,
    /// Duration of every iteration, in s and in order; empty if there are too many for one message.
    #[serde(default)]
    pub samples_s: Vec<f64>,
    /// Windows of a device that times its own calls; absent for a processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_windows: Option<DeviceWindows>,
    /// Conditions of the run; missing sensors are null, with their reasons under `missing`.
    pub conditions: BTreeMap<String, Condition>,
}

/// The formats of a point, by key: of the weights, or of the KV cache, table or array that a kernel reads in their place; and of the
/// input or output beside them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precision {
    pub weights: String,
    pub activations: String,
}

/// Windows of a device that times its own calls, in the order of `samples_s`; the lists are empty if there are too many for one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceWindows {
    /// Time of an empty run, which the samples do not contain, in s.
    pub empty_s: f64,
    /// Time of each window by the host's clock, in s.
    #[serde(default)]
    pub host_s: Vec<f64>,
    /// Clock of the device's cores at the begin of each window, in Hz; also empty where it was not measured in every window.
    #[serde(default)]
    pub clock_hz: Vec<f64>,
}

/// Statistics of a duration, in s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Time {
    pub median: f64,
    /// Lower end of the 95 % confidence interval of the median.
    pub low: f64,
    /// Upper end of the 95 % confidence interval of the median.
    pub high: f64,
    pub n: u64,
    /// Median absolute deviation.
    #[serde(default)]
    pub mad: f64,
    /// 5th percentile.
    #[serde(default)]
    pub p5: f64,
    /// 95th percentile.
    #[serde(default)]
    pub p95: f64,
    /// Shortest duration.
    #[serde(default)]
    pub min: f64,
}

/// Comparison of a kernel's result with its reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Largest error; absent if it is not finite.
    pub worst_error: Option<f64>,
    /// Largest allowed error.
    pub tolerance: f64,
    /// True if the error is within the tolerance.
    pub passed: bool,
}

/// The value of a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Condition {
    Flag(bool),
    /// A number; its unit is in the key.
    Number(f64),
    Text(String),
    /// Reasons by the name of a sensor.
    Reasons(BTreeMap<String, String>),
    /// The sensor is missing.
    Missing(()),
    /// A value of a later version.
    Later(Later),
}
