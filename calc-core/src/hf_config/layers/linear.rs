//! Linear attention and short convolutions between layers of full attention.

use alloc::vec;
use alloc::vec::Vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame, unsupported};
use super::super::entry::Entry;
use super::super::feed_forward::{self, FeedForward};
use super::super::part_fields::LinearAttention;
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::{Beside, FULL_OR_RECURRENT, Kind, Layers, count, count_of, kinds, kinds_by_list};
use crate::error::in_range;
use crate::model_arch::{Attention, Decay, DeltaNet, DenseLayers, MAX_COUNT, Recurrent, ShortConv};

/// Qwen3-Next, Qwen3.5 and 3.6: a gated delta net in all but every fourth layer, whose attention has a gate per output.
pub(super) fn qwen_next(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let interval =
        count_of_pattern(reader, "full_attention_interval", &text.full_attention_interval, 4)?;
    let full = |i: u64| if (i + 1).is_multiple_of(interval) { Kind::Full } else { Kind::Recurrent };
    let kinds = kinds(reader, frame.n_layers, FULL_OR_RECURRENT, full)?;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = count(&kinds, Kind::Full);
    attention.gate_outputs = attention.n_heads * attention.head_dim;
    let net = DeltaNet {
        layers: count(&kinds, Kind::Recurrent),
        key_heads: count!(reader, linear_num_key_heads, 16)?,
        value_heads: count!(reader, linear_num_value_heads, 32)?,
        key_dim: count!(reader, linear_key_head_dim, 128)?,
        value_dim: count!(reader, linear_value_head_dim, 128)?,
        conv_kernel: count!(reader, linear_conv_kernel_dim, 4)?,
        decay: Decay::PerHead,
    };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let recurrent = vec![Recurrent::DeltaNet(net)];
    Ok(Layers { recurrent, ..Layers::of(vec![attention], feed_forward) })
}

/// Reads the period of a pattern; a list of kinds replaces it.
fn count_of_pattern(
    reader: &mut Reader<'_>,
    name: &'static str,
    entry: &Entry<u64>,
    default: u64,
) -> Result<u64, ConfigError> {
    let field = reader.text.named(name, entry);
    let listed = reader.text.layer_types.is_given();
    let period = match Reader::count(&field)? {
        Some(period) => period,
        None if listed => default,
        None => reader.count_or(&field, default)?,
    };
    in_range(name, period, 1, MAX_COUNT).map_err(ConfigError::Value)
}

/// Kimi Linear: Kimi delta attention, and latent attention in the listed layers.
pub(super) fn kimi_linear(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    text.settle(&["layer_types", "num_expert_group", "moe_renormalize"]);
    let field = named!(text, linear_attn_config);
    let linear = value(&field)?.map_or_else(LinearAttention::default, |linear| (**linear).clone());
    let named = |name, entry| Reader::count(&text.named(name, entry));
    let full = value(&text.named("full_attn_layers", &linear.full_attn_layers))?;
    if full.is_none() && field.entry.is_given() && !text.layer_types.is_given() {
        return Err(ConfigError::Missing { field: "full_attn_layers" });
    }
    let listed = text.layer_types.is_given() && full.is_none();
    if full.is_none() && !listed {
        reader
            .assume(field.name, Word("every fourth layer from the fifth is full; 32 heads of 128"));
    }
    // The file counts layers from 1.
    let kind = |layer: u64| {
        let is_full = match full {
            Some(list) => list.contains(&layer),
            None => layer > 1 && (layer - 1).is_multiple_of(4),
        };
        if is_full { Kind::Full } else { Kind::Recurrent }
    };
    let kinds: Vec<Kind> = if listed {
        kinds(reader, frame.n_layers, FULL_OR_RECURRENT, |_| Kind::Full)?
    } else {
        (1..=frame.n_layers).map(kind).collect()
    };
    let full_layers = count(&kinds, Kind::Full);
    reader.order.mixers = kinds;
    // The class writes heads, head size and kernel length under names of its own.
    let own_heads = named("linear_num_heads", &text.linear_num_heads)?;
    let own_size = named("linear_head_dim", &text.linear_head_dim)?;
    let own_kernel = named("linear_conv_kernel_dim", &text.linear_conv_kernel_dim)?;
    let heads = named("num_heads", &linear.num_heads)?.or(own_heads).unwrap_or(32);
    let head_dim = named("head_dim", &linear.head_dim)?.or(own_size).unwrap_or(128);
    let full_gate = Reader::flag(&text.named("use_full_rank_gate", &linear.use_full_rank_gate))?;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = full_layers;
    let net = DeltaNet {
        layers: frame.n_layers - full_layers,
        key_heads: heads,
        value_heads: heads,
        key_dim: head_dim,
        value_dim: head_dim,
        conv_kernel: named("short_conv_kernel_size", &linear.short_conv_kernel_size)?
            .or(own_kernel)
            .unwrap_or(4),
        decay: Decay::PerChannel { rank: head_dim, full_gate: full_gate == Some(true) },
    };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let recurrent = vec![Recurrent::DeltaNet(net)];
    let mut layers = Layers { recurrent, ..Layers::of(vec![attention], feed_forward) };
    if full_gate.is_some() || text.attn_res_block_size.is_given() {
        kimi_k3(reader, frame, &mut layers)?;
    }
    Ok(layers)
}

