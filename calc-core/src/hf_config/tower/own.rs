//! Encoders of images that a single family has.

use alloc::vec;

use super::fields::{named, patches, tower};
use super::plain::width_by_ratio;
use super::{Biases, MOST, Part, Sizes, end};
use crate::hf_config::refusal::ConfigError;
use crate::image::{ImageRule, ImageTile};
use crate::model_arch::{MlpKind, Tower, TowerLayers};

/// Aspect ratios of tiles that Llama 3.2 Vision tells apart.
const MLLAMA_RATIOS: u64 = 8;

/// Llama 3.2 Vision: local and gated global layers over tiles. Its tokens attend to images in layers of their own, so an image is
/// one token in the prompt.
pub(super) fn mllama(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let (side, patch) = (vision!(part, image_size, 448)?, small!(part, patch_size, 14)?);
    let channels = small!(part, num_channels, 3)?;
    let hidden = vision!(part, hidden_size, 1280)?;
    let sizes = Sizes {
        layers: vision!(part, num_hidden_layers, 32)?,
        hidden,
        heads: vision!(part, attention_heads, 16)?,
        width: vision!(part, intermediate_size, 5120)?,
        mlp: MlpKind::Plain,
    };
    let global = vision!(part, num_global_layers, 8)?;
    let tiles = small!(part, max_num_tiles, 4)?;
    let outputs = vision!(part, vision_output_dim, 7680)?;
    let name = "vision_config.supported_aspect_ratios";
    let ratios = part.length(name, &part.config.supported_aspect_ratios, MLLAMA_RATIOS)?;
    let local = sizes.with(Biases { attention: 0, ..Biases::ALL });
    let gated = TowerLayers { layers: global, vectors: local.vectors + 2, ..local };
    let positions = (side / patch.max(1)) * (side / patch.max(1)) + 1;
    let ends = vec![end(hidden, channels * patch * patch, 1), end(part.text, outputs, 1)];
    // The class embedding, positions with it, the norms around the layers; tables of the tiles with their gates.
    let whole = (1 + positions + 4) * hidden + 3 + part.text;
    let of_tiles = (ratios + 1) * tiles * hidden * (positions + 2);
    let rule = ImageRule::Unknown { merge: positions };
    Ok(tower(vec![local, gated], ends, whole + of_tiles, rule))
}

/// The encoder of Segment Anything as GOT-OCR 2 has it: windows in most layers, tables of relative positions, and convolutions that
/// merge 16 patches.
pub(super) fn segment_anything(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let (side, patch) = (vision!(part, image_size, 1024)?, small!(part, patch_size, 16)?);
    let channels = small!(part, num_channels, 3)?;
    let (layers, hidden) =
        (vision!(part, num_hidden_layers, 12)?, vision!(part, hidden_size, 768)?);
    let heads = vision!(part, num_attention_heads, 12)?;
    let width = vision!(part, mlp_dim, 3072)?;
    let outputs = vision!(part, output_channels, 256)?;
    let window = small!(part, window_size, 14)?.max(1);
    let config = part.config;
    let (name, list) = ("vision_config.global_attn_indexes", &config.global_attn_indexes);
    let global = part.list(name, list, &[2, 5, 8, 11])?;
    let global = global.iter().filter(|index| **index < layers).count() as u64;
    let grid = side / patch.max(1);
    let all = Sizes { layers, hidden, heads, width, mlp: MlpKind::Plain }.with(Biases::ALL);
    let group = |layers, side: u64, window| TowerLayers {
        layers,
        window,
        vectors: all.vectors + 2 * (2 * side).saturating_sub(1) * all.head_dim,
        ..all
    };
    let windowed = group(layers - global.min(layers), window, Some(window * window));
    let groups = vec![windowed, group(global.min(layers), grid, None)];
    let text = part.text;
    let ends = vec![
        end(hidden, channels * patch * patch, 1),
        end(outputs, hidden, 1),
        end(outputs, 9 * outputs, 1),
        end(2 * outputs, 9 * outputs, 4),
        end(text, 18 * outputs, 16),
        end(text, text, 16),
    ];
    let vectors = (1 + grid * grid) * hidden + 4 * outputs + text;
    Ok(tower(groups, ends, vectors, ImageRule::Unknown { merge: 16 }))
}

