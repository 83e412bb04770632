//! The plain struct of `quantization_config`: the union of what its writers (AutoGPTQ, AutoAWQ, bitsandbytes,
//! compressed-tensors, ModelOpt, torchao, …) put there. `quantization` interprets them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Allowed, Entry, FieldType, Present};

/// The `quantization_config` object.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct QuantizationConfig {
    pub quant_method: Entry<String>,
    pub quant_algo: Entry<String>,
    pub expert_dtype: Entry<String>,
    pub bits: Entry<u64>,
    pub w_bit: Entry<u64>,
    pub group_size: Entry<u64>,
    pub q_group_size: Entry<u64>,
    pub lm_head: Entry<bool>,
    pub fmt: Entry<String>,
    pub weight_block_size: Entry<Present>,
    pub load_in_4bit: Entry<bool>,
    pub load_in_8bit: Entry<bool>,
    pub bnb_4bit_use_double_quant: Entry<bool>,
    pub quant_type: Entry<Box<TorchaoScheme>>,
    pub config_groups: Entry<QuantGroups>,
    pub quantized_layers: Entry<ModuleList>,
    pub dynamic: Entry<ModuleList>,
    pub extra_config: Entry<ModuleList>,
    pub mode: Entry<String>,
    pub kv_cache_scheme: Entry<KvCacheScheme>,
    pub kv_cache_quant_algo: Entry<String>,
    pub modules_to_not_convert: Entry<Vec<String>>,
    pub ignore: Entry<Vec<String>>,
    pub exclude_modules: Entry<Vec<String>>,
    pub llm_int8_skip_modules: Entry<Vec<String>>,
    /// Keys with a period in their name, which are modules of MLX.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub modules: ModuleList,
}

/// The groups of `config_groups`; their names are ignored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuantGroups(pub Vec<QuantGroup>);

impl FieldType for QuantGroups {
    const ALLOWED: Allowed = Allowed::Object;
}

/// Modules by name, with their own settings: `quantized_layers` of ModelOpt, `dynamic` of GPTQModel, `extra_config` of
/// AutoRound, and the modules that MLX lists beside the settings of all. Experts of a layer that are alike are one entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModuleList(pub Vec<(String, Entry<Box<ModuleOptions>>)>);

impl FieldType for ModuleList {
    const ALLOWED: Allowed = Allowed::Object;
}

/// Settings of one module.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct ModuleOptions {
    pub quant_algo: Entry<String>,
    pub bits: Entry<u64>,
    pub group_size: Entry<u64>,
    pub mode: Entry<String>,
}

/// One group of compressed-tensors or ModelOpt.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct QuantGroup {
    pub targets: Entry<Vec<String>>,
    pub weights: Entry<Box<TensorScheme>>,
    pub input_activations: Entry<Box<TensorScheme>>,
}

/// Quantization of one kind of tensor.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct TensorScheme {
    pub num_bits: Entry<u64>,
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: Entry<String>,
    pub group_size: Entry<u64>,
    pub symmetric: Entry<bool>,
}

/// `kv_cache_scheme`: an object in compressed-tensors, a name in older ModelOpt files.
#[derive(Debug, Clone, PartialEq)]
pub enum KvCacheScheme {
    /// `"FP8"`.
    Named(String),
    /// `{"num_bits": 8, "type": "float"}`.
    Scheme(TensorScheme),
}

impl FieldType for KvCacheScheme {
    const ALLOWED: Allowed = Allowed::Object;
}

/// `quant_type` of torchao: `{"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}`.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct TorchaoScheme {
    #[cfg_attr(feature = "serde", serde(rename = "default"))]
    pub default_config: Entry<Box<TorchaoConfig>>,
}

/// A configuration object of torchao.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct TorchaoConfig {
    #[cfg_attr(feature = "serde", serde(rename = "_type"))]
    pub kind: Entry<String>,
    #[cfg_attr(feature = "serde", serde(rename = "_data"))]
    pub data: Entry<Box<TensorScheme>>,
}
