//! A model named by a request: from the catalog or from a file.

use std::borrow::Cow;

use calc_core::catalog;
use calc_core::catalog::model_names;
use calc_core::catalog::models::{self, CatalogModel};
use calc_core::estimate::{Draft, PartBytes};
use calc_core::hf_config::{AssumedField, Imported, Remark, Unread};
use calc_core::model_arch::{ModelArch, Tower, TowerKind};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::text::List;
use calc_core::units::Bytes;

use crate::input::error::RequestError;
use crate::input::model_file::{self, ModelFileError};
use crate::input::weight_file::{ModelWeights, WeightBytes, WeightFileError};

/// A model with its geometry and stored formats.
#[derive(Debug, Clone)]
pub struct NamedModel {
    /// Key of the catalog, or name of the file.
    pub key: String,
    /// Repository on the Hugging Face hub with the 16-bit weights, or folder of the file.
    pub hub_id: String,
    /// Repository with the published formats: a quantized copy that the request names, or `hub_id`.
    pub published_id: String,
    /// Tag of Ollama, if the request names the model by one.
    pub tag: Option<String>,
    /// True if the weights of `hub_id` have 16 bits.
    pub has_half: bool,
    pub name: String,
    pub arch: Cow<'static, ModelArch>,
    pub stored: PrecisionChoice,
    /// Provenance of the geometry.
    pub provenance: Provenance,
    /// Source of the geometry.
    pub source: String,
    /// Fields that the file left out, each with its assumed value.
    pub assumed: Vec<AssumedField>,
    /// Parts of the file that geometry and formats leave out or round.
    pub remarks: Vec<Remark>,
    /// Exact bytes, if the model was read from its weight files.
    pub weight_bytes: Option<WeightBytes>,
}

/// Name of another release in a catalog row: `Llama-3.3-70B-Instruct (geometry of Llama-3.1 70B)`.
pub fn geometry_of(other: &str, model: &CatalogModel) -> String {
    format!("{other} (geometry of {})", model.name)
}

impl NamedModel {
    /// Finds the catalog model of a published name: a key, a repository of the hub or a copy in another format, a
    /// tag of Ollama.
    ///
    /// # Errors
    /// [`RequestError::UnknownModel`] for names in the form of a repository, else an unknown key; both with the nearest keys.
    pub fn from_name(name: &str) -> Result<Self, RequestError> {
        let Some(found) = model_names::find(name) else { return Err(unknown(name)) };
        let format = found.format.map(|choice| Remark::FormatByName { format: choice.weights });
        let named = model_names::repository(name);
        let original = model_names::original(name, found.model);
        let other = model_names::other_release(name, found.model);
        Ok(Self {
            name: other.map_or_else(
                || found.model.name.to_owned(),
                |other| geometry_of(other, found.model),
            ),
            stored: found.stored(),
            remarks: format.into_iter().collect(),
            hub_id: named.filter(|_| found.format.is_none()).unwrap_or(original).into(),
            published_id: named.unwrap_or(original).into(),
            tag: model_names::is_tag(name).then(|| name.into()),
            ..Self::from_catalog(found.model)
        })
    }

    /// The named model of a catalog row.
    pub fn from_catalog(model: &'static CatalogModel) -> Self {
        Self {
            key: model.key.into(),
            hub_id: model.hf_id.into(),
            published_id: model.hf_id.into(),
            tag: None,
            has_half: is_half(&model.stored.choice()),
            name: model.name.into(),
            arch: Cow::Borrowed(&model.arch),
            stored: model.stored.choice(),
            provenance: model.provenance,
            source: model.source.into(),
            assumed: Vec::new(),
            remarks: Vec::new(),
            weight_bytes: None,
        }
    }

    /// Reads the model of a config.json. Keys that look like geometry and are not understood are refused, or taken as the upper
    /// bound.
    ///
    /// # Errors
    /// [`RequestError::ModelFile`] when the file does not describe a decoder-only language model.
    pub fn from_file(path: &str, text: &str, unread: Unread) -> Result<Self, RequestError> {
        Self::of_config(path, text, unread).map_err(|error| RequestError::ModelFile {
            path: path.into(),
            reason: error.to_string(),
        })
    }

