//! The table of kernels: which engine reads which family of formats, and on which vendor's devices.
//!
//! Engines: their lists of quantization methods as of 2026, recalled, except where a comment names what was read.

use super::{NoKernel, Vendor, engine_runs, has_llama_cpp, torch_kernels, vendor};
use crate::calibration::Engine;
use crate::catalog::formats as f;
use crate::device::Device;
use crate::quant_format::{ComputeClass, QuantFormat};

/// Software that applies a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// Any: plain matrix multiplications.
    Plain,
    /// vLLM, torchao and similar engines.
    Torch,
    LlamaCpp,
}

/// Formats for which engines have kernels or have none together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatFamily {
    /// Floats of 16 bits and more.
    Plain,
    /// FP8 with any scales.
    Fp8,
    /// FP6 of the OCP Microscaling Formats.
    Mxfp6,
    /// INT8 with any scales.
    Int8,
    /// INT4 in groups: GPTQ and compressed-tensors.
    Int4,
    /// Files of the AWQ quantizer.
    Awq,
    /// Integers of fewer than 4 bits.
    Narrow,
    /// NF4 of bitsandbytes.
    Nf4,
    Nvfp4,
    Mxfp4,
    /// MXFP4 experts in a model of 16 bits, as gpt-oss is published.
    Mxfp4Experts,
    /// Files of llama.cpp.
    Gguf,
}

impl FormatFamily {
    /// The family of a format that all layers share.
    pub fn of_format(format: &QuantFormat) -> Self {
        match format.class {
            _ if format.file.is_some() => Self::Gguf,
            _ if format == &f::NVFP4 => Self::Nvfp4,
            _ if format == &f::MXFP4 => Self::Mxfp4,
            _ if format == &f::NF4 || format == &f::NF4_DQ => Self::Nf4,
            _ if format == &f::INT8_G128 => Self::Int8,
            _ if format.bits_per_element() < 4.0 => Self::Narrow,
            Some(class) if class.is_carrier() => Self::Plain,
            Some(ComputeClass::Fp8) => Self::Fp8,
            Some(ComputeClass::Fp6) => Self::Mxfp6,
            Some(ComputeClass::Int8) => Self::Int8,
            _ => Self::Int4,
        }
    }

    /// The family of a model with layers and experts in these formats: quantized experts decide where the layers are not.
    pub fn of(weights: &QuantFormat, experts: &QuantFormat) -> Self {
        match (Self::of_format(weights), Self::of_format(experts)) {
            (Self::Plain, Self::Mxfp4) => Self::Mxfp4Experts,
            (Self::Plain, experts) => experts,
            (weights, _) => weights,
        }
    }

    /// The software that applies such formats.
    pub const fn kernels(self) -> Kernels {
        match self {
            Self::Plain => Kernels::Plain,
            Self::Gguf => Kernels::LlamaCpp,
            Self::Fp8
            | Self::Mxfp6
            | Self::Int8
            | Self::Int4
            | Self::Awq
            | Self::Narrow
            | Self::Nf4
            | Self::Nvfp4
            | Self::Mxfp4
            | Self::Mxfp4Experts => Kernels::Torch,
        }
    }

    /// Whether an engine has kernels for such formats, on a device for which it has any.
    pub const fn is_of(self, engine: Engine) -> bool {
        match engine {
            Engine::IdealKernels => true,
            // Experts in MXFP4 are read as a GGUF file that holds the same blocks.
            Engine::LlamaCpp | Engine::Ollama => {
                matches!(self, Self::Plain | Self::Gguf | Self::Mxfp4Experts)
            }
            Engine::Vllm | Engine::Sglang => !matches!(self, Self::Gguf),
            Engine::TensorRtLlm => {
                !matches!(self, Self::Gguf | Self::Nf4 | Self::Narrow | Self::Mxfp6)
            }
            Engine::TensorRtEdgeLlm => matches!(
                self,
                Self::Plain | Self::Fp8 | Self::Int8 | Self::Int4 | Self::Awq | Self::Nvfp4
            ),
            Engine::GptFast => matches!(self, Self::Plain | Self::Int8 | Self::Int4),
            // GPTQ and its own EXL2.
            Engine::ExLlamaV2 => matches!(self, Self::Plain | Self::Int4 | Self::Narrow),
            Engine::Mlc => {
                matches!(self, Self::Plain | Self::Fp8 | Self::Int4 | Self::Awq | Self::Narrow)
            }
        }
    }

