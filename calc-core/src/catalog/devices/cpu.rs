//! CPUs and boards that compute on the CPU.
//!
//! Long, and one file all the same: rows of one table, which change for one reason, a better source.

use super::row::{DeviceFamily, Row};
use super::{mhz, tera};
use crate::device::{Device, DeviceClass, MeasuredRates, MemoryPlatform, Peaks, SERVER_CPU};
use crate::provenance::{Fact, Provenance};
use crate::quant_format::ComputeClass as C;
use crate::text::{List, text};
use crate::units::{Bytes, BytesPerSec, Watts};

/// Facts that desktop processors of AMD share; the families below differ from it as written there.
const RYZEN: DeviceFamily = DeviceFamily {
    vendor: "AMD",
    capability: None,
    form: "CPU",
    class: DeviceClass::Cpu,
    platform: MemoryPlatform::Sockets,
    rates: &[(C::Fp64, 16.0), (C::Fp32, 32.0)],
    fp16_accumulate_fp16: None,
    fp8_accumulate_fp16: None,
    sparse_multiplier: 1.0,
    bandwidth: Provenance::Derived,
    memory: Provenance::Recalled,
    clock: Provenance::Read,
    shared_kib: None,
    registers: None,
    source: "AMD's table of processors as cpu-spec-dataset copies it (cores, highest clock, power), for Zen5 timdobbs.substack.com and cpufp; largest memory from memory, not opened; bandwidth: channels x 8 B x transfer rate; peaks: cores x clock x FLOP per clock (cpufp on the 8845HS and the 9700X)",
    notes: "The clock is the highest of one core. No FP16 arithmetic, no AMX",
};
/// Two 256-bit FMA units, no instructions for BF16 and INT8 products; Zen2 has the same.
static ZEN3: DeviceFamily = RYZEN;
const ZEN4_FAMILY: DeviceFamily = DeviceFamily {
    rates: &[(C::Fp64, 16.0), (C::Fp32, 32.0), (C::Bf16, 64.0), (C::Int8, 128.0)],
    ..RYZEN
};
/// Facts of processors that nobody opened for this catalog.
const FROM_MEMORY: &str = "cores, clock, power and memory from memory, not opened; bandwidth: channels x 8 B x transfer rate; peaks: cores x clock x FLOP per clock (cpufp on the 8845HS and the 9700X)";
static ZEN4_RECALLED: DeviceFamily =
    DeviceFamily { clock: Provenance::Recalled, source: FROM_MEMORY, ..ZEN4_FAMILY };
static ZEN5_RECALLED: DeviceFamily =
    DeviceFamily { clock: Provenance::Recalled, source: FROM_MEMORY, ..ZEN5_FAMILY };
static ZEN4: DeviceFamily = ZEN4_FAMILY;
static ZEN5: DeviceFamily = ZEN5_FAMILY;
const ZEN5_FAMILY: DeviceFamily = DeviceFamily {
    rates: &[(C::Fp64, 32.0), (C::Fp32, 64.0), (C::Bf16, 128.0), (C::Int8, 256.0)],
    ..RYZEN
};
const EPYC: DeviceFamily = DeviceFamily {
    form: SERVER_CPU,
    bandwidth: Provenance::Read,
    source: "AMD's table of processors as cpu-spec-dataset copies it (cores, clock, power, bandwidth); largest memory from memory, not opened; peaks: cores x clock x FLOP per clock (cpufp on the 8845HS)",
    notes: "The clock is that of all cores where AMD states one, else the highest of one core. No FP16 arithmetic, no AMX",
    ..RYZEN
};
static EPYC_ZEN3: DeviceFamily = EPYC;
static EPYC_ZEN4: DeviceFamily = DeviceFamily { rates: ZEN4.rates, ..EPYC };
const XEON: DeviceFamily = DeviceFamily {
    vendor: "Intel",
    form: SERVER_CPU,
    rates: &[(C::Fp64, 32.0), (C::Fp32, 64.0), (C::Int8, 256.0)],
    source: "Intel's tables as cpu-spec-dataset and intel-processors copy them (cores, highest clock, power, memory); bandwidth: channels x 8 B x transfer rate; peaks: cores x clock x FLOP per clock (cpufp on the w9-3495X)",
    notes: "The clock is the highest of one core; with AVX-512 on all cores it is lower",
    memory: Provenance::Read,
    ..RYZEN
};
static XEON_VNNI: DeviceFamily = XEON;
/// Broadwell: two 256-bit FMA units, no instructions for products of INT8.
static XEON_AVX2: DeviceFamily = DeviceFamily {
    rates: &[(C::Fp64, 16.0), (C::Fp32, 32.0)],
    notes: "no AVX-512; the clock is the highest of one core",
    ..XEON
};
/// Gracemont cores: half the units of a large core.
static GRACEMONT: DeviceFamily = DeviceFamily {
    form: RYZEN.form,
    rates: &[(C::Fp64, 8.0), (C::Fp32, 16.0), (C::Int8, 32.0)],
    platform: MemoryPlatform::Sockets,
    notes: "small cores only; one memory channel. No AVX-512",
    ..XEON
};
const XEON_AMX_FAMILY: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp64, 32.0),
        (C::Fp32, 64.0),
        (C::Fp16, 128.0),
        (C::Bf16, 1024.0),
        (C::Int8, 2048.0),
    ],
    notes: "AMX for BF16 and INT8. The clock is the highest of one core: a w9-3495X reaches 141 TFLOP/s in BF16 on all cores (cpufp)",
    ..XEON
};
static XEON_AMX: DeviceFamily = XEON_AMX_FAMILY;
/// Workstations have one socket.
static XEON_W: DeviceFamily = DeviceFamily { form: RYZEN.form, ..XEON_AMX_FAMILY };
static XEON_6: DeviceFamily = DeviceFamily {
    rates: &[
        (C::Fp64, 32.0),
        (C::Fp32, 64.0),
        (C::Fp16, 1024.0),
        (C::Bf16, 1024.0),
        (C::Int8, 2048.0),
    ],
    source: "hardwareluxx.de's table of the Xeon 6900P (cores, clock of all cores, power, 12 MRDIMM-8800); AMX-FP16: techpowerup.com/326957; largest memory from memory, not opened; bandwidth: channels x 8 B x transfer rate; peaks: cores x clock x FLOP per clock of the w9-3495X (cpufp)",
    notes: "AMX for FP16, BF16 and INT8. DDR5-6400 modules have 614.4 GB/s",
    memory: Provenance::Recalled,
    ..XEON
};

