//! Encoders whose patches are merged in squares: Qwen, GLM, Kimi, `MiniMax`.

use alloc::vec;

use super::fields::{Patches, deep, named, patches, tower};
use super::{Biases, MOST, Part, Sizes, end};
use crate::error::in_range;
use crate::hf_config::refusal::ConfigError;
use crate::image::ImageRule;
use crate::model_arch::{MlpKind, Tower, TowerEnd, TowerLayers};

/// The projector of Qwen: merged patches through two matrices with biases.
fn merger(hidden: u64, merge: u64, outputs: u64) -> ([TowerEnd; 2], u64) {
    let (merged, area) = (hidden * merge * merge, merge * merge);
    ([end(merged, merged, area), end(outputs, merged, area)], merged + outputs)
}

/// Limits of the published processors of Qwen2-VL and Qwen2.5-VL, in pixels.
const QWEN2_PIXELS: (u64, u64) = (56 * 56, 12_845_056);
/// Limits of the published processors of Qwen3-VL and Qwen3.5, in pixels.
const QWEN3_PIXELS: (u64, u64) = (65_536, 16_777_216);

fn area(patches: Patches, (least, most): (u64, u64)) -> ImageRule {
    ImageRule::Area { patch: patches.side, merge: patches.merge, least, most }
}

pub(super) fn qwen2(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let patches = patches(part, 14)?;
    let hidden = vision!(part, embed_dim, 1280)?;
    let outputs = vision!(part, hidden_size, 3584)?;
    let width = hidden * small!(part, mlp_ratio, 4)?;
    let (layers, heads) = (vision!(part, depth, 32)?, vision!(part, num_heads, 16)?);
    let sizes = Sizes { layers, hidden, heads, width, mlp: MlpKind::Plain };
    let (merger, biases) = merger(hidden, patches.merge, outputs);
    let ends = [end(hidden, patches.values, 1)].into_iter().chain(merger).collect();
    let rule = area(patches, QWEN2_PIXELS);
    Ok(tower(vec![sizes.with(Biases::ALL)], ends, 2 * hidden + biases, rule))
}

/// Qwen2.5-VL, and two families with its encoder: with grouped heads (EXAONE 4.5), or with one more matrix (HyperCLOVA X).
pub(super) fn qwen2_5(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let patches = patches(part, 14)?;
    let sizes = deep(part, [32, 3584, 16, 3420], MlpKind::Gated)?;
    let outputs = vision!(part, out_hidden_size, 3584)?;
    let window = vision!(part, window_size, 112)? / patches.side.max(1);
    let config = part.config;
    let full = &config.fullatt_block_indexes;
    let full = part.list("vision_config.fullatt_block_indexes", full, &[7, 15, 23, 31])?;
    let full = full.iter().filter(|index| **index < sizes.layers).count() as u64;
    let biases = Biases { attention: 4, mlp: true, ..Biases::NONE };
    let mut all = sizes.with(biases);
    if model_type == "exaone4_5" {
        all = all.grouped(vision!(part, num_key_value_heads, 8)?, 2);
    }
    let windowed = TowerLayers {
        layers: sizes.layers - full.min(sizes.layers),
        window: Some((window * window).max(1)),
        ..all
    };
    let layers = vec![windowed, TowerLayers { layers: full.min(sizes.layers), ..all }];
    let (merger, mut vectors) = merger(sizes.hidden, patches.merge, outputs);
    let mut ends = vec![end(sizes.hidden, patches.values, 1)];
    ends.extend(merger);
    if model_type == "hyperclovax_vision_v2" {
        ends.push(end(part.text, outputs, patches.merge * patches.merge));
        vectors += part.text;
    }
    Ok(tower(layers, ends, sizes.hidden + vectors, area(patches, QWEN2_PIXELS)))
}

