//! A model named by a request: from the catalog or from a file.

use std::borrow::Cow;

use calc_core::catalog;
use calc_core::catalog::model_names;
use calc_core::catalog::models::{self, CatalogModel};
use calc_core::hf_config::{AssumedField, Remark, Unread};
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;

use crate::input::error::RequestError;
use crate::input::model_file;

/// A model with its geometry and stored formats.
#[derive(Debug, Clone)]
pub struct NamedModel {
    /// Key of the catalog, or name of the file.
    pub key: String,
    /// Repository on the Hugging Face hub, or name of the file.
    pub hub_id: String,
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
        let hub_id = name.contains('/') && found.format.is_none();
        Ok(Self {
            stored: found.stored(),
            remarks: format.into_iter().collect(),
            hub_id: if hub_id { name } else { found.model.hf_id }.into(),
            ..Self::from_catalog(found.model)
        })
    }

    /// The named model of a catalog row.
    pub fn from_catalog(model: &'static CatalogModel) -> Self {
        Self {
            key: model.key.into(),
            hub_id: model.hf_id.into(),
            name: model.name.into(),
            arch: Cow::Borrowed(&model.arch),
            stored: model.stored.choice(),
            provenance: model.provenance,
            source: model.source.into(),
            assumed: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Reads the model of a config.json. Keys that look like geometry and are not understood are refused, or taken as the upper
    /// bound.
    ///
    /// # Errors
    /// [`RequestError::ModelFile`] when the file does not describe a decoder-only language model.
    pub fn from_file(path: &str, text: &str, unread: Unread) -> Result<Self, RequestError> {
        let imported = model_file::parse_with(text, unread).map_err(|error| {
            RequestError::ModelFile { path: path.into(), reason: error.to_string() }
        })?;
        Ok(Self {
            key: path.into(),
            hub_id: path.into(),
            name: path.into(),
            arch: Cow::Owned(imported.arch),
            stored: imported.stored,
            provenance: imported.provenance,
            source: format!("{path} ({})", imported.model_type),
            assumed: imported.assumed,
            remarks: imported.remarks,
        })
    }
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
