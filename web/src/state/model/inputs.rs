//! Inputs of the Model view. Numbers are stored as typed until they are parsed.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::calibration::Engine;
use calc_core::catalog::model_names::is_hub_id;
use calc_core::catalog::models::{self, CatalogModel};
use calc_core::estimate::PartBytes;
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;
use calc_core::scheme::Scheme;
use report::input::model_file::word::{FileModel, FileWeights};
use report::input::named_model::{NamedModel, folder, is_half};
use report::input::request::link::ChosenLink;
use report::output::verdict::{badge, badge_meaning};

use super::beside::Beside;
use super::fields::{Field, real};
use super::file_name;
use super::refused::RefusedFile;
use super::roles::{Formats, Role};
use crate::state::claim::CLAIM;
use crate::state::trust::FILTER_KEYS;

/// The model before the user's changes.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelSource {
    Catalog(&'static CatalogModel),
    /// Model of a file, of the hub, or of an address.
    File(Arc<FileModel>),
}

impl ModelSource {
    /// Key in the catalog; empty for a file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Catalog(model) => model.key,
            Self::File(_) => "",
        }
    }

    /// Display name.
    pub fn name(&self) -> &str {
        match self {
            Self::Catalog(model) => model.name,
            Self::File(model) => &model.name,
        }
    }

    /// Geometry of the model.
    pub fn arch(&self) -> &ModelArch {
        match self {
            Self::Catalog(model) => &model.arch,
            Self::File(model) => model.geometry.arch(),
        }
    }

    /// Formats of the stored weights.
    pub fn stored(&self) -> PrecisionChoice {
        match self {
            Self::Catalog(model) => model.stored.choice(),
            Self::File(model) => model.stored,
        }
    }

    /// Provenance of the geometry.
    pub fn provenance(&self) -> Provenance {
        match self {
            Self::Catalog(model) => model.provenance,
            Self::File(model) => model.provenance,
        }
    }

    /// Badge of the geometry's source, and its explanation.
    pub fn badge(&self) -> (&'static str, &'static str) {
        match (self, self.provenance()) {
            (Self::Catalog(_), Provenance::Read) => {
                ("published", "read in the configuration that its makers publish")
            }
            (Self::Catalog(_), sure) => (badge(sure), badge_meaning(sure)),
            (Self::File(_), Provenance::Read) => {
                ("your file", "read in the file that you opened, pasted or fetched")
            }
            (Self::File(_), _) => (
                "yours, in part assumed",
                "of your file or link; what it does not state is assumed",
            ),
        }
    }

    /// Source of the geometry.
    pub fn source(&self) -> &str {
        match self {
            Self::Catalog(model) => model.source,
            Self::File(model) => &model.source,
        }
    }

    /// Assumptions, omissions and roundings of the file's import.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Catalog(_) => &[],
            Self::File(model) => &model.notes,
        }
    }

    /// Repository on the Hugging Face hub, or folder of the file.
    pub fn repository(&self) -> &str {
        match self {
            Self::Catalog(model) => model.hf_id,
            Self::File(model) => {
                let name = file_name::without(&model.name);
                if is_hub_id(name) { name } else { folder(name) }
            }
        }
    }

    /// The GGUF file that the model was read from.
    pub fn gguf_file(&self) -> Option<&str> {
        match self {
            Self::Catalog(_) => None,
            Self::File(model) => Some(&*model.name).filter(|name| name.ends_with(file_name::GGUF)),
        }
    }

    /// Contents of its weight files, by their headers.
    pub fn weights(&self) -> Option<&FileWeights> {
        match self {
            Self::Catalog(_) => None,
            Self::File(model) => model.weights.as_ref(),
        }
    }

    /// The model with a changed geometry, in the form that the command line uses.
    pub fn named(&self, arch: ModelArch) -> NamedModel {
        let key = match self {
            Self::Catalog(model) => model.key.to_owned(),
            Self::File(model) => model.name.clone(),
        };
        let weight_bytes = self.weights().filter(|_| arch == *self.arch());
        let weight_bytes = weight_bytes.map(|weights| weights.bytes);
        NamedModel {
            key,
            hub_id: self.repository().to_owned(),
            published_id: self.repository().to_owned(),
            tag: None,
            has_half: is_half(&self.stored()),
            name: self.name().to_owned(),
            arch: Cow::Owned(arch),
            stored: self.stored(),
            provenance: self.provenance(),
            source: self.source().to_owned(),
            assumed: Vec::new(),
            remarks: Vec::new(),
            weight_bytes,
        }
    }
}

/// All inputs of the Model view except device and power mode, which the views share.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInputs {
    pub base: ModelSource,
    /// The last file, if it was refused; the base is still the model before it.
    pub refused: Option<RefusedFile>,
    /// Changed numbers of the model, and the workload, as typed.
    texts: [String; Field::ALL.len()],
    /// Whether embedding and LM head are one matrix; `None`: as in the model.
    pub tied: Option<bool>,
    pub formats: Formats,
    /// Draft model; without one, drafts cost nothing.
    pub drafter: Option<&'static CatalogModel>,
    /// Engine whose factors and defaults apply; `None`: the usual one of the device.
    pub engine: Option<Engine>,
    /// Link between several devices; `None`: the device's own.
    pub link: Option<Arc<ChosenLink>>,
    /// Host of the card, other programs and images; `None` without any.
    pub beside: Option<Arc<Beside>>,
    /// Scheme that the Plan view shows; `None`: the recommended one.
    pub scheme: Option<&'static Scheme>,
    /// Texts of the user's claim, by key; parsed in `check`.
    pub claim: [String; CLAIM.len()],
    /// Texts of the Trust view's filter, by key; parsed there.
    pub filter: [String; FILTER_KEYS.len()],
}

