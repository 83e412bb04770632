//! Decoders before Llama, and others with small parameters of their own.

use alloc::vec;
use alloc::vec::Vec;

use super::super::attention::{self, Frame, unsupported};
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::{Layers, count_of};
use crate::error::in_range;
use crate::model_arch::{Attention, DenseLayers, MAX_COUNT, MAX_HEAD, Moe, Projection};

/// Layers with the same heads and MLPs, by the rules.
fn equal(reader: &mut Reader<'_>, rules: &Rules, frame: &Frame) -> Result<Layers, ConfigError> {
    let attention = attention::read(reader, rules, frame)?;
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    Ok(Layers::of(vec![attention], feed_forward))
}

/// BLOOM: a norm after the embedding.
pub(super) fn bloom(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let layers = equal(reader, rules, frame)?;
    Ok(Layers { other_vectors: rules.norm.vectors() * frame.hidden_size, ..layers })
}

/// MPT: the width of the MLP is a multiple of the hidden size; no biases.
pub(super) fn mpt(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    if !flag!(reader, no_bias, true)? {
        return Err(unsupported(reader, Unsupported::OwnBlocks));
    }
    let field = named!(text, attn_config);
    if let Some(options) = value(&field)? {
        let grouped = Reader::text_of(&text.named("attn_type", &options.attn_type))?
            .is_some_and(|kind| kind != "multihead_attention");
        let flag = |name, entry| Reader::flag(&text.named(name, entry));
        let normed = flag("qk_ln", &options.qk_ln)? == Some(true);
        let learned = flag("alibi", &options.alibi)? == Some(false);
        if grouped || normed || learned {
            return Err(unsupported(reader, Unsupported::OwnBlocks));
        }
    }
    let ratio = count!(reader, expansion_ratio, 4)?;
    let ratio = in_range("expansion_ratio", ratio, 1, MAX_COUNT).map_err(ConfigError::Value)?;
    let attention = attention::read(reader, rules, frame)?;
    let dense = vec![DenseLayers { layers: frame.n_layers, width: ratio * frame.hidden_size }];
    Ok(Layers::of(vec![attention], FeedForward { dense, bias: false, moe: Vec::new() }))
}

/// Number of rows for tokens of images, which the first Molmo has beside its embedding (`additional_vocab_size`).
const MOLMO_ROWS: u64 = 128;

/// The first Molmo: a width of gate and up together.
pub(super) fn molmo(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let layers = qwen1(reader, rules, frame)?;
    Ok(Layers { other_vectors: MOLMO_ROWS * frame.hidden_size, ..layers })
}

/// DBRX: heads and experts in objects of their own.
pub(super) fn dbrx(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let heads = attention::heads(reader, rules, frame)?;
    let options = value(&named!(text, attn_config))?;
    let options = options.ok_or(ConfigError::Missing { field: "attn_config" })?;
    let experts = value(&named!(text, ffn_config))?;
    let experts = experts.ok_or(ConfigError::Missing { field: "ffn_config" })?;
    reader.forget("num_key_value_heads");
    let attention = Attention {
        n_kv_heads: count_of(reader, "kv_n_heads", &options.kv_n_heads, 1)?,
        full_layers: frame.n_layers,
        ..heads
    };
    let moe = Moe {
        layers: frame.n_layers,
        n_experts: count_of(reader, "moe_num_experts", &experts.moe_num_experts, 4)?,
        experts_per_token: count_of(reader, "moe_top_k", &experts.moe_top_k, 1)?,
        expert_width: count_of(reader, "ffn_hidden_size", &experts.ffn_hidden_size, 3584)?,
        ..Moe::PLAIN
    };
    let feed_forward = FeedForward { dense: Vec::new(), bias: false, moe: vec![moe] };
    Ok(Layers::of(vec![attention], feed_forward))
}

/// Persimmon: norms of queries and keys with a weight and a bias.
pub(super) fn persimmon(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let normed = flag!(reader, qk_layernorm, true)?;
    // The norms are counted here, not by the rules.
    let attention = attention::heads_without_norm(reader, rules, frame)?;
    let attention = Attention { full_layers: frame.n_layers, ..attention };
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    let other_vectors = if normed { 4 * frame.n_layers * attention.head_dim } else { 0 };
    Ok(Layers { other_vectors, ..Layers::of(vec![attention], feed_forward) })
}

/// `DiffLlama`: four vectors weigh the two halves of the heads against each other.
pub(super) fn diffllama(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let layers = equal(reader, rules, frame)?;
    let head_dim = layers.attention.first().map_or(0, |group| group.head_dim);
    Ok(Layers { other_vectors: 4 * frame.n_layers * head_dim, ..layers })
}

/// Doge: weights of the residuals, and a mask that each key-value head computes from the values. The mask hides tokens beyond a
/// number of them; attention is counted with all, which is no less.
pub(super) fn doge(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    if flag!(reader, is_moe, false)? {
        return Err(unsupported(reader, Unsupported::OwnBlocks));
    }
    text.settle(&["num_experts", "num_experts_per_tok"]);
    let mut layers = equal(reader, rules, frame)?;
    let n = frame.n_layers;
    for group in &layers.attention {
        let cols = group.n_kv_heads * group.head_dim;
        layers.projections.push(Projection {
            count: n,
            rows: group.n_kv_heads,
            cols,
            ..Projection::PLAIN
        });
        layers.other_vectors += n * group.n_kv_heads;
    }
    layers.other_vectors += 2 * n * frame.hidden_size;
    Ok(layers)
}

/// A.X K1: a norm after the experts of a layer.
pub(super) fn axk1(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let layers = equal(reader, rules, frame)?;
    let sparse: u64 = layers.feed_forward.moe.iter().map(|moe| moe.layers).sum();
    let norms = super::NormCount::Total { add: 2 * frame.n_layers, post: sparse };
    Ok(Layers { norms, ..layers })
}

/// Arctic: in every layer experts, and beside them a dense MLP of the hidden size after a norm of its own.
pub(super) fn arctic(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    if !flag!(reader, parallel_attn_mlp_res, false)? {
        return equal(reader, rules, frame);
    }
    let mut layers = equal(reader, rules, frame)?;
    for moe in &mut layers.feed_forward.moe {
        moe.shared_width = frame.hidden_size;
    }
    let norms = super::NormCount::Total { add: 3 * frame.n_layers, post: 0 };
    Ok(Layers { norms, ..layers })
}

/// The first Qwen: an MLP of half the stated width.
pub(super) fn qwen1(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let mut layers = equal(reader, rules, frame)?;
    for dense in &mut layers.feed_forward.dense {
        dense.width /= 2;
    }
    Ok(layers)
}

/// Step3: queries through a vector of `share_q_dim`, which is normed.
pub(super) fn step3_text(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let rank = count!(reader, share_q_dim, 2048)?;
    let rank = in_range("share_q_dim", rank, 1, MAX_HEAD).map_err(ConfigError::Value)?;
    let mut layers = equal(reader, rules, frame)?;
    for group in &mut layers.attention {
        group.query_rank = rank;
    }
    Ok(layers)
}
