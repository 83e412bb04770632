//! Rates that others measured on catalog devices, and published figures that contradict the datasheet's.
//!
//! One record decides per device which measurement is its ceiling; `check`, the chart and expected times all ask
//! [`shares`], [`bandwidth`] and [`peak`]. Measurements never mix with the facts of a `Device`.

mod rows;

pub use rows::{MEASURED, OTHER_FIGURES};

use crate::device::{Device, PowerMode};
use crate::quant_format::ComputeClass;
use crate::units::{Bytes, BytesPerSec, FlopsPerSec};

use Ceiling::{Attention, Gemm, Read, Registers};
use Use::{Chosen, Listed};

/// A ceiling of a device, with the rate that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ceiling {
    /// Reading DRAM.
    Read(BytesPerSec),
    /// Copying in DRAM; reads and writes both count.
    Copy(BytesPerSec),
    /// A large dense matrix product whose operands come from DRAM.
    Gemm(ComputeClass, FlopsPerSec),
    /// Matrix instructions on operands that stay in registers: the units alone, without memory or a library.
    Registers(ComputeClass, FlopsPerSec),
    /// Fused attention.
    Attention(ComputeClass, FlopsPerSec),
}

impl Ceiling {
    /// Key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Read(_) => "read_bandwidth",
            Ceiling::Copy(_) => "copy_bandwidth",
            Gemm(..) => "dense_gemm",
            Registers(..) => "register_resident",
            Attention(..) => "attention",
        }
    }

    /// Class of the operands; `None` for a bandwidth.
    pub const fn class(self) -> Option<ComputeClass> {
        match self {
            Read(_) | Ceiling::Copy(_) => None,
            Gemm(class, _) | Registers(class, _) | Attention(class, _) => Some(class),
        }
    }

    /// The datasheet's figure for the same [B/s or FLOP/s]; `None` where the device has no such peak.
    const fn datasheet(self, device: &Device) -> Option<f64> {
        match self.class() {
            None => Some(device.bandwidth.value.get()),
            Some(class) => match device.peaks.get(class) {
                Some(peak) => Some(peak.value.get()),
                None => None,
            },
        }
    }

    /// The unit of published figures.
    const fn unit(self) -> f64 {
        match self.class() {
            None => GIGA,
            Some(_) => TERA,
        }
    }

    /// The rate in GB/s or TFLOP/s, as it was published.
    pub fn published(self) -> f64 {
        match self {
            Read(rate) | Ceiling::Copy(rate) => rate.get() / GIGA,
            Gemm(_, rate) | Registers(_, rate) | Attention(_, rate) => rate.get() / TERA,
        }
    }
}

const GIGA: f64 = 1e9;
const TERA: f64 = 1e12;

/// The consumers that may use a measurement, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// `check`, the chart and expected times take it as the ceiling of the device.
    Chosen(&'static str),
    /// It is shown with the device and used nowhere else.
    Listed(&'static str),
}

impl Use {
    /// Key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Chosen(_) => "ceiling",
            Listed(_) => "listed",
        }
    }

    /// Reason for the choice.
    pub const fn reason(self) -> &'static str {
        match self {
            Chosen(reason) | Listed(reason) => reason,
        }
    }
}

/// A published measurement of a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedMeasurement {
    /// Key of the device.
    pub device: &'static str,
    /// Kind of ceiling and measured rate.
    pub ceiling: Ceiling,
    /// Program and conditions as published.
    pub condition: &'static str,
    /// Who published it.
    pub source: &'static str,
    /// Who may use it.
    pub usage: Use,
}

/// Measured shares of the datasheet's figures; `None` where nobody measured one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeasuredShares {
    /// Read bandwidth.
    pub read: Option<f64>,
    /// Matrix products of 16 bits.
    pub half: Option<f64>,
    /// Matrix products of 8 bits.
    pub eight: Option<f64>,
    /// Matrix products of 4 bits.
    pub four: Option<f64>,
}

/// The ceilings of a device as shares of its datasheet. A copy of a catalog device has those of the original.
pub fn shares(device: &Device) -> MeasuredShares {
    let mut found = MeasuredShares::default();
    for ChosenCeiling { ceiling, datasheet, .. } in chosen(device) {
        let share = datasheet.map(|datasheet| ceiling.published() / (datasheet / ceiling.unit()));
        match ceiling {
            Read(_) => found.read = share,
            Gemm(class, _) => match class.width() {
                0..=4 => found.four = share,
                5..=8 => found.eight = share,
                _ => found.half = share,
            },
            Ceiling::Copy(_) | Registers(..) | Attention(..) => {}
        }
    }
    found
}

