//! Attention to a selection or a chunk of the tokens.

use alloc::vec;
use alloc::vec::Vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame, unsupported};
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::{Kind, Layers, all_full, count, count_of, kinds};
use crate::error::in_range;
use crate::model_arch::{Attention, DenseLayers, Indexer, LayerGroup, LayerPart, MAX_COUNT, Moe};

/// DeepSeek V3.2 and GLM-5: latent attention to the tokens that an indexer selects in each layer.
pub(super) fn deepseek_sparse(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    all_full(reader, frame.n_layers)?;
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = frame.n_layers;
    let layers = indexers(reader, frame.n_layers)?;
    attention.indexer = Some(Indexer { layers, ..indexer_of(reader, rules, &attention, frame)? });
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    Ok(Layers::of(vec![attention], feed_forward))
}

/// The indexer of latent attention, without layers.
pub(super) fn indexer_of(
    reader: &mut Reader<'_>,
    rules: &Rules,
    attention: &Attention,
    frame: &Frame,
) -> Result<Indexer, ConfigError> {
    let rank = attention.latent.and_then(|mla| mla.q_lora_rank);
    Ok(Indexer {
        layers: 0,
        n_heads: count!(reader, index_n_heads, rules.index_heads)?,
        head_dim: count!(reader, index_head_dim, 128)?,
        query_inputs: rank.unwrap_or(frame.hidden_size),
        top_k: count!(reader, index_topk, 2048)?,
        weighs_heads: true,
        compression: None,
    })
}

/// Number of layers with an indexer; "shared" layers use the selection of an earlier one.
pub(super) fn indexers(reader: &mut Reader<'_>, n: u64) -> Result<u64, ConfigError> {
    let text = reader.text;
    let field = named!(text, indexer_types);
    let pattern = named!(text, index_topk_pattern);
    let (entries, own) = match (value(&field)?, Reader::text_of(&pattern)?) {
        (Some(types), _) => {
            // The list was made from these two numbers.
            text.settle(&["index_topk_freq", "index_skip_topk_offset"]);
            (types.len(), types.iter().filter(|kind| *kind != "shared").count())
        }
        (None, Some(letters)) => {
            (letters.chars().count(), letters.chars().filter(|letter| *letter == 'F').count())
        }
        (None, None) => return every_nth(reader, n),
    };
    let (entries, own) = (entries as u64, own as u64);
    if entries != n {
        return Err(ConfigError::ListLength { field: field.name, entries, layers: n });
    }
    Ok(own)
}

/// Number of layers with an indexer by period and offset: all layers without a period.
fn every_nth(reader: &mut Reader<'_>, n: u64) -> Result<u64, ConfigError> {
    let text = reader.text;
    let period = Reader::count(&named!(text, index_topk_freq))?;
    let Some(period) = period.filter(|&period| period > 1) else {
        text.settle(&["index_skip_topk_offset"]);
        return Ok(n);
    };
    let offset = &text.index_skip_topk_offset;
    let offset = count_of(reader, "index_skip_topk_offset", offset, 2)?;
    let own = |i: &u64| (i + 1).saturating_sub(offset).is_multiple_of(period);
    Ok((0..n).filter(own).count() as u64)
}

/// Llama 4: chunked attention in all but every fourth layer, experts in every n-th layer.
pub(super) fn llama4(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let interval = count!(reader, no_rope_layer_interval, 4)?;
    let interval =
        in_range("no_rope_layer_interval", interval, 1, MAX_COUNT).map_err(ConfigError::Value)?;
    let flags = value(&named!(text, no_rope_layers))?;
    let flags = flags.filter(|flags| !flags.is_empty());
    if let Some(flags) = flags.filter(|flags| flags.len() as u64 != n) {
        let entries = flags.len() as u64;
        return Err(ConfigError::ListLength { field: "no_rope_layers", entries, layers: n });
    }
    let is_chunked = |i: u64| match flags {
        Some(flags) => flags.get(usize::try_from(i).unwrap_or(0)) != Some(&0),
        None => !(i + 1).is_multiple_of(interval),
    };
    let kinds = kinds(reader, n, &[Kind::Chunked, Kind::Full], |i| {
        if is_chunked(i) { Kind::Chunked } else { Kind::Full }
    })?;
    // The norm of queries and keys has no weights.
    text.settle(&["use_qk_norm"]);
    let mut attention = attention::heads(reader, rules, frame)?;
    attention.full_layers = count(&kinds, Kind::Full);
    attention.windowed_layers = count(&kinds, Kind::Chunked);
    attention.chunked = true;
    attention.window = count!(reader, attention_chunk_size, 8192)?;
    Ok(Layers::of(vec![attention], interleaved(reader, n)?))
}

