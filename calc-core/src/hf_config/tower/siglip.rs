//! Encoders of `SigLIP` and their relatives, and the projectors of the models that use them.

use alloc::vec;
use alloc::vec::Vec;

use super::plain::{PlainEncoder, Projector, encoder, llava};
use super::{Biases, MOST, MOST_PER_PATCH, Part, Sizes, end, resampler};
use crate::hf_config::refusal::ConfigError;
use crate::image::{ImageRule, ImageTile};
use crate::model_arch::{MlpKind, Tower};

/// Positions of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Positions {
    /// One per patch of an image of the stated size.
    Grid,
    /// `num_patches`, scaled to the grid of the image.
    Scaled,
    /// Rotary, without a table.
    Rotary,
}

/// Defaults of an encoder in a class.
#[derive(Debug, Clone, Copy)]
struct Usual {
    sizes: [u64; 4],
    /// Sides of an image and of a patch in pixels.
    sides: (u64, u64),
    positions: Positions,
}

/// Sizes of the small encoder of `SigLIP`, which most classes have as defaults.
const SMALL: [u64; 4] = [12, 768, 12, 3072];
/// Sizes of the encoder of `SigLIP` with 400 million parameters.
const SO400M: [u64; 4] = [27, 1152, 16, 4304];
/// Scale of the longer side of an image to a tile in the processors of Idefics 3 and `SmolVLM`.
const GRID_TILES: u64 = 4;
/// Largest number of crops of the processor of Phi-4 multimodal.
const PHI4_CROPS: u64 = 36;
/// Least and largest number of tokens of a scaled image of LFM2-VL, side of a tile in pixels, largest number of tiles.
const LFM2_TOKENS: (u64, u64) = (64, 256);
const LFM2_TILE: u64 = 512;
const LFM2_TILES: u64 = 10;
/// Limits of the processor of PaddleOCR-VL in pixels.
const PADDLE_PIXELS: (u64, u64) = (384 * 384, 1536 * 1536);
/// Tokens around an image of Gemma 3: two line breaks, a token before and one after.
const GEMMA3_SEPARATORS: u64 = 4;

fn usual(model_type: &str) -> Usual {
    let grid = |sizes, sides| Usual { sizes, sides, positions: Positions::Grid };
    match model_type {
        "smolvlm" | "idefics3" | "aria" => grid([12, 1152, 16, 3072], (224, 32)),
        "idefics2" => grid(SMALL, (224, 32)),
        "granite_docling" => grid(SMALL, (512, 16)),
        "paddleocr_vl" => grid(SO400M, (384, 14)),
        "phi4_multimodal" => grid(SO400M, (448, 14)),
        "video_llama_3" => Usual { positions: Positions::Rotary, ..grid(SMALL, (0, 16)) },
        "lfm2_vl" => Usual { positions: Positions::Scaled, ..grid(SMALL, (0, 16)) },
        "cosmos3_edge" => Usual { positions: Positions::Scaled, ..grid(SO400M, (0, 16)) },
        _ => grid(SMALL, (224, 16)),
    }
}

/// Reads encoder and projector; `None` for a projector of another kind.
pub(super) fn siglip(
    part: &mut Part<'_, '_>,
    model_type: &str,
) -> Result<Option<Tower>, ConfigError> {
    let Usual { sizes, sides, positions } = usual(model_type);
    let encoder = encoder(part, sizes, sides, MlpKind::Plain)?;
    let hidden = encoder.sizes.hidden;
    let Some((projector, rule)) = projector(part, model_type, &encoder)? else { return Ok(None) };
    let rows = match positions {
        Positions::Grid => encoder.grid * encoder.grid,
        Positions::Scaled => vision!(part, num_patches, 256)?,
        Positions::Rotary => 0,
    };
    // The bias of the patches, positions, and the norm after the layers.
    let vectors = (1 + rows + 2) * hidden;
    let mut tower = encoder.tower(Biases::ALL, projector, vectors, rule);
    if has_head(part, model_type)? {
        head(&mut tower, encoder.sizes);
    }
    Ok(Some(tower))
}

/// Whether the encoder has a head that pools the image. Only the classes of `SigLIP` itself let the file choose.
fn has_head(part: &mut Part<'_, '_>, model_type: &str) -> Result<bool, ConfigError> {
    match model_type {
        "phi4_multimodal" => Ok(true),
        "gemma3" | "paligemma" | "llava" | "llava_next" | "llava_onevision" | "lfm2_vl"
        | "cohere2_vision" | "deepseek_vl" => {
            let config = part.config;
            part.flag("vision_config.vision_use_head", &config.vision_use_head, true)
        }
        _ => Ok(false),
    }
}

/// Adds the head of `SigLIP`: attention of one learned position to the image, and an MLP. It runs once per image.
fn head(tower: &mut Tower, sizes: Sizes) {
    let Sizes { hidden, width, .. } = sizes;
    tower.vectors += 4 * hidden * hidden + 2 * hidden * width + (1 + 4 + 2 + 1) * hidden + width;
}

