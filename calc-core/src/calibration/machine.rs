//! From the datasheet to a clock: what a kernel of a certain shape reaches on a device with an engine.
//! Derivation: `docs/theory/expected.md`.

mod compute;
mod memory;

use crate::catalog::devices::measured;
use crate::device::{Device, DeviceClass, MemoryKind, PowerMode};
use crate::math;
use crate::op::{OpCost, Product, Shape};
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::{ComputePath, KernelTime};
use crate::units::{FlopsPerSec, Hertz, Seconds};

use super::coefficients::Coefficients;
use super::{DeviceScale, Engine, Factors};

/// Rows of a tile of a matrix product, and outputs.
const TILE: f64 = 128.0;
/// Clock at which the floors are stated [Hz].
const FLOOR_CLOCK: f64 = 1.8e9;
/// What a step costs outside the kernels before an engine's own factor [us].
const STEP: f64 = 150.0;

/// Where a kernel runs: timed alone, or as a part of a model's step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Alone, as a benchmark does.
    Alone,
    /// In a step.
    Step {
        /// Sequences (B).
        batch: f64,
        /// The prompt, or a token for each sequence.
        prefill: bool,
    },
}

/// A kernel as expected times see it.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    /// What it is made for.
    pub shape: &'a Shape,
    /// Work and traffic.
    pub cost: &'a OpCost,
    /// Peak that it runs on.
    pub path: &'a ComputePath,
    /// Ideal times of memory and arithmetic.
    pub time: KernelTime,
    /// Format of what it streams.
    pub format: &'a QuantFormat,
    /// Where it runs.
    pub setting: Setting,
}

/// A device with an engine, ready for kernels.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    constants: &'a Coefficients,
    engine: Engine,
    /// Share of the bandwidth that a read reaches.
    read: f64,
    /// Share of the peak that a large product reaches with 16, 8 and 4 bits.
    share: [f64; 3],
    /// Dense peaks of the device.
    peaks: [Option<FlopsPerSec>; 10],
    old_instructions: f64,
    /// Products are computed in tiles of 16 rows and more, one tile on an SM: not on the vector units of a CPU.
    has_tiles: bool,
    sm: f64,
    l2: f64,
    /// How much longer floors take than at the clock at which they are stated.
    clock: f64,
    /// How much longer the host takes to launch a kernel.
    host: f64,
}

impl<'a> Machine<'a> {
    /// A device in a power mode with an engine. `scale` is by how much this very device reaches more than its class.
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
        let sm = mode
            .and_then(|mode| mode.active_sm)
            .or(device.sm_count.map(|fact| fact.value))
            .map_or(100.0, f64::from);
        let clock = mode
            .and_then(|mode| mode.gpu_clock)
            .or(device.tensor_clock.map(|fact| fact.value))
            .map_or(1.5e9, Hertz::get);
        Self {
            constants,
            engine,
            read: known.read.unwrap_or(class_read) * scale.memory,
            share: share.map(|share| share * scale.compute),
            peaks: device.peaks.0.map(|peak| peak.map(|fact| fact.value)),
            old_instructions: if needs_new_instructions(device) { c.old_instructions } else { 1.0 },
            has_tiles: device.class != DeviceClass::Cpu,
            sm,
            l2: device.l2.map_or(sm * 0.5e6, |fact| fact.value.get()),
            clock: FLOOR_CLOCK / clock,
            host: scale.host,
        }
    }

    /// The shares that a kernel reaches and its floor; the interval is the caller's.
    pub fn factors(&self, kernel: &Kernel<'_>) -> Factors {
        let memory = self.memory(kernel);
        let compute = self.compute(kernel);
        // Neither waits wholly for the other: the norm of the two times, which is the longer where they differ much.
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

    /// Least time between kernels that the host cannot launch faster.
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

    /// What a step costs outside its kernels.
    pub fn step(&self, batch: f64, prefill: bool) -> Seconds {
        let c = self.constants;
        let step = match self.engine {
            Engine::Vllm | Engine::Sglang => c.step_vllm,
            _ => STEP * self.engine_floor(),
        };
        let sequences = if prefill { 0.0 } else { batch - 1.0 };
        Seconds::new((step + c.sequence * sequences) * 1e-6)
    }

    /// The fourth-power norm of two times, as a multiple of the longer: the sharpness that the fit preferred is 4.2.
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
            // Inside a model everything element by element is fused or hidden.
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

    /// Weights in blocks that llama.cpp multiplies in INT8.
    fn is_block_int8(product: &Product) -> bool {
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

/// Widths of arithmetic that are told apart.
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

/// Weights that are unpacked to the 16 bits in which they are multiplied.
fn unpacks(kernel: &Kernel<'_>, product: &Product) -> bool {
    width(kernel.path.class) == Width::Sixteen
        && product.weights.bits_per_element() < 12.0
        && !product.weights.key.starts_with("gguf")
}

/// A product of FP8 whose weights have a scale per tile: vLLM launches its kernels from the host.
fn is_block_scaled(kernel: &Kernel<'_>, product: &Product) -> bool {
    product.weights.tile.is_some() && width(kernel.path.class) == Width::Eight
}

/// Chips whose full rate needs instructions that kernels written for older ones do not use.
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
