//! The model of expected times: the shares that a kernel of a given shape reaches on a device with an engine.
//! Derivation: `docs/theory/expected.md`.

mod compute;
mod memory;

use crate::catalog::devices::measured;
use crate::device::{Device, DeviceClass, MemoryKind, PowerMode};
use crate::math;
use crate::op::{OpCost, ProductShape, Shape};
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::{ComputePath, KernelTime};
use crate::units::{FlopsPerSec, Hertz, Seconds};

use super::coefficients::Coefficients;
use super::{DeviceScale, Engine, Factors, is_covered};

/// Rows and outputs of a tile of a matrix multiplication.
const TILE: f64 = 128.0;
/// Clock at which the fixed times are stated [Hz].
const FLOOR_CLOCK: f64 = 1.8e9;
/// Overhead of a step outside its kernels, before the engine's own factor [us].
const STEP: f64 = 150.0;

/// Setting in which a kernel runs: timed alone, or within a model's step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Timed alone, as in a benchmark.
    Alone,
    /// Within a step of a model.
    Step {
        /// Number of sequences (B).
        batch: f64,
        /// True for a prompt, false for one token per sequence.
        prefill: bool,
    },
}

/// The properties of a kernel that its expected time depends on.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    pub shape: &'a Shape,
    pub cost: &'a OpCost,
    /// Peak it runs on.
    pub path: &'a ComputePath,
    /// Ideal times of memory and arithmetic.
    pub time: KernelTime,
    /// Format of the data it streams.
    pub format: &'a QuantFormat,
    pub setting: Setting,
}

/// A device with an engine, with all factors that do not depend on the kernel.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    constants: &'a Coefficients,
    engine: Engine,
    /// Share of the bandwidth that a read reaches.
    read: f64,
    /// Share of the peak that a large matmul reaches with 16, 8 and 4 bits.
    share: [f64; 3],
    /// Dense peaks of the device.
    peaks: [Option<FlopsPerSec>; 10],
    /// Factor on the rate of unpacking kernels where the full rate needs newer instructions.
    old_instructions: f64,
    /// Factor on the rate of llama.cpp's integer kernels where the full rate needs newer instructions.
    old_integer_instructions: f64,
    /// Matmuls are computed in tiles of at least 16 rows, one tile per SM: false on the vector units of a CPU.
    has_tiles: bool,
    /// The constants of the products of experts were measured on such devices.
    is_covered: bool,
    /// Multiprocessors that are on.
    pub(super) sm: f64,
    /// Their number is a fact of the device, not a usual one.
    pub(super) knows_sm: bool,
    l2: f64,
    /// Factor on fixed times, relative to the clock at which they are stated.
    clock: f64,
    /// Factor on the host's time to launch a kernel.
    host: f64,
}

impl<'a> Machine<'a> {
    /// A device in a power mode with an engine. `scale` holds the factors by which this device differs from its class.
    pub fn new(
        constants: &'a Coefficients,
        device: &Device,
        mode: Option<&PowerMode>,
        engine: Engine,
        scale: &DeviceScale,
    ) -> Self {
        let c = constants;
        let kind = MemoryKind::of(device);
        let (class_read, class_peak) = match kind {
            MemoryKind::Unified => (c.read_unified, c.peak_unified),
            MemoryKind::Gddr => (c.read_gddr, c.peak_gddr),
            MemoryKind::Hbm => (c.read_hbm, c.peak_hbm),
        };
        let known = measured::shares(device);
        let narrow = |measured: Option<f64>, factor: f64| {
            measured.map_or(class_peak * factor, |share| share * c.measured_narrow)
        };
        let share = [
            known.half.unwrap_or(class_peak),
            narrow(known.eight, c.peak_8bit),
            narrow(known.four, c.peak_4bit),
        ];
        let counted =
            mode.and_then(|mode| mode.active_sm).or(device.sm_count.map(|fact| fact.value));
        let sm = counted.map_or(100.0, f64::from);
        let clock = mode
            .and_then(|mode| mode.gpu_clock)
            .or(device.tensor_clock.map(|fact| fact.value))
            .map_or(1.5e9, Hertz::get);
        let peaks = device.peaks.0.map(|peak| peak.map(|fact| fact.value));
        let old_instructions =
            if needs_new_instructions(device) { c.old_instructions } else { 1.0 };
        Self {
            constants,
            engine,
            read: known.read.unwrap_or(class_read) * scale.memory,
            share: share.map(|share| share * scale.compute),
            peaks,
            old_instructions,
            old_integer_instructions: if is_int8_of_vector_units(&peaks) {
                1.0
            } else {
                old_instructions
            },
            has_tiles: device.class != DeviceClass::Cpu,
            is_covered: is_covered(device),
            sm,
            knows_sm: counted.is_some(),
            l2: device.l2.map_or(sm * 0.5e6, |fact| fact.value.get()),
            clock: FLOOR_CLOCK / clock,
            host: scale.host,
        }
    }

