//! Mamba between, beside or instead of attention.

use alloc::vec;
use alloc::vec::Vec;

use super::super::attention::{self, Frame, unsupported};
use super::super::entry::{Entry, Found};
use super::super::feed_forward::{self, FeedForward};
use super::super::fields::{HfConfig, Named};
use super::super::reader::Reader;
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::{Beside, FULL_OR_RECURRENT, Kind, Layers, NormCount, count, kinds, kinds_by_list};
use crate::error::in_range;
use crate::model_arch::{
    Attention, DenseLayers, MAX_COUNT, MAX_HEAD, Mamba1, Mamba2, Moe, Recurrent,
};

/// Length of the pieces in which a kernel scans a prompt: without effect on memory.
const CHUNK_FIELDS: [&str; 2] = ["chunk_size", "mamba_chunk_size"];

/// Defaults of Mamba-2's sizes in a family.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mamba2Defaults {
    pub(super) heads: u64,
    pub(super) state: u64,
    pub(super) groups: u64,
    pub(super) kernel: u64,
}

/// Sizes of Mamba-2; `inner` is the inner width where the family states it apart.
pub(super) fn mamba2_sizes(
    reader: &mut Reader<'_>,
    defaults: Mamba2Defaults,
    inner: Option<u64>,
) -> Result<Mamba2, ConfigError> {
    let text = reader.text;
    text.settle(&CHUNK_FIELDS);
    let n_heads = reader.count_or(&text.mamba_heads(), defaults.heads)?;
    let n_heads = in_range("mamba_n_heads", n_heads, 1, MAX_COUNT).map_err(ConfigError::Value)?;
    let head_dim = match (number_or_auto(&text.mamba_head_size())?, inner) {
        (Some(head_dim), _) => head_dim,
        (None, Some(inner)) => inner / n_heads,
        (None, None) => reader.count_or(&text.mamba_head_size(), 64)?,
    };
    if flag_of_bias(reader, "mamba_proj_bias", &text.mamba_proj_bias)? {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    }
    let bias = text.mamba_bias();
    Ok(Mamba2 {
        n_heads,
        head_dim,
        state: reader.count_or(&text.mamba_state(), defaults.state)?,
        n_groups: reader.count_or(&text.mamba_groups(), defaults.groups)?,
        conv_kernel: reader.count_or(&text.mamba_kernel(), defaults.kernel)?,
        conv_bias: reader.flag_or(&bias, true)?,
        wide_state: wide_state(reader)?,
        ..Mamba2::PLAIN
    })
}

/// True if the file asks for states in FP32.
fn wide_state(reader: &Reader<'_>) -> Result<bool, ConfigError> {
    let field = reader.text.state_type();
    Ok(Reader::text_of(&field)?.is_some_and(|name| name == "float32"))
}

/// Reads a flag that is false when absent; the default is not listed as assumed.
fn flag_of_bias(
    reader: &Reader<'_>,
    name: &'static str,
    entry: &Entry<bool>,
) -> Result<bool, ConfigError> {
    Ok(Reader::flag(&reader.text.named(name, entry))?.unwrap_or(false))
}

/// Reads a count that may be the word `auto`.
fn number_or_auto(field: &Named<'_, u64>) -> Result<Option<u64>, ConfigError> {
    match field.entry {
        Entry::Wrong(Found::Text(word)) if word == "auto" => Ok(None),
        Entry::Absent | Entry::Null | Entry::Value(_) | Entry::Wrong(_) => Reader::count(field),
    }
}

/// The inner width: the expansion of the hidden size.
fn expanded(reader: &mut Reader<'_>, frame: &Frame) -> Result<u64, ConfigError> {
    let expand = reader.count_or(&reader.text.mamba_expansion(), 2)?;
    let expand = in_range("mamba_expand", expand, 1, 64).map_err(ConfigError::Value)?;
    Ok(expand * frame.hidden_size)
}

