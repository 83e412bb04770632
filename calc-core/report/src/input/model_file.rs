//! Models from the text of a config.json: limits before parsing, and a sentence for every refusal, assumption and remark.
//! `calc_core::hf_config` interprets the fields.

mod modelopt;
mod python;
mod remarks;
pub mod word;

pub use modelopt::with_quantization;
pub use remarks::{assumed_text, data_type_field, first_notes, import_notes, remark_text};

use core::fmt::{self, Write};

use calc_core::hf_config::{
    Allowed, ConfigError, Found, HfConfig, Imported, Meaning, NotDecoder, Unread, UnreadKey,
    Unsupported, import,
};
use serde_json::error::Category;

use crate::input::error::RequestError;
use crate::refusal_text::OneLine;

/// Largest accepted config.json [byte]; published ones have under 0.1 MB.
pub const MAX_BYTES: usize = 16_000_000;

/// Reasons why a text is not a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelFileError {
    /// Larger than [`MAX_BYTES`].
    TooLarge {
        /// Size of the file [byte].
        bytes: usize,
    },
    /// Empty, or white space only.
    Empty,
    /// A text that does not begin with a JSON object.
    NotAnObject { first: char },
    /// A text that ends inside the object.
    Truncated {
        /// Line of the end, from 1.
        line: usize,
        /// Column of the end, from 1.
        column: usize,
    },
    /// Malformed JSON, or a value of the wrong type.
    Malformed {
        /// Message of serde_json.
        reason: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The hf_quant_config.json of ModelOpt, which states formats and no model.
    QuantizationAlone,
    /// Valid JSON whose fields describe no supported model.
    Config(ConfigError),
}

/// Parses the text of a config.json. Keys that look like geometry and are not understood are refused by name.
///
/// # Errors
/// [`ModelFileError`] with the mistake and its position.
pub fn parse(json_text: &str) -> Result<Imported, ModelFileError> {
    parse_with(json_text, Unread::Refuse)
}

/// Parses like [`parse`], with a choice for keys that are not understood.
///
/// # Errors
/// [`ModelFileError`] with the mistake and its position.
pub fn parse_with(json_text: &str, unread: Unread) -> Result<Imported, ModelFileError> {
    if json_text.len() > MAX_BYTES {
        return Err(ModelFileError::TooLarge { bytes: json_text.len() });
    }
    let json_text = json_text.strip_prefix('\u{feff}').unwrap_or(json_text);
    match json_text.trim_start().chars().next() {
        None => return Err(ModelFileError::Empty),
        Some('{') => {}
        Some(first) => return Err(ModelFileError::NotAnObject { first }),
    }
    let json_text = python::without_infinities(json_text);
    let config: HfConfig = serde_json::from_str(&json_text).map_err(|error| malformed(&error))?;
    import(&config, unread).map_err(|error| {
        let without_model = matches!(error, ConfigError::Missing { field: "model_type" });
        if without_model && modelopt::is_quantization(&json_text) {
            return ModelFileError::QuantizationAlone;
        }
        ModelFileError::Config(error)
    })
}

pub(crate) fn malformed(error: &serde_json::Error) -> ModelFileError {
    let (line, column) = (error.line(), error.column());
    if error.classify() == Category::Eof {
        return ModelFileError::Truncated { line, column };
    }
    let text = error.to_string();
    let reason = text.rfind(" at line ").map_or(&*text, |end| &text[..end]).into();
    ModelFileError::Malformed { reason, line, column }
}

impl ModelFileError {
    /// Whether the file can be read with its unread keys at their upper bound.
    pub fn has_upper_bound(&self) -> bool {
        matches!(self, Self::Config(ConfigError::Unread { .. }))
    }

    /// The sentence for readers who have a button for the upper bound instead of a flag.
    pub fn without_flag(&self) -> String {
        self.to_string().replace(BY_FLAG, "")
    }
}

