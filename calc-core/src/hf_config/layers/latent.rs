//! Latent attention beside other parts: an indexer with gates and residual streams, layers without position, two sets of ranks.

use alloc::vec;

use super::super::attention::{self, Frame, unsupported};
use super::super::feed_forward;
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::compressed::{Streams, residual_streams, streams};
use super::sparse::{indexer_of, indexers};
use super::{Kind, Layers, count, count_of, kinds, only, placed};
use crate::error::in_range;
use crate::model_arch::{
    Attention, Compression, Decay, DeltaNet, Indexer, MAX_HEAD, Mla, Projection, Recurrent,
};

/// HY V4: sinks, a gate per output, an indexer in some layers, residual streams.
pub(super) fn hy_v4(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |_| Kind::Full)?;
    only(reader, &kinds, &[Kind::Full])?;
    let heads = attention::heads(reader, rules, frame)?;
    let own = if text.indexer_types.is_given() {
        indexers(reader, n)?
    } else {
        reader.assume("indexer_types", super::Word("the first layer and every fourth after it"));
        (0..n).filter(|&i| i == 0 || (i - 1) % 4 == 0).count() as u64
    };
    let indexer = indexer_of(reader, rules, &heads, frame)?;
    let attention = Attention {
        full_layers: n,
        gate_outputs: heads.n_heads * heads.v_head_dim,
        indexer: Some(Indexer { layers: own, ..indexer }),
        ..heads
    };
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    let mut layers = Layers::of(vec![attention], feed_forward);
    let count = streams(reader)?;
    let mix = Streams { count, outputs: 2 * count, scales: 2, weighed_at_end: true };
    residual_streams(&mut layers, frame, mix);
    Ok(layers)
}

/// Mistral Large 4: an indexer, and every fourth layer without position, whose heads are whole latents.
pub(super) fn mistral_large4(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |_| Kind::Full)?;
    only(reader, &kinds, &[Kind::Full])?;
    let field = text.named("kv_source_layers", &text.kv_source_layers);
    let sources = value(&field)?;
    if sources.is_some_and(|list| list.iter().enumerate().any(|(i, &from)| from != i as u64)) {
        return Err(unsupported(reader, Unsupported::IrregularLayers));
    }
    let heads = attention::heads(reader, rules, frame)?;
    let indexer = indexer_of(reader, rules, &heads, frame)?;
    let with_indexer = |layers, latent, head_dim| Attention {
        full_layers: layers,
        head_dim,
        latent: Some(latent),
        indexer: Some(Indexer { layers, ..indexer }),
        ..heads
    };
    if indexers(reader, n)? != n {
        return Err(unsupported(reader, Unsupported::IrregularLayers));
    }
    let latent = heads.latent.ok_or(ConfigError::Missing { field: "kv_lora_rank" })?;
    let plain = without_position(reader, n)?;
    // Where nothing is rotated the whole head comes from the latent.
    let whole = Mla { rope_dim: 0, nope_dim: latent.nope_dim + latent.rope_dim, ..latent };
    let mut attention = vec![
        with_indexer(n - plain, latent, heads.head_dim),
        with_indexer(plain, whole, whole.nope_dim),
    ];
    attention.retain(|group| group.layers() > 0);
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    // A norm of the indexer's input, and scales of the softmax per head, each with a bias.
    let other_vectors = 2 * n * (frame.hidden_size + indexer.n_heads + heads.n_heads);
    Ok(Layers { other_vectors, ..Layers::of(attention, feed_forward) })
}

/// Number of layers without position: those with 0 in the list, or every fourth.
fn without_position(reader: &mut Reader<'_>, n: u64) -> Result<u64, ConfigError> {
    let text = reader.text;
    let field = text.named("no_rope_layers", &text.no_rope_layers);
    if let Some(flags) = value(&field)? {
        let entries = flags.len() as u64;
        if entries != n {
            return Err(ConfigError::ListLength { field: field.name, entries, layers: n });
        }
        return Ok(flags.iter().filter(|flag| **flag == 0).count() as u64);
    }
    let every = count_of(reader, "no_rope_layer_interval", &text.no_rope_layer_interval, 4)?;
    Ok(n.checked_div(every).unwrap_or(0))
}

