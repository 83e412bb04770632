//! Backends: devices that run kernels. The processor, GPUs with CUDA and a fake implement the trait.

mod device_id;
pub mod fake;
mod kernel;
mod layer;
mod matrices;
mod support;

use calc_core::op::OpCost;
use calc_core::quant_format::QuantFormat;
use calc_core::units::{Bytes, Flops, Hertz};

pub use device_id::{BackendKind, DeviceId};
pub use kernel::{GemvShape, Kernel, TensorElement};
pub use layer::{AttentionSizes, EmbeddingSizes, RopeSizes, RowSizes, StoredFloat};
pub use matrices::{Element, GemmShape};
pub use support::{FormatSupport, KernelSupport, Support};

use std::ops::ControlFlow;

use crate::compare::SampledOutput;
use crate::measure::{Clock, DeviceSpan, Stopped};

/// Where the data of a call is when the call begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// In DRAM: calls rotate over buffers of at least four times the last-level cache.
    Cold,
    /// In the caches: all calls use one buffer.
    Hot,
}

impl Cache {
    /// Key in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Hot => "hot",
        }
    }
}

/// A kernel with the state of the caches and the seed of its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Kernel and problem size.
    pub kernel: Kernel,
    /// State of the caches.
    pub cache: Cache,
    /// Seed of the data.
    pub seed: u64,
}

/// Cost of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Bytes between memory and processor.
    pub bytes: Bytes,
    /// FLOP; a multiply-add counts 2.
    pub flops: Flops,
}

impl From<OpCost> for Cost {
    fn from(cost: OpCost) -> Self {
        Self { bytes: cost.traffic.total(), flops: cost.flops }
    }
}

/// Result of comparing a kernel with its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// Largest error, as a share of the tolerance where elements have tolerances of their own; infinite for NaN.
    pub worst_error: f64,
    /// Largest error that passes.
    pub tolerance: f64,
}

impl Check {
    /// Whether the error is within the tolerance; false for NaN.
    pub fn passed(&self) -> bool {
        self.worst_error <= self.tolerance
    }

    /// The check with the larger error.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        // NaN is worst.
        let badness = |check: &Self| {
            if check.worst_error.is_nan() { f64::INFINITY } else { check.worst_error }
        };
        if badness(&other) > badness(&self) { other } else { self }
    }

    /// The worst error of `count` runs.
    ///
    /// # Errors
    /// The first run that fails.
    pub fn worst_of(
        tolerance: f64,
        count: u64,
        mut error: impl FnMut(u64) -> Result<f64, Fault>,
    ) -> Result<Self, Fault> {
        (0..count).try_fold(Self { worst_error: 0.0, tolerance }, |worst, run| {
            Ok(worst.worse(Self { worst_error: error(run)?, tolerance }))
        })
    }
}

/// Reasons why a backend refuses or fails.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// No such device, or no driver for it.
    NoDevice,
    /// No kernel for this problem.
    Unsupported,
    /// Not enough memory.
    NoMemory {
        /// Bytes needed [B].
        bytes: u64,
        /// Bytes that may be taken at most [B], nine tenths of what is free; `None` where that is not known.
        most: Option<u64>,
    },
    /// A hot measurement does not fit into the caches.
    NoCache {
        /// Bytes needed [B].
        bytes: u64,
        /// Bytes of the last-level cache [B].
        cache: u64,
    },
    /// A cold measurement would rotate over too many operands of this size.
    TooSmall {
        /// Bytes of the operand [B].
        bytes: u64,
        /// Bytes of the smallest operand that is measured cold [B].
        least: u64,
    },
    /// The kernel, or the library behind it, does not take this problem, with the reason; the device works.
    Refused(String),
    /// The device failed, with its own message.
    Device(String),
}

/// Description of a backend for records.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Backend and index.
    pub id: DeviceId,
    /// Name that the device reports.
    pub device: String,
    /// Key of the device in the catalog, where one fits.
    pub catalog_key: Option<&'static str>,
    /// The driver by its version, of a device that has one.
    pub driver: Option<String>,
    /// Route: the implementation that runs; for a processor its instruction set.
    pub route: String,
    /// Cores or multiprocessors in use.
    pub workers: usize,
    /// Whether threads are pinned to their cores.
    pub pinned: bool,
    /// Total size of the last-level cache. `None` if unknown.
    pub last_level_cache: Option<Bytes>,
    /// Place on its bus, by which the system's sensors know a card; `None` for a processor.
    pub address: Option<String>,
    /// Memory of the device; `None` where that is the memory of the system.
    pub memory: Option<Bytes>,
}

