//! The format in which engines read the input of experts in MXFP4.

use super::{Backend, backend};
use crate::calibration::Engine;
use crate::catalog::formats as f;
use crate::device::Device;
use crate::quant_format::{ComputeClass, QuantFormat};

/// Kernels of an engine for experts in MXFP4 that read quantized inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpertKernels {
    pub inputs: &'static QuantFormat,
    pub request: KernelRequest,
}

/// How an engine is asked for kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelRequest {
    /// The engine takes them by default.
    Default,
    /// This flag; the default reads 16 bits.
    Flag(&'static str),
    /// A build or setting without a flag that is known here; the default reads 16 bits.
    NoFlag,
}

/// The kernels whose times stand for experts in MXFP4 where the device computes FP4; `None` for inputs in 16 bits.
///
/// vLLM: `fused_moe/oracle/mxfp4.py` at 001eda31. SGLang, and engines on AMD, have no source for other inputs than 16 bits.
pub fn expert_kernels(engine: Engine, device: &Device) -> Option<ExpertKernels> {
    let Backend::Cuda { capability } = backend(device) else { return None };
    device.peaks.get(ComputeClass::Fp4)?;
    let request = match engine {
        Engine::TensorRtLlm => KernelRequest::Default,
        Engine::Vllm if matches!(capability, 100 | 103) => {
            KernelRequest::Flag("--moe-backend flashinfer_trtllm_afp8")
        }
        Engine::Vllm => KernelRequest::NoFlag,
        Engine::LlamaCpp
        | Engine::Ollama
        | Engine::Sglang
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc
        | Engine::IdealKernels => return None,
    };
    Some(ExpertKernels { inputs: &f::MXFP8, request })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn inputs_of_experts_are_those_of_the_engine_on_the_device() {
        let flag = KernelRequest::Flag("--moe-backend flashinfer_trtllm_afp8");
        for (engine, device, expected) in [
            (Engine::Vllm, "b200", Some(flag)),
            (Engine::Vllm, "b300", Some(flag)),
            (Engine::Vllm, "gb10", Some(KernelRequest::NoFlag)),
            (Engine::Vllm, "rtx_5090", Some(KernelRequest::NoFlag)),
            (Engine::Vllm, "h100_sxm", None),
            (Engine::Vllm, "mi355x", None),
            (Engine::Sglang, "b200", None),
            (Engine::Sglang, "mi355x", None),
            (Engine::TensorRtLlm, "b200", Some(KernelRequest::Default)),
            (Engine::LlamaCpp, "gb10", None),
        ] {
            let device = catalog::device(device).expect("catalog key");
            let found = expert_kernels(engine, device);
            assert_eq!(found.map(|it| it.request), expected, "{engine:?} {}", device.key);
            assert!(found.is_none_or(|it| it.inputs == &f::MXFP8));
        }
    }
}
