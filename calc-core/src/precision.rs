//! The storage format of each role (weights, activations, KV cache, …), and the rules for roles that the user leaves open.

use crate::calibration::Engine;
use crate::catalog::formats as f;
use crate::device::Device;
use crate::gguf_file;
use crate::mixture::{Mixture, Ratios};
use crate::model_arch::ModelArch;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;
use crate::software::{FormatFamily, expert_kernels, usual_engine_of};

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
    /// Bytes of the matrices of a model file that has some of them in other formats than these.
    pub ratios: Option<Ratios>,
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
            ratios: None,
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
        let stored = base.ratios.filter(|_| self.weights == base.weights);
        let keeps = self.experts.is_none() || self.experts == base.experts;
        let stored = if keeps { stored } else { stored.and_then(Ratios::without_experts) };
        Self {
            weights: self.weights,
            activations: self.activations.or(base.activations),
            kv_cache: self.kv_cache.or(base.kv_cache),
            embedding: self.embedding.or(base.embedding),
            experts: self.experts.or(base.experts),
            ratios: self.ratios.or(stored),
        }
    }

    /// Fills open roles as the engine does that serves the model: the named one, or the usual one of the device for these
    /// formats. Both are the same answer where the named engine is the usual one.
    ///
    /// - MXFP4 weights of a mixture of experts are those of the experts; everything else is in BF16, or in Q8_0 in a GGUF file.
    /// - llama.cpp and Ollama serve such a model as a GGUF file; layers in another format than BF16 stay as stated.
    /// - Matmuls with GGUF weights read their input in INT8 where the device supports INT8; layers beside GGUF experts may be in
    ///   16 bits, which read the carrier.
    /// - Matmuls with MXFP4 experts read the input of [`expert_kernels`].
    #[must_use]
    pub fn filled(
        self,
        engine: Option<Engine>,
        device: &Device,
        model: &ModelArch,
        roofs: &Roofs,
    ) -> Self {
        let choice = self.of_model(model);
        let engine = engine.unwrap_or_else(|| choice.usual_engine(device));
        choice.of_engine(engine, device, roofs)
    }

    /// These formats with MXFP4 weights of a mixture of experts as those of its experts.
    pub(crate) fn of_model(mut self, model: &ModelArch) -> Self {
        let asked = self.weights;
        let layers = match asked {
            _ if !model.has_experts() || self.experts.is_some() => return self,
            _ if asked == &f::GGUF_MXFP4 => &f::GGUF_Q8_0,
            _ if asked == &f::MXFP4 => &f::BF16,
            _ => return self,
        };
        self.experts = Some(asked);
        self.weights = layers;
        self
    }

    /// The usual engine of a device for these formats.
    pub(crate) fn usual_engine(&self, device: &Device) -> Engine {
        usual_engine_of(device, self.family())
    }

    /// The family of these formats in the table of kernels. MXFP4 experts are those of a GGUF file, too, unless the request
    /// states another format of their input than llama.cpp's INT8.
    pub(crate) fn family(&self) -> FormatFamily {
        let is_of_file = self.activations.is_none_or(|inputs| inputs == &f::INT8);
        match self.stored_family() {
            FormatFamily::Mxfp4Experts if !is_of_file => FormatFamily::Mxfp4,
            family => family,
        }
    }

    /// The family of the stored formats, for any input.
    fn stored_family(&self) -> FormatFamily {
        FormatFamily::of(self.weights, self.experts.unwrap_or(self.weights))
    }

    fn of_engine(mut self, engine: Engine, device: &Device, roofs: &Roofs) -> Self {
        let has_mxfp4_experts = self.stored_family() == FormatFamily::Mxfp4Experts;
        // Models with MXFP4 experts are published with layers in BF16; others are stated in the request.
        let is_published = has_mxfp4_experts && self.weights == &f::BF16;
        if is_published && matches!(engine, Engine::LlamaCpp | Engine::Ollama) {
            // The embedding is stored like the layers, unless the request names another format.
            self.embedding = self.embedding.filter(|format| *format != self.weights);
            self.weights = &f::GGUF_Q8_0;
            self.experts = Some(&f::GGUF_MXFP4);
        } else if let Some(kernels) = expert_kernels(engine, device).filter(|_| has_mxfp4_experts) {
            self.activations = self.activations.or(Some(kernels.inputs));
        }
        let layers = FormatFamily::of_format(self.weights);
        let is_read = matches!(layers, FormatFamily::Gguf | FormatFamily::Plain);
        let experts = FormatFamily::of_format(self.experts.unwrap_or(self.weights));
        if experts == FormatFamily::Gguf && is_read && roofs.peak(ComputeClass::Int8).is_some() {
            self.activations = self.activations.or(Some(&f::INT8));
        }
        self
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
        let is_gguf = precision.weights.file.is_some() || precision.experts.file.is_some();
        precision.mixture = match self.ratios {
            Some(ratios) if !is_gguf => ratios.mixture(),
            None if !is_gguf => {
                Mixture::with_kept_rows(precision.weights, precision.vectors, model)
            }
            _ => Mixture::of(precision.weights, precision.experts, model),
        };
        precision
    }
}

