//! The models: geometry from their published configurations, with sources.

mod gemma;
mod groups;
mod llama;
mod mistral;
mod mixtures;
mod others;
mod qwen;
mod recurrent;
mod towers;

use crate::model_arch::ModelArch;
use crate::precision::PrecisionChoice;
use crate::provenance::Provenance;
use crate::quant_format::{ComputeClass, QuantFormat};

/// Source of rows whose configuration was read.
const SOURCE: &str = "HF config.json copy in ai-dynamo/aiconfigurator@095f58a51 (read)";
/// Source of rows that a table of configurations has.
const LITGPT: &str = "litgpt 0.5.13 config.py (PyPI, read)";
/// Source of rows that a script for training has.
const SLIME: &str = "scripts/models of THUDM/slime, whose repository was read; context from memory";
/// Source of rows whose configuration nobody opened for this catalog.
const NOT_OPENED: &str =
    "recalled (HF config.json); parameters and cache as transformers 5.23.0 computes them from it";

/// Storage formats of a published model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedFormats {
    /// All weights, or all except the experts.
    pub weights: &'static QuantFormat,
    /// Expert matrices, if they differ.
    pub experts: Option<&'static QuantFormat>,
}

impl PublishedFormats {
    /// The precision of the model as published. Models published in FP8 quantize their activations at run time.
    pub const fn choice(&self) -> PrecisionChoice {
        let mut choice = PrecisionChoice::weights(self.weights);
        choice.experts = self.experts;
        if matches!(self.weights.class, Some(ComputeClass::Fp8)) {
            choice.activations = Some(&super::formats::FP8_E4M3);
        }
        choice
    }
}

/// A model as published.
#[derive(Debug, Clone)]
pub struct CatalogModel {
    /// Key in requests and in JSON.
    pub key: &'static str,
    pub name: &'static str,
    /// Repository on the Hugging Face hub.
    pub hf_id: &'static str,
    /// Other names with the same geometry: official repositories (instruct, base, distilled) and tags of Ollama. Copies in other
    /// formats need no entry here: `catalog::model_names` finds them. Recalled, not read.
    pub other_names: &'static [&'static str],
    /// Family, such as `llama` or `qwen`.
    pub family: &'static str,
    /// `architectures` entry of its config.json.
    pub architecture: &'static str,
    pub release_year: u16,
    pub arch: ModelArch,
    /// Formats of the published weights.
    pub stored: PublishedFormats,
    /// Official number of parameters.
    pub official_params: Option<u64>,
    pub official_source: &'static str,
    /// Source of the geometry.
    pub source: &'static str,
    /// Provenance of the geometry.
    pub provenance: Provenance,
    pub notes: &'static str,
}

/// A key is that of one row.
impl PartialEq for CatalogModel {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// The model that a page shows until somebody chooses one; like [`super::devices::USUAL`], it needs none of the others.
pub static USUAL: CatalogModel = llama::LLAMA_3_1_8B;

/// All models of all families.
pub fn all() -> impl Iterator<Item = &'static CatalogModel> {
    llama::MODELS
        .iter()
        .chain(&qwen::MODELS)
        .chain(&gemma::MODELS)
        .chain(&groups::MODELS)
        .chain(&recurrent::MODELS)
        .chain(&mixtures::MODELS)
        .chain(&mistral::MODELS)
        .chain(&others::MODELS)
}
