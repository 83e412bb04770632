//! `telemetry`: every sensor with its value or the reason why it is missing, once and until Ctrl-C.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::run::{Ended, Ends, Folder, answer, line, program};

fn sound(value: &Value) {
    let readings = value["readings"].as_array().expect("a list");
    assert!(readings.len() >= 8, "{value}");
    for reading in readings {
        let has_value = reading["value"].is_f64();
        assert_eq!(has_value, reading["reason"].is_null(), "{reading}");
        assert!(["name", "unit", "source"].iter().all(|key| reading[key].is_string()), "{reading}");
    }
    assert_eq!(value["schema"], 1);
}

fn of(value: &Value, name: &str) -> Option<f64> {
    let readings = value["readings"].as_array()?;
    readings.iter().find(|reading| reading["name"] == name)?["value"].as_f64()
}

#[test]
fn one_reading_has_rates_already() {
    let value: Value = serde_json::from_str(&answer("telemetry -o json")).expect("JSON");
    sound(&value);
    // Load and memory can be read on every Linux; a first reading alone would have no load.
    let load = of(&value, "cpu_utilization_ratio").expect("two readings were taken");
    assert!((0.0..=1.0).contains(&load), "{load}");
    let (total, free) = (of(&value, "memory_total_byte"), of(&value, "memory_available_byte"));
    assert!(free > Some(0.0) && free < total, "{free:?} {total:?}");
    let table = answer("telemetry");
    assert!(table.contains("/proc/meminfo"), "{table}");
    let readings = value["readings"].as_array().expect("a list").iter();
    let cards = readings.filter(|reading| reading["name"] == "gpu_utilization_ratio");
    for card in cards.clone().filter(|card| card["device"].is_null()) {
        let why = "no GPU is found under /sys/class/drm and /sys/class/devfreq";
        assert_eq!(card["reason"], why);
    }
    assert!(cards.count() > 0, "a card, or the reason why there is none: {value}");
}