/// dots3 note: an indexer in full layers; sliding layers with heads and ranks of their own; a gate per head.
pub(super) fn dots3_note(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |i| if i < 2 || i % 4 == 1 { Kind::Full } else { Kind::Sliding })?;
    only(reader, &kinds, &[Kind::Full, Kind::Sliding])?;
    let heads = attention::heads(reader, rules, frame)?;
    let latent = heads.latent.ok_or(ConfigError::Missing { field: "kv_lora_rank" })?;
    let full_layers = count(&kinds, Kind::Full);
    let indexer = Indexer { layers: full_layers, ..indexer_of(reader, rules, &heads, frame)? };
    let full =
        Attention { full_layers, gate_outputs: heads.n_heads, indexer: Some(indexer), ..heads };
    // Heads of sliding layers have sizes of their own, unless the file states others.
    text.settle(&["swa_num_key_value_heads", "swa_head_dim"]);
    let n_heads = count_of(reader, "swa_num_attention_heads", &text.swa_num_attention_heads, 64)?;
    let rank = count_of(reader, "swa_q_lora_rank", &text.swa_q_lora_rank, 1024)?;
    let ranks = Mla {
        q_lora_rank: Some(rank),
        kv_lora_rank: count_of(reader, "swa_kv_lora_rank", &text.swa_kv_lora_rank, 1024)?,
        nope_dim: count_of(reader, "swa_qk_nope_head_dim", &text.swa_qk_nope_head_dim, 192)?,
        ..latent
    };
    let head_dim = in_range("swa_qk_nope_head_dim", ranks.nope_dim, 1, MAX_HEAD)
        .map_err(ConfigError::Value)?
        + ranks.rope_dim;
    let sliding = Attention {
        n_heads,
        n_kv_heads: n_heads,
        head_dim,
        v_head_dim: count_of(reader, "swa_v_head_dim", &text.swa_v_head_dim, 128)?,
        gate_outputs: n_heads,
        latent: Some(ranks),
        ..heads
    };
    let only_sliding: alloc::vec::Vec<Kind> =
        kinds.iter().copied().filter(|kind| *kind == Kind::Sliding).collect();
    let sliding = placed(reader, &only_sliding, sliding, 512)?;
    reader.order.mixers = kinds;
    let mut attention = vec![full, sliding];
    attention.retain(|group| group.layers() > 0);
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    // The rotated part of a key has a norm.
    let other_vectors = n * latent.rope_dim;
    Ok(Layers { other_vectors, ..Layers::of(attention, feed_forward) })
}

/// A.X K2: an indexer, queries and a gate per output from one matrix, norms with a gate of low rank.
pub(super) fn axk2(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let (n, hidden) = (frame.n_layers, frame.hidden_size);
    let kinds = kinds(reader, n, |_| Kind::Full)?;
    only(reader, &kinds, &[Kind::Full])?;
    let heads = attention::heads(reader, rules, frame)?;
    let rank = heads.latent.and_then(|mla| mla.q_lora_rank);
    let rank = rank.ok_or(ConfigError::Missing { field: "q_lora_rank" })?;
    let indexer = Indexer { layers: n, ..indexer_of(reader, rules, &heads, frame)? };
    let attention = Attention { full_layers: n, indexer: Some(indexer), ..heads };
    let feed_forward = feed_forward::read(reader, rules, hidden, n)?;
    let sparse: u64 = feed_forward.moe.iter().map(|moe| moe.layers).sum();
    let mut layers = Layers::of(vec![attention], feed_forward);
    // The matrix has queries and gates of all heads as outputs, and twice the rank as inputs: beyond the queries from the rank
    // alone it has as many weights as one with these outputs.
    let (queries, gates) = (heads.n_heads * heads.head_dim, heads.n_heads * heads.v_head_dim);
    let rows = queries / 2 + gates;
    let gate_rank = count_of(reader, "gated_norm_rank", &text.gated_norm_rank, 16)?;
    let gate_rank = in_range("gated_norm_rank", gate_rank, 1, MAX_HEAD);
    let gate_rank = gate_rank.map_err(ConfigError::Value)?;
    // Norms before attention, and before experts, have a gate.
    let norms = n + sparse;
    layers.projections = vec![
        Projection { count: n, rows, cols: 2 * rank, ..Projection::PLAIN },
        Projection { count: norms, rows: gate_rank, cols: hidden, ..Projection::PLAIN },
        Projection { count: norms, rows: hidden, cols: gate_rank, ..Projection::PLAIN },
    ];
    Ok(layers)
}

