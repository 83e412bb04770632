//! GeForce chips of laptops.

use super::nvidia_family::{LAPTOP_ADA, LAPTOP_AMPERE, LAPTOP_BLACKWELL};
use super::row::Row;
use crate::device::Device;

pub(super) static DEVICES: [Device; 19] = [
    Row {
        key: "rtx_3050_laptop_4gb",
        name: "GeForce RTX 3050 Laptop 4GB",
        chip: "Ampere (GA107)",
        year: 2021,
        gib: 4.0,
        memory_type: "GDDR6",
        gb_s: 192.0,
        units: 16,
        mhz: 1740.0,
        l2_mib: Some(2.0),
        watts: Some(80.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3050_laptop_6gb",
        name: "GeForce RTX 3050 Laptop 6GB",
        chip: "Ampere (GA107)",
        year: 2022,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 168.0,
        units: 20,
        mhz: 1492.0,
        l2_mib: Some(2.0),
        watts: Some(80.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3050_ti_laptop",
        name: "GeForce RTX 3050 Ti Laptop",
        chip: "Ampere (GA107)",
        year: 2021,
        gib: 4.0,
        memory_type: "GDDR6",
        gb_s: 192.0,
        units: 20,
        mhz: 1695.0,
        l2_mib: Some(2.0),
        watts: Some(80.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3060_laptop",
        name: "GeForce RTX 3060 Laptop",
        chip: "Ampere (GA106)",
        year: 2021,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 336.0,
        units: 30,
        mhz: 1702.0,
        l2_mib: Some(3.0),
        watts: Some(115.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3070_laptop",
        name: "GeForce RTX 3070 Laptop",
        chip: "Ampere (GA104)",
        year: 2021,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 40,
        mhz: 1620.0,
        l2_mib: Some(4.0),
        watts: Some(125.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3070_ti_laptop",
        name: "GeForce RTX 3070 Ti Laptop",
        chip: "Ampere (GA104)",
        year: 2022,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 46,
        mhz: 1485.0,
        l2_mib: Some(4.0),
        watts: Some(115.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3080_laptop_8gb",
        name: "GeForce RTX 3080 Laptop 8GB",
        chip: "Ampere (GA104)",
        year: 2021,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 48,
        mhz: 1710.0,
        l2_mib: Some(4.0),
        watts: Some(150.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3080_laptop_16gb",
        name: "GeForce RTX 3080 Laptop 16GB",
        chip: "Ampere (GA104)",
        year: 2021,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 48,
        mhz: 1710.0,
        l2_mib: Some(4.0),
        watts: Some(150.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_3080_ti_laptop",
        name: "GeForce RTX 3080 Ti Laptop",
        chip: "Ampere (GA103)",
        year: 2022,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 512.0,
        units: 58,
        mhz: 1590.0,
        l2_mib: Some(4.0),
        watts: Some(150.0),
        ..LAPTOP_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_4050_laptop",
        name: "GeForce RTX 4050 Laptop",
        chip: "Ada (AD107)",
        year: 2023,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 192.0,
        units: 20,
        mhz: 2370.0,
        l2_mib: Some(12.0),
        watts: Some(115.0),
        ..LAPTOP_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4060_laptop",
        name: "GeForce RTX 4060 Laptop",
        chip: "Ada (AD107)",
        year: 2023,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 256.0,
        units: 24,
        mhz: 2370.0,
        l2_mib: Some(32.0),
        watts: Some(115.0),
        ..LAPTOP_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4070_laptop",
        name: "GeForce RTX 4070 Laptop",
        chip: "Ada (AD106)",
        year: 2023,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 256.0,
        units: 36,
        mhz: 2175.0,
        l2_mib: Some(32.0),
        watts: Some(115.0),
        ..LAPTOP_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4080_laptop",
        name: "GeForce RTX 4080 Laptop",
        chip: "Ada (AD104)",
        year: 2023,
        gib: 12.0,
        memory_type: "GDDR6",
        gb_s: 432.0,
        units: 58,
        mhz: 2280.0,
        l2_mib: Some(48.0),
        watts: Some(150.0),
        ..LAPTOP_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4090_laptop",
        name: "GeForce RTX 4090 Laptop",
        chip: "Ada (AD103)",
        year: 2023,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 576.0,
        units: 76,
        mhz: 2040.0,
        tensor_mhz: Some(2204.0),
        l2_mib: Some(64.0),
        watts: Some(150.0),
        ..LAPTOP_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_5060_laptop",
        name: "GeForce RTX 5060 Laptop",
        chip: "Blackwell (GB206)",
        year: 2025,
        gib: 8.0,
        memory_type: "GDDR7",
        gb_s: 384.0,
        units: 26,
        mhz: 2497.0,
        tensor_mhz: Some(2685.0),
        l2_mib: Some(32.0),
        watts: Some(100.0),
        notes: "Clocks and power of the highest limit are from memory, not opened; hmc-tech has 1890 MHz at 45 W. FP16, BF16 and FP8 are with FP32 accumulation, which GeForce chips halve",
        ..LAPTOP_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5070_laptop",
        name: "GeForce RTX 5070 Laptop",
        chip: "Blackwell (GB206)",
        year: 2025,
        gib: 8.0,
        memory_type: "GDDR7",
        gb_s: 384.0,
        units: 36,
        mhz: 2347.0,
        tensor_mhz: Some(2706.0),
        l2_mib: Some(32.0),
        watts: Some(100.0),
        ..LAPTOP_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5070_ti_laptop",
        name: "GeForce RTX 5070 Ti Laptop",
        chip: "Blackwell (GB205)",
        year: 2025,
        gib: 12.0,
        memory_type: "GDDR7",
        gb_s: 672.0,
        units: 46,
        mhz: 2632.0,
        l2_mib: Some(48.0),
        watts: Some(115.0),
        notes: "The clock is the one that NVIDIA's 992 AI TOPS imply: FP4 with sparsity. FP16, BF16 and FP8 are with FP32 accumulation, which GeForce chips halve; the laptop's maker sets the power limit",
        ..LAPTOP_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5080_laptop",
        name: "GeForce RTX 5080 Laptop",
        chip: "Blackwell (GB203)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR7",
        gb_s: 896.0,
        units: 60,
        mhz: 2287.0,
        tensor_mhz: Some(2714.0),
        l2_mib: Some(64.0),
        watts: Some(150.0),
        ..LAPTOP_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_5090_laptop",
        name: "GeForce RTX 5090 Laptop",
        chip: "Blackwell (GB203)",
        year: 2025,
        gib: 24.0,
        memory_type: "GDDR7",
        gb_s: 896.0,
        units: 82,
        mhz: 2160.0,
        tensor_mhz: Some(2715.0),
        l2_mib: Some(64.0),
        watts: Some(150.0),
        ..LAPTOP_BLACKWELL.row()
    }
    .device(),
];