#[test]
fn watching_appends_lines_until_ctrl_c_which_is_no_failure() {
    let mut child = Ends(
        program()
            .args(["telemetry", "--watch", "--interval", "200ms", "-o", "jsonl"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts"),
    );
    let mut lines = BufReader::new(child.0.stdout.take().expect("piped")).lines();
    let values: Vec<Value> = lines
        .by_ref()
        .take(3)
        .map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON"))
        .collect();
    values.iter().for_each(sound);
    let times: Vec<u64> = values.iter().filter_map(|value| value["at_ms"].as_u64()).collect();
    assert!(times.len() == 3 && times.windows(2).all(|two| two[1] >= two[0] + 190), "{times:?}");
    kill_process(Pid::from_child(&child.0), Signal::INT).expect("it runs");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let mut child = Ends(
        program()
            .args(["telemetry", "--watch", "--interval", "0.2"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts"),
    );
    drop(child.0.stdout.take());
    let ended = (0..1200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        child.0.try_wait().expect("a child")
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
}

/// A machine with two cards of amdgpu, in the layout of the kernel's documentation; the values are assumed.
fn machine_with_cards() -> Folder {
    let folder = Folder::new();
    for (at, address, watts) in
        [(128, "0000:03:00.0", "287000000"), (129, "0000:0c:00.0", "38000000")]
    {
        let device = format!("machine/sys/devices/{address}");
        for (file, text) in [
            ("uevent", format!("DRIVER=amdgpu\nPCI_ID=1002:744C\nPCI_SLOT_NAME={address}\n")),
            ("gpu_busy_percent", "50\n".to_owned()),
            ("hwmon/hwmon1/name", "amdgpu\n".to_owned()),
            ("hwmon/hwmon1/power1_average", format!("{watts}\n")),
        ] {
            folder.file(&format!("{device}/{file}"), text);
        }
        for (link, target) in [
            (format!("machine/sys/class/drm/renderD{at}/device"), &device),
            (format!("machine/sys/class/hwmon/hwmon{at}"), &format!("{device}/hwmon/hwmon1")),
            (format!("{device}/hwmon/hwmon1/device"), &device),
        ] {
            let link = folder.path(&link);
            std::fs::create_dir_all(std::path::Path::new(&link).parent().expect("a folder"))
                .expect("a folder");
            std::os::unix::fs::symlink(folder.path(target), link).expect("a link");
        }
    }
    folder
}

/// Runs the binary with the sensors of such a machine.
fn beside_cards(machine: &Folder, words: &[&str]) -> Ended {
    let hooks = serde_json::json!({ "sensors": machine.path("machine") }).to_string();
    let mut program = program();
    program.env("RIDGEPOINT_TEST_HOOKS", hooks).args(words);
    program.output().expect("the binary starts").into()
}

#[test]
fn a_device_keeps_its_readings_and_meters_and_the_rest_is_counted() {
    let machine = machine_with_cards();
    let second = "amdgpu@0000:0c:00.0";
    let ended = beside_cards(&machine, &["telemetry", "--device", second, "-o", "json"]);
    let value: Value = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
    let readings = value["readings"].as_array().expect("a list");
    assert!(readings.iter().all(|reading| reading["device"] == second), "{value}");
    assert_eq!(of(&value, "gpu_power_watt"), Some(38.0));
    let all = beside_cards(&machine, &["telemetry", "-o", "json"]);
    let all: Value = serde_json::from_str(&all.stdout).expect("JSON");
    let number = all["readings"].as_array().map(Vec::len).unwrap_or_default();
    assert_eq!(value["left_out"], number - readings.len());
    assert!(number > 2 * readings.len() && all["left_out"] == 0, "{number}");
    let cpu = beside_cards(&machine, &["telemetry", "--device", "cpu", "-o", "json"]);
    let cpu: Value = serde_json::from_str(&cpu.stdout).expect("JSON");
    let names = cpu["readings"].as_array().expect("a list").iter();
    assert!(names.clone().count() > 2 && names.clone().all(|it| it["device"] == "cpu:0"), "{cpu}");

    let words =
        ["monitor", "--device", second, "-o", "json", "--", "sh", "-c", "sleep 0.3; exit 3"];
    let ended = beside_cards(&machine, &words);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let (_, json) = ended.stderr.split_once('\n').expect("the warning about hooks");
    let value: Value = serde_json::from_str(json).expect("JSON");
    let meters = value["meters"].as_array().expect("a list");
    assert_eq!((meters.len(), &value["device"]), (1, &second.into()), "{value}");
    assert!((meters[0]["mean_w"].as_f64().unwrap_or_default() - 38.0).abs() < 1e-6, "{value}");
    // The package, the first card and the battery.
    assert_eq!(value["meters_left_out"], 3, "{value}");
}

#[test]
fn a_device_that_runs_kernels_has_the_sensors_of_the_card_at_its_address() {
    let machine = machine_with_cards();
    let on_bus = |bus: u8, words: &[&str]| -> Ended {
        let device = format!("bus={bus}");
        let hooks = serde_json::json!({ "device": device, "sensors": machine.path("machine") });
        let mut program = program();
        program.env("RIDGEPOINT_TEST_HOOKS", hooks.to_string()).args(words);
        program.output().expect("the binary starts").into()
    };
    let telemetry = ["telemetry", "--device", "fake:0", "-o", "json"];
    for (bus, card, watts) in [(3, "amdgpu@0000:03:00.0", 287.0), (12, "amdgpu@0000:0c:00.0", 38.0)]
    {
        let ended = on_bus(bus, &telemetry);
        let value: Value = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
        let readings = value["readings"].as_array().expect("a list");
        assert!(readings.iter().all(|reading| reading["device"] == card), "{value}");
        assert_eq!(of(&value, "gpu_power_watt"), Some(watts), "{value}");
    }
    let monitor = ["monitor", "--device", "fake:0", "-o", "json", "--", "sleep", "0.3"];
    let ended = on_bus(3, &monitor);
    let (_, json) = ended.stderr.split_once('\n').expect("the warning about hooks");
    let value: Value = serde_json::from_str(json).expect("JSON");
    let watts = value["meters"][0]["mean_w"].as_f64().unwrap_or_default();
    assert!((watts - 287.0).abs() < 1e-6, "{value}");
    let nowhere = on_bus(9, &telemetry);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (Some(3), ""));
    let why = "no sensors of fake:0: no driver of a card at 0000:09:00.0 is found";
    assert!(nowhere.stderr.contains(why), "{}", nowhere.stderr);
}

#[test]
fn a_device_that_is_not_there_differs_from_a_name_of_none() {
    let machine = machine_with_cards();
    for verb in [&["telemetry"][..], &["monitor"]] {
        for (device, code, expected) in [
            (
                "amdgpu@0000:04:00.0",
                3,
                "no device `amdgpu@0000:04:00.0` here; it finds amdgpu@0000:03:00.0 (",
            ),
            ("cpu:1", 3, "amdgpu@0000:0c:00.0 (amdgpu 1002:744C), cpu:0 ("),
            ("cuda:0", 3, "no device `cuda:0` here; it finds amdgpu@0000:03:00.0 ("),
            ("gpu", 2, "`gpu` is no device"),
            ("@", 2, "`@` is no device"),
            ("amdgpu@", 2, "such as amdgpu@0000:03:00.0"),
            ("", 2, "`` is no device"),
        ] {
            let mut words = [verb, &["--device", device]].concat();
            if verb == ["monitor"] {
                words.extend(["--", "sh", "-c", "echo it runs"]);
            }
            let ended = beside_cards(&machine, &words);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{words:?}");
            assert!(ended.stderr.contains(expected), "{words:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn wrong_flags_are_refused() {
    for (words, expected) in [
        ("telemetry --interval 1s", "--watch"),
        ("telemetry --watch --interval 1ms", "from 200 ms to 3600 s, such as 1s or 500ms; got 1ms"),
        ("telemetry --watch --interval never", "got never"),
        // Also where no device is there: wrong words come first.
        ("power watch --interval 0s", "from 200 ms to 3600 s, such as 1s or 500ms; got 0s"),
        ("telemetry --watch --interval=-1s", "got -1s"),
        ("telemetry --watch -o csv", "--watch writes a table or, with -o jsonl"),
    ] {
        let ended = line(words);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}");
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
    }
}
