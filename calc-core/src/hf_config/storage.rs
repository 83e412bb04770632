//! Storage formats of the weights, from `torch_dtype` and `quantization_config`.

use super::AssumedValue::Word;
use super::Remark;
use super::fields::Named;
use super::module_formats::{self, File};
use super::quantization::{self, QuantizerFormats};
use super::quantization_fields::QuantizationConfig;
use super::reader::{Reader, value};
use super::refusal::ConfigError;
use crate::catalog::formats;
use crate::model_arch::ModelArch;
use crate::precision::PrecisionChoice;
use crate::quant_format::{ComputeClass, QuantFormat};

/// Formats of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Storage {
    pub(super) stored: PrecisionChoice,
    pub(super) unquantized: &'static QuantFormat,
}

/// Model types whose layers with a state have names of their own: `linear_attn`, `mamba`, `mixer`, `conv`.
const OWN_STATE: [&str; 8] =
    ["qwen3", "olmo", "nemotron", "jamba", "bamba", "falcon", "granite", "lfm"];

/// Reads the formats of the file.
pub(super) fn read(reader: &mut Reader<'_>, arch: &ModelArch) -> Result<Storage, ConfigError> {
    let Some(config) = settings(reader)? else {
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
    let kept = if again { scheme.weights } else { unquantized };
    // The MLP of Gemma 4 is beside its experts.
    let model_type = reader.text.model_type.value().map_or("", |name| &**name);
    let experts_beside = model_type.starts_with("gemma4");
    let state_in_attention = !OWN_STATE.iter().any(|name| model_type.starts_with(name));
    let file = File { config, scheme: &scheme, kept, experts_beside, state_in_attention };
    let found = module_formats::read(&file, arch)?;
    reader.remarks.extend(found.remarks);
    if config.lm_head.value() == Some(&true) {
        reader.remarks.push(Remark::LmHeadQuantized);
    }
    let experts =
        Some(found.experts).filter(|&format| format != found.layers && arch.has_experts());
    let embedding =
        if quantization::is_mlx(config) { table(&scheme, unquantized) } else { unquantized };
    let stored = PrecisionChoice {
        weights: found.layers,
        activations: scheme.activations,
        kv_cache: scheme.kv_cache,
        embedding: Some(embedding),
        experts,
        ratios: found.ratios,
    };
    Ok(Storage { stored, unquantized })
}

/// The settings of the quantizer; those of MLX have a key of their own.
fn settings<'a>(reader: &Reader<'a>) -> Result<Option<&'a QuantizationConfig>, ConfigError> {
    let (outer, text) = (reader.outer, reader.text);
    let of_mlx = [("quantization", &outer.quantization), ("quantization", &text.quantization)];
    let usual = [
        ("quantization_config", &outer.quantization_config),
        ("quantization_config", &text.quantization_config),
    ];
    let found = usual.into_iter().chain(of_mlx).find(|(_, entry)| entry.is_given());
    let Some((name, entry)) = found else { return Ok(None) };
    Ok(value(&Named { name, entry })?.map(|config| &**config))
}

/// The smallest format for the tables of MLX, which quantizes them like the layers.
fn table(scheme: &QuantizerFormats, unquantized: &'static QuantFormat) -> &'static QuantFormat {
    let bits = scheme.weights.bits_per_element() * scheme.factor;
    let fits = formats::FORMATS.iter().copied().filter(|format| {
        let is_carrier = format.class.is_some_and(ComputeClass::is_carrier);
        format.file.is_none() && !is_carrier && format.bits_per_element() >= bits - 1e-9
    });
    let own = Some(scheme.weights).filter(|_| scheme.factor <= 1.0);
    own.or_else(|| fits.min_by(|a, b| a.bits_per_element().total_cmp(&b.bits_per_element())))
        .unwrap_or(unquantized)
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

/// The format of `torch_dtype`. Without the field, transformers loads float32; quantizers have their own default.
fn dtype(
    reader: &mut Reader<'_>,
    default: &'static QuantFormat,
    default_name: &'static str,
) -> Result<&'static QuantFormat, ConfigError> {
    let (outer, inner) = (reader.outer.data_type(), reader.text.data_type());
    let thinker = reader.outer.thinker_config.value();
    let thinker = thinker.map(|thinker| Named { name: "dtype", entry: &thinker.dtype });
    let given = |field: &Named<'_, _>| field.entry.is_given();
    let field = if given(&outer) {
        outer
    } else {
        thinker.filter(|field| given(field) && !given(&inner)).unwrap_or(inner)
    };
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
