//! JSON record of `bench`: one measured point with its conditions.

use std::collections::BTreeMap;

use calc_core::cost::gemm::GemmShape;
use serde::Serialize;
use serde_json::{Map, Value};

use super::SCHEMA;
use crate::input::timed_kernel::TimedKernel;

/// Record of one measured point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchJson {
    /// Version of the layout.
    pub schema: u32,
    pub kernel: String,
    /// Variant of the kernel: on a processor the instruction set.
    pub route: String,
    /// Key of the backend, such as `cpu`.
    pub backend: String,
    /// Number of the device among those of its backend.
    pub index: u32,
    /// Name that the device reports.
    pub device: String,
    /// Key of the device in the catalog, where one fits.
    pub catalog_key: Option<String>,
    /// Shape of a product; `None` for other kernels.
    pub shape: Option<ProductShapeJson>,
    /// Sizes by name, of kernels of a layer beside its products; absent for others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, u64>,
    /// Formats; `None` for kernels without any.
    pub precision: Option<BenchPrecisionJson>,
    /// `cold` or `hot`.
    pub cache: String,
    /// Bytes moved by one call.
    pub bytes: f64,
    /// Operations of one call.
    pub flops: f64,
    /// Rule by which bytes and operations are counted.
    pub accounting: String,
    /// Size of the memory through which calls rotate.
    pub footprint_bytes: f64,
    /// Time of one call.
    pub time_s: BenchTimeJson,
    /// Bytes over the median time; `None` if no bytes are moved.
    pub byte_per_s: Option<f64>,
    /// Operations over the median time; `None` if there are none.
    pub flop_per_s: Option<f64>,
    /// Energy of one call, where the machine has a meter.
    pub energy_j: Option<f64>,
    /// Time that the model expects; `None` where it expects none, with the reason in the conditions' `missing`.
    pub expected: Option<BenchExpectedJson>,
    /// Comparison of the result with the reference.
    pub check: BenchCheckJson,
    /// Keys of warnings about the measurement.
    pub flags: Vec<String>,
    /// Rule that ended the measurement.
    pub stop_rule: StopRuleJson,
    /// Calls between two readings of the clock.
    pub calls_per_window: u64,
    /// Time per call in every window, in order of time.
    pub samples_s: Vec<f64>,
    /// Windows of a device that times its own calls; absent for a processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_windows: Option<DeviceWindowsJson>,
    /// Conditions of the measurement.
    pub conditions: ConditionsJson,
}

impl BenchJson {
    /// Version of the JSON layout.
    pub const SCHEMA: u32 = SCHEMA;

    /// The kernel that was timed, whose expected time is asked for.
    pub fn timed_kernel(&self) -> TimedKernel<'_> {
        let formats = self.precision.as_ref();
        TimedKernel {
            key: &self.kernel,
            shape: self.shape.map(|it| GemmShape { m: it.m, n: it.n, k: it.k }),
            sizes: &self.sizes,
            formats: formats.map(|it| (&*it.weights, &*it.activations)),
            bytes: self.bytes,
            flops: self.flops,
        }
    }
}

/// Shape of a matrix product: m, n and k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProductShapeJson {
    /// Tokens.
    pub m: u64,
    /// Output features.
    pub n: u64,
    /// Input features.
    pub k: u64,
}

/// Keys of the formats of a record: of the weights, or of the KV cache, table or array that a kernel reads in their place; and of the
/// input or output beside them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BenchPrecisionJson {
    pub weights: String,
    pub activations: String,
}

/// Windows of a device that times its own calls, in the order of `samples_s`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceWindowsJson {
    /// Time of an empty run, which the samples do not contain.
    pub empty_s: f64,
    /// Time of each window by the host's clock, with its start and the wait for its end.
    pub host_s: Vec<f64>,
    /// Clock of the device's cores at the begin of each window; empty where it was not measured in every window.
    pub clock_hz: Vec<f64>,
}

/// Time with its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchTimeJson {
    /// Median of the samples.
    pub median: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end of that interval.
    pub high: f64,
    /// Number of samples.
    pub n: usize,
    /// Median absolute deviation from the median.
    pub mad: f64,
    /// 5th percentile.
    pub p5: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Minimum; for diagnosis only.
    pub min: f64,
}

impl BenchTimeJson {
    /// Half the width of the interval as a share of the median.
    pub fn uncertainty(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }
}

/// Expected time of one call beside the measured one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchExpectedJson {
    /// Key of the device that is expected to run it.
    pub hardware: String,
    /// Time at the roof.
    pub ideal_s: f64,
    pub time_s: f64,
    /// Lower end of the interval; `None` for a roof.
    pub low_s: Option<f64>,
    /// Upper end of the interval.
    pub high_s: Option<f64>,
    /// Key of the provenance of the factors, or `roof`.
    pub basis: &'static str,
    /// Expected over measured time, less 1.
    pub error: f64,
    /// True if the measured time is shorter than the roof allows by more than the error of measurement.
    pub above_roof: bool,
    /// Key of the roof behind `ideal_s`, if something disturbed it while it was measured; absent for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed_roof: Option<&'static str>,
}

