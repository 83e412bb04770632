//! The models: geometry from their published configurations, with sources.

mod gemma;
mod llama;
mod others;
mod qwen;

use crate::model_arch::ModelArch;
use crate::precision::PrecisionChoice;
use crate::provenance::Provenance;
use crate::quant_format::{ComputeClass, QuantFormat};

/// In which formats a model is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedFormats {
    /// All weights, or all but the experts.
    pub weights: &'static QuantFormat,
    /// Expert matrices where they differ.
    pub experts: Option<&'static QuantFormat>,
}

impl PublishedFormats {
    /// The choice that takes the model as it is. Models published in FP8 quantize their activations while running.
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
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogModel {
    /// Key in requests and JSON.
    pub key: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Repository on the Hugging Face hub.
    pub hf_id: &'static str,
    /// Other names of the same geometry: official repositories (instruct, base, distilled) and tags of Ollama. Copies in other
    /// formats are found by `catalog::model_names` without standing here. Recalled, not read.
    pub other_names: &'static [&'static str],
    /// Family, as `llama` or `qwen`.
    pub family: &'static str,
    /// `architectures` entry of its config.json.
    pub architecture: &'static str,
    /// Year of release.
    pub release_year: u16,
    /// Layers, heads and widths.
    pub arch: ModelArch,
    /// Formats of the published weights.
    pub stored: PublishedFormats,
    /// Official number of parameters.
    pub official_params: Option<u64>,
    /// Source of `official_params`.
    pub official_source: &'static str,
    /// Source of the geometry.
    pub source: &'static str,
    /// Provenance of the geometry.
    pub provenance: Provenance,
    /// Remarks for people.
    pub notes: &'static str,
}

/// Models of all families.
pub fn all() -> impl Iterator<Item = &'static CatalogModel> {
    llama::MODELS.iter().chain(&qwen::MODELS).chain(&gemma::MODELS).chain(&others::MODELS)
}
