//! Storage formats: bits of a block with its scales, and compute class.
//!
//! Sizes are exact fractions; other facts, and the source of each row, are in `format_facts`. One table, so one file.

use crate::quant_format::ComputeClass as C;
use crate::quant_format::{Encoding, GgufFile, QuantFormat, TileScale};

/// FP64.
pub static FP64: QuantFormat = QuantFormat {
    key: "fp64",
    name: "FP64",
    short_name: "FP64",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 64.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp64),
    file: None,
};

/// FP32.
pub static FP32: QuantFormat = QuantFormat {
    key: "fp32",
    name: "FP32",
    short_name: "FP32",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 32.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp32),
    file: None,
};

/// TF32.
pub static TF32: QuantFormat = QuantFormat {
    key: "tf32",
    name: "TF32",
    short_name: "TF32",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 32.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Tf32),
    file: None,
};

/// FP16.
pub static FP16: QuantFormat = QuantFormat {
    key: "fp16",
    name: "FP16",
    short_name: "FP16",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 16.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp16),
    file: None,
};

/// BF16.
pub static BF16: QuantFormat = QuantFormat {
    key: "bf16",
    name: "BF16",
    short_name: "BF16",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 16.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Bf16),
    file: None,
};

/// FP8 E4M3 (OCP fn).
pub static FP8_E4M3: QuantFormat = QuantFormat {
    key: "fp8_e4m3",
    name: "FP8 E4M3 (OCP fn)",
    short_name: "FP8 E4M3",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 8.0,
    channel_bits: 0.0,
    tensor_bits: 32.0,
    tile: None,
    class: Some(C::Fp8),
    file: None,
};

/// FP8 E5M2.
pub static FP8_E5M2: QuantFormat = QuantFormat {
    key: "fp8_e5m2",
    name: "FP8 E5M2",
    short_name: "FP8 E5M2",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 8.0,
    channel_bits: 0.0,
    tensor_bits: 32.0,
    tile: None,
    class: Some(C::Fp8),
    file: None,
};

/// FP8 E4M3 with an FP32 scale per tile of 128 x 128 weights; inputs have one per 128 elements of a token.
pub static FP8_BLOCK128: QuantFormat = QuantFormat {
    key: "fp8_block128",
    name: "FP8 block 128 (E4M3, scale per 128 x 128)",
    short_name: "FP8 block 128",
    encoding: Encoding::Float,
    block: 1,
    block_bits: 8.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: Some(TileScale { rows: 128, cols: 128, bits: 32.0 }),
    class: Some(C::Fp8),
    file: None,
};

/// MXFP8 (E4M3, OCP MX).
pub static MXFP8: QuantFormat = QuantFormat {
    key: "mxfp8",
    name: "MXFP8 (E4M3, OCP MX)",
    short_name: "MXFP8",
    encoding: Encoding::Float,
    block: 32,
    block_bits: 264.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp8),
    file: None,
};

/// MXFP6 E3M2.
pub static MXFP6_E3M2: QuantFormat = QuantFormat {
    key: "mxfp6_e3m2",
    name: "MXFP6 E3M2",
    short_name: "MXFP6 E3M2",
    encoding: Encoding::Float,
    block: 32,
    block_bits: 200.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp6),
    file: None,
};

/// MXFP6 E2M3.
pub static MXFP6_E2M3: QuantFormat = QuantFormat {
    key: "mxfp6_e2m3",
    name: "MXFP6 E2M3",
    short_name: "MXFP6 E2M3",
    encoding: Encoding::Float,
    block: 32,
    block_bits: 200.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp6),
    file: None,
};

/// MXFP4 (E2M1, OCP MX).
pub static MXFP4: QuantFormat = QuantFormat {
    key: "mxfp4",
    name: "MXFP4 (E2M1, OCP MX)",
    short_name: "MXFP4",
    encoding: Encoding::Float,
    block: 32,
    block_bits: 136.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Fp4),
    file: None,
};