/// Kimi K3: a gate per output of latent attention, experts in a width of their own with a norm, and residuals that weigh earlier
/// blocks of layers.
fn kimi_k3(reader: &mut Reader<'_>, frame: &Frame, layers: &mut Layers) -> Result<(), ConfigError> {
    let text = reader.text;
    let gated = flag!(reader, mla_use_output_gate, true)?;
    for group in layers.attention.iter_mut().filter(|_| gated) {
        group.gate_outputs = group.n_heads * group.v_head_dim;
    }
    let name = "routed_expert_hidden_size";
    let width = Reader::count(&text.named(name, &text.routed_expert_hidden_size))?;
    if width.is_none() {
        reader.assume(name, Word("hidden size"));
    }
    let normed = flag!(reader, latent_moe_use_norm, true)?;
    for moe in &mut layers.feed_forward.moe {
        moe.latent = width;
        layers.other_vectors += if normed { moe.layers * width.unwrap_or(0) } else { 0 };
    }
    // Attention and MLP of each layer, and the output, weigh the blocks by a norm and a projection to one number.
    let name = "attn_res_block_size";
    if count_of(reader, name, &text.attn_res_block_size, 12)? > 0 {
        layers.other_vectors += (2 * frame.n_layers + 1) * 2 * frame.hidden_size;
    }
    // The published decays have an element per channel of a head, not per head.
    for group in &layers.recurrent {
        if let Recurrent::DeltaNet(net) = group {
            layers.other_vectors += net.layers * net.key_dim.saturating_sub(net.value_heads);
        }
    }
    Ok(())
}

/// OLMo Hybrid: a gated delta net in all but every fourth layer, with sizes by those of attention.
pub(super) fn olmo_hybrid(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let full = |i: u64| if (i + 1).is_multiple_of(4) { Kind::Full } else { Kind::Recurrent };
    let kinds = kinds(reader, frame.n_layers, FULL_OR_RECURRENT, full)?;
    let heads = attention::heads(reader, rules, frame)?;
    let attention = Attention { full_layers: count(&kinds, Kind::Full), ..heads };
    let n = heads.n_heads;
    let key_heads = count!(reader, linear_num_key_heads, n)?;
    let key_heads = in_range("linear_num_key_heads", key_heads, 1, MAX_COUNT);
    let key_heads = key_heads.map_err(ConfigError::Value)?;
    // Keys of all heads have three quarters of the hidden size.
    let key_dim = 3 * frame.hidden_size / 4 / key_heads;
    let key_dim = count!(reader, linear_key_head_dim, key_dim)?;
    let net = DeltaNet {
        layers: count(&kinds, Kind::Recurrent),
        key_heads,
        value_heads: count!(reader, linear_num_value_heads, n)?,
        key_dim,
        value_dim: count!(reader, linear_value_head_dim, 2 * key_dim)?,
        conv_kernel: count!(reader, linear_conv_kernel_dim, 4)?,
        decay: Decay::PerHead,
    };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let recurrent = vec![Recurrent::DeltaNet(net)];
    Ok(Layers { recurrent, ..Layers::of(vec![attention], feed_forward) })
}

