//! CPUs and boards that compute on the CPU.

use super::{mhz, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::Fact;
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

pub(super) static DEVICES: [Device; 3] = [
    Device {
        key: text("epyc_9654"),
        name: text("EPYC 9654 (96C Zen4)"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("Zen4"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(6144.0)),
        memory_type: text("12x DDR5-4800"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::derived(BytesPerSec::from_gb(460.8)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(5.45)))
            .with(C::Fp32, Fact::recalled(tera(10.9)))
            .with(C::Bf16, Fact::derived(tera(21.8)))
            .with(C::Int8, Fact::derived(tera(43.6))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(96)),
        boost_clock: Some(Fact::recalled(mhz(3550.0))),
        tensor_clock: Some(Fact::recalled(mhz(3550.0))),
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(360.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "arithmetic: 96 x 3.55 GHz x 32 FP32 FLOP/clk (2x256-bit FMA); channels x 38.4",
        ),
        notes: text("at base 2.4 GHz FP32 is 7.4. No AVX512-FP16, no AMX. sm_count = cores"),
    },
    Device {
        key: text("xeon_8592plus"),
        name: text("Xeon Platinum 8592+ (64C EMR)"),
        aliases: List::Borrowed(&[]),
        vendor: text("Intel"),
        architecture: text("Emerald Rapids"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(4096.0)),
        memory_type: text("8x DDR5-5600"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::derived(BytesPerSec::from_gb(358.4)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(3.9)))
            .with(C::Fp32, Fact::recalled(tera(7.8)))
            .with(C::Fp16, Fact::derived(tera(15.6)))
            .with(C::Bf16, Fact::derived(tera(249.0)))
            .with(C::Int8, Fact::derived(tera(498.0))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(64)),
        boost_clock: Some(Fact::recalled(mhz(1900.0))),
        tensor_clock: Some(Fact::recalled(mhz(1900.0))),
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(350.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "arithmetic at base 1.9 GHz: AMX 2048 BF16 / 4096 INT8 ops/clk/core, AVX-512 64 FP32",
        ),
        notes: text(
            "all-core turbo 2.9 GHz would give 380/760; AMX clocks in between. sm_count = cores",
        ),
    },
    Device {
        key: text("raspberry_pi_5"),
        name: text("Raspberry Pi 5 8GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("Raspberry Pi"),
        architecture: text("Cortex-A76 (BCM2712)"),
        compute_capability: None,
        form_factor: text("SBC"),
        class: DeviceClass::Cpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(8.0)),
        memory_type: text("LPDDR4X-4267 32-bit"),
        memory_platform: MemoryPlatform::Shared,
        bandwidth: Fact::derived(BytesPerSec::from_gb(17.1)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(0.0768)))
            .with(C::Fp32, Fact::recalled(tera(0.1536)))
            .with(C::Fp16, Fact::derived(tera(0.3072)))
            .with(C::Int8, Fact::derived(tera(0.6144))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(4)),
        boost_clock: Some(Fact::recalled(mhz(2400.0))),
        tensor_clock: Some(Fact::recalled(mhz(2400.0))),
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(12.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "4x A76 2.4 GHz, LPDDR4X-4267; arithmetic 4 B x 4267 MT/s; 2x128-bit FMA, 2x SDOT per clock",
        ),
        notes: text("sm_count = cores; GPU (VideoCore VII) not useful for LLMs"),
    },
];
