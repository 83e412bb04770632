//! This machine as a device of the catalog.

use super::super::sensors::fixtures;
use super::super::sensors::tests::Machine;
use super::*;
use std::env;
use std::path::PathBuf;
use std::process;

/// A machine as a tree of files.
fn machine(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = env::temp_dir().join(format!("ridgepoint-here-{}-{name}", process::id()));
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }
    root
}

fn found(name: &str, files: &[(&str, &str)]) -> Result<&'static str, String> {
    let root = machine(name, files);
    let found = device_name(&root);
    let _ = fs::remove_dir_all(root);
    found.map(|name| catalog::device(&name).expect("a device").catalog_key())
}

const CARD: &str = "proc/driver/nvidia/gpus/0000:01:00.0/information";
const BOARD: &str = "proc/device-tree/model";
const PROCESSOR: &str = "proc/cpuinfo";
const MEMINFO: &str = "proc/meminfo";

#[test]
fn a_machine_is_its_board_or_its_card_or_its_processor() {
    let orin = "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super\0";
    let ryzen = "processor\t: 0\nmodel name\t: AMD Ryzen 9 7950X 16-Core Processor\n";
    let intel = "model name\t: Intel(R) Core(TM) i9-14900K CPU @ 3.20GHz\n";
    let card = "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 120\n";
    for (name, files, key) in [
        (
            "orin",
            vec![(BOARD, orin), (MEMINFO, "MemTotal:  7802848 kB\n")],
            "jetson_orin_nano_8gb_super",
        ),
        (
            "spark",
            vec![("sys/class/dmi/id/product_name", "NVIDIA_DGX_Spark\n"), (PROCESSOR, ryzen)],
            "gb10",
        ),
        (
            "desktop",
            vec![("sys/class/dmi/id/product_name", "MS-7D78\n"), (CARD, card), (PROCESSOR, ryzen)],
            "rtx_4090",
        ),
        ("laptop", vec![(CARD, "Model: NVIDIA GeForce RTX 4060 Laptop GPU\n")], "rtx_4060_laptop"),
        ("ryzen", vec![(PROCESSOR, ryzen)], "ryzen_9_7950x"),
        ("intel", vec![(PROCESSOR, intel)], "core_i9_14900k"),
    ] {
        assert_eq!(found(name, &files), Ok(key), "{name}");
    }
}

/// The device of a machine with a processor and these files.
fn beside_ryzen(machine: Machine) -> Result<String, String> {
    let ryzen = b"model name\t: AMD Ryzen 9 7950X 16-Core Processor\n";
    let machine = machine.with_bytes(PROCESSOR, ryzen);
    device_name(machine.root())
}

#[test]
fn a_card_of_another_maker_is_the_machine_or_is_said_to_be_left_out() {
    let first = "sys/devices/pci0000:00/0000:03:00.0";
    let second = "sys/devices/pci0000:00/0000:0c:00.0";
    // The first card of the fixture becomes a processor's graphics part.
    let one = |name: &str| {
        fixtures::two_amd_cards(name).with_bytes(&format!("{first}/gpu_metrics"), &[120, 0, 2, 2])
    };
    assert_eq!(beside_ryzen(one("here-known")).as_deref(), Ok("mi100"));
    let small =
        one("here-small").with_bytes(&format!("{second}/mem_info_vram_total"), b"17179869184\n");
    let unnamed = one("here-unnamed").with_bytes(&format!("{second}/product_name"), b"Instinct\n");
    let arc = fixtures::arc_card("here-arc");
    let two = fixtures::two_amd_cards("here-two");
    for (machine, words) in [
        (small, "\"Instinct MI100\" (amdgpu@0000:0c:00.0) with 17.2 GB of memory"),
        (unnamed, "\"Instinct\" (amdgpu@0000:0c:00.0) with 34.4 GB"),
        (arc, "the card \"xe 8086:E20B\" (xe@0000:0a:00.0), and the catalog has no such"),
        (two, "unlike cards: Instinct MI100, amdgpu 1002:744C"),
    ] {
        let why = beside_ryzen(machine).expect_err(words);
        assert!(why.contains(words), "{why}");
        let is_several = words.starts_with("unlike");
        assert!(is_several || why.contains("left out, and the processor \"AMD Ryzen"), "{why}");
    }
    // Graphics of a processor are no card.
    let iris = fixtures::i915_card("here-iris");
    assert_eq!(beside_ryzen(iris).as_deref(), Ok("ryzen_9_7950x"));
}

#[test]
fn the_daemon_tells_the_key_of_its_machine_or_why_it_has_none() {
    let told = |name: &str, model: &str| {
        let root = machine(name, &[(CARD, model)]);
        let told = told(&root);
        let _ = fs::remove_dir_all(root);
        told
    };
    let known = told("told", "Model: NVIDIA GeForce RTX 4090\n");
    let key = Some("rtx_4090".to_owned());
    assert_eq!(known, MachineHere { catalog_key: key, why_not: None });
    let unknown = told("untold", "Model: NVIDIA GeForce RTX 2080 with Max-Q Design\n");
    assert_eq!(unknown.catalog_key, None);
    assert!(unknown.why_not.is_some_and(|why| why.contains("has no such device")));
}

