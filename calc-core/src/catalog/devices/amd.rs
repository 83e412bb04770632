//! AMD accelerators, cards and SoCs.

use super::{both_directions, mhz, pcie, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::Fact;
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

pub(super) static DEVICES: [Device; 6] = [
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
    Device {
        key: text("strix_halo"),
        name: text("Ryzen AI Max+ 395 (Radeon 8060S)"),
        aliases: List::Borrowed(&[]),
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
