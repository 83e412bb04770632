//! The packed layouts and their table: one row per layout.

use calc_core::catalog::formats as catalog;
use calc_core::quant_format::QuantFormat;
use half::{bf16, f16};

use super::minifloat::{E4M3, E5M2, Minifloat};
use super::{RowMut, RowRef, e2m1, gguf, int, kquant, nf4, plain};

/// Memory layout of a weight matrix, row by row along K.
///
/// A row has a plane of codes and, where the layout stores them apart, planes of scales and zero points. GGUF layouts store
/// the scale of a block in front of its codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// IEEE 754 binary32.
    Fp32,
    /// IEEE 754 binary16.
    Fp16,
    /// The upper half of binary32.
    Bf16,
    /// OCP E4M3 (fn: no infinity), an FP32 scale per tensor that multiplies.
    Fp8E4m3,
    /// OCP E5M2, an FP32 scale per tensor that multiplies.
    Fp8E5m2,
    /// Two's complement, an FP32 scale per row.
    Int8,
    /// Two's complement, a BF16 scale per 128.
    Int8G128,
    /// Nibbles `q` of w = (q − z)·s; BF16 scale and BF16 zero point (a whole number) per 32.
    Int4G32,
    /// Nibbles `q` of w = (q − 8)·s; a BF16 scale per 32.
    Int4G32Sym,
    /// As [`Layout::Int4G32`], per 128.
    Int4G128,
    /// As [`Layout::Int4G32Sym`], per 128.
    Int4G128Sym,
    /// Nibbles that index sixteen quantiles of a normal distribution, high nibble first; an FP32 maximum per 64.
    Nf4,
    /// E2M1, low nibble first; a power of two (E8M0) per 32.
    Mxfp4,
    /// E2M1, low nibble first; an E4M3 scale per 16, an FP32 scale per tensor that divides.
    Nvfp4,
    /// GGUF: FP16 scale, then 32 bytes in two's complement.
    GgufQ8_0,
    /// GGUF: 6-bit codes with 32 added, an 8-bit scale per 16, an FP16 scale per 256.
    GgufQ6K,
    /// GGUF: 4-bit codes, a 6-bit scale and a 6-bit minimum per 32, FP16 scales of both per 256.
    GgufQ4K,
    /// GGUF: FP16 scale, then 16 bytes; byte j has element j low and element j + 16 high.
    GgufQ4_0,
}

/// How GEMV kernels read the codes of a layout. It decides the form of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// Codes become FP32 and meet the FP32 input.
    Floats,
    /// INT8 codes, one per byte: integer dot products with an input quantized to INT8.
    Bytes,
    /// 4-bit codes, two per byte: integer dot products with an input quantized to INT8.
    Nibbles,
}

