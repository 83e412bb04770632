//! The families of decoders and their identification by name. The rules of each family are in `rule_table`.

use alloc::string::String;

use super::rule_table as table;
use super::rules::Rules;

/// A family of decoder-only models with common rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the families themselves")]
pub enum Family {
    Llama,
    Mistral,
    Mixtral,
    Qwen2,
    Qwen2Moe,
    Qwen3,
    Qwen3Moe,
    Gemma,
    Gemma2,
    Gemma3,
    Phi,
    Phi3,
    Gpt2,
    Opt,
    Falcon,
    GptNeox,
    StableLm,
    Starcoder2,
    Olmo,
    Olmo2,
    Granite,
    GraniteMoe,
    DeepseekV2,
    DeepseekV3,
    GptOss,
    Nemotron,
    SmolLm3,
    GptBigCode,
    Cohere,
    Cohere2,
    Ernie,
    ErnieMoe,
}

/// Family, its `model_type`s (including older and multimodal names), its class names.
type Names = (Family, &'static [&'static str], &'static [&'static str]);

const NAMES: [Names; 32] = [
    (Family::Llama, &["llama"], &["LlamaForCausalLM"]),
    (Family::Mistral, &["mistral"], &["MistralForCausalLM"]),
    (Family::Mixtral, &["mixtral"], &["MixtralForCausalLM"]),
    (
        Family::Qwen2,
        &["qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"],
        &["Qwen2ForCausalLM"],
    ),
    (Family::Qwen2Moe, &["qwen2_moe"], &["Qwen2MoeForCausalLM"]),
    (Family::Qwen3, &["qwen3", "qwen3_vl_text"], &["Qwen3ForCausalLM"]),
    (Family::Qwen3Moe, &["qwen3_moe", "qwen3_vl_moe_text"], &["Qwen3MoeForCausalLM"]),
    (Family::Gemma, &["gemma"], &["GemmaForCausalLM"]),
    (Family::Gemma2, &["gemma2"], &["Gemma2ForCausalLM"]),
    (
        Family::Gemma3,
        &["gemma3_text", "gemma3"],
        &["Gemma3ForCausalLM", "Gemma3ForConditionalGeneration"],
    ),
    (Family::Phi, &["phi", "phi_msft", "mixformer_sequential"], &["PhiForCausalLM"]),
    (Family::Phi3, &["phi3"], &["Phi3ForCausalLM"]),
    (Family::Gpt2, &["gpt2"], &["GPT2LMHeadModel"]),
    (Family::Opt, &["opt"], &["OPTForCausalLM"]),
    (
        Family::Falcon,
        &["falcon", "refinedweb", "refinedwebmodel"],
        &["FalconForCausalLM", "RWForCausalLM"],
    ),
    (Family::GptNeox, &["gpt_neox"], &["GPTNeoXForCausalLM"]),
    (
        Family::StableLm,
        &["stablelm", "stablelm_epoch"],
        &["StableLmForCausalLM", "StableLMEpochForCausalLM"],
    ),
    (Family::Starcoder2, &["starcoder2"], &["Starcoder2ForCausalLM"]),
    (Family::Olmo, &["olmo"], &["OlmoForCausalLM"]),
    (Family::Olmo2, &["olmo2"], &["Olmo2ForCausalLM"]),
    (Family::Granite, &["granite"], &["GraniteForCausalLM"]),
    (
        Family::GraniteMoe,
        &["granitemoe", "granitemoeshared"],
        &["GraniteMoeForCausalLM", "GraniteMoeSharedForCausalLM"],
    ),
    (Family::DeepseekV2, &["deepseek_v2"], &["DeepseekV2ForCausalLM"]),
    (Family::DeepseekV3, &["deepseek_v3", "kimi_k2"], &["DeepseekV3ForCausalLM"]),
    (Family::GptOss, &["gpt_oss"], &["GptOssForCausalLM"]),
    (Family::Nemotron, &["nemotron"], &["NemotronForCausalLM"]),
    (Family::SmolLm3, &["smollm3"], &["SmolLM3ForCausalLM"]),
    (Family::GptBigCode, &["gpt_bigcode"], &["GPTBigCodeForCausalLM"]),
    (Family::Cohere, &["cohere"], &["CohereForCausalLM"]),
    (Family::Cohere2, &["cohere2"], &["Cohere2ForCausalLM"]),
    (Family::Ernie, &["ernie4_5"], &["Ernie4_5ForCausalLM"]),
    (Family::ErnieMoe, &["ernie4_5_moe"], &["Ernie4_5_MoeForCausalLM"]),
];

impl Family {
    /// Identifies by `model_type`, or by class name if the `model_type` is unknown.
    pub(super) fn identify(model_type: &str, architecture: &str) -> Option<Self> {
        let plain = plain_name(model_type);
        let by_type = NAMES.iter().find(|(_, types, _)| types.contains(&&*plain));
        let by_class = || NAMES.iter().find(|(_, _, classes)| classes.contains(&architecture));
        by_type.or_else(by_class).map(|(family, _, _)| *family)
    }

    /// The rules of the family; one older name has a variant of its own.
    pub(super) fn rules(self, model_type: &str) -> Rules {
        match self {
            Self::Llama => table::LLAMA,
            Self::Mistral => table::MISTRAL,
            Self::Mixtral => table::MIXTRAL,
            Self::Qwen2 => table::QWEN2,
            Self::Qwen2Moe => table::QWEN2_MOE,
            Self::Qwen3 => table::QWEN3,
            Self::Qwen3Moe => table::QWEN3_MOE,
            Self::Gemma => table::GEMMA,
            Self::Gemma2 => table::GEMMA2,
            Self::Gemma3 => table::GEMMA3,
            Self::Phi => table::PHI,
            Self::Phi3 => table::PHI3,
            Self::Gpt2 => table::GPT2,
            Self::Opt => table::OPT,
            Self::Falcon if plain_name(model_type) == "refinedweb" => table::REFINED_WEB,
            Self::Falcon => table::FALCON,
            Self::GptNeox => table::GPT_NEOX,
            Self::StableLm => table::STABLELM,
            Self::Starcoder2 => table::STARCODER2,
            Self::Olmo => table::OLMO,
            Self::Olmo2 => table::OLMO2,
            Self::Granite => table::GRANITE,
            Self::GraniteMoe => table::GRANITE_MOE,
            Self::DeepseekV2 => table::DEEPSEEK_V2,
            Self::DeepseekV3 => table::DEEPSEEK_V3,
            Self::GptOss => table::GPT_OSS,
            Self::Nemotron => table::NEMOTRON,
            Self::SmolLm3 => table::SMOLLM3,
            Self::GptBigCode => table::GPT_BIGCODE,
            Self::Cohere => table::COHERE,
            Self::Cohere2 => table::COHERE2,
            Self::Ernie => table::ERNIE,
            Self::ErnieMoe => table::ERNIE_MOE,
        }
    }
}

/// Lower case with `_`.
pub(super) fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}
