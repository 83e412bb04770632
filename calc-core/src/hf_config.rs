//! The `config.json` of Hugging Face transformers as a plain struct, and the geometry and storage formats of the decoder-only
//! model it describes. JSON parsing and message texts are in `report::input::model_file`.
//!
//! A field missing from the file is filled with the documented default of its family, or, for an unknown architecture,
//! guessed; each is listed. Rules and defaults are those of transformers 5.23.0 (configuration_*.py and modeling_*.py),
//! checked against 4.57.1.

#[cfg(feature = "serde")]
mod decode;
mod entry;
mod fields;
mod part_fields;
mod quantization_fields;

mod attention;
mod family;
mod feed_forward;
mod guess;
mod layers;
mod misspelt;
mod module_formats;
mod modules;
mod not_decoder;
mod order;
mod other_head;
mod other_sizes;
mod pattern;
mod quantization;
mod reader;
mod refusal;
mod rule_table;
mod rules;
mod size_table;
mod stated;
mod storage;
mod stored_format;
mod tower;
mod tower_fields;
mod unread;

use alloc::string::String;
use alloc::vec::Vec;

pub use entry::{Allowed, Entry, FieldType, Found, Length, PerLayer, Present};
pub use family::Family;
pub use fields::{HfConfig, Thinker, UnknownKey};
pub use not_decoder::NotDecoder;
pub use part_fields::{
    AttentionOptions, Block, BlockPart, Blocks, CompressRates, ExpertOptions, LayerSizes,
    LinearAttention, NamedSizes, OtherHeads, SparseAttention,
};
pub use quantization_fields::{
    KvCacheScheme, ModuleList, ModuleOptions, QuantGroup, QuantGroups, QuantizationConfig,
    TensorScheme, TorchaoConfig, TorchaoScheme,
};
pub use refusal::{ConfigError, Unsupported};
pub use stated::{Meaning, Stated, UnreadKey};
pub use tower_fields::TowerConfig;
pub use unread::Unread;

use crate::model_arch::{Attention, DenseLayers, ModelArch};
use crate::precision::PrecisionChoice;
use crate::provenance::Provenance;
use crate::quant_format::QuantFormat;
use crate::text::{List, Text};
use layers::NormCount;
use reader::Reader;
use rules::Rules;

/// A model read from a config.json.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Geometry of the language model, and of the towers that are known.
    pub arch: ModelArch,
    /// Formats in which the weights are stored.
    pub stored: PrecisionChoice,
    /// `torch_dtype`: the format of all unquantized tensors.
    pub unquantized: &'static QuantFormat,
    /// The family whose rules were applied; `None` for an unknown architecture.
    pub family: Option<Family>,
    /// `model_type` of the language model.
    pub model_type: String,
    /// First entry of `architectures`; empty if there is none.
    pub architecture: String,
    /// Fields missing from the file, with the values assumed for them.
    pub assumed: Vec<AssumedField>,
    /// Simplifications of this geometry or these formats.
    pub remarks: Vec<Remark>,
    /// `Read`, or `Assumed` if any field was guessed.
    pub provenance: Provenance,
}

/// A field missing from the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedField {
    /// Name of the field in the file.
    pub field: Text,
    pub value: AssumedValue,
    pub why: AssumedWhy,
}

/// Value assumed for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssumedValue {
    Count(u64),
    Flag(bool),
    /// A word from the file's own vocabulary.
    Word(&'static str),
    /// The file has this key, and no rule reads it.
    NotRead,
}

/// Reason for an assumed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssumedWhy {
    /// The documented default of the family.
    FamilyDefault,
    /// A size that decides the memory and that the file does not state: the default of its class.
    ClassSize,
    /// A guess, because the architecture is unknown.
    Guessed,
    /// The upper bound of a key that is not understood.
    UpperBound,
    /// The file states it, and no rule reads it: perhaps a size under a name of its own.
    NotRead,
}

/// A simplification made by the import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Remark {
    /// A tower for images or sound is not counted: no rule knows its geometry, or the file does not describe it.
    TowersNotCounted,
    /// Extra layers for multi-token prediction are not counted.
    DraftLayersNotCounted {
        /// Number of these layers.
        layers: u64,
        /// Number of their parameters; `None` where their geometry is not known.
        parameters: Option<u64>,
    },
    /// A part of the layers in another format than the others, or than the other experts.
    OwnFormat {
        part: StoredPart,
        /// Number of layers in which a matrix of this part is in this format.
        layers: u64,
        /// Number of layers with this part.
        of: u64,
        format: &'static QuantFormat,
    },
    /// Lists of modules could not be read in full: what they may name is counted in the larger format.
    ModulesUnclear,
    /// The class has no head for the next token, and its parameters are not counted.
    OtherHead {
        /// Number of labels that its own head scores; 0 without one.
        labels: u64,
    },
    /// The file also quantizes the LM head; it is counted with the embedding in `torch_dtype`.
    LmHeadQuantized,
    /// The scale per block of rows and columns is not counted: under 0.01 bit per weight.
    BlockScalesNotCounted,
    /// The storage format is taken from the model's name, not from a file.
    FormatByName {
        /// Format of the weights.
        format: &'static QuantFormat,
    },
    /// The name of the file or its folder says a format, and the file states no quantization.
    NameSaysFormat {
        /// Format by the name.
        said: &'static QuantFormat,
        /// Format of the weights here.
        taken: &'static QuantFormat,
    },
    /// No catalog format has this block; the nearest in size replaces it.
    FormatRounded {
        /// Bits per element.
        bits: u64,
        /// Number of elements along K that share a scale; `None` for one scale per row.
        group: Option<u64>,
        /// The catalog format used instead.
        format: &'static QuantFormat,
    },
}