/// Experts in the listed layers or in every n-th, each with a shared expert of the same width; dense MLPs elsewhere.
fn interleaved(reader: &mut Reader<'_>, n: u64) -> Result<FeedForward, ConfigError> {
    let text = reader.text;
    let width = count!(reader, intermediate_size, 8192)?;
    let dense_width = count!(reader, intermediate_size_mlp, 16_384)?;
    let step = count!(reader, interleave_moe_layer_step, 1)?;
    let listed = value(&named!(text, moe_layers))?;
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

/// The indexer of `MiniMax` M3, which selects blocks of tokens in some layers; `None` if the file has none.
fn block_indexer(reader: &mut Reader<'_>, frame: &Frame) -> Result<Option<Indexer>, ConfigError> {
    let (n, text) = (frame.n_layers, reader.text);
    let sparse = value(&named!(text, sparse_attention_config))?;
    let kinds = Reader::per_layer(&named!(text, layer_types), n)?;
    let flags: Vec<bool> = match (sparse, kinds) {
        (None, None) => return Ok(None),
        (Some(sparse), _) => {
            let field = text.named("sparse_attention_freq", &sparse.sparse_attention_freq);
            let flags = Reader::per_layer(&field, n)?;
            feed_forward::each(n, |layer| {
                flags.is_none_or(|flags| flags.get(usize::try_from(layer).unwrap_or(0)) != Some(&0))
            })
        }
        (None, Some(kinds)) => {
            if kinds.iter().any(|kind| !["full_attention", BLOCKS].contains(&&**kind)) {
                return Err(unsupported(reader, Unsupported::SparseAttention));
            }
            kinds.iter().map(|kind| kind == BLOCKS).collect()
        }
    };
    // Layers with an indexer are the first group, others the second.
    let part = |flag: &bool| Vec::from([LayerPart::of(LayerGroup::Attention(usize::from(!flag)))]);
    reader.order.parts = flags.iter().map(part).collect();
    let [heads, size, block, blocks] = if let Some(sparse) = sparse {
        [
            count_of(reader, "sparse_num_index_heads", &sparse.sparse_num_index_heads, 4)?,
            count_of(reader, "sparse_index_dim", &sparse.sparse_index_dim, 128)?,
            count_of(reader, "sparse_block_size", &sparse.sparse_block_size, 128)?,
            count_of(reader, "sparse_topk_blocks", &sparse.sparse_topk_blocks, 16)?,
        ]
    } else {
        // Blocks around the token are among the selected ones.
        text.settle(&["index_local_blocks"]);
        [
            count!(reader, index_n_heads, 4)?,
            count!(reader, index_head_dim, 128)?,
            count!(reader, index_block_size, 128)?,
            count!(reader, index_topk_blocks, 16)?,
        ]
    };
    Ok(Some(Indexer {
        layers: flags.iter().filter(|flag| **flag).count() as u64,
        n_heads: heads,
        head_dim: size,
        query_inputs: frame.hidden_size,
        top_k: block.saturating_mul(blocks),
        weighs_heads: false,
        compression: None,
    }))
}

/// The name of layers with an indexer of blocks.
const BLOCKS: &str = "minimax_m3_sparse";

/// `MiniMax` M3: an indexer selects blocks of tokens in the flagged layers.
pub(super) fn minimax_m3(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let mut full = attention::heads(reader, rules, frame)?;
    let mut attention = Vec::new();
    let mut sparse_layers = 0;
    if let Some(indexer) = block_indexer(reader, frame)? {
        sparse_layers = indexer.layers;
        attention.push(Attention { full_layers: sparse_layers, indexer: Some(indexer), ..full });
    } else {
        reader.assume("sparse_attention_config", Word("none"));
    }
    full.full_layers = n - sparse_layers;
    attention.push(full);
    attention.retain(|group| group.layers() > 0);
    text.settle(&["n_shared_experts"]);
    let width = count!(reader, dense_intermediate_size, 12_288)?;
    let mut feed_forward = feed_forward::read(reader, rules, frame)?;
    if let Some(group) = feed_forward.dense.first_mut() {
        group.width = width;
    }
    for (parts, has_experts) in reader.order.parts.iter_mut().zip(&reader.order.experts) {
        let mlp = if *has_experts { LayerGroup::Experts(0) } else { LayerGroup::Dense(0) };
        parts.push(LayerPart::of(mlp));
    }
    Ok(Layers::of(attention, feed_forward))
}
