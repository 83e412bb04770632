//! The families of decoders and their identification by name. The rules of each family are in `rule_table`.

use alloc::string::String;

use super::rule_table as table;
use super::rules::Rules;

/// Defines the families: name, rules, `model_type`s (including older and multimodal names), class names.
macro_rules! families {
    ($($family:ident = $rules:ident: [$($model_type:literal)+] [$($class:literal)+];)+) => {
        /// A family of decoder-only models with common rules.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are the families themselves")]
        pub enum Family {
            $($family,)+
        }

        const NAMES: &[(Family, &[&str], &[&str])] =
            &[$((Family::$family, &[$($model_type),+], &[$($class),+]),)+];

        impl Family {
            const fn common_rules(self) -> Rules {
                match self {
                    $(Self::$family => table::$rules,)+
                }
            }
        }
    };
}

families! {
    Llama = LLAMA: ["llama" "exaone" "aquila" "xverse"] ["LlamaForCausalLM"];
    Mistral = MISTRAL: ["mistral"] ["MistralForCausalLM"];
    Mixtral = MIXTRAL: ["mixtral"] ["MixtralForCausalLM"];
    Qwen2 = QWEN2: ["qwen2" "mimo"] ["Qwen2ForCausalLM"];
    Qwen2Vl = QWEN2_VL: ["qwen2_vl" "qwen2_vl_text" "qwen2_5_vl" "qwen2_5_vl_text"] ["Qwen2VLForConditionalGeneration" "Qwen2_5_VLForConditionalGeneration"];
    Qwen25Omni = QWEN2_5_OMNI: ["qwen2_5_omni_text" "qwen2_5_omni_thinker" "qwen2_5_omni"] ["Qwen2_5OmniForConditionalGeneration"];
    Qwen2Moe = QWEN2_MOE: ["qwen2_moe"] ["Qwen2MoeForCausalLM"];
    Qwen3 = QWEN3: ["qwen3" "qwen3_vl_text" "qwen3_asr_text" "qwen3_asr_thinker" "qwen3_asr"] ["Qwen3ForCausalLM" "Qwen3ASRForConditionalGeneration"];
    Qwen3Moe = QWEN3_MOE: ["qwen3_moe" "qwen3_vl_moe_text" "qwen3_omni_moe_text" "qwen3_omni_moe_thinker" "qwen3_omni_moe"] ["Qwen3MoeForCausalLM"];
    Gemma = GEMMA: ["gemma"] ["GemmaForCausalLM"];
    Gemma2 = GEMMA2: ["gemma2"] ["Gemma2ForCausalLM"];
    Gemma3 = GEMMA3: ["gemma3_text" "gemma3"] ["Gemma3ForCausalLM" "Gemma3ForConditionalGeneration"];
    Phi = PHI: ["phi" "phi_msft" "mixformer_sequential"] ["PhiForCausalLM"];
    Phi3 = PHI3: ["phi3" "phi4_multimodal" "phi3_v" "phi4mm"] ["Phi3ForCausalLM"];
    Gpt2 = GPT2: ["gpt2"] ["GPT2LMHeadModel"];
    Opt = OPT: ["opt"] ["OPTForCausalLM"];
    Falcon = FALCON: ["falcon" "refinedweb" "refinedwebmodel"] ["FalconForCausalLM" "RWForCausalLM"];
    GptNeox = GPT_NEOX: ["gpt_neox"] ["GPTNeoXForCausalLM"];
    StableLm = STABLELM: ["stablelm" "stablelm_epoch"] ["StableLmForCausalLM" "StableLMEpochForCausalLM"];
    Starcoder2 = STARCODER2: ["starcoder2"] ["Starcoder2ForCausalLM"];
    Olmo = OLMO: ["olmo"] ["OlmoForCausalLM"];
    Olmo2 = OLMO2: ["olmo2"] ["Olmo2ForCausalLM"];
    Granite = GRANITE: ["granite" "granite_docling_text" "granite_docling"] ["GraniteForCausalLM"];
    GraniteMoe = GRANITE_MOE: ["granitemoe" "granitemoeshared"] ["GraniteMoeForCausalLM" "GraniteMoeSharedForCausalLM"];
    DeepseekV2 = DEEPSEEK_V2: ["deepseek_v2"] ["DeepseekV2ForCausalLM"];
    DeepseekV3 = DEEPSEEK_V3: ["deepseek_v3" "kimi_k2"] ["DeepseekV3ForCausalLM"];
    GptOss = GPT_OSS: ["gpt_oss"] ["GptOssForCausalLM"];
    Nemotron = NEMOTRON: ["nemotron"] ["NemotronForCausalLM"];
    SmolLm3 = SMOLLM3: ["smollm3"] ["SmolLM3ForCausalLM"];
    GptBigCode = GPT_BIGCODE: ["gpt_bigcode"] ["GPTBigCodeForCausalLM"];
    Cohere = COHERE: ["cohere"] ["CohereForCausalLM"];
    Cohere2 = COHERE2: ["cohere2"] ["Cohere2ForCausalLM"];
    Ernie = ERNIE: ["ernie4_5" "paddleocr_vl_text"] ["Ernie4_5ForCausalLM"];
    ErnieMoe = ERNIE_MOE: ["ernie4_5_moe"] ["Ernie4_5_MoeForCausalLM"];
    Qwen3Next = QWEN3_NEXT: ["qwen3_next"] ["Qwen3NextForCausalLM"];
    Qwen35 = QWEN3_5: ["qwen3_5_text" "qwen3_5"] ["Qwen3_5ForConditionalGeneration"];
    Qwen35Moe = QWEN3_5_MOE: ["qwen3_5_moe_text" "qwen3_5_moe"] ["Qwen3_5MoeForConditionalGeneration"];
    Gemma3n = GEMMA3N: ["gemma3n_text" "gemma3n"] ["Gemma3nForConditionalGeneration"];
    Gemma4 = GEMMA4: ["gemma4_text" "gemma4"] ["Gemma4ForConditionalGeneration"];
    DeepseekV32 = DEEPSEEK_V32: ["deepseek_v32"] ["DeepseekV32ForCausalLM"];
    DeepseekV4 = DEEPSEEK_V4: ["deepseek_v4"] ["DeepseekV4ForCausalLM"];
    GlmDsa = GLM_DSA: ["glm_moe_dsa"] ["GlmMoeDsaForCausalLM"];
    Glm4Moe = GLM4_MOE: ["glm4_moe"] ["Glm4MoeForCausalLM"];
    Llama4 = LLAMA4: ["llama4_text" "llama4"] ["Llama4ForConditionalGeneration"];
    NemotronH = NEMOTRON_H: ["nemotron_h"] ["NemotronHForCausalLM"];
    KimiLinear = KIMI_LINEAR: ["kimi_linear"] ["KimiLinearForCausalLM"];
    MiniMax = MINIMAX: ["minimax" "minimax_text_01"] ["MiniMaxForCausalLM"];
    MiniMaxM2 = MINIMAX_M2: ["minimax_m2"] ["MiniMaxM2ForCausalLM"];
    Lfm2 = LFM2: ["lfm2"] ["Lfm2ForCausalLM"];
    Lfm2Moe = LFM2_MOE: ["lfm2_moe"] ["Lfm2MoeForCausalLM"];
    GraniteHybrid = GRANITE_HYBRID: ["granitemoehybrid"] ["GraniteMoeHybridForCausalLM"];
    Bamba = BAMBA: ["bamba"] ["BambaForCausalLM"];
    FalconH1 = FALCON_H1: ["falcon_h1"] ["FalconH1ForCausalLM"];
    Jamba = JAMBA: ["jamba"] ["JambaForCausalLM"];
    Mamba = MAMBA: ["mamba" "falcon_mamba"] ["MambaForCausalLM" "FalconMambaForCausalLM"];
    Mamba2 = MAMBA2: ["mamba2"] ["Mamba2ForCausalLM"];
    Olmo3 = OLMO3: ["olmo3"] ["Olmo3ForCausalLM"];
    Olmoe = OLMOE: ["olmoe"] ["OlmoeForCausalLM"];
    FlexOlmo = FLEX_OLMO: ["flex_olmo"] ["FlexOlmoForCausalLM"];
    Exaone4 = EXAONE4: ["exaone4" "exaone4_5_text" "exaone4_5"] ["Exaone4ForCausalLM"];
    ExaoneMoe = EXAONE_MOE: ["exaone_moe"] ["ExaoneMoeForCausalLM"];
    Glm = GLM: ["glm"] ["GlmForCausalLM"];
    Glm4 = GLM4: ["glm4" "glm4v_text" "glm4v"] ["Glm4ForCausalLM"];
    Glm4MoeLite = GLM4_MOE_LITE: ["glm4_moe_lite"] ["Glm4MoeLiteForCausalLM"];
    SeedOss = SEED_OSS: ["seed_oss"] ["SeedOssForCausalLM"];
    Apertus = APERTUS: ["apertus"] ["ApertusForCausalLM"];
    Dots1 = DOTS1: ["dots1"] ["Dots1ForCausalLM"];
    HyV3 = HY_V3: ["hy_v3"] ["HYV3ForCausalLM"];
    HyperClovaX = HYPERCLOVAX: ["hyperclovax"] ["HyperCLOVAXForCausalLM"];
    BitNet = BITNET: ["bitnet"] ["BitNetForCausalLM"];
    NanoChat = NANOCHAT: ["nanochat"] ["NanoChatForCausalLM"];
    Ministral = MINISTRAL: ["ministral"] ["MinistralForCausalLM"];
    Ministral3 = MINISTRAL3: ["ministral3"] ["Ministral3ForCausalLM"];
    Arcee = ARCEE: ["arcee"] ["ArceeForCausalLM"];
    HunyuanDense = HUNYUAN: ["hunyuan_v1_dense"] ["HunYuanDenseV1ForCausalLM"];
    HunyuanMoe = HUNYUAN_MOE: ["hunyuan_v1_moe"] ["HunYuanMoEV1ForCausalLM"];
    SolarOpen = SOLAR_OPEN: ["solar_open"] ["SolarOpenForCausalLM"];
    GraniteSwa = GRANITE_SWA: ["granite_swa"] ["GraniteSwaForCausalLM"];
    GraniteMoeSwa = GRANITE_MOE_SWA: ["granitemoe_swa"] ["GraniteMoeSwaForCausalLM"];
    Mistral4 = MISTRAL4: ["mistral4"] ["Mistral4ForCausalLM"];
    Gemma4Unified = GEMMA4_UNIFIED: ["gemma4_unified_text" "gemma4_unified"] ["Gemma4UnifiedForConditionalGeneration"];
    GlmOcr = GLM_OCR: ["glm_ocr_text" "glm_ocr"] ["GlmOcrForConditionalGeneration"];
    PhiMoe = PHIMOE: ["phimoe"] ["PhimoeForCausalLM"];
    Glm4vMoe = GLM4V_MOE: ["glm4v_moe_text" "glm4v_moe"] ["Glm4vMoeForConditionalGeneration"];
    Mimo = MIMO: ["mimo_v2_flash" "mimo_v2"] ["MiMoV2FlashForCausalLM"];
    Longcat = LONGCAT: ["longcat_flash"] ["LongcatFlashForCausalLM"];
    MiniMaxM3 = MINIMAX_M3: ["minimax_m3_vl_text" "minimax_m3_vl" "minimax_m3"] ["MiniMaxM3SparseForConditionalGeneration"];
    Step3 = STEP3: ["step3p5" "step3p7_text" "step3p7"] ["Step3p5ForCausalLM" "Step3p7ForConditionalGeneration"];
    Afmoe = AFMOE: ["afmoe"] ["AfmoeForCausalLM"];
    NemotronNas = NEMOTRON_NAS: ["nemotron_nas" "deci"] ["DeciLMForCausalLM"];
    Helium = HELIUM: ["helium"] ["HeliumForCausalLM"];
    Axk1 = AXK1: ["axk1"] ["AXK1ForCausalLM"];
    Axk2 = AXK2: ["axk2"] ["AXK2ForCausalLM"];
    BailingHybrid = BAILING_HYBRID: ["bailing_hybrid"] ["BailingHybridForCausalLM"];
    Beam = BEAM: ["beam"] ["BeamForCausalLM"];
    Bloom = BLOOM: ["bloom"] ["BloomForCausalLM"];
    Cohere2Moe = COHERE2_MOE: ["cohere2_moe"] ["Cohere2MoeForCausalLM"];
    Dbrx = DBRX: ["dbrx"] ["DbrxForCausalLM"];
    DiffLlama = DIFFLLAMA: ["diffllama"] ["DiffLlamaForCausalLM"];
    Doge = DOGE: ["doge"] ["DogeForCausalLM"];
    Dots3Note = DOTS3_NOTE: ["dots3_note_text" "dots3_note"] ["Dots3NoteForConditionalGeneration"];
    ErnieVl = ERNIE_VL: ["ernie4_5_vl_moe_text" "ernie4_5_vl_moe" "ernie4_5_moe_vl"] ["Ernie4_5_VLMoeForConditionalGeneration"];
    Flint = FLINT: ["flint"] ["FlintForCausalLM"];
    Glm5Next = GLM5_NEXT: ["glm5_next_text" "glm5_next"] ["Glm5NextForConditionalGeneration"];
    GptJ = GPTJ: ["gptj" "codegen"] ["GPTJForCausalLM" "CodeGenForCausalLM"];
    HyV4 = HY_V4: ["hy_v4"] ["HYV4ForCausalLM"];
    Kolibri = KOLIBRI: ["kolibri1"] ["Kolibri1ForCausalLM"];
    Laguna = LAGUNA: ["laguna"] ["LagunaForCausalLM"];
    Lfm3 = LFM3: ["lfm3"] ["Lfm3ForCausalLM"];
    Mellum = MELLUM: ["mellum"] ["MellumForCausalLM"];
    MistralLarge4 = MISTRAL_LARGE4: ["mistral_large4_text" "mistral_large4"] ["MistralLarge4ForConditionalGeneration"];
    Mllama = MLLAMA: ["mllama_text_model" "mllama"] ["MllamaForConditionalGeneration" "MllamaForCausalLM"];
    ModernBert = MODERNBERT: ["modernbert_decoder"] ["ModernBertDecoderForCausalLM"];
    Mpt = MPT: ["mpt"] ["MptForCausalLM" "MPTForCausalLM"];
    MuseSpark = MUSE_SPARK: ["muse_spark_text" "muse_spark"] ["MuseSparkForConditionalGeneration"];
    OlmoHybrid = OLMO_HYBRID: ["olmo_hybrid"] ["OlmoHybridForCausalLM"];
    Persimmon = PERSIMMON: ["persimmon"] ["PersimmonForCausalLM"];
    Xglm = XGLM: ["xglm"] ["XGLMForCausalLM"];
    InternLm2 = INTERNLM2: ["internlm2"] ["InternLM2ForCausalLM"];
    Baichuan = BAICHUAN: ["baichuan"] ["BaichuanForCausalLM" "BaiChuanForCausalLM"];
    ChatGlm = CHATGLM: ["chatglm"] ["ChatGLMModel" "ChatGLMForConditionalGeneration"];
    Qwen1 = QWEN1: ["qwen"] ["QWenLMHeadModel"];
    Orion = ORION: ["orion"] ["OrionForCausalLM"];
    DeepseekMoe = DEEPSEEK_MOE: ["deepseek"] ["DeepseekForCausalLM"];
    BailingMoe = BAILING_MOE: ["bailing_moe" "bailing_moe_v2"] ["BailingMoeForCausalLM" "BailingMoeV2ForCausalLM"];
    MiniCpm = MINICPM: ["minicpm"] ["MiniCPMForCausalLM"];
    MiniCpm3 = MINICPM3: ["minicpm3"] ["MiniCPM3ForCausalLM"];
    Youtu = YOUTU: ["youtu"] ["YoutuForCausalLM"];
    Cwm = CWM: ["cwm"] ["CwmForCausalLM"];
    VaultGemma = VAULTGEMMA: ["vaultgemma"] ["VaultGemmaForCausalLM"];
    Jais2 = JAIS2: ["jais2"] ["Jais2ForCausalLM"];
    Cosmos3Edge = COSMOS3_EDGE: ["cosmos3_edge_text" "cosmos3_edge"] ["Cosmos3EdgeForConditionalGeneration"];
    Aria = ARIA: ["aria_text" "aria"] ["AriaForConditionalGeneration"];
    Molmo = MOLMO: ["molmo"] ["MolmoForCausalLM"];
    Arctic = ARCTIC: ["arctic"] ["ArcticForCausalLM"];
    Step3Text = STEP3_TEXT: ["step3_text" "step3_vl"] ["Step3TextForCausalLM" "Step3VLForConditionalGeneration"];
}

impl Family {
    /// Names of its classes.
    pub(super) fn classes(self) -> &'static [&'static str] {
        NAMES.iter().find(|(family, ..)| *family == self).map_or(&[], |(_, _, classes)| classes)
    }

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
            Self::Falcon if plain_name(model_type) == "refinedweb" => table::REFINED_WEB,
            other => other.common_rules(),
        }
    }
}

/// Lower case with `_`.
pub(super) fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}
