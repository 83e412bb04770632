//! Inference engines; their kernels reach different shares of the roofs.

use crate::device::Device;
use crate::provenance::Provenance;
use crate::units::Bytes;

/// Inference engines with separate factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(missing_docs, reason = "the names are the engines themselves")]
pub enum Engine {
    #[cfg_attr(feature = "serde", serde(rename = "llama.cpp"))]
    LlamaCpp,
    #[cfg_attr(feature = "serde", serde(rename = "tensorrt-llm"))]
    TensorRtLlm,
    #[cfg_attr(feature = "serde", serde(rename = "tensorrt-edge-llm"))]
    TensorRtEdgeLlm,
    #[cfg_attr(feature = "serde", serde(rename = "vllm"))]
    Vllm,
    #[cfg_attr(feature = "serde", serde(rename = "sglang"))]
    Sglang,
    #[cfg_attr(feature = "serde", serde(rename = "gpt-fast"))]
    GptFast,
    #[cfg_attr(feature = "serde", serde(rename = "exllamav2"))]
    ExLlamaV2,
    #[cfg_attr(feature = "serde", serde(rename = "mlc"))]
    Mlc,
    #[cfg_attr(feature = "serde", serde(rename = "ollama"))]
    Ollama,
    #[cfg_attr(feature = "serde", serde(rename = "ideal-kernels"))]
    IdealKernels,
}

impl Engine {
    /// All engines with their keys in requests.
    pub const ALL: [(&'static str, Self); 10] = [
        ("llama.cpp", Self::LlamaCpp),
        ("tensorrt-llm", Self::TensorRtLlm),
        ("tensorrt-edge-llm", Self::TensorRtEdgeLlm),
        ("vllm", Self::Vllm),
        ("sglang", Self::Sglang),
        ("gpt-fast", Self::GptFast),
        ("exllamav2", Self::ExLlamaV2),
        ("mlc", Self::Mlc),
        ("ollama", Self::Ollama),
        ("ideal-kernels", Self::IdealKernels),
    ];

    /// The engine with this key, ignoring case.
    pub fn of(key: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(key));
        known.map(|(_, engine)| *engine)
    }

    /// The key in requests.
    pub fn key(self) -> &'static str {
        Self::ALL.iter().find(|(_, engine)| *engine == self).map_or("", |(key, _)| key)
    }
}

/// Largest number of prompt tokens that an engine computes in one step by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Number of tokens; `None` if prompts are computed whole.
    pub tokens: Option<u64>,
    pub provenance: Provenance,
    /// The engine's setting, and where it was read.
    pub source: &'static str,
}

/// Memory sizes from which vLLM and SGLang use larger default chunks.
const VLLM_LARGE: Bytes = Bytes::from_gib(70.0);
const SGLANG_MEDIUM: Bytes = Bytes::from_gib(35.0);
const SGLANG_LARGE: Bytes = Bytes::from_gib(160.0);

impl Engine {
    /// The engine's default chunk on a device.
    pub fn chunk(self, device: &Device) -> Chunk {
        let memory = device.memory.value;
        let (tokens, provenance, source) = match self {
            Self::LlamaCpp => (Some(512), Provenance::Read, "n_ubatch of common_params"),
            Self::Vllm => (
                Some(if memory >= VLLM_LARGE && !is_a100(device) { 8192 } else { 2048 }),
                Provenance::Read,
                "max_num_batched_tokens of vllm/engine/arg_utils.py, for a server",
            ),
            Self::Sglang => (
                Some(match memory {
                    small if small < SGLANG_MEDIUM => 2048,
                    medium if medium < SGLANG_LARGE => 8192,
                    _ => 16_384,
                }),
                Provenance::Read,
                "chunked_prefill_size of srt/server_args.py",
            ),
            Self::TensorRtLlm => (Some(8192), Provenance::Recalled, "max_num_tokens"),
            Self::ExLlamaV2 => (Some(2048), Provenance::Recalled, "max_input_len"),
            Self::Mlc => (Some(2048), Provenance::Recalled, "prefill_chunk_size"),
            Self::Ollama => (Some(512), Provenance::Recalled, "num_batch"),
            Self::TensorRtEdgeLlm | Self::GptFast => {
                (None, Provenance::Assumed, "no chunks are known")
            }
            Self::IdealKernels => (None, Provenance::Derived, "whole prompts"),
        };
        Chunk { tokens, provenance, source }
    }
}

/// vLLM keeps the small chunk on an A100 of any size.
fn is_a100(device: &Device) -> bool {
    device.catalog_key().starts_with("a100")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::device::MeasuredRates;
    use crate::text::Text;

    #[test]
    fn a_copy_has_the_chunks_of_its_original() {
        for key in ["a100_80gb_sxm", "h100_sxm"] {
            let original = catalog::device(key).expect("catalog key");
            let copy = Device {
                key: Text::Borrowed("mine"),
                measured: MeasuredRates { copy_of: Some(key), ..original.measured },
                ..original.clone()
            };
            assert_eq!(Engine::Vllm.chunk(&copy), Engine::Vllm.chunk(original), "{key}");
        }
    }
}
