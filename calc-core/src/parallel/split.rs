//! Engines run a model on several devices by tensors, by layers or by experts; this checks a request against what each can do.
//!
//! llama.cpp: its `docs/multi-gpu.md`. Without a mode it splits by layers, which is a pipeline; `tensor` needs flash attention
//! and a KV cache in 16 or 32 bits, and supports neither latent attention nor Mamba; it is made for CUDA and ROCm.
//! Over several machines it splits layers, with an `rpc-server` on each (its `tools/rpc/README.md`).

use super::Parallel;
use crate::calibration::Engine;
use crate::device::Device;
use crate::model_arch::ModelArch;
use crate::quant_format::QuantFormat;
use crate::software::{Backend, backend};

/// Reason why an engine cannot split a model in the way that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSplit {
    /// It has no expert parallelism.
    Experts,
    /// It splits by tensors or by layers, not by both.
    TensorsAndLayers,
    /// It splits by tensors only.
    TensorsOnly,
    /// It does not split a model over several of these devices.
    Devices,
    /// It has no tensor parallelism on these devices.
    TensorsOnDevices,
    /// It has no tensor parallelism over devices that are machines of their own.
    TensorsOverMachines,
    /// It has no tensor parallelism for latent attention and recurrent layers.
    TensorsOfArchitecture,
    /// It has no tensor parallelism with a quantized KV cache.
    TensorsWithCache,
    /// It decides by itself how to split a model.
    ByItself,
}

/// Checks that an engine can split a model over devices of one kind. Expert parallelism of engines that have it is accepted,
/// although they spread experts only over devices that share every layer.
///
/// # Errors
/// Reason why it cannot.
pub fn check_split(
    engine: Engine,
    device: &Device,
    (model, parallel): (&ModelArch, &Parallel),
    kv_cache: &QuantFormat,
) -> Result<(), NoSplit> {
    if parallel.devices() == 1 {
        return Ok(());
    }
    match engine {
        Engine::LlamaCpp => check_llama_cpp(device, (model, parallel), kv_cache),
        Engine::Ollama => Err(NoSplit::ByItself),
        Engine::ExLlamaV2 if parallel.devices() > parallel.tensor => Err(NoSplit::TensorsOnly),
        Engine::ExLlamaV2
        | Engine::Vllm
        | Engine::Sglang
        | Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::Mlc
        | Engine::IdealKernels => Ok(()),
    }
}

fn check_llama_cpp(
    device: &Device,
    (model, parallel): (&ModelArch, &Parallel),
    kv_cache: &QuantFormat,
) -> Result<(), NoSplit> {
    let Parallel { tensor, pipeline, expert } = *parallel;
    let backend = backend(device);
    let has_tensors = matches!(backend, Backend::Cuda { .. } | Backend::Rocm | Backend::Custom);
    match backend {
        _ if expert > 1 => Err(NoSplit::Experts),
        _ if tensor > 1 && pipeline > 1 => Err(NoSplit::TensorsAndLayers),
        Backend::Cpu | Backend::Metal => Err(NoSplit::Devices),
        _ if tensor == 1 => Ok(()),
        _ if !has_tensors => Err(NoSplit::TensorsOnDevices),
        _ if device.is_machine() => Err(NoSplit::TensorsOverMachines),
        _ if model.is_latent() || !model.recurrent.is_empty() => {
            Err(NoSplit::TensorsOfArchitecture)
        }
        _ if kv_cache.bits_per_element() < 16.0 => Err(NoSplit::TensorsWithCache),
        _ => Ok(()),
    }
}
