//! Cards of NVIDIA by a management library that the tests build (`kernels/cuda/cpu/libnvml.c`). Its values are assumed: what is tested is
//! the way from the library to the output, and each of its failures. No card was read.

mod power;
mod records;
mod wsl;

use std::process::Command;

use serde_json::{Value, json};

use crate::run::{Ended, Folder, program};

const CARD: &str = "nvidia@0000:01:00.0";

/// A machine with one card of NVIDIA's driver, and the folder of its library.
struct Machine {
    folder: Folder,
    /// Folder of the library, below its own.
    library: &'static str,
    /// Folder of the files of the system, likewise.
    root: &'static str,
}

impl Machine {
    fn with(model: &str) -> Self {
        let folder = Folder::new();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/cuda/cpu/build-nvml.sh");
        let built = Command::new(script).arg(folder.path("nvml")).status().expect("a shell");
        assert!(built.success(), "gcc is installed and compiles the library of tests");
        let gpu = "proc/driver/nvidia/gpus/0000:01:00.0/information";
        for (file, text) in [
            (gpu, format!("Model: \t\t {model}\nGPU UUID: \t GPU-1\nDevice Minor: \t 0\n")),
            ("proc/meminfo", "MemTotal: 131072000 kB\nMemAvailable: 104857600 kB\n".to_owned()),
        ] {
            folder.file(&format!("machine/{file}"), text);
        }
        Self { folder, library: "nvml", root: "machine" }
    }

    fn h100() -> Self {
        Self::with("NVIDIA H100 80GB HBM3")
    }

    /// The binary, with these words for the library.
    fn program(&self, library: &str, words: &[&str]) -> Command {
        let hooks = json!({
            "sensors": self.folder.path(self.root), "device": "time_us=20000,bus=1", "quick_plan": 3,
        });
        let mut program = program();
        program.env("RIDGEPOINT_TEST_HOOKS", hooks.to_string());
        program.env("RIDGEPOINT_CUDA_LIBS", self.folder.path(self.library));
        program.env("FAKE_NVML", library).args(words);
        program
    }

    fn run(&self, library: &str, words: &[&str]) -> Ended {
        self.program(library, words).output().expect("the binary starts").into()
    }

    /// All readings of the card, with those of the machine.
    fn telemetry(&self, library: &str) -> Value {
        let ended = self.run(library, &["telemetry", "-o", "json"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).expect("JSON")
    }
}

/// The first reading of a name.
fn of<'a>(value: &'a Value, name: &str) -> &'a Value {
    let readings = value["readings"].as_array().expect("a list");
    let found = readings.iter().find(|reading| reading["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {value}"))
}

/// Compares a reading with a value, or with words of its reason.
fn compare(value: &Value, name: &str, expected: Result<f64, &str>) {
    let reading = of(value, name);
    assert_eq!(reading["device"], CARD, "{reading}");
    match expected {
        Ok(number) => {
            let found = reading["value"].as_f64().unwrap_or_else(|| panic!("{reading}"));
            assert!((found - number).abs() <= 1e-9 * number, "{reading}");
            assert!(reading["reason"].is_null(), "{reading}");
        }
        Err(words) => {
            let why = reading["reason"].as_str().unwrap_or_else(|| panic!("{reading}"));
            assert!(reading["value"].is_null() && why.contains(words), "{words}: {reading}");
        }
    }
}

