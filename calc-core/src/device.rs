//! Devices and their power modes as datasheets describe them, with the few rates that only measurements give.
//! Elsewhere: measured values of datasheet quantities (`catalog::devices::MEASURED`), correction factors (`calibration`),
//! and everything derived from these facts (`roofline`).

mod memory;

pub use memory::{MemoryKind, MemoryPlatform, UsableMemory};

use crate::error::Error;
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass;
use crate::text::{List, Text};
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Hertz, Seconds, Watts};

/// Kind of device, as far as the assumed constants distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum DeviceClass {
    /// Accelerator with its own memory.
    DiscreteGpu,
    /// Module or SoC whose GPU shares the host's memory.
    UnifiedGpu,
    /// CPU, or a board on which the CPU computes.
    Cpu,
}

/// Form of an accelerator that takes the sockets of a server, of which boards have several.
pub(crate) const SOCKET: &str = "socket";
/// Form of a processor of which a board may have two or more.
pub(crate) const SERVER_CPU: &str = "server CPU";

/// Dense peaks by compute class; `None` means no native support, or unknown; a peak is never zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Peaks(pub [Option<Fact<FlopsPerSec>>; 10]);

impl Peaks {
    /// No peak known for any class.
    pub const NONE: Self = Self([None; 10]);

    /// These peaks with one more class.
    #[must_use]
    pub const fn with(mut self, class: ComputeClass, peak: Fact<FlopsPerSec>) -> Self {
        self.0[class.index()] = Some(peak);
        self
    }

    /// The peak of a class, if known.
    pub const fn get(&self, class: ComputeClass) -> Option<Fact<FlopsPerSec>> {
        self.0[class.index()]
    }
}

/// Rates that no datasheet states; the device's `source` names who measured them, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredRates {
    /// Read bandwidth of the L2 cache, at least that of the DRAM. It draws a roof and does not enter any time.
    pub l2_bandwidth: Option<Fact<BytesPerSec>>,
    /// Key of the catalog device that this one copies; measurements of the original apply to the copy.
    pub copy_of: Option<&'static str>,
    /// The measured roofs that something disturbed while they were measured: they may be too low.
    pub disturbed: RoofSet,
}

impl MeasuredRates {
    /// No rate was measured.
    pub const UNKNOWN: Self = Self { l2_bandwidth: None, copy_of: None, disturbed: RoofSet::NONE };
}

/// A roof of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roof {
    /// DRAM bandwidth.
    Bandwidth,
    /// Peak of a class.
    Peak(ComputeClass),
}

impl Roof {
    /// All roofs that a device can have.
    pub fn all() -> impl Iterator<Item = Self> {
        core::iter::once(Self::Bandwidth).chain(ComputeClass::ALL.map(Self::Peak))
    }

    /// The key in device files.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth",
            Self::Peak(class) => class.key(),
        }
    }

    const fn bit(self) -> u16 {
        match self {
            Self::Bandwidth => 1,
            Self::Peak(class) => 2 << class.index(),
        }
    }
}

/// A set of roofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoofSet(u16);

impl RoofSet {
    /// No roof.
    pub const NONE: Self = Self(0);

    /// The set with one roof more.
    #[must_use]
    pub const fn with(self, roof: Roof) -> Self {
        Self(self.0 | roof.bit())
    }

    /// Whether a roof is in the set.
    pub const fn has(self, roof: Roof) -> bool {
        self.0 & roof.bit() != 0
    }

    /// Number of roofs in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no roof is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl core::ops::BitAnd for RoofSet {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromIterator<Roof> for RoofSet {
    fn from_iter<I: IntoIterator<Item = Roof>>(roofs: I) -> Self {
        roofs.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A link between two devices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Bandwidth of one direction.
    pub bandwidth: BytesPerSec,
    /// Latency per hop.
    pub latency: Seconds,
    /// Largest number of devices that reach each other at once, by a switch or a full mesh. More of them pass data around a ring.
    pub direct: u64,
    /// Bandwidth of one direction around that ring.
    pub around: BytesPerSec,
}

impl Link {
    /// A link that joins devices in a ring.
    pub const fn ring(bandwidth: BytesPerSec, latency: Seconds) -> Self {
        Self { bandwidth, latency, direct: 1, around: bandwidth }
    }

    /// A link by which all devices reach each other at once.
    pub const fn switched(bandwidth: BytesPerSec, latency: Seconds) -> Self {
        Self { direct: u64::MAX, ..Self::ring(bandwidth, latency) }
    }

    /// Bandwidth between a number of devices, and the hops from each to all others.
    pub const fn among(&self, devices: u64) -> (BytesPerSec, u64) {
        if devices <= self.direct {
            (self.bandwidth, 1)
        } else if self.direct > 1 {
            (self.around, devices - 1)
        } else {
            (self.bandwidth, devices - 1)
        }
    }
}

/// A power mode of a board: its clocks and the units it keeps active.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerMode {
    /// Number in nvpmodel.
    pub id: u32,
    /// Name in nvpmodel.
    pub name: Text,
    /// Power budget of the mode.
    pub watts: Option<Watts>,
    /// Highest GPU clock in the mode.
    pub gpu_clock: Option<Hertz>,
    /// Number of SMs that stay active.
    pub active_sm: Option<u32>,
    /// Highest memory clock in the mode.
    pub memory_clock: Option<Hertz>,
    /// DRAM bandwidth at that memory clock.
    pub bandwidth: Option<BytesPerSec>,
    /// Number of CPU cores that stay active.
    pub cpu_cores: Option<u32>,
    /// Highest CPU clock in the mode.
    pub cpu_clock: Option<Hertz>,
    /// True for the mode the board boots in.
    pub default: bool,
    pub provenance: Provenance,
    /// Source, where it differs from the device's, and remarks.
    pub notes: Text,
}

