//! Encoders that compute an image in square tiles: Llama 4, `InternVL`.

use alloc::vec;

use super::fields::{named, tower};
use super::{Biases, Part, end, merge_of};
use crate::hf_config::refusal::ConfigError;
use crate::image::{ImageRule, ImageTile};
use crate::model_arch::{MlpKind, Tower};

/// Largest number of tiles of the processor of Llama 4.
const LLAMA4_TILES: u64 = 16;
/// Largest number of tiles of the processor of `InternVL`.
const INTERNVL_TILES: u64 = 12;

pub(super) fn llama4(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let (side, patch) = (vision!(part, image_size, 448)?, small!(part, patch_size, 14)?);
    let channels = small!(part, num_channels, 3)?;
    let sizes = named(part, [34, 768, 16, 5632], MlpKind::Plain)?;
    let inner = vision!(part, projector_input_dim, 4096)?;
    let outputs = vision!(part, projector_output_dim, 4096)?;
    let joined = vision!(part, vision_output_dim, 7680)?;
    let config = part.config;
    let merge = merge_of("vision_config.pixel_shuffle_ratio", &config.pixel_shuffle_ratio)?;
    let area = merge * merge;
    let (hidden, grid) = (sizes.hidden, side / patch.max(1));
    let ends = vec![
        end(hidden, channels * patch * patch, 1),
        end(inner, sizes.width, area),
        end(outputs, inner, area),
        end(part.text, joined, area),
    ];
    // The class embedding, positions with it, and the norms before and after the layers.
    let vectors = (1 + grid * grid + 1 + 4) * hidden;
    let tile = ImageTile { positions: grid * grid + 1, tokens: grid * grid / area };
    let rule = ImageRule::Canvas { side, tile, most: LLAMA4_TILES };
    Ok(tower(vec![sizes.with(Biases::ALL)], ends, vectors, rule))
}

pub(super) fn internvl(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let (side, patch) = (vision!(part, image_size, 448)?, small!(part, patch_size, 14)?);
    let channels = small!(part, num_channels, 3)?;
    let sizes = named(part, [24, 1024, 16, 4096], MlpKind::Plain)?;
    let (config, outer) = (part.config, part.reader.outer);
    let merge = merge_of("downsample_ratio", &outer.downsample_ratio)?;
    let area = merge * merge;
    let has_bias = match (config.attention_bias.value(), config.qkv_bias.value()) {
        (Some(bias), _) | (None, Some(bias)) => *bias,
        (None, None) => part.flag("vision_config.attention_bias", &config.attention_bias, true)?,
    };
    let normed = [&config.use_qk_norm, &config.qk_normalization];
    let normed = if normed.iter().any(|entry| entry.value() == Some(&true)) { 2 } else { 0 };
    let per_norm =
        if config.norm_type.value().is_some_and(|kind| kind == "rms_norm") { 1 } else { 2 };
    let (hidden, grid) = (sizes.hidden, side / patch.max(1));
    let mut layers =
        sizes.with(Biases { per_norm, attention: if has_bias { 4 } else { 1 }, ..Biases::ALL });
    // Two scales of the residuals, and norms of queries and keys.
    layers.vectors += (2 + normed) * hidden;
    let (text, merged) = (part.text, hidden * area);
    let ends = vec![
        end(hidden, channels * patch * patch, 1),
        end(text, merged, area),
        end(text, text, area),
    ];
    // The class embedding, positions with it, the bias of the patches, and the projector.
    let vectors = (1 + grid * grid + 1 + 1) * hidden + 2 * merged + 2 * text;
    let tile = ImageTile { positions: grid * grid + 1, tokens: grid * grid / area };
    let rule = ImageRule::Tiles { side, tile, most: INTERNVL_TILES };
    Ok(tower(vec![layers], ends, vectors, rule))
}