/// A device that runs kernels.
pub trait Backend {
    /// Checks that the device exists and works.
    ///
    /// # Errors
    /// When the device is missing or does not work.
    fn probe(&mut self) -> Result<(), Fault>;

    /// Allocates buffers, fills them, and computes the reference result.
    ///
    /// # Errors
    /// When there is no kernel or not enough memory.
    fn allocate(&mut self, work: &Work) -> Result<Box<dyn Task>, Fault>;

    /// Description for records.
    fn describe(&self) -> Description;

    /// Kernels that it runs with their formats, and the size of its caches.
    fn support(&self) -> Support;

    /// Bytes that a measurement of this work allocates.
    fn needed(&self, work: &Work) -> u64;

    /// Format of the input that the kernel reads: that of the weights' carrier (weight-only), or one that the input is quantized
    /// to before the timed part. `None` for kernels without weights.
    fn activations(&self, kernel: Kernel) -> Option<&'static QuantFormat>;

    /// Route of one kernel; it may be a narrower instruction set than the device has, or a library.
    fn route(&self, _: Kernel) -> String {
        self.describe().route
    }

    /// Core clock under load, measured now. `None` where it cannot be measured.
    fn core_clock(&mut self, clock: &dyn Clock) -> Option<Hertz>;
}

/// Allocated work, ready to run.
pub trait Task {
    /// Chooses the fastest way to run, where there are several. `go_on` is asked before each trial, with the number of those before.
    ///
    /// # Errors
    /// When the device fails, or when `go_on` cancels.
    fn choose(
        &mut self,
        _: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<(), Stopped<Fault>> {
        Ok(())
    }

    /// Starts one call. The iteration selects the buffers.
    ///
    /// # Errors
    /// When the device fails.
    fn run(&mut self, iteration: u64) -> Result<(), Fault>;

    /// Starts the calls of a window, from this iteration on.
    ///
    /// # Errors
    /// When the device fails.
    fn run_window(&mut self, first: u64, calls: u64) -> Result<(), Fault> {
        (first..first + calls).try_for_each(|iteration| self.run(iteration))
    }

    /// The number of which the calls of a window are a multiple.
    fn multiple(&self) -> u64 {
        1
    }

    /// Waits for all calls that were started.
    ///
    /// # Errors
    /// When the device failed meanwhile.
    fn synchronize(&mut self) -> Result<(), Fault>;

    /// Rate of the clock by which the device times its own calls. `None` where the host's clock is as good.
    fn ticks_per_second(&self) -> Option<f64> {
        None
    }

    /// Time of the calls between the last two synchronizations, by the device's clock.
    fn device_span(&mut self) -> Option<DeviceSpan> {
        None
    }

    /// Runs once on every set of buffers and compares the results with the reference.
    ///
    /// # Errors
    /// When the device fails.
    fn check(&mut self) -> Result<Check, Fault>;

    /// Runs once on the first set of buffers and returns outputs from all over the result; none for kernels that show none, which are all
    /// but products with packed weights.
    ///
    /// # Errors
    /// When the device fails.
    fn outputs(&mut self) -> Result<Vec<SampledOutput>, Fault> {
        Ok(Vec::new())
    }

    /// Cost of one call.
    fn cost(&self) -> Cost;

    /// Bytes allocated.
    fn footprint(&self) -> Bytes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_no_number_is_worse_than_any() {
        let right = Check { worst_error: 0.0, tolerance: 1.0 };
        let wrong = Check { worst_error: 2.0, tolerance: 1.0 };
        let nan = Check { worst_error: f64::NAN, tolerance: 1.0 };
        assert!(right.passed() && !wrong.passed() && !nan.passed());
        for (a, b, passes) in [
            (right, right, true),
            (right, wrong, false),
            (wrong, right, false),
            (right, nan, false),
            (nan, right, false),
        ] {
            assert_eq!(a.worse(b).passed(), passes, "{a:?} {b:?}");
        }
    }
}
