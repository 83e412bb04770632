//! Encoders of CLIP, `SigLIP` and Pixtral, with the projectors of the models that use them.

use alloc::vec;
use alloc::vec::Vec;

use super::fields::{named, tower};
use super::{Biases, MOST, MOST_PER_PATCH, Part, Sizes, end};
use crate::hf_config::refusal::ConfigError;
use crate::hf_config::{AssumedValue, Entry, Found};
use crate::image::{ImageRule, ImageTile};
use crate::math;
use crate::model_arch::{MlpKind, Tower, TowerEnd};

/// An encoder without its projector.
#[derive(Debug, Clone, Copy)]
struct Encoder {
    sizes: Sizes,
    /// Side of an image in pixels.
    side: u64,
    /// Patches per side of an image.
    grid: u64,
    /// Number of values of a patch.
    values: u64,
}

/// A projector: matrices, and the number of its biases and norm weights.
type Projector = (Vec<TowerEnd>, u64);

fn encoder(
    part: &mut Part<'_, '_>,
    sizes: [u64; 4],
    (side, patch): (u64, u64),
    mlp: MlpKind,
) -> Result<Encoder, ConfigError> {
    let (side, patch) = (vision!(part, image_size, side)?, small!(part, patch_size, patch)?);
    let channels = small!(part, num_channels, 3)?;
    let sizes = named(part, sizes, mlp)?;
    Ok(Encoder { sizes, side, grid: side / patch.max(1), values: channels * patch * patch })
}

impl Encoder {
    fn tower(
        &self,
        biases: Biases,
        (projector, of_projector): Projector,
        vectors: u64,
        rule: ImageRule,
    ) -> Tower {
        let mut ends = vec![end(self.sizes.hidden, self.values, 1)];
        ends.extend(projector);
        tower(vec![self.sizes.with(biases)], ends, vectors + of_projector, rule)
    }
}

/// The projector of `LLaVA`: two matrices, and for tiles the embedding at the end of a row.
fn llava(part: &mut Part<'_, '_>, hidden: u64, model_type: &str) -> Result<Projector, ConfigError> {
    let (text, outer) = (part.text, part.reader.outer);
    let flag = &outer.multimodal_projector_bias;
    let has_bias = part.flag("multimodal_projector_bias", flag, model_type != "mistral3")?;
    let biases = if has_bias { 2 * text } else { 0 };
    let newline = if model_type.starts_with("llava_") { text } else { 0 };
    Ok((vec![end(text, hidden, 1), end(text, text, 1)], biases + newline))
}

pub(super) fn clip(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let encoder = encoder(part, [24, 1024, 16, 4096], (336, 14), MlpKind::Plain)?;
    let (hidden, patches) = (encoder.sizes.hidden, encoder.grid * encoder.grid);
    let projector = llava(part, hidden, model_type)?;
    let tile = ImageTile { positions: patches + 1, tokens: patches };
    let rule = match model_type {
        "llava" => ImageRule::Fixed { tile, separators: 0 },
        _ => ImageRule::Unknown { merge: 1 },
    };
    // The class embedding, positions with it, and the norms before and after the layers.
    Ok(encoder.tower(Biases::ALL, projector, (1 + patches + 1 + 4) * hidden, rule))
}

/// Tokens around an image of Gemma 3: two line breaks, a token before and one after.
const GEMMA3_SEPARATORS: u64 = 4;
/// Scale of the longer side of an image to a tile in the processors of Idefics 3 and `SmolVLM`.
const GRID_TILES: u64 = 4;

pub(super) fn siglip(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let is_grid = matches!(model_type, "smolvlm" | "idefics3");
    let usual = if is_grid { [12, 1152, 16, 3072] } else { [12, 768, 12, 3072] };
    let side = if is_grid { (224, 32) } else { (224, 16) };
    let encoder = encoder(part, usual, side, MlpKind::Plain)?;
    let (hidden, patches) = (encoder.sizes.hidden, encoder.grid * encoder.grid);
    let fixed = |tokens, separators| ImageRule::Fixed {
        tile: ImageTile { positions: patches, tokens },
        separators,
    };
    let (text, outer) = (part.text, part.reader.outer);
    let (projector, rule) = match model_type {
        "gemma3" => {
            let name = [("mm_tokens_per_image", &outer.mm_tokens_per_image)];
            let tokens = part.count(&name, 256, MOST)?.max(1);
            let projector = vec![end(text, hidden, (patches / tokens).max(1))];
            ((projector, hidden), fixed(tokens, GEMMA3_SEPARATORS))
        }
        "paligemma" => ((vec![end(text, hidden, 1)], text), fixed(patches, 0)),
        "smolvlm" | "idefics3" => {
            let merge = part.count(&[("scale_factor", &outer.scale_factor)], 2, MOST_PER_PATCH)?;
            let area = (merge * merge).max(1);
            let tile = ImageTile { positions: patches, tokens: patches / area };
            let longest = GRID_TILES * encoder.side;
            let rule = ImageRule::Grid { side: encoder.side, tile, longest };
            ((vec![end(text, hidden * area, area)], 0), rule)
        }
        _ => {
            let rule = match model_type {
                "llava" => fixed(patches, 0),
                _ => ImageRule::Unknown { merge: 1 },
            };
            (llava(part, hidden, model_type)?, rule)
        }
    };
    // The bias of the patches, positions, and the norm after the layers.
    let vectors = (1 + patches + 2) * hidden;
    let mut tower = encoder.tower(Biases::ALL, projector, vectors, rule);
    let has_head = !is_grid && head_flag(part)?;
    if has_head {
        head(&mut tower, encoder.sizes);
    }
    Ok(tower)
}

