//! Inference engines, whose kernels reach different shares of the roofs.

use crate::device::Device;

use super::machine::MemoryKind;

/// Inference engine whose kernels a number is about.
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
    /// All engines with the keys of requests.
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

    /// The key in requests.
    pub fn key(self) -> &'static str {
        Self::ALL.iter().find(|(_, engine)| *engine == self).map_or("", |(key, _)| key)
    }
}

/// The engine whose factors hold where the user names none: the one that is most at home on such devices.
pub fn usual_engine(device: &Device) -> Engine {
    match MemoryKind::of(device) {
        MemoryKind::Hbm => Engine::Vllm,
        MemoryKind::Unified | MemoryKind::Gddr => Engine::LlamaCpp,
    }
}
