//! What the reader chose in the Model view. Numbers stay as they were typed until they are read.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::catalog;
use calc_core::catalog::models::CatalogModel;
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;
use report::input::model_file::lines::ModelLines;
use report::input::named_model::NamedModel;

use super::fields::Field;
use super::roles::{Formats, Role};
use crate::state::check::CLAIM;
use crate::state::trust::filter;

/// The model that everything starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum Base {
    /// One of the catalog.
    Catalog(&'static CatalogModel),
    /// One of a file, of the hub, or of an address.
    File(Arc<ModelLines>),
}

impl Base {
    /// Key of the catalog; empty for a file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Catalog(model) => model.key,
            Self::File(_) => "",
        }
    }

    /// Name for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Catalog(model) => model.name,
            Self::File(model) => &model.name,
        }
    }

    /// Geometry.
    pub fn arch(&self) -> &ModelArch {
        match self {
            Self::Catalog(model) => &model.arch,
            Self::File(model) => &model.arch,
        }
    }

    /// Formats of the stored weights.
    pub fn stored(&self) -> PrecisionChoice {
        match self {
            Self::Catalog(model) => model.stored.choice(),
            Self::File(model) => model.stored,
        }
    }

    /// How sure the geometry is.
    pub fn provenance(&self) -> Provenance {
        match self {
            Self::Catalog(model) => model.provenance,
            Self::File(model) => model.provenance,
        }
    }

    /// Who says so.
    pub fn source(&self) -> &str {
        match self {
            Self::Catalog(model) => model.source,
            Self::File(model) => &model.source,
        }
    }

    /// What the import of a file filled in, left out or rounded.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Catalog(_) => &[],
            Self::File(model) => &model.notes,
        }
    }

    /// The same with a geometry of its own, as the command line names it.
    pub fn named(&self, arch: ModelArch) -> NamedModel {
        let (key, hub_id) = match self {
            Self::Catalog(model) => (model.key.to_owned(), model.hf_id.to_owned()),
            Self::File(model) => (model.name.clone(), model.name.clone()),
        };
        NamedModel {
            key,
            hub_id,
            name: self.name().to_owned(),
            arch: Cow::Owned(arch),
            stored: self.stored(),
            provenance: self.provenance(),
            source: self.source().to_owned(),
            assumed: Vec::new(),
            remarks: Vec::new(),
        }
    }
}

/// Everything that decides what the Model view shows, but for device and power mode, which the views share.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInputs {
    /// The model.
    pub base: Base,
    /// Its numbers that the reader changed, and the workload, as typed.
    texts: [String; Field::ALL.len()],
    /// Embedding and LM head as one matrix, where the reader changed it.
    pub tied: Option<bool>,
    /// Formats.
    pub formats: Formats,
    /// The model that drafts; drafts cost nothing without one.
    pub drafter: Option<&'static CatalogModel>,
    /// What the reader claims to be possible, by key; understood where it is judged.
    pub claim: [String; CLAIM.len()],
    /// The filter of the Trust view, by key; understood there.
    pub filter: [String; filter::KEYS.len()],
}

impl Default for ModelInputs {
    fn default() -> Self {
        Self {
            base: Base::Catalog(catalog::model("llama-3.1-8b").expect("a key of the catalog")),
            texts: Field::ALL.map(|field| field.spec().usual.to_owned()),
            tied: None,
            formats: Formats::default(),
            drafter: None,
            claim: Default::default(),
            filter: Default::default(),
        }
    }
}

impl ModelInputs {
    /// The text of a field.
    pub fn text(&self, field: Field) -> &str {
        &self.texts[field as usize]
    }

    /// Replaces the text of a field.
    pub fn set_text(&mut self, field: Field, text: String) {
        self.texts[field as usize] = text;
    }

    /// Chooses the format of a role. The mean bits that were known of other weights go.
    pub fn set_format(&mut self, role: Role, format: Option<&'static QuantFormat>) {
        if role == Role::Weights {
            self.set_text(Field::WeightBits, String::new());
        }
        self.formats.set(role, format);
    }

    /// Takes another model. What was changed in the old one's geometry, and formats that only it has, go.
    pub fn set_base(&mut self, base: Base) {
        if self.base == base {
            return;
        }
        if base.arch().moe.is_none() {
            self.formats.set(Role::Experts, None);
            self.set_text(Field::Expert, Field::Expert.spec().usual.to_owned());
        }
        self.base = base;
        self.reset_geometry();
    }

    /// Gives the model its own numbers back.
    pub fn reset_geometry(&mut self) {
        self.tied = None;
        for field in Field::geometry() {
            self.set_text(field, String::new());
        }
    }

    /// The reader changed the model's geometry.
    pub fn is_custom(&self) -> bool {
        self.tied.is_some() || Field::geometry().any(|field| !self.text(field).trim().is_empty())
    }

    /// Name for people.
    pub fn name(&self) -> String {
        let name = self.base.name();
        if self.is_custom() { format!("{name}, changed") } else { name.to_owned() }
    }

    /// Takes over what a file said, when this is the model of that file: an address has no room for its remarks.
    pub fn remember(&mut self, opened: &Arc<ModelLines>) {
        if let Base::File(model) = &self.base
            && model.arch == opened.arch
            && model.stored == opened.stored
        {
            self.base = Base::File(opened.clone());
        }
    }
}
