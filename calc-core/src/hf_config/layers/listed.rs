//! Layers whose windows follow a list or a rule of the family, with gates, and with heads of their own.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame, unsupported};
use super::super::entry::{Entry, Found};
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::{DenseWhere, Experts, Rules};
use super::{Kind, Layers, NormCount, count, count_of, flag_of, kinds, only, placed};
use crate::model_arch::{Attention, Projection, Recurrent, ShortConv};

/// Defaults of a family: the kind of layer i of n, and the window.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    kind: fn(u64, u64) -> Kind,
    window: u64,
}

const fn full_if(is_full: bool) -> Kind {
    if is_full { Kind::Full } else { Kind::Sliding }
}

/// Attention with the same heads in all layers.
fn attention_by(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
    pattern: Pattern,
) -> Result<Attention, ConfigError> {
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |i| (pattern.kind)(i, n))?;
    let heads = attention::heads(reader, rules, frame)?;
    placed(reader, &kinds, heads, pattern.window)
}

fn mlps(reader: &mut Reader<'_>, rules: &Rules, frame: &Frame) -> Result<FeedForward, ConfigError> {
    feed_forward::read(reader, rules, frame.hidden_size, frame.n_layers)
}

/// The decoder of `ModernBERT`: half of `local_attention` is the window; the head has a matrix and a norm of its own.
pub(super) fn modernbert(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let name = "global_attn_every_n_layers";
    // The class derives it from `local_attention`.
    text.settle(&["sliding_window"]);
    let (n, hidden) = (frame.n_layers, frame.hidden_size);
    let every = if text.layer_types.is_given() {
        text.settle(&[name]);
        3
    } else {
        count_of(reader, name, &text.global_attn_every_n_layers, 3)?
    };
    let kinds = kinds(reader, n, |i| full_if(i.checked_rem(every) == Some(0)))?;
    only(reader, &kinds, &[Kind::Full, Kind::Sliding])?;
    if flag_of(reader, "norm_bias", &text.norm_bias, false)? {
        return Err(unsupported(reader, Unsupported::OwnBlocks));
    }
    let heads = attention::heads(reader, rules, frame)?;
    let attention = Attention {
        full_layers: count(&kinds, Kind::Full),
        windowed_layers: count(&kinds, Kind::Sliding),
        window: count_of(reader, "local_attention", &text.local_attention, 128)? / 2,
        ..heads
    };
    // Norms after the embedding and in the head; none precedes the first attention.
    let norms = NormCount::Total { add: 2 * n - 1, post: 2 };
    let layers = Layers::of(vec![attention], mlps(reader, rules, frame)?);
    let projections =
        vec![Projection { count: 1, rows: hidden, cols: hidden, ..Projection::PLAIN }];
    Ok(Layers { projections, norms, ..layers })
}

/// Mellum: full layers unless the file lists others.
pub(super) fn mellum(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let pattern = Pattern { kind: |_, _| Kind::Full, window: 1024 };
    let attention = attention_by(reader, rules, frame, pattern)?;
    Ok(Layers::of(vec![attention], mlps(reader, rules, frame)?))
}

/// Kolibri: every fifth layer is full.
pub(super) fn kolibri(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let pattern = Pattern { kind: |i, _| full_if((i + 1).is_multiple_of(5)), window: 513 };
    let attention = attention_by(reader, rules, frame, pattern)?;
    Ok(Layers::of(vec![attention], mlps(reader, rules, frame)?))
}

/// Flint: sinks; full layers at the ends and in every fourth; the first two layers are dense.
pub(super) fn flint(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let kind = |i, n| full_if(i < 2 || i % 4 == 1 || i + 1 == n);
    let attention = attention_by(reader, rules, frame, Pattern { kind, window: 513 })?;
    let dense = match reader.text.mlp_only_layers {
        Entry::Absent | Entry::Null => DenseWhere::First(2),
        Entry::Value(_) | Entry::Wrong(_) => DenseWhere::Listed,
    };
    let experts = rules.experts.map(|experts| Experts { dense, ..experts });
    let rules = Rules { experts, ..*rules };
    Ok(Layers::of(vec![attention], mlps(reader, &rules, frame)?))
}

/// Beam: a gate per output with a bias per head; every sixth layer and the last are full.
pub(super) fn beam(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let kind = |i: u64, n| full_if((i + 1).is_multiple_of(6) || i + 1 == n);
    let mut attention = attention_by(reader, rules, frame, Pattern { kind, window: 512 })?;
    attention.gate_outputs = attention.n_heads * attention.head_dim;
    let other_vectors = frame.n_layers * attention.n_heads;
    Ok(Layers { other_vectors, ..Layers::of(vec![attention], mlps(reader, rules, frame)?) })
}

/// Muse Spark: a gate per output, experts in a width of their own with two norms, gated residuals, three norms per layer.
pub(super) fn muse_spark(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kind = |i: u64, n| full_if((i + 1).is_multiple_of(4) || i + 1 == n);
    let mut attention = attention_by(reader, rules, frame, Pattern { kind, window: 2048 })?;
    attention.gate_outputs = attention.n_heads * attention.head_dim;
    let width = count_of(reader, "moe_hidden_size", &text.moe_hidden_size, 4096)?;
    let mut feed_forward = mlps(reader, rules, frame)?;
    let mut other_vectors = 2 * n * frame.hidden_size;
    for moe in &mut feed_forward.moe {
        moe.latent = Some(width);
        other_vectors += 2 * moe.layers * width;
    }
    let norms = NormCount::Total { add: 2 * n, post: n };
    Ok(Layers { other_vectors, norms, ..Layers::of(vec![attention], feed_forward) })
}