/// Facts and codec of one layout.
pub(crate) struct LayoutSpec {
    pub(crate) layout: Layout,
    /// Catalog format that is stored.
    pub(crate) format: &'static QuantFormat,
    /// Elements along K that share a scale.
    pub(crate) block: usize,
    /// Bytes per block in the plane of codes.
    pub(crate) code_bytes: usize,
    /// Bytes per block in the plane of scales.
    pub(crate) scale_bytes: usize,
    /// Bytes per block in the plane of zero points.
    pub(crate) zero_bytes: usize,
    /// Bytes per row in the plane of scales, for a scale of the whole row.
    pub(crate) row_scale_bytes: usize,
    /// FP32 scale of a tensor from its largest magnitude; `None` for layouts without one, whose scale is 1.
    pub(crate) tensor_scale: Option<fn(largest: f32) -> f32>,
    /// Whether a finite value of this magnitude can be stored.
    pub(crate) holds: fn(largest: f32) -> bool,
    /// See [`Layout::code_kind`].
    pub(crate) code_kind: CodeKind,
    /// Offset that makes 4-bit codes unsigned in the kernels' dot products.
    pub(crate) nibble_offset: i32,
    /// Factor of the sum of a row in GEMV kernels, from the scale of the tensor.
    pub(crate) sum_factor: fn(tensor_scale: f32) -> f32,
    /// Packs one row.
    pub(crate) encode: fn(Scaling, &[f32], &mut RowMut<'_>),
    /// Unpacks one row.
    pub(crate) decode: fn(Scaling, RowRef<'_>, &mut [f64]),
}

/// Arguments that codecs of several layouts share.
#[derive(Clone, Copy)]
pub(crate) struct Scaling {
    /// Elements along K that share a scale.
    pub(crate) block: usize,
    /// Scale of the tensor; 1 without one.
    pub(crate) tensor: f32,
}

/// E2M1 codes enter dot products as twice their value plus 12.
const E2M1_OFFSET: i32 = 12;
/// Undoes the doubling of E2M1.
const E2M1_HALF: f32 = 0.5;
/// Symmetric INT4 codes are stored with 8 added.
const INT4_OFFSET: i32 = 8;

/// Scale that maps the largest magnitude of a tensor to the largest value of a float.
///
/// A subnormal scale would have too few digits; a smaller tensor loses its smallest values instead.
fn fp8_scale(float: Minifloat, largest: f32) -> f32 {
    (largest / float.max()).max(f32::MIN_POSITIVE)
}

/// FP32, and the values that most layouts share.
const FP32: LayoutSpec = LayoutSpec {
    layout: Layout::Fp32,
    format: &catalog::FP32,
    block: 1,
    code_bytes: 4,
    scale_bytes: 0,
    zero_bytes: 0,
    row_scale_bytes: 0,
    tensor_scale: None,
    holds: |_| true,
    code_kind: CodeKind::Floats,
    nibble_offset: 0,
    sum_factor: |_| 1.0,
    encode: |_, row, out| plain::encode_f32(row, out.codes),
    decode: |_, stored, row| plain::decode_f32(stored.codes, row),
};

/// INT4 with a BF16 scale and a BF16 zero point per 32.
const INT4_G32: LayoutSpec = LayoutSpec {
    layout: Layout::Int4G32,
    format: &catalog::INT4_G32,
    block: 32,
    code_bytes: 16,
    scale_bytes: 2,
    zero_bytes: 2,
    code_kind: CodeKind::Nibbles,
    encode: |scaling, row, out| int::encode_int4_zero(scaling.block, row, out),
    decode: |scaling, stored, row| int::decode_int4_zero(scaling.block, stored, row),
    ..FP32
};

/// INT4 with a BF16 scale per 32, symmetric.
const INT4_G32_SYM: LayoutSpec = LayoutSpec {
    layout: Layout::Int4G32Sym,
    format: &catalog::INT4_G32_SYM,
    zero_bytes: 0,
    nibble_offset: INT4_OFFSET,
    encode: |scaling, row, out| int::encode_int4_sym(scaling.block, row, out),
    decode: |scaling, stored, row| int::decode_int4_sym(scaling.block, stored, row),
    ..INT4_G32
};

/// Indexed by [`Layout`].
pub(super) static TABLE: [LayoutSpec; 18] = [
    FP32,
    LayoutSpec {
        layout: Layout::Fp16,
        format: &catalog::FP16,
        code_bytes: 2,
        holds: |largest| f16::from_f32(largest).is_finite(),
        encode: |_, row, out| plain::encode_f16(row, out.codes),
        decode: |_, stored, row| plain::decode_f16(stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Bf16,
        format: &catalog::BF16,
        code_bytes: 2,
        holds: |largest| bf16::from_f32(largest).is_finite(),
        encode: |_, row, out| plain::encode_bf16(row, out.codes),
        decode: |_, stored, row| plain::decode_bf16(stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Fp8E4m3,
        format: &catalog::FP8_E4M3,
        code_bytes: 1,
        tensor_scale: Some(|largest| fp8_scale(E4M3, largest)),
        sum_factor: |tensor_scale| tensor_scale,
        encode: |scaling, row, out| plain::encode_f8(E4M3, scaling.tensor, row, out.codes),
        decode: |scaling, stored, row| plain::decode_f8(E4M3, scaling.tensor, stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Fp8E5m2,
        format: &catalog::FP8_E5M2,
        code_bytes: 1,
        tensor_scale: Some(|largest| fp8_scale(E5M2, largest)),
        sum_factor: |tensor_scale| tensor_scale,
        encode: |scaling, row, out| plain::encode_f8(E5M2, scaling.tensor, row, out.codes),
        decode: |scaling, stored, row| plain::decode_f8(E5M2, scaling.tensor, stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Int8,
        format: &catalog::INT8,
        code_bytes: 1,
        row_scale_bytes: 4,
        code_kind: CodeKind::Bytes,
        encode: |_, row, out| int::encode_int8(row, out),
        decode: |_, stored, row| int::decode_int8(stored, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Int8G128,
        format: &catalog::INT8_G128,
        block: 128,
        code_bytes: 128,
        scale_bytes: 2,
        code_kind: CodeKind::Bytes,
        encode: |scaling, row, out| int::encode_int8_groups(scaling.block, row, out),
        decode: |scaling, stored, row| int::decode_int8_groups(scaling.block, stored, row),
        ..FP32
    },
    INT4_G32,
    INT4_G32_SYM,
    LayoutSpec {
        layout: Layout::Int4G128,
        format: &catalog::INT4_G128,
        block: 128,
        code_bytes: 64,
        ..INT4_G32
    },
    LayoutSpec {
        layout: Layout::Int4G128Sym,
        format: &catalog::INT4_G128_SYM,
        block: 128,
        code_bytes: 64,
        ..INT4_G32_SYM
    },
    LayoutSpec {
        layout: Layout::Nf4,
        format: &catalog::NF4,
        block: 64,
        code_bytes: 32,
        scale_bytes: 4,
        encode: |_, row, out| nf4::encode(row, out),
        decode: |_, stored, row| nf4::decode(stored, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Mxfp4,
        format: &catalog::MXFP4,
        block: 32,
        code_bytes: 16,
        scale_bytes: 1,
        code_kind: CodeKind::Nibbles,
        nibble_offset: E2M1_OFFSET,
        sum_factor: |_| E2M1_HALF,
        encode: |_, row, out| e2m1::encode_mxfp4(row, out),
        decode: |_, stored, row| e2m1::decode_mxfp4(stored, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::Nvfp4,
        format: &catalog::NVFP4,
        block: 16,
        code_bytes: 8,
        scale_bytes: 1,
        tensor_scale: Some(e2m1::nvfp4_tensor_scale),
        code_kind: CodeKind::Nibbles,
        nibble_offset: E2M1_OFFSET,
        sum_factor: |tensor_scale| E2M1_HALF / tensor_scale,
        encode: |scaling, row, out| e2m1::encode_nvfp4(scaling.tensor, row, out),
        decode: |scaling, stored, row| e2m1::decode_nvfp4(scaling.tensor, stored, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::GgufQ8_0,
        format: &catalog::GGUF_Q8_0,
        block: 32,
        code_bytes: 34,
        holds: |largest| f16::from_f32(largest / 127.0).is_finite(),
        code_kind: CodeKind::Bytes,
        encode: |_, row, out| gguf::encode_q8_0(row, out.codes),
        decode: |_, stored, row| gguf::decode_q8_0(stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::GgufQ6K,
        format: &catalog::GGUF_Q6_K,
        block: kquant::BLOCK,
        code_bytes: kquant::Q6_K_BYTES,
        // The scale of a part is at most a 31st of its largest magnitude, and d a 128th of it.
        holds: |largest| f16::from_f32(largest / 3900.0).is_finite(),
        code_kind: CodeKind::Bytes,
        encode: |_, row, out| kquant::encode_q6_k(row, out.codes),
        decode: |_, stored, row| kquant::decode_q6_k(stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::GgufQ4K,
        format: &catalog::GGUF_Q4_K,
        block: kquant::BLOCK,
        code_bytes: kquant::Q4_K_BYTES,
        // A minimum found by least squares may lie a little below the least value.
        holds: |largest| f16::from_f32(largest / 50.0).is_finite(),
        code_kind: CodeKind::Bytes,
        encode: |_, row, out| kquant::encode_q4_k(row, out.codes),
        decode: |_, stored, row| kquant::decode_q4_k(stored.codes, row),
        ..FP32
    },
    LayoutSpec {
        layout: Layout::GgufQ4_0,
        format: &catalog::GGUF_Q4_0,
        block: 32,
        code_bytes: 18,
        holds: |largest| f16::from_f32(largest / 8.0).is_finite(),
        code_kind: CodeKind::Nibbles,
        nibble_offset: INT4_OFFSET,
        encode: |_, row, out| gguf::encode_q4_0(row, out.codes),
        decode: |_, stored, row| gguf::decode_q4_0(stored.codes, row),
        ..FP32
    },
];
