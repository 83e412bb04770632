//! Which format each role is stored in, and how the roles that the user leaves open are filled.

use crate::calibration::Engine;
use crate::catalog::formats as f;
use crate::estimate::WeightSize;
use crate::model_arch::ModelArch;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;

/// What the user chose; `None` is left to the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionChoice {
    /// Layer weights.
    pub weights: &'static QuantFormat,
    /// In which a matmul with weights reads its input; default: the weights' if it can carry, else half.
    pub activations: Option<&'static QuantFormat>,
    /// KV cache; default: the carrier.
    pub kv_cache: Option<&'static QuantFormat>,
    /// Embedding and LM head; default: the carrier, because most quantizers skip them.
    pub embedding: Option<&'static QuantFormat>,
    /// Expert matrices; default: the weights'.
    pub experts: Option<&'static QuantFormat>,
}

impl PrecisionChoice {
    /// Weights in one format, everything else by the rule.
    pub const fn weights(weights: &'static QuantFormat) -> Self {
        Self { weights, activations: None, kv_cache: None, embedding: None, experts: None }
    }

    /// Fills open roles as an engine stores and computes files of such weights. Without a named engine only the embedding of a
    /// GGUF file is filled, because the name of its format means a file.
    ///
    /// - Of a mixture of experts, MXFP4 stores the experts alone, everything else is BF16, or Q8_0 in a GGUF file (from memory:
    ///   vLLM leaves other layers as they are, and llama.cpp calls its type `MXFP4_MOE`).
    /// - A GGUF file has embedding and LM head in Q6_K, or in Q8_0 where the weights are that or MXFP4.
    /// - Products of GGUF weights read their input in INT8 where the device multiplies it.
    /// - The engines of NVIDIA GPUs multiply NVFP4 and MXFP4 in FP4 where the device does; with experts in MXFP4 TensorRT-LLM
    ///   reads MXFP8, others 16 bits.
    #[must_use]
    pub fn of_engine(mut self, engine: Option<Engine>, model: &ModelArch, roofs: &Roofs) -> Self {
        let asked = self.weights;
        self.embedding = self.embedding.or_else(|| embedding_of_file(asked));
        let Some(engine) = engine else { return self };
        let only_experts = model.moe.is_some() && self.experts.is_none();
        let layers = [(&f::MXFP4, &f::BF16), (&f::GGUF_MXFP4, &f::GGUF_Q8_0)];
        if let Some((_, layers)) =
            layers.iter().find(|(weights, _)| only_experts && *weights == asked)
        {
            self.experts = Some(asked);
            self.weights = layers;
        }
        self.activations = self.activations.or_else(|| self.input_of(engine, asked, roofs));
        self
    }

    /// The format in which an engine's products with such weights read their input, where that is narrower than 16 bits.
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
        if asked.key.starts_with("gguf") {
            has(ComputeClass::Int8).then_some(&f::INT8)
        } else if !native || !has(ComputeClass::Fp4) {
            None
        } else if experts_alone {
            (engine == Engine::TensorRtLlm).then_some(&f::MXFP8)
        } else {
            [&f::NVFP4, &f::MXFP4].into_iter().find(|format| *format == asked)
        }
    }

    /// The size of the file that the name of the weights means: a GGUF name is a mixture with a mean of bits per weight,
    /// embeddings included. `None` for other formats, and where embedding or experts have a format of their own.
    pub fn file_size(&self) -> Option<WeightSize> {
        let is_one =
            |role: Option<&QuantFormat>| role.is_none_or(|own| own.key == self.weights.key);
        let bits = self.weights.file_bits.filter(|_| self.embedding.is_none());
        bits.filter(|_| is_one(self.experts)).map(WeightSize::BitsPerWeight)
    }

    /// Fills what was left open, on a device.
    pub fn resolve(&self, roofs: &Roofs) -> Precision {
        let carries = self.weights.class.is_some_and(crate::quant_format::ComputeClass::is_carrier);
        let activations =
            self.activations.unwrap_or_else(|| if carries { self.weights } else { roofs.half() });
        let carrier = roofs.carrier(activations);
        Precision {
            weights: self.weights,
            activations,
            kv_cache: self.kv_cache.unwrap_or(carrier),
            embedding: self.embedding.unwrap_or(carrier),
            experts: self.experts.unwrap_or(self.weights),
            carrier,
        }
    }
}

/// The format of every role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Layer weights.
    pub weights: &'static QuantFormat,
    /// In which a matmul with weights reads its input.
    pub activations: &'static QuantFormat,
    /// KV cache.
    pub kv_cache: &'static QuantFormat,
    /// Embedding and LM head.
    pub embedding: &'static QuantFormat,
    /// Expert matrices.
    pub experts: &'static QuantFormat,
    /// Everything that flows between matmuls.
    pub carrier: &'static QuantFormat,
}

/// Format of embedding and LM head in a GGUF file of such weights.
fn embedding_of_file(weights: &'static QuantFormat) -> Option<&'static QuantFormat> {
    let wide = weights == &f::GGUF_Q8_0 || weights == &f::GGUF_MXFP4;
    weights.key.starts_with("gguf").then_some(if wide { &f::GGUF_Q8_0 } else { &f::GGUF_Q6_K })
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
            ("llama.cpp", "gguf_q4_k", llama, "t4", ["gguf_q4_k", "", "int8", "gguf_q6_k"]),
            ("llama.cpp", "gguf_q4_k", llama, "v100_sxm2_16gb", ["gguf_q4_k", "", "", "gguf_q6_k"]),
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
        for (weights, embedding) in [(&f::GGUF_Q4_0, Some(&f::GGUF_Q6_K)), (&f::INT8, None)] {
            let open = PrecisionChoice { embedding, ..PrecisionChoice::weights(weights) };
            assert_eq!(filled(None, weights.key, llama, "t4"), open, "nobody named an engine");
        }
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
