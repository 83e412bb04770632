//! Maps `quantization_config` to catalog formats, with activations and KV cache.

mod integers;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::Remark;
use super::entry::{Entry, Found};
use super::family::plain_name;
use super::fields::Named;
use super::quantization_fields::{
    KvCacheScheme, ModuleOptions, QuantGroup, QuantizationConfig, TensorScheme, TorchaoConfig,
};
use super::reader::{Reader, value};
use super::refusal::ConfigError;
use crate::catalog::formats;
use crate::quant_format::QuantFormat;
use integers::{Grouped, Zeros, integers};

/// The formats that a quantizer produced.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuantizerFormats {
    pub(super) weights: &'static QuantFormat,
    /// Bytes of the weights relative to the format, which is the nearest of the catalog.
    pub(super) factor: f64,
    /// Format of the experts, if another one.
    pub(super) experts: Option<&'static QuantFormat>,
    /// `None` leaves activations to the default: 16 bits.
    pub(super) activations: Option<&'static QuantFormat>,
    pub(super) kv_cache: Option<&'static QuantFormat>,
    /// Format of unquantized tensors if the file has no `torch_dtype`, and its name.
    pub(super) carrier: (&'static QuantFormat, &'static str),
    pub(super) remark: Option<Remark>,
}

const HALF: (&QuantFormat, &str) = (&formats::FP16, "float16");
const BFLOAT: (&QuantFormat, &str) = (&formats::BF16, "bfloat16");

impl QuantizerFormats {
    const fn weight_only(weights: &'static QuantFormat) -> Self {
        Self {
            weights,
            factor: 1.0,
            experts: None,
            activations: None,
            kv_cache: None,
            carrier: BFLOAT,
            remark: None,
        }
    }

    const fn both(format: &'static QuantFormat) -> Self {
        Self { activations: Some(format), ..Self::weight_only(format) }
    }
}

/// Reads the formats of a `quantization_config`.
pub(super) fn scheme(config: &QuantizationConfig) -> Result<QuantizerFormats, ConfigError> {
    let method = text("quant_method", &config.quant_method)?.unwrap_or_default();
    let method = method.strip_prefix("intel/").unwrap_or(method);
    let found = match &*plain_name(method) {
        "gptq" | "auto_round" | "autoround" | "gptqmodel" | "awq" => packed(config)?,
        "fp8" => Some(fp8(config)?),
        "fbgemm_fp8" => Some(QuantizerFormats::both(&formats::FP8_E4M3)),
        "compressed_tensors" => groups(config)?,
        "bitsandbytes" => bitsandbytes(config)?,
        "mxfp4" => Some(QuantizerFormats::weight_only(&formats::MXFP4)),
        "torchao" => torchao(config)?,
        "bitnet" => Some(QuantizerFormats::weight_only(&formats::BITNET_1_58)),
        "" if is_mlx(config) => {
            let mode = text("mode", &config.mode)?.unwrap_or("affine");
            mlx(mode, &config.bits, &config.group_size, config)?
        }
        "" | "modelopt" => modelopt(config)?,
        _ => None,
    };
    let found = found.ok_or_else(|| unknown(config, method))?;
    Ok(QuantizerFormats { kv_cache: kv_cache(config)?.or(found.kv_cache), ..found })
}

fn text<'a>(name: &'static str, entry: &'a Entry<String>) -> Result<Option<&'a str>, ConfigError> {
    Reader::text_of(&Named { name, entry })
}

fn count(name: &'static str, entry: &Entry<u64>) -> Result<Option<u64>, ConfigError> {
    Ok(value(&Named { name, entry })?.copied())
}

fn flag(name: &'static str, entry: &Entry<bool>, default: bool) -> Result<bool, ConfigError> {
    Ok(Reader::flag(&Named { name, entry })?.unwrap_or(default))
}

/// Reads a group size; -1 is one scale per row.
fn group(
    name: &'static str,
    entry: &Entry<u64>,
    default: Option<u64>,
) -> Result<Option<u64>, ConfigError> {
    match entry {
        Entry::Absent | Entry::Null => Ok(default),
        Entry::Wrong(Found::Number(number)) if *number < 0.0 => Ok(None),
        Entry::Value(_) | Entry::Wrong(_) => count(name, entry),
    }
}

fn bits(config: &QuantizationConfig) -> Result<Option<u64>, ConfigError> {
    Ok(count("bits", &config.bits)?.or(count("w_bit", &config.w_bit)?))
}

fn unknown(config: &QuantizationConfig, method: &str) -> ConfigError {
    let algorithm = config.quant_algo.value().map_or("", String::as_str);
    let first = config.config_groups.value().and_then(|groups| groups.0.first());
    let scheme = first.and_then(|group| group.weights.value());
    ConfigError::UnknownQuantization {
        method: [method, algorithm].join(" ").trim().to_owned(),
        bits: config
            .bits
            .value()
            .or(config.w_bit.value())
            .or(scheme.and_then(|s| s.num_bits.value()))
            .copied(),
        group: config.group_size.value().or(scheme.and_then(|s| s.group_size.value())).copied(),
    }
}