impl core::error::Error for ModelFileError {}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = OneLine(f);
        match self {
            Self::TooLarge { bytes } => write!(
                out,
                "a config.json has at most {} MB; this has {} MB. Give the config.json next to the weights, \
                 not the weights",
                MAX_BYTES / 1_000_000,
                bytes.div_ceil(1_000_000)
            ),
            Self::QuantizationAlone => out.write_str(
                "this is the hf_quant_config.json of ModelOpt: it states formats of the weights, and no model; \
                 give the config.json of the same folder, or the folder itself with --model",
            ),
            Self::Empty => out.write_str("the file is empty; a config.json is a JSON object"),
            Self::NotAnObject { first } => {
                write!(
                    out,
                    "a config.json is a JSON object and begins with {{; this begins with {first:?}"
                )
            }
            Self::Truncated { line, column } => {
                write!(
                    out,
                    "the JSON ends too early, at line {line}, column {column}: is the download complete?"
                )
            }
            Self::Malformed { reason, line, column } => {
                write!(out, "not a config.json: {reason} at line {line}, column {column}")
            }
            Self::Config(error) => out.write_str(&config_error(error)),
        }
    }
}

/// The sentence for a config.json that describes no supported model.
fn config_error(error: &ConfigError) -> String {
    match error {
        ConfigError::Missing { field: "model_type" } => {
            "neither model_type nor architectures names the model; is this the config.json of a model?".into()
        }
        ConfigError::Missing { field } => format!(
            "{field} is missing, and it has no default; a config.json of a language model has it at the top or in \
             text_config"
        ),
        ConfigError::WrongType { field, allowed, found } => {
            format!("{field} must be {}; got {}", allowed_text(*allowed), found_text(found))
        }
        ConfigError::Value(error) => RequestError::Core(error.clone()).to_string(),
        ConfigError::NotDivisible { field, value, by, divisor } => {
            format!("{field} ({value}) is not a multiple of {by} ({divisor}), and head_dim is not given")
        }
        ConfigError::ListLength { field, entries, layers } => {
            format!("{field} must have one entry for each of {layers} layers; got {entries}")
        }
        ConfigError::NotDecoder { kind: NotDecoder::NoHead, model } => format!(
            "`{model}` has a class without a head for the next token; only decoder-only language models are estimated here. \
             If it generates text, give the config.json whose architectures ends in ForCausalLM"
        ),
        ConfigError::NotDecoder { kind, model } => format!(
            "`{model}` is {}, not a decoder-only language model; only those are estimated here",
            not_decoder(*kind)
        ),
        ConfigError::Unsupported { part, model } => format!("`{model}` {}", unsupported(*part)),
        ConfigError::Unread { keys, model } => unread_keys(keys, model),
        ConfigError::Misspelt { found, meant } => format!(
            "`{found}` is no key of this model; did you mean {meant}, which the file lacks? Correct the name, or take the \
             key out if it changes nothing"
        ),
        ConfigError::UnknownDtype { found } => {
            format!("torch_dtype must be bfloat16, float16, float32, float64 or float8_e4m3fn; got `{found}`")
        }
        ConfigError::UnknownQuantization { method, bits, group } => quantization(method, *bits, *group),
        _ => format!("{error:?}"),
    }
}

/// The ways to ask for the upper bound that a command line and JSON have.
const BY_FLAG: &str = " (--model-upper-bound, in JSON model_upper_bound)";

/// Largest number of unread keys named in a message.
const NAMED: usize = 6;

fn unread_keys(keys: &[UnreadKey], model: &str) -> String {
    let named: Vec<String> = keys
        .iter()
        .take(NAMED)
        .map(|key| format!("{} ({})", key.name, meaning(key.meaning)))
        .collect();
    let more = keys.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "`{model}` has keys that look like geometry and are not understood here: {}{more}; without them the memory could \
         be too small. Remove the keys that change nothing, or take the upper bound{BY_FLAG}: full attention in all \
         layers, the most and the largest heads named, all experts",
        named.join(", ")
    )
}