    /// Checks that an engine has a build for a device, and kernels for such formats on it.
    ///
    /// # Errors
    /// Reason why the engine does not serve them.
    pub fn served_by(
        self,
        engine: Engine,
        device: &Device,
        activations_quantized: bool,
    ) -> Result<(), NoKernel> {
        match engine {
            _ if !engine_runs(engine, device) => Err(NoKernel::NoBuild(engine)),
            _ if !self.is_of(engine) => Err(NoKernel::OtherEngine(engine)),
            // With its build, llama.cpp has kernels for all that it reads.
            Engine::LlamaCpp | Engine::Ollama | Engine::IdealKernels => {
                self.check(device, activations_quantized)
            }
            Engine::Vllm
            | Engine::Sglang
            | Engine::TensorRtLlm
            | Engine::TensorRtEdgeLlm
            | Engine::GptFast
            | Engine::ExLlamaV2
            | Engine::Mlc => self.torch_check(device, activations_quantized),
        }
    }

    /// Whether such formats have kernels on a device, for activations that are not quantized.
    pub fn runs_on(self, device: &Device) -> bool {
        self.check(device, false).is_ok()
    }

    /// Checks that any software has kernels for such formats on a device.
    pub(crate) fn check(
        self,
        device: &Device,
        activations_quantized: bool,
    ) -> Result<(), NoKernel> {
        match self {
            Self::Gguf | Self::Mxfp4Experts if has_llama_cpp(device) => Ok(()),
            Self::Gguf => Err(NoKernel::NoLlamaCpp),
            Self::Plain
            | Self::Fp8
            | Self::Mxfp6
            | Self::Int8
            | Self::Int4
            | Self::Awq
            | Self::Narrow
            | Self::Nf4
            | Self::Nvfp4
            | Self::Mxfp4
            | Self::Mxfp4Experts => self.torch_check(device, activations_quantized),
        }
    }

