//! Attention to a selection or a chunk of the tokens.

use alloc::vec;
use alloc::vec::Vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame};
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::{Reader, value};
use super::super::refusal::ConfigError;
use super::super::rules::Rules;
use super::{Kind, Layers, count, count_of, kinds, only};
use crate::error::in_range;
use crate::model_arch::{Attention, DenseLayers, Indexer, LayerGroup, LayerPart, MAX_COUNT, Moe};

/// DeepSeek V3.2 and GLM-5: latent attention to the tokens that an indexer selects in each layer.
pub(super) fn deepseek_sparse(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let kinds = kinds(reader, frame.n_layers, |_| Kind::Full)?;
    only(reader, &kinds, &[Kind::Full])?;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = frame.n_layers;
    let rank = attention.latent.and_then(|mla| mla.q_lora_rank);
    attention.indexer = Some(Indexer {
        layers: indexers(reader, frame.n_layers)?,
        n_heads: count_of(reader, "index_n_heads", &text.index_n_heads, rules.index_heads)?,
        head_dim: count_of(reader, "index_head_dim", &text.index_head_dim, 128)?,
        query_inputs: rank.unwrap_or(frame.hidden_size),
        top_k: count_of(reader, "index_topk", &text.index_topk, 2048)?,
        weighs_heads: true,
    });
    let feed_forward = feed_forward::read(reader, rules, frame.hidden_size, frame.n_layers)?;
    Ok(Layers::of(vec![attention], feed_forward))
}

/// Number of layers with an indexer; "shared" layers use the selection of an earlier one.
fn indexers(reader: &Reader<'_>, n: u64) -> Result<u64, ConfigError> {
    let field = reader.text.named("indexer_types", &reader.text.indexer_types);
    let Some(types) = value(&field)? else { return Ok(n) };
    let entries = types.len() as u64;
    if entries != n {
        return Err(ConfigError::ListLength { field: field.name, entries, layers: n });
    }
    // The list was made from these two numbers.
    reader.text.settle(&["index_topk_freq", "index_skip_topk_offset"]);
    Ok(types.iter().filter(|kind| *kind != "shared").count() as u64)
}

/// Llama 4: chunked attention in all but every fourth layer, experts in every n-th layer.
pub(super) fn llama4(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let interval = count_of(reader, "no_rope_layer_interval", &text.no_rope_layer_interval, 4)?;
    let interval =
        in_range("no_rope_layer_interval", interval, 1, MAX_COUNT).map_err(ConfigError::Value)?;
    let flags = value(&text.named("no_rope_layers", &text.no_rope_layers))?;
    let flags = flags.filter(|flags| !flags.is_empty());
    if let Some(flags) = flags.filter(|flags| flags.len() as u64 != n) {
        let entries = flags.len() as u64;
        return Err(ConfigError::ListLength { field: "no_rope_layers", entries, layers: n });
    }
    let is_chunked = |i: u64| match flags {
        Some(flags) => flags.get(usize::try_from(i).unwrap_or(0)) != Some(&0),
        None => !(i + 1).is_multiple_of(interval),
    };
    let kinds = kinds(reader, n, |i| if is_chunked(i) { Kind::Chunked } else { Kind::Full })?;
    only(reader, &kinds, &[Kind::Chunked, Kind::Full])?;
    // The norm of queries and keys has no weights.
    text.settle(&["use_qk_norm"]);
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = count(&kinds, Kind::Full);
    attention.windowed_layers = count(&kinds, Kind::Chunked);
    attention.chunked = true;
    attention.window = count_of(reader, "attention_chunk_size", &text.attention_chunk_size, 8192)?;
    Ok(Layers::of(vec![attention], interleaved(reader, n)?))
}

