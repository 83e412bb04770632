//! Encoders of images: which geometry each model type has.

use super::{Part, gemma, omni, own, plain, siglip, squares, tiles};
use crate::hf_config::refusal::ConfigError;
use crate::model_arch::Tower;

/// Model types whose `vision_config` is known; the kind of CLIP, `SigLIP` or Pixtral is read from it.
const KNOWN: [&str; 57] = [
    "aria",
    "cohere2_vision",
    "cosmos3_edge",
    "cosmos3_omni",
    "deepseek_vl",
    "dots3_note",
    "ernie4_5_vl_moe",
    "exaone4_5",
    "glm_ocr",
    "glm5_next",
    "got_ocr2",
    "granite_docling",
    "hyperclovax_vision_v2",
    "idefics2",
    "kimi_k3",
    "lfm3_vl",
    "lighton_ocr",
    "mllama",
    "minicpm_ocr",
    "minicpmv4_6",
    "mistral_large4",
    "muse_spark",
    "nemotron_h_omni",
    "ovis2",
    "paddleocr_vl",
    "qwen3_omni_moe",
    "video_llama_3",
    "vipllava",
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
        ("qwen2_5_vl" | "exaone4_5" | "hyperclovax_vision_v2", _) => {
            squares::qwen2_5(part, model_type)?
        }
        ("qwen3_vl" | "qwen3_vl_moe" | "qwen3_omni_moe" | "cosmos3_omni", _) => {
            squares::qwen3(part, true)?
        }
        ("qwen3_5" | "qwen3_5_moe", _) => squares::qwen3(part, false)?,
        ("glm4v" | "glm4v_moe" | "glm46v", _) => squares::glm(part)?,
        ("glm_ocr" | "glm5_next", _) => squares::glm_ocr(part, model_type)?,
        ("ernie4_5_vl_moe", _) => squares::ernie(part)?,
        ("kimi_k25", _) => squares::kimi(part)?,
        ("kimi_k3", _) => squares::kimi_k3(part)?,
        ("minimax_m3_vl", _) => squares::minimax(part)?,
        ("gemma3n", _) => return gemma::mobilenet(part),
        ("gemma4", _) => gemma::vision_of_4(part)?,
        ("llama4", _) => tiles::llama4(part)?,
        ("internvl" | "internvl_chat" | "qianfan_ocr", _) => tiles::internvl(part)?,
        ("mistral3" | "mistral_large4" | "lighton_ocr" | "llava", "pixtral") => {
            plain::pixtral(part, model_type)?
        }
        ("llava" | "llava_next" | "vipllava", "clip_vision_model") => {
            plain::clip(part, model_type)?
        }
        ("step3p7", "perception_encoder" | "step3p5_vision") => return plain::perception(part),
        ("shieldgemma2", "siglip_vision_model") => return siglip::siglip(part, "gemma3"),
        ("lfm2_vl", "siglip2_vision_model")
        | (
            "gemma3" | "paligemma" | "llava" | "llava_next" | "llava_onevision" | "cohere2_vision"
            | "deepseek_vl",
            "siglip_vision_model",
        )
        | (
            "smolvlm" | "idefics3" | "phi4_multimodal" | "aria" | "cosmos3_edge"
            | "granite_docling" | "idefics2" | "minicpm_ocr" | "minicpmv4_6" | "paddleocr_vl"
            | "video_llama_3",
            _,
        ) => return siglip::siglip(part, model_type),
        ("mllama", _) => own::mllama(part)?,
        ("got_ocr2", _) => own::segment_anything(part)?,
        ("nemotron_h_omni", "radio") => return own::radio(part),
        ("ovis2", _) => own::ovis2(part)?,
        ("lfm3_vl", _) => own::lfm3(part)?,
        ("dots3_note", _) => omni::dots3_vision(part)?,
        ("mimo_v2", _) => omni::mimo_vision(part)?,
        ("muse_spark", _) => omni::muse_vision(part)?,
        _ => return Ok(None),
    }))
}
