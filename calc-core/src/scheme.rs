//! A quantization scheme: weights, activations and method together, and the devices with kernels for it. The table is in
//! `catalog::schemes`; the choice between schemes is in `recommend`.

use crate::calibration::Engine;
use crate::device::{Device, DeviceClass, MemoryPlatform};
use crate::gguf_file::row_format;
use crate::model_arch::ModelArch;
use crate::op::OpKind;
use crate::precision::PrecisionChoice;
use crate::quality::QualityLoss;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;

/// Quantization method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// No quantization, or a model published in this form.
    None,
    /// Rounding to nearest, with or without a search for the scale; no calibration data.
    Rtn,
    /// Activation-aware scales; little calibration data.
    Awq,
    /// Error-compensated rounding; little calibration data.
    Gptq,
    /// Cast to FP8; activations are quantized at run time.
    NativeFp8,
    /// Rounding to FP4; activations are quantized at run time.
    NativeFp4,
    /// Scales searched tensor by tensor, by llama.cpp's own tool.
    LlamaQuantize,
}

impl Method {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rtn => "rtn",
            Self::Awq => "awq",
            Self::Gptq => "gptq",
            Self::NativeFp8 => "native_fp8",
            Self::NativeFp4 => "native_fp4",
            Self::LlamaQuantize => "llama_quantize",
        }
    }
}

/// Software with kernels for a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// Any: plain matrix multiplications.
    Plain,
    /// vLLM, torchao and similar engines.
    Torch,
    LlamaCpp,
}

impl Kernels {
    /// The software with kernels for weights in a format.
    pub fn of_format(weights: &QuantFormat) -> Self {
        if weights.key.starts_with("gguf") {
            Self::LlamaCpp
        } else if weights.class.is_some_and(ComputeClass::is_carrier) {
            Self::Plain
        } else {
            Self::Torch
        }
    }

    /// Whether these kernels run on a device, for activations that are not quantized.
    pub fn run_on(self, device: &Device) -> bool {
        match self {
            Self::Plain => true,
            Self::Torch => torch_kernels(device, false).is_ok(),
            Self::LlamaCpp => has_llama_cpp(device),
        }
    }

    /// Whether an engine has these kernels.
    pub const fn are_of(self, engine: Engine) -> bool {
        match (self, engine) {
            (Self::Plain, _) | (_, Engine::IdealKernels) => true,
            (Self::LlamaCpp, Engine::LlamaCpp | Engine::Ollama) => true,
            (Self::LlamaCpp, _) | (Self::Torch, Engine::LlamaCpp | Engine::Ollama) => false,
            (Self::Torch, _) => true,
        }
    }
}

/// Format of a scheme's layer weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SchemeWeights {
    /// The device's 16-bit format.
    Half,
    /// The formats in which the model is published.
    Published,
    Format(&'static QuantFormat),
}

/// A combination of storage formats and compute path for a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheme {
    /// Key in JSON and URLs.
    pub key: &'static str,
    /// Format of the layer weights.
    pub weights: SchemeWeights,
    /// Format of the activations; `None` for the carrier.
    pub activations: Option<&'static QuantFormat>,
    pub method: Method,
    pub kernels: Kernels,
    /// The groups or blocks of the weights must divide the inputs (K) of every matrix.
    pub has_groups: bool,
    /// The inputs (K) of every matrix must be a multiple of this.
    pub input_multiple: u64,
    /// The outputs (N) of every matrix must be a multiple of this.
    pub output_multiple: u64,
    /// Quality loss of a model of 8 billion parameters.
    pub quality: QualityLoss,
}

/// Reason why no kernel supports a scheme on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKernel {
    /// The device has no peak for this class.
    NoPeak(ComputeClass),
    /// Fused dequantization in vLLM and torchao starts at compute capability 7.5.
    OldArchitecture,
    /// vLLM and torchao have no fused kernels for this kind of device.
    NoTorchKernels,
    /// llama.cpp does not run on this device.
    NoLlamaCpp,
}

/// A matrix with a shape that a scheme does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadShape {
    pub kind: OpKind,
    /// True for the inputs (K), false for the outputs (N).
    pub inputs: bool,
    /// Number of inputs or outputs.
    pub count: u64,
    /// The count must be a multiple of this.
    pub multiple: u64,
}

impl Scheme {
    /// The formats of the scheme on a device. The user's choice for KV cache and embeddings is kept; those of the published
    /// model belong to the published weights alone.
    pub fn choice(
        &self,
        roofs: &Roofs,
        user: &PrecisionChoice,
        published: &PrecisionChoice,
    ) -> PrecisionChoice {
        let own = match self.weights {
            SchemeWeights::Half => PrecisionChoice::weights(roofs.half()),
            SchemeWeights::Published => *published,
            SchemeWeights::Format(format) => PrecisionChoice::of_weights(format, published),
        };
        // llama.cpp's rules fix the formats of its files; other schemes leave nothing open.
        let stated = match (self.weights, self.kernels) {
            (SchemeWeights::Format(format), Kernels::Plain | Kernels::Torch) => {
                PrecisionChoice { activations: Some(roofs.half()), experts: Some(format), ..own }
            }
            _ => own,
        };
        PrecisionChoice {
            activations: self.activations.or(stated.activations),
            kv_cache: user.kv_cache.or(stated.kv_cache),
            embedding: user.embedding.or(stated.embedding),
            ..stated
        }
    }