#[test]
fn a_card_of_nvidia_is_the_row_with_its_memory() {
    let name = "NVIDIA GeForce RTX 3060";
    let twelve = by_nvidia(name, Some(12.6e9)).unwrap();
    assert_eq!(catalog::device(&twelve).unwrap().memory.value, Bytes::from_gib(12.0));
    let why = by_nvidia(name, Some(8.4e9)).unwrap_err();
    assert!(why.contains("with 8.4 GB of memory"), "{why}");
    assert_eq!(by_nvidia(name, None).unwrap(), name, "without CUDA its name stands for it");
    let why = by_nvidia("NVIDIA T1000", Some(4.2e9)).unwrap_err();
    assert!(why.contains("the catalog has no such device"), "{why}");
}

#[test]
fn a_board_that_is_sold_with_several_memories_is_the_row_with_its_own() {
    let pi = "processor\t: 0\nBogoMIPS\t: 108.00\n\nModel\t\t: Raspberry Pi 5 Model B Rev 1.0\n";
    let tree = "Raspberry Pi 5 Model B Rev 1.0\0";
    // A 32-bit system names the architecture instead of the processor.
    let old = "model name\t: ARMv7 Processor rev 1 (v7l)\n";
    for (kib, key) in [
        (4_139_000, Some("raspberry_pi_5_4gb")),
        (8_256_000, Some("raspberry_pi_5")),
        (16_608_000, Some("raspberry_pi_5_16gb")),
        (2_060_000, None),
    ] {
        let total = format!("MemTotal:  {kib} kB\n");
        for (form, files) in [
            ("cpuinfo", vec![(PROCESSOR, pi), (MEMINFO, &*total)]),
            ("tree", vec![(BOARD, tree), (MEMINFO, &total)]),
            ("both", vec![(PROCESSOR, pi), (BOARD, tree), (MEMINFO, &total)]),
            ("old", vec![(PROCESSOR, old), (BOARD, tree), (MEMINFO, &total)]),
        ] {
            let name = format!("pi-{kib}-{form}");
            let here = found(&name, &files);
            assert_eq!(here.as_ref().ok().copied(), key, "{name}");
            let said = format!("its memory is {:.1} GB, and", f64::from(kib) * 1024.0 / 1e9);
            assert!(here.err().is_none_or(|why| why.contains(&said)), "{said}");
            // Records and the daemon have the name that the backend reads.
            let root = machine(&name, &files);
            let text = fs::read_to_string(root.join(PROCESSOR)).unwrap_or_default();
            let row = processor_row(&root, &name_in(&text).unwrap_or_default());
            let _ = fs::remove_dir_all(root);
            assert_eq!(row.map(|row| &*row.key), key, "{name}");
        }
    }
    let why = found("pi-unknown", &[(PROCESSOR, pi)]).expect_err("its memory is not known");
    assert!(why.contains("memory is unknown") && why.contains("raspberry_pi_5_16gb"), "{why}");
}

#[test]
fn processors_are_found_by_their_reported_names() {
    let nowhere = Path::new("/nowhere");
    for (name, key) in [
        ("AMD EPYC 9654 96-Core Processor", Some("epyc_9654")),
        ("INTEL(R) XEON(R) PLATINUM 8592+", Some("xeon_8592plus")),
        ("Raspberry Pi 5 Model B Rev 1.0", None),
        ("AMD EPYC", None),
        ("AMD EPYC 9655 96-Core Processor", Some("epyc_9655")),
        ("AMD EPYC 9999 96-Core Processor", None),
        ("a processor", None),
        ("", None),
    ] {
        assert_eq!(processor_row(nowhere, name).map(|device| &*device.key), key, "{name}");
    }
    let processors = catalog::devices::all().filter(|it| it.class == DeviceClass::Cpu);
    for device in processors {
        let found = with_memory(&processor_rows(&device.name), Some(device.memory.value.get()));
        assert_eq!(found.map(|found| &*found.key), Some(&*device.key), "{}", device.name);
    }
}

#[test]
fn a_namesake_stands_for_no_machine() {
    let max_q = "Model: NVIDIA GeForce RTX 2080 with Max-Q Design\n";
    let mobile = "model name\t: Intel(R) Core(TM) i9-14900HX\n";
    let orin = "NVIDIA Jetson Orin Nano Developer Kit\0";
    let other = "proc/driver/nvidia/gpus/0000:02:00.0/information";
    let two =
        [(CARD, "Model: NVIDIA GeForce RTX 4090\n"), (other, "Model: NVIDIA GeForce RTX 3090\n")];
    for (name, files, why) in [
        ("max-q", vec![(CARD, max_q)], "with Max-Q Design\", and the catalog has no such device"),
        ("mobile", vec![(PROCESSOR, mobile)], "i9-14900HX\", and the catalog has no such device"),
        (
            "small",
            vec![(BOARD, orin), (MEMINFO, "MemTotal:  3900000 kB\n")],
            "4.0 GB of memory, and Jetson",
        ),
        ("two", two.to_vec(), "unlike cards: NVIDIA GeForce RTX 3090, NVIDIA GeForce RTX 4090"),
        ("empty", vec![(MEMINFO, "")], "does not show which machine it is"),
        ("garbage", vec![(PROCESSOR, "model name\t: \n"), (BOARD, "\0\n")], "does not show"),
    ] {
        let refusal = found(name, &files).expect_err(name);
        assert!(refusal.contains(why), "{refusal}");
    }
    // Two alike are one kind.
    let card = "Model: NVIDIA GeForce RTX 4090\n";
    assert_eq!(found("alike", &[(CARD, card), (other, card)]), Ok("rtx_4090"));
}
