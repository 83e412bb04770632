//! Models from weight files: geometry from the metadata of GGUF or from the config.json beside safetensors, and exact bytes from
//! the headers. `weights` reads the headers.

mod sentences;

use calc_core::estimate::{PartBytes, WeightSize};
use calc_core::hf_config::{self, HfConfig, Imported, Unread};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::units::Bytes;
use serde_json::Value;
use weights::error::HeaderError;
use weights::files::{Group, Sum, WeightFile, Weights, sum};
use weights::geometry::{self, NoGeometry};
use weights::packing::Packing;
use weights::role::Role;
use weights::stored::{LAYER_ROLES, file_type, gguf_formats, main_type};

use crate::input::error::RequestError;
use crate::input::model_file::{self, ModelFileError};

/// The weights of a model as somebody found them, with the config.json beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelWeights {
    pub weights: Weights,
    /// Text of the config.json; unused for GGUF, which states the geometry itself.
    pub config: Option<String>,
}

/// Reasons why weight files are no model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WeightFileError {
    /// A file or folder that cannot be read.
    Unreadable {
        /// Message of the system, or what the folder holds.
        reason: String,
    },
    /// A mistake in a header.
    Header {
        /// File with the header; empty if it is the one that was named.
        file: String,
        error: HeaderError,
    },
    /// Metadata without a language model.
    NoGeometry(NoGeometry),
    /// Files of safetensors without a config.json.
    NoConfig,
    /// A geometry that is refused.
    Model {
        error: ModelFileError,
        /// True if the metadata of GGUF state it.
        of_header: bool,
    },
}

impl WeightFileError {
    /// The mistake in the header of `file`.
    pub fn header(file: &str, error: HeaderError) -> Self {
        Self::Header { file: file.into(), error }
    }

    /// The sentence for readers who have a button for the upper bound instead of a flag.
    pub fn without_flag(&self) -> String {
        match self {
            Self::Model { error, .. } => {
                self.to_string().replace(&error.to_string(), &error.without_flag())
            }
            _ => self.to_string(),
        }
    }

    /// The refusal of a request that names the file or folder `path`.
    pub fn of_file(&self, path: &str) -> RequestError {
        let (path, reason) = (path.into(), self.to_string());
        match self {
            Self::Unreadable { .. } => RequestError::Unreadable { path, reason },
            _ => RequestError::ModelFile { path, reason },
        }
    }
}

/// Bytes of a model's weights by role, as its files state them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightBytes {
    /// All that a step of the language model uses: the sum of the five below.
    pub language_model: Bytes,
    /// Bytes of the language model by the parts of an estimate; layers include norms, routers and unknown tensors.
    pub parts: PartBytes,
    pub embedding: Bytes,
    pub lm_head: Bytes,
    /// Attention, MLPs, shared experts, layers with a state.
    pub layers: Bytes,
    pub experts: Bytes,
    /// Routers, norms, and tensors with an unknown role.
    pub rest: Bytes,
    /// Towers for images and sound, and their projectors.
    pub towers: Bytes,
    /// Extra layers for multi-token prediction.
    pub draft_layers: Bytes,
    /// Number of weights of the language model; `None` if packed elements do not say.
    pub parameters: Option<u64>,
}

impl WeightBytes {
    /// The sums of these groups.
    pub fn of(groups: &[Group]) -> Self {
        let sums: Vec<(Role, Sum)> = groups.iter().map(|group| (group.role, group.sum)).collect();
        Self::of_sums(&sums)
    }

    /// The sums of these parts.
    pub fn of_sums(sums: &[(Role, Sum)]) -> Self {
        let all = |counts: &dyn Fn(Role) -> bool| {
            sums.iter()
                .filter(|(role, _)| counts(*role))
                .fold(Sum::EMPTY, |all, (_, sum)| all.and(sum))
        };
        let bytes = |counts: &dyn Fn(Role) -> bool| Bytes::new(all(counts).bytes as f64);
        let one = |role: Role| bytes(&|other| other == role);
        let [embedding, lm_head, experts] = [Role::Embedding, Role::LmHead, Role::Experts].map(one);
        let layers = bytes(&|role| LAYER_ROLES.contains(&role));
        let rest = [Role::Router, Role::Norms, Role::Other];
        let rest = bytes(&|role| rest.contains(&role));
        Self {
            language_model: bytes(&Role::is_language_model),
            parts: PartBytes { embedding, lm_head, layers: layers + rest, experts },
            embedding,
            lm_head,
            layers,
            experts,
            rest,
            towers: one(Role::Towers),
            draft_layers: one(Role::Draft),
            parameters: all(&Role::is_language_model).parameters,
        }
    }

    /// The size that replaces the one computed from formats.
    pub const fn size(&self) -> WeightSize {
        WeightSize::Parts(self.parts)
    }
}

/// A model read from weight files.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedWeights {
    pub imported: Imported,
    pub bytes: WeightBytes,
}

impl ModelWeights {
    /// Joins files of one model with the text of the config.json beside them, whose number of layers tells extra layers from
    /// those of the model.
    ///
    /// # Errors
    /// Files that do not belong together.
    pub fn join(files: Vec<WeightFile>, config: Option<String>) -> Result<Self, HeaderError> {
        let layers = config.as_deref().and_then(layers);
        Ok(Self { weights: Weights::join(files, layers)?, config })
    }

