//! Attention to a window and to entries that stand for several tokens, and residual streams that layers mix.

use alloc::vec::Vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame, unsupported};
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::{Layers, count_of};
use crate::error::in_range;
use crate::model_arch::{
    Attention, Compression, GroupedOutput, Indexer, KvSource, LayerGroup, LayerPart, MAX_HEAD, Moe,
    Projection, Table,
};

/// Upper limit of the residual streams.
const MOST_STREAMS: u64 = 64;

/// Entries that a layer attends to beside its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// The best of the entries, for few tokens each.
    Selected,
    /// All entries, for many tokens each.
    All,
}

/// Numbers of tokens per entry.
#[derive(Debug, Clone, Copy)]
struct Ratios {
    selected: u64,
    all: u64,
}

/// DeepSeek V4: windows, entries beside them, queries and output of low rank, residual streams, hash-routed experts.
pub(super) fn deepseek_v4(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    // The rotary part of a head does not change its size.
    text.settle(&["qk_rope_head_dim"]);
    let ratios = ratios(reader)?;
    let layers = beside(reader, n, ratios)?;
    let base = windowed(reader, rules, frame)?;
    let compression = |ratio, overlaps| Some(Compression { ratio, overlaps, keeps_tokens: false });
    let selected = compression(ratios.selected, true);
    let indexer = Indexer {
        layers: of(&layers, Beside::Selected),
        n_heads: count_of(reader, "index_n_heads", &text.index_n_heads, rules.index_heads)?,
        head_dim: count_of(reader, "index_head_dim", &text.index_head_dim, 128)?,
        query_inputs: base.query_rank,
        top_k: count_of(reader, "index_topk", &text.index_topk, 512)?,
        weighs_heads: true,
        compression: selected,
    };
    let group = |beside| Attention { windowed_layers: of(&layers, beside), ..base };
    let mut attention = alloc::vec![
        group(Beside::Nothing),
        Attention { compression: selected, indexer: Some(indexer), ..group(Beside::Selected) },
        Attention { compression: compression(ratios.all, false), ..group(Beside::All) },
    ];
    attention.retain(|group| group.layers() > 0);
    reader.order.parts = ordered(&layers);
    let (feed_forward, hashed) = experts(reader, rules, frame)?;
    let mut layers = Layers::of(attention, feed_forward);
    layers.tables.extend(hashed);
    let count = streams(reader)?;
    let mix = Streams { count, outputs: (2 + count) * count, scales: 3, weighed_at_end: true };
    residual_streams(&mut layers, frame, mix);
    Ok(layers)
}

/// The attention of each layer. Kinds that no layer has are no group.
fn ordered(layers: &[Beside]) -> Vec<Vec<LayerPart>> {
    let mut kinds = Vec::from([Beside::Nothing, Beside::Selected, Beside::All]);
    kinds.retain(|kind| layers.contains(kind));
    let index = |beside: &Beside| kinds.iter().position(|kind| kind == beside).unwrap_or(0);
    let attention =
        |beside| LayerPart { group: LayerGroup::Attention(index(beside)), windowed: true };
    layers.iter().map(|beside| Vec::from([attention(beside)])).collect()
}

