//! Parts of the language model that only images use: layers that attend to them, and experts for their tokens.

use alloc::vec;

use super::super::AssumedValue::Word;
use super::super::attention::{self, Frame};
use super::super::entry::PerLayer;
use super::super::feed_forward;
use super::super::reader::{Reader, value};
use super::super::refusal::ConfigError;
use super::super::rules::{DenseWhere, Experts, Rules};
use super::Layers;
use crate::model_arch::{Attention, KvSource, Moe, QkNorm};

/// Rows of the embedding for the tokens that stand for images in Llama 3.2 Vision; the head has none.
const IMAGE_ROWS: u64 = 8;
/// Default of `cross_attention_layers`.
const CROSS_LAYERS: [u64; 8] = [3, 8, 13, 18, 23, 28, 33, 38];
/// Default of `moe_intermediate_size`: experts for text, and for images.
const EXPERT_WIDTHS: [u64; 2] = [1536, 512];

/// Llama 3.2 Vision: the listed layers attend to images, in place of the text.
pub(super) fn mllama(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let field = named!(text, cross_attention_layers);
    let listed = value(&field)?;
    if listed.is_none() {
        reader.assume(field.name, Word("every fifth layer from the fourth"));
    }
    let listed = listed.map_or(&CROSS_LAYERS[..], alloc::vec::Vec::as_slice);
    let cross = (0..n).filter(|layer| listed.contains(layer)).count() as u64;
    let heads = attention::heads(reader, rules, frame)?;
    let images = Attention {
        full_layers: cross,
        kv_source: KvSource::Images,
        qk_norm: QkNorm::Head,
        ..heads
    };
    let mut attention = vec![Attention { full_layers: n - cross, ..heads }, images];
    attention.retain(|group| group.layers() > 0);
    let feed_forward = feed_forward::read(reader, rules, frame)?;
    // Two gates per layer that attends to images.
    let other_vectors = IMAGE_ROWS * frame.hidden_size + 2 * cross;
    Ok(Layers { other_vectors, ..Layers::of(attention, feed_forward) })
}

/// ERNIE 4.5 VL: experts for text and, as many, for images; the shared expert is of the width of text.
pub(super) fn ernie_vl(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let field = named!(text, moe_intermediate_size);
    let [width, image_width] = match value(&field)? {
        Some(PerLayer::Each(widths)) => {
            let [text, images] = *widths.as_slice() else {
                let entries = widths.len() as u64;
                return Err(ConfigError::ListLength { field: field.name, entries, layers: 2 });
            };
            [text, images]
        }
        Some(PerLayer::All(width)) => [*width; 2],
        None => {
            reader.assume(field.name, Word("1536 for text and 512 for images"));
            EXPERT_WIDTHS
        }
    };
    let attention = attention::read(reader, rules, frame)?;
    let moe = match &rules.experts {
        Some(experts) => {
            // Published files state the first layer with experts, those of transformers list all.
            let starts = text.moe_layer_start_index.is_given();
            let dense = if starts { DenseWhere::Outside(1) } else { experts.dense };
            let experts = Experts { dense, ..*experts };
            feed_forward::mixture_of(reader, &experts, frame.n_layers, Some(width))?
        }
        None => None,
    };
    let mut feed_forward = feed_forward::beside(reader, rules, frame, moe)?;
    let images = feed_forward.moe.first().map(|moe| Moe {
        expert_width: image_width,
        shared_width: 0,
        for_images: true,
        ..*moe
    });
    feed_forward.moe.extend(images);
    Ok(Layers::of(vec![attention], feed_forward))
}