/// The storage format of every role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    pub weights: &'static QuantFormat,
    /// Format in which matmuls with weights read their input; layers may keep the carrier, see [`Precision::layer_inputs`].
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
    /// Bytes of the layers' matrices relative to `weights` and `experts`: a GGUF file mixes formats, and others may.
    pub mixture: Mixture,
}

impl Precision {
    /// Formats of layers and experts.
    pub const fn stored(&self) -> (&'static QuantFormat, &'static QuantFormat) {
        (self.weights, self.experts)
    }

    /// Format in which matmuls outside the experts read their input. Quantized inputs belong to quantized weights, so layers in
    /// 16 bits and more beside quantized experts read the carrier.
    pub fn layer_inputs(&self) -> &'static QuantFormat {
        let is_wide = |format: &QuantFormat| format.class.is_some_and(ComputeClass::is_carrier);
        let is_of_experts = is_wide(self.weights) && !is_wide(self.experts);
        if is_of_experts { self.carrier } else { self.activations }
    }

    /// Whether embedding and vectors are those of a GGUF file: norms are in 32 bits there.
    pub(crate) fn is_file(&self) -> bool {
        self.weights.file.is_some() && self.vectors == &f::FP32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn filled(engine: Option<&str>, weights: &str, model: &str, device: &str) -> PrecisionChoice {
        let weights = catalog::format(weights).expect("catalog key");
        choose(engine, PrecisionChoice::weights(weights), model, device)
    }

    fn choose(
        engine: Option<&str>,
        choice: PrecisionChoice,
        model: &str,
        device: &str,
    ) -> PrecisionChoice {
        let device = catalog::device(device).expect("catalog key");
        let engine = engine.map(|key| Engine::of(key).expect("an engine"));
        let roofs = Roofs::new(device, None).expect("no mode");
        let model = &catalog::model(model).expect("catalog key").arch;
        choice.filled(engine, device, model, &roofs)
    }

    fn roles(found: &PrecisionChoice) -> [&'static str; 3] {
        let key = |format: Option<&'static QuantFormat>| format.map_or("", |format| format.key);
        [found.weights.key, key(found.experts), key(found.activations)]
    }

    #[test]
    fn the_engine_fills_what_the_request_leaves_open() {
        let (llama, gpt) = ("llama-3.1-8b", "gpt-oss-120b");
        for (engine, weights, model, device, expected) in [
            (Some("llama.cpp"), "gguf_q4_k", llama, "t4", ["gguf_q4_k", "", "int8"]),
            (None, "gguf_q4_k", llama, "rtx_4090", ["gguf_q4_k", "", "int8"]),
            (None, "gguf_q4_k", llama, "h100_sxm", ["gguf_q4_k", "", "int8"]),
            (Some("llama.cpp"), "gguf_q4_k", llama, "v100_sxm2_16gb", ["gguf_q4_k", "", ""]),
            (Some("ollama"), "gguf_q8_0", llama, "gb10", ["gguf_q8_0", "", "int8"]),
            (Some("ollama"), "gguf_mxfp4", gpt, "gb10", ["gguf_q8_0", "gguf_mxfp4", "int8"]),
            (Some("llama.cpp"), "mxfp4", gpt, "gb10", ["gguf_q8_0", "gguf_mxfp4", "int8"]),
            (None, "mxfp4", gpt, "gb10", ["gguf_q8_0", "gguf_mxfp4", "int8"]),
            (Some("tensorrt-llm"), "mxfp4", gpt, "b200", ["bf16", "mxfp4", "mxfp8"]),
            (Some("vllm"), "mxfp4", gpt, "b200", ["bf16", "mxfp4", "mxfp8"]),
            (None, "mxfp4", gpt, "b200", ["bf16", "mxfp4", "mxfp8"]),
            (Some("vllm"), "mxfp4", gpt, "h100_sxm", ["bf16", "mxfp4", ""]),
            (Some("vllm"), "mxfp4", gpt, "mi355x", ["bf16", "mxfp4", ""]),
            (Some("sglang"), "mxfp4", gpt, "b200", ["bf16", "mxfp4", ""]),
            (Some("vllm"), "nvfp4", llama, "b200", ["nvfp4", "", ""]),
            (None, "nvfp4", llama, "b200", ["nvfp4", "", ""]),
            (None, "int8", llama, "t4", ["int8", "", ""]),
        ] {
            let found = filled(engine, weights, model, device);
            assert_eq!(roles(&found), expected, "{engine:?} {weights} {device}");
            assert_eq!(found.embedding, None, "{engine:?} {weights} {device}");
        }
    }

    #[test]
    fn gpt_oss_as_published_is_a_gguf_file_in_llama_cpp() {
        let published = catalog::model("gpt-oss-120b").expect("catalog key").stored.choice();
        let file = PrecisionChoice { embedding: Some(&f::BF16), ..published };
        for (engine, expected) in [
            (None, ["gguf_q8_0", "gguf_mxfp4", "int8"]),
            (Some("llama.cpp"), ["gguf_q8_0", "gguf_mxfp4", "int8"]),
            (Some("vllm"), ["bf16", "mxfp4", "mxfp8"]),
        ] {
            for choice in [published, file] {
                let found = choose(engine, choice, "gpt-oss-120b", "gb10");
                assert_eq!(roles(&found), expected, "{engine:?}");
            }
        }
        let found = choose(None, file, "gpt-oss-120b", "gb10");
        assert_eq!(found.embedding, None, "the file's own");
    }

    #[test]
    fn layers_in_16_bits_do_not_read_the_inputs_of_quantized_experts() {
        let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
        for (weights, experts, expected) in [
            (&f::BF16, Some(&f::MXFP4), "fp16"),
            (&f::NVFP4, Some(&f::MXFP4), "mxfp8"),
            (&f::FP8_E4M3, None, "mxfp8"),
            (&f::BF16, None, "mxfp8"),
        ] {
            let choice = PrecisionChoice {
                activations: Some(&f::MXFP8),
                experts,
                ..PrecisionChoice::weights(weights)
            };
            assert_eq!(choice.resolve(&roofs).layer_inputs().key, expected, "{}", weights.key);
        }
    }

    #[test]
    fn what_the_request_states_stays() {
        let stated = PrecisionChoice {
            weights: &f::GGUF_MXFP4,
            activations: Some(&f::FP16),
            kv_cache: None,
            embedding: Some(&f::GGUF_Q4_0),
            experts: Some(&f::GGUF_MXFP4),
            ratios: None,
        };
        assert_eq!(choose(Some("llama.cpp"), stated, "gpt-oss-20b", "gb10"), stated);
    }

    #[test]
    fn gguf_experts_read_int8_beside_layers_in_16_bits() {
        let mixed =
            PrecisionChoice { experts: Some(&f::GGUF_Q4_K), ..PrecisionChoice::weights(&f::BF16) };
        for engine in [None, Some("llama.cpp")] {
            let found = choose(engine, mixed, "qwen3-30b-a3b", "gb10");
            assert_eq!(roles(&found), ["bf16", "gguf_q4_k", "int8"], "{engine:?}");
            let device = catalog::device("gb10").expect("catalog key");
            let roofs = Roofs::new(device, None).expect("no mode");
            assert_eq!(
                found.resolve(&roofs).layer_inputs().bits_per_element().to_bits(),
                16.0_f64.to_bits()
            );
        }
    }

    #[test]
    fn layers_and_embedding_that_the_request_states_are_no_gguf_file() {
        let stated = PrecisionChoice {
            experts: Some(&f::MXFP4),
            embedding: Some(&f::FP16),
            ..PrecisionChoice::weights(&f::FP16)
        };
        for engine in [None, Some("llama.cpp")] {
            assert_eq!(choose(engine, stated, "gpt-oss-20b", "gb10"), stated, "{engine:?}");
        }
        let file = PrecisionChoice { weights: &f::BF16, ..stated };
        let found = choose(None, file, "gpt-oss-20b", "gb10");
        assert_eq!(roles(&found), ["gguf_q8_0", "gguf_mxfp4", "int8"]);
        assert_eq!(found.embedding, Some(&f::FP16), "stated");
    }
}
