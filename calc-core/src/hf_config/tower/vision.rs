//! Encoders of images: the geometry of each model type, and the fields that several share.

use alloc::vec::Vec;

use super::{Part, Sizes, gemma, plain, squares, tiles};
use crate::hf_config::refusal::ConfigError;
use crate::image::ImageRule;
use crate::model_arch::{MlpKind, Tower, TowerEnd, TowerKind, TowerLayers};

/// Model types whose `vision_config` is known; the kind of CLIP, `SigLIP` or Pixtral is read from it.
const KNOWN: [&str; 29] = [
    "shieldgemma2",
    "step3p7",
    "qwen2_vl",
    "qwen2_5_vl",
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_5",
    "qwen3_5_moe",
    "gemma3",
    "gemma3n",
    "gemma4",
    "llama4",
    "mistral3",
    "llava",
    "llava_next",
    "llava_onevision",
    "internvl",
    "internvl_chat",
    "qianfan_ocr",
    "glm4v",
    "glm4v_moe",
    "glm46v",
    "kimi_k25",
    "minimax_m3_vl",
    "smolvlm",
    "idefics3",
    "paligemma",
    "lfm2_vl",
    "phi4_multimodal",
];

pub(super) fn is_known(model_type: &str) -> bool {
    KNOWN.contains(&model_type)
}

/// Reads the tower of a known model type; `None` for any other.
pub(super) fn read(
    part: &mut Part<'_, '_>,
    model_type: &str,
) -> Result<Option<Tower>, ConfigError> {
    let own = part.config.model_type.value().map_or("", |name| &**name);
    Ok(Some(match (model_type, own) {
        ("qwen2_vl", _) => squares::qwen2(part)?,
        ("qwen2_5_vl", _) => squares::qwen2_5(part)?,
        ("qwen3_vl" | "qwen3_vl_moe", _) => squares::qwen3(part, true)?,
        ("qwen3_5" | "qwen3_5_moe", _) => squares::qwen3(part, false)?,
        ("glm4v" | "glm4v_moe" | "glm46v", _) => squares::glm(part)?,
        ("kimi_k25", _) => squares::kimi(part)?,
        ("minimax_m3_vl", _) => squares::minimax(part)?,
        ("gemma3n", _) => return gemma::mobilenet(part),
        ("gemma4", _) => gemma::vision_of_4(part)?,
        ("llama4", _) => tiles::llama4(part)?,
        ("internvl" | "internvl_chat" | "qianfan_ocr", _) => tiles::internvl(part)?,
        ("mistral3" | "llava", "pixtral") => plain::pixtral(part, model_type)?,
        ("lfm2_vl", "siglip2_vision_model") => plain::siglip2(part)?,
        ("llava" | "llava_next", "clip_vision_model") => plain::clip(part, model_type)?,
        (
            "gemma3" | "paligemma" | "llava" | "llava_next" | "llava_onevision",
            "siglip_vision_model",
        )
        | ("smolvlm" | "idefics3", _) => plain::siglip(part, model_type)?,
        ("shieldgemma2", "siglip_vision_model") => plain::siglip(part, "gemma3")?,
        ("step3p7", "perception_encoder") => return plain::perception(part),
        ("phi4_multimodal", _) => plain::phi4(part)?,
        _ => return Ok(None),
    }))
}

/// A tower for images.
pub(super) fn tower(
    layers: Vec<TowerLayers>,
    ends: Vec<TowerEnd>,
    vectors: u64,
    images: ImageRule,
) -> Tower {
    let (layers, ends) = (layers.into(), ends.into());
    Tower { kind: TowerKind::Vision, layers, ends, vectors, images, stored: None }
}

/// Patches of an image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patches {
    /// Side of a patch in pixels.
    pub(super) side: u64,
    /// Patches per side of a token.
    pub(super) merge: u64,
    /// Number of values of a patch.
    pub(super) values: u64,
}

/// The fields of patches that the towers of Qwen and GLM share.
pub(super) fn patches(part: &mut Part<'_, '_>, side: u64) -> Result<Patches, ConfigError> {
    let side = small!(part, patch_size, side)?;
    let merge = small!(part, spatial_merge_size, 2)?;
    let frames = small!(part, temporal_patch_size, 2)?;
    let channels = small!(part, in_channels | in_chans | num_channels, 3)?;
    Ok(Patches { side, merge, values: channels * frames * side * side })
}

/// Layers of sizes named `depth`, `hidden_size`, `num_heads` and `intermediate_size`.
pub(super) fn deep(
    part: &mut Part<'_, '_>,
    [layers, hidden, heads, width]: [u64; 4],
    mlp: MlpKind,
) -> Result<Sizes, ConfigError> {
    Ok(Sizes {
        layers: vision!(part, depth, layers)?,
        hidden: vision!(part, hidden_size, hidden)?,
        heads: vision!(part, num_heads, heads)?,
        width: vision!(part, intermediate_size, width)?,
        mlp,
    })
}

/// Layers of sizes with the names of the language model.
pub(super) fn named(
    part: &mut Part<'_, '_>,
    [layers, hidden, heads, width]: [u64; 4],
    mlp: MlpKind,
) -> Result<Sizes, ConfigError> {
    Ok(Sizes {
        layers: vision!(part, num_hidden_layers | vt_num_hidden_layers, layers)?,
        hidden: vision!(part, hidden_size | vt_hidden_size, hidden)?,
        heads: vision!(part, num_attention_heads | vt_num_attention_heads, heads)?,
        width: vision!(part, intermediate_size | vt_intermediate_size, width)?,
        mlp,
    })
}