/// NVFP4 (E2M1).
pub static NVFP4: QuantFormat = QuantFormat {
    key: "nvfp4",
    name: "NVFP4 (E2M1)",
    short_name: "NVFP4",
    encoding: Encoding::Float,
    block: 16,
    block_bits: 72.0,
    channel_bits: 0.0,
    tensor_bits: 32.0,
    tile: None,
    class: Some(C::Fp4),
    file: None,
};

/// INT8 per-channel (symmetric).
pub static INT8: QuantFormat = QuantFormat {
    key: "int8",
    name: "INT8 per-channel (symmetric)",
    short_name: "INT8",
    encoding: Encoding::Int,
    block: 1,
    block_bits: 8.0,
    channel_bits: 32.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Int8),
    file: None,
};

/// INT8 group 128.
pub static INT8_G128: QuantFormat = QuantFormat {
    key: "int8_g128",
    name: "INT8 group 128",
    short_name: "INT8 g128",
    encoding: Encoding::Int,
    block: 128,
    block_bits: 1040.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// INT4 group 128 (asymmetric, 16-bit scale + 16-bit zero).
pub static INT4_G128: QuantFormat = QuantFormat {
    key: "int4_g128",
    name: "INT4 group 128 (asymmetric, 16-bit scale + 16-bit zero)",
    short_name: "INT4 g128",
    encoding: Encoding::Int,
    block: 128,
    block_bits: 544.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Int4),
    file: None,
};

/// INT4 group 128 (symmetric, 16-bit scale).
pub static INT4_G128_SYM: QuantFormat = QuantFormat {
    key: "int4_g128_sym",
    name: "INT4 group 128 (symmetric, 16-bit scale)",
    short_name: "INT4 g128 symmetric",
    encoding: Encoding::Int,
    block: 128,
    block_bits: 528.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: Some(C::Int4),
    file: None,
};

/// INT4 group 128 of AWQ and GPTQ files (16-bit scale + packed 4-bit zero).
pub static INT4_GPTQ_G128: QuantFormat = QuantFormat {
    key: "int4_gptq_g128",
    name: "INT4 group 128 of AWQ and GPTQ (16-bit scale + packed 4-bit zero)",
    short_name: "AWQ/GPTQ INT4 g128",
    encoding: Encoding::Int,
    block: 128,
    block_bits: 532.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// INT4 group 32 (16-bit scale + 16-bit zero).
pub static INT4_G32: QuantFormat = QuantFormat {
    key: "int4_g32",
    name: "INT4 group 32 (16-bit scale + 16-bit zero)",
    short_name: "INT4 g32",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 160.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// INT4 group 32 (symmetric, 16-bit scale).
pub static INT4_G32_SYM: QuantFormat = QuantFormat {
    key: "int4_g32_sym",
    name: "INT4 group 32 (symmetric, 16-bit scale)",
    short_name: "INT4 g32 symmetric",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 144.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// INT3 group 128.
pub static INT3_G128: QuantFormat = QuantFormat {
    key: "int3_g128",
    name: "INT3 group 128",
    short_name: "INT3 g128",
    encoding: Encoding::Int,
    block: 128,
    block_bits: 416.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// INT2 group 64.
pub static INT2_G64: QuantFormat = QuantFormat {
    key: "int2_g64",
    name: "INT2 group 64",
    short_name: "INT2 g64",
    encoding: Encoding::Int,
    block: 64,
    block_bits: 160.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// NF4 (bitsandbytes, no double quant).
pub static NF4: QuantFormat = QuantFormat {
    key: "nf4",
    name: "NF4 (bitsandbytes, no double quant)",
    short_name: "NF4",
    encoding: Encoding::Codebook,
    block: 64,
    block_bits: 288.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// NF4 with double quantization.
pub static NF4_DQ: QuantFormat = QuantFormat {
    key: "nf4_dq",
    name: "NF4 with double quantization",
    short_name: "NF4 DQ",
    encoding: Encoding::Codebook,
    block: 64,
    block_bits: 264.125,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: None,
};

/// GGUF Q8_0.
pub static GGUF_Q8_0: QuantFormat = QuantFormat {
    key: "gguf_q8_0",
    name: "GGUF Q8_0",
    short_name: "GGUF Q8_0",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 272.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q8_0),
};

/// GGUF Q6_K.
pub static GGUF_Q6_K: QuantFormat = QuantFormat {
    key: "gguf_q6_k",
    name: "GGUF Q6_K",
    short_name: "GGUF Q6_K",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 1680.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q6K),
};

/// GGUF Q5_K.
pub static GGUF_Q5_K: QuantFormat = QuantFormat {
    key: "gguf_q5_k",
    name: "GGUF Q5_K",
    short_name: "GGUF Q5_K",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 1408.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q5KM),
};

/// GGUF Q5_K, named for its small file.
pub static GGUF_Q5_K_S: QuantFormat = QuantFormat {
    key: "gguf_q5_k_s",
    name: "GGUF Q5_K_S",
    short_name: "GGUF Q5_K_S",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 1408.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q5KS),
};

/// GGUF Q5_0.
pub static GGUF_Q5_0: QuantFormat = QuantFormat {
    key: "gguf_q5_0",
    name: "GGUF Q5_0",
    short_name: "GGUF Q5_0",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 176.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q5_0),
};

/// GGUF Q5_1.
pub static GGUF_Q5_1: QuantFormat = QuantFormat {
    key: "gguf_q5_1",
    name: "GGUF Q5_1",
    short_name: "GGUF Q5_1",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 192.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q5_1),
};

