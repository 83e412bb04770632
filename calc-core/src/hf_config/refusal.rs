//! Which files are refused and why, as data: other kinds of models, layers that the geometry cannot say, missing sizes.

use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Allowed, Found};
use super::family::Family;
use super::fields::HfConfig;
use super::unread::UnreadKey;
use crate::error::Error;

/// Why a config.json gives no model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A field without which there is no model.
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// A field of another type.
    WrongType {
        /// Name of the field.
        field: &'static str,
        /// What it may be.
        allowed: Allowed,
        /// What it is.
        found: Found,
    },
    /// A value out of range.
    Value(Error),
    /// Two fields that do not fit together: the first must be a multiple of the second.
    NotDivisible {
        /// First field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// Second field.
        by: &'static str,
        /// Its value.
        divisor: u64,
    },
    /// A list that must have one entry per layer.
    ListLength {
        /// Name of the field.
        field: &'static str,
        /// Its entries.
        entries: u64,
        /// Layers.
        layers: u64,
    },
    /// Not a decoder-only language model.
    NotDecoder {
        /// What it is instead.
        kind: NotDecoder,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// A decoder with layers that the geometry cannot say.
    Unsupported {
        /// Which.
        part: Unsupported,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// Keys that look like geometry and that no rule has read.
    Unread {
        /// The keys, by name.
        keys: Vec<UnreadKey>,
        /// `model_type` or architecture, as in the file.
        model: String,
    },
    /// A `torch_dtype` that is no float format of the catalog.
    UnknownDtype {
        /// As in the file.
        found: String,
    },
    /// A `quantization_config` for which the catalog has no format.
    UnknownQuantization {
        /// `quant_method` and what it says.
        method: String,
        /// Bits per weight, if the file says.
        bits: Option<u64>,
        /// Weights per scale, if the file says.
        group: Option<u64>,
    },
}

/// Kinds of models without a decoder of their own, or with more than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDecoder {
    /// Reads text and embeds or classifies it.
    Encoder,
    /// Encoder and decoder.
    EncoderDecoder,
    /// Images.
    Vision,
    /// Sound.
    Audio,
    /// The text half of a model that compares texts with images or sound.
    TextTower,
    /// A class without a head for the next token.
    NoHead,
}

/// Parts of decoders that the geometry cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// State-space, linear or recurrent layers between those of attention.
    HybridLayers,
    /// Layers of different widths, some without attention.
    IrregularLayers,
    /// An indexer that selects tokens before attention.
    SparseAttention,
    /// Dense and mixture-of-experts layers that alternate.
    InterleavedExperts,
    /// Blocks of a class of its own.
    OwnBlocks,
    /// Projections between embedding and hidden size.
    EmbeddingProjection,
    /// Norms of queries and keys with weights and biases.
    QkLayerNorm,
    /// Biases in latent attention.
    LatentBias,
}

use NotDecoder::{Audio, Encoder, EncoderDecoder, NoHead, TextTower, Vision};
use Unsupported::{HybridLayers, InterleavedExperts, IrregularLayers, OwnBlocks, SparseAttention};