    /// Bytes and parameters by role and type.
    pub fn groups(&self) -> Vec<Group> {
        let bits = self.config.as_deref().and_then(packed_bits);
        self.weights.groups(Packing { bits })
    }

    /// Reads the model. Keys that look like geometry and are not understood are refused, or taken as the upper bound.
    ///
    /// # Errors
    /// [`WeightFileError`] when the files describe no decoder-only language model.
    pub fn import(&self, unread: Unread) -> Result<ImportedWeights, WeightFileError> {
        let groups = self.groups();
        let imported = if self.weights.is_gguf() {
            let mut imported = self.import_metadata(unread)?;
            imported.stored = gguf_formats(&groups)
                .ok_or(WeightFileError::NoGeometry(NoGeometry::NoEmbedding))?;
            imported
        } else {
            let text = self.config.as_deref().ok_or(WeightFileError::NoConfig)?;
            let of_header = false;
            model_file::parse_with(text, unread)
                .map_err(|error| WeightFileError::Model { error, of_header })?
        };
        Ok(ImportedWeights { imported, bytes: WeightBytes::of(&groups) })
    }

    fn import_metadata(&self, unread: Unread) -> Result<Imported, WeightFileError> {
        let refused = |error| WeightFileError::Model { error, of_header: true };
        let fields = geometry::config(&self.weights).map_err(WeightFileError::NoGeometry)?;
        let config: HfConfig = serde_json::from_value(fields.into())
            .map_err(|error| refused(model_file::malformed(&error)))?;
        hf_config::import(&config, unread).map_err(|error| refused(ModelFileError::Config(error)))
    }
}

fn layers(config: &str) -> Option<u64> {
    let config: Value = serde_json::from_str(config).ok()?;
    let outer = config.get("num_hidden_layers");
    outer.or_else(|| config.get("text_config")?.get("num_hidden_layers"))?.as_u64()
}

/// Bits of a packed weight by the quantization that a config.json states.
fn packed_bits(config: &str) -> Option<u64> {
    let config: Value = serde_json::from_str(config).ok()?;
    let outer = [&config, &config["text_config"]];
    let stated = outer
        .into_iter()
        .flat_map(|config| [&config["quantization_config"], &config["quantization"]]);
    stated.into_iter().find_map(|quantization| {
        let group = &quantization["config_groups"]["group_0"]["weights"]["num_bits"];
        [&quantization["bits"], &quantization["w_bit"], group].into_iter().find_map(Value::as_u64)
    })
}

/// The formats of a part of a model: as the header has it, and as the config.json or the nominal type of GGUF states it.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleFormats {
    pub role: Role,
    /// Type with the most bytes, in the header's words.
    pub header: &'static str,
    /// Mean bits per weight in the header, scales included; `None` if the packing is not known.
    pub header_bits: Option<f64>,
    /// The stated format: a key of the catalog, or a type of GGUF.
    pub stated: &'static str,
    /// Bits per weight of the stated format; `None` for GGUF, where types are compared by name.
    pub stated_bits: Option<f64>,
    pub agrees: bool,
}

/// Largest ratio of bits in the header to those stated that still agrees. Scales that a nominal format rounds are below it, and
/// 16 bits against 8 are far above.
const AGREES_WITHIN: f64 = 1.15;

/// Every role with a matrix, by the header and as stated elsewhere. Empty if nothing else states a format.
pub fn stated_formats(model: &ModelWeights, stored: Option<&PrecisionChoice>) -> Vec<RoleFormats> {
    let groups = model.groups();
    let nominal = file_type(&model.weights);
    let roles = LAYER_ROLES.into_iter().chain([Role::Experts, Role::Embedding, Role::LmHead]);
    let one = |role: Role| {
        let kind = main_type(&groups, &[role])?;
        let sum = sum(&groups, |group| group.role == role);
        let parameters = sum.parameters.filter(|&parameters| parameters > 0);
        let header_bits = parameters.map(|parameters| 8.0 * sum.bytes as f64 / parameters as f64);
        if model.weights.is_gguf() {
            let is_table = matches!(role, Role::Embedding | Role::LmHead);
            let stated = nominal.filter(|_| !is_table)?.main;
            let agrees = kind.name == stated;
            return Some(RoleFormats {
                role,
                header: kind.name,
                header_bits,
                stated,
                stated_bits: None,
                agrees,
            });
        }
        let format = stated_format(role, stored?);
        let bits = format.bits_per_element();
        let agrees =
            header_bits.is_none_or(|header| (header / bits).max(bits / header) <= AGREES_WITHIN);
        let (stated, stated_bits) = (format.key, Some(bits));
        Some(RoleFormats { role, header: kind.name, header_bits, stated, stated_bits, agrees })
    };
    roles.filter_map(one).collect()
}

/// The format that a config.json gives to a role.
fn stated_format(role: Role, stored: &PrecisionChoice) -> &'static QuantFormat {
    match role {
        Role::Experts => stored.experts.unwrap_or(stored.weights),
        Role::Embedding | Role::LmHead => stored.embedding.unwrap_or(stored.weights),
        _ => stored.weights,
    }
}