/// GGUF Q4_K.
pub static GGUF_Q4_K: QuantFormat = QuantFormat {
    key: "gguf_q4_k",
    name: "GGUF Q4_K",
    short_name: "GGUF Q4_K",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 1152.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q4KM),
};

/// GGUF Q4_K, named for its small file.
pub static GGUF_Q4_K_S: QuantFormat = QuantFormat {
    key: "gguf_q4_k_s",
    name: "GGUF Q4_K_S",
    short_name: "GGUF Q4_K_S",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 1152.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q4KS),
};

/// GGUF Q4_0.
pub static GGUF_Q4_0: QuantFormat = QuantFormat {
    key: "gguf_q4_0",
    name: "GGUF Q4_0",
    short_name: "GGUF Q4_0",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 144.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q4_0),
};

/// GGUF Q4_1.
pub static GGUF_Q4_1: QuantFormat = QuantFormat {
    key: "gguf_q4_1",
    name: "GGUF Q4_1",
    short_name: "GGUF Q4_1",
    encoding: Encoding::Int,
    block: 32,
    block_bits: 160.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q4_1),
};

/// GGUF Q3_K.
pub static GGUF_Q3_K: QuantFormat = QuantFormat {
    key: "gguf_q3_k",
    name: "GGUF Q3_K",
    short_name: "GGUF Q3_K",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 880.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q3KM),
};

/// GGUF Q3_K, named for its small file.
pub static GGUF_Q3_K_S: QuantFormat = QuantFormat {
    key: "gguf_q3_k_s",
    name: "GGUF Q3_K_S",
    short_name: "GGUF Q3_K_S",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 880.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q3KS),
};

/// GGUF Q3_K, named for its large file.
pub static GGUF_Q3_K_L: QuantFormat = QuantFormat {
    key: "gguf_q3_k_l",
    name: "GGUF Q3_K_L",
    short_name: "GGUF Q3_K_L",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 880.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q3KL),
};

/// GGUF Q2_K.
pub static GGUF_Q2_K: QuantFormat = QuantFormat {
    key: "gguf_q2_k",
    name: "GGUF Q2_K",
    short_name: "GGUF Q2_K",
    encoding: Encoding::Int,
    block: 256,
    block_bits: 672.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Q2K),
};

