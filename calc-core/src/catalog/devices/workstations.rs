//! NVIDIA workstation cards, and the Titan beside them.

use super::nvidia_family::{
    GEFORCE_PASCAL, PCIE_3_X16, PCIE_4_X8, PCIE_4_X16, PCIE_5_X8, PCIE_5_X16, PRO_ADA, PRO_AMPERE,
    PRO_BLACKWELL, PRO_TURING, VOLTA,
};
use super::row::Row;
use crate::device::Device;
use crate::text::text;

pub(super) static DEVICES: [Device; 29] = [
    Row {
        key: "quadro_p6000",
        name: "Quadro P6000",
        chip: "Pascal (GP102)",
        year: 2016,
        gib: 24.0,
        memory_type: "GDDR5X",
        gb_s: 432.8,
        units: 30,
        mhz: 1645.0,
        l2_mib: Some(3.0),
        watts: Some(250.0),
        slot: PCIE_3_X16,
        ..GEFORCE_PASCAL.row()
    }
    .device(),
    Row {
        key: "titan_xp",
        name: "Titan Xp",
        chip: "Pascal (GP102)",
        year: 2017,
        gib: 12.0,
        memory_type: "GDDR5X",
        gb_s: 547.6,
        units: 30,
        mhz: 1582.0,
        l2_mib: Some(3.0),
        watts: Some(250.0),
        slot: PCIE_3_X16,
        ..GEFORCE_PASCAL.row()
    }
    .device(),
    Row {
        key: "titan_v",
        name: "Titan V",
        chip: "Volta (GV100)",
        year: 2017,
        gib: 12.0,
        memory_type: "HBM2",
        gb_s: 651.3,
        units: 80,
        mhz: 1455.0,
        l2_mib: Some(4.5),
        watts: Some(250.0),
        slot: PCIE_3_X16,
        ..VOLTA.row()
    }
    .device(),
    Row {
        key: "titan_rtx",
        name: "Titan RTX",
        chip: "Turing (TU102)",
        year: 2018,
        gib: 24.0,
        memory_type: "GDDR6",
        gb_s: 672.0,
        units: 72,
        mhz: 1770.0,
        l2_mib: Some(6.0),
        watts: Some(280.0),
        slot: PCIE_3_X16,
        ..PRO_TURING.row()
    }
    .device(),
    Row {
        key: "quadro_rtx_4000",
        name: "Quadro RTX 4000",
        chip: "Turing (TU104)",
        year: 2018,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 416.0,
        units: 36,
        mhz: 1545.0,
        l2_mib: Some(4.0),
        watts: Some(160.0),
        slot: PCIE_3_X16,
        ..PRO_TURING.row()
    }
    .device(),
    Row {
        key: "quadro_rtx_5000",
        name: "Quadro RTX 5000",
        chip: "Turing (TU104)",
        year: 2018,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 48,
        mhz: 1815.0,
        l2_mib: Some(4.0),
        watts: Some(230.0),
        slot: PCIE_3_X16,
        ..PRO_TURING.row()
    }
    .device(),
    Row {
        key: "quadro_rtx_6000",
        name: "Quadro RTX 6000",
        chip: "Turing (TU102)",
        year: 2018,
        gib: 24.0,
        memory_type: "GDDR6",
        gb_s: 672.0,
        units: 72,
        mhz: 1770.0,
        l2_mib: Some(6.0),
        watts: Some(260.0),
        slot: PCIE_3_X16,
        ..PRO_TURING.row()
    }
    .device(),
    Row {
        key: "quadro_rtx_8000",
        name: "Quadro RTX 8000",
        chip: "Turing (TU102)",
        year: 2018,
        gib: 48.0,
        memory_type: "GDDR6",
        gb_s: 672.0,
        units: 72,
        mhz: 1770.0,
        l2_mib: Some(6.0),
        watts: Some(260.0),
        slot: PCIE_3_X16,
        ..PRO_TURING.row()
    }
    .device(),
    Row {
        key: "rtx_a1000",
        name: "RTX A1000",
        chip: "Ampere (GA107)",
        year: 2024,
        gib: 8.0,
        memory_type: "GDDR6",
        gb_s: 192.0,
        units: 18,
        mhz: 1462.0,
        l2_mib: Some(2.0),
        watts: Some(50.0),
        slot: PCIE_4_X8,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_a2000_6gb",
        name: "RTX A2000 6GB",
        chip: "Ampere (GA106)",
        year: 2021,
        gib: 6.0,
        memory_type: "GDDR6",
        gb_s: 288.0,
        units: 26,
        mhz: 1200.0,
        l2_mib: Some(3.0),
        watts: Some(70.0),
        slot: PCIE_4_X16,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_a2000_12gb",
        name: "RTX A2000 12GB",
        chip: "Ampere (GA106)",
        year: 2021,
        gib: 12.0,
        memory_type: "GDDR6",
        gb_s: 288.0,
        units: 26,
        mhz: 1200.0,
        l2_mib: Some(3.0),
        watts: Some(70.0),
        slot: PCIE_4_X16,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_a4000",
        name: "RTX A4000",
        chip: "Ampere (GA104)",
        year: 2021,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 448.0,
        units: 48,
        mhz: 1560.0,
        l2_mib: Some(4.0),
        watts: Some(140.0),
        slot: PCIE_4_X16,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_a4500",
        name: "RTX A4500",
        chip: "Ampere (GA102)",
        year: 2021,
        gib: 20.0,
        memory_type: "GDDR6",
        gb_s: 640.0,
        units: 56,
        mhz: 1650.0,
        l2_mib: Some(6.0),
        watts: Some(200.0),
        slot: PCIE_4_X16,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_a5000",
        name: "RTX A5000",
        chip: "Ampere (GA102)",
        year: 2021,
        gib: 24.0,
        memory_type: "GDDR6",
        gb_s: 768.0,
        units: 64,
        mhz: 1695.0,
        l2_mib: Some(6.0),
        watts: Some(230.0),
        slot: PCIE_4_X16,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_a5500",
        name: "RTX A5500",
        chip: "Ampere (GA102)",
        year: 2022,
        gib: 24.0,
        memory_type: "GDDR6",
        gb_s: 768.0,
        units: 80,
        mhz: 1665.0,
        l2_mib: Some(6.0),
        watts: Some(230.0),
        slot: PCIE_4_X16,
        ..PRO_AMPERE.row()
    }
    .device(),
    Row {
        key: "rtx_2000_ada",
        name: "RTX 2000 Ada Generation",
        chip: "Ada (AD107)",
        year: 2024,
        gib: 16.0,
        memory_type: "GDDR6",
        gb_s: 256.0,
        units: 22,
        mhz: 2130.0,
        l2_mib: Some(12.0),
        watts: Some(70.0),
        slot: PCIE_4_X8,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4000_ada",
        name: "RTX 4000 Ada Generation",
        chip: "Ada (AD104)",
        year: 2023,
        gib: 20.0,
        memory_type: "GDDR6",
        gb_s: 360.0,
        units: 48,
        mhz: 2175.0,
        l2_mib: Some(48.0),
        watts: Some(130.0),
        slot: PCIE_4_X16,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4000_sff_ada",
        name: "RTX 4000 SFF Ada Generation",
        chip: "Ada (AD104)",
        year: 2023,
        gib: 20.0,
        memory_type: "GDDR6",
        gb_s: 280.0,
        units: 48,
        mhz: 1560.0,
        l2_mib: Some(48.0),
        watts: Some(70.0),
        slot: PCIE_4_X16,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_4500_ada",
        name: "RTX 4500 Ada Generation",
        chip: "Ada (AD103)",
        year: 2023,
        gib: 24.0,
        memory_type: "GDDR6",
        gb_s: 432.0,
        units: 60,
        mhz: 2580.0,
        l2_mib: Some(48.0),
        watts: Some(210.0),
        slot: PCIE_4_X16,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_5000_ada",
        name: "RTX 5000 Ada Generation",
        chip: "Ada (AD102)",
        year: 2023,
        gib: 32.0,
        memory_type: "GDDR6",
        gb_s: 576.0,
        units: 100,
        mhz: 2550.0,
        l2_mib: Some(72.0),
        watts: Some(250.0),
        slot: PCIE_4_X16,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_5880_ada",
        name: "RTX 5880 Ada",
        chip: "Ada (AD102)",
        year: 2024,
        gib: 48.0,
        memory_type: "GDDR6",
        gb_s: 864.0,
        units: 110,
        mhz: 2460.0,
        l2_mib: Some(72.0),
        watts: Some(285.0),
        slot: PCIE_4_X16,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_6000_ada",
        name: "RTX 6000 Ada Generation",
        chip: "Ada (AD102)",
        year: 2022,
        gib: 48.0,
        memory_type: "GDDR6",
        gb_s: 960.0,
        units: 142,
        mhz: 2505.0,
        l2_mib: Some(96.0),
        watts: Some(300.0),
        slot: PCIE_4_X16,
        ..PRO_ADA.row()
    }
    .device(),
    Row {
        key: "rtx_pro_2000_blackwell",
        name: "RTX PRO 2000 Blackwell",
        aliases: const { &[text("rtx_pro_2000")] },
        chip: "Blackwell (GB206)",
        year: 2025,
        gib: 16.0,
        memory_type: "GDDR7",
        gb_s: 288.0,
        units: 34,
        mhz: 1957.0,
        l2_mib: Some(32.0),
        watts: Some(70.0),
        slot: PCIE_5_X8,
        ..PRO_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_pro_4000_blackwell",
        name: "RTX PRO 4000 Blackwell",
        aliases: const { &[text("rtx_pro_4000")] },
        chip: "Blackwell (GB203)",
        year: 2025,
        gib: 24.0,
        memory_type: "GDDR7",
        gb_s: 672.0,
        units: 70,
        mhz: 2055.0,
        l2_mib: Some(48.0),
        watts: Some(140.0),
        slot: PCIE_5_X16,
        ..PRO_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_pro_4500_blackwell",
        name: "RTX PRO 4500 Blackwell",
        aliases: const { &[text("rtx_pro_4500")] },
        chip: "Blackwell (GB203)",
        year: 2025,
        gib: 32.0,
        memory_type: "GDDR7",
        gb_s: 896.0,
        units: 82,
        mhz: 2407.0,
        l2_mib: Some(64.0),
        watts: Some(200.0),
        slot: PCIE_5_X16,
        ..PRO_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_pro_5000_blackwell_48gb",
        name: "RTX PRO 5000 Blackwell 48GB",
        chip: "Blackwell (GB202)",
        year: 2025,
        gib: 48.0,
        memory_type: "GDDR7",
        gb_s: 1344.0,
        units: 110,
        mhz: 2377.0,
        l2_mib: Some(96.0),
        watts: Some(300.0),
        slot: PCIE_5_X16,
        ..PRO_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_pro_5000_blackwell_72gb",
        name: "RTX PRO 5000 Blackwell 72GB",
        chip: "Blackwell (GB202)",
        year: 2025,
        gib: 72.0,
        memory_type: "GDDR7",
        gb_s: 1344.0,
        units: 110,
        mhz: 2377.0,
        l2_mib: Some(96.0),
        watts: Some(300.0),
        slot: PCIE_5_X16,
        ..PRO_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_pro_6000_blackwell_max_q",
        name: "RTX PRO 6000 Blackwell Max-Q",
        aliases: const { &[text("rtx_pro_6000_max_q")] },
        chip: "Blackwell (GB202)",
        year: 2025,
        gib: 96.0,
        memory_type: "GDDR7",
        gb_s: 1792.0,
        units: 188,
        mhz: 2280.0,
        l2_mib: Some(128.0),
        watts: Some(300.0),
        slot: PCIE_5_X16,
        ..PRO_BLACKWELL.row()
    }
    .device(),
    Row {
        key: "rtx_pro_6000_blackwell_server",
        name: "RTX PRO 6000 Blackwell Server",
        aliases: const { &[text("rtx_pro_6000_server")] },
        chip: "Blackwell (GB202)",
        year: 2025,
        gib: 97_887.0 / 1024.0,
        memory_type: "GDDR7",
        gb_s: 1597.0,
        units: 188,
        mhz: 2430.0,
        l2_mib: Some(128.0),
        watts: Some(600.0),
        slot: PCIE_5_X16,
        notes: "Clock, memory, power and peaks as NVIDIA's aiconfigurator reads them on the card: 467.8 TFLOP/s in FP16 at 2430 MHz, full rate with FP32 accumulation. Its measured reads fit 1597 GB/s; its file and TechPowerUp state 1792, as of the workstation card",
        ..PRO_BLACKWELL.row()
    }
    .device(),
];
