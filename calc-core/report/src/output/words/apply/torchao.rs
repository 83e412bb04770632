//! Configurations of torchao. Classes and first versions: its wheels 0.4.0 to 0.18.0 on PyPI.

use calc_core::scheme::Scheme;

/// Configuration of torchao.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torchao {
    /// Argument of `quantize_`.
    pub config: &'static str,
    /// First version with this configuration.
    pub min_version: &'static str,
    /// Configuration for older versions; empty when there is no similar one.
    pub fallback: &'static str,
}

const INT4: &str = "Int4WeightOnlyConfig(group_size=128) with torchao 0.9.0: INT4 weights instead";
const INT8: &str = "Int8WeightOnlyConfig() with torchao 0.9.0: INT8 weights instead";
const OLD_NVFP4: &str = "NVFP4InferenceConfig() with torchao 0.12.0 to 0.14.1; before that Int4WeightOnlyConfig(group_size=128), INT4 instead";
const OLD_MXFP4: &str = "MXFPInferenceConfig() with torchao 0.12.0 to 0.14.1; before that Int4WeightOnlyConfig(group_size=128), INT4 instead";
const OLD_INT4: &str = "int4_weight_only() with torchao 0.4.0 to 0.8.0";

/// Configuration for a scheme.
pub(super) fn configuration(scheme: &Scheme) -> Option<Torchao> {
    let entry = |config, min_version, fallback| Some(Torchao { config, min_version, fallback });
    match scheme.key {
        "fp8_w8a8" => {
            entry("Float8DynamicActivationFloat8WeightConfig(granularity=PerRow())", "0.9.0", INT8)
        }
        "fp8_w8a16" => entry(
            "Float8WeightOnlyConfig()",
            "0.9.0",
            "float8_weight_only() with torchao 0.5.0 to 0.8.0",
        ),
        "int8_w8a16" => entry(
            "Int8WeightOnlyConfig()",
            "0.9.0",
            "int8_weight_only() with torchao 0.4.0 to 0.8.0",
        ),
        "int8_w8a8" => entry("Int8DynamicActivationInt8WeightConfig()", "0.9.0", INT8),
        "int4_g128_rtn" => entry(
            "Int4WeightOnlyConfig(group_size=128), with zero points (4.25 bits); on Ampere and Orin also int4_packing_format=\"tile_packed_to_4d\" (0.14.1)",
            "0.9.0",
            OLD_INT4,
        ),
        "int4_g32_rtn" => entry("Int4WeightOnlyConfig(group_size=32)", "0.9.0", OLD_INT4),
        "int4_g128_awq" => entry(
            "AWQConfig(Int4WeightOnlyConfig(group_size=128), step=\"prepare\"), then step=\"convert\" after calibration",
            "0.13.0",
            "Int4WeightOnlyConfig(group_size=128) with torchao 0.9.0: rounded to nearest, more loss",
        ),
        "int4_g128_gptq" => entry(
            "GPTQConfig(step=\"observe\", base_config=Int4WeightOnlyConfig(group_size=128)), then step=\"convert\" after calibration",
            "0.16.0",
            "Int4WeightOnlyConfig(group_size=128) with torchao 0.9.0: rounded to nearest, more loss",
        ),
        "nvfp4_w4a16" => entry("NVFP4WeightOnlyConfig()", "0.15.0", OLD_NVFP4),
        "nvfp4_w4a4" => entry("NVFP4DynamicActivationNVFP4WeightConfig()", "0.15.0", OLD_NVFP4),
        "mxfp4_w4a4" => entry(
            "MXDynamicActivationMXWeightConfig(activation_dtype=torch.float4_e2m1fn_x2, weight_dtype=torch.float4_e2m1fn_x2)",
            "0.15.0",
            OLD_MXFP4,
        ),
        "nf4_dq" => entry("to_nf4(weight, block_size=64) for each linear layer", "0.4.0", INT4),
        "int3_g128_awq" => entry(
            "IntxWeightOnlyConfig(weight_dtype=torch.int3, granularity=PerGroup(128))",
            "0.11.0",
            INT4,
        ),
        "int2_g64_rtn" => entry(
            "IntxWeightOnlyConfig(weight_dtype=torch.int2, granularity=PerGroup(64))",
            "0.11.0",
            INT4,
        ),
        _ => None,
    }
}