#[test]
fn a_card_has_each_reading_with_its_function() {
    let value = Machine::h100().telemetry("");
    for (name, number, source) in [
        ("gpu_power_watt", 200.0, "NVML, field POWER_INSTANT"),
        ("gpu_power_average_watt", 195.0, "NVML, field POWER_AVERAGE"),
        ("gpu_power_cap_watt", 700.0, "NVML, nvmlDeviceGetEnforcedPowerLimit"),
        ("gpu_utilization_ratio", 0.97, "NVML, nvmlDeviceGetUtilizationRates"),
        ("gpu_temperature_celsius", 63.0, "NVML, nvmlDeviceGetTemperature"),
        ("gpu_clock_hz", 1755e6, "NVML, nvmlDeviceGetClockInfo (SM)"),
        ("gpu_memory_clock_hz", 2619e6, "NVML, nvmlDeviceGetClockInfo (memory)"),
        ("gpu_memory_used_byte", 3e9, "NVML, nvmlDeviceGetMemoryInfo"),
        ("gpu_memory_total_byte", 80e9, "NVML, nvmlDeviceGetMemoryInfo"),
        ("gpu_memory_reserved_byte", 5e8, "NVML, nvmlDeviceGetMemoryInfo"),
        ("gpu_throttle_reasons", 0.0, "NVML, nvmlDeviceGetCurrentClocksThrottleReasons: none"),
        ("gpu_last_xid", 0.0, "NVML, events of Xid errors while this process listens: none"),
        ("gpu_other_processes", 0.0, "NVML, other processes that compute: none"),
        ("gpu_other_processes_memory_byte", 0.0, "NVML, other processes that compute: none"),
    ] {
        compare(&value, name, Ok(number));
        assert_eq!(of(&value, name)["source"], source, "{name}");
    }
    let joules = of(&value, "gpu_energy_joule")["value"].as_f64().expect("a counter");
    assert!((5000.0..6000.0).contains(&joules), "{joules}");
    let warm = value["readings"].as_array().expect("a list").iter();
    let rails = warm.filter(|reading| reading["name"] == "gpu_temperature_celsius");
    let rails: Vec<_> = rails.map(|it| (it["rail"].as_str(), it["value"].as_f64())).collect();
    assert_eq!(rails, [(None, Some(63.0)), (Some("mem"), Some(71.0))]);
    // A memory of 0 degrees is one that the driver does not tell.
    let cold = Machine::h100().telemetry("cold_memory");
    let mut rows = cold["readings"].as_array().expect("a list").iter();
    let memory = rows.find(|it| it["name"] == "gpu_temperature_celsius" && it["rail"] == "mem");
    let memory = memory.expect("a row of the memory");
    assert_eq!(
        (&memory["value"], &memory["reason"]),
        (&Value::Null, &json!("NVML has no value for field MEMORY_TEMP"))
    );
}

#[test]
fn what_a_board_does_not_support_is_null_with_its_reason() {
    let no = |function: &'static str| Err(function);
    let used = (131_072_000.0 - 104_857_600.0) * 1024.0;
    for (board, model, expected) in [
        (
            "orin",
            "Orin (nvgpu)",
            [no("nvmlDeviceGetPowerUsage"), no("Rates"), no("Clock"), no("Info")],
        ),
        ("thor", "NVIDIA Thor", [no("nvmlDeviceGetPowerUsage"), Ok(0.97), no("Clock"), Ok(used)]),
        ("gb10", "NVIDIA GB10", [Ok(200.0), Ok(0.97), Ok(1755e6), Ok(used)]),
    ] {
        let value = Machine::with(model).telemetry(board);
        let [power, busy, clock, memory] = expected;
        compare(&value, "gpu_power_watt", power);
        compare(&value, "gpu_utilization_ratio", busy);
        compare(&value, "gpu_clock_hz", clock);
        compare(&value, "gpu_memory_used_byte", memory);
        for name in ["gpu_energy_joule", "gpu_power_cap_watt", "gpu_memory_clock_hz"] {
            compare(&value, name, Err("NVML does not support nvmlDeviceGet"));
        }
    }
    let value = Machine::with("NVIDIA GB10").telemetry("gb10");
    let source = of(&value, "gpu_memory_total_byte")["source"].as_str().expect("a source");
    assert!(source.starts_with("/proc/meminfo: memory of the system"), "{source}");
}