/// Comparison with the reference, before and after timing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchCheckJson {
    /// Infinite is null.
    pub worst_error: f64,
    /// Largest allowed error.
    pub tolerance: f64,
    pub passed: bool,
}

/// Rule that ended a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StopRuleJson {
    /// The median was certain enough, or the time limit was reached.
    Certain {
        /// Required half width of the interval as a share of the median.
        half_width: f64,
        /// Time limit [s].
        limit_s: f64,
    },
    /// A fixed number of samples was taken.
    Iterations { n: usize },
}

/// Conditions of a measurement, without which its result means little. A value that could not be read is null, with its reason
/// in `missing`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ConditionsJson {
    /// Version of this program.
    pub version: String,
    /// Hash of the kernels' sources.
    pub kernel_hash: String,
    /// Compilation target and optimization level.
    pub build: String,
    /// Operating system and its version.
    pub system: String,
    /// Version of the driver of the card that computed; absent for a processor, and where the reason is in `missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_version: Option<String>,
    /// Version of CUDA that this driver has, such as `CUDA 12.9`; absent for other devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda_version: Option<String>,
    pub threads: usize,
    /// True when threads were pinned to cores.
    pub pinned: bool,
    /// Sum over all last-level caches.
    pub last_level_cache_bytes: Option<f64>,
    /// Clock of the cores, measured before the first sample; of a card that has no way to measure it, as its driver tells it then.
    pub clock_before_hz: Option<f64>,
    /// Clock of the cores after the last sample, likewise.
    pub clock_after_hz: Option<f64>,
    /// Clock governor of the operating system.
    pub governor: Option<String>,
    /// Driver that sets the clocks.
    pub clock_driver: Option<String>,
    /// Power mode of the firmware, else the energy preference of the cores, which is none of a card.
    pub power_mode: Option<String>,
    /// Limit of the mean power: of the card that computed, else of all processor packages.
    pub power_cap_w: Option<f64>,
    /// Times that heat slowed the processor down while sampling.
    pub throttle_events: Option<f64>,
    /// Reasons for which the card that computed was slowed down, or "none": while samples were taken, with the number of readings that had
    /// each, or by a driver that is not read then at the begin or the end of the samples. Absent for a processor, and where the reason is
    /// in `missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_throttle_reasons: Option<String>,
    /// Number of readings of a card while samples were taken; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_readings: Option<usize>,
    /// Lowest clock among these readings; absent likewise, and where the reason is in `missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_clock_low_hz: Option<f64>,
    /// Highest clock among them; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_clock_high_hz: Option<f64>,
    /// Load average of the minute before.
    pub load_before: Option<f64>,
    /// Share of the machine's processor time that other programs used during the measurement.
    pub others_share: Option<f64>,
    /// Share of the machine's processor time that the hypervisor took during the measurement (steal).
    pub steal_share: Option<f64>,
    /// Number of other processes that use the card which computed; absent for a processor, and where the reason is in `missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_other_processes: Option<f64>,
    /// Memory that they have on the card; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_other_memory_byte: Option<f64>,
    /// Temperature of the processor, else of the warmest sensor, before the measurement; of a card when sampling begins.
    pub temperature_before_c: Option<f64>,
    /// Temperature after the measurement, of the same sensor [°C]; of a card when sampling ends.
    pub temperature_after_c: Option<f64>,
    /// Chip or zone of the sensor.
    pub temperature_source: Option<String>,
    /// Mean power while sampling, of the card that computed, else of the processor or the machine.
    pub power_w: Option<f64>,
    /// Largest error of `power_w`, and so of `energy_j`, by the steps in which the meter advances, as a share; absent where they are not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_error: Option<f64>,
    /// Parts covered by the power meter.
    pub power_source: Option<String>,
    /// Integral of a card's instant power over its counter of energy, less one, over at least 5 s of steady power, of these samples and of
    /// those of measurements before; absent for a processor, and where the reason is in `missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meters_difference: Option<f64>,
    /// Duration of warming up.
    pub warm_up_s: f64,
    /// Load before the samples that was asked for, so that clocks and temperature are those of steady load [s]; absent for a measurement
    /// that begins after a rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained_s: Option<f64>,
    /// Seed of data and order.
    pub seed: u64,
    /// Reasons of null values, by key.
    pub missing: Map<String, Value>,
}

impl ConditionsJson {
    /// The driver of the device that computed, by its versions, if it has one.
    pub fn driver(&self) -> Option<String> {
        let own = self.driver_version.as_ref().map(|version| format!("driver {version}"));
        let all: Vec<String> = own.into_iter().chain(self.cuda_version.clone()).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
