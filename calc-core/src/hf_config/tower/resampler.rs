//! Projectors that attend to the patches of an image: learned queries, or squares of patches.

use alloc::vec;

use super::plain::{PlainEncoder, Projector};
use super::{MOST, MOST_PER_PATCH, Part, end};
use crate::hf_config::entry::Entry;
use crate::hf_config::fields::HfConfig;
use crate::hf_config::reader::value;
use crate::hf_config::refusal::ConfigError;
use crate::hf_config::tower_fields::TowerConfig;
use crate::image::ImageRule;

/// Learned queries of Aria for its largest image.
const ARIA_QUERIES: u64 = 256;
/// Groups of heads of keys in the resampler of Idefics 2; a file may state another number.
const PERCEIVER_KV_HEADS: u64 = 4;

/// The projector of a model; `None` if its file asks for another one.
pub(super) fn projector(
    part: &mut Part<'_, '_>,
    model_type: &str,
    encoder: &PlainEncoder,
) -> Result<Option<(Projector, ImageRule)>, ConfigError> {
    match model_type {
        "aria" => Ok(Some(aria(part, encoder))),
        "idefics2" => idefics2(part, encoder).map(Some),
        "granite_docling" => granite_docling(part, encoder).map(Some),
        _ => minicpm(part, encoder),
    }
}

/// Aria: learned queries attend to the patches, with projections before those of the attention itself.
fn aria(part: &Part<'_, '_>, encoder: &PlainEncoder) -> (Projector, ImageRule) {
    let (text, hidden) = (part.text, encoder.sizes.hidden);
    let merge = (encoder.grid * encoder.grid / ARIA_QUERIES).max(1);
    let square = |merge| end(hidden, hidden, merge);
    let ends = vec![
        square(merge),
        square(1),
        square(1),
        square(merge),
        square(1),
        square(1),
        square(merge),
        square(merge),
        end(text, hidden, merge),
        end(text, text, merge),
    ];
    // The queries, biases of the attention and of the matrix after it, three norms.
    let vectors = (ARIA_QUERIES + 4 + 1 + 6) * hidden;
    ((ends, vectors), ImageRule::Unknown { merge })
}

/// Idefics 2: a gated MLP, and layers in which learned latents attend to the patches and to each other.
fn idefics2(
    part: &mut Part<'_, '_>,
    encoder: &PlainEncoder,
) -> Result<(Projector, ImageRule), ConfigError> {
    let (text, hidden, outer) = (part.text, encoder.sizes.hidden, part.reader.outer);
    let none = TowerConfig::default();
    let field = outer.named("perceiver_config", &outer.perceiver_config);
    let config = value(&field)?.map_or(&none, |config| &**config);
    let mut read = |name, entry: &Entry<u64>, default| part.count(&[(name, entry)], default, MOST);
    let latents = read("resampler_n_latents", &config.resampler_n_latents, 64)?.max(1);
    let depth = read("resampler_depth", &config.resampler_depth, 3)?;
    let heads = read("resampler_n_heads", &config.resampler_n_heads, 16)?;
    let size = read("resampler_head_dim", &config.resampler_head_dim, 96)?;
    let kv_heads = read("num_key_value_heads", &config.num_key_value_heads, PERCEIVER_KV_HEADS)?;
    // The width of the MLP is that of the language model.
    let width = part.reader.size(HfConfig::width, |sizes| sizes.ffn_size)?;
    let merge = (encoder.grid * encoder.grid / latents).max(1);
    let mut ends = vec![end(2 * width, hidden, 1), end(text, width, 1)];
    for _ in 0..depth.min(MOST_PER_PATCH) {
        ends.extend([
            end(heads * size, text, merge),
            end(2 * kv_heads * size, text, 1),
            end(text, heads * size, merge),
            end(8 * text, text, merge),
            end(text, 4 * text, merge),
        ]);
    }
    let vectors = (latents + 3 * depth.min(MOST_PER_PATCH) + 1) * text;
    Ok(((ends, vectors), ImageRule::Unknown { merge }))
}

/// `MiniCPM`: attention within squares of patches that become one in the middle of the encoder, and another merge after it; `None`
/// for several merges after it.
fn minicpm(
    part: &mut Part<'_, '_>,
    encoder: &PlainEncoder,
) -> Result<Option<(Projector, ImageRule)>, ConfigError> {
    let (text, hidden, outer) = (part.text, encoder.sizes.hidden, part.reader.outer);
    if part.count(&[("merger_times", &outer.merger_times)], 1, MOST)? != 1 {
        return Ok(None);
    }
    let side = small!(part, window_kernel_size, 2)?;
    let inside = side * side;
    let after = [("merge_kernel_size", &outer.merge_kernel_size)];
    let after = part.count(&after, 2, MOST_PER_PATCH)?;
    let after = after * after;
    let (first, second, width) = (hidden * inside, hidden * after, encoder.sizes.width * inside);
    let merge = inside * after;
    let ends = vec![
        end(3 * hidden, hidden, 1),
        end(hidden, hidden, 1),
        end(width, first, inside),
        end(hidden, width, inside),
        end(second, second, merge),
        end(text, second, merge),
    ];
    let vectors = 6 * hidden + 2 * first + width + hidden + 2 * second + second + text;
    Ok(Some(((ends, vectors), ImageRule::Unknown { merge: merge.max(1) })))
}

/// Granite Docling: squares of patches through a coarse and a fine projection, each with projections of earlier layers.
fn granite_docling(
    part: &mut Part<'_, '_>,
    encoder: &PlainEncoder,
) -> Result<(Projector, ImageRule), ConfigError> {
    let (hidden, config) = (encoder.sizes.hidden, part.config);
    let outputs = vision!(part, out_hidden_size, 1024)?;
    let side = small!(part, scale_factor, 4)?;
    let (name, list) = ("vision_config.deepstack_visual_indexes", &config.deepstack_visual_indexes);
    let deep = part.list(name, list, &[3, 7, 10])?.len() as u64;
    let deep = deep.min(encoder.sizes.layers);
    let is_fine = part.flag("vision_config.use_fine_route", &config.use_fine_route, true)?;
    let sides = [Some(side), is_fine.then_some(side / 2)];
    let (mut ends, mut vectors) = (vec![], 2 * hidden + 4 * outputs);
    for side in sides.into_iter().flatten() {
        let (merge, merged) = ((side * side).max(1), hidden * side * side);
        ends.push(end(outputs, merged, merge));
        for _ in 0..deep {
            ends.extend([end(outputs, merged, merge), end(outputs, outputs, merge)]);
            vectors += 2 * merged + 2 * outputs;
        }
    }
    let merge = (side * side).max(1);
    ends.push(end(outputs, outputs, merge));
    Ok(((ends, vectors), ImageRule::Unknown { merge }))
}
