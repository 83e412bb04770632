//! The kernels that can be timed, with their problem sizes.

use calc_core::calibration::Tokens;
use calc_core::catalog;
use calc_core::quant_format::{ComputeClass, QuantFormat};

use super::BackendKind;
use super::layer::{AttentionSizes, EmbeddingSizes, RopeSizes, RowSizes, StoredFloat};
use super::matrices::GemmShape;
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
    /// Products of small matrices in registers, on tensor cores.
    TensorCores(TensorElement),
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

/// Element type of the operands of tensor cores. Floats accumulate in FP32, integers in INT32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorElement {
    /// TF32.
    Tf32,
    /// FP16.
    Fp16,
    /// BF16.
    Bf16,
    /// FP8 E4M3.
    Fp8,
    /// INT8.
    Int8,
}

impl TensorElement {
    /// All element types.
    pub const ALL: [Self; 5] = [Self::Tf32, Self::Fp16, Self::Bf16, Self::Fp8, Self::Int8];

    /// Class of the peak.
    pub const fn class(self) -> ComputeClass {
        match self {
            Self::Tf32 => ComputeClass::Tf32,
            Self::Fp16 => ComputeClass::Fp16,
            Self::Bf16 => ComputeClass::Bf16,
            Self::Fp8 => ComputeClass::Fp8,
            Self::Int8 => ComputeClass::Int8,
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
    pub const MAX_TOKENS: u64 = Tokens::MOST_PACKED as u64;

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
    pub const PEAKS: [Self; 7] = [
        Self::Fma,
        Self::Dot,
        Self::TensorCores(TensorElement::Tf32),
        Self::TensorCores(TensorElement::Fp16),
        Self::TensorCores(TensorElement::Bf16),
        Self::TensorCores(TensorElement::Fp8),
        Self::TensorCores(TensorElement::Int8),
    ];

    /// Format of the activations; `packed` tells the one that a device takes beside packed weights. `None` for a kernel without any.
    pub fn activations(
        self,
        packed: impl FnOnce(Layout) -> &'static QuantFormat,
    ) -> Option<&'static QuantFormat> {
        match self {
            Self::Gemv(product) => Some(packed(product.layout)),
            Self::Gemm(product) => Some(product.format()),
            Self::Attention(_) | Self::Embedding(_) => Some(StoredFloat::Fp32.format()),
            Self::Norm(it) | Self::Gate(it) => Some(it.carrier.format()),
            Self::Rope(it) => Some(it.carrier.format()),
            Self::Read { .. }
            | Self::Copy { .. }
            | Self::Triad { .. }
            | Self::Fma
            | Self::Dot
            | Self::TensorCores(_) => None,
        }
    }

    /// The compute class whose peak the kernel reaches, or on which a product of matrices runs on a kind of device. `None` for other
    /// kernels.
    pub const fn class(self, on: BackendKind) -> Option<ComputeClass> {
        match self {
            Self::Fma => Some(ComputeClass::Fp32),
            Self::Dot => Some(ComputeClass::Int8),
            Self::TensorCores(element) => Some(element.class()),
            Self::Gemm(product) => Some(product.element.class(on)),
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
            Self::TensorCores(TensorElement::Tf32) => "mma_tf32",
            Self::TensorCores(TensorElement::Fp16) => "mma_fp16",
            Self::TensorCores(TensorElement::Bf16) => "mma_bf16",
            Self::TensorCores(TensorElement::Fp8) => "mma_fp8_e4m3",
            Self::TensorCores(TensorElement::Int8) => "mma_int8",
            Self::Gemv(GemvShape { m: 1, .. }) => "gemv",
            Self::Gemv(_) => "gemm_packed",
            Self::Gemm(product) => product.element.kernel_key(),
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
            Self::Read { .. }
            | Self::Copy { .. }
            | Self::Triad { .. }
            | Self::Fma
            | Self::Dot
            | Self::TensorCores(_) => None,
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
            | Self::TensorCores(_)
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
                "bytes = weights + m · k input + m · n output (of INT8 in 4 bytes, of FP8 in 2), each once and without scales; flops = 2 · m · n · k"
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
            Self::TensorCores(_) => {
                "flops = 2 · 16 · 8 · K of each `mma`, its K by the element; no memory, and all operands are the same number"
            }
            Self::Fma | Self::Dot => "flops = 2 · rounds · chains · lanes · workers; no memory",
        }
    }
}