/// RADIO as Nemotron Omni has it: scales of the residuals, and positions for the largest image.
pub(super) fn radio(part: &mut Part<'_, '_>) -> Result<Option<Tower>, ConfigError> {
    let hidden = vision!(part, hidden_size, 1280)?;
    let Some(width) = width_by_ratio(part, hidden, 4.0) else { return Ok(None) };
    let sizes = Sizes {
        layers: vision!(part, num_hidden_layers, 32)?,
        hidden,
        heads: vision!(part, num_attention_heads, 16)?,
        width,
        mlp: MlpKind::Plain,
    };
    let mut layers = sizes.with(Biases::ALL);
    // Two scales of the residuals.
    layers.vectors += 2 * hidden;
    let patch = small!(part, patch_size, 16)?;
    let grid = vision!(part, max_img_size, 2048)? / patch.max(1);
    let marks = small!(part, num_cls_tokens, 3)? + small!(part, num_registers, 7)?;
    let values = vision!(part, patch_dim, 768)?;
    let of_video = vision!(part, video_patch_dim, 1536)?;
    let outer = part.reader.outer;
    let inner =
        part.count(&[("projector_hidden_size", &outer.projector_hidden_size)], 4096, MOST)?;
    let side = super::merge_of("downsample_ratio", &outer.downsample_ratio)?;
    let (text, merge) = (part.text, side * side);
    let ends =
        vec![end(hidden, values, 1), end(inner, hidden * merge, merge), end(text, inner, merge)];
    // Positions, marks, the projection of the patches of videos, and the norm of the projector.
    let vectors = (grid * grid + marks + of_video + merge) * hidden;
    Ok(Some(tower(vec![layers], ends, vectors, ImageRule::Unknown { merge })))
}

/// Ovis 2: patches become weights over a vocabulary of images, whose table gives the tokens.
pub(super) fn ovis2(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let (side, patch) = (vision!(part, image_size, 224)?, small!(part, patch_size, 14)?);
    let channels = small!(part, num_channels, 3)?;
    let sizes = named(part, [24, 1024, 8, 2816], MlpKind::Gated)?;
    let config = part.config;
    let attention =
        if part.flag("vision_config.qkv_bias", &config.qkv_bias, false)? { 4 } else { 0 };
    let mlp = part.flag("vision_config.mlp_bias", &config.mlp_bias, false)?;
    let rows = vision!(part, vocab_size, 16_384)?;
    let marks = small!(part, num_visual_indicator_tokens, 5)?;
    let stride = small!(part, hidden_stride, 1)?;
    let outer = part.reader.outer;
    let width = part.count(&[("hidden_size", &outer.hidden_size)], part.text, MOST)?;
    let (hidden, grid, merge) = (sizes.hidden, side / patch.max(1), stride * stride);
    let words = rows.saturating_sub(marks);
    let ends = vec![
        end(hidden, channels * patch * patch, 1),
        end(words, hidden * merge, merge),
        end(width, rows, merge),
    ];
    // The bias of the patches, positions, a norm before and after the layers, and the norm of the words.
    let vectors = (1 + grid * grid + 2) * hidden + 2 * words;
    let layers = vec![sizes.with(Biases { attention, mlp, ..Biases::NONE })];
    let tile = ImageTile { positions: grid * grid, tokens: grid * grid / merge.max(1) };
    let rule = ImageRule::Unknown { merge: tile.positions / tile.tokens.max(1) };
    Ok(tower(layers, ends, vectors, rule))
}

/// LFM3-VL: convolutions over neighbors in most layers, and attention with grouped heads.
pub(super) fn lfm3(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let patches = patches(part, 16)?;
    let sizes = named(part, [14, 1024, 16, 2560], MlpKind::Gated)?;
    let kv_heads = vision!(part, num_key_value_heads, 8)?;
    let kernel = small!(part, conv_kernel_size, 3)?;
    let kinds = ("vision_config.layer_types", &part.config.layer_types);
    let layers = sizes.layers;
    let with_attention = part.layers_of(kinds, &["full_attention"], (layers, layers))?;
    let all = sizes.with(Biases::NONE).grouped(kv_heads, 0);
    let hidden = sizes.hidden;
    let attention =
        TowerLayers { layers: with_attention, vectors: all.vectors + 2 * all.head_dim, ..all };
    let convolution = TowerLayers {
        layers: sizes.layers - with_attention,
        n_heads: 0,
        n_kv_heads: 0,
        other_matrices: 4 * hidden * hidden,
        vectors: all.vectors + kernel * kernel * hidden,
        ..all
    };
    let outer = part.reader.outer;
    let inner =
        part.count(&[("projector_hidden_size", &outer.projector_hidden_size)], 4096, MOST)?;
    let has_bias = part.flag("projector_bias", &outer.projector_bias, true)?;
    let (text, merge) = (part.text, patches.merge * patches.merge);
    let ends = vec![
        end(hidden, patches.values, 1),
        end(inner, hidden * merge, merge),
        end(text, inner, merge),
    ];
    let vectors = 3 * hidden + if has_bias { inner + text } else { 0 };
    Ok(tower(
        vec![attention, convolution],
        ends,
        vectors,
        ImageRule::Unknown { merge: merge.max(1) },
    ))
}