pub(super) static DEVICES: [Device; 72] = [
    Row {
        key: "ryzen_9_3950x",
        name: "Ryzen 9 3950X (16C Zen2)",
        aliases: const { &[text("ryzen_3950x"), text("3950x")] },
        chip: "Zen2",
        year: 2019,
        gib: 128.0,
        memory_type: "2x DDR4-3200",
        gb_s: 51.2,
        units: 16,
        mhz: 4700.0,
        watts: Some(105.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "ryzen_5_5600x",
        name: "Ryzen 5 5600X (6C Zen3)",
        aliases: const { &[text("5600x")] },
        chip: "Zen3",
        year: 2020,
        gib: 128.0,
        memory_type: "2x DDR4-3200",
        gb_s: 51.2,
        units: 6,
        mhz: 4600.0,
        watts: Some(65.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "ryzen_7_5800x",
        name: "Ryzen 7 5800X (8C Zen3)",
        aliases: const { &[text("5800x")] },
        chip: "Zen3",
        year: 2020,
        gib: 128.0,
        memory_type: "2x DDR4-3200",
        gb_s: 51.2,
        units: 8,
        mhz: 4700.0,
        watts: Some(105.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "ryzen_9_5900x",
        name: "Ryzen 9 5900X (12C Zen3)",
        aliases: const { &[text("5900x")] },
        chip: "Zen3",
        year: 2020,
        gib: 128.0,
        memory_type: "2x DDR4-3200",
        gb_s: 51.2,
        units: 12,
        mhz: 4800.0,
        watts: Some(105.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "ryzen_9_5950x",
        name: "Ryzen 9 5950X (16C Zen3)",
        aliases: const { &[text("ryzen_5950x"), text("5950x")] },
        chip: "Zen3",
        year: 2020,
        gib: 128.0,
        memory_type: "2x DDR4-3200",
        gb_s: 51.2,
        units: 16,
        mhz: 4900.0,
        watts: Some(105.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "ryzen_7_5800x3d",
        name: "Ryzen 7 5800X3D (8C Zen3)",
        aliases: const { &[text("5800x3d")] },
        chip: "Zen3",
        year: 2022,
        gib: 128.0,
        memory_type: "2x DDR4-3200",
        gb_s: 51.2,
        units: 8,
        mhz: 4500.0,
        watts: Some(105.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "ryzen_5_7600",
        name: "Ryzen 5 7600 (6C Zen4)",
        chip: "Zen4",
        year: 2023,
        gib: 128.0,
        memory_type: "2x DDR5-5200",
        gb_s: 83.2,
        units: 6,
        mhz: 5100.0,
        watts: Some(65.0),
        ..ZEN4.row()
    }
    .device(),
    Row {
        key: "ryzen_7_7700x",
        name: "Ryzen 7 7700X (8C Zen4)",
        aliases: const { &[text("7700x")] },
        chip: "Zen4",
        year: 2022,
        gib: 128.0,
        memory_type: "2x DDR5-5200",
        gb_s: 83.2,
        units: 8,
        mhz: 5400.0,
        watts: Some(105.0),
        ..ZEN4.row()
    }
    .device(),
    Row {
        key: "ryzen_9_7900x",
        name: "Ryzen 9 7900X (12C Zen4)",
        aliases: const { &[text("7900x")] },
        chip: "Zen4",
        year: 2022,
        gib: 128.0,
        memory_type: "2x DDR5-5200",
        gb_s: 83.2,
        units: 12,
        mhz: 5600.0,
        watts: Some(170.0),
        ..ZEN4.row()
    }
    .device(),
    Row {
        key: "ryzen_9_7950x3d",
        name: "Ryzen 9 7950X3D (16C Zen4)",
        aliases: const { &[text("7950x3d")] },
        chip: "Zen4",
        year: 2023,
        gib: 128.0,
        memory_type: "2x DDR5-5200",
        gb_s: 83.2,
        units: 16,
        mhz: 5700.0,
        watts: Some(120.0),
        ..ZEN4.row()
    }
    .device(),
    Row {
        key: "ryzen_7_7800x3d",
        name: "Ryzen 7 7800X3D (8C Zen4)",
        aliases: const { &[text("7800x3d")] },
        chip: "Zen4",
        year: 2023,
        gib: 128.0,
        memory_type: "2x DDR5-5200",
        gb_s: 83.2,
        units: 8,
        mhz: 5000.0,
        watts: Some(120.0),
        ..ZEN4.row()
    }
    .device(),
    Row {
        key: "ryzen_9_7950x",
        name: "Ryzen 9 7950X (16C Zen4)",
        aliases: const { &[text("ryzen_7950x"), text("7950x")] },
        chip: "Zen4",
        year: 2022,
        gib: 128.0,
        memory_type: "2x DDR5-5200",
        gb_s: 83.2,
        units: 16,
        mhz: 5700.0,
        watts: Some(170.0),
        ..ZEN4.row()
    }
    .device(),
    Row {
        key: "ryzen_7_9700x",
        name: "Ryzen 7 9700X (8C Zen5)",
        aliases: const { &[text("9700x")] },
        chip: "Zen5",
        year: 2024,
        gib: 192.0,
        memory_type: "2x DDR5-5600",
        gb_s: 89.6,
        units: 8,
        mhz: 5500.0,
        watts: Some(65.0),
        ..ZEN5.row()
    }
    .device(),
    Row {
        key: "ryzen_7_9800x3d",
        name: "Ryzen 7 9800X3D (8C Zen5)",
        aliases: const { &[text("9800x3d")] },
        chip: "Zen5",
        year: 2024,
        gib: 192.0,
        memory_type: "2x DDR5-5600",
        gb_s: 89.6,
        units: 8,
        mhz: 5200.0,
        watts: Some(120.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "ryzen_9_9900x",
        name: "Ryzen 9 9900X (12C Zen5)",
        aliases: const { &[text("9900x")] },
        chip: "Zen5",
        year: 2024,
        gib: 192.0,
        memory_type: "2x DDR5-5600",
        gb_s: 89.6,
        units: 12,
        mhz: 5600.0,
        watts: Some(120.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "ryzen_9_9950x3d",
        name: "Ryzen 9 9950X3D (16C Zen5)",
        aliases: const { &[text("9950x3d")] },
        chip: "Zen5",
        year: 2025,
        gib: 192.0,
        memory_type: "2x DDR5-5600",
        gb_s: 89.6,
        units: 16,
        mhz: 5700.0,
        watts: Some(170.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "ryzen_9_9950x",
        name: "Ryzen 9 9950X (16C Zen5)",
        aliases: const { &[text("ryzen_9950x"), text("9950x")] },
        chip: "Zen5",
        year: 2024,
        gib: 192.0,
        memory_type: "2x DDR5-5600",
        gb_s: 89.6,
        units: 16,
        mhz: 5700.0,
        watts: Some(170.0),
        ..ZEN5.row()
    }
    .device(),
    Row {
        key: "threadripper_3970x",
        name: "Ryzen Threadripper 3970X (32C Zen2)",
        chip: "Zen2",
        year: 2019,
        gib: 256.0,
        memory_type: "4x DDR4-3200",
        gb_s: 102.4,
        units: 32,
        mhz: 4500.0,
        watts: Some(280.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "threadripper_pro_5965wx",
        name: "Ryzen Threadripper PRO 5965WX (24C Zen3)",
        aliases: const { &[text("5965wx")] },
        chip: "Zen3",
        year: 2022,
        gib: 2048.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 24,
        mhz: 4500.0,
        watts: Some(280.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "threadripper_pro_5975wx",
        name: "Ryzen Threadripper PRO 5975WX (32C Zen3)",
        aliases: const { &[text("5975wx")] },
        chip: "Zen3",
        year: 2022,
        gib: 2048.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 32,
        mhz: 4500.0,
        watts: Some(280.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "threadripper_pro_5995wx",
        name: "Ryzen Threadripper PRO 5995WX (64C Zen3)",
        aliases: const { &[text("5995wx")] },
        chip: "Zen3",
        year: 2022,
        gib: 2048.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 64,
        mhz: 4500.0,
        watts: Some(280.0),
        ..ZEN3.row()
    }
    .device(),
    Row {
        key: "threadripper_7970x",
        name: "Ryzen Threadripper 7970X (32C Zen4)",
        aliases: const { &[text("7970x")] },
        chip: "Zen4",
        year: 2023,
        gib: 1024.0,
        memory_type: "4x DDR5-5200",
        gb_s: 166.4,
        units: 32,
        mhz: 5300.0,
        watts: Some(350.0),
        ..ZEN4_RECALLED.row()
    }
    .device(),
    Row {
        key: "threadripper_7980x",
        name: "Ryzen Threadripper 7980X (64C Zen4)",
        aliases: const { &[text("7980x")] },
        chip: "Zen4",
        year: 2023,
        gib: 1024.0,
        memory_type: "4x DDR5-5200",
        gb_s: 166.4,
        units: 64,
        mhz: 5100.0,
        watts: Some(350.0),
        ..ZEN4_RECALLED.row()
    }
    .device(),
    Row {
        key: "threadripper_pro_7995wx",
        name: "Ryzen Threadripper PRO 7995WX (96C Zen4)",
        aliases: const { &[text("7995wx")] },
        chip: "Zen4",
        year: 2023,
        gib: 2048.0,
        memory_type: "8x DDR5-5200",
        gb_s: 332.8,
        units: 96,
        mhz: 5100.0,
        watts: Some(350.0),
        ..ZEN4_RECALLED.row()
    }
    .device(),
    Row {
        key: "threadripper_pro_9995wx",
        name: "Ryzen Threadripper PRO 9995WX (96C Zen5)",
        aliases: const { &[text("9995wx")] },
        chip: "Zen5",
        year: 2025,
        gib: 2048.0,
        memory_type: "8x DDR5-6400",
        gb_s: 409.6,
        units: 96,
        mhz: 5400.0,
        watts: Some(350.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Device {
        key: text("core_i9_12900k"),
        name: text("Core i9-12900K (8P+8E)"),
        aliases: List::Borrowed(const { &[text("12900k")] }),
        vendor: text("Intel"),
        architecture: text("Alder Lake"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2021),
        memory: Fact::read(Bytes::from_gib(128.0)),
        memory_type: text("2x DDR5-4800"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::read(BytesPerSec::from_gb(76.8)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(0.9024)))
            .with(C::Fp32, Fact::derived(tera(1.8048)))
            .with(C::Int8, Fact::derived(tera(6.2208))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(16)),
        boost_clock: Some(Fact::read(mhz(5100.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(241.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "Intel's tables as cpu-spec-dataset and intel-processors copy them; peaks: 8 P-cores x 5.1 GHz x 32 + 8 E-cores x 3.9 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_i7_13700k"),
        name: text("Core i7-13700K (8P+8E)"),
        aliases: List::Borrowed(const { &[text("13700k")] }),
        vendor: text("Intel"),
        architecture: text("Raptor Lake"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2022),
        memory: Fact::read(Bytes::from_gib(192.0)),
        memory_type: text("2x DDR5-5600"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::read(BytesPerSec::from_gb(89.6)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(0.9472)))
            .with(C::Fp32, Fact::derived(tera(1.8944)))
            .with(C::Int8, Fact::derived(tera(6.5024))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(16)),
        boost_clock: Some(Fact::read(mhz(5300.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(253.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "Intel's tables as cpu-spec-dataset and intel-processors copy them; peaks: 8 P-cores x 5.3 GHz x 32 + 8 E-cores x 4.2 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_i9_13900k"),
        name: text("Core i9-13900K (8P+16E)"),
        aliases: List::Borrowed(const { &[text("13900k")] }),
        vendor: text("Intel"),
        architecture: text("Raptor Lake"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2022),
        memory: Fact::read(Bytes::from_gib(192.0)),
        memory_type: text("2x DDR5-5600"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::read(BytesPerSec::from_gb(89.6)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(1.2416)))
            .with(C::Fp32, Fact::derived(tera(2.4832)))
            .with(C::Int8, Fact::derived(tera(7.7312))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(24)),
        boost_clock: Some(Fact::read(mhz(5400.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(253.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "Intel's tables as cpu-spec-dataset and intel-processors copy them; peaks: 8 P-cores x 5.4 GHz x 32 + 16 E-cores x 4.3 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_i7_12700k"),
        name: text("Core i7-12700K (8P+4E)"),
        aliases: List::Borrowed(const { &[text("12700k")] }),
        vendor: text("Intel"),
        architecture: text("Alder Lake"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2021),
        memory: Fact::read(Bytes::from_gib(128.0)),
        memory_type: text("2x DDR5-4800"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::read(BytesPerSec::from_gb(76.8)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(0.7616)))
            .with(C::Fp32, Fact::derived(tera(1.5232)))
            .with(C::Int8, Fact::derived(tera(5.6064))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(12)),
        boost_clock: Some(Fact::read(mhz(5000.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(190.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "Intel's tables as cpu-spec-dataset and intel-processors copy them; peaks: 8 P-cores x 5.0 GHz x 32 + 4 E-cores x 3.8 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_i5_13600k"),
        name: text("Core i5-13600K (6P+8E)"),
        aliases: List::Borrowed(const { &[text("13600k")] }),
        vendor: text("Intel"),
        architecture: text("Raptor Lake"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2022),
        memory: Fact::read(Bytes::from_gib(128.0)),
        memory_type: text("2x DDR5-5600"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::read(BytesPerSec::from_gb(89.6)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(0.7392)))
            .with(C::Fp32, Fact::derived(tera(1.4784)))
            .with(C::Int8, Fact::derived(tera(4.9152))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(14)),
        boost_clock: Some(Fact::read(mhz(5100.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(181.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "Intel's tables as cpu-spec-dataset and intel-processors copy them; peaks: 6 P-cores x 5.1 GHz x 32 + 8 E-cores x 3.9 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_i7_14700k"),
        name: text("Core i7-14700K (8P+12E)"),
        aliases: List::Borrowed(const { &[text("14700k")] }),
        vendor: text("Intel"),
        architecture: text("Raptor Lake Refresh"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2023),
        memory: Fact::recalled(Bytes::from_gib(192.0)),
        memory_type: text("2x DDR5-5600"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::derived(BytesPerSec::from_gb(89.6)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(1.1296)))
            .with(C::Fp32, Fact::derived(tera(2.2592)))
            .with(C::Int8, Fact::derived(tera(7.3856))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(20)),
        boost_clock: Some(Fact::recalled(mhz(5600.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(253.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "cores, clocks, power and memory from memory, not opened; peaks: 8 P-cores x 5.6 GHz x 32 + 12 E-cores x 4.3 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_i9_14900k"),
        name: text("Core i9-14900K (8P+16E)"),
        aliases: List::Borrowed(const { &[text("14900k")] }),
        vendor: text("Intel"),
        architecture: text("Raptor Lake Refresh"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2023),
        memory: Fact::read(Bytes::from_gib(192.0)),
        memory_type: text("2x DDR5-5600"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::read(BytesPerSec::from_gb(89.6)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(1.3312)))
            .with(C::Fp32, Fact::derived(tera(2.6624)))
            .with(C::Int8, Fact::derived(tera(8.3968))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(24)),
        boost_clock: Some(Fact::read(mhz(6000.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::read(Watts::new(253.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "xda-developers.com (cores, highest clocks), au.minisforum.com (memory, power); peaks: 8 P-cores x 6.0 GHz x 32 + 16 E-cores x 4.4 GHz x 16 FP32 FLOP per clock, INT8 128 and 32 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Device {
        key: text("core_ultra_9_285k"),
        name: text("Core Ultra 9 285K (8P+16E)"),
        aliases: List::Borrowed(const { &[text("285k")] }),
        vendor: text("Intel"),
        architecture: text("Arrow Lake"),
        compute_capability: None,
        form_factor: text("CPU"),
        class: DeviceClass::Cpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(192.0)),
        memory_type: text("2x DDR5-6400"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::derived(BytesPerSec::from_gb(102.4)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::derived(tera(1.9072)))
            .with(C::Fp32, Fact::derived(tera(3.8144)))
            .with(C::Int8, Fact::derived(tera(15.2576))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::recalled(24)),
        boost_clock: Some(Fact::recalled(mhz(5700.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(250.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "cores, clocks, power and memory from memory, not opened; each E-core is taken for as wide as a P-core, an upper bound; peaks: 8 P-cores x 5.7 GHz x 32 + 16 E-cores x 4.6 GHz x 32 FP32 FLOP per clock, INT8 128 and 128 (cpufp on an i5-1340P)",
        ),
        notes: text(
            "no AVX-512, no AMX; power is the turbo limit. The number of cores is that of both kinds",
        ),
    },
    Row {
        key: "intel_n100",
        name: "Processor N100 (4E)",
        aliases: const { &[text("n100")] },
        chip: "Alder Lake-N",
        year: 2023,
        gib: 16.0,
        memory_type: "1x DDR5-4800",
        gb_s: 38.4,
        units: 4,
        mhz: 3400.0,
        watts: Some(6.0),
        ..GRACEMONT.row()
    }
    .device(),
    Row {
        key: "epyc_7302",
        name: "EPYC 7302 (16C Zen2)",
        chip: "Zen2",
        year: 2019,
        gib: 4096.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 16,
        mhz: 3300.0,
        watts: Some(155.0),
        ..EPYC_ZEN3.row()
    }
    .device(),
    Row {
        key: "epyc_7742",
        name: "EPYC 7742 (64C Zen2)",
        chip: "Zen2",
        year: 2019,
        gib: 4096.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 64,
        mhz: 3400.0,
        watts: Some(225.0),
        ..EPYC_ZEN3.row()
    }
    .device(),
    Row {
        key: "epyc_7543",
        name: "EPYC 7543 (32C Zen3)",
        chip: "Zen3",
        year: 2021,
        gib: 4096.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 32,
        mhz: 3700.0,
        watts: Some(225.0),
        ..EPYC_ZEN3.row()
    }
    .device(),
    Row {
        key: "epyc_7763",
        name: "EPYC 7763 (64C Zen3)",
        chip: "Zen3",
        year: 2021,
        gib: 4096.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 64,
        mhz: 3500.0,
        watts: Some(280.0),
        ..EPYC_ZEN3.row()
    }
    .device(),
    Row {
        key: "epyc_9124",
        name: "EPYC 9124 (16C Zen4)",
        chip: "Zen4",
        year: 2022,
        gib: 6144.0,
        memory_type: "12x DDR5-4800",
        gb_s: 460.8,
        units: 16,
        mhz: 3600.0,
        watts: Some(200.0),
        ..EPYC_ZEN4.row()
    }
    .device(),
    Row {
        key: "epyc_9334",
        name: "EPYC 9334 (32C Zen4)",
        chip: "Zen4",
        year: 2022,
        gib: 6144.0,
        memory_type: "12x DDR5-4800",
        gb_s: 460.8,
        units: 32,
        mhz: 3850.0,
        watts: Some(210.0),
        ..EPYC_ZEN4.row()
    }
    .device(),
    Row {
        key: "epyc_9374f",
        name: "EPYC 9374F (32C Zen4)",
        chip: "Zen4",
        year: 2022,
        gib: 6144.0,
        memory_type: "12x DDR5-4800",
        gb_s: 460.8,
        units: 32,
        mhz: 4100.0,
        watts: Some(320.0),
        ..EPYC_ZEN4.row()
    }
    .device(),
    Row {
        key: "epyc_9554",
        name: "EPYC 9554 (64C Zen4)",
        chip: "Zen4",
        year: 2022,
        gib: 6144.0,
        memory_type: "12x DDR5-4800",
        gb_s: 460.8,
        units: 64,
        mhz: 3750.0,
        watts: Some(360.0),
        ..EPYC_ZEN4.row()
    }
    .device(),
    Device {
        key: text("epyc_9654"),
        name: text("EPYC 9654 (96C Zen4)"),
        aliases: List::Borrowed(&[]),
        vendor: text("AMD"),
        architecture: text("Zen4"),
        compute_capability: None,
        form_factor: text(SERVER_CPU),
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
        notes: text("at base 2.4 GHz FP32 is 7.4. No AVX512-FP16, no AMX"),
    },
    Row {
        key: "epyc_9684x",
        name: "EPYC 9684X (96C Zen4)",
        chip: "Zen4",
        year: 2023,
        gib: 6144.0,
        memory_type: "12x DDR5-4800",
        gb_s: 460.8,
        units: 96,
        mhz: 3420.0,
        watts: Some(400.0),
        ..EPYC_ZEN4.row()
    }
    .device(),
    Row {
        key: "epyc_9754",
        name: "EPYC 9754 (128C Zen4c)",
        chip: "Zen4c",
        year: 2023,
        gib: 6144.0,
        memory_type: "12x DDR5-4800",
        gb_s: 460.8,
        units: 128,
        mhz: 3100.0,
        watts: Some(360.0),
        ..EPYC_ZEN4.row()
    }
    .device(),
    Row {
        key: "epyc_9355",
        name: "EPYC 9355 (32C Zen5)",
        chip: "Zen5",
        year: 2024,
        gib: 6144.0,
        memory_type: "12x DDR5-6400",
        gb_s: 614.4,
        units: 32,
        mhz: 4400.0,
        watts: Some(280.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "epyc_9555",
        name: "EPYC 9555 (64C Zen5)",
        chip: "Zen5",
        year: 2024,
        gib: 6144.0,
        memory_type: "12x DDR5-6400",
        gb_s: 614.4,
        units: 64,
        mhz: 4400.0,
        watts: Some(360.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "epyc_9575f",
        name: "EPYC 9575F (64C Zen5)",
        chip: "Zen5",
        year: 2024,
        gib: 6144.0,
        memory_type: "12x DDR5-6400",
        gb_s: 614.4,
        units: 64,
        mhz: 5000.0,
        watts: Some(400.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "epyc_9655",
        name: "EPYC 9655 (96C Zen5)",
        chip: "Zen5",
        year: 2024,
        gib: 6144.0,
        memory_type: "12x DDR5-6400",
        gb_s: 614.4,
        units: 96,
        mhz: 4500.0,
        watts: Some(400.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "epyc_9755",
        name: "EPYC 9755 (128C Zen5)",
        chip: "Zen5",
        year: 2024,
        gib: 6144.0,
        memory_type: "12x DDR5-6400",
        gb_s: 614.4,
        units: 128,
        mhz: 4100.0,
        watts: Some(500.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "epyc_9965",
        name: "EPYC 9965 (192C Zen5c)",
        chip: "Zen5c",
        year: 2024,
        gib: 6144.0,
        memory_type: "12x DDR5-6400",
        gb_s: 614.4,
        units: 192,
        mhz: 3700.0,
        watts: Some(500.0),
        ..ZEN5_RECALLED.row()
    }
    .device(),
    Row {
        key: "xeon_e5_2680_v4",
        name: "Xeon E5-2680 v4 (14C BDW)",
        chip: "Broadwell",
        year: 2016,
        gib: 1536.0,
        memory_type: "4x DDR4-2400",
        gb_s: 76.8,
        units: 14,
        mhz: 3300.0,
        watts: Some(120.0),
        ..XEON_AVX2.row()
    }
    .device(),
    Row {
        key: "xeon_e5_2690_v4",
        name: "Xeon E5-2690 v4 (14C BDW)",
        chip: "Broadwell",
        year: 2016,
        gib: 1536.0,
        memory_type: "4x DDR4-2400",
        gb_s: 76.8,
        units: 14,
        mhz: 3500.0,
        watts: Some(135.0),
        ..XEON_AVX2.row()
    }
    .device(),
    Row {
        key: "xeon_8280",
        name: "Xeon Platinum 8280 (28C CLX)",
        chip: "Cascade Lake",
        year: 2019,
        gib: 1024.0,
        memory_type: "6x DDR4-2933",
        gb_s: 140.8,
        units: 28,
        mhz: 4000.0,
        watts: Some(205.0),
        ..XEON_VNNI.row()
    }
    .device(),
    Row {
        key: "xeon_6338",
        name: "Xeon Gold 6338 (32C ICX)",
        chip: "Ice Lake",
        year: 2021,
        gib: 6144.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 32,
        mhz: 3200.0,
        watts: Some(205.0),
        ..XEON_VNNI.row()
    }
    .device(),
    Row {
        key: "xeon_8380",
        name: "Xeon Platinum 8380 (40C ICX)",
        chip: "Ice Lake",
        year: 2021,
        gib: 6144.0,
        memory_type: "8x DDR4-3200",
        gb_s: 204.8,
        units: 40,
        mhz: 3400.0,
        watts: Some(270.0),
        ..XEON_VNNI.row()
    }
    .device(),
    Row {
        key: "xeon_6430",
        name: "Xeon Gold 6430 (32C SPR)",
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 4096.0,
        memory_type: "8x DDR5-4400",
        gb_s: 281.6,
        units: 32,
        mhz: 3400.0,
        watts: Some(270.0),
        ..XEON_AMX.row()
    }
    .device(),
    Row {
        key: "xeon_8468",
        name: "Xeon Platinum 8468 (48C SPR)",
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 4096.0,
        memory_type: "8x DDR5-4800",
        gb_s: 307.2,
        units: 48,
        mhz: 3800.0,
        watts: Some(350.0),
        ..XEON_AMX.row()
    }
    .device(),
    Row {
        key: "xeon_8490h",
        name: "Xeon Platinum 8490H (60C SPR)",
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 4096.0,
        memory_type: "8x DDR5-4800",
        gb_s: 307.2,
        units: 60,
        mhz: 3500.0,
        watts: Some(350.0),
        ..XEON_AMX.row()
    }
    .device(),
    Row {
        key: "xeon_w5_2465x",
        name: "Xeon w5-2465X (16C SPR)",
        aliases: const { &[text("2465x")] },
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 2048.0,
        memory_type: "4x DDR5-4800",
        gb_s: 153.6,
        units: 16,
        mhz: 4700.0,
        watts: Some(240.0),
        ..XEON_W.row()
    }
    .device(),
    Row {
        key: "xeon_w7_3465x",
        name: "Xeon w7-3465X (28C SPR)",
        aliases: const { &[text("3465x")] },
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 4096.0,
        memory_type: "8x DDR5-4800",
        gb_s: 307.2,
        units: 28,
        mhz: 4800.0,
        watts: Some(360.0),
        ..XEON_W.row()
    }
    .device(),
    Row {
        key: "xeon_8480plus",
        name: "Xeon Platinum 8480+ (56C SPR)",
        aliases: const { &[text("xeon_8480")] },
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 4096.0,
        memory_type: "8x DDR5-4800",
        gb_s: 307.2,
        units: 56,
        mhz: 3800.0,
        watts: Some(350.0),
        ..XEON_AMX.row()
    }
    .device(),
    Row {
        key: "xeon_w9_3495x",
        name: "Xeon w9-3495X (56C SPR)",
        aliases: const { &[text("3495x")] },
        chip: "Sapphire Rapids",
        year: 2023,
        gib: 4096.0,
        memory_type: "8x DDR5-4800",
        gb_s: 307.2,
        units: 56,
        mhz: 4800.0,
        watts: Some(350.0),
        ..XEON_W.row()
    }
    .device(),
    Device {
        key: text("xeon_8592plus"),
        name: text("Xeon Platinum 8592+ (64C EMR)"),
        aliases: List::Borrowed(const { &[text("xeon_8592")] }),
        vendor: text("Intel"),
        architecture: text("Emerald Rapids"),
        compute_capability: None,
        form_factor: text(SERVER_CPU),
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
        notes: text("all-core turbo 2.9 GHz would give 380/760; AMX clocks in between"),
    },
    Row {
        key: "xeon_6960p",
        name: "Xeon 6960P (72C GNR)",
        chip: "Granite Rapids",
        year: 2024,
        gib: 3072.0,
        memory_type: "12x MRDIMM-8800",
        gb_s: 844.8,
        units: 72,
        mhz: 3800.0,
        watts: Some(500.0),
        ..XEON_6.row()
    }
    .device(),
    Row {
        key: "xeon_6972p",
        name: "Xeon 6972P (96C GNR)",
        chip: "Granite Rapids",
        year: 2024,
        gib: 3072.0,
        memory_type: "12x MRDIMM-8800",
        gb_s: 844.8,
        units: 96,
        mhz: 3500.0,
        watts: Some(500.0),
        ..XEON_6.row()
    }
    .device(),
    Row {
        key: "xeon_6980p",
        name: "Xeon 6980P (128C GNR)",
        chip: "Granite Rapids",
        year: 2024,
        gib: 3072.0,
        memory_type: "12x MRDIMM-8800",
        gb_s: 844.8,
        units: 128,
        mhz: 3200.0,
        watts: Some(500.0),
        ..XEON_6.row()
    }
    .device(),
    Device {
        key: text("snapdragon_x_elite"),
        name: text("Snapdragon X Elite X1E-80-100"),
        aliases: List::Borrowed(const { &[text("x1e_80_100")] }),
        vendor: text("Qualcomm"),
        architecture: text("Oryon"),
        compute_capability: None,
        form_factor: text("SoC"),
        class: DeviceClass::Cpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(64.0)),
        memory_type: text("LPDDR5X-8448 128-bit"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::derived(BytesPerSec::from_gb(135.2)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::reported(tera(0.6547)))
            .with(C::Fp32, Fact::reported(tera(1.303)))
            .with(C::Fp16, Fact::reported(tera(2.605)))
            .with(C::Bf16, Fact::reported(tera(2.617)))
            .with(C::Int8, Fact::reported(tera(5.22))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(12)),
        boost_clock: Some(Fact::read(mhz(4000.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: None,
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "peaks: cpufp on all 12 cores; memory and its transfer rate from memory, not opened",
        ),
        notes: text(
            "the processor alone: 12 cores at 3.4 GHz, 4.0 GHz for one. The memory is soldered and its size is the laptop's",
        ),
    },
    Device {
        key: text("raspberry_pi_5"),
        name: text("Raspberry Pi 5 8GB"),
        aliases: List::Borrowed(
            const { &[text("pi_5"), text("rpi_5"), text("pi5"), text("rpi5")] },
        ),
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
        notes: text("the GPU (VideoCore VII) is not useful for LLMs"),
    },
    Device {
        key: text("raspberry_pi_5_4gb"),
        name: text("Raspberry Pi 5 4GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("Raspberry Pi"),
        architecture: text("Cortex-A76 (BCM2712)"),
        compute_capability: None,
        form_factor: text("SBC"),
        class: DeviceClass::Cpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(4.0)),
        memory_type: text("LPDDR4X-4267 32-bit"),
        memory_platform: MemoryPlatform::Shared,
        bandwidth: Fact::derived(BytesPerSec::from_gb(17.1)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::reported(tera(0.0768)))
            .with(C::Fp32, Fact::reported(tera(0.1535)))
            .with(C::Fp16, Fact::reported(tera(0.307)))
            .with(C::Int8, Fact::reported(tera(0.614))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(4)),
        boost_clock: Some(Fact::read(mhz(2400.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(12.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "peaks: cpufp on the BCM2712; the board is the one with 8 GB in every other respect",
        ),
        notes: text(""),
    },
    Device {
        key: text("raspberry_pi_5_16gb"),
        name: text("Raspberry Pi 5 16GB"),
        aliases: List::Borrowed(&[]),
        vendor: text("Raspberry Pi"),
        architecture: text("Cortex-A76 (BCM2712)"),
        compute_capability: None,
        form_factor: text("SBC"),
        class: DeviceClass::Cpu,
        release_year: Some(2024),
        memory: Fact::recalled(Bytes::from_gib(16.0)),
        memory_type: text("LPDDR4X-4267 32-bit"),
        memory_platform: MemoryPlatform::Shared,
        bandwidth: Fact::derived(BytesPerSec::from_gb(17.1)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::reported(tera(0.0768)))
            .with(C::Fp32, Fact::reported(tera(0.1535)))
            .with(C::Fp16, Fact::reported(tera(0.307)))
            .with(C::Int8, Fact::reported(tera(0.614))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(4)),
        boost_clock: Some(Fact::read(mhz(2400.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: Some(Fact::recalled(Watts::new(12.0))),
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "peaks: cpufp on the BCM2712; the board is the one with 8 GB in every other respect",
        ),
        notes: text(""),
    },
    Device {
        key: text("rk3588"),
        name: text("RK3588 (Orange Pi 5, Rock 5B)"),
        aliases: List::Borrowed(const { &[text("orange_pi_5"), text("rock_5b")] }),
        vendor: text("Rockchip"),
        architecture: text("Cortex-A76 and A55"),
        compute_capability: None,
        form_factor: text("SBC"),
        class: DeviceClass::Cpu,
        release_year: Some(2022),
        memory: Fact::recalled(Bytes::from_gib(32.0)),
        memory_type: text("LPDDR4X-4224 64-bit"),
        memory_platform: MemoryPlatform::Sockets,
        bandwidth: Fact::derived(BytesPerSec::from_gb(33.8)),
        peaks: Peaks::NONE
            .with(C::Fp64, Fact::reported(tera(0.1044)))
            .with(C::Fp32, Fact::reported(tera(0.2081)))
            .with(C::Fp16, Fact::reported(tera(0.4175)))
            .with(C::Int8, Fact::reported(tera(0.8353))),
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: Some(Fact::read(8)),
        boost_clock: Some(Fact::read(mhz(2400.0))),
        tensor_clock: None,
        l2: None,
        measured: MeasuredRates::UNKNOWN,
        shared_memory_per_sm: None,
        registers_per_sm: None,
        tdp: None,
        interconnect: text(""),
        link: None,
        power_modes: List::Borrowed(&[]),
        source: text(
            "peaks: cpufp, the four A76 and the four A55 cores added; memory and its transfer rate from memory, not opened",
        ),
        notes: text(
            "boards with LPDDR5 have more bandwidth, and each board its own memory; the NPU is not counted",
        ),
    },
];