/// GPTQ and AWQ files: packed integers, FP16 scales, packed zero points, even if `sym` states that all zero points are equal.
fn packed(config: &QuantizationConfig) -> Result<Option<QuantizerFormats>, ConfigError> {
    let q_group = group("q_group_size", &config.q_group_size, Some(128))?;
    let group = group("group_size", &config.group_size, q_group)?;
    let stored = Grouped { bits: bits(config)?.unwrap_or(4), group, zeros: Zeros::Packed };
    Ok(integers(stored).map(|scheme| QuantizerFormats { carrier: HALF, ..scheme }))
}

/// The format of a module with settings of its own, in the file of a quantizer; `None` where they are not known.
pub(super) fn of_module(
    options: &ModuleOptions,
    config: &QuantizationConfig,
) -> Option<QuantizerFormats> {
    if let Some(algorithm) = options.quant_algo.value() {
        return by_algorithm(algorithm);
    }
    if let Some(mode) = options.mode.value().or(config.mode.value()) {
        return mlx(mode, &options.bits, &options.group_size, config).ok().flatten();
    }
    let bits = options.bits.value().or(config.bits.value()).copied()?;
    let inherited = group("group_size", &config.group_size, Some(128)).ok()?;
    let group = group("group_size", &options.group_size, inherited).ok()?;
    let zeros = if is_mlx(config) { Zeros::Half } else { Zeros::Packed };
    integers(Grouped { bits, group, zeros })
}

/// True for a file of MLX: settings without a quantizer.
pub(super) fn is_mlx(config: &QuantizationConfig) -> bool {
    !config.quant_method.is_given() && !config.quant_algo.is_given() && config.bits.is_given()
}

/// The formats of mlx-lm (`mlx/nn/layers/quantized.py`): by default integers with scale and bias of a group in 16 bits.
fn mlx(
    mode: &str,
    bits: &Entry<u64>,
    group_size: &Entry<u64>,
    config: &QuantizationConfig,
) -> Result<Option<QuantizerFormats>, ConfigError> {
    let bits = count("bits", bits)?.or(count("bits", &config.bits)?).unwrap_or(4);
    let inherited = group("group_size", &config.group_size, Some(64))?;
    let group = group("group_size", group_size, inherited)?;
    Ok(match mode {
        "affine" => integers(Grouped { bits, group, zeros: Zeros::Half }),
        "mxfp4" => Some(QuantizerFormats::weight_only(&formats::MXFP4)),
        "mxfp8" => Some(QuantizerFormats::weight_only(&formats::MXFP8)),
        "nvfp4" => Some(QuantizerFormats::weight_only(&formats::NVFP4)),
        _ => None,
    })
}

/// FP8, with the experts in a format of their own where ModelOpt quantized them again.
fn fp8(config: &QuantizationConfig) -> Result<QuantizerFormats, ConfigError> {
    let found = block_fp8(config)?;
    let Some(again) = text("quant_algo", &config.quant_algo)? else { return Ok(found) };
    let experts = if again == "MIXED_PRECISION" { mixed(config)? } else { by_algorithm(again) };
    Ok(QuantizerFormats { experts: experts.and_then(|one| one.experts), ..found })
}

/// FP8 as DeepSeek and Qwen publish it: one scale per block of 128 x 128, activations quantized at run time.
fn block_fp8(config: &QuantizationConfig) -> Result<QuantizerFormats, ConfigError> {
    let blocks = config.weight_block_size.is_given();
    let (format, remark) = match (text("fmt", &config.fmt)?, blocks) {
        (Some("e5m2" | "float8_e5m2"), _) => {
            (&formats::FP8_E5M2, blocks.then_some(Remark::BlockScalesNotCounted))
        }
        (_, true) => (&formats::FP8_BLOCK128, None),
        (_, false) => (&formats::FP8_E4M3, None),
    };
    Ok(QuantizerFormats { remark, ..QuantizerFormats::both(format) })
}

