//! What others measured on catalog devices, and figures that differ from the datasheet. Never mixed with the facts.

use crate::device::Device;
use crate::quant_format::ComputeClass;
use crate::units::{BytesPerSec, FlopsPerSec};

/// A published measurement of a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedMeasurement {
    /// Key of the device.
    pub device: &'static str,
    /// What was measured.
    pub what: &'static str,
    /// Value.
    pub value: f64,
    /// Unit as published: GB/s, TFLOPS, TOPS.
    pub unit: &'static str,
    /// Conditions as published.
    pub condition: &'static str,
    /// Who published it.
    pub source: &'static str,
}

/// A figure that contradicts the one in the catalog.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternate {
    /// Key of the device.
    pub device: &'static str,
    /// Which figure, and by whom.
    pub what: &'static str,
    /// Value in the unit of the catalog figure (TFLOPS, GB/s, GB, count).
    pub value: f64,
}

/// The highest bandwidth that somebody published of a device. A rate above the datasheet's is about another clock or another
/// chip, and does not count here.
pub fn highest_bandwidth(device: &Device) -> Option<BytesPerSec> {
    let datasheet = device.bandwidth.value.get() / 1e9;
    highest(device, datasheet, |row| row.unit == "GB/s").map(BytesPerSec::from_gb)
}

/// The highest rate that somebody published of a peak, likewise.
pub fn highest_peak(device: &Device, class: ComputeClass) -> Option<FlopsPerSec> {
    let datasheet = device.peaks.get(class)?.value.get() / 1e12;
    highest(device, datasheet, |row| is_peak_of(row, class)).map(FlopsPerSec::from_tera)
}

fn highest(
    device: &Device,
    datasheet: f64,
    is_about: impl Fn(&PublishedMeasurement) -> bool,
) -> Option<f64> {
    let rows = MEASURED.iter().filter(|row| row.device == device.key && row.value <= datasheet);
    rows.filter(|row| is_about(row)).map(|row| row.value).reduce(f64::max)
}

/// The table says in words what was measured; a class is named by one of them.
fn is_peak_of(row: &PublishedMeasurement, class: ComputeClass) -> bool {
    matches!(row.unit, "TFLOPS" | "TOPS")
        && row.what.split_whitespace().any(|word| word.eq_ignore_ascii_case(class.key()))
}

