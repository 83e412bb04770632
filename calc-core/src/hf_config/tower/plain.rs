//! Encoders of CLIP and Pixtral with the projectors of the models that use them, and what `SigLIP` shares with them.

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
pub(super) struct PlainEncoder {
    pub(super) sizes: Sizes,
    /// Side of an image in pixels.
    pub(super) side: u64,
    /// Patches per side of an image.
    pub(super) grid: u64,
    /// Number of values of a patch.
    values: u64,
}

/// A projector: matrices, and the number of its biases and norm weights.
pub(super) type Projector = (Vec<TowerEnd>, u64);

pub(super) fn encoder(
    part: &mut Part<'_, '_>,
    sizes: [u64; 4],
    (side, patch): (u64, u64),
    mlp: MlpKind,
) -> Result<PlainEncoder, ConfigError> {
    let (side, patch) = (vision!(part, image_size, side)?, small!(part, patch_size, patch)?);
    let channels = small!(part, num_channels, 3)?;
    let sizes = named(part, sizes, mlp)?;
    Ok(PlainEncoder { sizes, side, grid: side / patch.max(1), values: channels * patch * patch })
}

impl PlainEncoder {
    pub(super) fn tower(
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
pub(super) fn llava(
    part: &mut Part<'_, '_>,
    hidden: u64,
    model_type: &str,
) -> Result<Projector, ConfigError> {
    let (text, outer) = (part.text, part.reader.outer);
    let flag = &outer.multimodal_projector_bias;
    let usual = !matches!(model_type, "mistral3" | "mistral_large4");
    // LightOnOCR has no such flag and no bias.
    let has_bias =
        model_type != "lighton_ocr" && part.flag("multimodal_projector_bias", flag, usual)?;
    let biases = if has_bias { 2 * text } else { 0 };
    let newline = if model_type.starts_with("llava_") { text } else { 0 };
    Ok((vec![end(text, hidden, 1), end(text, text, 1)], biases + newline))
}

/// Layers that the projector of `ViP-LLaVA` joins, where the file does not list them.
const VIPLLAVA_LAYERS: u64 = 5;

/// The projector of `ViP-LLaVA`: the outputs of several layers side by side, a norm and two matrices.
fn layers_joined(part: &mut Part<'_, '_>, hidden: u64) -> Result<Projector, ConfigError> {
    let (text, outer) = (part.text, part.reader.outer);
    let name = "vision_feature_layer";
    let layers = part.length(name, &outer.vision_feature_layer, VIPLLAVA_LAYERS)?;
    let joined = layers * hidden;
    Ok((vec![end(text, joined, 1), end(text, text, 1)], 2 * joined + 2 * text))
}

pub(super) fn clip(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let encoder = encoder(part, [24, 1024, 16, 4096], (336, 14), MlpKind::Plain)?;
    let (hidden, patches) = (encoder.sizes.hidden, encoder.grid * encoder.grid);
    let projector = match model_type {
        "vipllava" => layers_joined(part, hidden)?,
        _ => llava(part, hidden, model_type)?,
    };
    let tile = ImageTile { positions: patches + 1, tokens: patches };
    let rule = match model_type {
        "llava" | "vipllava" => ImageRule::Fixed { tile, separators: 0 },
        _ => ImageRule::Unpadded { side: encoder.side, patch: encoder.side / encoder.grid.max(1) },
    };
    // The class embedding, positions with it, and the norms before and after the layers.
    Ok(encoder.tower(Biases::ALL, projector, (1 + patches + 1 + 4) * hidden, rule))
}

pub(super) fn pixtral(part: &mut Part<'_, '_>, model_type: &str) -> Result<Tower, ConfigError> {
    let is_merged = matches!(model_type, "mistral3" | "mistral_large4" | "lighton_ocr");
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
    let rule = match model_type {
        // No separators, and sides that are cut to whole tokens.
        "lighton_ocr" => ImageRule::Unknown { merge: merge * merge },
        _ => ImageRule::Rows { patch, merge, longest: encoder.side },
    };
    Ok(encoder.tower(Biases::NONE, (projector, biases), hidden, rule))
}

/// Width of the MLP of the perception encoder in units of its hidden size, as Step 3.7 has it.
const PERCEPTION_RATIO: f64 = 8960.0 / 1536.0;

/// Side of a window of the processor of Step 3.7 in pixels.
const STEP_WINDOW: u64 = 504;

/// The perception encoder of Step 3.7, with two convolutions that each merge 2 by 2 positions; `None` with a class position.
pub(super) fn perception(part: &mut Part<'_, '_>) -> Result<Option<Tower>, ConfigError> {
    let config = part.config;
    if part.flag("vision_config.use_cls_token", &config.use_cls_token, false)? {
        return Ok(None);
    }
    let hidden = vision!(part, width | hidden_size, 1536)?;
    let width = if config.intermediate_size.is_given() {
        vision!(part, intermediate_size, 0)?
    } else {
        let Some(width) = width_by_ratio(part, hidden, PERCEPTION_RATIO) else { return Ok(None) };
        width
    };
    let sizes = Sizes {
        layers: vision!(part, layers | num_hidden_layers, 47)?,
        hidden,
        heads: vision!(part, heads | num_attention_heads, 16)?,
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
    let rule = ImageRule::View { side: grid * side, window: STEP_WINDOW, patch: side, merge: 4 };
    // Positions, the norm before the layers, and the biases of the convolutions.
    let vectors = (grid * grid + 2 + 6) * hidden;
    Ok(Some(tower(vec![layers], ends, vectors, rule)))
}

/// Width of an MLP as a multiple of the hidden size, which need not be whole; `None` if it is out of range.
pub(super) fn width_by_ratio(part: &mut Part<'_, '_>, hidden: u64, usual: f64) -> Option<u64> {
    let ratio = match &part.config.mlp_ratio {
        Entry::Value(ratio) => *ratio as f64,
        Entry::Wrong(Found::Number(ratio)) => *ratio,
        Entry::Absent | Entry::Null | Entry::Wrong(_) => {
            let value = AssumedValue::Word("by the rule of the family");
            part.reader.assume("vision_config.mlp_ratio", value);
            usual
        }
    };
    let width = math::round(ratio * hidden as f64);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in range"
    )]
    (1.0..=MOST as f64).contains(&width).then_some(width as u64)
}