/// Whether `SigLIP` has a head that pools the image.
fn head_flag(part: &mut Part<'_, '_>) -> Result<bool, ConfigError> {
    let config = part.config;
    part.flag("vision_config.vision_use_head", &config.vision_use_head, true)
}

/// Adds the head of `SigLIP`: attention of one learned position to the image, and an MLP. It runs once per image.
fn head(tower: &mut Tower, sizes: Sizes) {
    let Sizes { hidden, width, .. } = sizes;
    tower.vectors += 4 * hidden * hidden + 2 * hidden * width + (1 + 4 + 2 + 1) * hidden + width;
}

pub(super) fn phi4(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let encoder = encoder(part, [27, 1152, 16, 4304], (448, 14), MlpKind::Plain)?;
    let (hidden, patches, text) = (encoder.sizes.hidden, encoder.grid * encoder.grid, part.text);
    let projector = (vec![end(text, hidden, 4), end(text, text, 4)], 2 * text);
    // The bias of the patches, positions, the norm after the layers, and the marks of whole and part.
    let vectors = (1 + patches + 2 + 2) * hidden;
    let mut tower = encoder.tower(Biases::ALL, projector, vectors, ImageRule::Unknown { merge: 4 });
    head(&mut tower, encoder.sizes);
    Ok(tower)
}

pub(super) fn siglip2(part: &mut Part<'_, '_>) -> Result<Tower, ConfigError> {
    let encoder = encoder(part, [12, 768, 12, 3072], (0, 16), MlpKind::Plain)?;
    let positions = vision!(part, num_patches, 256)?;
    let (text, hidden, outer) = (part.text, encoder.sizes.hidden, part.reader.outer);
    let factor =
        part.count(&[("downsample_factor", &outer.downsample_factor)], 2, MOST_PER_PATCH)?;
    let inner =
        part.count(&[("projector_hidden_size", &outer.projector_hidden_size)], 2560, MOST)?;
    let has_bias = part.flag("projector_bias", &outer.projector_bias, true)?;
    let has_norm = part.flag("projector_use_layernorm", &outer.projector_use_layernorm, true)?;
    let area = factor * factor;
    let merged = hidden * area;
    let of_projector =
        if has_bias { inner + text } else { 0 } + if has_norm { 2 * merged } else { 0 };
    let projector = (vec![end(inner, merged, area), end(text, inner, area)], of_projector);
    let vectors = (1 + positions + 2) * hidden;
    let rule = ImageRule::Unknown { merge: area.max(1) };
    let mut tower = encoder.tower(Biases::ALL, projector, vectors, rule);
    if head_flag(part)? {
        head(&mut tower, encoder.sizes);
    }
    Ok(tower)
}

pub(super) fn pixtral(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let is_merged = model_type == "mistral3";
    let side = if is_merged { (1540, 14) } else { (1024, 16) };
    let encoder = encoder(part, [24, 1024, 16, 4096], side, MlpKind::Gated)?;
    let hidden = encoder.sizes.hidden;
    let (mut projector, mut biases) = llava(part, hidden, model_type)?;
    let outer = part.reader.outer;
    let mut merge = 1;
    if is_merged {
        merge =
            part.count(&[("spatial_merge_size", &outer.spatial_merge_size)], 2, MOST_PER_PATCH)?;
        let area = merge * merge;
        for matrix in &mut projector {
            matrix.merge = area;
        }
        projector.insert(0, end(hidden, hidden * area, area));
        biases += hidden;
    }
    let patch = encoder.side / encoder.grid.max(1);
    let rule = ImageRule::Rows { patch, merge, longest: encoder.side };
    Ok(encoder.tower(Biases::NONE, (projector, biases), hidden, rule))
}

/// Width of the MLP of the perception encoder in units of its hidden size, as Step 3.7 has it.
const PERCEPTION_RATIO: f64 = 8960.0 / 1536.0;

/// The perception encoder of Step 3.7, with two convolutions that each merge 2 by 2 positions; `None` with a class position.
pub(super) fn perception(part: &mut Part<'_, '_>) -> Result<Option<Tower>, ConfigError> {
    let config = part.config;
    if part.flag("vision_config.use_cls_token", &config.use_cls_token, false)? {
        return Ok(None);
    }
    let hidden = vision!(part, width, 1536)?;
    let ratio = match &config.mlp_ratio {
        Entry::Value(ratio) => *ratio as f64,
        Entry::Wrong(Found::Number(ratio)) => *ratio,
        Entry::Absent | Entry::Null | Entry::Wrong(_) => {
            part.reader.assume("vision_config.mlp_ratio", AssumedValue::Word("8960 / 1536"));
            PERCEPTION_RATIO
        }
    };
    let width = math::round(ratio * hidden as f64);
    if !(1.0..=MOST as f64).contains(&width) {
        return Ok(None);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in range"
    )]
    let width = width as u64;
    let sizes = Sizes {
        layers: vision!(part, layers, 47)?,
        hidden,
        heads: vision!(part, heads, 16)?,
        width,
        mlp: MlpKind::Plain,
    };
    let grid = vision!(part, image_size, 728)? / small!(part, patch_size, 14)?.max(1);
    let side = small!(part, patch_size, 14)?;
    let mut layers = sizes.with(Biases::ALL);
    // Two scales of the residuals.
    layers.vectors += 2 * hidden;
    let ends = vec![
        end(hidden, 3 * side * side, 1),
        end(2 * hidden, 9 * hidden, 4),
        end(4 * hidden, 18 * hidden, 16),
        end(part.text, 4 * hidden, 16),
    ];
    // Positions, the norm before the layers, and the biases of the convolutions.
    let vectors = (grid * grid + 2 + 6) * hidden;
    Ok(Some(tower(vec![layers], ends, vectors, ImageRule::Unknown { merge: 16 })))
}