/// GGUF IQ4_NL.
pub static GGUF_IQ4_NL: QuantFormat = QuantFormat {
    key: "gguf_iq4_nl",
    name: "GGUF IQ4_NL",
    short_name: "GGUF IQ4_NL",
    encoding: Encoding::Codebook,
    block: 32,
    block_bits: 144.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::IQ4NL),
};

/// GGUF IQ4_XS.
pub static GGUF_IQ4_XS: QuantFormat = QuantFormat {
    key: "gguf_iq4_xs",
    name: "GGUF IQ4_XS",
    short_name: "GGUF IQ4_XS",
    encoding: Encoding::Codebook,
    block: 256,
    block_bits: 1088.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::IQ4XS),
};

/// GGUF MXFP4.
pub static GGUF_MXFP4: QuantFormat = QuantFormat {
    key: "gguf_mxfp4",
    name: "GGUF MXFP4",
    short_name: "GGUF MXFP4",
    encoding: Encoding::Float,
    block: 32,
    block_bits: 136.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Mxfp4Moe),
};

/// GGUF NVFP4.
pub static GGUF_NVFP4: QuantFormat = QuantFormat {
    key: "gguf_nvfp4",
    name: "GGUF NVFP4",
    short_name: "GGUF NVFP4",
    encoding: Encoding::Float,
    block: 64,
    block_bits: 288.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::Nvfp4),
};

/// GGUF TQ1_0.
pub static GGUF_TQ1_0: QuantFormat = QuantFormat {
    key: "gguf_tq1_0",
    name: "GGUF TQ1_0",
    short_name: "GGUF TQ1_0",
    encoding: Encoding::Ternary,
    block: 256,
    block_bits: 432.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::TQ1_0),
};

/// GGUF TQ2_0.
pub static GGUF_TQ2_0: QuantFormat = QuantFormat {
    key: "gguf_tq2_0",
    name: "GGUF TQ2_0",
    short_name: "GGUF TQ2_0",
    encoding: Encoding::Ternary,
    block: 256,
    block_bits: 528.0,
    channel_bits: 0.0,
    tensor_bits: 0.0,
    tile: None,
    class: None,
    file: Some(GgufFile::TQ2_0),
};

/// BitNet b1.58 (information content).
pub static BITNET_1_58: QuantFormat = QuantFormat {
    key: "bitnet_1.58",
    name: "BitNet b1.58 (information content)",
    short_name: "BitNet b1.58",
    encoding: Encoding::Ternary,
    block: 1,
    block_bits: 1.58496,
    channel_bits: 0.0,
    tensor_bits: 32.0,
    tile: None,
    class: None,
    file: None,
};

/// All formats, grouped by kind.
pub static FORMATS: [&QuantFormat; 45] = [
    &FP64,
    &FP32,
    &TF32,
    &FP16,
    &BF16,
    &FP8_E4M3,
    &FP8_E5M2,
    &FP8_BLOCK128,
    &MXFP8,
    &MXFP6_E3M2,
    &MXFP6_E2M3,
    &MXFP4,
    &NVFP4,
    &INT8,
    &INT8_G128,
    &INT4_G128,
    &INT4_G128_SYM,
    &INT4_GPTQ_G128,
    &INT4_G32,
    &INT4_G32_SYM,
    &INT3_G128,
    &INT2_G64,
    &NF4,
    &NF4_DQ,
    &GGUF_Q8_0,
    &GGUF_Q6_K,
    &GGUF_Q5_K,
    &GGUF_Q5_K_S,
    &GGUF_Q5_0,
    &GGUF_Q5_1,
    &GGUF_Q4_K,
    &GGUF_Q4_K_S,
    &GGUF_Q4_0,
    &GGUF_Q4_1,
    &GGUF_Q3_K,
    &GGUF_Q3_K_S,
    &GGUF_Q3_K_L,
    &GGUF_Q2_K,
    &GGUF_IQ4_NL,
    &GGUF_IQ4_XS,
    &GGUF_MXFP4,
    &GGUF_NVFP4,
    &GGUF_TQ1_0,
    &GGUF_TQ2_0,
    &BITNET_1_58,
];