/// Granite 4: Mamba-2 or attention, and a shared MLP with or without experts in every layer.
pub(super) fn granite_hybrid(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let kinds = kinds(reader, frame.n_layers, FULL_OR_RECURRENT, |_| Kind::Recurrent)?;
    let defaults = Mamba2Defaults { heads: 128, state: 256, groups: 1, kernel: 4 };
    let mut layers = mixers(reader, rules, frame, (&kinds, defaults))?;
    let width = reader.text.shared_width();
    let width = reader.count_or(&width, 1024)?;
    let moe = match &rules.experts {
        Some(rule) => feed_forward::mixture(reader, rule, frame.n_layers)?,
        None => None,
    };
    // Without experts the shared MLP alone remains.
    let dense = DenseLayers { layers: frame.n_layers, width };
    let dense = Some(dense).filter(|_| moe.is_none()).into_iter().collect();
    reader.text.settle(&["intermediate_size", "num_experts_per_tok"]);
    layers.feed_forward = FeedForward { dense, bias: false, moe: moe.into_iter().collect() };
    Ok(layers)
}

/// Bamba: attention in the listed layers, Mamba-2 elsewhere, an MLP in every layer.
pub(super) fn bamba(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let list = named!(text, attn_layer_indices);
    let kinds = kinds_by_list(
        reader,
        frame.n_layers,
        &list,
        Beside { absent: Kind::Recurrent, other: Kind::Recurrent },
    )?;
    let defaults = Mamba2Defaults { heads: 128, state: 256, groups: 1, kernel: 4 };
    let mut layers = mixers(reader, rules, frame, (&kinds, defaults))?;
    layers.feed_forward = feed_forward::read(reader, rules, frame)?;
    Ok(layers)
}

/// Attention and Mamba-2 by the kind of each layer, without MLPs.
fn mixers(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
    (kinds, defaults): (&[Kind], Mamba2Defaults),
) -> Result<Layers, ConfigError> {
    let heads = attention::heads(reader, rules, frame)?;
    let full = Attention { full_layers: count(kinds, Kind::Full), ..heads };
    let inner = expanded(reader, frame)?;
    let group = mamba2_sizes(reader, defaults, Some(inner))?;
    let group = Mamba2 { layers: count(kinds, Kind::Recurrent), ..group };
    let recurrent =
        Some(Recurrent::Mamba2(group)).filter(|group| group.layers() > 0).into_iter().collect();
    let attention = Some(full).filter(|group| group.layers() > 0).into_iter().collect();
    let feed_forward = FeedForward { dense: Vec::new(), bias: false, moe: Vec::new() };
    Ok(Layers { recurrent, ..Layers::of(attention, feed_forward) })
}

/// Falcon-H1: attention and Mamba-2 side by side in every layer.
pub(super) fn falcon_h1(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let field = named!(text, mamba_d_ssm);
    // `null` means the expanded hidden size.
    let stated = match field.entry {
        Entry::Absent => Some(reader.count_or(&field, 1024)?),
        Entry::Null | Entry::Value(_) | Entry::Wrong(_) => Reader::count(&field)?,
    };
    let inner = match stated {
        Some(inner) => {
            text.settle(&["mamba_expand"]);
            inner
        }
        None => expanded(reader, frame)?,
    };
    let heads = attention::heads(reader, rules, frame)?;
    let full = Attention { full_layers: frame.n_layers, ..heads };
    let defaults = Mamba2Defaults { heads: 128, state: 256, groups: 1, kernel: 4 };
    let group = mamba2_sizes(reader, defaults, Some(inner))?;
    let gated_norm = flag!(reader, mamba_rms_norm, false)?;
    let group = Mamba2 { layers: frame.n_layers, gated_norm, ..group };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let recurrent = vec![Recurrent::Mamba2(group)];
    Ok(Layers { recurrent, ..Layers::of(vec![full], feed_forward) })
}