/// Experts in the listed layers or in every n-th, each with a shared expert of the same width; dense MLPs elsewhere.
fn interleaved(reader: &mut Reader<'_>, n: u64) -> Result<FeedForward, ConfigError> {
    let text = reader.text;
    let width = count_of(reader, "intermediate_size", &text.intermediate_size, 8192)?;
    let dense_width =
        count_of(reader, "intermediate_size_mlp", &text.intermediate_size_mlp, 16_384)?;
    let step = count_of(reader, "interleave_moe_layer_step", &text.interleave_moe_layer_step, 1)?;
    let listed = value(&text.named("moe_layers", &text.moe_layers))?;
    let sparse = feed_forward::each(n, |layer| match listed {
        Some(list) => list.contains(&layer),
        None => (layer + 1).checked_rem(step) == Some(0),
    });
    let layers = sparse.iter().filter(|has_experts| **has_experts).count() as u64;
    reader.order.experts = sparse;
    let (experts, used) = (text.experts(), text.experts_used());
    let moe = Moe {
        layers,
        n_experts: reader.count_or(&experts, 16)?,
        experts_per_token: reader.count_or(&used, 1)?,
        expert_width: width,
        shared_width: width,
        ..Moe::PLAIN
    };
    let dense = vec![DenseLayers { layers: n - layers, width: dense_width }];
    Ok(FeedForward {
        dense: dense.into_iter().filter(|group| group.layers > 0).collect(),
        bias: false,
        moe: Some(moe).filter(|moe| moe.layers > 0).into_iter().collect(),
    })
}

/// `MiniMax` M3: an indexer selects blocks of tokens in the flagged layers.
pub(super) fn minimax_m3(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let mut full = attention::heads(reader, rules, frame)?;
    let field = text.named("sparse_attention_config", &text.sparse_attention_config);
    let mut attention = Vec::new();
    let mut sparse_layers = 0;
    if let Some(sparse) = value(&field)? {
        let flags = value(&text.named("sparse_attention_freq", &sparse.sparse_attention_freq))?;
        sparse_layers = match flags {
            Some(flags) if flags.len() as u64 != n => {
                let entries = flags.len() as u64;
                return Err(ConfigError::ListLength {
                    field: "sparse_attention_freq",
                    entries,
                    layers: n,
                });
            }
            Some(flags) => {
                // Layers with an indexer are the first group, others the second.
                let group = |flag: &u64| LayerGroup::Attention(usize::from(*flag == 0));
                let part = |flag| Vec::from([LayerPart::of(group(flag))]);
                reader.order.parts = flags.iter().map(part).collect();
                flags.iter().filter(|flag| **flag != 0).count() as u64
            }
            None => n,
        };
        let block = count_of(reader, "sparse_block_size", &sparse.sparse_block_size, 128)?;
        let blocks = count_of(reader, "sparse_topk_blocks", &sparse.sparse_topk_blocks, 16)?;
        let indexer = Indexer {
            layers: sparse_layers,
            n_heads: count_of(reader, "sparse_num_index_heads", &sparse.sparse_num_index_heads, 4)?,
            head_dim: count_of(reader, "sparse_index_dim", &sparse.sparse_index_dim, 128)?,
            query_inputs: frame.hidden_size,
            top_k: block.saturating_mul(blocks),
            weighs_heads: false,
        };
        attention.push(Attention { full_layers: sparse_layers, indexer: Some(indexer), ..full });
    } else {
        reader.assume("sparse_attention_config", Word("none"));
    }
    full.full_layers = n - sparse_layers;
    attention.push(full);
    attention.retain(|group| group.layers() > 0);
    text.settle(&["n_shared_experts"]);
    let width = count_of(reader, "dense_intermediate_size", &text.dense_intermediate_size, 12_288)?;
    let mut feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    if let Some(group) = feed_forward.dense.first_mut() {
        group.width = width;
    }
    for (parts, has_experts) in reader.order.parts.iter_mut().zip(&reader.order.experts) {
        let mlp = if *has_experts { LayerGroup::Experts(0) } else { LayerGroup::Dense(0) };
        parts.push(LayerPart::of(mlp));
    }
    Ok(Layers::of(attention, feed_forward))
}