impl Default for ModelInputs {
    fn default() -> Self {
        Self {
            base: ModelSource::Catalog(&models::USUAL),
            refused: None,
            texts: Field::ALL.map(|field| field.spec().usual.to_owned()),
            tied: None,
            formats: Formats::default(),
            drafter: None,
            engine: None,
            link: None,
            beside: None,
            scheme: None,
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

    /// Splits the model over a number of devices, all of them tensor-parallel.
    pub fn set_devices(&mut self, count: u64) {
        for field in [Field::Pipeline, Field::Expert] {
            self.set_text(field, field.spec().usual.to_owned());
        }
        self.set_text(Field::Tensor, count.to_string());
    }

    /// Chooses the format of a role. Known mean bits of other weights are cleared.
    pub fn set_format(&mut self, role: Role, format: Option<&'static QuantFormat>) {
        if role == Role::Weights {
            self.set_text(Field::WeightBits, String::new());
        }
        self.formats.set(role, format);
    }

    /// Chooses another model. Changes of the old geometry, and formats of parts that the new model lacks, are cleared.
    pub fn set_base(&mut self, base: ModelSource) {
        self.refused = None;
        if self.base == base {
            return;
        }
        if !base.arch().has_experts() {
            self.formats.set(Role::Experts, None);
            self.set_text(Field::Expert, Field::Expert.spec().usual.to_owned());
        }
        if let Some(beside) = &self.beside {
            self.beside = beside.kept(None, Some(base.arch()));
        }
        self.base = base;
        self.reset_geometry();
    }

    /// Resets the geometry to the model's own.
    pub fn reset_geometry(&mut self) {
        self.tied = None;
        for field in Field::geometry() {
            self.set_text(field, String::new());
        }
    }

    /// Whether the model is split over several devices, by the numbers as typed.
    pub fn has_several_devices(&self) -> bool {
        let split = [Field::Tensor, Field::Pipeline, Field::Expert];
        split.into_iter().any(|field| self.text(field).trim() != field.spec().usual)
    }

    /// Whether the user changed the geometry.
    pub fn is_custom(&self) -> bool {
        self.tied.is_some() || Field::geometry().any(|field| !self.text(field).trim().is_empty())
    }

    /// Bytes of the weights by part, if they are known from files of this geometry.
    pub fn file_parts(&self) -> Option<&PartBytes> {
        let weights = self.base.weights().filter(|_| !self.is_custom())?;
        Some(&weights.bytes.parts)
    }

    /// The memory limit [GB]; 0 without one, `None` if it is invalid.
    pub fn memory_limit(&self) -> Option<f64> {
        let limit = real(Field::Memory, self.text(Field::Memory)).ok()?;
        Some(limit.unwrap_or(0.0))
    }

    /// Display name.
    pub fn name(&self) -> String {
        let name = self.base.name();
        if self.is_custom() { format!("{name}, changed") } else { name.to_owned() }
    }

    /// Restores the import notes if this is the model of that file, because an address does not contain them.
    pub fn remember(&mut self, opened: &Arc<FileModel>) {
        if let ModelSource::File(model) = &self.base
            && model.geometry == opened.geometry
            && model.stored == opened.stored
            && model.weights == opened.weights
        {
            self.base = ModelSource::File(opened.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::input::model_file::word::FileGeometry;

    #[test]
    fn a_file_is_the_readers_and_no_datasheet() {
        let model = models::all().next().expect("a model");
        let file = |provenance| {
            ModelSource::File(Arc::new(FileModel {
                name: "config.json".to_owned(),
                source: "config.json (llama)".to_owned(),
                provenance,
                geometry: FileGeometry::of(&model.arch),
                stored: model.stored.choice(),
                notes: Vec::new(),
                weights: None,
            }))
        };
        assert_eq!(file(Provenance::Read).badge().0, "your file");
        assert_eq!(file(Provenance::Assumed).badge().0, "yours, in part assumed");
        for model in models::all() {
            assert_ne!(ModelSource::Catalog(model).badge().0, "datasheet", "{}", model.key);
        }
    }

    #[test]
    fn the_memory_limit_is_a_number_nothing_or_wrong() {
        for (typed, limit) in [
            ("", Some(0.0)),
            ("6.5", Some(6.5)),
            ("24 GB", Some(24.0)),
            ("24GiB", Some(25.769_803_776)),
            ("x", None),
            ("1e7", None),
        ] {
            let mut inputs = ModelInputs::default();
            inputs.set_text(Field::Memory, typed.to_owned());
            assert_eq!(inputs.memory_limit(), limit, "{typed}");
        }
    }
}
