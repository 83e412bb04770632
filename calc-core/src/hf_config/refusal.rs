//! Which files are refused and why, as data: other kinds of models, layers that the geometry cannot say, missing sizes.

use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Allowed, Found};
use super::family::{Family, plain_name};
use super::fields::HfConfig;
use super::not_decoder::{self, NotDecoder, listed};
use super::stated::UnreadKey;
use crate::error::Error;

/// Why a config.json gives no model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A field without which there is no model.
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// A field of another type.
    WrongType {
        /// Name of the field.
        field: &'static str,
        /// What it may be.
        allowed: Allowed,
        /// What it is.
        found: Found,
    },
    /// A value out of range.
    Value(Error),
    /// Two fields that do not fit together: the first must be a multiple of the second.
    NotDivisible {
        /// First field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// Second field.
        by: &'static str,
        /// Its value.
        divisor: u64,
    },
    /// A list that must have one entry per layer.
    ListLength {
        /// Name of the field.
        field: &'static str,
        /// Its entries.
        entries: u64,
        /// Layers.
        layers: u64,
    },
    /// Not a decoder-only language model.
    NotDecoder {
        /// What it is instead.
        kind: NotDecoder,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// A decoder with layers that the geometry cannot say.
    Unsupported {
        /// Which.
        part: Unsupported,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// Keys that look like geometry and that no rule has read.
    Unread {
        /// The keys, by name.
        keys: Vec<UnreadKey>,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// A `torch_dtype` that is no float format of the catalog.
    UnknownDtype {
        /// As in the file.
        found: String,
    },
    /// A `quantization_config` for which the catalog has no format.
    UnknownQuantization {
        /// `quant_method` and what it says.
        method: String,
        /// Bits per weight, if the file says.
        bits: Option<u64>,
        /// Weights per scale, if the file says.
        group: Option<u64>,
    },
}

/// Parts of decoders that the geometry cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// State-space, linear or recurrent layers between those of attention.
    HybridLayers,
    /// Layers of different widths, some without attention.
    IrregularLayers,
    /// An indexer that selects tokens before attention.
    SparseAttention,
    /// Dense and mixture-of-experts layers that alternate.
    InterleavedExperts,
    /// Blocks of a class of its own.
    OwnBlocks,
    /// Projections between embedding and hidden size.
    EmbeddingProjection,
    /// Norms of queries and keys with weights and biases.
    QkLayerNorm,
    /// Biases in latent attention.
    LatentBias,
}

use Unsupported::{HybridLayers, InterleavedExperts, IrregularLayers, OwnBlocks, SparseAttention};

/// `model_type`s of decoders that the geometry cannot say.
const UNSUPPORTED: [(Unsupported, &[&str]); 5] = [
    (
        HybridLayers,
        &[
            "nemotron_h",
            "mamba",
            "mamba2",
            "falcon_mamba",
            "falcon_h1",
            "rwkv",
            "rwkv5",
            "rwkv6",
            "rwkv7",
            "jamba",
            "bamba",
            "zamba",
            "zamba2",
            "granitemoehybrid",
            "qwen3_next",
            "qwen3_5",
            "qwen3_5_text",
            "qwen3_5_moe",
            "qwen3_5_moe_text",
            "recurrent_gemma",
            "lfm2",
            "lfm2_moe",
            "kimi_linear",
            "minimax",
        ],
    ),
    (IrregularLayers, &["nemotron_nas", "deci", "decilm", "openelm"]),
    (SparseAttention, &["deepseek_v32", "deepseek_v4", "glm_moe_dsa"]),
    (InterleavedExperts, &["llama4", "llama4_text"]),
    (
        OwnBlocks,
        &[
            "phimoe",
            "phi3small",
            "gemma3n",
            "gemma3n_text",
            "gemma4",
            "gemma4_text",
            "gemma4_unified",
            "gemma4_unified_text",
            "jetmoe",
        ],
    ),
];

/// Refuses what is not a decoder-only language model of regular layers.
pub(super) fn refuse(
    config: &HfConfig,
    text: &HfConfig,
    family: Option<Family>,
    model_type: &str,
    architecture: &str,
) -> Result<(), ConfigError> {
    let name = if model_type.is_empty() { architecture } else { model_type };
    let plain = plain_name(name);
    if let Some(kind) = not_decoder::kind(config, text, family, &plain, architecture) {
        return Err(ConfigError::NotDecoder { kind, model: name.into() });
    }
    let part = listed(&UNSUPPORTED, &plain).or_else(|| marked(text));
    part.map_or(Ok(()), |part| Err(ConfigError::Unsupported { part, model: name.into() }))
}

/// Fields that only models with such layers have.
fn marked(text: &HfConfig) -> Option<Unsupported> {
    let marks = [
        (IrregularLayers, &text.block_configs),
        (HybridLayers, &text.hybrid_override_pattern),
        (HybridLayers, &text.ssm_state_size),
        (HybridLayers, &text.state_size),
        (HybridLayers, &text.mamba_d_state),
        (HybridLayers, &text.linear_num_key_heads),
        (SparseAttention, &text.index_topk),
        (InterleavedExperts, &text.interleave_moe_layer_step),
    ];
    marks.iter().find(|(_, mark)| mark.is_given()).map(|(part, _)| *part)
}