/// MiniMax-01: lightning attention, and full attention in the layers of `attn_type_list` with 1.
pub(super) fn minimax(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let list = named!(text, attn_type_list);
    let kinds = match Reader::per_layer(&list, frame.n_layers)? {
        Some(list) if !text.layer_types.is_given() => {
            let kind = |entry: &u64| if *entry == 1 { Kind::Full } else { Kind::Recurrent };
            reader.order.mixers = list.iter().map(kind).collect();
            reader.order.mixers.clone()
        }
        _ => kinds(reader, frame.n_layers, FULL_OR_RECURRENT, |i| {
            if (i + 1).is_multiple_of(2) { Kind::Recurrent } else { Kind::Full }
        })?,
    };
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = count(&kinds, Kind::Full);
    let net = DeltaNet {
        layers: count(&kinds, Kind::Recurrent),
        key_heads: attention.n_heads,
        value_heads: attention.n_heads,
        key_dim: attention.head_dim,
        value_dim: attention.head_dim,
        conv_kernel: 0,
        decay: Decay::Constant,
    };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let recurrent = vec![Recurrent::DeltaNet(net)];
    Ok(Layers { recurrent, ..Layers::of(vec![attention], feed_forward) })
}

/// LFM2: a gated short convolution in most layers.
pub(super) fn lfm2(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let stated = feed_forward::read(reader, rules, frame)?;
    let width = adjusted_width(reader, stated.dense.first().map_or(0, |group| group.width))?;
    let dense = vec![DenseLayers { layers: frame.n_layers, width }];
    convolutions(reader, rules, frame, FeedForward { dense, ..stated })
}

/// LFM2-MoE: as LFM2, with experts in all but the first layers.
pub(super) fn lfm2_moe(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    convolutions(reader, rules, frame, feed_forward)
}

fn convolutions(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
    feed_forward: FeedForward,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let list = named!(text, full_attn_idxs);
    let kinds = kinds_by_list(
        reader,
        frame.n_layers,
        &list,
        Beside { absent: Kind::Full, other: Kind::Convolution },
    )?;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = count(&kinds, Kind::Full);
    let conv = ShortConv {
        layers: count(&kinds, Kind::Convolution),
        channels: frame.hidden_size,
        conv_kernel: count_of(reader, "conv_L_cache", &text.conv_l_cache, 3)?,
        bias: flag!(reader, conv_bias, false)?,
    };
    let recurrent: Vec<Recurrent> =
        Some(Recurrent::ShortConv(conv)).filter(|_| conv.layers > 0).into_iter().collect();
    Ok(Layers { recurrent, ..Layers::of(vec![attention], feed_forward) })
}

/// LFM2 reduces the width to two thirds and rounds it up to a multiple.
fn adjusted_width(reader: &mut Reader<'_>, width: u64) -> Result<u64, ConfigError> {
    let text = reader.text;
    if !flag!(reader, block_auto_adjust_ff_dim, true)? {
        text.settle(&["block_multiple_of", "block_ffn_dim_multiplier"]);
        return Ok(width);
    }
    // A factor other than 1 would be a fraction, which is no count.
    let factor = Reader::count(&named!(text, block_ffn_dim_multiplier))?;
    if factor.is_some_and(|factor| factor != 1) {
        return Err(unsupported(reader, Unsupported::IrregularLayers));
    }
    let multiple = count!(reader, block_multiple_of, 256)?;
    let multiple =
        in_range("block_multiple_of", multiple, 1, MAX_COUNT).map_err(ConfigError::Value)?;
    Ok((2 * width / 3).div_ceil(multiple) * multiple)
}