/// `model_type`s that are known not to be decoders: the classes of transformers 5.23.0 without a causal head, or whose causal
/// head nobody uses.
const NOT_DECODERS: [(NotDecoder, &[&str]); 5] = [
    (
        Encoder,
        &[
            "albert",
            "bert",
            "big_bird",
            "bros",
            "camembert",
            "canine",
            "convbert",
            "data2vec_text",
            "deberta",
            "deberta_v2",
            "distilbert",
            "dpr",
            "electra",
            "ernie",
            "ernie_m",
            "esm",
            "esmc",
            "eurobert",
            "flaubert",
            "fnet",
            "funnel",
            "gte",
            "ibert",
            "jina_embeddings_v3",
            "layoutlm",
            "layoutlmv2",
            "layoutlmv3",
            "layoutxlm",
            "lilt",
            "longformer",
            "luke",
            "lxmert",
            "markuplm",
            "megatron_bert",
            "mobilebert",
            "modernbert",
            "modernvbert",
            "mpnet",
            "mra",
            "neobert",
            "nomic_bert",
            "nystromformer",
            "perceiver",
            "rembert",
            "roberta",
            "roberta_prelayernorm",
            "roc_bert",
            "roformer",
            "splinter",
            "squeezebert",
            "tapas",
            "visual_bert",
            "xlm",
            "xlm_roberta",
            "xlm_roberta_xl",
            "xlnet",
            "xmod",
            "yoso",
        ],
    ),
    (
        EncoderDecoder,
        &[
            "bart",
            "bigbird_pegasus",
            "blenderbot",
            "blenderbot_small",
            "canary",
            "encoder_decoder",
            "fsmt",
            "led",
            "longt5",
            "m2m_100",
            "marian",
            "mbart",
            "moonshine",
            "mt5",
            "mvp",
            "nllb_moe",
            "pegasus",
            "pegasus_x",
            "plbart",
            "pop2piano",
            "prophetnet",
            "seamless_m4t",
            "seamless_m4t_v2",
            "speech_encoder_decoder",
            "speech_to_text",
            "switch_transformers",
            "t5",
            "t5gemma",
            "t5gemma2",
            "trocr",
            "umt5",
            "vision_encoder_decoder",
            "whisper",
        ],
    ),
    (
        Vision,
        &[
            "beit",
            "clip_vision_model",
            "convnext",
            "deit",
            "detr",
            "dinov2",
            "resnet",
            "sam",
            "segformer",
            "siglip_vision_model",
            "swin",
            "vit",
            "vit_mae",
            "vit_msn",
            "yolos",
        ],
    ),
    (Audio, &["wav2vec2", "hubert", "encodec", "speecht5", "wavlm"]),
    (
        TextTower,
        &[
            "aimv2",
            "align",
            "altclip",
            "blip",
            "chinese_clip",
            "clap",
            "clip",
            "clipseg",
            "clvp",
            "flava",
            "groupvit",
            "metaclip_2",
            "owlv2",
            "owlvit",
            "siglip",
            "siglip2",
            "tipsv2",
            "videoprism",
            "x_clip",
            "xclip",
        ],
    ),
];

/// Endings of the `model_type`s of parts: a tower of a multimodal model, or half of an encoder-decoder.
const PARTS: [(NotDecoder, &[&str]); 4] = [
    (Vision, &["_vision", "_vision_model", "_vision_encoder", "_qformer"]),
    (Audio, &["_audio", "_audio_model", "_audio_encoder"]),
    (
        TextTower,
        &[
            "clip_text_model",
            "siglip_text_model",
            "siglip2_text_model",
            "vit_text_model",
            "owlv2_text_model",
        ],
    ),
    (Encoder, &["_encoder"]),
];

/// `model_type`s of decoders that the geometry cannot say.
const UNSUPPORTED: [(Unsupported, &[&str]); 5] = [
    (
        HybridLayers,
        &[
            "nemotron_h",
            "mamba",
            "mamba2",
            "falcon_mamba",
            "falcon_h1",
            "rwkv",
            "rwkv5",
            "rwkv6",
            "rwkv7",
            "jamba",
            "bamba",
            "zamba",
            "zamba2",
            "granitemoehybrid",
            "qwen3_next",
            "qwen3_5",
            "qwen3_5_text",
            "qwen3_5_moe",
            "qwen3_5_moe_text",
            "recurrent_gemma",
            "lfm2",
            "lfm2_moe",
            "kimi_linear",
            "minimax",
        ],
    ),
    (IrregularLayers, &["nemotron_nas", "deci", "decilm", "openelm"]),
    (SparseAttention, &["deepseek_v32", "deepseek_v4", "glm_moe_dsa"]),
    (InterleavedExperts, &["llama4", "llama4_text"]),
    (
        OwnBlocks,
        &[
            "phimoe",
            "phi3small",
            "gemma3n",
            "gemma3n_text",
            "gemma4",
            "gemma4_text",
            "gemma4_unified",
            "gemma4_unified_text",
            "jetmoe",
        ],
    ),
];