/// Ling hybrid: Kimi delta attention with decay and gate of full rank; every n-th layer latent, with a gate per head.
pub(super) fn bailing_hybrid(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let every = if text.layer_types.is_given() {
        text.settle(&["layer_group_size"]);
        6
    } else {
        count_of(reader, "layer_group_size", &text.layer_group_size, 6)?
    };
    let kinds = kinds(reader, n, |i| {
        if (i + 1).checked_rem(every) == Some(0) { Kind::Full } else { Kind::Recurrent }
    })?;
    only(reader, &kinds, &[Kind::Full, Kind::Recurrent])?;
    // The class derives these from the heads, and gives further names to what is read.
    text.settle(&["linear_num_heads", "linear_conv_kernel_dim"]);
    text.settle(&["num_expert_group", "moe_renormalize"]);
    let head_dim = match Reader::count(&text.named("linear_head_dim", &text.linear_head_dim))? {
        Some(head_dim) => head_dim,
        None => count_of(reader, "head_dim", &text.head_dim, 128)?,
    };
    let heads = attention::heads(reader, rules, frame)?;
    let full =
        Attention { full_layers: count(&kinds, Kind::Full), gate_outputs: heads.n_heads, ..heads };
    let kernel = &text.short_conv_kernel_size;
    let net = DeltaNet {
        layers: count(&kinds, Kind::Recurrent),
        key_heads: heads.n_heads,
        value_heads: heads.n_heads,
        key_dim: head_dim,
        value_dim: head_dim,
        conv_kernel: count_of(reader, "short_conv_kernel_size", kernel, 4)?,
        decay: Decay::PerChannel { rank: 0, full_gate: true },
    };
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    let recurrent = vec![Recurrent::DeltaNet(net)];
    Ok(Layers { recurrent, ..Layers::of(vec![full], feed_forward) })
}

/// GLM-5 Next: Kimi delta attention between latent attention with an indexer of pooled keys; residual streams.
pub(super) fn glm5_next(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let kinds = kinds(reader, n, |i| if i % 4 == 3 { Kind::Full } else { Kind::Recurrent })?;
    only(reader, &kinds, &[Kind::Full, Kind::Recurrent])?;
    let heads = attention::heads(reader, rules, frame)?;
    let full_layers = count(&kinds, Kind::Full);
    let pool = count_of(reader, "index_kpool", &text.index_kpool, 16)?;
    let ratio = in_range("index_kpool", pool, 1, MAX_HEAD).map_err(ConfigError::Value)?;
    let indexer = indexer_of(reader, rules, &heads, frame)?;
    let full = Attention {
        full_layers,
        indexer: Some(Indexer {
            layers: indexers(reader, n)?.min(full_layers),
            compression: Some(Compression { ratio, overlaps: false, keeps_tokens: true }),
            ..indexer
        }),
        ..heads
    };
    let field = text.named("linear_attn_config", &text.linear_attn_config);
    let linear = value(&field)?;
    let named = |name, entry| Reader::count(&text.named(name, entry));
    let stated = match linear {
        Some(linear) => (
            named("num_heads", &linear.num_heads)?,
            named("head_dim", &linear.head_dim)?,
            named("short_conv_kernel_size", &linear.short_conv_kernel_size)?,
        ),
        None => (
            named("linear_num_heads", &text.linear_num_heads)?,
            named("linear_head_dim", &text.linear_head_dim)?,
            named("linear_conv_kernel_dim", &text.linear_conv_kernel_dim)?,
        ),
    };
    let mut or = |name, stated: Option<u64>, default| {
        if stated.is_none() {
            reader.assume(name, super::super::AssumedValue::Count(default));
        }
        stated.unwrap_or(default)
    };
    let (heads, head_dim) =
        (or("linear_num_heads", stated.0, 64), or("linear_head_dim", stated.1, 128));
    let net = DeltaNet {
        layers: count(&kinds, Kind::Recurrent),
        key_heads: heads,
        value_heads: heads,
        key_dim: head_dim,
        value_dim: head_dim,
        conv_kernel: or("linear_conv_kernel_dim", stated.2, 4),
        decay: Decay::PerChannel { rank: head_dim, full_gate: false },
    };
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    let mut layers = Layers {
        recurrent: vec![Recurrent::DeltaNet(net)],
        ..Layers::of(vec![full], feed_forward)
    };
    let count = streams(reader)?;
    let mix = Streams { count, outputs: (2 + count) * count, scales: 3, weighed_at_end: false };
    residual_streams(&mut layers, frame, mix);
    layers.attention.retain(|group| group.layers() > 0);
    layers.recurrent.retain(|group| group.layers() > 0);
    Ok(layers)
}
