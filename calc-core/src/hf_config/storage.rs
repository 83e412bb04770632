//! Storage formats of the weights, from `torch_dtype` and `quantization_config`.

use super::AssumedValue::Word;
use super::Remark;
use super::fields::Named;
use super::quantization::{self, QuantizerFormats};
use super::quantization_fields::QuantizationConfig;
use super::reader::{Reader, value};
use super::refusal::ConfigError;
use super::rules::Rules;
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
pub(super) fn read(
    reader: &mut Reader<'_>,
    arch: &ModelArch,
    rules: &Rules,
) -> Result<Storage, ConfigError> {
    let (outer, text) = (reader.outer, reader.text);
    let inner = &text.quantization_config;
    let entry =
        if outer.quantization_config.is_given() { &outer.quantization_config } else { inner };
    let Some(config) = value(&Named { name: "quantization_config", entry })? else {
        let unquantized = dtype(reader, &formats::FP32, "float32")?;
        return Ok(Storage { stored: PrecisionChoice::weights(unquantized), unquantized });
    };
    let scheme = quantization::scheme(config)?;
    reader.remarks.extend(scheme.remark);
    let unquantized = dtype(reader, scheme.carrier.0, scheme.carrier.1)?;
    let stored = if rules.experts.is_some() && keeps(config, "self_attn", arch.n_layers) {
        experts_only(reader, config, &scheme, unquantized, arch)
    } else {
        all_layers(reader, config, &scheme, unquantized, arch)
    };
    Ok(Storage { stored, unquantized })
}

fn all_layers(
    reader: &mut Reader<'_>,
    config: &QuantizationConfig,
    scheme: &QuantizerFormats,
    unquantized: &'static QuantFormat,
    arch: &ModelArch,
) -> PrecisionChoice {
    if keeps(config, "self_attn", arch.n_layers) {
        reader.remarks.push(Remark::AttentionUnquantized);
    }
    if config.lm_head.value() == Some(&true) {
        reader.remarks.push(Remark::LmHeadQuantized);
    }
    PrecisionChoice {
        weights: scheme.weights,
        activations: scheme.activations,
        kv_cache: scheme.kv_cache,
        embedding: Some(unquantized),
        experts: scheme.experts.filter(|format| *format != scheme.weights && arch.has_experts()),
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
    if shared && !keeps(config, "shared_expert", arch.n_layers) {
        reader.remarks.push(Remark::SharedMlpQuantized);
    }
    PrecisionChoice {
        weights: unquantized,
        activations: scheme.activations,
        kv_cache: scheme.kv_cache,
        embedding: Some(unquantized),
        experts: Some(scheme.weights),
    }
}

/// True if the file leaves modules of this name unquantized: by a pattern for all layers, or layer by layer.
fn keeps(config: &QuantizationConfig, module: &str, n_layers: u64) -> bool {
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
        .filter(|entry| entry.contains(module));
    let (mut one_layer, mut all_layers) = (0, false);
    for entry in named {
        if entry.split('.').any(|part| part.parse::<u64>().is_ok()) {
            one_layer += 1;
        } else {
            all_layers = true;
        }
    }
    all_layers || 2 * one_layer > n_layers
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
