//! Layers that differ from each other: the kind of each layer, and the groups that the families build from them.
//! Rules are those of transformers 5.23.0.

mod blocks;
mod gemma;
mod heads;
mod hybrid;
mod linear;
mod nemotron;
mod sparse;

use alloc::string::String;
use alloc::vec::Vec;

use super::AssumedValue::Word;
use super::attention::{self, Frame, unsupported};
use super::entry::Entry;
use super::feed_forward::{self, FeedForward};
use super::fields::Named;
pub(super) use super::order::Kind;
use super::reader::{Reader, value};
use super::refusal::{ConfigError, Unsupported};
use super::rules::{LayerRule, Rules};
use crate::model_arch::{Attention, Projection, Recurrent, Table};

/// The layers of a model.
#[derive(Debug, Clone)]
pub(super) struct Layers {
    pub(super) attention: Vec<Attention>,
    pub(super) recurrent: Vec<Recurrent>,
    pub(super) feed_forward: FeedForward,
    pub(super) projections: Vec<Projection>,
    pub(super) tables: Vec<Table>,
    pub(super) other_vectors: u64,
    /// Number of norms per layer beyond those that first add the residual, where the rules do not state it.
    pub(super) norms: NormCount,
}

/// Norms of a whole model, without the final one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NormCount {
    /// As many per layer as the rules state.
    ByRules,
    /// This many that first add the residual, and this many others.
    Total { add: u64, post: u64 },
}

impl Layers {
    /// Attention and MLPs, without other parts.
    pub(super) const fn of(attention: Vec<Attention>, feed_forward: FeedForward) -> Self {
        Self {
            attention,
            recurrent: Vec::new(),
            feed_forward,
            projections: Vec::new(),
            tables: Vec::new(),
            other_vectors: 0,
            norms: NormCount::ByRules,
        }
    }
}

/// Reads the layers by the rule of the family.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let read = match rules.layers {
        LayerRule::Regular => regular,
        LayerRule::Blocks => blocks::read,
        LayerRule::Afmoe => heads::afmoe,
        LayerRule::Bamba => hybrid::bamba,
        LayerRule::DeepseekSparse => sparse::deepseek_sparse,
        LayerRule::FalconH1 => hybrid::falcon_h1,
        LayerRule::Gemma3n => gemma::gemma3n,
        LayerRule::Gemma4 => gemma::gemma4,
        LayerRule::GraniteHybrid => hybrid::granite_hybrid,
        LayerRule::Jamba => hybrid::jamba,
        LayerRule::KimiLinear => linear::kimi_linear,
        LayerRule::Lfm2 => linear::lfm2,
        LayerRule::Lfm2Moe => linear::lfm2_moe,
        LayerRule::Llama4 => sparse::llama4,
        LayerRule::Longcat => heads::longcat,
        LayerRule::Mamba1Alone => hybrid::mamba1_alone,
        LayerRule::Mamba2Alone => hybrid::mamba2_alone,
        LayerRule::Mimo => heads::mimo,
        LayerRule::Minimax => linear::minimax,
        LayerRule::MinimaxM3 => sparse::minimax_m3,
        LayerRule::NemotronH => nemotron::nemotron_h,
        LayerRule::QwenNext => linear::qwen_next,
        LayerRule::Step3 => heads::step3,
    };
    read(reader, rules, frame)
}

/// Layers of a family whose attention layers have the same heads.
fn regular(reader: &mut Reader<'_>, rules: &Rules, frame: &Frame) -> Result<Layers, ConfigError> {
    let attention = attention::read(reader, rules, frame)?;
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, frame.n_layers)?;
    let mut other_vectors = frame.n_layers * rules.layer_vectors;
    if rules.inner_norms {
        let widths: u64 = feed_forward.dense.iter().map(|group| group.layers * group.width).sum();
        other_vectors += widths + frame.n_layers * attention.n_heads * attention.v_head_dim;
    }
    Ok(Layers { other_vectors, ..Layers::of(alloc::vec![attention], feed_forward) })
}

