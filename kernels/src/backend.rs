//! Backends: devices that run kernels. The processor and a fake implement the trait; GPUs will.

pub mod fake;

use calc_core::catalog;
use calc_core::quant_format::QuantFormat;
use calc_core::units::{Bytes, Flops, Hertz};

use crate::measure::Clock;
use crate::pack::Layout;

/// A kernel with its problem size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// Reads an array.
    Read {
        /// Bytes of the array [B].
        bytes: u64,
    },
    /// Reads an array and writes it to another.
    Copy {
        /// Bytes of each of the two arrays [B].
        bytes: u64,
    },
    /// `a = b + 3·c` over arrays of f64, as in STREAM.
    Triad {
        /// Bytes of each of the three arrays [B].
        bytes: u64,
    },
    /// FP32 multiply-adds in registers.
    Fma,
    /// INT8 dot products in registers.
    Dot,
    /// GEMV: y = W·x with packed weights.
    Gemv(GemvShape),
    /// GEMM: Y = X·Wᵀ.
    Gemm(GemmShape),
}

/// Element type of both GEMM operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// FP32 with FP32 accumulation.
    Fp32,
    /// FP16 with FP32 accumulation, rounded to FP16.
    Fp16,
    /// INT8 with INT32 accumulation.
    Int8,
}

impl Element {
    /// All element types, widest first.
    pub const ALL: [Self; 3] = [Self::Fp32, Self::Fp16, Self::Int8];

    /// Key of the format in the catalog.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Int8 => "int8",
        }
    }

    /// Bytes per element.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Fp32 => 4,
            Self::Fp16 => 2,
            Self::Int8 => 1,
        }
    }

    /// The element type with a key.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.key() == key)
    }
}

/// GEMM problem: Y = X·Wᵀ with X of M × K, W of N × K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmShape {
    /// Element type of X and W.
    pub element: Element,
    /// M: tokens, rows of X.
    pub m: u64,
    /// N: outputs, rows of W.
    pub n: u64,
    /// K: inputs, columns of X and W.
    pub k: u64,
}

impl GemmShape {
    /// Format of both operands.
    ///
    /// # Panics
    /// Never: the catalog has all three formats.
    pub fn format(&self) -> &'static QuantFormat {
        catalog::format(self.element.key()).expect("the catalog has FP32, FP16 and INT8")
    }

    /// Format of the result: FP32 and FP16 keep theirs; INT8 accumulates in 32 bits, which count as FP32.
    ///
    /// # Panics
    /// As [`GemmShape::format`].
    pub fn output_format(&self) -> &'static QuantFormat {
        match self.element {
            Element::Fp32 | Element::Fp16 => self.format(),
            Element::Int8 => GemvShape::output_format(),
        }
    }
}

/// GEMV problem: y = W·x with packed weights W of N × K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemvShape {
    /// Memory layout of W.
    pub layout: Layout,
    /// N: outputs, rows of W.
    pub n: u64,
    /// K: inputs, columns of X and W.
    pub k: u64,
}

impl GemvShape {
    /// Format of the input that the kernel reads. It is quantized before the timed part where the kernel multiplies bytes.
    ///
    /// # Panics
    /// Never: the catalog has both formats.
    pub fn input_format(&self) -> &'static QuantFormat {
        let key = if self.layout.quantizes_input() { "int8" } else { "fp32" };
        catalog::format(key).expect("the catalog has FP32 and INT8")
    }

    /// Format of the output.
    ///
    /// # Panics
    /// Never: the catalog has FP32.
    pub fn output_format() -> &'static QuantFormat {
        catalog::format("fp32").expect("the catalog has FP32")
    }
}

impl Kernel {
    /// Key in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Copy { .. } => "copy",
            Self::Triad { .. } => "triad",
            Self::Fma => "fma_fp32",
            Self::Dot => "dot_int8",
            Self::Gemv(_) => "gemv",
            Self::Gemm(GemmShape { element: Element::Fp32, .. }) => "gemm",
            Self::Gemm(GemmShape { element: Element::Fp16, .. }) => "gemm_fp16",
            Self::Gemm(GemmShape { element: Element::Int8, .. }) => "gemm_int8",
        }
    }

    /// Accounting of bytes and FLOP, as records state it.
    pub const fn accounting(self) -> &'static str {
        match self {
            Self::Read { .. } => "bytes = array",
            Self::Copy { .. } => {
                "bytes = 2 · array (one read, one written; a write is not read first)"
            }
            Self::Triad { .. } => {
                "bytes = 3 · array (two read, one written; a write is not read first); flops = 2 per 8 bytes of array"
            }
            Self::Gemv(_) => {
                "bytes = weights as stored + k · input + n · output; flops = 2 · n · k"
            }
            Self::Gemm(_) => {
                "bytes = weights + m · k input + m · n output (of INT8 in 4 bytes), each once and without scales; flops = 2 · m · n · k"
            }
            Self::Fma | Self::Dot => "flops = 2 · rounds · chains · lanes · workers; no memory",
        }
    }
}

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
    /// The device failed, with its own message.
    Device(String),
}

/// Description of a backend for records.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Key in flags and records.
    pub backend: &'static str,
    /// Name that the device reports.
    pub device: String,
    /// Route: the implementation that runs; for a processor its instruction set.
    pub route: String,
    /// Cores or multiprocessors in use.
    pub workers: usize,
    /// Whether threads are pinned to their cores.
    pub pinned: bool,
    /// Total size of the last-level cache. `None` if unknown.
    pub last_level_cache: Option<Bytes>,
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

    /// Route of one kernel; it may be a narrower instruction set than the device has, or a library.
    fn route(&self, _: Kernel) -> String {
        self.describe().route
    }

    /// Core clock under load, measured now. `None` where it cannot be measured.
    fn core_clock(&mut self, clock: &dyn Clock) -> Option<Hertz>;
}

/// Allocated work, ready to run.
pub trait Task {
    /// Starts one call. The iteration selects the buffers.
    ///
    /// # Errors
    /// When the device fails.
    fn run(&mut self, iteration: u64) -> Result<(), Fault>;

    /// Waits for all calls that were started.
    ///
    /// # Errors
    /// When the device failed meanwhile.
    fn synchronize(&mut self) -> Result<(), Fault>;

    /// Runs once on every set of buffers and compares the results with the reference.
    ///
    /// # Errors
    /// When the device fails.
    fn check(&mut self) -> Result<Check, Fault>;

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
