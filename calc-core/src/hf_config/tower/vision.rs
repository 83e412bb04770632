//! Encoders of images: which geometry each model type has.

use super::{Part, gemma, plain, squares, tiles};
use crate::hf_config::refusal::ConfigError;
use crate::model_arch::Tower;

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