/// A device as its datasheet describes it. Peaks are dense, with FP32 accumulation for the floats.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Key in requests and in JSON.
    pub key: Text,
    /// Name for display.
    pub name: Text,
    /// Further keys that requests may use.
    pub aliases: List<Text>,
    pub vendor: Text,
    /// Architecture name and chip.
    pub architecture: Text,
    /// CUDA compute capability, or gfx name on AMD.
    pub compute_capability: Option<Text>,
    /// PCIe, SXM5, module, SoC, …
    pub form_factor: Text,
    pub class: DeviceClass,
    pub release_year: Option<u16>,
    /// Installed memory; for socketed memory, the largest supported capacity.
    pub memory: Fact<Bytes>,
    /// Memory technology and bus width.
    pub memory_type: Text,
    /// Determines the share of the memory that a model may use.
    pub memory_platform: MemoryPlatform,
    /// DRAM bandwidth.
    pub bandwidth: Fact<BytesPerSec>,
    pub peaks: Peaks,
    /// FP16 peak with FP16 accumulation; displayed, never used as a roof.
    pub fp16_accumulate_fp16: Option<Fact<FlopsPerSec>>,
    /// FP8 peak with FP16 accumulation; displayed, never used as a roof.
    pub fp8_accumulate_fp16: Option<Fact<FlopsPerSec>>,
    /// Factor by which the vendor's "with sparsity" peaks exceed the dense ones; 1 if it publishes none.
    pub sparse_multiplier: f64,
    /// Number of streaming multiprocessors, compute units or cores.
    pub sm_count: Option<Fact<u32>>,
    /// Highest clock.
    pub boost_clock: Option<Fact<Hertz>>,
    /// Clock at which the tensor peaks are stated, or the highest clock where the row's notes give the peaks another origin.
    pub tensor_clock: Option<Fact<Hertz>>,
    /// Size of the L2 cache.
    pub l2: Option<Fact<Bytes>>,
    pub measured: MeasuredRates,
    /// Shared memory per SM.
    pub shared_memory_per_sm: Option<Fact<Bytes>>,
    /// Number of 32-bit registers per SM.
    pub registers_per_sm: Option<Fact<u32>>,
    /// Thermal design power; `None` if not published.
    pub tdp: Option<Fact<Watts>>,
    /// Description of the links to other devices.
    pub interconnect: Text,
    /// The fastest of these links.
    pub link: Option<Fact<Link>>,
    /// Empty if the device has no power modes.
    pub power_modes: List<PowerMode>,
    /// Source of the facts whose provenance is "read".
    pub source: Text,
    pub notes: Text,
}

impl Device {
    /// True for a device that is a machine of its own, such as a board or the processor of a desktop: several are joined by a
    /// network. Cards share a machine, and so do devices in the sockets of a server.
    pub fn is_machine(&self) -> bool {
        let shares_board = [SOCKET, SERVER_CPU].contains(&&*self.form_factor);
        self.class != DeviceClass::DiscreteGpu && !shares_board
    }

    /// The roofs that were measured on this device.
    pub fn measured_roofs(&self) -> RoofSet {
        let origin = |roof| match roof {
            Roof::Bandwidth => Some(self.bandwidth.provenance),
            Roof::Peak(class) => self.peaks.get(class).map(|fact| fact.provenance),
        };
        Roof::all().filter(|roof| origin(*roof) == Some(Provenance::Measured)).collect()
    }

    /// The measured roofs that something disturbed while they were measured. A roof that the user has changed since is none of them.
    pub fn disturbed_roofs(&self) -> RoofSet {
        self.measured.disturbed & self.measured_roofs()
    }

    /// The key in the catalog of this device, or of the one that it copies.
    pub fn catalog_key(&self) -> &str {
        self.measured.copy_of.unwrap_or(&self.key)
    }

    /// Finds a power mode by name, ignoring case.
    ///
    /// # Errors
    /// [`Error::UnknownKey`], listing the device's modes.
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

#[cfg(test)]
mod tests {
    use crate::catalog;

    #[test]
    fn devices_in_the_sockets_of_a_server_share_a_machine() {
        for (key, is_machine) in [
            ("mi300a", false),
            ("epyc_9654", false),
            ("epyc_7763", false),
            ("xeon_8592plus", false),
            ("rtx_4090", false),
            ("xeon_w9_3495x", true),
            ("ryzen_9_9950x", true),
            ("intel_n100", true),
            ("gb10", true),
            ("apple_m4_pro", true),
        ] {
            assert_eq!(
                catalog::device(key).expect("catalog key").is_machine(),
                is_machine,
                "{key}"
            );
        }
    }
}