/// The measured read bandwidth of a device; `None` where nobody measured it, in a power mode, and on a copy whose bandwidth
/// was changed.
pub fn bandwidth(device: &Device, mode: Option<&PowerMode>) -> Option<BytesPerSec> {
    let own = Some(device.bandwidth.value.get());
    let mut chosen = chosen(device).filter(|row| mode.is_none() && row.datasheet == own);
    chosen.find_map(|row| match row.ceiling {
        Read(rate) => Some(rate),
        Ceiling::Copy(_) | Gemm(..) | Registers(..) | Attention(..) => None,
    })
}

/// The measured rate of a large product in a class, under the same conditions as [`bandwidth`].
///
/// FP16 and BF16 stand for each other where their peaks are equal, because they run on the same units.
pub fn peak(device: &Device, mode: Option<&PowerMode>, class: ComputeClass) -> Option<FlopsPerSec> {
    let own = Some(device.peaks.get(class)?.value.get());
    let alike = |measured: ComputeClass| measured == class || (is_half(measured) && is_half(class));
    let mut chosen = chosen(device).filter(|row| mode.is_none() && row.datasheet == own);
    chosen.find_map(|row| match row.ceiling {
        Gemm(measured, rate) if alike(measured) => Some(rate),
        Read(_) | Ceiling::Copy(_) | Gemm(..) | Registers(..) | Attention(..) => None,
    })
}

const fn is_half(class: ComputeClass) -> bool {
    matches!(class, ComputeClass::Fp16 | ComputeClass::Bf16)
}

/// Measurements of a device, in the order of the table.
pub fn measurements(key: &str) -> impl Iterator<Item = &'static PublishedMeasurement> {
    MEASURED.iter().filter(move |row| row.device == key)
}

/// A chosen row of [`MEASURED`] without its texts, beside the datasheet's figure.
#[derive(Clone, Copy)]
struct ChosenCeiling {
    device: &'static str,
    ceiling: Ceiling,
    /// The figure of the catalog device [B/s or FLOP/s], if it has one.
    datasheet: Option<f64>,
}

/// The ceilings of a device, or of the one that it copies.
fn chosen(device: &Device) -> impl Iterator<Item = &'static ChosenCeiling> {
    CEILINGS.iter().filter(move |row| row.device == device.catalog_key())
}

/// The chosen rows, taken at compile time: the page computes with ceilings and links no source, no condition, and no other
/// device than those it shows.
static CEILINGS: [ChosenCeiling; chosen_count()] = chosen_rows();

const fn chosen_count() -> usize {
    let (mut row, mut count) = (0, 0);
    while row < MEASURED.len() {
        if matches!(MEASURED[row].usage, Chosen(_)) {
            count += 1;
        }
        row += 1;
    }
    count
}

const fn chosen_rows<const COUNT: usize>() -> [ChosenCeiling; COUNT] {
    let none =
        ChosenCeiling { device: "", ceiling: Read(BytesPerSec::from_gb(0.0)), datasheet: None };
    let mut rows = [none; COUNT];
    let (mut row, mut count) = (0, 0);
    while row < MEASURED.len() {
        let PublishedMeasurement { device, ceiling, usage, .. } = MEASURED[row];
        if matches!(usage, Chosen(_)) {
            let datasheet = match super::of_key(device) {
                Some(device) => ceiling.datasheet(device),
                None => None,
            };
            rows[count] = ChosenCeiling { device, ceiling, datasheet };
            count += 1;
        }
        row += 1;
    }
    rows
}

/// A figure of a datasheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// DRAM bandwidth.
    Bandwidth(BytesPerSec),
    /// Installed memory.
    Memory(Bytes),
    /// Dense peak of a class.
    Peak(ComputeClass, FlopsPerSec),
    /// Number of SMs.
    SmCount(u32),
}

impl Figure {
    /// Key of the figure.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Bandwidth(_) => "bandwidth",
            Self::Memory(_) => "memory",
            Self::Peak(class, _) => class.key(),
            Self::SmCount(_) => "sm_count",
        }
    }

    /// The figure in GB/s, GB or TFLOP/s, or the count.
    pub fn published(self) -> f64 {
        match self {
            Self::Bandwidth(rate) => rate.get() / GIGA,
            Self::Memory(bytes) => bytes.get() / GIGA,
            Self::Peak(_, rate) => rate.get() / TERA,
            Self::SmCount(count) => f64::from(count),
        }
    }
}

/// A published figure that contradicts the one in the catalog.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherFigure {
    /// Key of the device.
    pub device: &'static str,
    pub figure: Figure,
    /// Who states it, or the rule that it follows from.
    pub by: &'static str,
}

/// Figures of one device that contradict the catalog's.
pub fn other_figures(key: &str) -> impl Iterator<Item = &'static OtherFigure> {
    OTHER_FIGURES.iter().filter(move |row| row.device == key)
}