/// The projector of a model and its tokens of an image; `None` if it is of another kind.
fn projector(
    part: &mut Part<'_, '_>,
    model_type: &str,
    encoder: &PlainEncoder,
) -> Result<Option<(Projector, ImageRule)>, ConfigError> {
    let (text, hidden, patches) = (part.text, encoder.sizes.hidden, encoder.grid * encoder.grid);
    let fixed = |tokens, separators| ImageRule::Fixed {
        tile: ImageTile { positions: patches, tokens },
        separators,
    };
    let unknown = |merge: u64| ImageRule::Unknown { merge: merge.max(1) };
    Ok(Some(match model_type {
        "gemma3" => {
            let name = [("mm_tokens_per_image", &part.reader.outer.mm_tokens_per_image)];
            let tokens = part.count(&name, 256, MOST)?.max(1);
            let matrix = end(text, hidden, (patches / tokens).max(1));
            ((vec![matrix], hidden), fixed(tokens, GEMMA3_SEPARATORS))
        }
        "paligemma" => ((vec![end(text, hidden, 1)], text), fixed(patches, 0)),
        "smolvlm" | "idefics3" => grid(part, encoder)?,
        "deepseek_vl" => ((two(text, hidden), 2 * text), fixed(patches, 0)),
        "video_llama_3" => ((two(text, hidden), 2 * text), unknown(1)),
        "phi4_multimodal" => {
            let matrices = vec![end(text, hidden, 4), end(text, text, 4)];
            // Two biases, and the marks of whole and part.
            let (side, patch) = (encoder.side, encoder.side / encoder.grid.max(1));
            let rule = ImageRule::Crops { side, patch, most: PHI4_CROPS };
            ((matrices, 2 * text + 2 * hidden), rule)
        }
        "lfm2_vl" => merged_by_flags(part, encoder)?,
        "cohere2_vision" => {
            let merge = factor(part)?;
            let outer = part.reader.outer;
            let name = "alignment_intermediate_size";
            let inner = part.count(&[(name, &outer.alignment_intermediate_size)], 36_864, MOST)?;
            // Half of the inner outputs is the gate.
            let matrices = vec![end(inner, hidden * merge, merge), end(text, inner / 2, merge)];
            ((matrices, inner + text), unknown(merge))
        }
        "cosmos3_edge" | "paddleocr_vl" => {
            let side = small!(part, spatial_merge_size, 2)?;
            let (merge, merged) = (side * side, hidden * side * side);
            let inner = match model_type {
                "cosmos3_edge" => inner(part, 11_520)?,
                _ => merged,
            };
            let matrices = vec![end(inner, merged, merge), end(text, inner, merge)];
            let rule = match model_type {
                "paddleocr_vl" => {
                    let (least, most) = PADDLE_PIXELS;
                    let patch = small!(part, patch_size, 14)?;
                    ImageRule::Area { patch, merge: side, least, most }
                }
                _ => unknown(merge),
            };
            ((matrices, 2 * hidden + inner + text), rule)
        }
        "aria" | "idefics2" | "minicpm_ocr" | "minicpmv4_6" | "granite_docling" => {
            return resampler::projector(part, model_type, encoder);
        }
        "llava" => (llava(part, hidden, model_type)?, fixed(patches, 0)),
        _ => (llava(part, hidden, model_type)?, unknown(1)),
    }))
}

fn two(text: u64, hidden: u64) -> Vec<super::TowerEnd> {
    vec![end(text, hidden, 1), end(text, text, 1)]
}

/// Merges squares of patches into a token; tiles after the longer side is scaled.
fn grid(
    part: &mut Part<'_, '_>,
    encoder: &PlainEncoder,
) -> Result<(Projector, ImageRule), ConfigError> {
    let patches = encoder.grid * encoder.grid;
    let outer = part.reader.outer;
    let side = part.count(&[("scale_factor", &outer.scale_factor)], 2, MOST_PER_PATCH)?;
    let area = (side * side).max(1);
    let tile = ImageTile { positions: patches, tokens: patches / area };
    let longest = GRID_TILES * encoder.side;
    let rule = ImageRule::Grid { side: encoder.side, tile, longest };
    Ok(((vec![end(part.text, encoder.sizes.hidden * area, area)], 0), rule))
}

/// Patches that become a token by `downsample_factor`.
fn factor(part: &mut Part<'_, '_>) -> Result<u64, ConfigError> {
    let outer = part.reader.outer;
    let side = part.count(&[("downsample_factor", &outer.downsample_factor)], 2, MOST_PER_PATCH)?;
    Ok(side * side)
}

fn inner(part: &mut Part<'_, '_>, default: u64) -> Result<u64, ConfigError> {
    let outer = part.reader.outer;
    part.count(&[("projector_hidden_size", &outer.projector_hidden_size)], default, MOST)
}

/// LFM2-VL: merged patches through two matrices, with biases and a norm by flags.
fn merged_by_flags(
    part: &mut Part<'_, '_>,
    encoder: &PlainEncoder,
) -> Result<(Projector, ImageRule), ConfigError> {
    let (text, hidden, outer) = (part.text, encoder.sizes.hidden, part.reader.outer);
    let patch = small!(part, patch_size, 16)?;
    let area = factor(part)?;
    let inner = inner(part, 2560)?;
    let has_bias = part.flag("projector_bias", &outer.projector_bias, true)?;
    let has_norm = part.flag("projector_use_layernorm", &outer.projector_use_layernorm, true)?;
    let merged = hidden * area;
    let vectors = if has_bias { inner + text } else { 0 } + if has_norm { 2 * merged } else { 0 };
    let matrices = vec![end(inner, merged, area), end(text, inner, area)];
    let merge = area.isqrt().max(1);
    let rule =
        ImageRule::Split { patch, merge, tokens: LFM2_TOKENS, side: LFM2_TILE, most: LFM2_TILES };
    Ok(((matrices, vectors), rule))
}