/// Parts of layers that files quantize or keep apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredPart {
    Attention,
    /// Linear attention, Mamba, short convolutions.
    Recurrent,
    /// Dense MLPs.
    Mlp,
    SharedMlp,
    Experts,
}

/// Reads a model from a config.json. Keys that look like geometry and are not understood are refused, or taken as an upper
/// bound.
///
/// # Errors
/// [`ConfigError`] if the file describes another kind of model, misses a size, or has an invalid value.
pub fn import(config: &HfConfig, unread: Unread) -> Result<Imported, ConfigError> {
    let text = text_config(config)?;
    let model = read(config, text, unread);
    // A misspelt key is the reason for whatever followed from its absence, so its sentence comes first.
    misspelt::refuse(config, text)?;
    model
}

fn read(config: &HfConfig, text: &HfConfig, unread: Unread) -> Result<Imported, ConfigError> {
    let model_type =
        text_of(&text.model_type).or_else(|| text_of(&config.model_type)).unwrap_or_default();
    let architecture =
        architecture_of(text).or_else(|| architecture_of(config)).unwrap_or_default();
    let (family, rules) = rules_for(config, text, &model_type, &architecture)?;
    let mut reader = Reader::new(config, text, family.is_some());
    if family.is_none() {
        guess::note(&mut reader, &rules);
    }
    let mut arch = geometry(&mut reader, &rules)?;
    arch.towers = tower::read(&mut reader, arch.hidden_size)?.into();
    arch.draft_layers = draft_layers(&mut reader, &arch);
    let keys = unread::keys(&reader, &arch);
    let others = other_sizes::unread(&reader);
    let doubtful = !keys.is_empty() || !others.is_empty();
    reader.assumed.extend(others);
    match unread {
        Unread::Refuse => unread::refuse(keys, name_of(&model_type, &architecture))?,
        Unread::UpperBound => {
            reader.assumed.extend(unread::upper_bound(&mut arch, &keys, text)?);
        }
    }
    other_head::read(&mut reader, &mut arch, family, &architecture);
    arch.check().map_err(ConfigError::Value)?;
    arch.order = reader.order.text(&arch);
    let storage = storage::read(&mut reader, &arch)?;
    let read = family.is_some() && !doubtful;
    let provenance = if read { Provenance::Read } else { Provenance::Assumed };
    Ok(Imported {
        arch,
        stored: storage.stored,
        unquantized: storage.unquantized,
        family,
        model_type,
        architecture,
        assumed: reader.assumed,
        remarks: reader.remarks,
        provenance,
    })
}

/// The part that describes the language model: nested in multimodal files, otherwise the file itself.
fn text_config(config: &HfConfig) -> Result<&HfConfig, ConfigError> {
    let thought = config.thinker_config.value().map(|thinker| &thinker.text_config);
    for (field, entry) in [
        ("text_config", thought.unwrap_or(&Entry::Absent)),
        ("text_config", &config.text_config),
        ("llm_config", &config.llm_config),
        ("language_config", &config.language_config),
        ("decoder_config", &config.decoder_config),
    ] {
        match entry {
            Entry::Value(inner) => return Ok(inner),
            Entry::Wrong(found) => {
                return Err(ConfigError::WrongType {
                    field,
                    allowed: Allowed::Object,
                    found: found.clone(),
                });
            }
            Entry::Absent | Entry::Null => {}
        }
    }
    Ok(config)
}

/// The model's name in messages.
fn name_of<'a>(model_type: &'a str, architecture: &'a str) -> &'a str {
    if model_type.is_empty() { architecture } else { model_type }
}

fn text_of(entry: &Entry<String>) -> Option<String> {
    entry.value().cloned()
}

fn architecture_of(config: &HfConfig) -> Option<String> {
    config.architectures.value().and_then(|list| list.first().cloned())
}