const fn meaning(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Window => "perhaps attention to a part of the context in some layers",
        Meaning::LayerKinds => "perhaps layers of different kinds",
        Meaning::Experts => "perhaps a mixture of experts",
        Meaning::Heads => "perhaps another number or size of heads",
        Meaning::Latent => "perhaps attention through a latent vector",
        Meaning::Layers => "perhaps other layers",
        Meaning::State => "perhaps a state beside the KV cache",
        Meaning::Selection => "perhaps attention to selected tokens",
    }
}

fn quantization(method: &str, bits: Option<u64>, group: Option<u64>) -> String {
    let bits = bits.map_or_else(String::new, |bits| format!(" with {bits} bits"));
    let group = group.map_or_else(String::new, |group| format!(" in groups of {group}"));
    let name = if method.is_empty() { "without a quant_method" } else { method };
    let known: Vec<&str> =
        QUANTIZERS.into_iter().filter(|known| !name.starts_with(*known)).collect();
    format!(
        "quantization_config is {name}{bits}{group}, for which there is no format; {} are known. Take it out of the \
         file and choose the weights' format yourself",
        known.join(", ")
    )
}

/// Names of `quant_method` that are read.
const QUANTIZERS: [&str; 8] =
    ["gptq", "awq", "fp8", "compressed-tensors", "bitsandbytes", "mxfp4", "modelopt", "torchao"];

const fn allowed_text(allowed: Allowed) -> &'static str {
    match allowed {
        Allowed::Count => "a whole number",
        Allowed::Flag => "true or false",
        Allowed::Text => "a text",
        Allowed::Texts => "a list of texts",
        Allowed::Counts => "a list of whole numbers",
        Allowed::Flags => "a list of true and false",
        Allowed::Object => "an object",
    }
}

fn found_text(found: &Found) -> String {
    match found {
        Found::Flag(value) => value.to_string(),
        Found::Number(value) => value.to_string(),
        Found::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Found::List => "a list, or one with other entries".into(),
        Found::Object => "an object".into(),
    }
}

const fn not_decoder(kind: NotDecoder) -> &'static str {
    match kind {
        NotDecoder::Encoder => "an encoder",
        NotDecoder::EncoderDecoder => "an encoder with a decoder",
        NotDecoder::Vision => "an image model",
        NotDecoder::Audio => "a sound model",
        NotDecoder::TextTower => {
            "a model that compares texts with images or sound, or the text tower of one"
        }
        NotDecoder::NoHead => "a model without a head for the next token",
    }
}

const fn unsupported(part: Unsupported) -> &'static str {
    match part {
        Unsupported::HybridLayers => {
            "has state-space, linear or recurrent layers of a kind that is not modeled; choose a model of the catalog"
        }
        Unsupported::IrregularLayers => {
            "has layers of different widths, which no config.json import covers; the catalog has \
             llama-3.3-nemotron-super-49b as one such model"
        }
        Unsupported::SparseAttention => {
            "attends to selected or compressed tokens in a way that is not modeled; choose a model of the catalog"
        }
        Unsupported::InterleavedExperts => {
            "alternates dense and mixture-of-experts layers in a way that is not modeled; choose a model of the catalog"
        }
        Unsupported::OwnBlocks => {
            "has blocks of its own that are not modeled; choose a model of the catalog"
        }
        Unsupported::EmbeddingProjection => {
            "projects its embedding (word_embed_proj_dim differs from hidden_size), which is not modeled"
        }
        Unsupported::QkLayerNorm => {
            "has qk_layernorm, whose norms are not modeled for this family; set it to false"
        }
        Unsupported::LatentBias => "has attention_bias with latent attention, which is not modeled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_of_unread_keys_has_a_sentence_without_the_flag() {
        let file = r#"{"model_type": "llama", "vocab_size": 32000, "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 4, "kv_lora_rank": 512}"#;
        let error = parse(file).expect_err("refused");
        assert!(error.has_upper_bound() && error.to_string().contains("--model-upper-bound"));
        let said = error.without_flag();
        assert!(said.contains("take the upper bound: full attention"), "{said}");
        assert!(!said.contains("--"), "{said}");
        assert!(!parse("{}").expect_err("refused").has_upper_bound());
    }
}
