//! A model as a request names it: from the catalog or from a file.

use std::borrow::Cow;

use calc_core::catalog;
use calc_core::catalog::models::CatalogModel;
use calc_core::hf_config::{AssumedField, Remark, Unread};
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;

use crate::model_file;
use crate::request::RequestError;

/// A model with its geometry and the formats it is stored in.
#[derive(Debug, Clone)]
pub struct NamedModel {
    /// Key of the catalog, or name of the file.
    pub key: String,
    /// Name for people.
    pub name: String,
    /// Geometry.
    pub arch: Cow<'static, ModelArch>,
    /// Formats of the stored weights.
    pub stored: PrecisionChoice,
    /// How sure the geometry is.
    pub provenance: Provenance,
    /// Where it comes from.
    pub source: String,
    /// Fields that the file left open, and with what they were filled.
    pub assumed: Vec<AssumedField>,
    /// What the geometry or the formats leave out or round.
    pub remarks: Vec<Remark>,
}

impl NamedModel {
    /// A catalog model.
    pub fn from_catalog(model: &'static CatalogModel) -> Self {
        Self {
            key: model.key.into(),
            name: model.name.into(),
            arch: Cow::Borrowed(&model.arch),
            stored: model.stored.choice(),
            provenance: model.provenance,
            source: model.source.into(),
            assumed: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Its repository on the Hugging Face hub, or what it was named as.
    pub fn hub_name(&self) -> &str {
        catalog::model(&self.key).map_or(&self.key, |model| model.hf_id)
    }

    /// The model of a config.json. Keys that look like geometry and are not understood are refused, or taken as the upper
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