    /// Checks that software other than llama.cpp has kernels for such formats on a device.
    fn torch_check(self, device: &Device, activations_quantized: bool) -> Result<(), NoKernel> {
        match self {
            Self::Plain => Ok(()),
            // Both of AMD's FP4 generations multiply MXFP4 alone.
            Self::Nvfp4 if matches!(vendor(device), Vendor::Instinct) => Err(NoKernel::OtherVendor),
            Self::Fp8
            | Self::Mxfp6
            | Self::Int8
            | Self::Int4
            | Self::Awq
            | Self::Narrow
            | Self::Nf4
            | Self::Nvfp4
            | Self::Mxfp4
            | Self::Mxfp4Experts
            | Self::Gguf => torch_kernels(device, activations_quantized),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn engines_read_the_formats_of_their_own_quantizers() {
        use Engine::{ExLlamaV2, GptFast, LlamaCpp, Mlc, TensorRtLlm, Vllm};
        use FormatFamily::{Awq, Gguf, Int4, Int8, Mxfp4, Mxfp4Experts, Narrow, Nf4, Nvfp4};
        for (engine, has, lacks) in [
            (ExLlamaV2, [Int4, Narrow], &[Awq, Nvfp4][..]),
            (LlamaCpp, [Gguf, Mxfp4Experts], &[Int4, Mxfp4]),
            (Vllm, [Awq, Nvfp4], &[Gguf]),
            (TensorRtLlm, [Awq, Mxfp4Experts], &[Nf4, Gguf]),
            (GptFast, [Int8, Int4], &[Nvfp4, Nf4]),
            (Mlc, [Int4, Awq], &[Nf4, Nvfp4]),
        ] {
            assert!(has.iter().all(|family| family.is_of(engine)), "{engine:?}: {has:?}");
            assert!(!lacks.iter().any(|family| family.is_of(engine)), "{engine:?}: {lacks:?}");
        }
    }

    #[test]
    fn quantized_experts_decide_the_family_of_a_model_in_16_bits() {
        for (weights, experts, family) in [
            ("bf16", "bf16", FormatFamily::Plain),
            ("bf16", "int4_g128_sym", FormatFamily::Int4),
            ("bf16", "mxfp4", FormatFamily::Mxfp4Experts),
            ("mxfp4", "mxfp4", FormatFamily::Mxfp4),
            ("gguf_q8_0", "gguf_mxfp4", FormatFamily::Gguf),
            ("bf16", "gguf_mxfp4", FormatFamily::Gguf),
            ("fp8_block128", "fp8_block128", FormatFamily::Fp8),
            ("bitnet_1.58", "bitnet_1.58", FormatFamily::Narrow),
            ("int4_g32", "int4_g32", FormatFamily::Int4),
        ] {
            let format = |key| catalog::format(key).expect("catalog key");
            assert_eq!(
                FormatFamily::of(format(weights), format(experts)),
                family,
                "{weights} {experts}"
            );
        }
    }

    #[test]
    fn nvfp4_has_kernels_on_nvidia_alone() {
        for (device, runs) in [("b200", true), ("h100_sxm", true), ("mi300x", false)] {
            let device = catalog::device(device).expect("catalog key");
            assert_eq!(FormatFamily::Nvfp4.runs_on(device), runs, "{}", device.key);
            assert!(FormatFamily::Mxfp4.runs_on(device), "{}", device.key);
        }
    }

    #[test]
    fn an_engine_serves_formats_by_its_own_kernels_on_a_device() {
        use FormatFamily as F;
        let families = [
            F::Plain,
            F::Fp8,
            F::Mxfp6,
            F::Int8,
            F::Int4,
            F::Awq,
            F::Narrow,
            F::Nf4,
            F::Nvfp4,
            F::Mxfp4,
            F::Mxfp4Experts,
            F::Gguf,
        ];
        for device in catalog::devices::all() {
            for (_, engine) in Engine::ALL {
                for family in families {
                    let is_torch = match engine {
                        Engine::LlamaCpp | Engine::Ollama => false,
                        Engine::IdealKernels => !family.runs_on(device),
                        _ => family != F::Plain,
                    };
                    let is_other = family == F::Nvfp4 && matches!(vendor(device), Vendor::Instinct);
                    let has = engine_runs(engine, device)
                        && family.is_of(engine)
                        && (!is_torch || torch_kernels(device, false).is_ok() && !is_other);
                    let found = family.served_by(engine, device, false);
                    assert_eq!(found.is_ok(), has, "{family:?} {engine:?} {}", device.key);
                }
            }
        }
    }

    #[test]
    fn kernels_of_llama_cpp_are_not_those_of_vllm() {
        for (device, reason) in [
            ("v100_sxm2_32gb", NoKernel::OldArchitecture),
            ("rx_7900_xtx", NoKernel::NoTorchKernels),
            ("epyc_9654", NoKernel::NoTorchKernels),
        ] {
            let device = catalog::device(device).expect("catalog key");
            let served = |engine| FormatFamily::Mxfp4Experts.served_by(engine, device, false);
            assert_eq!(served(Engine::Vllm), Err(reason), "{}", device.key);
            assert_eq!(served(Engine::LlamaCpp), Ok(()), "{}", device.key);
            let usual = crate::software::usual_engine(device, &f::BF16, &f::MXFP4);
            assert_eq!(usual, Engine::LlamaCpp, "{}", device.key);
        }
    }
}
