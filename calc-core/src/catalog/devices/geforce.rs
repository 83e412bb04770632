//! NVIDIA GeForce cards.
//!
//! Long, and one file all the same: rows of one table, which change for one reason, a better source.

use super::nvidia_family::{
    GEFORCE_ADA, GEFORCE_AMPERE, GEFORCE_BLACKWELL, GEFORCE_TURING, PCIE_3_X16, PCIE_4_X8,
    PCIE_4_X16, PCIE_5_X8, PCIE_5_X16,
};
use super::row::Row;
use super::{both_directions, mhz, pcie, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::Fact;
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

pub(super) static DEVICES: [Device; 37] = [
    Row {
        key: "rtx_2060",
        name: "GeForce RTX 2060 6GB",
        aliases: const { &[text("rtx_2060_6gb")] },
        chip: "Turing (TU106)",
        year: 2019,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 336.0,
        units: 30,
        mhz: 1680.0,
        l2_mib: Some(3.0),
        watts: Some(160.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_2060_super",
        name: "GeForce RTX 2060 SUPER",
        chip: "Turing (TU106)",
        year: 2019,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 34,
        mhz: 1650.0,
        l2_mib: Some(4.0),
        watts: Some(175.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_2070",
        name: "GeForce RTX 2070",
        chip: "Turing (TU106)",
        year: 2018,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 36,
        mhz: 1620.0,
        l2_mib: Some(4.0),
        watts: Some(175.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_2070_super",
        name: "GeForce RTX 2070 SUPER",
        chip: "Turing (TU104)",
        year: 2019,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 40,
        mhz: 1770.0,
        l2_mib: Some(4.0),
        watts: Some(215.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_2080",
        name: "GeForce RTX 2080",
        chip: "Turing (TU104)",
        year: 2018,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 46,
        mhz: 1710.0,
        l2_mib: Some(4.0),
        watts: Some(215.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_2080_super",
        name: "GeForce RTX 2080 SUPER",
        chip: "Turing (TU104)",
        year: 2019,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 496.0,
        units: 48,
        mhz: 1815.0,
        l2_mib: Some(4.0),
        watts: Some(250.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_2080_ti",
        name: "GeForce RTX 2080 Ti",
        chip: "Turing (TU102)",
        year: 2018,
        gib: 11.0,
        memory_type: "GDDR6",
        gb_s: 616.0,
        units: 68,
        mhz: 1545.0,
        l2_mib: Some(5.5),
        watts: Some(250.0),
        slot: PCIE_3_X16,
        ..GEFORCE_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_3050_6gb",
        name: "GeForce RTX 3050 6GB",
        chip: "Ampere (GA107)",
        year: 2024,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 168.0,
        units: 18,
        mhz: 1470.0,
        l2_mib: Some(2.0),
        watts: Some(70.0),
        slot: PCIE_4_X8,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3050_8gb",
        name: "GeForce RTX 3050 8GB",
        chip: "Ampere (GA106)",
        year: 2022,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 224.0,
        units: 20,
        mhz: 1777.0,
        l2_mib: Some(2.0),
        watts: Some(130.0),
        slot: PCIE_4_X8,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Device {
        key: text("rtx_3060_12gb"),
        name: text("GeForce RTX 3060 12GB"),
        aliases: List::Borrowed(const { &[text("rtx_3060")] }),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA106)"),
        compute_capability: Some(text("8.6")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_gib(12.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(360.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(12.7)))
            .with(C::Tf32, Fact::recalled(tera(12.7)))
            .with(C::Fp16, Fact::derived(tera(25.5)))
            .with(C::Bf16, Fact::derived(tera(25.5)))
            .with(C::Int8, Fact::derived(tera(101.9)))
            .with(C::Int4, Fact::recalled(tera(203.8))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(51.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(28)),
        boost_clock: Some(Fact::recalled(mhz(1777.0))),
        tensor_clock: Some(Fact::recalled(mhz(1777.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(3.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(170.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("SMs x clock x FLOP per clock; SMs and clock from memory, not opened"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline",
        ),
    },
    Row {
        key: "rtx_3060_ti",
        name: "GeForce RTX 3060 Ti",
        chip: "Ampere (GA104)",
        year: 2020,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 38,
        mhz: 1665.0,
        l2_mib: Some(4.0),
        watts: Some(200.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3070",
        name: "GeForce RTX 3070",
        chip: "Ampere (GA104)",
        year: 2020,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 46,
        mhz: 1725.0,
        l2_mib: Some(4.0),
        watts: Some(220.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3070_ti",
        name: "GeForce RTX 3070 Ti",
        chip: "Ampere (GA104)",
        year: 2021,
        gib: 8.0,
        memory_type: "GDDR6X",
        gb_s: 608.0,
        units: 48,
        mhz: 1770.0,
        l2_mib: Some(4.0),
        watts: Some(290.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3080_10gb",
        name: "GeForce RTX 3080 10GB",
        chip: "Ampere (GA102)",
        year: 2020,
        gib: 10.0,
        memory_type: "GDDR6X",
        gb_s: 760.0,
        units: 68,
        mhz: 1710.0,
        l2_mib: Some(5.0),
        watts: Some(320.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3080_12gb",
        name: "GeForce RTX 3080 12GB",
        chip: "Ampere (GA102)",
        year: 2022,
        gib: 12.0,
        memory_type: "GDDR6X",
        gb_s: 912.0,
        units: 70,
        mhz: 1710.0,
        l2_mib: Some(6.0),
        watts: Some(350.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3080_ti",
        name: "GeForce RTX 3080 Ti",
        chip: "Ampere (GA102)",
        year: 2021,
        gib: 12.0,
        memory_type: "GDDR6X",
        gb_s: 912.0,
        units: 80,
        mhz: 1665.0,
        l2_mib: Some(6.0),
        watts: Some(350.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Device {
        key: text("rtx_3090"),
        name: text("GeForce RTX 3090"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA102)"),
        compute_capability: Some(text("8.6")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2020),
        memory: Fact::recalled(Bytes::from_gib(24.0)),
        memory_type: text("GDDR6X"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(936.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(35.6)))
            .with(C::Tf32, Fact::recalled(tera(35.6)))
            .with(C::Fp16, Fact::read(tera(71.0)))
            .with(C::Bf16, Fact::read(tera(71.0)))
            .with(C::Int8, Fact::read(tera(284.0)))
            .with(C::Int4, Fact::recalled(tera(568.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(142.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(82)),
        boost_clock: Some(Fact::recalled(mhz(1695.0))),
        tensor_clock: Some(Fact::recalled(mhz(1695.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(350.0))),
        interconnect: text("PCIe 4.0 x16, NVLink 112.5 GB/s"),
        link: Some(both_directions(112.5)),
        power_modes: List::Borrowed(&[]),
        source: text("GA102 whitepaper values as quoted"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline",
        ),
    },
    Row {
        key: "rtx_3090_ti",
        name: "GeForce RTX 3090 Ti",
        chip: "Ampere (GA102)",
        year: 2022,
        gib: 24.0,
        memory_type: "GDDR6X",
        gb_s: 1008.0,
        units: 84,
        mhz: 1860.0,
        l2_mib: Some(6.0),
        watts: Some(450.0),
        slot: PCIE_4_X16,
        ..GEFORCE_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_4060",
        name: "GeForce RTX 4060",
        chip: "Ada (AD107)",
        year: 2023,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 272.0,
        units: 24,
        mhz: 2460.0,
        l2_mib: Some(24.0),
        watts: Some(115.0),
        slot: PCIE_4_X8,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4060_ti_8gb",
        name: "GeForce RTX 4060 Ti 8GB",
        chip: "Ada (AD106)",
        year: 2023,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 288.0,
        units: 34,
        mhz: 2535.0,
        l2_mib: Some(32.0),
        watts: Some(160.0),
        slot: PCIE_4_X8,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Device {
        key: text("rtx_4060_ti_16gb"),
        name: text("GeForce RTX 4060 Ti 16GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ada (AD106)"),
        compute_capability: Some(text("8.9")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(16.0)),
        memory_type: text("GDDR6 128-bit"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(288.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(22.1)))
            .with(C::Tf32, Fact::recalled(tera(22.1)))
            .with(C::Fp16, Fact::derived(tera(44.1)))
            .with(C::Bf16, Fact::derived(tera(44.1)))
            .with(C::Fp8, Fact::derived(tera(88.3)))
            .with(C::Int8, Fact::derived(tera(176.5)))
            .with(C::Int4, Fact::recalled(tera(353.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(88.3))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(176.5))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(34)),
        boost_clock: Some(Fact::recalled(mhz(2535.0))),
        tensor_clock: Some(Fact::recalled(mhz(2535.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(32.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(165.0))),
        interconnect: text("PCIe 4.0 x8"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("SMs x clock x FLOP per clock; SMs and clock from memory, not opened"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline",
        ),
    },
    Device {
        key: text("rtx_4070"),
        name: text("GeForce RTX 4070"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ada (AD104)"),
        compute_capability: Some(text("8.9")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(12.0)),
        memory_type: text("GDDR6X"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(504.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(29.1)))
            .with(C::Tf32, Fact::recalled(tera(29.1)))
            .with(C::Fp16, Fact::derived(tera(58.3)))
            .with(C::Bf16, Fact::derived(tera(58.3)))
            .with(C::Fp8, Fact::derived(tera(116.6)))
            .with(C::Int8, Fact::derived(tera(233.2)))
            .with(C::Int4, Fact::recalled(tera(466.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(116.6))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(233.2))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(46)),
        boost_clock: Some(Fact::recalled(mhz(2475.0))),
        tensor_clock: Some(Fact::recalled(mhz(2475.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(36.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(200.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("SMs x clock x FLOP per clock; SMs and clock from memory, not opened"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline",
        ),
    },
    Row {
        key: "rtx_4070_super",
        name: "GeForce RTX 4070 SUPER",
        chip: "Ada (AD104)",
        year: 2024,
        gib: 12.0,
        memory_type: "GDDR6X",
        gb_s: 504.0,
        units: 56,
        mhz: 2475.0,
        l2_mib: Some(48.0),
        watts: Some(220.0),
        slot: PCIE_4_X16,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4070_ti",
        name: "GeForce RTX 4070 Ti",
        chip: "Ada (AD104)",
        year: 2023,
        gib: 12.0,
        memory_type: "GDDR6X",
        gb_s: 504.0,
        units: 60,
        mhz: 2610.0,
        l2_mib: Some(48.0),
        watts: Some(285.0),
        slot: PCIE_4_X16,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4070_ti_super",
        name: "GeForce RTX 4070 Ti SUPER",
        chip: "Ada (AD103)",
        year: 2024,
        gib: 16.0,
        memory_type: "GDDR6X",
        gb_s: 672.0,
        units: 66,
        mhz: 2610.0,
        l2_mib: Some(48.0),
        watts: Some(285.0),
        slot: PCIE_4_X16,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Device {
        key: text("rtx_4080"),
        name: text("GeForce RTX 4080"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ada (AD103)"),
        compute_capability: Some(text("8.9")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(16.0)),
        memory_type: text("GDDR6X"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(716.8)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(48.7)))
            .with(C::Tf32, Fact::recalled(tera(48.7)))
            .with(C::Fp16, Fact::read(tera(97.5)))
            .with(C::Bf16, Fact::read(tera(97.5)))
            .with(C::Fp8, Fact::read(tera(194.9)))
            .with(C::Int8, Fact::read(tera(389.9)))
            .with(C::Int4, Fact::recalled(tera(779.8))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(194.9))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(389.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(76)),
        boost_clock: Some(Fact::recalled(mhz(2505.0))),
        tensor_clock: Some(Fact::recalled(mhz(2505.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(64.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(320.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("76 SM, 2505 MHz, 48.7, 390(780) sparse, 717 GB/s (holynerdvana/cputronic)"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline",
        ),
    },
    Row {
        key: "rtx_4080_super",
        name: "GeForce RTX 4080 SUPER",
        chip: "Ada (AD103)",
        year: 2024,
        gib: 16.0,
        memory_type: "GDDR6X",
        gb_s: 736.0,
        units: 80,
        mhz: 2550.0,
        l2_mib: Some(64.0),
        watts: Some(320.0),
        slot: PCIE_4_X16,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Device {
        key: text("rtx_4090"),
        name: text("GeForce RTX 4090"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ada (AD102)"),
        compute_capability: Some(text("8.9")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(24.0)),
        memory_type: text("GDDR6X"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(1008.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(82.6)))
            .with(C::Tf32, Fact::recalled(tera(82.6)))
            .with(C::Fp16, Fact::read(tera(165.2)))
            .with(C::Bf16, Fact::read(tera(165.2)))
            .with(C::Fp8, Fact::read(tera(330.3)))
            .with(C::Int8, Fact::read(tera(660.6)))
            .with(C::Int4, Fact::recalled(tera(1321.2))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(330.3))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(660.6))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(128)),
        boost_clock: Some(Fact::recalled(mhz(2520.0))),
        tensor_clock: Some(Fact::recalled(mhz(2520.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(72.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(450.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA Ada whitepaper v2.1 Appendix A as quoted"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline. Whitepaper < v2.02 printed FP8/FP32acc as 660.6 (corrected to 330.3 by NVIDIA)",
        ),
    },
    Row {
        key: "rtx_4090_d",
        name: "GeForce RTX 4090 D",
        chip: "Ada (AD102)",
        year: 2023,
        gib: 24.0,
        memory_type: "GDDR6X",
        gb_s: 1008.0,
        units: 114,
        mhz: 2520.0,
        l2_mib: Some(72.0),
        watts: Some(425.0),
        slot: PCIE_4_X16,
        ..GEFORCE_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_5050",
        name: "GeForce RTX 5050",
        chip: "Blackwell (GB207)",
        year: 2025,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 320.0,
        units: 20,
        mhz: 2572.0,
        l2_mib: Some(24.0),
        watts: Some(130.0),
        slot: PCIE_5_X8,
        ..GEFORCE_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5060",
        name: "GeForce RTX 5060",
        chip: "Blackwell (GB206)",
        year: 2025,
        gib: 8.0,
        memory_type: "GDDR7",
        gb_s: 448.0,
        units: 30,
        mhz: 2497.0,
        l2_mib: Some(32.0),
        watts: Some(145.0),
        slot: PCIE_5_X8,
        ..GEFORCE_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5060_ti_8gb",
        name: "GeForce RTX 5060 Ti 8GB",
        chip: "Blackwell (GB206)",
        year: 2025,
        gib: 8.0,
        memory_type: "GDDR7",
        gb_s: 448.0,
        units: 36,
        mhz: 2572.0,
        l2_mib: Some(32.0),
        watts: Some(180.0),
        slot: PCIE_5_X8,
        ..GEFORCE_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5060_ti_16gb",
        name: "GeForce RTX 5060 Ti 16GB",
        chip: "Blackwell (GB206)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR7",
        gb_s: 448.0,
        units: 36,
        mhz: 2572.0,
        l2_mib: Some(32.0),
        watts: Some(180.0),
        slot: PCIE_5_X8,
        ..GEFORCE_BLACKWELL.row()
    }
    .device(),
    Device {
        key: text("rtx_5070"),
        name: text("GeForce RTX 5070"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB205)"),
        compute_capability: Some(text("12.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(12.0)),
        memory_type: text("GDDR7"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(672.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(30.9)))
            .with(C::Tf32, Fact::recalled(tera(30.9)))
            .with(C::Fp16, Fact::derived(tera(61.7)))
            .with(C::Bf16, Fact::derived(tera(61.7)))
            .with(C::Fp8, Fact::derived(tera(123.5)))
            .with(C::Fp6, Fact::recalled(tera(123.5)))
            .with(C::Fp4, Fact::derived(tera(493.9)))
            .with(C::Int8, Fact::derived(tera(246.9))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(123.5))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(246.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(48)),
        boost_clock: Some(Fact::recalled(mhz(2512.0))),
        tensor_clock: Some(Fact::recalled(mhz(2512.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(48.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(250.0))),
        interconnect: text("PCIe 5.0 x16"),
        link: Some(pcie(50.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "SMs x clock x FLOP per clock (NVIDIA prints 988 AI TOPS, sparse FP4); SMs and clock from memory, not opened",
        ),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline. Same SM count as GB10: this is where 61.7 comes from",
        ),
    },
    Row {
        key: "rtx_5070_ti",
        name: "GeForce RTX 5070 Ti",
        chip: "Blackwell (GB203)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR7",
        gb_s: 896.0,
        units: 70,
        mhz: 2452.0,
        l2_mib: Some(48.0),
        watts: Some(300.0),
        slot: PCIE_5_X16,
        ..GEFORCE_BLACKWELL.row()
    }
    .device(),
    Device {
        key: text("rtx_5080"),
        name: text("GeForce RTX 5080"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB203)"),
        compute_capability: Some(text("12.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(16.0)),
        memory_type: text("GDDR7"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(960.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(56.3)))
            .with(C::Tf32, Fact::recalled(tera(56.3)))
            .with(C::Fp16, Fact::read(tera(112.6)))
            .with(C::Bf16, Fact::read(tera(112.6)))
            .with(C::Fp8, Fact::read(tera(225.1)))
            .with(C::Fp6, Fact::recalled(tera(225.1)))
            .with(C::Fp4, Fact::read(tera(900.4)))
            .with(C::Int8, Fact::read(tera(450.2))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(225.1))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(450.2))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(84)),
        boost_clock: Some(Fact::recalled(mhz(2617.0))),
        tensor_clock: Some(Fact::recalled(mhz(2617.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(64.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(360.0))),
        interconnect: text("PCIe 5.0 x16"),
        link: Some(pcie(50.0)),
        power_modes: List::Borrowed(&[]),
        source: text("hmc-tech: FP32 56.28, FP4 900.42 dense"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline",
        ),
    },
    Device {
        key: text("rtx_5090"),
        name: text("GeForce RTX 5090"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB202)"),
        compute_capability: Some(text("12.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(32.0)),
        memory_type: text("GDDR7"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(1792.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(104.8)))
            .with(C::Tf32, Fact::recalled(tera(104.8)))
            .with(C::Fp16, Fact::read(tera(209.5)))
            .with(C::Bf16, Fact::read(tera(209.5)))
            .with(C::Fp8, Fact::read(tera(419.0)))
            .with(C::Fp6, Fact::recalled(tera(419.0)))
            .with(C::Fp4, Fact::read(tera(1676.0)))
            .with(C::Int8, Fact::read(tera(838.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(419.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(838.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(170)),
        boost_clock: Some(Fact::recalled(mhz(2407.0))),
        tensor_clock: Some(Fact::recalled(mhz(2407.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(96.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(575.0))),
        interconnect: text("PCIe 5.0 x16"),
        link: Some(pcie(50.0)),
        power_modes: List::Borrowed(&[]),
        source: text("209.5/419/838/1676 dense"),
        notes: text(
            "GeForce: FP16, BF16 and FP8 are with FP32 accumulation, which GeForce cards halve; FP16 accumulation has the doubled headline. INT4 tensor path removed",
        ),
    },
];
