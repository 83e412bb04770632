//! Common names of formats, and the format that each one selects. The catalog's own keys are in `formats`.
//!
//! A GGUF file name selects the mixture of that file; without a size it selects the M file.

use super::formats as f;
use crate::quant_format::QuantFormat;

/// A name of a format that is not a catalog key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormatAlias {
    /// The name as people write it, in lower case with `_`.
    pub name: &'static str,
    pub format: &'static QuantFormat,
    /// Activations, if the name states the input format of matmuls.
    pub activations: Option<&'static QuantFormat>,
    /// Reason for the choice, if the name has several meanings; else empty.
    pub why: &'static str,
}

/// A second name for one format.
const fn same(name: &'static str, format: &'static QuantFormat) -> FormatAlias {
    FormatAlias { name, format, activations: None, why: "" }
}

/// A name with several meanings.
const fn of(name: &'static str, format: &'static QuantFormat, why: &'static str) -> FormatAlias {
    FormatAlias { name, format, activations: None, why }
}

/// A name that states the formats of weights and activations.
const fn both(name: &'static str, format: &'static QuantFormat, why: &'static str) -> FormatAlias {
    FormatAlias { name, format, activations: Some(format), why }
}

const MARLIN: &str = "groups of 128 with one scale, as compressed-tensors and vLLM write it";

/// All aliases, grouped by kind of format.
pub static ALIASES: [FormatAlias; 46] = [
    same("float16", &f::FP16),
    same("f16", &f::FP16),
    same("half", &f::FP16),
    same("bfloat16", &f::BF16),
    same("float32", &f::FP32),
    same("f32", &f::FP32),
    same("e4m3", &f::FP8_E4M3),
    same("e5m2", &f::FP8_E5M2),
    both("fp8", &f::FP8_E4M3, "weights and activations, as vLLM's fp8"),
    both("w8a8", &f::INT8, "INT8; with FP8 say fp8"),
    both("w4a4", &f::NVFP4, "NVFP4; with MXFP4 say mxfp4 and its activations"),
    of("w8a16", &f::INT8, "INT8, one scale per channel"),
    of("w4a16", &f::INT4_G128_SYM, MARLIN),
    of("awq", &f::INT4_GPTQ_G128, "groups of 128, zero points packed in 4 bits"),
    of("gptq", &f::INT4_GPTQ_G128, "4 bits in groups of 128"),
    of("4bit", &f::INT4_G128, "groups of 128 with zero points; bitsandbytes' is nf4"),
    of("4_bit", &f::INT4_G128, "groups of 128 with zero points; bitsandbytes' is nf4"),
    of("int4", &f::INT4_G128, "groups of 128 with zero points"),
    of("8bit", &f::INT8, "INT8 weights, one scale per channel"),
    of("8_bit", &f::INT8, "INT8 weights, one scale per channel"),
    same("bnb_4bit", &f::NF4),
    of("q4", &f::GGUF_Q4_K, "the Q4_K_M file of llama.cpp, the usual one with 4 bits"),
    of("q8", &f::GGUF_Q8_0, "the Q8_0 file of llama.cpp"),
    same("q8_0", &f::GGUF_Q8_0),
    same("q6_k", &f::GGUF_Q6_K),
    same("q5_k", &f::GGUF_Q5_K),
    same("q5_k_m", &f::GGUF_Q5_K),
    same("q5_k_s", &f::GGUF_Q5_K_S),
    same("q5_0", &f::GGUF_Q5_0),
    same("q5_1", &f::GGUF_Q5_1),
    same("q4_k", &f::GGUF_Q4_K),
    same("q4_k_m", &f::GGUF_Q4_K),
    same("q4_k_s", &f::GGUF_Q4_K_S),
    same("q4_0", &f::GGUF_Q4_0),
    same("q4_1", &f::GGUF_Q4_1),
    same("q3_k", &f::GGUF_Q3_K),
    same("q3_k_m", &f::GGUF_Q3_K),
    same("q3_k_s", &f::GGUF_Q3_K_S),
    same("q3_k_l", &f::GGUF_Q3_K_L),
    same("q2_k", &f::GGUF_Q2_K),
    same("iq4_nl", &f::GGUF_IQ4_NL),
    same("iq4_xs", &f::GGUF_IQ4_XS),
    same("gguf_q5_k_m", &f::GGUF_Q5_K),
    same("gguf_q4_k_m", &f::GGUF_Q4_K),
    same("gguf_q3_k_m", &f::GGUF_Q3_K),
    same("tq1_0", &f::GGUF_TQ1_0),
];

/// Finds an alias by name, ignoring case and `-` or `_`.
pub fn alias(name: &str) -> Option<&'static FormatAlias> {
    ALIASES.iter().find(|alias| super::same(alias.name, name))
}

/// The aliases of a format, besides its key.
pub fn names(format: &QuantFormat) -> impl Iterator<Item = &'static str> {
    ALIASES.iter().filter(move |alias| alias.format.key == format.key).map(|alias| alias.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_mean_formats() {
        for (name, key, activations) in [
            ("Q4_K_M", "gguf_q4_k", None),
            ("q4-k-s", "gguf_q4_k_s", None),
            ("Q3_K_M", "gguf_q3_k", None),
            ("Q3_K_L", "gguf_q3_k_l", None),
            ("q4_0", "gguf_q4_0", None),
            ("q8_0", "gguf_q8_0", None),
            ("awq", "int4_gptq_g128", None),
            ("GPTQ", "int4_gptq_g128", None),
            ("w4a16", "int4_g128_sym", None),
            ("w8a8", "int8", Some("int8")),
            ("w8a16", "int8", None),
            ("fp8", "fp8_e4m3", Some("fp8_e4m3")),
            ("4bit", "int4_g128", None),
            ("8-bit", "int8", None),
        ] {
            let found = alias(name).unwrap_or_else(|| panic!("{name}"));
            let activations_found = found.activations.map(|format| format.key);
            assert_eq!((found.format.key, activations_found), (key, activations), "{name}");
            assert_eq!(crate::catalog::format(name).expect("known").key, key);
        }
        assert_eq!(crate::catalog::format("bf16").expect("a key").key, "bf16");
    }

    #[test]
    fn no_name_stands_twice_or_for_a_key() {
        for (place, alias) in ALIASES.iter().enumerate() {
            let later = &ALIASES[place + 1..];
            assert!(!later.iter().any(|other| other.name == alias.name), "{}", alias.name);
            assert!(!f::FORMATS.iter().any(|format| format.key == alias.name), "{}", alias.name);
        }
    }
}