pub(super) fn qwen3(part: &mut Part<'_, '_>, has_deepstack: bool) -> Result<Tower, ConfigError> {
    let patches = patches(part, 16)?;
    let sizes = deep(part, [27, 1152, 16, 4304], MlpKind::Plain)?;
    let outputs = vision!(part, out_hidden_size, 3584)?;
    let positions = vision!(part, num_position_embeddings, 2304)?;
    let config = part.config;
    let (name, list) = ("vision_config.deepstack_visual_indexes", &config.deepstack_visual_indexes);
    // Qwen3.5 has no such projectors, whether its file says so or not.
    let usual: &[u64] = if has_deepstack { &[8, 16, 24] } else { &[] };
    let deep = if has_deepstack || list.is_given() { part.list(name, list, usual)? } else { usual };
    // Each index has its projector, also one beyond the layers.
    let deep = in_range(name, deep.len() as u64, 0, MOST).map_err(ConfigError::Value)?;
    let merged = sizes.hidden * patches.merge * patches.merge;
    let (merger, biases) = merger(sizes.hidden, patches.merge, outputs);
    let mut ends = vec![end(sizes.hidden, patches.values, 1)];
    for _ in 0..=deep {
        ends.extend(merger);
    }
    let vectors = (1 + positions + 2) * sizes.hidden + biases + deep * (2 * merged + biases);
    Ok(tower(vec![sizes.with(Biases::ALL)], ends, vectors, area(patches, QWEN3_PIXELS)))
}

/// Limits of the published processors of GLM, in pixels of one of its two frames.
const GLM_PIXELS: (u64, u64) = (112 * 112 / 2, 28 * 28 * 15_000 / 2);

pub(super) fn glm(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let patches = patches(part, 14)?;
    let mut sizes = deep(part, [24, 1536, 12, 13_696], MlpKind::Gated)?;
    let outputs = vision!(part, out_hidden_size, 4096)?;
    let side = vision!(part, image_size, 336)? / patches.side.max(1);
    let inner = core::mem::replace(&mut sizes.width, outputs);
    let (hidden, area_of_token) = (sizes.hidden, patches.merge * patches.merge);
    let flag = part.config.attention_bias.clone();
    let has_bias = part.flag("vision_config.attention_bias", &flag, false)?;
    // The bias of the output projection is off in any case.
    let attention = if has_bias { 3 } else { 0 };
    let ends = vec![
        end(hidden, patches.values, 1),
        end(outputs, hidden * area_of_token, area_of_token),
        end(outputs, outputs, area_of_token),
        end(2 * inner, outputs, area_of_token),
        end(outputs, inner, area_of_token),
    ];
    let vectors = (side * side + 1 + 2) * hidden + 3 * outputs;
    let layers = vec![sizes.with(Biases { attention, ..Biases::NONE })];
    Ok(tower(layers, ends, vectors, area(patches, GLM_PIXELS)))
}

/// GLM-OCR and GLM-5 Next: norms of queries and keys, biases by a flag, no table of positions.
pub(super) fn glm_ocr(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let patches = patches(part, 14)?;
    let sizes = deep(part, [24, 1024, 16, 4096], MlpKind::Gated)?;
    let outputs = vision!(part, out_hidden_size, 1536)?;
    let flag = part.config.attention_bias.clone();
    let has_bias = part.flag("vision_config.attention_bias", &flag, true)?;
    let inner = match model_type {
        "glm5_next" => vision!(part, projection_intermediate_size, 10_240)?,
        // Three channels of a picture.
        _ => outputs * small!(part, in_channels, 3)?,
    };
    let (hidden, area_of_token) = (sizes.hidden, patches.merge * patches.merge);
    let attention = if has_bias { 4 } else { 0 };
    let mut layers = sizes.with(Biases { attention, mlp: has_bias, ..Biases::NONE });
    // Norms of queries and keys.
    layers.vectors += 2 * layers.head_dim;
    let ends = vec![
        end(hidden, patches.values, 1),
        end(outputs, hidden * area_of_token, area_of_token),
        end(outputs, outputs, area_of_token),
        end(2 * inner, outputs, area_of_token),
        end(outputs, inner, area_of_token),
    ];
    // The bias of the patches, the norm after the layers, the bias of the merge, and the norm of the projector.
    Ok(tower(vec![layers], ends, 2 * hidden + 3 * outputs, area(patches, GLM_PIXELS)))
}