    /// The shares that a kernel reaches and its fixed time; the caller sets the interval.
    pub fn factors(&self, kernel: &Kernel<'_>) -> Factors {
        let memory = self.memory(kernel);
        let compute = self.compute(kernel);
        // The two overlap partly: the norm of the two times, which is close to the longer one if they differ much.
        let both = Self::together(memory, compute);
        let share = |ideal: Seconds, time: f64| {
            if time > 0.0 { ideal.get() / (time * both) } else { 1.0 }
        };
        Factors {
            eta_memory: share(kernel.time.memory, memory),
            eta_compute: share(kernel.time.compute, compute),
            floor: self
                .floor(kernel)
                .max(self.least(kernel) - Seconds::new(memory.max(compute) * both)),
            ..Factors::ASSUMED
        }
    }

    /// Shortest time between kernels, limited by the host's launch rate.
    fn least(&self, kernel: &Kernel<'_>) -> Seconds {
        let c = self.constants;
        let microseconds = match (kernel.setting, kernel.shape) {
            (Setting::Alone, Shape::Product(product))
                if self.engine == Engine::Vllm && is_block_scaled(kernel, product) =>
            {
                self.host * if product.rows < 32.0 { c.host_small } else { c.host_large }
            }
            _ => 0.0,
        };
        Seconds::new(microseconds * 1e-6)
    }

    /// Overhead of a step outside its kernels.
    pub fn step(&self, batch: f64, prefill: bool) -> Seconds {
        let c = self.constants;
        let step = match self.engine {
            Engine::Vllm | Engine::Sglang => c.step_vllm,
            _ => STEP * self.engine_floor(),
        };
        let sequences = if prefill { 0.0 } else { batch - 1.0 };
        Seconds::new((step + c.sequence * sequences) * 1e-6)
    }

    /// The fourth-power norm of two times, as a multiple of the longer one: the fit prefers an exponent of 4.2.
    fn together(a: f64, b: f64) -> f64 {
        let (big, small) = if a > b { (a, b) } else { (b, a) };
        if small <= 0.0 {
            return 1.0;
        }
        let square = (small / big) * (small / big);
        math::sqrt(math::sqrt(1.0 + square * square))
    }

    fn floor(&self, kernel: &Kernel<'_>) -> Seconds {
        let c = self.constants;
        if kernel.time.memory <= Seconds::ZERO {
            return Seconds::ZERO;
        }
        let microseconds = match (kernel.setting, kernel.shape) {
            (Setting::Alone, Shape::Attention { .. }) => c.alone_attention,
            (Setting::Alone, _) => c.alone_product + self.alone_extra(kernel),
            // Inside a model, elementwise operators are fused or hidden.
            (Setting::Step { .. }, Shape::Stream) => 0.0,
            (Setting::Step { batch, prefill }, _) => {
                let batched = if (prefill || batch > 1.0) && self.is_llama_cpp() {
                    c.kernel_batched
                } else {
                    1.0
                };
                c.kernel * self.clock * self.engine_floor() * batched
            }
        };
        Seconds::new(microseconds * 1e-6)
    }

