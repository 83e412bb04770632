//! How to apply a scheme: commands and configurations of the usual tools.
//!
//! Classes and first versions of torchao: read in its wheels 0.4.0 to 0.18.0 on PyPI. What llama.cpp and vLLM take: their
//! documentation, as of vLLM 0.33.0.

use calc_core::scheme::{Kernels, Method, Scheme, SchemeWeights};
use calc_core::workload::Workload;

/// A configuration of torchao.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torchao {
    /// What `quantize_` takes.
    pub config: &'static str,
    /// First version that has it.
    pub min_version: &'static str,
    /// What to take with an older version; empty when there is nothing near.
    pub fallback: &'static str,
}

/// How to apply a scheme. Tools without a way to it have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apply {
    /// torchao.
    pub torchao: Option<Torchao>,
    /// vLLM: one or two commands.
    pub vllm: Option<String>,
    /// llama.cpp: one or two commands.
    pub llama_cpp: Option<String>,
}

const INT4: &str =
    "Int4WeightOnlyConfig(group_size=128) with torchao 0.9.0: INT4 instead, as the prototypes did";
const INT8: &str = "Int8WeightOnlyConfig() with torchao 0.9.0: INT8 instead, as the prototypes did";
const OLD_NVFP4: &str = "NVFP4InferenceConfig() with torchao 0.12.0 to 0.14.1; before that Int4WeightOnlyConfig(group_size=128), INT4 instead";
const OLD_MXFP4: &str = "MXFPInferenceConfig() with torchao 0.12.0 to 0.14.1; before that Int4WeightOnlyConfig(group_size=128), INT4 instead";
const OLD_INT4: &str = "int4_weight_only() with torchao 0.4.0 to 0.8.0";

/// The torchao configuration of a scheme.
fn torchao(scheme: &Scheme) -> Option<Torchao> {
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

/// How to apply a scheme to a model. `model` is its name on the Hugging Face hub, or a folder.
pub fn apply(scheme: &Scheme, model: &str, workload: Option<&Workload>) -> Apply {
    Apply {
        torchao: torchao(scheme),
        vllm: vllm(scheme, model, workload),
        llama_cpp: llama_cpp(scheme, model, workload),
    }
}

/// What the last part of a name, or of a path, says.
fn short(model: &str) -> &str {
    model.trim_end_matches('/').rsplit('/').next().unwrap_or(model)
}

fn vllm(scheme: &Scheme, model: &str, workload: Option<&Workload>) -> Option<String> {
    let sizes = workload.map_or_else(String::new, |workload| {
        let tensor = workload.parallel.tensor;
        let split =
            if tensor > 1 { format!(" --tensor-parallel-size {tensor}") } else { String::new() };
        let (length, batch) = (workload.longest() + 1, workload.batch);
        format!(" --max-model-len {length} --max-num-seqs {batch}{split}")
    });
    let checkpoint = |suffix: &str| {
        format!(
            "vllm serve ./{}-{suffix}{sizes}  # compressed-tensors, by llm-compressor",
            short(model)
        )
    };
    match scheme.key {
        "half" | "as_published" => Some(format!("vllm serve {model}{sizes}")),
        "fp8_w8a8" => Some(format!("vllm serve {model} --quantization fp8{sizes}")),
        "int8_w8a16" => Some(checkpoint("W8A16")),
        "int8_w8a8" => Some(checkpoint("W8A8")),
        "int4_g128_rtn" | "int4_g128_awq" | "int4_g128_gptq" => Some(checkpoint("W4A16")),
        "int4_g32_rtn" => Some(checkpoint("W4A16-G32")),
        "nvfp4_w4a16" => Some(checkpoint("NVFP4A16")),
        "nvfp4_w4a4" => Some(checkpoint("NVFP4")),
        "mxfp4_w4a16" => Some(checkpoint("MXFP4A16")),
        _ => None,
    }
}

fn llama_cpp(scheme: &Scheme, model: &str, workload: Option<&Workload>) -> Option<String> {
    let name = short(model);
    let file = match scheme.weights {
        SchemeWeights::Half => "f16",
        SchemeWeights::Published => return None,
        SchemeWeights::Format(format) => match format.key {
            "gguf_q8_0" => "Q8_0",
            "gguf_q6_k" => "Q6_K",
            "gguf_q5_k" => "Q5_K_M",
            "gguf_q4_k" => "Q4_K_M",
            "gguf_q4_0" => "Q4_0",
            "gguf_q3_k" => "Q3_K_M",
            "gguf_q2_k" => "Q2_K",
            _ => return None,
        },
    };
    let sizes = workload.map_or_else(String::new, |workload| {
        let cells = workload.batch.saturating_mul(workload.longest() + 1);
        format!(" -c {cells} -np {}", workload.batch)
    });
    let serve = format!("llama-server -m {name}-{file}.gguf{sizes} -ngl 99");
    if scheme.kernels == Kernels::LlamaCpp && scheme.method == Method::LlamaQuantize {
        Some(format!("llama-quantize {name}-f16.gguf {name}-{file}.gguf {file}\n{serve}"))
    } else {
        Some(serve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::schemes::SCHEMES;

    #[test]
    fn every_scheme_that_torch_or_llama_runs_has_a_way() {
        for scheme in SCHEMES {
            let ways = apply(scheme, "org/Model-8B", Some(&Workload::new(4, 512)));
            let any = ways.torchao.is_some() || ways.vllm.is_some() || ways.llama_cpp.is_some();
            // Plain NF4 is what bitsandbytes does while it loads a model; torchao quantizes the scales, too.
            assert!(any || scheme.key == "nf4", "{}", scheme.key);
            let gguf = scheme.kernels == Kernels::LlamaCpp;
            assert_eq!(gguf, ways.llama_cpp.is_some_and(|text| text.contains("llama-quantize")));
        }
    }

    #[test]
    fn commands_carry_the_workload() {
        let q4 = calc_core::catalog::schemes::scheme("gguf_q4_k").expect("a scheme");
        let text = apply(q4, "org/Model-8B", Some(&Workload::new(4, 512))).llama_cpp.expect("text");
        assert_eq!(
            text,
            "llama-quantize Model-8B-f16.gguf Model-8B-Q4_K_M.gguf Q4_K_M\n\
             llama-server -m Model-8B-Q4_K_M.gguf -c 2052 -np 4 -ngl 99"
        );
        let fp8 = calc_core::catalog::schemes::scheme("fp8_w8a8").expect("a scheme");
        let text = apply(fp8, "org/Model-8B", Some(&Workload::new(4, 512))).vllm.expect("text");
        assert!(text.contains("--quantization fp8 --max-model-len 513 --max-num-seqs 4"), "{text}");
    }
}
