//! The Linux of Windows (WSL2): no card in `/proc`, none on PCI in sysfs, and libraries of the driver in a folder of their own. What is tested
//! is that the card is known by NVML; no such machine was read.

use serde_json::Value;

use super::{CARD, Machine, compare, of};
use crate::attach::{server, vllm};

/// Such a machine; the library of tests calls its card NVIDIA GeForce RTX 4090.
fn windows() -> Machine {
    let machine = Machine { root: "windows", ..Machine::h100() };
    machine.folder.file("windows/usr/lib/wsl/lib/libnvidia-ml.so.1", "");
    machine.folder.file("windows/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n");
    machine.folder.file("windows/proc/cpuinfo", "model name\t: AMD Ryzen 9 7950X\n");
    machine
}

fn json(machine: &Machine, library: &str, words: &[&str]) -> Value {
    let ended = machine.run(library, words);
    assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

/// The finding of `doctor` in a row, and whether it is good.
fn found(machine: &Machine, library: &str, what: &str) -> (bool, String) {
    let state = machine.folder.path("state");
    let ended = machine.run(library, &["doctor", "--state", &state, "-o", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("JSON");
    let row = rows.iter().find(|row| row["what"] == what);
    let row = row.unwrap_or_else(|| panic!("{what}: {rows:?}"));
    (row["state"] == "ok", row["found"].as_str().expect("text").to_owned())
}

#[test]
fn the_card_has_its_readings_power_and_meters() {
    let machine = windows();
    let value = machine.telemetry("");
    for (name, number) in
        [("gpu_power_watt", 200.0), ("gpu_memory_total_byte", 80e9), ("gpu_clock_hz", 1755e6)]
    {
        compare(&value, name, Ok(number));
    }
    compare(&json(&machine, "", &["power", "get", "-o", "json"]), "gpu_power_cap_watt", Ok(700.0));
    // A value that the library does not tell there has its own reason.
    compare(&machine.telemetry("orin"), "gpu_power_watt", Err("nvmlDeviceGetPowerUsage"));
    let (is_good, meter) = found(&machine, "", "GPU power");
    assert!(is_good && meter == format!("{CARD}: NVML, field POWER_INSTANT"), "{meter}");
    let (is_good, driver) = found(&machine, "", "GPU driver");
    assert!(is_good && driver.starts_with("NVIDIA 580.65.06; "), "{driver}");
    let address = server(vllm);
    let words = ["attach", &address, "--interval", "1s", "-o", "json"];
    let watts = json(&machine, "", &words)["live"]["card_power_w"].as_f64().expect("a meter");
    assert!((watts - 200.0).abs() < 5.0, "{watts}");
}

#[test]
fn the_card_is_the_machine_of_hardware_here() {
    let machine = windows();
    let words = "analyze --hardware here -m 1 -n 64 -k 64 --weights fp16 -o json";
    let words: Vec<&str> = words.split_whitespace().collect();
    assert_eq!(json(&machine, "", &words)["hardware"]["key"], "rtx_4090");
    // Where the library does not open, the processor does not stand for the card.
    let unknown = machine.run("mismatch", &words);
    assert_eq!((unknown.code, &*unknown.stdout), (Some(2), ""));
    let why = "the cards of this machine are not known: NVML and the kernel module";
    assert!(unknown.stderr.contains(why), "{}", unknown.stderr);
}

#[test]
fn cards_that_the_library_does_not_list_have_its_reason() {
    let machine = windows();
    let words = "NVML and the kernel module of the driver have different versions";
    let row = of(&machine.telemetry("mismatch"), "gpu_utilization_ratio").clone();
    assert!(row["reason"].as_str().is_some_and(|why| why.starts_with(words)), "{row}");
    let (is_good, why) = found(&machine, "mismatch", "GPU power");
    assert!(!is_good && why.starts_with(words), "{why}");
    let ended = machine.run("mismatch", &["power", "get"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(3), ""));
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    // The folder alone, as beside a card of another maker, says nothing about NVIDIA.
    std::fs::remove_file(machine.folder.path("windows/usr/lib/wsl/lib/libnvidia-ml.so.1"))
        .expect("ours");
    machine.folder.file("windows/usr/lib/wsl/lib/libd3d12.so", "");
    let row = of(&machine.telemetry("hangs_at=1"), "gpu_utilization_ratio").clone();
    assert!(row["reason"].as_str().is_some_and(|why| why.starts_with("no GPU is found")), "{row}");
    assert!(found(&machine, "", "GPU power").0);
}
