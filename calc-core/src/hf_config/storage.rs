//! Storage formats of the weights, from `torch_dtype` and `quantization_config`.

use alloc::vec::Vec;

use super::AssumedValue::Word;
use super::Remark;
use super::fields::Named;
use super::quantization::{self, QuantizerFormats};
use super::quantization_fields::QuantizationConfig;
use super::reader::{Reader, value};
use super::refusal::ConfigError;
use crate::catalog::formats;
use crate::model_arch::ModelArch;
use crate::precision::PrecisionChoice;
use crate::quant_format::QuantFormat;

/// Formats of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Storage {
    pub(super) stored: PrecisionChoice,
    pub(super) unquantized: &'static QuantFormat,
}

/// Reads the formats of the file.
pub(super) fn read(reader: &mut Reader<'_>, arch: &ModelArch) -> Result<Storage, ConfigError> {
    let (outer, text) = (reader.outer, reader.text);
    let inner = &text.quantization_config;
    let entry =
        if outer.quantization_config.is_given() { &outer.quantization_config } else { inner };
    let Some(config) = value(&Named { name: "quantization_config", entry })? else {
        let unquantized = dtype(reader, &formats::FP32, "float32")?;
        return Ok(Storage { stored: PrecisionChoice::weights(unquantized), unquantized });
    };
    let mut scheme = quantization::scheme(config)?;
    if arch.has_experts() && scheme.experts.is_none() {
        scheme.experts = stated_experts(reader, config)?;
    }
    reader.remarks.extend(scheme.remark);
    let unquantized = dtype(reader, scheme.carrier.0, scheme.carrier.1)?;
    // Where experts of an FP8 file were quantized again, the list is of what was not: it stays in FP8.
    let again = config.quant_method.value().is_some_and(|name| name == "fp8")
        && config.quant_algo.is_given();
    let layers = !again && kept_layers(config, arch.n_layers, is_attention);
    let shared = !again
        && arch.moe.iter().any(|moe| moe.shared_width > 0)
        && kept_layers(config, arch.n_layers, is_shared_expert);
    let stored = if arch.has_experts() && (layers || shared) {
        experts_only(reader, config, &scheme, unquantized, arch)
    } else {
        all_layers(reader, config, &scheme, unquantized, layers)
    };
    let experts = stored.experts.filter(|format| *format != stored.weights && arch.has_experts());
    Ok(Storage { stored: PrecisionChoice { experts, ..stored }, unquantized })
}

/// The format of the experts where `expert_dtype` states one: DeepSeek V4 has FP4 with a scale per 32 weights beside FP8.
fn stated_experts(
    reader: &Reader<'_>,
    config: &QuantizationConfig,
) -> Result<Option<&'static QuantFormat>, ConfigError> {
    let entries = [&config.expert_dtype, &reader.text.expert_dtype, &reader.outer.expert_dtype];
    let entry = entries.into_iter().find(|entry| entry.is_given());
    let Some(entry) = entry else { return Ok(None) };
    match Reader::text_of(&Named { name: "expert_dtype", entry })? {
        Some("fp4" | "mxfp4") => Ok(Some(&formats::MXFP4)),
        Some("nvfp4") => Ok(Some(&formats::NVFP4)),
        Some("fp8") | None => Ok(None),
        Some(other) => Err(ConfigError::UnknownQuantization {
            method: alloc::format!("expert_dtype {other}"),
            bits: None,
            group: None,
        }),
    }
}

/// All layers in one format: the larger one where the file keeps attention unquantized.
fn all_layers(
    reader: &mut Reader<'_>,
    config: &QuantizationConfig,
    scheme: &QuantizerFormats,
    unquantized: &'static QuantFormat,
    keeps_attention: bool,
) -> PrecisionChoice {
    if keeps_attention {
        reader.remarks.push(Remark::AttentionUnquantized);
    }
    if config.lm_head.value() == Some(&true) {
        reader.remarks.push(Remark::LmHeadQuantized);
    }
    PrecisionChoice {
        weights: if keeps_attention { unquantized } else { scheme.weights },
        activations: scheme.activations,
        kv_cache: scheme.kv_cache,
        embedding: Some(unquantized),
        experts: scheme.experts,
    }
}

