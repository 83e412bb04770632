//! Sliding layers with heads of their own, and layers with more than one attention.

use alloc::vec;
use alloc::vec::Vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame};
use super::super::entry::Entry;
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::{Reader, value};
use super::super::refusal::ConfigError;
use super::super::rules::Rules;
use super::differing::own_sizes;
use super::{FULL_OR_SLIDING, Kind, Layers, NormCount, count, kinds};
use crate::model_arch::{Attention, DenseLayers, Moe};

/// MiMo-V2: sliding layers with their own numbers of heads, and sinks.
pub(super) fn mimo(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let pattern = Reader::per_layer(&named!(text, hybrid_layer_pattern), n)?;
    let slides = |i: u64| match pattern {
        Some(list) => list.get(usize::try_from(i).unwrap_or(0)) == Some(&1),
        None => i > 0 && !(i + 1).is_multiple_of(6),
    };
    if pattern.is_none() {
        reader.assume("hybrid_layer_pattern", Word("every sixth layer is full"));
    }
    let kinds =
        kinds(reader, n, FULL_OR_SLIDING, |i| if slides(i) { Kind::Sliding } else { Kind::Full })?;
    // The chunk is the window of the sliding layers; a kernel's choice.
    text.settle(&["attention_chunk_size", "sliding_window_size"]);
    let mut full = attention::heads(reader, rules, frame)?;
    full.v_head_dim = count!(reader, v_head_dim, 128)?;
    full.sinks = flag!(reader, add_full_attention_sink_bias, false)?;
    let sliding = Attention {
        n_heads: count!(reader, swa_num_attention_heads, full.n_heads)?,
        n_kv_heads: count!(reader, swa_num_key_value_heads, 2 * full.n_kv_heads)?,
        head_dim: count!(reader, swa_head_dim, full.head_dim)?,
        v_head_dim: count!(reader, swa_v_head_dim, full.v_head_dim)?,
        windowed_layers: count(&kinds, Kind::Sliding),
        window: window(reader, 128)?,
        sinks: flag!(reader, add_swa_attention_sink_bias, true)?,
        ..full
    };
    full.full_layers = count(&kinds, Kind::Full);
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    Ok(Layers::of(vec![full, sliding], feed_forward))
}

fn window(reader: &mut Reader<'_>, default: u64) -> Result<u64, ConfigError> {
    attention::window(reader, Some(default))?
        .ok_or(ConfigError::Missing { field: "sliding_window" })
}

/// Step 3.5: sliding layers with more query heads; every head has a gate.
pub(super) fn step3(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let kinds = kinds(reader, frame.n_layers, FULL_OR_SLIDING, |_| Kind::Full)?;
    text.settle(&["use_moe", "mtp_layer_types", "mtp_mlp_layer_types"]);
    // The shared expert has the stated width.
    text.settle(&["n_shared_experts"]);
    let heads = attention::heads(reader, rules, frame)?;
    let gated = flag!(reader, use_head_wise_attn_gate, true)?;
    let gate = |heads: u64| if gated { heads } else { 0 };
    let full_layers = count(&kinds, Kind::Full);
    let full = Attention { full_layers, gate_outputs: gate(heads.n_heads), ..heads };
    let (n_heads, n_kv_heads, head_dim) = sliding_heads(reader, &kinds, &heads)?;
    let windowed_layers = count(&kinds, Kind::Sliding);
    let window = if windowed_layers > 0 { window(reader, 512)? } else { 0 };
    let sliding = Attention {
        n_heads,
        n_kv_heads,
        head_dim,
        v_head_dim: head_dim,
        windowed_layers,
        window,
        gate_outputs: gate(n_heads),
        ..heads
    };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    Ok(Layers::of(vec![full, sliding], feed_forward))
}

/// Query heads, key heads and head size of the sliding layers of Step 3.5, under the three names that files have.
fn sliding_heads(
    reader: &mut Reader<'_>,
    kinds: &[Kind],
    full: &Attention,
) -> Result<(u64, u64, u64), ConfigError> {
    let text = reader.text;
    let names = ["num_attention_heads", "num_key_value_heads", "head_dim"];
    let own = own_sizes(reader, (kinds, Kind::Sliding), &names)?;
    let number = Reader::count(&named!(text, num_sliding_attention_heads))?;
    let stated = |entry: &Entry<u64>, same: u64| entry.value().copied().unwrap_or(same);
    let sizes = [full.n_heads, full.n_kv_heads, full.head_dim];
    let other = if let Some(other) = value(&named!(text, attention_other_setting))? {
        let entries = [&other.num_attention_heads, &other.num_attention_groups, &other.head_dim];
        let mut stated = entries.into_iter().zip(sizes).map(|(entry, same)| stated(entry, same));
        [(); 3].map(|()| stated.next().unwrap_or(0))
    } else {
        if number.is_none() && !own.are_listed() {
            reader.assume("attention_other_setting", Word("as in full layers"));
        }
        [number.unwrap_or(full.n_heads), full.n_kv_heads, full.head_dim]
    };
    let mut size = |place: usize| {
        let (name, same, other) = (names[place], sizes[place], other[place]);
        own.size(reader, (name, same), |_| Ok(other))
    };
    Ok((size(0)?, size(1)?, size(2)?))
}

/// AFMoE: a gate per output of attention, a window in all but every n-th layer.
pub(super) fn afmoe(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let every = count!(reader, global_attn_every_n_layers, 4)?;
    let kinds = kinds(reader, frame.n_layers, FULL_OR_SLIDING, |i| {
        if (i + 1).checked_rem(every) == Some(0) { Kind::Full } else { Kind::Sliding }
    })?;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = count(&kinds, Kind::Full);
    attention.windowed_layers = count(&kinds, Kind::Sliding);
    attention.window = window(reader, 1024)?;
    attention.gate_outputs = attention.n_heads * attention.head_dim;
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    Ok(Layers::of(vec![attention], feed_forward))
}

/// `LongCat`: two latent attentions and two dense MLPs per layer, and experts beside them of which some do nothing.
pub(super) fn longcat(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = 2 * n;
    let width = count!(reader, ffn_hidden_size, 12_288)?;
    let (experts, used) = (text.experts(), text.experts_used());
    let moe = Moe {
        layers: n,
        n_experts: reader.count_or(&experts, 512)?,
        experts_per_token: reader.count_or(&used, 12)?,
        expert_width: count!(reader, expert_ffn_hidden_size, 2048)?,
        idle_choices: count!(reader, zero_expert_num, 256)?,
        correction_bias: true,
        ..Moe::PLAIN
    };
    let dense = vec![DenseLayers { layers: 2 * n, width }];
    let feed_forward = FeedForward { dense, bias: false, moe: Vec::from([moe]) };
    let norms = NormCount::Total { add: 4 * n, post: 0 };
    Ok(Layers { norms, ..Layers::of(vec![attention], feed_forward) })
}