/// The kind of each layer: `layer_types`, or by the family's rule where the file has no such list.
pub(super) fn kinds(
    reader: &mut Reader<'_>,
    n_layers: u64,
    rule: impl Fn(u64) -> Kind,
) -> Result<Vec<Kind>, ConfigError> {
    let field = reader.text.named("layer_types", &reader.text.layer_types);
    if let Some(names) = value(&field)? {
        return listed(reader, &field, names, n_layers);
    }
    reader.assume("layer_types", Word("by the rule of the family"));
    Ok((0..n_layers).map(rule).collect())
}

fn listed(
    reader: &Reader<'_>,
    field: &Named<'_, Vec<String>>,
    names: &[String],
    n_layers: u64,
) -> Result<Vec<Kind>, ConfigError> {
    let entries = names.len() as u64;
    // Some lists go on with the layers that draft further tokens.
    let drafts = reader.text.draft_layers().entry.value().copied().unwrap_or(0);
    if entries != n_layers && entries != n_layers + drafts {
        return Err(ConfigError::ListLength { field: field.name, entries, layers: n_layers });
    }
    let names = names.get(..usize::try_from(n_layers).unwrap_or(0)).unwrap_or(names);
    let kind = |name: &String| match &**name {
        "full_attention"
        | "attention"
        | "indexed_attention"
        | "deepseek_sparse_attention"
        | "qwen_sparse_attention" => Some(Kind::Full),
        "sliding_attention" => Some(Kind::Sliding),
        "chunked_attention" => Some(Kind::Chunked),
        "linear_attention" | "mamba" => Some(Kind::Recurrent),
        "conv" => Some(Kind::Convolution),
        _ => None,
    };
    let kinds: Option<Vec<Kind>> = names.iter().map(kind).collect();
    kinds.ok_or_else(|| unsupported(reader, Unsupported::HybridLayers))
}

/// The kind of each layer: `layer_types`, or full attention in the layers of another list and one other kind elsewhere.
pub(super) fn kinds_by_list(
    reader: &mut Reader<'_>,
    n_layers: u64,
    list: &Named<'_, Vec<u64>>,
    (absent, other): (Kind, Kind),
) -> Result<Vec<Kind>, ConfigError> {
    if reader.text.layer_types.is_given() {
        return kinds(reader, n_layers, |_| absent);
    }
    let full = value(list)?;
    if full.is_none() {
        let every = if absent == Kind::Full { "all layers" } else { "no layer" };
        reader.assume(list.name, Word(every));
    }
    let is_full = |i: u64| full.map_or(absent == Kind::Full, |layers| layers.contains(&i));
    Ok((0..n_layers).map(|i| if is_full(i) { Kind::Full } else { other }).collect())
}

/// Number of layers of a kind.
pub(super) fn count(kinds: &[Kind], kind: Kind) -> u64 {
    kinds.iter().filter(|other| **other == kind).count() as u64
}

/// Refuses kinds of layers that a family does not have, and keeps the order of the others.
pub(super) fn only(
    reader: &mut Reader<'_>,
    kinds: &[Kind],
    allowed: &[Kind],
) -> Result<(), ConfigError> {
    if kinds.iter().all(|kind| allowed.contains(kind)) {
        reader.order.mixers = kinds.to_vec();
        Ok(())
    } else {
        Err(unsupported(reader, Unsupported::HybridLayers))
    }
}

/// Reads a count by its name, with a default.
pub(super) fn count_of(
    reader: &mut Reader<'_>,
    name: &'static str,
    entry: &Entry<u64>,
    default: u64,
) -> Result<u64, ConfigError> {
    let field = reader.text.named(name, entry);
    reader.count_or(&field, default)
}

/// Reads a flag by its name, with a default.
pub(super) fn flag_of(
    reader: &mut Reader<'_>,
    name: &'static str,
    entry: &Entry<bool>,
    default: bool,
) -> Result<bool, ConfigError> {
    let field = reader.text.named(name, entry);
    reader.flag_or(&field, default)
}