/// Endings of architecture names that have no language-model head.
const HEADS: [(NotDecoder, &[&str]); 5] = [
    (
        Encoder,
        &[
            "ForMaskedLM",
            "ForPreTraining",
            "ForTokenClassification",
            "ForSequenceClassification",
            "ForQuestionAnswering",
            "EncoderModel",
        ],
    ),
    (TextTower, &["TextModel", "TextModelWithProjection"]),
    (
        Vision,
        &[
            "ForImageClassification",
            "ForObjectDetection",
            "ForSemanticSegmentation",
            "ForMaskedImageModeling",
            "VisionModel",
            "VisionModelWithProjection",
        ],
    ),
    (Audio, &["ForCTC", "ForAudioClassification"]),
    (NoHead, &["Model"]),
];

/// Parts of class names that end in `Model` and generate text.
const GENERATE: [&str; 4] = ["LMHead", "Chat", "GLM", "Causal"];

/// Refuses what is not a decoder-only language model of regular layers.
pub(super) fn refuse(
    config: &HfConfig,
    text: &HfConfig,
    family: Option<Family>,
    model_type: &str,
    architecture: &str,
) -> Result<(), ConfigError> {
    let name = if model_type.is_empty() { architecture } else { model_type };
    let plain = plain_name(name);
    let whole = plain_name(config.model_type.value().map_or("", String::as_str));
    let kind = listed(&NOT_DECODERS, &plain)
        .or_else(|| listed(&NOT_DECODERS, &whole))
        .or_else(|| {
            PARTS
                .iter()
                .find(|(_, ends)| ends.iter().any(|end| plain.ends_with(end)))
                .map(|(kind, _)| *kind)
        })
        .or_else(|| encoder_and_decoder(config, text))
        .or_else(|| if family.is_none() { head_or_sign(text, architecture) } else { None });
    if let Some(kind) = kind {
        return Err(ConfigError::NotDecoder { kind, model: name.into() });
    }
    let part = listed(&UNSUPPORTED, &plain).or_else(|| marked(text));
    part.map_or(Ok(()), |part| Err(ConfigError::Unsupported { part, model: name.into() }))
}

/// Lower case with `_`.
pub(super) fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

fn listed<T: Copy>(table: &[(T, &[&str])], name: &str) -> Option<T> {
    table.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}

fn encoder_and_decoder(config: &HfConfig, text: &HfConfig) -> Option<NotDecoder> {
    let says = |config: &HfConfig| config.is_encoder_decoder.value() == Some(&true);
    (says(config) || says(text)).then_some(EncoderDecoder)
}

/// For unknown architectures: the head that its class name promises, or fields that only other models have.
fn head_or_sign(text: &HfConfig, architecture: &str) -> Option<NotDecoder> {
    let generates = GENERATE.iter().any(|part| architecture.contains(part));
    let ends = |ends: &[&str]| ends.iter().any(|end| architecture.ends_with(end)) && !generates;
    let head = HEADS.iter().find(|(_, names)| ends(names));
    let without_vocabulary = !text.vocabulary().entry.is_given();
    let images = text.image_size.is_given() || text.patch_size.is_given();
    head.map(|(kind, _)| *kind)
        .or_else(|| (without_vocabulary && images).then_some(Vision))
        .or_else(|| (without_vocabulary && text.num_mel_bins.is_given()).then_some(Audio))
}

/// Fields that only models with such layers have.
fn marked(text: &HfConfig) -> Option<Unsupported> {
    let marks = [
        (IrregularLayers, &text.block_configs),
        (HybridLayers, &text.hybrid_override_pattern),
        (HybridLayers, &text.ssm_state_size),
        (HybridLayers, &text.state_size),
        (HybridLayers, &text.mamba_d_state),
        (HybridLayers, &text.linear_num_key_heads),
        (SparseAttention, &text.index_topk),
        (InterleavedExperts, &text.interleave_moe_layer_step),
    ];
    marks.iter().find(|(_, mark)| mark.is_given()).map(|(part, _)| *part)
}
