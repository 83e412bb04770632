//! One call of a kernel on buffers of the caller. Timing calls kernels through it, and so does whoever runs a model: what is timed is
//! what runs.

use half::{bf16, f16};

pub use super::attention::{AttentionBuffers, AttentionScratch};
use super::gemm::{GemmDims, IntMatrix, gemm_float, gemm_int8};
use super::gemv::{Input, Matrix, Output, gemv};
use super::isa::Isa;
use super::lanes::{Carried, Stored};
pub use super::rows::{EmbeddingBuffers, GateBuffers, NormBuffers, RopeBuffers};
use super::threads::Pool;
use super::{attention, rows};
use crate::pack::minifloat::Fp8;

/// A kernel with the buffers of one call.
#[derive(Debug)]
pub enum Launch<'a> {
    /// Y = X·Wᵀ with packed weights and one input per token.
    Packed(PackedBuffers<'a>),
    /// Y = X·Wᵀ of floats.
    Gemm(ByCarrier<GemmBuffers<'a, f32>, GemmBuffers<'a, f16>>),
    /// Y = X·Wᵀ of bytes.
    GemmInt8(IntGemmBuffers<'a>),
    /// Attention over a KV cache.
    Attention(
        ByStored<
            AttentionBuffers<'a, f32>,
            AttentionBuffers<'a, f16>,
            AttentionBuffers<'a, bf16>,
            AttentionBuffers<'a, Fp8>,
        >,
    ),
    /// Adds the branch to the residual, and normalizes the sum.
    Norm(ByCarrier<NormBuffers<'a, f32>, NormBuffers<'a, f16>>),
    /// Rotary positions.
    Rope(ByCarrier<RopeBuffers<'a, f32>, RopeBuffers<'a, f16>>),
    /// SiLU(gate) · up.
    Gate(ByCarrier<GateBuffers<'a, f32>, GateBuffers<'a, f16>>),
    /// Rows of a table of embeddings.
    Embedding(
        ByStored<
            EmbeddingBuffers<'a, f32>,
            EmbeddingBuffers<'a, f16>,
            EmbeddingBuffers<'a, bf16>,
            EmbeddingBuffers<'a, Fp8>,
        >,
    ),
}

/// Buffers by the format of what passes between operators.
#[derive(Debug)]
pub enum ByCarrier<A, B> {
    Fp32(A),
    Fp16(B),
}

/// Buffers by the format of a cache or a table.
#[derive(Debug)]
pub enum ByStored<A, B, C, D> {
    Fp32(A),
    Fp16(B),
    Bf16(C),
    Fp8E4m3(D),
}

/// Buffers of a product with packed weights.
#[derive(Debug)]
pub struct PackedBuffers<'a> {
    pub weights: &'a Matrix,
    /// One input per token.
    pub x: &'a [Input],
    pub y: &'a Output,
}

/// Buffers of a product of floats. Rows of X and W are [`super::gemm::pitch`] apart.
#[derive(Debug)]
pub struct GemmBuffers<'a, T> {
    pub shape: GemmDims,
    pub x: &'a [T],
    pub w: &'a [T],
    pub y: &'a mut [T],
}

/// Buffers of a product of bytes.
#[derive(Debug)]
pub struct IntGemmBuffers<'a> {
    pub x: &'a IntMatrix,
    pub w: &'a IntMatrix,
    pub y: &'a mut [i32],
}

