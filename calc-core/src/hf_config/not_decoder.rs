//! Identifies models that are not text decoders by their files.

use alloc::string::String;

use super::family::{Family, plain_name};
use super::fields::HfConfig;

/// Kinds of models without a decoder of their own, or with more than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDecoder {
    /// Encoder that embeds or classifies text.
    Encoder,
    EncoderDecoder,
    Vision,
    Audio,
    /// Text half of a model that compares texts with images or sound.
    TextTower,
    /// A class without a next-token head.
    NoHead,
}

use NotDecoder::{Audio, Encoder, EncoderDecoder, NoHead, TextTower, Vision};

/// `model_type`s that are known not to be decoders: the classes of transformers 5.23.0 without a causal head, or with a
/// causal head that is not used in practice.
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

/// Suffixes of the `model_type`s of parts: a tower of a multimodal model, or half of an encoder-decoder.
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

/// Suffixes of architecture names without a language-model head.
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

/// The kind of a file that is not a decoder; `plain` is its `model_type` or class, in lower case.
pub(super) fn kind(
    config: &HfConfig,
    text: &HfConfig,
    family: Option<Family>,
    plain: &str,
    architecture: &str,
) -> Option<NotDecoder> {
    let whole = plain_name(config.model_type.value().map_or("", String::as_str));
    let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
    listed(&NOT_DECODERS, plain)
        .or_else(|| listed(&NOT_DECODERS, &whole))
        .or_else(|| PARTS.iter().find(|(_, names)| ends(names)).map(|(kind, _)| *kind))
        .or_else(|| encoder_and_decoder(config, text))
        .or_else(|| if family.is_none() { head_or_sign(text, architecture) } else { None })
}

fn encoder_and_decoder(config: &HfConfig, text: &HfConfig) -> Option<NotDecoder> {
    let says = |config: &HfConfig| config.is_encoder_decoder.value() == Some(&true);
    (says(config) || says(text)).then_some(EncoderDecoder)
}

/// For unknown architectures: the head implied by the class name, or fields that only other kinds of models have.
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

/// The first row with this name.
pub(super) fn listed<T: Copy>(table: &[(T, &[&str])], name: &str) -> Option<T> {
    table.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}
