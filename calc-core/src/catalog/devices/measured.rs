//! Rates that others measured on catalog devices, and published figures that contradict the datasheet's.
//!
//! One record decides per device which measurement is its ceiling; `check`, the chart and expected times all ask
//! [`shares`], [`bandwidth`] and [`peak`]. Measurements never mix with the facts of a `Device`.

mod rows;

pub use rows::{MEASURED, OTHER_FIGURES};

use crate::catalog;
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

    /// The datasheet's figure for the same, in GB/s or TFLOP/s; `None` where the device has no such peak.
    fn datasheet(self, device: &Device) -> Option<f64> {
        match self.class() {
            None => Some(device.bandwidth.value.get() / GIGA),
            Some(class) => Some(device.peaks.get(class)?.value.get() / TERA),
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
    let Some(original) = original(device) else { return found };
    for ceiling in chosen(original) {
        let datasheet = ceiling.datasheet(original);
        let share = datasheet.map(|datasheet| ceiling.published() / datasheet);
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
    let original = original(device).filter(|_| mode.is_none())?;
    let is_same = original.bandwidth.value == device.bandwidth.value;
    chosen(original).filter(|_| is_same).find_map(|ceiling| match ceiling {
        Read(rate) => Some(rate),
        Ceiling::Copy(_) | Gemm(..) | Registers(..) | Attention(..) => None,
    })
}

/// The measured rate of a large product in a class, under the same conditions as [`bandwidth`].
///
/// FP16 and BF16 stand for each other where their peaks are equal, because they run on the same units.
pub fn peak(device: &Device, mode: Option<&PowerMode>, class: ComputeClass) -> Option<FlopsPerSec> {
    let original = original(device).filter(|_| mode.is_none())?;
    let value = |device: &Device, class| device.peaks.get(class).map(|peak| peak.value);
    let own = value(device, class)?;
    let stands_for = |measured: ComputeClass| {
        let alike = measured == class || (is_half(measured) && is_half(class));
        alike && value(original, measured) == Some(own)
    };
    chosen(original).find_map(|ceiling| match ceiling {
        Gemm(measured, rate) if stands_for(measured) => Some(rate),
        Read(_) | Ceiling::Copy(_) | Gemm(..) | Registers(..) | Attention(..) => None,
    })
}

const fn is_half(class: ComputeClass) -> bool {
    matches!(class, ComputeClass::Fp16 | ComputeClass::Bf16)
}

/// The catalog device whose measurements count for a device.
fn original(device: &Device) -> Option<&'static Device> {
    let key = device.catalog_key();
    catalog::devices::all().find(|known| known.key == key)
}

/// Measurements of a device, in the order of the table.
pub fn measurements(key: &str) -> impl Iterator<Item = &'static PublishedMeasurement> {
    MEASURED.iter().filter(move |row| row.device == key)
}

/// The ceilings of a device.
fn chosen(device: &Device) -> impl Iterator<Item = Ceiling> {
    CEILINGS.iter().filter(move |(key, _)| *key == device.key).map(|(_, ceiling)| *ceiling)
}

/// The chosen rows of [`MEASURED`] without their texts, taken at compile time: the page computes with ceilings and links no
/// source or condition.
static CEILINGS: [(&str, Ceiling); chosen_count()] = chosen_rows();

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

const fn chosen_rows<const COUNT: usize>() -> [(&'static str, Ceiling); COUNT] {
    let mut rows = [("", Read(BytesPerSec::from_gb(0.0))); COUNT];
    let (mut row, mut count) = (0, 0);
    while row < MEASURED.len() {
        let PublishedMeasurement { device, ceiling, usage, .. } = MEASURED[row];
        if matches!(usage, Chosen(_)) {
            rows[count] = (device, ceiling);
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
    /// The figure.
    pub figure: Figure,
    /// Who states it, or the rule that it follows from.
    pub by: &'static str,
}

/// Figures of one device that contradict the catalog's.
pub fn other_figures(key: &str) -> impl Iterator<Item = &'static OtherFigure> {
    OTHER_FIGURES.iter().filter(move |row| row.device == key)
}