impl Launch<'_> {
    /// Runs the kernel and returns when its result is there.
    ///
    /// # Panics
    /// When a buffer does not have the size of the problem.
    pub fn run(self, isa: Isa, pool: &mut Pool) {
        match self {
            Self::Packed(PackedBuffers { weights, x, y }) => gemv(isa, pool, weights, x, y),
            Self::Gemm(ByCarrier::Fp32(it)) => gemm_float(pool, it.shape, it.x, it.w, it.y),
            Self::Gemm(ByCarrier::Fp16(it)) => gemm_float(pool, it.shape, it.x, it.w, it.y),
            Self::GemmInt8(IntGemmBuffers { x, w, y }) => gemm_int8(isa, pool, x, w, y),
            Self::Attention(ByStored::Fp32(it)) => attention::attention(isa, pool, it),
            Self::Attention(ByStored::Fp16(it)) => attention::attention(isa, pool, it),
            Self::Attention(ByStored::Bf16(it)) => attention::attention(isa, pool, it),
            Self::Attention(ByStored::Fp8E4m3(it)) => attention::attention(isa, pool, it),
            Self::Norm(ByCarrier::Fp32(it)) => rows::add_norm(isa, pool, it),
            Self::Norm(ByCarrier::Fp16(it)) => rows::add_norm(isa, pool, it),
            Self::Rope(ByCarrier::Fp32(it)) => rows::rotate(isa, pool, it),
            Self::Rope(ByCarrier::Fp16(it)) => rows::rotate(isa, pool, it),
            Self::Gate(ByCarrier::Fp32(it)) => rows::activate(isa, pool, it),
            Self::Gate(ByCarrier::Fp16(it)) => rows::activate(isa, pool, it),
            Self::Embedding(ByStored::Fp32(it)) => rows::embed(isa, pool, it),
            Self::Embedding(ByStored::Fp16(it)) => rows::embed(isa, pool, it),
            Self::Embedding(ByStored::Bf16(it)) => rows::embed(isa, pool, it),
            Self::Embedding(ByStored::Fp8E4m3(it)) => rows::embed(isa, pool, it),
        }
    }
}

/// Launches with buffers of this format.
pub(super) trait StoredLaunch: Stored {
    fn attention(buffers: AttentionBuffers<'_, Self>) -> Launch<'_>;
    fn embedding(buffers: EmbeddingBuffers<'_, Self>) -> Launch<'_>;
}

macro_rules! stored_launch {
    ($($number:ty, $format:ident;)*) => {
        $(impl StoredLaunch for $number {
            fn attention(buffers: AttentionBuffers<'_, Self>) -> Launch<'_> {
                Launch::Attention(ByStored::$format(buffers))
            }
            fn embedding(buffers: EmbeddingBuffers<'_, Self>) -> Launch<'_> {
                Launch::Embedding(ByStored::$format(buffers))
            }
        })*
    };
}

stored_launch! {
    f32, Fp32;
    f16, Fp16;
    bf16, Bf16;
    Fp8, Fp8E4m3;
}

/// Launches with buffers of this format between operators.
pub(super) trait CarrierLaunch: Carried {
    fn gemm(buffers: GemmBuffers<'_, Self>) -> Launch<'_>;
    fn norm(buffers: NormBuffers<'_, Self>) -> Launch<'_>;
    fn rope(buffers: RopeBuffers<'_, Self>) -> Launch<'_>;
    fn gate(buffers: GateBuffers<'_, Self>) -> Launch<'_>;
}

macro_rules! carrier_launch {
    ($($number:ty, $format:ident;)*) => {
        $(impl CarrierLaunch for $number {
            fn gemm(buffers: GemmBuffers<'_, Self>) -> Launch<'_> {
                Launch::Gemm(ByCarrier::$format(buffers))
            }
            fn norm(buffers: NormBuffers<'_, Self>) -> Launch<'_> {
                Launch::Norm(ByCarrier::$format(buffers))
            }
            fn rope(buffers: RopeBuffers<'_, Self>) -> Launch<'_> {
                Launch::Rope(ByCarrier::$format(buffers))
            }
            fn gate(buffers: GateBuffers<'_, Self>) -> Launch<'_> {
                Launch::Gate(ByCarrier::$format(buffers))
            }
        })*
    };
}

carrier_launch! {
    f32, Fp32;
    f16, Fp16;
}
