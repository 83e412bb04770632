//! The schemes that the recommendation ranks.
//!
//! Groups and blocks must divide the inputs (K), see `gguf_file::row_format`. Kernels that unpack groups need outputs (N) in
//! multiples of 64, FP8, INT8 and FP4 matmuls both in multiples of 16. Weights with one scale per channel, and NF4 with its
//! flat blocks, have no limits.

use super::formats as f;
use super::quality as q;
use crate::quality::QualityLoss;
use crate::quant_format::QuantFormat;
use crate::scheme::{Method, Scheme, SchemeWeights};

/// Weights that are dequantized in registers; activations stay in the carrier.
const fn weight_only(
    key: &'static str,
    format: &'static QuantFormat,
    method: Method,
    quality: QualityLoss,
) -> Scheme {
    Scheme {
        key,
        weights: SchemeWeights::Format(format),
        activations: None,
        method,
        has_groups: true,
        input_multiple: 1,
        output_multiple: 64,
        quality,
    }
}

/// Weights without groups, whose kernels support any shape.
const fn any_shape(
    key: &'static str,
    format: &'static QuantFormat,
    quality: QualityLoss,
) -> Scheme {
    Scheme {
        has_groups: false,
        output_multiple: 1,
        ..weight_only(key, format, Method::Rtn, quality)
    }
}

/// Weights and activations in one format.
const fn both(
    key: &'static str,
    format: &'static QuantFormat,
    method: Method,
    quality: QualityLoss,
) -> Scheme {
    Scheme {
        activations: Some(format),
        input_multiple: 16,
        output_multiple: 16,
        ..weight_only(key, format, method, quality)
    }
}

/// A scheme for files of llama.cpp.
const fn gguf(key: &'static str, format: &'static QuantFormat, quality: QualityLoss) -> Scheme {
    Scheme {
        method: Method::LlamaQuantize,
        output_multiple: 1,
        ..weight_only(key, format, Method::LlamaQuantize, quality)
    }
}

const fn plain(key: &'static str, weights: SchemeWeights, quality: QualityLoss) -> Scheme {
    Scheme {
        weights,
        has_groups: false,
        output_multiple: 1,
        ..weight_only(key, &f::FP16, Method::None, quality)
    }
}

/// The baseline of all comparisons: 16 bits.
pub static BASELINE: Scheme = plain("half", SchemeWeights::Half, q::NONE);

/// The model in the formats in which its makers publish it.
pub static AS_PUBLISHED: Scheme = plain("as_published", SchemeWeights::Published, q::AS_PUBLISHED);

/// All schemes, the baseline first.
pub static SCHEMES: [&Scheme; 25] = [
    &BASELINE,
    &AS_PUBLISHED,
    &both("fp8_w8a8", &f::FP8_E4M3, Method::NativeFp8, q::FP8),
    &any_shape("fp8_w8a16", &f::FP8_E4M3, q::FP8),
    &any_shape("int8_w8a16", &f::INT8, q::INT8_WEIGHTS),
    &both("int8_w8a8", &f::INT8, Method::Rtn, q::INT8),
    &weight_only("int4_g128_rtn", &f::INT4_G128_SYM, Method::Rtn, q::INT4_RTN),
    &weight_only("int4_g128_awq", &f::INT4_GPTQ_G128, Method::Awq, q::INT4_CALIBRATED),
    &weight_only("int4_g128_gptq", &f::INT4_G128_SYM, Method::Gptq, q::INT4_CALIBRATED),
    &weight_only("int4_g32_rtn", &f::INT4_G32, Method::Rtn, q::INT4_G32),
    &weight_only("nvfp4_w4a16", &f::NVFP4, Method::Rtn, q::NVFP4),
    &both("nvfp4_w4a4", &f::NVFP4, Method::NativeFp4, q::NVFP4),
    &weight_only("mxfp4_w4a16", &f::MXFP4, Method::Rtn, q::MXFP4),
    &both("mxfp4_w4a4", &f::MXFP4, Method::NativeFp4, q::MXFP4),
    &any_shape("nf4", &f::NF4, q::NF4),
    &any_shape("nf4_dq", &f::NF4_DQ, q::NF4),
    &weight_only("int3_g128_awq", &f::INT3_G128, Method::Awq, q::INT3),
    &weight_only("int2_g64_rtn", &f::INT2_G64, Method::Rtn, q::INT2),
    &gguf("gguf_q8_0", &f::GGUF_Q8_0, q::Q8_0),
    &gguf("gguf_q6_k", &f::GGUF_Q6_K, q::Q6_K),
    &gguf("gguf_q5_k", &f::GGUF_Q5_K, q::Q5_K),
    &gguf("gguf_q4_k", &f::GGUF_Q4_K, q::Q4_K),
    &gguf("gguf_q4_0", &f::GGUF_Q4_0, q::Q4_0),
    &gguf("gguf_q3_k", &f::GGUF_Q3_K, q::Q3_K),
    &gguf("gguf_q2_k", &f::GGUF_Q2_K, q::Q2_K),
];

/// Finds a scheme by its key.
pub fn scheme(key: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().copied().find(|scheme| scheme.key == key)
}