    /// Checks that kernels exist on this device.
    ///
    /// # Errors
    /// Reason why no kernel supports it.
    pub fn runs_on(&self, device: &Device, roofs: &Roofs) -> Result<(), NoKernel> {
        if let Some(class) = self.activations.and_then(|format| format.class)
            && roofs.peak(class).is_none()
        {
            return Err(NoKernel::NoPeak(class));
        }
        match self.kernels {
            Kernels::Plain => Ok(()),
            Kernels::LlamaCpp if has_llama_cpp(device) => Ok(()),
            Kernels::LlamaCpp => Err(NoKernel::NoLlamaCpp),
            Kernels::Torch => torch_kernels(device, self.activations.is_some()),
        }
    }

    /// Checks that the scheme supports the shape of a matrix.
    ///
    /// # Errors
    /// The side that is not a multiple of the required divisor.
    pub fn takes(&self, kind: OpKind, outputs: u64, inputs: u64) -> Result<(), BadShape> {
        let bad = |count, multiple, inputs| Err(BadShape { kind, inputs, count, multiple });
        if let SchemeWeights::Format(format) = self.weights
            && self.has_groups
            && row_format(format, inputs).is_none()
        {
            return bad(inputs, format.block, true);
        }
        if !inputs.is_multiple_of(self.input_multiple) {
            return bad(inputs, self.input_multiple, true);
        }
        if !outputs.is_multiple_of(self.output_multiple) {
            return bad(outputs, self.output_multiple, false);
        }
        Ok(())
    }

    /// Checks that the scheme supports the shapes of all layer matrices of a model.
    ///
    /// # Errors
    /// The first unsupported shape.
    pub fn takes_model(&self, model: &ModelArch) -> Result<(), BadShape> {
        let mut verdict = Ok(());
        model.matrices(&mut |matrix| {
            if verdict.is_ok() {
                verdict = self.takes(matrix.kind, matrix.rows, matrix.cols);
            }
        });
        verdict
    }
}

/// Checks for kernels in vLLM and torchao that dequantize in registers or multiply quantized activations.
fn torch_kernels(device: &Device, activations_quantized: bool) -> Result<(), NoKernel> {
    // Marlin, the kernel behind most weight-only formats, starts at compute capability 7.5.
    const MARLIN: u32 = 75;
    match vendor(device) {
        // With a peak for the class, the matrix multiplication itself is native.
        _ if activations_quantized => Ok(()),
        Vendor::Nvidia(capability) if capability >= MARLIN => Ok(()),
        Vendor::Nvidia(_) => Err(NoKernel::OldArchitecture),
        Vendor::Instinct | Vendor::Custom => Ok(()),
        Vendor::General | Vendor::Inference => Err(NoKernel::NoTorchKernels),
    }
}

fn has_llama_cpp(device: &Device) -> bool {
    match vendor(device) {
        Vendor::Nvidia(_) | Vendor::Instinct | Vendor::Custom | Vendor::General => true,
        Vendor::Inference => false,
    }
}

/// Backend for which engines build their kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA.
    Cuda {
        /// Compute capability times ten: 87 for 8.7.
        capability: u32,
    },
    /// AMD.
    Rocm,
    /// Apple.
    Metal,
    /// Intel GPUs.
    Xpu,
    /// Accelerators that an engine supports with a plugin.
    Plugin,
    Cpu,
    /// A user's device; it is known only that it is not a CPU.
    Custom,
}

/// The backend for which engines build their kernels on a device.
pub fn backend(device: &Device) -> Backend {
    let is_amd = device.compute_capability.as_deref().is_some_and(|name| name.starts_with("gfx"));
    match vendor(device) {
        _ if device.class == DeviceClass::Cpu => Backend::Cpu,
        _ if device.memory_platform == MemoryPlatform::Metal => Backend::Metal,
        Vendor::Nvidia(capability) => Backend::Cuda { capability },
        Vendor::Instinct => Backend::Rocm,
        Vendor::General if is_amd => Backend::Rocm,
        Vendor::General => Backend::Xpu,
        Vendor::Inference => Backend::Plugin,
        Vendor::Custom => Backend::Custom,
    }
}

/// Oldest compute capability with CUDA kernels in vLLM, times ten.
const VLLM_CUDA: u32 = 70;

/// Whether an engine has a build for a device.
pub fn engine_runs(engine: Engine, device: &Device) -> bool {
    let backend = backend(device);
    let is_gpu = matches!(backend, Backend::Cuda { .. } | Backend::Rocm | Backend::Custom);
    match engine {
        Engine::LlamaCpp | Engine::Ollama => has_llama_cpp(device),
        Engine::Vllm | Engine::Sglang => vllm_runs(device),
        Engine::TensorRtLlm => matches!(backend, Backend::Cuda { .. }),
        Engine::TensorRtEdgeLlm => {
            matches!(backend, Backend::Cuda { .. }) && device.class == DeviceClass::UnifiedGpu
        }
        Engine::GptFast | Engine::ExLlamaV2 => is_gpu,
        Engine::Mlc => is_gpu || matches!(backend, Backend::Metal | Backend::Xpu),
        Engine::IdealKernels => true,
    }
}

