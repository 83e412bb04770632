//! Layers that differ from each other: the kind of each layer, and the groups that the families build from them.
//! Rules are those of transformers 5.23.0.

/// Reads a count of the language model under the name of its field, with a default.
macro_rules! count {
    ($reader:ident, $field:ident, $default:expr) => {{
        let text = $reader.text;
        $reader.count_or(&text.named(stringify!($field), &text.$field), $default)
    }};
}

/// Reads a flag of the language model under the name of its field, with a default.
macro_rules! flag {
    ($reader:ident, $field:ident, $default:expr) => {{
        let text = $reader.text;
        $reader.flag_or(&text.named(stringify!($field), &text.$field), $default)
    }};
}

/// A field with its name, marked as read.
macro_rules! named {
    ($config:expr, $field:ident) => {
        $config.named(stringify!($field), &$config.$field)
    };
}

mod blocks;
mod compressed;
mod differing;
mod early;
mod gemma;
mod heads;
mod hybrid;
mod images;
mod latent;
mod linear;
mod listed;
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
        LayerRule::Arctic => early::arctic,
        LayerRule::Qwen1 => early::qwen1,
        LayerRule::Molmo => early::molmo,
        LayerRule::Step3Text => early::step3_text,
        LayerRule::Afmoe => heads::afmoe,
        LayerRule::Bamba => hybrid::bamba,
        LayerRule::DeepseekSparse => sparse::deepseek_sparse,
        LayerRule::Axk1 => early::axk1,
        LayerRule::Axk2 => latent::axk2,
        LayerRule::BailingHybrid => latent::bailing_hybrid,
        LayerRule::Beam => listed::beam,
        LayerRule::Bloom => early::bloom,
        LayerRule::Cohere2Moe => listed::cohere2_moe,
        LayerRule::Dbrx => early::dbrx,
        LayerRule::DeepseekV4 => compressed::deepseek_v4,
        LayerRule::DiffLlama => early::diffllama,
        LayerRule::Doge => early::doge,
        LayerRule::Dots3Note => latent::dots3_note,
        LayerRule::ErnieVl => images::ernie_vl,
        LayerRule::Flint => listed::flint,
        LayerRule::Glm5Next => latent::glm5_next,
        LayerRule::HyV4 => latent::hy_v4,
        LayerRule::Kolibri => listed::kolibri,
        LayerRule::Laguna => listed::laguna,
        LayerRule::Lfm3 => listed::lfm3,
        LayerRule::Mellum => listed::mellum,
        LayerRule::MistralLarge4 => latent::mistral_large4,
        LayerRule::Mllama => images::mllama,
        LayerRule::ModernBert => listed::modernbert,
        LayerRule::Mpt => early::mpt,
        LayerRule::MuseSpark => listed::muse_spark,
        LayerRule::OlmoHybrid => linear::olmo_hybrid,
        LayerRule::Persimmon => early::persimmon,
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
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let mut other_vectors = frame.n_layers * rules.layer_vectors;
    if rules.inner_norms {
        let widths: u64 = feed_forward.dense.iter().map(|group| group.layers * group.width).sum();
        other_vectors += widths + frame.n_layers * attention.n_heads * attention.v_head_dim;
    }
    Ok(Layers { other_vectors, ..Layers::of(alloc::vec![attention], feed_forward) })
}

/// Families with a window in some layers.
pub(super) const FULL_OR_SLIDING: &[Kind] = &[Kind::Full, Kind::Sliding];
/// Families with a state in place of a cache in some layers.
pub(super) const FULL_OR_RECURRENT: &[Kind] = &[Kind::Full, Kind::Recurrent];

/// Reads the kind of each layer: `layer_types`, or the family's rule where the file has no such list. Kinds that the family does
/// not have are refused.
pub(super) fn kinds(
    reader: &mut Reader<'_>,
    n_layers: u64,
    allowed: &[Kind],
    rule: impl Fn(u64) -> Kind,
) -> Result<Vec<Kind>, ConfigError> {
    let field = named!(reader.text, layer_types);
    let kinds = if let Some(names) = value(&field)? {
        listed(reader, &field, names, n_layers)?
    } else {
        reader.assume(field.name, Word("by the rule of the family"));
        (0..n_layers).map(rule).collect()
    };
    if !kinds.iter().all(|kind| allowed.contains(kind)) {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    }
    reader.order.mixers.clone_from(&kinds);
    Ok(kinds)
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
        "sliding_attention" | "window_attention" => Some(Kind::Sliding),
        "chunked_attention" => Some(Kind::Chunked),
        "linear_attention" | "mamba" => Some(Kind::Recurrent),
        "conv" => Some(Kind::Convolution),
        _ => None,
    };
    let kinds: Option<Vec<Kind>> = names.iter().map(kind).collect();
    kinds.ok_or_else(|| unsupported(reader, Unsupported::HybridLayers))
}

/// Refuses a list of kinds with any other than full attention.
pub(super) fn all_full(reader: &mut Reader<'_>, n_layers: u64) -> Result<(), ConfigError> {
    kinds(reader, n_layers, &[Kind::Full], |_| Kind::Full).map(|_| ())
}

/// Kinds of layers where a list names those with full attention.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside {
    /// Kind of all layers of a file without the list.
    pub(super) absent: Kind,
    /// Kind of the layers that are not in the list.
    pub(super) other: Kind,
}

/// Reads the kind of each layer: `layer_types`, or full attention in the layers of another list and one other kind elsewhere.
pub(super) fn kinds_by_list(
    reader: &mut Reader<'_>,
    n_layers: u64,
    list: &Named<'_, Vec<u64>>,
    beside: Beside,
) -> Result<Vec<Kind>, ConfigError> {
    let Beside { absent, other } = beside;
    if reader.text.layer_types.is_given() {
        return kinds(reader, n_layers, &[Kind::Full, other], |_| absent);
    }
    let full = value(list)?;
    if full.is_none() {
        let every = if absent == Kind::Full { "all layers" } else { "no layer" };
        reader.assume(list.name, Word(every));
    }
    let is_full = |i: u64| full.map_or(absent == Kind::Full, |layers| layers.contains(&i));
    let kinds: Vec<Kind> =
        (0..n_layers).map(|i| if is_full(i) { Kind::Full } else { other }).collect();
    reader.order.mixers.clone_from(&kinds);
    Ok(kinds)
}

/// Places full and sliding layers; the window is read where a layer has one.
pub(super) fn placed(
    reader: &mut Reader<'_>,
    kinds: &[Kind],
    heads: Attention,
    default: u64,
) -> Result<Attention, ConfigError> {
    let windowed_layers = count(kinds, Kind::Sliding);
    if windowed_layers == 0 {
        reader.text.settle(&["sliding_window", "sliding_window_pattern", "use_sliding_window"]);
        return Ok(Attention { full_layers: count(kinds, Kind::Full), ..heads });
    }
    let window = attention::window(reader, Some(default))?
        .ok_or(ConfigError::Missing { field: "sliding_window" })?;
    Ok(Attention { full_layers: count(kinds, Kind::Full), windowed_layers, window, ..heads })
}

/// Number of layers of a kind.
pub(super) fn count(kinds: &[Kind], kind: Kind) -> u64 {
    kinds.iter().filter(|other| **other == kind).count() as u64
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