/// Jamba: attention and experts in every n-th layer, Mamba-1 elsewhere.
pub(super) fn jamba(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let period = count!(reader, attn_layer_period, 8)?;
    let offset = count!(reader, attn_layer_offset, 4)?;
    let full = placed(n, period, offset);
    let full_layers = number(&full);
    let kind = |is_full: &bool| if *is_full { Kind::Full } else { Kind::Recurrent };
    reader.order.mixers = full.iter().map(kind).collect();
    let period = count!(reader, expert_layer_period, 2)?;
    let offset = count!(reader, expert_layer_offset, 1)?;
    let with_experts = placed(n, period, offset);
    let heads = attention::heads(reader, rules, frame)?;
    let inner = expanded(reader, frame)?;
    let rank = number_or_auto(&text.dt_rank())?.unwrap_or(frame.hidden_size.div_ceil(16));
    let bias = text.mamba_bias();
    let group = Mamba1 {
        layers: n - full_layers,
        inner,
        state: reader.count_or(&text.mamba_state(), 16)?,
        dt_rank: in_range("mamba_dt_rank", rank, 1, MAX_HEAD).map_err(ConfigError::Value)?,
        conv_kernel: reader.count_or(&text.mamba_kernel(), 4)?,
        norms: true,
        conv_bias: reader.flag_or(&bias, true)?,
        wide_state: wide_state(reader)?,
    };
    if flag_of_bias(reader, "mamba_proj_bias", &text.mamba_proj_bias)? {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    }
    let width = reader.size(HfConfig::width, |sizes| sizes.ffn_size)?;
    let (experts, used) = (text.experts(), text.experts_used());
    let n_experts = reader.count_or(&experts, 16)?;
    let sparse = if n_experts > 1 { number(&with_experts) } else { 0 };
    reader.order.experts = with_experts;
    let moe = Moe {
        layers: sparse,
        n_experts,
        experts_per_token: reader.count_or(&used, 2)?,
        expert_width: width,
        ..Moe::PLAIN
    };
    let feed_forward = FeedForward {
        dense: vec![DenseLayers { layers: n - sparse, width }],
        bias: false,
        moe: Some(moe).filter(|moe| moe.layers > 0).into_iter().collect(),
    };
    let full = Attention { full_layers, ..heads };
    let recurrent = vec![Recurrent::Mamba1(group)];
    Ok(Layers { recurrent, ..Layers::of(vec![full], feed_forward) })
}

/// The layers i of n with i % period = offset.
fn placed(n: u64, period: u64, offset: u64) -> Vec<bool> {
    feed_forward::each(n, |i| i.checked_rem(period) == Some(offset))
}

fn number(flags: &[bool]) -> u64 {
    flags.iter().filter(|flag| **flag).count() as u64
}

/// Mamba: layers of Mamba-1 alone.
pub(super) fn mamba1_alone(
    reader: &mut Reader<'_>,
    _: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let inner = match Reader::count(&named!(text, intermediate_size))? {
        Some(inner) => {
            text.settle(&["expand"]);
            inner
        }
        None => expanded(reader, frame)?,
    };
    let rank = number_or_auto(&text.dt_rank())?.unwrap_or(frame.hidden_size.div_ceil(16));
    let bias = text.mamba_bias();
    let group = Mamba1 {
        layers: frame.n_layers,
        inner,
        state: reader.count_or(&text.mamba_state(), 16)?,
        dt_rank: in_range("time_step_rank", rank, 1, MAX_HEAD).map_err(ConfigError::Value)?,
        conv_kernel: reader.count_or(&text.mamba_kernel(), 4)?,
        norms: false,
        conv_bias: reader.flag_or(&bias, true)?,
        wide_state: wide_state(reader)?,
    };
    alone(reader, frame, Recurrent::Mamba1(group))
}

/// Mamba-2: layers of Mamba-2 alone.
pub(super) fn mamba2_alone(
    reader: &mut Reader<'_>,
    _: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    text.settle(&CHUNK_FIELDS);
    let inner = expanded(reader, frame)?;
    let heads = text.heads();
    let n_heads = reader.count_or(&heads, 128)?;
    let size = text.head_size();
    let head_dim = reader.count_or(&size, 64)?;
    if n_heads * head_dim != inner {
        return Err(unsupported(reader, Unsupported::IrregularLayers));
    }
    let bias = text.mamba_bias();
    let group = Mamba2 {
        layers: frame.n_layers,
        n_heads,
        head_dim,
        state: reader.count_or(&text.mamba_state(), 128)?,
        n_groups: reader.count_or(&text.mamba_groups(), 8)?,
        conv_kernel: reader.count_or(&text.mamba_kernel(), 4)?,
        conv_bias: reader.flag_or(&bias, true)?,
        wide_state: wide_state(reader)?,
        ..Mamba2::PLAIN
    };
    alone(reader, frame, Recurrent::Mamba2(group))
}

fn alone(reader: &Reader<'_>, frame: &Frame, group: Recurrent) -> Result<Layers, ConfigError> {
    if flag_of_bias(reader, "use_bias", &reader.text.use_bias)? {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    }
    let feed_forward = FeedForward { dense: Vec::new(), bias: false, moe: Vec::new() };
    let norms = NormCount::Total { add: frame.n_layers, post: 0 };
    Ok(Layers { recurrent: vec![group], norms, ..Layers::of(Vec::new(), feed_forward) })
}