#[test]
fn a_library_that_fails_leaves_a_reason_for_each_reading_and_the_other_sensors() {
    let machine = Machine::h100();
    for (library, words) in [
        ("none", "NVML knows no GPU at this address"),
        ("mismatch", "NVML and the kernel module of the driver have different versions"),
        ("unloaded", "the driver of NVIDIA is not loaded (NVML)"),
        ("denied", "this user may not ask NVML for"),
        ("lost_at=1", "the GPU is lost (NVML, GPU_IS_LOST)"),
        ("lost_at=9", "the GPU is lost (NVML, GPU_IS_LOST)"),
    ] {
        let value = machine.telemetry(library);
        for name in ["gpu_power_watt", "gpu_utilization_ratio", "gpu_memory_used_byte"] {
            compare(&value, name, Err(words));
        }
        assert!(of(&value, "memory_available_byte")["value"].is_f64(), "{library}: {value}");
    }
    let absent = Machine { library: "nowhere", ..machine };
    compare(&absent.telemetry(""), "gpu_power_watt", Err("NVML (libnvidia-ml.so.1) was not found"));
}

#[test]
fn an_old_driver_has_what_its_library_has() {
    let machine = Machine { library: "nvml/old", ..Machine::h100() };
    let value = machine.telemetry("no_instant,others=1");
    compare(
        &value,
        "gpu_memory_used_byte",
        Err("the driver is too old: its NVML lacks nvmlDeviceGetMemoryInfo"),
    );
    compare(&value, "gpu_other_processes", Ok(1.0));
    compare(&value, "gpu_power_watt", Ok(195.0));
    let source = of(&value, "gpu_power_watt")["source"].as_str().expect("a source");
    assert!(source.contains("mean of a second"), "{source}");
    compare(&value, "gpu_power_average_watt", Err("does not support field POWER_AVERAGE"));
}

#[test]
fn one_failed_question_costs_one_reading_and_the_next_one_works() {
    let machine = Machine::h100();
    let mut failed = Vec::new();
    for at in 1..=60 {
        let value = machine.telemetry(&format!("fails_at={at}"));
        let readings = value["readings"].as_array().expect("a list").iter();
        let of_card = readings.filter(|reading| reading["device"] == CARD);
        let silent: Vec<String> = of_card
            .filter(|reading| reading["value"].is_null())
            .map(|reading| {
                let why = reading["reason"].as_str().expect("a reason");
                assert!(why.contains("internal driver error"), "{at}: {why}");
                reading["name"].as_str().expect("a name").to_owned()
            })
            .collect();
        failed.push(silent);
    }
    // The first reading is thrown away; the second one asks for the card, and then for each reading.
    assert!(failed.first().is_some_and(Vec::is_empty), "{failed:?}");
    let alone = |name: &str| failed.iter().any(|silent| *silent == [name]);
    for name in ["gpu_utilization_ratio", "gpu_power_cap_watt", "gpu_energy_joule", "gpu_clock_hz"]
    {
        assert!(alone(name), "{name}: {failed:?}");
    }
    assert!(failed.iter().any(|silent| silent.len() >= 5), "the card is not found: {failed:?}");
    // Where instant power fails, the power that all drivers tell stands for it.
    assert!(!alone("gpu_power_watt"), "{failed:?}");
}

#[test]
fn a_question_that_hangs_is_named_with_its_time_and_all_other_sensors_are_read() {
    let value = Machine::h100().telemetry("hangs_at=6");
    let card = of(&value, "gpu_utilization_ratio");
    let why = card["reason"].as_str().unwrap_or_default();
    assert!(why.starts_with(&format!("no answer from {CARD} for ")), "{card}");
    assert!(of(&value, "memory_available_byte")["value"].is_f64(), "{value}");
}