/// Whether vLLM has a build for a device, or a plugin.
pub fn vllm_runs(device: &Device) -> bool {
    match backend(device) {
        Backend::Cuda { capability } => capability >= VLLM_CUDA,
        Backend::Cpu => !is_single_board(device),
        Backend::Rocm | Backend::Xpu | Backend::Plugin | Backend::Custom => true,
        Backend::Metal => false,
    }
}

fn is_single_board(device: &Device) -> bool {
    device.form_factor == "SBC"
}

/// Whether a CPU may be the host of a device: it has a socket, and the device is a card or a module of a server. Other devices
/// have a CPU of their own.
pub fn is_host(cpu: &Device, device: &Device) -> bool {
    let is_card = ["PCIe", "SXM", "OAM"].iter().any(|kind| device.form_factor.starts_with(kind));
    cpu.class == DeviceClass::Cpu && !is_single_board(cpu) && is_card
}

/// Devices as far as software support differs.
enum Vendor {
    /// CUDA, with the compute capability times ten.
    Nvidia(u32),
    /// AMD data-center accelerators.
    Instinct,
    /// CPUs, Apple, other consumer GPUs.
    General,
    /// Accelerators with their own software stack.
    Inference,
    /// A user's device; only its peaks are known.
    Custom,
}

fn vendor(device: &Device) -> Vendor {
    let capability = device.compute_capability.as_deref();
    match &*device.vendor {
        "NVIDIA" => Vendor::Nvidia(capability.map_or(0, capability_number)),
        "AMD" if capability.is_some_and(|name| name.starts_with("gfx9")) => Vendor::Instinct,
        "AMD" | "Apple" | "Raspberry Pi" => Vendor::General,
        "Intel" if device.class == DeviceClass::Cpu || device.key.starts_with("arc") => {
            Vendor::General
        }
        "Intel" | "Google" | "AWS" => Vendor::Inference,
        _ => Vendor::Custom,
    }
}

/// Converts 8.7 to 87, 12.1 to 121.
fn capability_number(capability: &str) -> u32 {
    let digits = capability.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn runs(scheme: &str, device: &str) -> Result<(), NoKernel> {
        let device = catalog::device(device).expect("catalog key");
        let roofs = Roofs::new(device, None).expect("no mode");
        catalog::schemes::scheme(scheme).expect("a scheme").runs_on(device, &roofs)
    }

    #[test]
    fn schemes_run_where_their_kernels_do() {
        use ComputeClass::{Fp4, Fp8, Int8};
        for (scheme, device, expected) in [
            ("fp8_w8a8", "jetson_orin_nano_8gb_super", Err(NoKernel::NoPeak(Fp8))),
            ("nvfp4_w4a4", "h100_sxm", Err(NoKernel::NoPeak(Fp4))),
            ("nvfp4_w4a4", "gb10", Ok(())),
            ("nvfp4_w4a16", "jetson_orin_nano_8gb_super", Ok(())),
            ("int8_w8a8", "v100_sxm2_16gb", Err(NoKernel::NoPeak(Int8))),
            ("int4_g128_awq", "v100_sxm2_16gb", Err(NoKernel::OldArchitecture)),
            ("int4_g128_awq", "t4", Ok(())),
            ("int4_g128_awq", "apple_m4", Err(NoKernel::NoTorchKernels)),
            ("gguf_q4_k", "apple_m4", Ok(())),
            ("gguf_q4_k", "tpu_v5e", Err(NoKernel::NoLlamaCpp)),
            ("fp8_w8a8", "mi300x", Ok(())),
            ("half", "jetson_nano", Ok(())),
        ] {
            assert_eq!(runs(scheme, device), expected, "{scheme} on {device}");
        }
    }

    #[test]
    fn the_kernels_of_a_scheme_are_those_of_its_format() {
        for scheme in catalog::schemes::SCHEMES {
            if let SchemeWeights::Format(format) = scheme.weights {
                assert_eq!(Kernels::of_format(format), scheme.kernels, "{}", scheme.key);
            }
        }
    }

    #[test]
    fn a_scheme_refuses_a_shape_that_its_groups_do_not_divide() {
        let scheme = catalog::schemes::scheme("int4_g128_awq").expect("a scheme");
        assert_eq!(scheme.takes(OpKind::Gemm, 4096, 4096), Ok(()));
        let refused = scheme.takes(OpKind::Down, 4096, 4544).expect_err("4544 = 35.5 groups");
        assert_eq!((refused.inputs, refused.count, refused.multiple), (true, 4544, 128));
        assert!(scheme.takes(OpKind::Down, 100, 4096).is_err_and(|bad| !bad.inputs));
    }
}
