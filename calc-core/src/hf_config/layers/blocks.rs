//! Blocks of differing widths (`nemotron_nas`): each has its own groups of heads and its own MLP, or neither.

use alloc::vec::Vec;

use super::super::attention::{self, Frame, unsupported};
use super::super::entry::{Entry, Found};
use super::super::feed_forward::FeedForward;
use super::super::part_fields::BlockPart;
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::{Layers, NormCount};
use crate::error::in_range;
use crate::model_arch::{Attention, DenseLayers, LayerGroup, LayerPart, MAX_WIDTH};

/// Widths are rounded up to a multiple of this.
const MULTIPLE: u64 = 256;

/// Reads the blocks of a file.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let field = named!(text, block_configs);
    let blocks = value(&field)?.ok_or(ConfigError::Missing { field: "block_configs" })?;
    let entries = blocks.0.len() as u64;
    if entries != frame.n_layers {
        let layers = frame.n_layers;
        return Err(ConfigError::ListLength { field: field.name, entries, layers });
    }
    let heads = attention::heads(reader, rules, frame)?;
    // Each block states its own.
    reader.forget("num_key_value_heads");
    text.settle(&["intermediate_size"]);
    let mut attention: Vec<Attention> = Vec::new();
    let mut dense: Vec<DenseLayers> = Vec::new();
    for block in &blocks.0 {
        let mut layer = Vec::new();
        let irregular = || unsupported(reader, Unsupported::IrregularLayers);
        let block = block.value().ok_or_else(irregular)?;
        let parts = (block.attention.value(), block.ffn.value());
        let (Some(mixer), Some(mlp)) = parts else { return Err(irregular()) };
        if !is_off(mixer) {
            let kv = plain(mixer)
                .and_then(|part| part.n_heads_in_group.value())
                .filter(|group| **group > 0 && heads.n_heads.is_multiple_of(**group))
                .map(|group| heads.n_heads / group);
            let one = Attention { n_kv_heads: kv.ok_or_else(irregular)?, ..heads };
            let index = add_attention(&mut attention, one);
            layer.push(LayerPart::of(LayerGroup::Attention(index)));
        }
        if !is_off(mlp) {
            let width = plain(mlp).and_then(|part| width(part, frame.hidden_size));
            let width = in_range("ffn_mult", width.ok_or_else(irregular)?, 1, MAX_WIDTH);
            let index = add_dense(&mut dense, width.map_err(ConfigError::Value)?);
            layer.push(LayerPart::of(LayerGroup::Dense(index)));
        }
        reader.order.parts.push(layer);
    }
    // A norm precedes each part that a block has.
    let mixers: u64 = attention.iter().map(Attention::layers).sum();
    let mlps: u64 = dense.iter().map(|group| group.layers).sum();
    let norms = NormCount::Total { add: mixers + mlps, post: 0 };
    let feed_forward = FeedForward { dense, bias: false, moe: Vec::new() };
    Ok(Layers { norms, ..Layers::of(attention, feed_forward) })
}

fn is_off(part: &BlockPart) -> bool {
    part.no_op.value() == Some(&true)
}

/// The part, unless something replaces it that is not modeled.
fn plain(part: &BlockPart) -> Option<&BlockPart> {
    let replaced = part.replace_with_linear.value() == Some(&true);
    (!replaced && !part.window_length.is_given()).then_some(part)
}

/// The width of an MLP: 2/3 of the multiple of the hidden size, cut to a whole number and rounded up.
fn width(part: &BlockPart, hidden: u64) -> Option<u64> {
    if let Some(&width) = part.intermediate_size.value() {
        return Some(width);
    }
    let multiple = match &part.ffn_mult {
        Entry::Value(multiple) => *multiple as f64,
        Entry::Wrong(Found::Number(multiple)) => *multiple,
        Entry::Absent | Entry::Null | Entry::Wrong(_) => return None,
    };
    let exact = libm::floor(2.0 * multiple * hidden as f64 / 3.0);
    let in_limits = (1.0..=MAX_WIDTH as f64).contains(&exact);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and between 1 and 2^32"
    )]
    in_limits.then_some((exact as u64).div_ceil(MULTIPLE) * MULTIPLE)
}

/// Counts a layer with the group that has the same heads; returns the group's index.
fn add_attention(groups: &mut Vec<Attention>, one: Attention) -> usize {
    let found = groups.iter().position(|group| group.n_kv_heads == one.n_kv_heads);
    let index = found.unwrap_or(groups.len());
    match groups.get_mut(index) {
        Some(group) => group.full_layers += 1,
        None => groups.push(Attention { full_layers: 1, ..one }),
    }
    index
}

/// Counts a layer with the group that has the same width; returns the group's index.
fn add_dense(groups: &mut Vec<DenseLayers>, width: u64) -> usize {
    let index = groups.iter().position(|group| group.width == width).unwrap_or(groups.len());
    match groups.get_mut(index) {
        Some(group) => group.layers += 1,
        None => groups.push(DenseLayers { layers: 1, width }),
    }
    index
}
