//! Refused files with the reasons as data: other kinds of models, layers that the geometry cannot describe, missing sizes.

use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Allowed, Found};
use super::family::{Family, plain_name};
use super::fields::HfConfig;
use super::not_decoder::{self, NotDecoder, listed};
use super::rules::LayerRule;
use super::stated::UnreadKey;
use crate::error::Error;

/// Reason why a config.json gives no model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A required field is missing.
    Missing { field: &'static str },
    /// A field has another type.
    WrongType {
        field: &'static str,
        allowed: Allowed,
        /// The value that was found.
        found: Found,
    },
    /// A value is out of range.
    Value(Error),
    /// The first field must be a multiple of the second.
    NotDivisible {
        field: &'static str,
        value: u64,
        by: &'static str,
        /// Value of the second field.
        divisor: u64,
    },
    /// The list must have one entry per layer.
    ListLength {
        field: &'static str,
        /// Number of entries in the file.
        entries: u64,
        /// Number of layers, which the list should have entries for.
        layers: u64,
    },
    /// Not a decoder-only language model.
    NotDecoder {
        kind: NotDecoder,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// The decoder has layers that the geometry cannot describe.
    Unsupported {
        part: Unsupported,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// Keys that look like geometry and that no rule has read.
    Unread {
        keys: Vec<UnreadKey>,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// A key that nobody reads has nearly the name of one that the file lacks.
    Misspelt {
        /// Name in the file.
        found: String,
        meant: &'static str,
    },
    /// `torch_dtype` is not a float format of the catalog.
    UnknownDtype {
        /// The value in the file.
        found: String,
    },
    /// The catalog has no format for this `quantization_config`.
    UnknownQuantization {
        /// `quant_method` with its main settings.
        method: String,
        /// Bits per weight; `None` if not stated.
        bits: Option<u64>,
        /// Number of weights per scale; `None` if not stated.
        group: Option<u64>,
    },
}

/// Parts of decoders that the geometry cannot describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// State-space, linear or recurrent layers between attention layers.
    HybridLayers,
    /// Layers of different widths, some without attention.
    IrregularLayers,
    /// An indexer that selects tokens before attention.
    SparseAttention,
    /// Dense and mixture-of-experts layers in alternation.
    InterleavedExperts,
    /// Blocks of a custom class.
    OwnBlocks,
    /// Projections between embedding and hidden size.
    EmbeddingProjection,
    /// Norms of queries and keys with weights and biases.
    QkLayerNorm,
    /// Biases in latent attention.
    LatentBias,
}

use Unsupported::{HybridLayers, InterleavedExperts, IrregularLayers, OwnBlocks, SparseAttention};

/// `model_type`s of decoders that the geometry cannot describe.
const UNSUPPORTED: [(Unsupported, &[&str]); 3] = [
    (
        HybridLayers,
        &["rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm", "zamba", "zamba2", "zaya", "recurrent_gemma"],
    ),
    (IrregularLayers, &["decilm", "openelm"]),
    (OwnBlocks, &["phi3small", "jetmoe", "hrm_text"]),
];

/// Refuses files that do not describe a decoder-only language model of regular layers.
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
    let reads_layers =
        family.is_some_and(|family| family.rules(model_type).layers != LayerRule::Regular);
    let part = listed(&UNSUPPORTED, &plain).or_else(|| marked(text)).filter(|_| !reads_layers);
    part.map_or(Ok(()), |part| Err(ConfigError::Unsupported { part, model: name.into() }))
}

/// The unsupported part implied by fields that only such models have.
fn marked(text: &HfConfig) -> Option<Unsupported> {
    let states = text.mamba_state().entry.is_given();
    let marks = [
        (IrregularLayers, text.block_configs.is_given()),
        (HybridLayers, text.hybrid_override_pattern.is_given()),
        (HybridLayers, states || text.linear_num_key_heads.is_given()),
        (SparseAttention, text.index_topk.is_given()),
        (InterleavedExperts, text.interleave_moe_layer_step.is_given()),
    ];
    marks.iter().find(|(_, is_given)| *is_given).map(|(part, _)| *part)
}