    /// Reads the model of a config.json like [`Self::from_file`].
    ///
    /// # Errors
    /// [`ModelFileError`], whose sentence does not name the file.
    pub fn of_config(path: &str, text: &str, unread: Unread) -> Result<Self, ModelFileError> {
        let mut imported = model_file::parse_with(text, unread)?;
        let taken = imported.stored.weights;
        let is_plain = is_half(&imported.stored) && taken == imported.unquantized;
        if let Some(said) = format_in_name(path).filter(|_| is_plain) {
            imported.remarks.push(Remark::NameSaysFormat { said, taken });
        }
        Ok(Self::of_import(path, imported))
    }

    /// Reads the model of weight files, with their exact bytes.
    ///
    /// # Errors
    /// [`WeightFileError`], whose sentence does not name the file.
    pub fn of_weights(
        path: &str,
        weights: &ModelWeights,
        unread: Unread,
    ) -> Result<Self, WeightFileError> {
        let read = weights.import(unread)?;
        let mut model =
            Self { weight_bytes: Some(read.bytes), ..Self::of_import(path, read.imported) };
        model.take_tower_bytes(read.bytes.towers);
        Ok(model)
    }

    /// Gives the towers the bytes that the weight files have; files without a tower have none.
    fn take_tower_bytes(&mut self, bytes: Bytes) {
        let arch = self.arch.to_mut();
        if bytes <= Bytes::ZERO {
            arch.towers = List::Borrowed(&[]);
        } else if arch.towers.is_empty() {
            arch.towers = vec![Tower::of_bytes(TowerKind::Vision, bytes)].into();
        } else {
            for (place, tower) in arch.towers.to_mut().iter_mut().enumerate() {
                tower.stored = Some(if place == 0 { bytes } else { Bytes::ZERO });
            }
        }
        self.remarks.retain(|remark| *remark != Remark::TowersNotCounted);
    }

    /// Leaves the towers out of the model, as an engine does that loads the language model only.
    pub fn leave_towers_out(&mut self) {
        self.arch.to_mut().towers = List::Borrowed(&[]);
        self.remarks.retain(|remark| *remark != Remark::TowersNotCounted);
    }

    /// Bytes of the weights by part, if they are known from files.
    pub fn file_parts(&self) -> Option<&PartBytes> {
        self.weight_bytes.as_ref().map(|bytes| &bytes.parts)
    }

    /// The model as a draft model, with the size of its files.
    pub fn draft(&self) -> Draft<'_> {
        Draft { model: &self.arch, files: self.file_parts() }
    }

    fn of_import(path: &str, imported: Imported) -> Self {
        Self {
            key: path.into(),
            hub_id: folder(path).into(),
            published_id: folder(path).into(),
            tag: None,
            has_half: is_half(&imported.stored),
            name: path.into(),
            arch: Cow::Owned(imported.arch),
            stored: imported.stored,
            provenance: imported.provenance,
            source: format!("{path} ({})", imported.model_type),
            assumed: imported.assumed,
            remarks: imported.remarks,
            weight_bytes: None,
        }
    }
}

/// True for weights in 16 or more bits.
pub fn is_half(stored: &PrecisionChoice) -> bool {
    let is_carrier = |format: &QuantFormat| format.class.is_some_and(ComputeClass::is_carrier);
    is_carrier(stored.weights) && stored.experts.is_none_or(is_carrier)
}

/// The quantized format that the name of a file or of its folder says: `DeepSeek-V3.1-NVFP4/config.json`.
fn format_in_name(path: &str) -> Option<&'static QuantFormat> {
    let names = path.rsplit(['/', '\\']).take(2);
    let words = names.flat_map(|name| name.split(|c: char| !c.is_ascii_alphanumeric()));
    let is_quantized = |format: &&QuantFormat| {
        format.file.is_none() && !format.class.is_some_and(ComputeClass::is_carrier)
    };
    words.filter_map(|word| catalog::format(word).ok()).find(is_quantized)
}

/// Folder of a model's config.json; `MODEL` for other files.
pub fn folder(path: &str) -> &str {
    let parent =
        path.strip_suffix("config.json").map(|parent| parent.trim_end_matches(['/', '\\']));
    parent.filter(|parent| !parent.is_empty()).unwrap_or("MODEL")
}

/// The error for a name that the catalog does not have.
fn unknown(name: &str) -> RequestError {
    if !model_names::is_hub_id(name) {
        return catalog::model(name).err().map_or_else(
            || RequestError::UnknownModel { name: name.into(), nearest: Vec::new() },
            RequestError::Core,
        );
    }
    let nearest = catalog::nearest(&model_names::plain(name), models::all().map(|model| model.key));
    RequestError::UnknownModel { name: name.into(), nearest }
}