/// Formats if only the experts are quantized (gpt-oss, Kimi): all else stays in `torch_dtype`.
fn experts_only(
    reader: &mut Reader<'_>,
    config: &QuantizationConfig,
    scheme: &QuantizerFormats,
    unquantized: &'static QuantFormat,
    arch: &ModelArch,
) -> PrecisionChoice {
    let shared = arch.moe.iter().any(|moe| moe.shared_width > 0);
    if shared && !kept_layers(config, arch.n_layers, is_shared_expert) {
        reader.remarks.push(Remark::SharedMlpQuantized);
    }
    PrecisionChoice {
        weights: unquantized,
        activations: scheme.activations,
        kv_cache: scheme.kv_cache,
        embedding: Some(unquantized),
        experts: Some(scheme.experts.unwrap_or(scheme.weights)),
    }
}

/// Names of the module that mixes tokens.
const MIXERS: [&str; 4] = ["self_attn", "linear_attn", "self_attention", "attention"];
/// Parts of a file that are no layers of the language model.
const ELSEWHERE: [&str; 4] = ["vision", "visual", "audio", "mtp"];

/// True if an entry names a mixer as a whole or one of its projections, not a norm or an indexer of it.
fn is_attention(entry: &str) -> bool {
    let rest = MIXERS.iter().find_map(|name| entry.split_once(name)).map(|(_, rest)| rest);
    rest.is_some_and(|rest| {
        let rest = rest.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        rest.is_empty() || rest.contains("proj") && !rest.contains("index")
    })
}

fn is_shared_expert(entry: &str) -> bool {
    entry.contains("shared_expert") && !entry.ends_with("_gate")
}

/// True if the file leaves modules of a kind unquantized: by a pattern for all layers, or in most layers one by one.
fn kept_layers(config: &QuantizationConfig, n_layers: u64, is_kind: fn(&str) -> bool) -> bool {
    let lists = [
        &config.modules_to_not_convert,
        &config.ignore,
        &config.exclude_modules,
        &config.llm_int8_skip_modules,
    ];
    let named = lists
        .iter()
        .filter_map(|list| list.value())
        .flatten()
        .filter(|entry| is_kind(entry) && !ELSEWHERE.iter().any(|part| entry.contains(part)));
    let mut layers: Vec<u64> = Vec::new();
    for entry in named {
        match entry.split('.').find_map(|part| part.parse().ok()) {
            Some(layer) => layers.push(layer),
            None => return true,
        }
    }
    layers.sort_unstable();
    layers.dedup();
    2 * layers.len() as u64 > n_layers
}

/// The format of `torch_dtype`. Without the field, transformers loads float32; quantizers have their own default.
fn dtype(
    reader: &mut Reader<'_>,
    default: &'static QuantFormat,
    default_name: &'static str,
) -> Result<&'static QuantFormat, ConfigError> {
    let (outer, inner) = (reader.outer.data_type(), reader.text.data_type());
    let field = if outer.entry.is_given() { outer } else { inner };
    let Some(name) = Reader::text_of(&field)?.filter(|name| *name != "auto") else {
        reader.assume_first(field.name, Word(default_name));
        return Ok(default);
    };
    match name.strip_prefix("torch.").unwrap_or(name) {
        "bfloat16" => Ok(&formats::BF16),
        "float16" | "half" => Ok(&formats::FP16),
        "float32" | "float" => Ok(&formats::FP32),
        "float64" | "double" => Ok(&formats::FP64),
        "float8_e4m3fn" => Ok(&formats::FP8_E4M3),
        "float8_e5m2" => Ok(&formats::FP8_E5M2),
        _ => Err(ConfigError::UnknownDtype { found: name.into() }),
    }
}
