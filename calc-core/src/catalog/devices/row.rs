//! A device from what tells it apart from others of its family. The peaks follow from units, clock and rate per clock, so a
//! row states each fact once.

use super::mhz;
use crate::device::{Device, DeviceClass, Link, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass;
use crate::text::{List, Text, text};
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Watts};

/// A row whose counts, clocks, memory and power were read in its source, and whose peaks are derived.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub key: &'static str,
    pub name: &'static str,
    pub aliases: &'static [Text],
    /// Generation, and the chip in brackets.
    pub chip: &'static str,
    pub year: u16,
    /// Installed memory [GiB].
    pub gib: f64,
    pub memory_type: &'static str,
    /// DRAM bandwidth [GB/s].
    pub gb_s: f64,
    /// SMs, compute units, Xe cores or processor cores.
    pub units: u32,
    /// Highest published clock [MHz].
    pub mhz: f64,
    /// Clock of the matrix units [MHz], where their published rate implies another one.
    pub tensor_mhz: Option<f64>,
    /// Size of the L2 cache [MiB].
    pub l2_mib: Option<f64>,
    /// Thermal design power [W].
    pub watts: Option<f64>,
    pub slot: Connector,
    pub family: &'static DeviceFamily,
    pub notes: &'static str,
}

/// Facts that all devices of an architecture and product line share.
pub(super) struct DeviceFamily {
    pub vendor: &'static str,
    pub capability: Option<&'static str>,
    pub form: &'static str,
    pub class: DeviceClass,
    pub platform: MemoryPlatform,
    /// Dense FLOP per clock and unit; floats with FP32 accumulation.
    pub rates: &'static [(ComputeClass, f64)],
    /// FLOP per clock and unit in FP16 with FP16 accumulation.
    pub fp16_accumulate_fp16: Option<f64>,
    /// FLOP per clock and unit in FP8 with FP16 accumulation.
    pub fp8_accumulate_fp16: Option<f64>,
    pub sparse_multiplier: f64,
    /// Origin of the bandwidth: read, or derived from channels and transfer rate.
    pub bandwidth: Provenance,
    /// Origin of the amount of memory.
    pub memory: Provenance,
    /// Origin of the clock.
    pub clock: Provenance,
    /// Shared memory per SM [KiB]; recalled, as the number of registers.
    pub shared_kib: Option<f64>,
    pub registers: Option<u32>,
    /// Where units, clocks, memory and power were read, and how the peaks follow.
    pub source: &'static str,
    pub notes: &'static str,
}

/// How a card is connected.
#[derive(Clone, Copy)]
pub(super) struct Connector {
    pub text: &'static str,
    pub link: Option<Fact<Link>>,
}

impl Connector {
    /// Nothing is known, or nothing is there: a chip that is soldered beside its memory.
    pub(super) const NONE: Self = Self { text: "", link: None };

    /// A slot whose practical rate nobody assumed.
    pub(super) const fn of(text: &'static str) -> Self {
        Self { text, link: None }
    }
}

impl DeviceFamily {
    /// A row of the family without facts of its own.
    pub(super) const fn row(&'static self) -> Row {
        Row {
            key: "",
            name: "",
            aliases: &[],
            chip: "",
            year: 0,
            gib: 0.0,
            memory_type: "",
            gb_s: 0.0,
            units: 0,
            mhz: 0.0,
            tensor_mhz: None,
            l2_mib: None,
            watts: None,
            slot: Connector::NONE,
            family: self,
            notes: "",
        }
    }
}

impl Row {
    /// The device. Its classes with 32 and 64 bits take the clock, the others that of the matrix units.
    pub(super) const fn device(self) -> Device {
        let Self { family, .. } = self;
        let tensor_mhz = match self.tensor_mhz {
            Some(tensor) => tensor,
            None => self.mhz,
        };
        Device {
            key: text(self.key),
            name: text(self.name),
            aliases: List::Borrowed(self.aliases),
            vendor: text(family.vendor),
            architecture: text(self.chip),
            compute_capability: match family.capability {
                Some(capability) => Some(text(capability)),
                None => None,
            },
            form_factor: text(family.form),
            class: family.class,
            release_year: Some(self.year),
            memory: Fact { value: Bytes::from_gib(self.gib), provenance: family.memory },
            memory_type: text(self.memory_type),
            memory_platform: family.platform,
            bandwidth: Fact {
                value: BytesPerSec::from_gb(self.gb_s),
                provenance: family.bandwidth,
            },
            peaks: peaks(family.rates, self.units, self.mhz, tensor_mhz),
            fp16_accumulate_fp16: accumulated(family.fp16_accumulate_fp16, self.units, tensor_mhz),
            fp8_accumulate_fp16: accumulated(family.fp8_accumulate_fp16, self.units, tensor_mhz),
            sparse_multiplier: family.sparse_multiplier,
            sm_count: Some(Fact::read(self.units)),
            boost_clock: Some(Fact { value: mhz(self.mhz), provenance: family.clock }),
            tensor_clock: Some(match self.tensor_mhz {
                Some(tensor) => Fact::derived(mhz(tensor)),
                None => Fact { value: mhz(self.mhz), provenance: family.clock },
            }),
            l2: match self.l2_mib {
                Some(mib) => Some(Fact::read(Bytes::from_mib(mib))),
                None => None,
            },
            measured: MeasuredRates::UNKNOWN,
            shared_memory_per_sm: match family.shared_kib {
                Some(kib) => Some(Fact::recalled(Bytes::from_kib(kib))),
                None => None,
            },
            registers_per_sm: match family.registers {
                Some(registers) => Some(Fact::recalled(registers)),
                None => None,
            },
            tdp: match self.watts {
                Some(watts) => Some(Fact::read(Watts::new(watts))),
                None => None,
            },
            interconnect: text(self.slot.text),
            link: self.slot.link,
            power_modes: List::Borrowed(&[]),
            source: text(family.source),
            notes: text(if self.notes.is_empty() { family.notes } else { self.notes }),
        }
    }
}

/// Peak of each class: units times clock times rate.
const fn peaks(
    rates: &[(ComputeClass, f64)],
    units: u32,
    clock_mhz: f64,
    tensor_mhz: f64,
) -> Peaks {
    let mut peaks = Peaks::NONE;
    let mut place = 0;
    while place < rates.len() {
        let (class, rate) = rates[place];
        let clock = match class {
            ComputeClass::Fp64 | ComputeClass::Fp32 => clock_mhz,
            _ => tensor_mhz,
        };
        peaks = peaks.with(class, Fact::derived(flops_per_sec(units, clock, rate)));
        place += 1;
    }
    peaks
}

const fn accumulated(rate: Option<f64>, units: u32, mhz: f64) -> Option<Fact<FlopsPerSec>> {
    match rate {
        Some(rate) => Some(Fact::derived(flops_per_sec(units, mhz, rate))),
        None => None,
    }
}

const fn flops_per_sec(units: u32, mhz: f64, rate: f64) -> FlopsPerSec {
    FlopsPerSec::new(units as f64 * mhz * 1e6 * rate)
}