/// Heads, window, and the projections of low rank.
fn windowed(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Attention, ConfigError> {
    let text = reader.text;
    let heads = attention::heads(reader, rules, frame)?;
    let rank = count_of(reader, "q_lora_rank", &text.q_lora_rank, 1024)?;
    let groups = count_of(reader, "o_groups", &text.o_groups, 8)?;
    let output_rank = count_of(reader, "o_lora_rank", &text.o_lora_rank, 1024)?;
    Ok(Attention {
        window: attention::window(reader, Some(128))?
            .ok_or(ConfigError::Missing { field: "sliding_window" })?,
        kv_source: KvSource::OneVector,
        query_rank: in_range("q_lora_rank", rank, 1, MAX_HEAD).map_err(ConfigError::Value)?,
        output: Some(GroupedOutput { groups, rank: output_rank }),
        ..heads
    })
}

fn ratios(reader: &mut Reader<'_>) -> Result<Ratios, ConfigError> {
    let text = reader.text;
    let field = text.named("compress_rates", &text.compress_rates);
    let (selected, all) = match value(&field)? {
        Some(rates) => {
            let stated = |name, entry| Reader::count(&text.named(name, entry));
            (
                stated("compressed_sparse_attention", &rates.compressed_sparse_attention)?,
                stated("heavily_compressed_attention", &rates.heavily_compressed_attention)?,
            )
        }
        // A list of ratios states the numbers themselves.
        None if text.compress_ratios.is_given() => (None, None),
        None => {
            reader.assume("compress_rates", Word("4 and 128 tokens per entry"));
            (None, None)
        }
    };
    let read = |ratio: Option<u64>, default| {
        in_range("compress_rates", ratio.unwrap_or(default), 1, MAX_HEAD)
            .map_err(ConfigError::Value)
    };
    Ok(Ratios { selected: read(selected, 4)?, all: read(all, 128)? })
}

/// Entries that each layer attends to: by `layer_types`, by the tokens per entry of each layer, or by the rule of the family.
fn beside(reader: &mut Reader<'_>, n: u64, ratios: Ratios) -> Result<Vec<Beside>, ConfigError> {
    let text = reader.text;
    let kinds = text.named("layer_types", &text.layer_types);
    let listed = text.named("compress_ratios", &text.compress_ratios);
    let found: Option<Vec<Option<Beside>>> = match (value(&kinds)?, value(&listed)?) {
        (Some(kinds), _) => Some(kinds.iter().map(|kind| named(kind)).collect()),
        (None, Some(list)) => Some(list.iter().map(|&ratio| with_ratio(ratio, ratios)).collect()),
        (None, None) => None,
    };
    let Some(found) = found else {
        reader.assume("compress_ratios", Word("two layers with all entries, then in turn"));
        let rule = |i| if i >= 2 && i % 2 == 1 { Beside::Selected } else { Beside::All };
        return Ok((0..n).map(rule).collect());
    };
    // Lists go on with the layer that drafts further tokens.
    let entries = found.len() as u64;
    let drafts = text.draft_layers().entry.value().copied().unwrap_or(0);
    if entries != n && entries != n + drafts {
        let field = if text.layer_types.is_given() { kinds.name } else { listed.name };
        return Err(ConfigError::ListLength { field, entries, layers: n });
    }
    let layers = found.into_iter().take(usize::try_from(n).unwrap_or(0));
    let known: Option<Vec<Beside>> = layers.collect();
    known.ok_or_else(|| unsupported(reader, Unsupported::SparseAttention))
}

fn named(kind: &str) -> Option<Beside> {
    match kind {
        "sliding_attention" => Some(Beside::Nothing),
        "compressed_sparse_attention" => Some(Beside::Selected),
        "heavily_compressed_attention" => Some(Beside::All),
        _ => None,
    }
}

fn with_ratio(ratio: u64, ratios: Ratios) -> Option<Beside> {
    match ratio {
        0 => Some(Beside::Nothing),
        _ if ratio == ratios.selected => Some(Beside::Selected),
        _ if ratio == ratios.all => Some(Beside::All),
        _ => None,
    }
}

fn of(layers: &[Beside], beside: Beside) -> u64 {
    layers.iter().filter(|other| **other == beside).count() as u64
}

/// Experts in all layers. The first layers choose them by a table of tokens, which has no correction bias.
fn experts(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<(FeedForward, Option<Table>), ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = value(&text.named("mlp_layer_types", &text.mlp_layer_types))?;
    let hashed = match kinds {
        Some(kinds) => kinds.iter().filter(|kind| *kind == "hash_moe").count() as u64,
        None => count_of(reader, "num_hash_layers", &text.num_hash_layers, 3.min(n))?,
    };
    let hashed = in_range("num_hash_layers", hashed, 0, n).map_err(ConfigError::Value)?;
    let mut feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    let all = core::mem::take(&mut feed_forward.moe);
    let chosen = all.first().map_or(0, |moe| moe.experts_per_token);
    for moe in all {
        let first = Moe { layers: hashed, correction_bias: false, ..moe };
        feed_forward.moe.extend([first, Moe { layers: moe.layers - hashed, ..moe }]);
    }
    feed_forward.moe.retain(|moe| moe.layers > 0);
    for (layer, parts) in reader.order.parts.iter_mut().enumerate() {
        let is_hashed = match kinds.and_then(|kinds| kinds.get(layer)) {
            Some(kind) => kind == "hash_moe",
            None => (layer as u64) < hashed,
        };
        let group = usize::from(!is_hashed && hashed > 0);
        parts.push(LayerPart::of(LayerGroup::Experts(group)));
    }
    let table = Table { rows: frame.vocab_size, cols: hashed * chosen, is_split: false };
    Ok((feed_forward, (table.cols > 0).then_some(table)))
}

/// A mix of residual streams before attention and MLP of each layer: a matrix over all streams, with biases and scales.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    pub(super) count: u64,
    /// Number of outputs of a mix, each with a bias.
    pub(super) outputs: u64,
    pub(super) scales: u64,
    /// A matrix of its own weighs the streams at the end.
    pub(super) weighed_at_end: bool,
}

/// Reads the number of residual streams.
pub(super) fn streams(reader: &mut Reader<'_>) -> Result<u64, ConfigError> {
    let count = count_of(reader, "hc_mult", &reader.text.hc_mult, 4)?;
    in_range("hc_mult", count, 1, MOST_STREAMS).map_err(ConfigError::Value)
}

/// Adds the matrices and vectors that mix residual streams.
pub(super) fn residual_streams(layers: &mut Layers, frame: &Frame, streams: Streams) {
    let (mixes, cols) = (2 * frame.n_layers, streams.count * frame.hidden_size);
    layers.projections.push(Projection {
        count: mixes,
        rows: streams.outputs,
        cols,
        streams: streams.count,
        ..Projection::PLAIN
    });
    layers.other_vectors += mixes * (streams.outputs + streams.scales);
    if streams.weighed_at_end {
        layers.projections.push(Projection {
            count: 1,
            rows: streams.count,
            cols,
            ..Projection::PLAIN
        });
        layers.other_vectors += streams.count + 1;
    }
}
