//! Rates that others measured on catalog devices, and published figures that contradict the datasheet's.
//!
//! One record decides per device which measurement is its ceiling; `check`, the chart and expected times all ask
//! [`shares`], [`bandwidth`] and [`peak`]. Measurements never mix with the facts of a `Device`.

use crate::catalog;
use crate::device::{Device, PowerMode};
use crate::quant_format::ComputeClass;
use crate::quant_format::ComputeClass as C;
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

/// Which consumers may use a measurement, and why.
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
    let key = device.measured.copy_of.unwrap_or(&device.key);
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

/// Published measurements.
pub static MEASURED: [PublishedMeasurement; 37] = [
    PublishedMeasurement {
        device: "jetson_t5000",
        ceiling: Read(BytesPerSec::from_gb(259.7)),
        condition: "4 GB buffers, JetPack R39.2.1, sm_110; copy 236.1 GB/s",
        source: "ApxInf, doc/THOR-ROOFLINE.md (read); row m1719 of calc-core/validation/data/operators.csv",
        usage: Chosen("the only read of DRAM that was published"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        ceiling: Read(BytesPerSec::from_gb(62.26)),
        condition: "15W mode, EMC 2133, GPU 612 MHz, JP7.2.1 (L4T R39.2.1)",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
        usage: Chosen("memory clock as the power mode sets it, on the current JetPack"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        ceiling: Ceiling::Copy(BytesPerSec::from_gb(64.05)),
        condition: "15W mode, EMC 2133, GPU 612 MHz, JP7.2.1 (L4T R39.2.1)",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
        usage: Listed("a copy; decoding reads"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        ceiling: Registers(C::Fp16, FlopsPerSec::from_tera(9.684)),
        condition: "FP16 accumulation, 15W mode, EMC 2133, GPU 612 MHz, JP7.2.1 (L4T R39.2.1); peak 8 SM x 612 MHz x 2048 = 10.03",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
        usage: Listed("operands stay in registers, and no product that reads DRAM gets there"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        ceiling: Registers(C::Fp16, FlopsPerSec::from_tera(9.731)),
        condition: "FP32 accumulation, 15W mode, EMC 2133, GPU 612 MHz, JP7.2.1 (L4T R39.2.1): Orin does NOT halve FP32 accumulate",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
        usage: Listed("operands stay in registers, and no product that reads DRAM gets there"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        ceiling: Registers(C::Int8, FlopsPerSec::from_tera(19.512)),
        condition: "15W mode, EMC 2133, GPU 612 MHz, JP7.2.1 (L4T R39.2.1); peak 20.05",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
        usage: Listed("operands stay in registers, and no product that reads DRAM gets there"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        ceiling: Read(BytesPerSec::from_gb(66.8)),
        condition: "float4 loads, EMC locked at 2133 (L4T R36.4.3), 97.8 % of 68.3",
        source: "public source (read)",
        usage: Listed("needs the memory clock locked, and ran on an older JetPack"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb_super",
        ceiling: Read(BytesPerSec::from_gb(99.2)),
        condition: "float4 loads, MAXN_SUPER, EMC 3199, L4T R36.4.7, 96.9 % of 102.4",
        source: "public source (read)",
        usage: Chosen("the only read of DRAM that was published"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb_super",
        ceiling: Gemm(C::Fp16, FlopsPerSec::from_tera(11.66)),
        condition: "cuBLAS, MAXN_SUPER, EMC 3199, L4T R36.4.7 (70 % of 16.7)",
        source: "public source (read)",
        usage: Chosen("the only library product that was published"),
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb_super",
        ceiling: Gemm(C::Int8, FlopsPerSec::from_tera(15.26)),
        condition: "cuBLAS, MAXN_SUPER, EMC 3199, L4T R36.4.7 (46 % of 33.4)",
        source: "public source (read)",
        usage: Listed(
            "a weakness of one library: the units of this chip reach 97 % on jetson_orin_nano_8gb",
        ),
    },
    PublishedMeasurement {
        device: "jetson_t5000",
        ceiling: Registers(C::Bf16, FlopsPerSec::from_tera(123.1)),
        condition: "mma.sync, mmapeak, driver reports 1049 MHz",
        source: "mmapeak README (read)",
        usage: Listed("instructions of older chips, which do not reach the rate of tcgen05"),
    },
    PublishedMeasurement {
        device: "gb10",
        ceiling: Read(BytesPerSec::from_gb(232.5)),
        condition: "saturating read kernel 231-234",
        source: "antirez/ds4#773 (read)",
        usage: Chosen("a kernel that only reads"),
    },
    PublishedMeasurement {
        device: "gb10",
        ceiling: Read(BytesPerSec::from_gb(240.6)),
        condition: "read rate inside a product, M=8 bf16 linear, 88 % of 273",
        source: "public source (read)",
        usage: Listed(
            "follows from the time of one product, part of whose weights L2 may have held",
        ),
    },
    PublishedMeasurement {
        device: "gb10",
        ceiling: Attention(C::Fp16, FlopsPerSec::from_tera(89.5)),
        condition: "FMHA, cuTile, N_CTX 16384",
        source: "NVIDIA/dgx-spark-playbooks (read)",
        usage: Listed("attention: softmax takes time beside the products"),
    },
    PublishedMeasurement {
        device: "gb10",
        ceiling: Registers(C::Bf16, FlopsPerSec::from_tera(212.9)),
        condition: "register resident",
        source: "NVIDIA forum public source (read)",
        usage: Listed("operands stay in registers, and no product that reads DRAM gets there"),
    },
    PublishedMeasurement {
        device: "gb10",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(92.0)),
        condition: "1745 on B300 / 18.9, the ratio of one library product on both",
        source: "as in the notes of the device",
        usage: Chosen("a library product; attention and operands in registers are other ceilings"),
    },
    PublishedMeasurement {
        device: "gb10",
        ceiling: Gemm(C::Fp4, FlopsPerSec::from_tera(427.0)),
        condition: "dense, at about 2.17 GHz (48 SMs x 4096 FLOP x 2.172 GHz)",
        source: "as in the notes of the device",
        usage: Chosen("the only dense product of 4 bits that was published"),
    },
    PublishedMeasurement {
        device: "a100_80gb_sxm",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(271.2)),
        condition: "mamf-finder",
        source: "stas00/ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "a100_80gb_pcie",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(252.9)),
        condition: "mamf-finder",
        source: "stas00/ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "rtx_4090",
        ceiling: Registers(C::Fp16, FlopsPerSec::from_tera(176.8)),
        condition: "FP32 accumulation, mmapeak; device not named in the README, rates fit an RTX 4090 at ~2.67 GHz",
        source: "mmapeak README public source (read)",
        usage: Listed("above the datasheet: the card ran above the clock of its peak"),
    },
    PublishedMeasurement {
        device: "rtx_4090",
        ceiling: Registers(C::Int4, FlopsPerSec::from_tera(1189.6)),
        condition: "mmapeak; same card as for FP16",
        source: "mmapeak README public source (read)",
        usage: Listed("operands stay in registers, and no product that reads DRAM gets there"),
    },
    PublishedMeasurement {
        device: "rtx_5090",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(178.9)),
        condition: "torch 10240^3",
        source: "zzc0721/torch-performance-test-data#200 (read)",
        usage: Chosen("the only library product that was published"),
    },
    PublishedMeasurement {
        device: "h100_sxm",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(794.5)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "h100_sxm",
        ceiling: Gemm(C::Fp8, FlopsPerSec::from_tera(1402.6)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "h100_pcie",
        ceiling: Read(BytesPerSec::from_gb(1942.0)),
        condition: "gpu-stream",
        source: "te42kyfo/gpu-benches (read)",
        usage: Chosen("the only read of DRAM that was published"),
    },
    PublishedMeasurement {
        device: "h100_nvl",
        ceiling: Registers(C::Fp16, FlopsPerSec::from_tera(978.4)),
        condition: "FP32 accumulation, mmapeak",
        source: "mmapeak README (read)",
        usage: Listed("above the datasheet: the card ran above the clock of its peak"),
    },
    PublishedMeasurement {
        device: "gh200_144gb",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(828.6)),
        condition: "900 W 141GiB",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "b200",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(1745.0)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "b200",
        ceiling: Gemm(C::Fp8, FlopsPerSec::from_tera(3432.5)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "gb200",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(1822.0)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "b300",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(1769.0)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "mi300x",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(668.4)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "mi325x",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(784.9)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "mi355x",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(1565.0)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "strix_halo",
        ceiling: Read(BytesPerSec::from_gb(215.0)),
        condition: "84 % of 256",
        source: "softab (read)",
        usage: Chosen("the only read of DRAM that was published"),
    },
    PublishedMeasurement {
        device: "gaudi2",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(418.7)),
        condition: "mamf-finder (96.9 %)",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
    PublishedMeasurement {
        device: "gaudi3",
        ceiling: Gemm(C::Bf16, FlopsPerSec::from_tera(1243.0)),
        condition: "mamf-finder",
        source: "ml-engineering (read)",
        usage: Chosen("the fastest of many shapes of a library product"),
    },
];

/// Figures that contradict the catalog's.
pub static OTHER_FIGURES: [OtherFigure; 14] = [
    OtherFigure {
        device: "gb10",
        figure: Figure::Peak(C::Fp16, FlopsPerSec::from_tera(125.0)),
        by: "spec_ratio_125",
    },
    OtherFigure {
        device: "gb10",
        figure: Figure::Peak(C::Fp16, FlopsPerSec::from_tera(62.5)),
        by: "geforce_ratio",
    },
    OtherFigure {
        device: "t4",
        figure: Figure::Bandwidth(BytesPerSec::from_gb(300.0)),
        by: "datasheet_2019",
    },
    OtherFigure {
        device: "b200",
        figure: Figure::Bandwidth(BytesPerSec::from_gb(7700.0)),
        by: "aiconfigurator",
    },
    OtherFigure {
        device: "b200",
        figure: Figure::Memory(Bytes::from_gb(192.0)),
        by: "physical_gb",
    },
    OtherFigure {
        device: "b200",
        figure: Figure::Peak(C::Fp32, FlopsPerSec::from_tera(80.0)),
        by: "other",
    },
    OtherFigure {
        device: "b200",
        figure: Figure::Peak(C::Fp64, FlopsPerSec::from_tera(40.0)),
        by: "other",
    },
    OtherFigure {
        device: "b300",
        figure: Figure::Peak(C::Int8, FlopsPerSec::from_tera(4500.0)),
        by: "other",
    },
    OtherFigure {
        device: "b300",
        figure: Figure::Peak(C::Fp4, FlopsPerSec::from_tera(12_600.0)),
        by: "other",
    },
    OtherFigure {
        device: "b300",
        figure: Figure::Peak(C::Fp4, FlopsPerSec::from_tera(13_125.0)),
        by: "other",
    },
    OtherFigure {
        device: "b300",
        figure: Figure::Peak(C::Fp4, FlopsPerSec::from_tera(13_500.0)),
        by: "other",
    },
    OtherFigure {
        device: "b300",
        figure: Figure::Peak(C::Fp4, FlopsPerSec::from_tera(15_000.0)),
        by: "other",
    },
    OtherFigure { device: "b300", figure: Figure::SmCount(132), by: "other" },
    OtherFigure { device: "b300", figure: Figure::SmCount(160), by: "other" },
];