/// compressed-tensors: groups of modules, each with the modules that it is for. Experts have the format of a group that names
/// them, all other layers that of the group for all modules, or the largest of the others.
fn groups(config: &QuantizationConfig) -> Result<Option<QuantizerFormats>, ConfigError> {
    let Some(groups) = value(&Named { name: "config_groups", entry: &config.config_groups })?
    else {
        return Ok(None);
    };
    let (mut layers, mut all, mut experts): (Option<QuantizerFormats>, _, _) = (None, None, None);
    for group in &groups.0 {
        let Some(one) = group_formats(group)? else { return Ok(None) };
        let targets = value(&Named { name: "targets", entry: &group.targets })?;
        let targets = targets.map_or(&[][..], Vec::as_slice);
        if targets.iter().any(|target| names_experts(target)) {
            experts = Some(one.weights);
        }
        if names_all(targets) {
            all = Some(one);
        } else if targets.iter().any(|target| names_layers(target)) {
            let bits = |formats: &QuantizerFormats| formats.weights.bits_per_element();
            layers = layers.filter(|other| bits(other) >= bits(&one)).or(Some(one));
        }
    }
    Ok(all.or(layers).map(|found| QuantizerFormats { experts, ..found }))
}

/// True for the targets of a group that is for all modules without a group of their own.
pub(super) fn names_all(targets: &[String]) -> bool {
    targets.is_empty() || targets.iter().any(|target| target == "Linear")
}

/// True for a pattern of modules of the chosen experts.
pub(super) fn names_experts(target: &str) -> bool {
    let plain = target.to_ascii_lowercase();
    plain.contains("experts") && !plain.contains("shared_expert") || plain.contains("fusedmoe")
}

/// True for a pattern that other modules of the layers may have: no experts, and not the head.
fn names_layers(target: &str) -> bool {
    !names_experts(target) && !target.ends_with("lm_head")
}

/// The formats of weights and activations in a group.
pub(super) fn group_formats(group: &QuantGroup) -> Result<Option<QuantizerFormats>, ConfigError> {
    let Some(weights) = value(&Named { name: "weights", entry: &group.weights })? else {
        return Ok(None);
    };
    let Some(mut scheme) = tensors(weights)? else { return Ok(None) };
    let inputs = value(&Named { name: "input_activations", entry: &group.input_activations })?;
    scheme.activations = match inputs {
        Some(inputs) => tensors(inputs)?.map(|inputs| inputs.weights),
        None => None,
    };
    Ok(Some(scheme))
}

/// One tensor scheme of compressed-tensors.
fn tensors(scheme: &TensorScheme) -> Result<Option<QuantizerFormats>, ConfigError> {
    let bits = count("num_bits", &scheme.num_bits)?.unwrap_or(8);
    let group = group("group_size", &scheme.group_size, None)?;
    let is_symmetric = flag("symmetric", &scheme.symmetric, true)?;
    let zeros = if is_symmetric { Zeros::None } else { Zeros::Packed };
    Ok(match (text("type", &scheme.kind)?.unwrap_or("int"), bits, group) {
        ("float", 8, Some(32)) => Some(QuantizerFormats::weight_only(&formats::MXFP8)),
        ("float", 8, _) => Some(QuantizerFormats::weight_only(&formats::FP8_E4M3)),
        ("float", 4, Some(32)) => Some(QuantizerFormats::weight_only(&formats::MXFP4)),
        ("float", 4, _) => Some(QuantizerFormats::weight_only(&formats::NVFP4)),
        ("int", bits, group) => integers(Grouped { bits, group, zeros }),
        _ => None,
    })
}

fn bitsandbytes(config: &QuantizationConfig) -> Result<Option<QuantizerFormats>, ConfigError> {
    if flag("load_in_8bit", &config.load_in_8bit, false)? {
        return Ok(Some(QuantizerFormats {
            carrier: HALF,
            ..QuantizerFormats::both(&formats::INT8)
        }));
    }
    if !flag("load_in_4bit", &config.load_in_4bit, false)? {
        return Ok(None);
    }
    // FP4 of bitsandbytes has the blocks and scales of NF4, with another table.
    let double = flag("bnb_4bit_use_double_quant", &config.bnb_4bit_use_double_quant, false)?;
    Ok(Some(QuantizerFormats::weight_only(if double { &formats::NF4_DQ } else { &formats::NF4 })))
}

fn torchao(config: &QuantizationConfig) -> Result<Option<QuantizerFormats>, ConfigError> {
    let Some(named) = value(&Named { name: "quant_type", entry: &config.quant_type })? else {
        return Ok(None);
    };
    let Some(config) = value(&Named { name: "default", entry: &named.default_config })? else {
        return Ok(None);
    };
    let kind = text("_type", &config.kind)?.unwrap_or_default();
    Ok(match kind {
        "Int4WeightOnlyConfig" => match torchao_group(config)? {
            Some(128) => Some(QuantizerFormats::weight_only(&formats::INT4_G128)),
            Some(32) => Some(QuantizerFormats::weight_only(&formats::INT4_G32)),
            group => {
                let remark = Remark::FormatRounded { bits: 4, group, format: &formats::INT4_G128 };
                Some(QuantizerFormats {
                    remark: Some(remark),
                    ..QuantizerFormats::weight_only(&formats::INT4_G128)
                })
            }
        },
        "Int8WeightOnlyConfig" => Some(QuantizerFormats::weight_only(&formats::INT8)),
        "Int8DynamicActivationInt8WeightConfig" => Some(QuantizerFormats::both(&formats::INT8)),
        "Float8WeightOnlyConfig" => Some(QuantizerFormats::weight_only(&formats::FP8_E4M3)),
        "Float8DynamicActivationFloat8WeightConfig" => {
            Some(QuantizerFormats::both(&formats::FP8_E4M3))
        }
        _ => None,
    })
}