#[test]
fn reasons_processes_and_errors_of_a_card_are_named() {
    let machine = Machine::h100();
    // The idle bit is no reason; 0x4c is a power cap, and heat twice.
    let value = machine.telemetry("reasons=77,others=2,own,xid=79,mig");
    compare(&value, "gpu_throttle_reasons", Ok(3.0));
    let source = of(&value, "gpu_throttle_reasons")["source"].as_str().expect("a source");
    let named = "power cap, hardware slowdown, temperature, by hardware";
    assert!(source.ends_with(named) && source.contains("divided (MIG)"), "{source}");
    compare(&value, "gpu_other_processes", Ok(2.0));
    compare(&value, "gpu_other_processes_memory_byte", Ok(2e9));
    let source = of(&value, "gpu_other_processes")["source"].as_str().expect("a source");
    assert!(source.contains("process 1 (1.00"), "{source}");
    // The third is none of this machine, as in a container.
    let contained = machine.telemetry("others=3,own");
    let read = of(&contained, "gpu_other_processes");
    assert!(read["source"].as_str().is_some_and(|it| it.contains("fdinfo")), "{read}");
    compare(&contained, "gpu_other_processes", Ok(0.0));
    compare(&value, "gpu_last_xid", Ok(79.0));
    let share = machine.telemetry("vgpu");
    let source = of(&share, "gpu_power_watt")["source"].as_str().expect("a source");
    assert!(source.ends_with("a share of a card (vGPU)"), "{source}");
}

#[test]
fn a_card_that_sleeps_is_not_woken_by_a_question() {
    let machine = Machine::h100();
    let state = "machine/sys/bus/pci/devices/0000:01:00.0/power/runtime_status";
    machine.folder.file(state, "suspended\n");
    // Any question would hang.
    let value = machine.telemetry("hangs_at=1");
    for name in ["gpu_power_watt", "gpu_utilization_ratio", "gpu_other_processes"] {
        compare(&value, name, Err("it sleeps, and reading would wake it up"));
    }
    let words = ["monitor", "--device", CARD, "-o", "json", "--", "true"];
    let ended = machine.run("hangs_at=1", &words);
    let (_, json) = ended.stderr.split_once('\n').expect("the warning about hooks");
    let value: Value = serde_json::from_str(json).expect("JSON");
    assert!(value["meters"].to_string().contains("it sleeps"), "{value}");
    machine.folder.file(state, "active\n");
    compare(&machine.telemetry(""), "gpu_power_watt", Ok(200.0));
}

#[test]
fn doctor_names_the_meter_of_a_card_or_what_it_lacks() {
    let machine = Machine::h100();
    let found = |library: &str| {
        let state = machine.folder.path("state");
        let ended = machine.run(library, &["doctor", "--state", &state, "-o", "json"]);
        let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("JSON");
        let row = rows.into_iter().find(|row| row["what"] == "GPU power").expect("a row");
        (row["state"].clone(), row["found"].as_str().expect("text").to_owned())
    };
    let meter = format!("{CARD}: NVML, field POWER_INSTANT");
    assert_eq!(found(""), (json!("ok"), meter));
    let (state, why) = found("mismatch");
    assert!(state != "ok" && why.contains("have different versions"), "{state} {why}");
    let (state, why) = found("hangs_at=6");
    assert!(state != "ok" && why.contains("no answer from"), "{state} {why}");
}

#[test]
fn doctor_names_the_version_of_the_driver_and_of_its_cuda() {
    let machine = Machine::h100();
    let state = machine.folder.path("state");
    let found = |library: &str| {
        let ended = machine.run(library, &["doctor", "--state", &state, "-o", "json"]);
        let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("JSON");
        let row = rows.into_iter().find(|row| row["what"] == "GPU driver")?;
        Some((row["state"] == "ok", row["found"].as_str().expect("text").to_owned()))
    };
    let both = "NVIDIA 580.65.06; latest version of CUDA that it has: CUDA 13.0";
    assert_eq!(found(""), Some((true, both.to_owned())));
    let (is_good, why) = found("mismatch").expect("a row");
    assert!(!is_good && why.contains("its version of CUDA is not known: NVML and"), "{why}");
    machine.folder.file("machine/sys/module/nvidia/version", "580.65.06\n");
    let (is_good, by_module) = found("mismatch").expect("a row");
    assert!(is_good && by_module.starts_with("NVIDIA 580.65.06; its version"), "{by_module}");
    std::fs::remove_dir_all(machine.folder.path("machine/proc/driver")).expect("ours");
    assert_eq!(found(""), None, "no card of NVIDIA");
}