/// Published measurements.
pub static MEASURED: [PublishedMeasurement; 35] = [
    PublishedMeasurement {
        device: "jetson_t5000",
        what: "DRAM read",
        value: 259.7,
        unit: "GB/s",
        condition: "4 GB buffers, JetPack R39.2.1, sm_110; copy 236.1 GB/s",
        source: "ApxInf, doc/THOR-ROOFLINE.md (read); row m1719 of calc-core/validation/data/operators.csv",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        what: "DRAM read",
        value: 62.26,
        unit: "GB/s",
        condition: "15W mode, EMC 2133, GPU 612 MHz, JP7.2.1 (L4T R39.2.1)",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        what: "DRAM copy",
        value: 64.05,
        unit: "GB/s",
        condition: "same",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        what: "matrix FP16 (FP16 acc)",
        value: 9.684,
        unit: "TFLOPS",
        condition: "same; peak 8 SM x 612 MHz x 2048 = 10.03",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        what: "matrix FP16 (FP32 acc)",
        value: 9.731,
        unit: "TFLOPS",
        condition: "same: Orin does NOT halve FP32 accumulate",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        what: "matrix INT8",
        value: 19.512,
        unit: "TOPS",
        condition: "same; peak 20.05",
        source: "ExecuTorch-Vulkan roofline study 2026-10-09 (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb",
        what: "read float4",
        value: 66.8,
        unit: "GB/s",
        condition: "EMC locked at 2133 (L4T R36.4.3), 97.8 % of 68.3",
        source: "public source (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb_super",
        what: "read float4",
        value: 99.2,
        unit: "GB/s",
        condition: "MAXN_SUPER, EMC 3199, L4T R36.4.7, 96.9 % of 102.4",
        source: "public source (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb_super",
        what: "cuBLAS FP16",
        value: 11.66,
        unit: "TFLOPS",
        condition: "same (70 % of 16.7)",
        source: "public source (read)",
    },
    PublishedMeasurement {
        device: "jetson_orin_nano_8gb_super",
        what: "cuBLAS INT8",
        value: 15.26,
        unit: "TOPS",
        condition: "same (46 % of 33.4)",
        source: "public source (read)",
    },
    PublishedMeasurement {
        device: "jetson_t5000",
        what: "mma.sync BF16",
        value: 123.1,
        unit: "TFLOPS",
        condition: "mmapeak, driver reports 1049 MHz",
        source: "mmapeak README (read)",
    },
    PublishedMeasurement {
        device: "gb10",
        what: "DRAM read",
        value: 232.5,
        unit: "GB/s",
        condition: "saturating read kernel 231-234",
        source: "antirez/ds4#773 (read)",
    },
    PublishedMeasurement {
        device: "gb10",
        what: "DRAM read in GEMM",
        value: 240.6,
        unit: "GB/s",
        condition: "M=8 bf16 linear, 88 % of 273",
        source: "public source (read)",
    },
    PublishedMeasurement {
        device: "gb10",
        what: "FMHA FP16",
        value: 89.5,
        unit: "TFLOPS",
        condition: "cuTile, N_CTX 16384",
        source: "NVIDIA/dgx-spark-playbooks (read)",
    },
    PublishedMeasurement {
        device: "gb10",
        what: "mma BF16",
        value: 212.9,
        unit: "TFLOPS",
        condition: "register resident",
        source: "NVIDIA forum public source (read)",
    },
    PublishedMeasurement {
        device: "a100_80gb_sxm",
        what: "BF16 matmul (MAMF)",
        value: 271.2,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "stas00/ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "a100_80gb_pcie",
        what: "BF16 matmul (MAMF)",
        value: 252.9,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "stas00/ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "rtx_4090",
        what: "mma FP16 (FP32 acc)",
        value: 176.8,
        unit: "TFLOPS",
        condition: "mmapeak; device not named in the README, rates fit an RTX 4090 at ~2.67 GHz",
        source: "mmapeak README public source (read)",
    },
    PublishedMeasurement {
        device: "rtx_4090",
        what: "mma INT4",
        value: 1189.6,
        unit: "TOPS",
        condition: "same card",
        source: "mmapeak README public source (read)",
    },
    PublishedMeasurement {
        device: "rtx_5090",
        what: "BF16 matmul",
        value: 178.9,
        unit: "TFLOPS",
        condition: "torch 10240^3",
        source: "zzc0721/torch-performance-test-data#200 (read)",
    },
    PublishedMeasurement {
        device: "h100_sxm",
        what: "BF16 matmul (MAMF)",
        value: 794.5,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "h100_sxm",
        what: "FP8 matmul (MAMF)",
        value: 1402.6,
        unit: "TFLOPS",
        condition: "same",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "h100_pcie",
        what: "stream read",
        value: 1942.0,
        unit: "GB/s",
        condition: "gpu-stream",
        source: "te42kyfo/gpu-benches (read)",
    },
    PublishedMeasurement {
        device: "h100_nvl",
        what: "mma FP16 (FP32 acc)",
        value: 978.4,
        unit: "TFLOPS",
        condition: "mmapeak",
        source: "mmapeak README (read)",
    },
    PublishedMeasurement {
        device: "gh200_144gb",
        what: "BF16 matmul (MAMF)",
        value: 828.6,
        unit: "TFLOPS",
        condition: "900 W 141GiB",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "b200",
        what: "BF16 matmul (MAMF)",
        value: 1745.0,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "b200",
        what: "FP8 matmul (MAMF)",
        value: 3432.5,
        unit: "TFLOPS",
        condition: "same",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "gb200",
        what: "BF16 matmul (MAMF)",
        value: 1822.0,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "b300",
        what: "BF16 matmul (MAMF)",
        value: 1769.0,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "mi300x",
        what: "BF16 matmul (MAMF)",
        value: 668.4,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "mi325x",
        what: "BF16 matmul (MAMF)",
        value: 784.9,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "mi355x",
        what: "BF16 matmul (MAMF)",
        value: 1565.0,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "strix_halo",
        what: "DRAM read",
        value: 215.0,
        unit: "GB/s",
        condition: "84 % of 256",
        source: "softab (read)",
    },
    PublishedMeasurement {
        device: "gaudi2",
        what: "BF16 matmul (MAMF)",
        value: 418.7,
        unit: "TFLOPS",
        condition: "mamf-finder (96.9 %)",
        source: "ml-engineering (read)",
    },
    PublishedMeasurement {
        device: "gaudi3",
        what: "BF16 matmul (MAMF)",
        value: 1243.0,
        unit: "TFLOPS",
        condition: "mamf-finder",
        source: "ml-engineering (read)",
    },
];

/// Figures that differ.
pub static ALTERNATES: [Alternate; 16] = [
    Alternate { device: "gb10", what: "fp16_library_gemm", value: 92.0 },
    Alternate { device: "gb10", what: "fp16_spec_ratio_125", value: 125.0 },
    Alternate { device: "gb10", what: "fp16_geforce_ratio", value: 62.5 },
    Alternate { device: "gb10", what: "fp4_measured_dense", value: 427.0 },
    Alternate { device: "t4", what: "bandwidth_datasheet_2019", value: 300.0 },
    Alternate { device: "b200", what: "bandwidth_aiconfigurator", value: 7700.0 },
    Alternate { device: "b200", what: "memory_physical_gb", value: 192.0 },
    Alternate { device: "b200", what: "fp32_other", value: 80.0 },
    Alternate { device: "b200", what: "fp64_other", value: 40.0 },
    Alternate { device: "b300", what: "int8_other", value: 4500.0 },
    Alternate { device: "b300", what: "fp4_other", value: 12_600.0 },
    Alternate { device: "b300", what: "fp4_other", value: 13_125.0 },
    Alternate { device: "b300", what: "fp4_other", value: 13_500.0 },
    Alternate { device: "b300", what: "fp4_other", value: 15_000.0 },
    Alternate { device: "b300", what: "sm_count_other", value: 132.0 },
    Alternate { device: "b300", what: "sm_count_other", value: 160.0 },
];
