//! What a datasheet says of a device and of its power modes, and beside it the rates that only a measurement has. What is not
//! here: measurements of what a datasheet states, too (`catalog::devices::MEASURED`), correction factors (`calibration`), and what follows from the facts (`roofline`).

mod memory;

pub use memory::{MemoryKind, MemoryPlatform, UsableMemory};

use crate::error::Error;
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass;
use crate::text::{List, Text};
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Hertz, Seconds, Watts};

/// Kind of device, as far as the assumed constants tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum DeviceClass {
    /// Accelerator with memory of its own.
    DiscreteGpu,
    /// Module or SoC whose GPU shares the memory of the host.
    UnifiedGpu,
    /// CPU, or a board on which the CPU computes.
    Cpu,
}

/// Dense peaks by compute class; `None` is "no native support, or unknown", never zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Peaks(pub [Option<Fact<FlopsPerSec>>; 10]);

impl Peaks {
    /// No peak known.
    pub const NONE: Self = Self([None; 10]);

    /// The same with one more.
    #[must_use]
    pub const fn with(mut self, class: ComputeClass, peak: Fact<FlopsPerSec>) -> Self {
        self.0[class.index()] = Some(peak);
        self
    }

    /// The peak of a class.
    pub const fn get(&self, class: ComputeClass) -> Option<Fact<FlopsPerSec>> {
        self.0[class.index()]
    }
}

/// What no datasheet states: rates as somebody measured them; the device's source says who, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredRates {
    /// Read bandwidth of the L2 cache, not below that of the DRAM. It draws a roof, and enters no time.
    pub l2_bandwidth: Option<Fact<BytesPerSec>>,
    /// Key of the device of the catalog that this is a copy of: what was measured of that one counts for it.
    pub copy_of: Option<&'static str>,
}

impl MeasuredRates {
    /// Nobody measured anything, or nobody said so.
    pub const UNKNOWN: Self = Self { l2_bandwidth: None, copy_of: None };
}

/// A link between devices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Bandwidth per direction.
    pub bandwidth: BytesPerSec,
    /// Latency of one hop.
    pub latency: Seconds,
}

/// A power mode of a board: clocks and units that stay on.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerMode {
    /// Number that nvpmodel gives it.
    pub id: u32,
    /// Name that nvpmodel gives it.
    pub name: Text,
    /// Power budget.
    pub watts: Option<Watts>,
    /// Highest GPU clock.
    pub gpu_clock: Option<Hertz>,
    /// SMs that stay on.
    pub active_sm: Option<u32>,
    /// Highest memory clock.
    pub memory_clock: Option<Hertz>,
    /// Bandwidth at that memory clock.
    pub bandwidth: Option<BytesPerSec>,
    /// CPU cores that stay on.
    pub cpu_cores: Option<u32>,
    /// Highest CPU clock.
    pub cpu_clock: Option<Hertz>,
    /// True for the mode in which the board boots.
    pub default: bool,
    /// How sure the row is.
    pub provenance: Provenance,
    /// Source where it differs from the device's, and remarks.
    pub notes: Text,
}

/// A device as its datasheet describes it. Peaks are dense, with FP32 accumulation for the floats.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Key in requests and JSON.
    pub key: Text,
    /// Name for people.
    pub name: Text,
    /// Other keys.
    pub aliases: List<Text>,
    /// Maker.
    pub vendor: Text,
    /// Architecture and chip.
    pub architecture: Text,
    /// CUDA compute capability or gfx name.
    pub compute_capability: Option<Text>,
    /// PCIe, SXM5, module, SoC, …
    pub form_factor: Text,
    /// Kind of device.
    pub class: DeviceClass,
    /// Year of release.
    pub release_year: Option<u16>,
    /// Capacity of its memory; of sockets the most that they take.
    pub memory: Fact<Bytes>,
    /// Technology and width of its memory.
    pub memory_type: Text,
    /// Who else uses it.
    pub memory_platform: MemoryPlatform,
    /// DRAM bandwidth.
    pub bandwidth: Fact<BytesPerSec>,
    /// Dense peaks.
    pub peaks: Peaks,
    /// FP16 peak with FP16 accumulation; shown, never a roof.
    pub fp16_accumulate_fp16: Option<Fact<FlopsPerSec>>,
    /// FP8 peak with FP16 accumulation; shown, never a roof.
    pub fp8_accumulate_fp16: Option<Fact<FlopsPerSec>>,
    /// By how much vendors multiply the peaks when they print them "with sparsity"; 1 when they do not.
    pub sparse_multiplier: f64,
    /// Streaming multiprocessors, compute units or cores.
    pub sm_count: Option<Fact<u32>>,
    /// Highest clock.
    pub boost_clock: Option<Fact<Hertz>>,
    /// Clock at which the tensor peaks are stated, or the highest one where the row's notes give the peaks another origin.
    pub tensor_clock: Option<Fact<Hertz>>,
    /// L2 cache.
    pub l2: Option<Fact<Bytes>>,
    /// What only a measurement has.
    pub measured: MeasuredRates,
    /// Shared memory of one SM.
    pub shared_memory_per_sm: Option<Fact<Bytes>>,
    /// 32-bit registers of one SM.
    pub registers_per_sm: Option<Fact<u32>>,
    /// Thermal design power.
    pub tdp: Option<Fact<Watts>>,
    /// Links in words.
    pub interconnect: Text,
    /// The fastest of them as a number.
    pub link: Option<Fact<Link>>,
    /// Power modes; empty when it has none.
    pub power_modes: List<PowerMode>,
    /// Source of the facts that say "read".
    pub source: Text,
    /// Remarks.
    pub notes: Text,
}

impl Device {
    /// The mode of that name, whatever its case.
    ///
    /// # Errors
    /// [`Error::UnknownKey`] with the modes that the device has.
    pub fn power_mode(&self, name: &str) -> Result<&PowerMode, Error> {
        self.power_modes.iter().find(|mode| mode.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            Error::UnknownKey {
                catalog: "power mode",
                key: name.into(),
                nearest: self
                    .power_modes
                    .iter()
                    .map(|mode| mode.name.clone().into_owned())
                    .collect(),
            }
        })
    }
}