/// The rules of the family, or guessed ones.
fn rules_for(
    config: &HfConfig,
    text: &HfConfig,
    model_type: &str,
    architecture: &str,
) -> Result<(Option<Family>, Rules), ConfigError> {
    if model_type.is_empty() && architecture.is_empty() {
        return Err(ConfigError::Missing { field: "model_type" });
    }
    let family = Family::identify(model_type, architecture).or_else(|| {
        // The MiniCPM-V and -o of Qwen 2 and 3 have the fields of these classes in one file with their own.
        let is_minicpm = matches!(&*family::plain_name(model_type), "minicpmv" | "minicpmo");
        let qwen = if text.head_dim.is_given() { Family::Qwen3 } else { Family::Qwen2 };
        (is_minicpm && text.max_window_layers.is_given()).then_some(qwen)
    });
    refusal::refuse(config, text, family, model_type, architecture)?;
    Ok(match family {
        Some(family) => (Some(family), family.rules(model_type)),
        None => (None, guess::rules(text, &family::plain_name(model_type))),
    })
}

fn geometry(reader: &mut Reader<'_>, rules: &Rules) -> Result<ModelArch, ConfigError> {
    let hidden_size = reader.size(HfConfig::hidden, |sizes| sizes.hidden_size)?;
    let n_layers = reader.layers()?;
    reader.lists_of_layers(n_layers)?;
    let vocab_size = reader.size(HfConfig::vocabulary, |sizes| sizes.vocab_size)?;
    let max_context = reader.context(rules)?;
    let frame = attention::Frame { hidden_size, n_layers, vocab_size, max_context };
    reader.text.settle(rules.ignored);
    let layers = layers::read(reader, rules, &frame)?;
    let lm_head_bias = reader.switch(rules.lm_head_bias)?;
    let norms = reader.norms(rules)?;
    let (add_norms, post_norms) = match layers.norms {
        NormCount::ByRules => (norms.add * n_layers, norms.post * n_layers),
        NormCount::Total { add, post } => (add, post),
    };
    Ok(ModelArch {
        hidden_size,
        n_layers,
        order: Text::default(), // follows once all groups are known
        vocab_size,
        tied_embeddings: reader.tied(rules)?,
        attention: layers.attention.into(),
        recurrent: layers.recurrent.into(),
        mlp: rules.mlp,
        mlp_bias: layers.feed_forward.bias,
        dense: layers.feed_forward.dense.into(),
        moe: layers.feed_forward.moe.into(),
        projections: layers.projections.into(),
        tables: layers.tables.into(),
        other_vectors: layers.other_vectors,
        norm: norms.kind,
        add_norms,
        post_norms,
        final_norm: norms.last,
        position_rows: rules.position_rows.map_or(0, |extra| max_context.unwrap_or(0) + extra),
        lm_head_bias,
        has_head: true,
        towers: List::Borrowed(&[]),
        draft_layers: 0,
        gguf: rules.gguf,
        max_context,
    })
}

/// Families whose layers for multi-token prediction are decoder layers after a projection: transformers or vLLM builds them so.
const PLAIN_DRAFTS: [&str; 8] = [
    "deepseek_v3",
    "kimi_k2",
    "deepseek_v32",
    "glm4_moe",
    "glm_moe_dsa",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_next",
];

/// Reads the layers for multi-token prediction: a number if their geometry is known, else a remark.
fn draft_layers(reader: &mut Reader<'_>, arch: &ModelArch) -> u64 {
    let text = reader.text;
    let field = text.draft_layers();
    let Some(&layers) = field.entry.value().filter(|&&layers| layers > 0) else { return 0 };
    let model_type = text.model_type.value().or(reader.outer.model_type.value());
    let model_type = model_type.map(|name| name.trim_end_matches("_text"));
    if model_type.is_some_and(|name| PLAIN_DRAFTS.contains(&name)) {
        return layers;
    }
    let is_step = model_type.is_some_and(|name| STEP_DRAFTS.contains(&name));
    let parameters = is_step.then(|| step_draft(arch)).flatten();
    let parameters = parameters.and_then(|one| one.checked_mul(layers));
    reader.remarks.push(Remark::DraftLayersNotCounted { layers, parameters });
    0
}

/// Families whose layers for multi-token prediction slide, with the heads of full layers, and have a dense MLP.
const STEP_DRAFTS: [&str; 2] = ["step3p5", "step3p7"];

/// Number of parameters of a layer for multi-token prediction of Step 3.5, as transformers builds it.
fn step_draft(arch: &ModelArch) -> Option<u64> {
    let full = arch.attention.iter().find(|group| group.full_layers > 0)?;
    let dense = arch.dense.first()?;
    let attention = Attention { full_layers: 1, windowed_layers: 0, ..*full };
    let dense = DenseLayers { layers: 1, ..*dense };
    Some(arch.draft_of(attention, None, Some(dense)).n_params_without_tables())
}
