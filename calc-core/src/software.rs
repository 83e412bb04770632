//! Which software runs on a device: kernels, engines, and the CPUs beside it.

use crate::calibration::Engine;
use crate::device::{Device, DeviceClass, MemoryKind, MemoryPlatform};
use crate::model_arch::Ends;
use crate::quant_format::{ComputeClass, QuantFormat};

mod cache;
mod experts;
mod kernels;

pub use cache::{CacheRule, PoolRule, StateRule, WindowRule};
pub use experts::{ExpertKernels, KernelRequest, expert_kernels};
pub use kernels::{FormatFamily, Kernels};

/// Reason why no kernel supports a scheme on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKernel {
    /// The device has no peak for this class.
    NoPeak(ComputeClass),
    /// Fused dequantization in vLLM and torchao starts at compute capability 7.5.
    OldArchitecture,
    /// vLLM and torchao have no fused kernels for this kind of device.
    NoTorchKernels,
    /// No software has kernels for the format on devices of this vendor.
    OtherVendor,
    /// llama.cpp does not run on this device.
    NoLlamaCpp,
    /// The engine that the request names has no kernels for the format.
    OtherEngine(Engine),
    /// The engine that the request names has no build for this device.
    NoBuild(Engine),
    /// The request names no engine, and neither llama.cpp nor vLLM has kernels for the format on this device.
    NoUsualEngine,
}

/// The engine that serves a model with weights and experts in these formats if the user names none: vLLM on devices with HBM
/// and llama.cpp elsewhere, if it has kernels for the formats on the device; otherwise the other one, if it has. Where neither
/// has kernels, the first one that reads the formats stands for them.
pub fn usual_engine(device: &Device, weights: &QuantFormat, experts: &QuantFormat) -> Engine {
    usual_engine_of(device, FormatFamily::of(weights, experts))
}

/// [`usual_engine`] for formats of a family.
pub(crate) fn usual_engine_of(device: &Device, family: FormatFamily) -> Engine {
    let usual = match MemoryKind::of(device) {
        MemoryKind::Hbm => Engine::Vllm,
        MemoryKind::Unified | MemoryKind::Gddr => Engine::LlamaCpp,
    };
    let others = [usual, Engine::LlamaCpp, Engine::Vllm];
    let has_kernels = |engine: &Engine| family.served_by(*engine, device, false).is_ok();
    let reads = |engine: &Engine| family.is_of(*engine) && engine_runs(*engine, device);
    let found = others.into_iter().find(has_kernels);
    found.or_else(|| others.into_iter().find(reads)).unwrap_or(usual)
}

/// Whether an engine keeps the KV cache in a format. Their options as of 2026; engines without a list here have 16 bits.
pub fn reads_cache(engine: Engine, format: &QuantFormat) -> bool {
    let is_half = matches!(format.key, "fp16" | "bf16");
    match engine {
        Engine::IdealKernels => true,
        Engine::LlamaCpp => is_half || matches!(format.key, "fp32" | "gguf_q8_0" | "gguf_q4_0"),
        Engine::Ollama => matches!(format.key, "fp16" | "gguf_q8_0" | "gguf_q4_0"),
        Engine::Vllm | Engine::Sglang => is_half || matches!(format.key, "fp8_e4m3" | "fp8_e5m2"),
        Engine::TensorRtLlm | Engine::TensorRtEdgeLlm => is_half || format.key == "fp8_e4m3",
        Engine::ExLlamaV2 => format.key == "fp16",
        Engine::GptFast | Engine::Mlc => is_half,
    }
}

/// Tables that an engine keeps in the memory of the machine around a card, however many layers lie on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostTables {
    None,
    /// The embedding of tokens. The card has a copy where the LM head is the same matrix.
    Tokens,
    /// Embeddings per layer, too.
    All,
}

impl HostTables {
    /// The tables of an engine on a device. Read in 2026: `dev_input` and `LLM_TENSOR_LAYER_INPUT` of llama.cpp, `createTensor` of
    /// Ollama, which has embeddings per layer on the card. Where host and device share the memory, no table leaves it.
    pub const fn of(engine: Engine, device: &Device) -> Self {
        let is_card = matches!(device.class, DeviceClass::DiscreteGpu);
        match engine {
            Engine::LlamaCpp if is_card && !device.memory_platform.is_shared() => Self::All,
            Engine::Ollama if is_card && !device.memory_platform.is_shared() => Self::Tokens,
            _ => Self::None,
        }
    }
}

/// Stages of a pipeline whose devices have the towers for images and sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TowerStages {
    First,
    Last,
    Each,
}

impl TowerStages {
    /// The stages of an engine. Read in 2026: llama.cpp loads an `mmproj` file to the first device (`clip_ctx`), Ollama's
    /// `createTensor` puts towers beside the LM head, and models of vLLM and `SGLang` build theirs in each process, of which that of
    /// the first stage runs it. Assumed: that other engines do as vLLM does.
    pub const fn of(engine: Engine) -> Self {
        match engine {
            Engine::LlamaCpp | Engine::IdealKernels => Self::First,
            Engine::Ollama => Self::Last,
            Engine::Vllm
            | Engine::Sglang
            | Engine::TensorRtLlm
            | Engine::TensorRtEdgeLlm
            | Engine::GptFast
            | Engine::ExLlamaV2
            | Engine::Mlc => Self::Each,
        }
    }

    /// Whether a stage with some ends of the model has the towers.
    pub const fn hold(self, ends: Ends) -> bool {
        match self {
            Self::First => ends.first,
            Self::Last => ends.last,
            Self::Each => true,
        }
    }

    /// Whether a stage with some ends of the model runs the towers.
    pub const fn run(self, ends: Ends) -> bool {
        match self {
            Self::First | Self::Each => ends.first,
            Self::Last => ends.last,
        }
    }
}

/// Largest share of a device's memory that an engine takes for weights, KV cache and activations: vLLM and SGLang allot it before
/// they load, and a larger one leaves no room for the driver; the assumed reserve of an estimate covers the rest. A judgment.
pub const fn largest_share(engine: Engine) -> Option<f64> {
    match engine {
        Engine::Vllm | Engine::Sglang => Some(0.97),
        Engine::LlamaCpp
        | Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc
        | Engine::Ollama
        | Engine::IdealKernels => None,
    }
}

/// Checks for kernels in vLLM and torchao that dequantize in registers or multiply quantized activations.
pub(crate) fn torch_kernels(device: &Device, activations_quantized: bool) -> Result<(), NoKernel> {
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

pub(crate) fn has_llama_cpp(device: &Device) -> bool {
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
    let has_socket = cpu.class == DeviceClass::Cpu && !["SBC", "SoC"].contains(&&*cpu.form_factor);
    has_socket && is_card
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
        "AMD" | "Apple" | "Qualcomm" | "Raspberry Pi" | "Rockchip" => Vendor::General,
        "Intel" if device.class == DeviceClass::Cpu || device.catalog_key().starts_with("arc") => {
            Vendor::General
        }
        "Intel" | "Google" | "AWS" => Vendor::Inference,
        _ => Vendor::Custom,
    }
}

/// Converts 8.7 to 87, 12.1 to 121.
fn capability_number(capability: &str) -> u32 {
    let digits = capability.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number: u32, digit| {
        number.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
    })
}
