//! The kernels that can be timed, with their problem sizes.

use calc_core::catalog;
use calc_core::quant_format::{ComputeClass, QuantFormat};

use super::layer::{AttentionSizes, EmbeddingSizes, RopeSizes, RowSizes};
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
    /// Product with packed weights, Y = X·Wᵀ with few tokens; with one token a GEMV, y = W·x.
    Gemv(GemvShape),
    /// GEMM: Y = X·Wᵀ.
    Gemm(GemmShape),
    /// Attention over a KV cache.
    Attention(AttentionSizes),
    /// Adds the branch to the residual, and normalizes the sum (RMSNorm).
    Norm(RowSizes),
    /// Rotary positions.
    Rope(RopeSizes),
    /// Gated activation: SiLU(gate) · up.
    Gate(RowSizes),
    /// Rows of a table of embeddings.
    Embedding(EmbeddingSizes),
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

    /// Class of the units that multiply it on a processor; FP16 is multiplied as FP32.
    pub const fn class(self) -> ComputeClass {
        match self {
            Self::Fp32 | Self::Fp16 => ComputeClass::Fp32,
            Self::Int8 => ComputeClass::Int8,
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

/// Product with packed weights: Y = X·Wᵀ with X of M × K, W of N × K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemvShape {
    /// Memory layout of W.
    pub layout: Layout,
    /// M: tokens, rows of X; from 1, which is a GEMV, to [`GemvShape::MAX_TOKENS`].
    pub m: u64,
    /// N: outputs, rows of W.
    pub n: u64,
    /// K: inputs, columns of X and W.
    pub k: u64,
}

impl GemvShape {
    /// Most tokens; more are a GEMM.
    pub const MAX_TOKENS: u64 = 16;

    /// Format of the output.
    ///
    /// # Panics
    /// Never: the catalog has FP32.
    pub fn output_format() -> &'static QuantFormat {
        catalog::format("fp32").expect("the catalog has FP32")
    }
}

impl Kernel {
    /// The kernels that reach the peak of a compute class.
    pub const PEAKS: [Self; 2] = [Self::Fma, Self::Dot];

    /// The compute class whose peak the kernel reaches, or on which a product of matrices runs. `None` for other kernels.
    pub const fn class(self) -> Option<ComputeClass> {
        match self {
            Self::Fma => Some(ComputeClass::Fp32),
            Self::Dot => Some(ComputeClass::Int8),
            Self::Gemm(product) => Some(product.element.class()),
            _ => None,
        }
    }

    /// Key in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Copy { .. } => "copy",
            Self::Triad { .. } => "triad",
            Self::Fma => "fma_fp32",
            Self::Dot => "dot_int8",
            Self::Gemv(GemvShape { m: 1, .. }) => "gemv",
            Self::Gemv(_) => "gemm_packed",
            Self::Gemm(GemmShape { element: Element::Fp32, .. }) => "gemm",
            Self::Gemm(GemmShape { element: Element::Fp16, .. }) => "gemm_fp16",
            Self::Gemm(GemmShape { element: Element::Int8, .. }) => "gemm_int8",
            Self::Attention(_) => "attention",
            Self::Norm(_) => "norm",
            Self::Rope(_) => "rope",
            Self::Gate(_) => "gate",
            Self::Embedding(_) => "embedding",
        }
    }

    /// Key of the format of the weights, or of what is read in their place: a KV cache, a table, the values between operators.
    pub const fn stored_format(self) -> Option<&'static str> {
        match self {
            Self::Gemv(it) => Some(it.layout.key()),
            Self::Gemm(it) => Some(it.element.key()),
            Self::Attention(it) => Some(it.cache.key()),
            Self::Norm(it) | Self::Gate(it) => Some(it.carrier.key()),
            Self::Rope(it) => Some(it.carrier.key()),
            Self::Embedding(it) => Some(it.table.key()),
            Self::Read { .. } | Self::Copy { .. } | Self::Triad { .. } | Self::Fma | Self::Dot => {
                None
            }
        }
    }

    /// Sizes by name, as records state them; none for streams, peaks and products.
    pub fn sizes(self) -> Vec<(&'static str, u64)> {
        match self {
            Self::Attention(it) => vec![
                ("batch", it.batch),
                ("heads", it.heads),
                ("kv_heads", it.kv_heads),
                ("head_dim", it.head_dim),
                ("new", it.new),
                ("context", it.context),
            ],
            Self::Norm(it) | Self::Gate(it) => vec![("tokens", it.tokens), ("width", it.width)],
            Self::Rope(it) => {
                vec![("tokens", it.tokens), ("heads", it.heads), ("head_dim", it.head_dim)]
            }
            Self::Embedding(it) => {
                vec![("tokens", it.tokens), ("width", it.width), ("vocab", it.vocab)]
            }
            Self::Read { .. }
            | Self::Copy { .. }
            | Self::Triad { .. }
            | Self::Fma
            | Self::Dot
            | Self::Gemv(_)
            | Self::Gemm(_) => Vec::new(),
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
            Self::Gemv(GemvShape { m: 1, .. }) => {
                "bytes = weights as stored + k · input + n · output; flops = 2 · n · k"
            }
            Self::Gemv(_) => {
                "bytes = weights as stored + m · k input + m · n output, each once; flops = 2 · m · n · k"
            }
            Self::Gemm(_) => {
                "bytes = weights + m · k input + m · n output (of INT8 in 4 bytes), each once and without scales; flops = 2 · m · n · k"
            }
            Self::Attention(_) => {
                "bytes = keys and values of the context + queries and output in FP32, each once; flops = 4 · pairs of query and key · head_dim"
            }
            Self::Norm(_) => {
                "bytes = 4 · tokens · width (residual and branch read, residual and norm written), without the weights of the norm; flops = 5 · tokens · width"
            }
            Self::Rope(_) => {
                "bytes = 2 · tokens · heads · head_dim (in place), without sines and cosines; flops = 3 · tokens · heads · head_dim"
            }
            Self::Gate(_) => {
                "bytes = 3 · tokens · width (gate and up read, product written; a write is not read first); flops = 5 · tokens · width"
            }
            Self::Embedding(_) => {
                "bytes = tokens · width, read as stored and written in FP32 (a write is not read first)"
            }
            Self::Fma | Self::Dot => "flops = 2 · rounds · chains · lanes · workers; no memory",
        }
    }
}