    fn alone_extra(&self, kernel: &Kernel<'_>) -> f64 {
        let c = self.constants;
        let Some(product) = kernel.shape.product() else { return 0.0 };
        if unpacks(kernel, product) {
            c.alone_unpacking
        } else if width(kernel.path.class) == Width::Sixteen {
            0.0
        } else if self.engine == Engine::TensorRtLlm
            && kernel.path.class != ComputeClass::Int8
            && !is_block_scaled(kernel, product)
        {
            c.alone_quantizing_trt
        } else {
            c.alone_quantizing
        }
    }

    const fn is_llama_cpp(&self) -> bool {
        matches!(self.engine, Engine::LlamaCpp | Engine::Ollama)
    }

    /// True for weights in blocks that llama.cpp multiplies in INT8.
    fn is_block_int8(product: &ProductShape) -> bool {
        product.weights.key.starts_with("gguf") && product.weights.bits_per_element() < 16.0
    }

    fn engine_memory(&self, setting: Setting) -> f64 {
        let c = self.constants;
        match (setting, self.engine) {
            (Setting::Alone, _) => 1.0,
            (_, Engine::Vllm | Engine::Sglang) => c.memory_vllm,
            (_, Engine::Mlc) => c.memory_mlc,
            (_, Engine::GptFast) => c.memory_gpt_fast,
            _ => 1.0,
        }
    }

    fn engine_compute(&self, kernel: &Kernel<'_>) -> f64 {
        let c = self.constants;
        match (kernel.setting, self.engine) {
            (Setting::Alone, _) => 1.0,
            (_, Engine::Vllm | Engine::Sglang) => c.compute_vllm,
            (_, Engine::TensorRtLlm) => c.compute_tensorrt_llm,
            _ => 1.0,
        }
    }

    const fn engine_floor(&self) -> f64 {
        match self.engine {
            Engine::LlamaCpp | Engine::Ollama => self.constants.floor_llama_cpp,
            Engine::TensorRtLlm => self.constants.floor_tensorrt_llm,
            _ => 1.0,
        }
    }
}

/// Operand widths with separate constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    Sixteen = 0,
    Eight = 1,
    Four = 2,
}

const fn width(class: ComputeClass) -> Width {
    match class.width() {
        0..=4 => Width::Four,
        5..=8 => Width::Eight,
        _ => Width::Sixteen,
    }
}

/// True if the weights are unpacked to the 16 bits in which they are multiplied.
fn unpacks(kernel: &Kernel<'_>, product: &ProductShape) -> bool {
    width(kernel.path.class) == Width::Sixteen
        && product.weights.bits_per_element() < 12.0
        && !product.weights.key.starts_with("gguf")
}

/// True for an FP8 matmul whose weights have a scale per tile: vLLM launches these kernels from the host.
fn is_block_scaled(kernel: &Kernel<'_>, product: &ProductShape) -> bool {
    product.weights.tile.is_some() && width(kernel.path.class) == Width::Eight
}

/// True if the INT8 peak is below the FP16 peak. Tensor units that multiply INT8 do it at least as fast as FP16, so the peak is
/// that of the dot products of the vector units (B300: 512 operations per clock and SM), and these are no newer instructions.
fn is_int8_of_vector_units(peaks: &[Option<FlopsPerSec>; 10]) -> bool {
    let peak = |class: ComputeClass| peaks[class.index()];
    peak(ComputeClass::Int8).zip(peak(ComputeClass::Fp16)).is_some_and(|(int8, half)| int8 < half)
}

/// True for chips whose full rate needs instructions that kernels written for older chips do not use.
fn needs_new_instructions(device: &Device) -> bool {
    let is_in = |name: &[u8]| {
        device
            .architecture
            .as_bytes()
            .windows(name.len())
            .any(|part| part.eq_ignore_ascii_case(name))
    };
    ["Hopper", "GB100", "GB110", "Thor"].iter().any(|name| is_in(name.as_bytes()))
}
