//! What can run kernels: a device with memory. The processor and a fake implement it; graphics processors will.

pub mod fake;

use calc_core::catalog;
use calc_core::quant_format::QuantFormat;
use calc_core::units::{Bytes, Flops, Hertz};

use crate::activation::Multiply;
use crate::measure::Clock;
use crate::pack::Layout;

/// Work that can be timed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// Reads memory.
    Read {
        /// In one call.
        bytes: u64,
    },
    /// Reads memory and writes it elsewhere.
    Copy {
        /// Read in one call; as many are written.
        bytes: u64,
    },
    /// a = b + 3·c
    Triad {
        /// Of each of the three arrays.
        bytes: u64,
    },
    /// Multiply-adds of FP32 in registers.
    Fma,
    /// Dot products of INT8 in registers.
    Dot,
    /// y = W·x with packed weights.
    Gemv(Product),
    /// Y = X·Wᵀ.
    Gemm(MatrixProduct),
}

/// What both operands of a product of matrices are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// FP32, and so are the sums.
    Fp32,
    /// FP16 with sums of FP32 that are rounded to FP16.
    Fp16,
    /// INT8 with sums of INT32.
    Int8,
}

impl Element {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fp32, Self::Fp16, Self::Int8];

    /// The key of its format in the catalog.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Int8 => "int8",
        }
    }

    /// Bytes of one.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Fp32 => 4,
            Self::Fp16 => 2,
            Self::Int8 => 1,
        }
    }

    /// That with a key.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.key() == key)
    }
}

/// A product of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixProduct {
    /// Of both operands.
    pub element: Element,
    /// Tokens.
    pub m: u64,
    /// Outputs.
    pub n: u64,
    /// Inputs.
    pub k: u64,
}

impl MatrixProduct {
    /// The format of both operands.
    ///
    /// # Panics
    /// Never: all are keys of the catalog.
    pub fn format(&self) -> &'static QuantFormat {
        catalog::format(self.element.key()).expect("the catalog has FP32, FP16 and INT8")
    }

    /// The format of the result: that of the floats, and INT8 has sums of 32 bits, which count as FP32.
    ///
    /// # Panics
    /// As [`MatrixProduct::format`].
    pub fn output_format(&self) -> &'static QuantFormat {
        match self.element {
            Element::Fp32 | Element::Fp16 => self.format(),
            Element::Int8 => Product::output_format(),
        }
    }
}

/// A product with packed weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// How the weights lie in memory.
    pub layout: Layout,
    /// Outputs.
    pub n: u64,
    /// Inputs.
    pub k: u64,
}

impl Product {
    /// In which format a kernel reads its input: quantized before it is timed where it multiplies bytes.
    ///
    /// # Panics
    /// Never: both are keys of the catalog.
    pub fn input_format(&self) -> &'static QuantFormat {
        let key = match Multiply::of(self.layout) {
            Multiply::Floats => "fp32",
            Multiply::Bytes => "int8",
        };
        catalog::format(key).expect("the catalog has FP32 and INT8")
    }

    /// In which format a kernel writes its output.
    ///
    /// # Panics
    /// Never: it is a key of the catalog.
    pub fn output_format() -> &'static QuantFormat {
        catalog::format("fp32").expect("the catalog has FP32")
    }
}

impl Kernel {
    /// The word for it in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Copy { .. } => "copy",
            Self::Triad { .. } => "triad",
            Self::Fma => "fma_fp32",
            Self::Dot => "dot_int8",
            Self::Gemv(_) => "gemv",
            Self::Gemm(MatrixProduct { element: Element::Fp32, .. }) => "gemm",
            Self::Gemm(MatrixProduct { element: Element::Fp16, .. }) => "gemm_fp16",
            Self::Gemm(MatrixProduct { element: Element::Int8, .. }) => "gemm_int8",
        }
    }

    /// How its bytes and operations are counted.
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

/// Where the data of a call is when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// In memory: buffers rotate over four times the last-level cache or more.
    Cold,
    /// In the caches, if it fits: one buffer.
    Hot,
}

impl Cache {
    /// The word for it in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Hot => "hot",
        }
    }
}

/// Work with its circumstances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// What is done.
    pub kernel: Kernel,
    /// Where the data is.
    pub cache: Cache,
    /// Of the data.
    pub seed: u64,
}

/// What one call moves and computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Between memory and processor.
    pub bytes: Bytes,
    /// Operations; a multiply-add counts 2.
    pub flops: Flops,
}

/// How right the result of a kernel is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The greatest error; infinite where a result is no number.
    pub worst_error: f64,
    /// The greatest that is allowed.
    pub tolerance: f64,
}

impl Check {
    /// Whether it is right.
    pub fn passed(&self) -> bool {
        self.worst_error <= self.tolerance
    }

    /// The worse of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        // What is no number is worst.
        let badness = |check: &Self| {
            if check.worst_error.is_nan() { f64::INFINITY } else { check.worst_error }
        };
        if badness(&other) > badness(&self) { other } else { self }
    }
}

/// Why a backend does not do what it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such device, or no driver for it.
    NoDevice,
    /// It has no kernel for this.
    Unsupported,
    /// It has not that much memory.
    NoMemory {
        /// What was needed.
        bytes: u64,
    },
    /// It was asked to stay in the caches, and does not fit.
    NoCache {
        /// What was needed.
        bytes: u64,
        /// What there is.
        cache: u64,
    },
    /// It was asked to stay out of the caches, and so many operands of this size would have to take turns that it cannot.
    TooSmall {
        /// Bytes of the operand.
        bytes: u64,
        /// Bytes of the smallest operand that is measured cold.
        least: u64,
    },
    /// It broke down, in its own words.
    Device(String),
}

/// What a backend is, for records.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The word for it in flags and records.
    pub backend: &'static str,
    /// The device, by its own name.
    pub device: String,
    /// Which kernels it uses, as far as it can choose: of a processor the instruction set.
    pub route: String,
    /// Cores or multiprocessors at work.
    pub workers: usize,
    /// Whether threads stay on their cores.
    pub pinned: bool,
    /// The last cache before memory, all of it together.
    pub last_level_cache: Option<Bytes>,
}

/// A device that runs kernels.
pub trait Backend {
    /// Looks whether the device is there and works.
    ///
    /// # Errors
    /// When it is not.
    fn probe(&mut self) -> Result<(), Fault>;

    /// Prepares work: memory, data, and what the result must be.
    ///
    /// # Errors
    /// When it has no kernel or no memory for it.
    fn allocate(&mut self, work: &Work) -> Result<Box<dyn Task>, Fault>;

    /// What it is.
    fn describe(&self) -> Description;

    /// Which implementation of a kernel runs. It may be a narrower one than it could have, or that of a library.
    fn route(&self, _: Kernel) -> String {
        self.describe().route
    }

    /// The clock of its cores at work, measured now. `None` where it cannot be.
    fn speed(&mut self, clock: &dyn Clock) -> Option<Hertz>;
}

/// Work that is ready to run.
pub trait Task {
    /// Starts one call. Its number says which buffers are next.
    ///
    /// # Errors
    /// When the device breaks down.
    fn run(&mut self, turn: u64) -> Result<(), Fault>;

    /// Waits for all that was started.
    ///
    /// # Errors
    /// When the device broke down meanwhile.
    fn synchronize(&mut self) -> Result<(), Fault>;

    /// Runs every buffer once and compares the results with a reference.
    ///
    /// # Errors
    /// When the device breaks down.
    fn check(&mut self) -> Result<Check, Fault>;

    /// What one call costs.
    fn cost(&self) -> Cost;

    /// Memory that it holds.
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