/// Command A MoE: the first layers have a pattern of their own, and dense MLPs.
pub(super) fn cohere2_moe(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let first = text.first_k_dense_replace.value().copied().unwrap_or(0);
    let name = "prefix_dense_sliding_window_pattern";
    // Lists of kinds replace the patterns.
    let (prefix, every) = if text.layer_types.is_given() {
        text.settle(&[name, "sliding_window_pattern", "_sliding_window_pattern"]);
        (1, 4)
    } else {
        let prefix = count_of(reader, name, &text.prefix_dense_sliding_window_pattern, 1)?;
        (prefix, reader.count_or(&text.window_pattern(), 4)?)
    };
    let is_full = |i: u64, every: u64| (i + 1).checked_rem(every) == Some(0);
    let kinds = kinds(reader, frame.n_layers, |i| {
        full_if(if i < first { is_full(i, prefix) } else { is_full(i - first, every) })
    })?;
    let heads = attention::heads(reader, rules, frame)?;
    let attention = placed(reader, &kinds, heads, 4096)?;
    let mut feed_forward = mlps(reader, rules, frame)?;
    let width = text.named("prefix_dense_intermediate_size", &text.prefix_dense_intermediate_size);
    if let (Some(width), Some(group)) = (Reader::count(&width)?, feed_forward.dense.first_mut()) {
        group.width = width;
    }
    Ok(Layers::of(vec![attention], feed_forward))
}

/// Laguna: heads by layer, with a gate per head or per output.
pub(super) fn laguna(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |_| Kind::Full)?;
    let heads = attention::heads(reader, rules, frame)?;
    let field = text.named("num_attention_heads_per_layer", &text.num_attention_heads_per_layer);
    let each = match value(&field)? {
        Some(list) if list.len() as u64 != n => {
            let entries = list.len() as u64;
            return Err(ConfigError::ListLength { field: field.name, entries, layers: n });
        }
        Some(list) => list.clone(),
        None => {
            reader.assume(field.name, Word("as in all layers"));
            kinds.iter().map(|_| heads.n_heads).collect()
        }
    };
    let per_head = gate_is_per_head(&text.named("gating", &text.gating).entry.clone());
    let mut widths = each.clone();
    widths.sort_unstable();
    widths.dedup();
    let mut attention = Vec::new();
    for n_heads in widths {
        let of = kinds.iter().zip(&each).filter(|(_, heads)| **heads == n_heads);
        let kinds: Vec<Kind> = of.map(|(kind, _)| *kind).collect();
        let gate_outputs = if per_head { n_heads } else { n_heads * heads.head_dim };
        let group = Attention { n_heads, gate_outputs, ..heads };
        attention.push(placed(reader, &kinds, group, 512)?);
    }
    Ok(Layers::of(attention, mlps(reader, rules, frame)?))
}

/// Without the key, and with `true`, each head has a gate; other words and `false` mean one per output.
fn gate_is_per_head(gating: &Entry<String>) -> bool {
    match gating {
        Entry::Absent | Entry::Null | Entry::Wrong(Found::Flag(true)) => true,
        Entry::Value(word) => word == "per-head",
        Entry::Wrong(_) => false,
    }
}

/// LFM3: short convolutions, windows and full attention with a gate per head; norms before and after.
pub(super) fn lfm3(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |i| match i % 4 {
        2 => Kind::Full,
        0 if i > 0 => Kind::Sliding,
        _ => Kind::Convolution,
    })?;
    only(reader, &kinds, &[Kind::Full, Kind::Sliding, Kind::Convolution])?;
    let heads = attention::heads(reader, rules, frame)?;
    let with_attention: Vec<Kind> =
        kinds.iter().copied().filter(|kind| *kind != Kind::Convolution).collect();
    let mut attention = placed(reader, &with_attention, heads, 256)?;
    if flag_of(reader, "use_attention_gate", &text.use_attention_gate, true)? {
        attention.gate_outputs = attention.n_heads;
    }
    let conv = ShortConv {
        layers: count(&kinds, Kind::Convolution),
        channels: frame.hidden_size,
        conv_kernel: count_of(reader, "conv_L_cache", &text.conv_l_cache, 7)?,
        bias: flag_of(reader, "conv_bias", &text.conv_bias, false)?,
    };
    let sandwich = flag_of(reader, "use_sandwich_norm", &text.use_sandwich_norm, true)?;
    let norms = NormCount::Total { add: 2 * n, post: if sandwich { 2 * n } else { 0 } };
    let feed_forward = mlps(reader, rules, frame)?;
    let recurrent =
        Some(Recurrent::ShortConv(conv)).filter(|_| conv.layers > 0).into_iter().collect();
    Ok(Layers { recurrent, norms, ..Layers::of(vec![attention], feed_forward) })
}
