//! The storage format of each role (weights, activations, KV cache, …), and the rules for roles that the user leaves open.

use crate::calibration::Engine;
use crate::catalog::formats as f;
use crate::gguf_file::{self, Mixture};
use crate::model_arch::ModelArch;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;

/// Formats chosen by the user; `None` leaves a role to the rules of [`PrecisionChoice::resolve`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionChoice {
    pub weights: &'static QuantFormat,
    /// Format in which matmuls with weights read their input; default: the weights' format if it can carry them, else half.
    pub activations: Option<&'static QuantFormat>,
    /// Default: the carrier.
    pub kv_cache: Option<&'static QuantFormat>,
    /// Embedding and LM head; default: the carrier, because most quantizers skip them.
    pub embedding: Option<&'static QuantFormat>,
    /// Expert matrices; default: the layer weights' format.
    pub experts: Option<&'static QuantFormat>,
}

impl PrecisionChoice {
    /// Chooses one weight format and leaves every other role open.
    pub const fn weights(weights: &'static QuantFormat) -> Self {
        Self { weights, activations: None, kv_cache: None, embedding: None, experts: None }
    }

    /// One weight format for a model that is stored as `stored`. A GGUF file keeps experts that are published in MXFP4:
    /// llama-quantize does not quantize them again.
    pub fn of_weights(weights: &'static QuantFormat, stored: &Self) -> Self {
        let is_mxfp4 = |format: &QuantFormat| format == &f::MXFP4 || format == &f::GGUF_MXFP4;
        let keeps = weights.file.is_some() && stored.experts.is_some_and(is_mxfp4);
        Self { experts: keeps.then_some(&f::GGUF_MXFP4), ..Self::weights(weights) }
    }

    /// These formats, with those of `base` for open roles.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        Self {
            weights: self.weights,
            activations: self.activations.or(base.activations),
            kv_cache: self.kv_cache.or(base.kv_cache),
            embedding: self.embedding.or(base.embedding),
            experts: self.experts.or(base.experts),
        }
    }

    /// Fills open roles as an engine does for files with such weights.
    ///
    /// - In a mixture of experts, MXFP4 stores the experts alone; everything else is BF16 (from memory: vLLM leaves other layers
    ///   unchanged), or Q8_0 in a GGUF file, whatever the engine.
    /// - Matmuls with GGUF weights read their input in INT8 where the device supports INT8.
    /// - Engines on NVIDIA GPUs compute NVFP4 and MXFP4 in FP4 where the device supports it; with experts in MXFP4, TensorRT-LLM
    ///   reads MXFP8 inputs and the others 16-bit ones.
    #[must_use]
    pub fn of_engine(mut self, engine: Option<Engine>, model: &ModelArch, roofs: &Roofs) -> Self {
        let asked = self.weights;
        let layers = match engine {
            _ if asked == &f::GGUF_MXFP4 => Some(&f::GGUF_Q8_0),
            Some(_) if asked == &f::MXFP4 => Some(&f::BF16),
            _ => None,
        };
        if let Some(layers) = layers.filter(|_| model.moe.is_some() && self.experts.is_none()) {
            self.experts = Some(asked);
            self.weights = layers;
        }
        let Some(engine) = engine else { return self };
        self.activations = self.activations.or_else(|| self.input_of(engine, asked, roofs));
        self
    }

    /// Input format of an engine's matmuls with such weights, where it is narrower than 16 bits.
    fn input_of(
        &self,
        engine: Engine,
        asked: &'static QuantFormat,
        roofs: &Roofs,
    ) -> Option<&'static QuantFormat> {
        let has = |class| roofs.peak(class).is_some();
        let native = match engine {
            Engine::Vllm | Engine::Sglang | Engine::TensorRtLlm | Engine::TensorRtEdgeLlm => true,
            Engine::LlamaCpp
            | Engine::Ollama
            | Engine::GptFast
            | Engine::ExLlamaV2
            | Engine::Mlc
            | Engine::IdealKernels => false,
        };
        let experts_alone = self.experts == Some(asked) && self.weights != asked;
        if asked.file.is_some() {
            has(ComputeClass::Int8).then_some(&f::INT8)
        } else if !native || !has(ComputeClass::Fp4) {
            None
        } else if experts_alone {
            (engine == Engine::TensorRtLlm).then_some(&f::MXFP8)
        } else {
            [&f::NVFP4, &f::MXFP4].into_iter().find(|format| *format == asked)
        }
    }

    /// Fills the open roles by the default rules on a device.
    pub fn resolve(&self, roofs: &Roofs) -> Precision {
        let carries = self.weights.class.is_some_and(crate::quant_format::ComputeClass::is_carrier);
        let activations =
            self.activations.unwrap_or_else(|| if carries { self.weights } else { roofs.half() });
        let carrier = roofs.carrier(activations);
        let embedding = self.embedding.unwrap_or(carrier);
        Precision {
            weights: self.weights,
            activations,
            kv_cache: self.kv_cache.unwrap_or(carrier),
            embedding,
            lm_head: embedding,
            experts: self.experts.unwrap_or(self.weights),
            carrier,
            vectors: carrier,
            mixture: Mixture::UNIFORM,
        }
    }

    /// Fills the open roles for a model. The name of a GGUF format means the file that llama.cpp writes: its layers are a
    /// mixture, and embedding, LM head and vectors have formats of their own unless one is chosen for the embedding.
    pub fn resolve_model(&self, model: &ModelArch, roofs: &Roofs) -> Precision {
        let mut precision = self.resolve(roofs);
        if let Some(file) = self.weights.file.filter(|_| self.embedding.is_none()) {
            precision.embedding = gguf_file::embedding(file, model);
            precision.lm_head = gguf_file::lm_head(file, model);
            precision.vectors = &f::FP32;
        }
        precision.mixture = Mixture::of(precision.weights, precision.experts, model);
        precision
    }
}