fn torchao_group(config: &TorchaoConfig) -> Result<Option<u64>, ConfigError> {
    match value(&Named { name: "_data", entry: &config.data })? {
        Some(data) => group("group_size", &data.group_size, Some(128)),
        None => Ok(Some(128)),
    }
}

/// NVIDIA ModelOpt: by algorithm, or by groups as in compressed-tensors.
fn modelopt(config: &QuantizationConfig) -> Result<Option<QuantizerFormats>, ConfigError> {
    let Some(algorithm) = text("quant_algo", &config.quant_algo)? else { return groups(config) };
    if algorithm == "MIXED_PRECISION" {
        return mixed(config);
    }
    Ok(by_algorithm(algorithm))
}

fn by_algorithm(algorithm: &str) -> Option<QuantizerFormats> {
    match algorithm {
        "NVFP4" | "NVFP4_AWQ" => Some(QuantizerFormats::both(&formats::NVFP4)),
        "W4A16_NVFP4" => Some(QuantizerFormats::weight_only(&formats::NVFP4)),
        "FP8" | "FP8_PER_CHANNEL_PER_TOKEN" | "FP8_PB_WO" => {
            Some(QuantizerFormats::both(&formats::FP8_E4M3))
        }
        "W4A16_AWQ" => Some(QuantizerFormats::weight_only(&formats::INT4_G128)),
        "W4A8_AWQ" => Some(QuantizerFormats {
            activations: Some(&formats::FP8_E4M3),
            ..QuantizerFormats::weight_only(&formats::INT4_G128)
        }),
        "MXFP8" => Some(QuantizerFormats::both(&formats::MXFP8)),
        "W8A8_SQ_PER_CHANNEL" | "W8A8_SQ" => Some(QuantizerFormats::both(&formats::INT8)),
        _ => None,
    }
}

/// ModelOpt with an algorithm for each module: the largest of the experts' and of the others'.
fn mixed(config: &QuantizationConfig) -> Result<Option<QuantizerFormats>, ConfigError> {
    let field = Named { name: "quantized_layers", entry: &config.quantized_layers };
    let Some(layers) = value(&field)? else { return Ok(None) };
    let largest = |of_experts: bool| -> Option<Option<QuantizerFormats>> {
        let mut found: Option<QuantizerFormats> = None;
        for (module, options) in &layers.0 {
            let algorithm = options.value().and_then(|options| options.quant_algo.value());
            let Some(algorithm) = algorithm.filter(|_| module.contains(".experts") == of_experts)
            else {
                continue;
            };
            let one = by_algorithm(algorithm)?;
            let bits = |formats: &QuantizerFormats| formats.weights.bits_per_element();
            found = found.filter(|other| bits(other) >= bits(&one)).or(Some(one));
        }
        Some(found)
    };
    let (Some(layers), Some(experts)) = (largest(false), largest(true)) else { return Ok(None) };
    let weights = layers.or(experts);
    Ok(weights
        .map(|weights| QuantizerFormats { experts: experts.map(|one| one.weights), ..weights }))
}

/// Format of the KV cache, if the file sets one.
fn kv_cache(config: &QuantizationConfig) -> Result<Option<&'static QuantFormat>, ConfigError> {
    let scheme = value(&Named { name: "kv_cache_scheme", entry: &config.kv_cache_scheme })?;
    Ok(match scheme {
        Some(KvCacheScheme::Named(name)) => kv_format(name),
        Some(KvCacheScheme::Scheme(scheme)) => {
            let kind = text("type", &scheme.kind)?.unwrap_or("int");
            match (count("num_bits", &scheme.num_bits)?, kind) {
                (Some(8), "float") => Some(&formats::FP8_E4M3),
                (Some(8), "int") => Some(&formats::INT8),
                (Some(4), "float") => Some(&formats::NVFP4),
                _ => None,
            }
        }
        None => text("kv_cache_quant_algo", &config.kv_cache_quant_algo)?.and_then(kv_format),
    })
}

fn kv_format(name: &str) -> Option<&'static QuantFormat> {
    match &*name.to_ascii_uppercase() {
        "FP8" => Some(&formats::FP8_E4M3),
        "INT8" => Some(&formats::INT8),
        "NVFP4" => Some(&formats::NVFP4),
        _ => None,
    }
}
