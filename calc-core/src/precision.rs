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
    /// The rest of a GGUF file, see [`PrecisionChoice::of_file`]; no request sets it.
    pub file: Option<FileFormats>,
}

/// The formats of a GGUF file that are no role of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileFormats {
    /// LM head; `None` where it is stored as the embedding.
    pub lm_head: Option<&'static QuantFormat>,
    /// Norms, biases and routers; `None` for the carrier.
    pub vectors: Option<&'static QuantFormat>,
    /// Matrices of the layers.
    pub mixture: Mixture,
}

impl PrecisionChoice {
    /// Chooses one weight format and leaves every other role open.
    pub const fn weights(weights: &'static QuantFormat) -> Self {
        Self {
            weights,
            activations: None,
            kv_cache: None,
            embedding: None,
            experts: None,
            file: None,
        }
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
            file: None,
        }
    }

    /// Takes the name of a GGUF format as the file that llama.cpp writes: its layers are a mixture, and embedding, LM head and
    /// vectors have their own formats unless the request names one for the embedding. Other formats are unchanged.
    ///
    /// An MXFP4 file stores the experts alone in MXFP4, and everything else in Q8_0.
    #[must_use]
    pub fn of_file(mut self, model: &ModelArch) -> Self {
        let experts = self.experts.unwrap_or(self.weights);
        if self.file.is_some() || (self.weights.file.is_none() && experts.file.is_none()) {
            return self;
        }
        let mut rest = FileFormats { lm_head: None, vectors: None, mixture: Mixture::UNIFORM };
        if let Some(file) = self.weights.file.filter(|_| self.embedding.is_none()) {
            self.embedding = Some(gguf_file::embedding(file, model));
            rest.lm_head = Some(gguf_file::lm_head(file, model));
            rest.vectors = Some(&f::FP32);
        }
        if self.weights == &f::GGUF_MXFP4 && model.moe.is_some() && self.experts.is_none() {
            self.experts = Some(self.weights);
            self.weights = &f::GGUF_Q8_0;
        }
        rest.mixture = Mixture::of(self.weights, self.experts.unwrap_or(self.weights), model);
        self.file = Some(rest);
        self
    }

    /// Fills open roles as an engine does for files with such weights. Without a named engine only the roles of a GGUF file are
    /// filled, because the name of its format means a file.
    ///
    /// - In a mixture of experts, MXFP4 stores the experts alone; everything else is BF16 (from memory: vLLM leaves other layers
    ///   unchanged).
    /// - Matmuls with GGUF weights read their input in INT8 where the device supports INT8.
    /// - Engines on NVIDIA GPUs compute NVFP4 and MXFP4 in FP4 where the device supports it; with experts in MXFP4, TensorRT-LLM
    ///   reads MXFP8 inputs and the others 16-bit ones.
    #[must_use]
    pub fn of_engine(self, engine: Option<Engine>, model: &ModelArch, roofs: &Roofs) -> Self {
        let asked = self.weights;
        let mut filled = self.of_file(model);
        let Some(engine) = engine else { return filled };
        if model.moe.is_some() && filled.experts.is_none() && asked == &f::MXFP4 {
            filled.experts = Some(asked);
            filled.weights = &f::BF16;
        }
        filled.activations = filled.activations.or_else(|| filled.input_of(engine, asked, roofs));
        filled
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
        let file = self.file.as_ref();
        Precision {
            weights: self.weights,
            activations,
            kv_cache: self.kv_cache.unwrap_or(carrier),
            embedding,
            lm_head: file.and_then(|file| file.lm_head).unwrap_or(embedding),
            experts: self.experts.unwrap_or(self.weights),
            carrier,
            vectors: file.and_then(|file| file.vectors).unwrap_or(carrier),
            mixture: file.map_or(Mixture::UNIFORM, |file| file.mixture),
        }
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
            ("llama.cpp", "gguf_q4_k", llama, "t4", ["gguf_q4_k", "", "int8", "gguf_q4_k"]),
            ("llama.cpp", "gguf_q4_k", llama, "v100_sxm2_16gb", ["gguf_q4_k", "", "", "gguf_q4_k"]),
            ("ollama", "gguf_q8_0", llama, "gb10", ["gguf_q8_0", "", "int8", "gguf_q8_0"]),
            ("ollama", "gguf_mxfp4", gpt, "gb10", ["gguf_q8_0", "gguf_mxfp4", "int8", "gguf_q8_0"]),
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
        // Nobody named an engine: a GGUF file has its own embedding and LM head all the same.
        let file = filled(None, "gguf_q4_0", llama, "t4");
        let rest = file.file.expect("a file");
        assert_eq!((file.embedding, rest.lm_head), (Some(&f::GGUF_Q4_0), Some(&f::GGUF_Q6_K)));
        assert_eq!((file.activations, rest.mixture), (None, Mixture::UNIFORM));
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
            file: None,
        };
        let filled = stated.of_engine(Some(Engine::LlamaCpp), model, &roofs);
        let rest = FileFormats { lm_head: None, vectors: None, mixture: Mixture::UNIFORM };
        assert_eq!(filled, PrecisionChoice { file: Some(rest), ..stated });
    }
}