/// The storage format of every role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    pub weights: &'static QuantFormat,
    /// Format in which matmuls with weights read their input.
    pub activations: &'static QuantFormat,
    pub kv_cache: &'static QuantFormat,
    pub embedding: &'static QuantFormat,
    pub lm_head: &'static QuantFormat,
    /// Expert matrices of a mixture of experts.
    pub experts: &'static QuantFormat,
    /// Everything between matmuls: floats of 16 bits or more.
    pub carrier: &'static QuantFormat,
    /// Norms, biases and routers as stored.
    pub vectors: &'static QuantFormat,
    /// Bytes of the layers' matrices relative to `weights` and `experts`: a GGUF file mixes formats.
    pub mixture: Mixture,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn filled(engine: Option<&str>, weights: &str, model: &str, device: &str) -> PrecisionChoice {
        let device = catalog::device(device).expect("catalog key");
        let weights = catalog::format(weights).expect("catalog key");
        let engine = engine
            .map(|key| Engine::ALL.iter().find(|(name, _)| *name == key).expect("an engine").1);
        let roofs = Roofs::new(device, None).expect("no mode");
        let model = &catalog::model(model).expect("catalog key").arch;
        PrecisionChoice::weights(weights).of_engine(engine, model, &roofs)
    }

    #[test]
    fn an_engine_fills_what_the_request_leaves_open() {
        let (llama, gpt) = ("llama-3.1-8b", "gpt-oss-120b");
        for (engine, weights, model, device, roles) in [
            ("llama.cpp", "gguf_q4_k", llama, "t4", ["gguf_q4_k", "", "int8", ""]),
            ("llama.cpp", "gguf_q4_k", llama, "v100_sxm2_16gb", ["gguf_q4_k", "", "", ""]),
            ("ollama", "gguf_q8_0", llama, "gb10", ["gguf_q8_0", "", "int8", ""]),
            ("ollama", "gguf_mxfp4", gpt, "gb10", ["gguf_q8_0", "gguf_mxfp4", "int8", ""]),
            ("tensorrt-llm", "mxfp4", gpt, "b200", ["bf16", "mxfp4", "mxfp8", ""]),
            ("vllm", "mxfp4", gpt, "b200", ["bf16", "mxfp4", "", ""]),
            ("vllm", "nvfp4", llama, "b200", ["nvfp4", "", "nvfp4", ""]),
            ("vllm", "nvfp4", llama, "h100_sxm", ["nvfp4", "", "", ""]),
            ("gpt-fast", "nvfp4", llama, "b200", ["nvfp4", "", "", ""]),
        ] {
            let found = filled(Some(engine), weights, model, device);
            let key = |format: Option<&QuantFormat>| format.map_or("", |format| format.key);
            let found = [
                found.weights.key,
                key(found.experts),
                key(found.activations),
                key(found.embedding),
            ];
            assert_eq!(found, roles, "{engine} {weights} {device}");
        }
        assert_eq!(filled(None, "int8", llama, "t4"), PrecisionChoice::weights(&f::INT8));
    }

    #[test]
    fn what_the_request_states_stays() {
        let device = catalog::device("gb10").expect("catalog key");
        let roofs = Roofs::new(device, None).expect("no mode");
        let model = &catalog::model("gpt-oss-20b").expect("catalog key").arch;
        let stated = PrecisionChoice {
            weights: &f::GGUF_MXFP4,
            activations: Some(&f::FP16),
            kv_cache: None,
            embedding: Some(&f::GGUF_Q4_0),
            experts: Some(&f::GGUF_MXFP4),
        };
        assert_eq!(stated.of_engine(Some(Engine::LlamaCpp), model, &roofs), stated);
    }
}