/// ERNIE 4.5 VL: patches merged in squares, and in pairs of frames.
pub(super) fn ernie(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let side = small!(part, patch_size, 14)?;
    let channels = small!(part, in_channels | in_chans | num_channels, 3)?;
    let merge = small!(part, spatial_merge_size, 2)?;
    let frames = small!(part, temporal_merge_size, 2)?;
    let sizes = deep(part, [32, 1280, 16, 5120], MlpKind::Plain)?;
    let (text, hidden, area) = (part.text, sizes.hidden, merge * merge);
    let merged = hidden * area;
    let ends = vec![
        end(hidden, channels * side * side, 1),
        end(merged, merged, area),
        end(merged, merged, area),
        end(merged, merged * frames, area),
        end(merged, merged, area),
        end(text, merged, area),
    ];
    // The norm after the layers; biases of all matrices after it, and three norms.
    let vectors = 2 * hidden + 8 * merged + 2 * text;
    let rule = ImageRule::Unknown { merge: area.max(1) };
    Ok(tower(vec![sizes.with(Biases::ALL)], ends, vectors, rule))
}

/// Limits of the processor of MiniMax-M3, in pixels.
const MINIMAX_PIXELS: (u64, u64) = (4 * 28 * 28, 451_584);

pub(super) fn minimax(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let patches = patches(part, 14)?;
    let sizes = named(part, [32, 1280, 16, 5120], MlpKind::Plain)?;
    let (outer, usual) = (part.reader.outer, part.text);
    let inner =
        part.count(&[("projector_hidden_size", &outer.projector_hidden_size)], usual, MOST)?;
    let (text, hidden, merge) = (part.text, sizes.hidden, patches.merge * patches.merge);
    let ends = vec![
        end(hidden, patches.values, 1),
        end(inner, hidden, 1),
        end(text, inner, 1),
        end(inner, text * merge, merge),
        end(text, inner, merge),
    ];
    let vectors = 2 * hidden + 2 * (inner + text);
    Ok(tower(vec![sizes.with(Biases::ALL)], ends, vectors, area(patches, MINIMAX_PIXELS)))
}

/// Largest number of patches of the processor of Kimi K2.5.
const KIMI_PATCHES: u64 = 16_384;

pub(super) fn kimi(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let side = small!(part, patch_size, 14)?;
    let merge = small!(part, merge_kernel_size, 2)?;
    let sizes = named(part, [27, 1152, 16, 4304], MlpKind::Plain)?;
    let positions =
        vision!(part, init_pos_emb_height, 64)? * vision!(part, init_pos_emb_width, 64)?;
    let (hidden, area) = (sizes.hidden, merge * merge);
    let ends = vec![
        end(hidden, 3 * side * side, 1),
        end(hidden * area, hidden * area, area),
        end(part.text, hidden * area, area),
    ];
    // Bias of the patches, positions, the last norm and that of the projector.
    let vectors = (1 + positions + 4) * hidden + hidden * area + part.text;
    let rule = ImageRule::Padded { patch: side, merge, most: KIMI_PATCHES };
    Ok(tower(vec![sizes.with(Biases::ALL)], ends, vectors, rule))
}

/// Kimi K3: queries, keys and values of a width of their own, without biases.
pub(super) fn kimi_k3(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let side = small!(part, patch_size, 14)?;
    let merge = small!(part, merge_kernel_size, 2)?;
    let sizes = named(part, [27, 1024, 12, 4096], MlpKind::Plain)?;
    let inner = vision!(part, qkv_hidden_size, 1536)?;
    let positions =
        vision!(part, init_pos_emb_height, 64)? * vision!(part, init_pos_emb_width, 64)?;
    let (text, hidden, area) = (part.text, sizes.hidden, merge * merge);
    let ends = vec![
        end(hidden, 3 * side * side, 1),
        end(hidden * area, hidden * area, area),
        end(text, hidden * area, area),
    ];
    let mut layers = sizes.with(Biases::NONE);
    layers.head_dim = inner / layers.n_heads.max(1);
    // Positions, the last norm and that of the projector.
    let vectors = (positions + 1) * hidden + text;
    let rule = ImageRule::Padded { patch: side, merge, most: KIMI_PATCHES };
    Ok(tower(vec![layers], ends, vectors, rule))
}
