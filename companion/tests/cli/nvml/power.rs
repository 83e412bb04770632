//! `power get` and `power watch` beside a card of NVIDIA and a board with rails.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{CARD, Machine, compare, of};
use crate::run::Ends;

#[test]
fn power_get_has_meters_limits_and_sources_and_nothing_else() {
    let machine = Machine::h100();
    let ended = machine.run("reasons=4", &["power", "get", "-o", "json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let value: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let names: Vec<&str> = value["readings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|reading| reading["name"].as_str())
        .collect();
    let expected = [
        "gpu_power_watt",
        "gpu_power_average_watt",
        "gpu_power_cap_watt",
        "gpu_energy_joule",
        "gpu_clock_hz",
        "gpu_memory_clock_hz",
        "gpu_throttle_reasons",
    ];
    assert_eq!(names, expected);
    compare(&value, "gpu_throttle_reasons", Ok(1.0));
    let table = machine.run("", &["power", "get", "--device", CARD]);
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert!(table.stdout.contains("NVML, field POWER_INSTANT"), "{}", table.stdout);
    // The limit is not supported, and its line says so.
    let part = Machine::with("NVIDIA GB10").run("gb10", &["power", "get"]);
    assert_eq!(part.code, Some(0), "{}", part.stderr);
    assert!(part.stdout.contains("missing: NVML does not support nvmlDeviceGetEnforcedPowerLimit"));
}

#[test]
fn where_nothing_shows_power_the_exit_code_is_3_with_the_reason() {
    let machine = Machine::h100();
    for (library, words) in [
        ("orin", "NVML does not support nvmlDeviceGetPowerUsage on this GPU"),
        ("lost_at=1", "the GPU is lost"),
        ("hangs_at=6", "no answer from nvidia@0000:01:00.0"),
    ] {
        for verb in ["get", "watch"] {
            let ended = machine.run(library, &["power", verb]);
            assert_eq!((ended.code, &*ended.stdout), (Some(3), ""), "{library}");
            let line = format!("error: no power can be read: {CARD}: ");
            assert!(ended.stderr.contains(&line), "{}", ended.stderr);
            assert!(ended.stderr.contains(words), "{}", ended.stderr);
        }
    }
    std::fs::remove_dir_all(machine.folder.path("machine/proc/driver")).expect("ours");
    let ended = machine.run("", &["power", "get"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(3), ""));
    let none = "no power can be read: no graphics card and no rail with a meter is found";
    assert!(ended.stderr.contains(none), "{}", ended.stderr);
}

#[test]
fn power_watch_ends_after_a_number_of_readings_or_at_ctrl_c() {
    let machine = Machine::h100();
    let words = ["power", "watch", "--interval", "200ms", "-o", "jsonl"];
    let counted = machine.run("", &[&words[..], &["--count", "3"]].concat());
    assert_eq!(counted.code, Some(0), "{}", counted.stderr);
    let lines: Vec<Value> =
        counted.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        compare(line, "gpu_power_watt", Ok(200.0));
    }
    let joules: Vec<f64> =
        lines.iter().filter_map(|line| of(line, "gpu_energy_joule")["value"].as_f64()).collect();
    assert!(joules.windows(2).all(|two| two[1] > two[0]) && joules.len() == 3, "{joules:?}");
    let mut endless = machine.program("", &words);
    let mut child = Ends(endless.stdout(Stdio::piped()).spawn().expect("the binary starts"));
    let mut lines = BufReader::new(child.0.stdout.take().expect("piped")).lines();
    assert!(lines.next().is_some_and(|line| line.is_ok()));
    kill_process(Pid::from_child(&child.0), Signal::INT).expect("it runs");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(0));
    for (words, expected) in [
        (&["power", "watch", "-o", "csv"][..], "power watch writes a table or, with -o jsonl"),
        (&["power", "watch", "--count", "0"], "0"),
        (&["power", "watch", "--interval", "1ms"], "from 200 ms"),
        (&["power", "get", "--device", "nvidia@0000:09:00.0"], "no device"),
    ] {
        let ended = machine.run("", words);
        assert!(matches!(ended.code, Some(2 | 3)) && ended.stdout.is_empty(), "{words:?}");
        assert!(ended.stderr.contains(expected), "{words:?}: {}", ended.stderr);
    }
}

/// A Jetson Orin by its own driver, as devfreq and its INA3221 show it. NVML would hang at the first question.
#[test]
fn a_board_whose_gpu_is_of_another_driver_has_its_rails_and_no_question_to_nvml() {
    let machine = Machine::h100();
    std::fs::remove_dir_all(machine.folder.path("machine/proc/driver")).expect("ours");
    for (file, text) in [
        ("sys/class/devfreq/17000000.gpu/cur_freq", "918000000\n"),
        ("sys/class/hwmon/hwmon1/name", "ina3221\n"),
        ("sys/class/hwmon/hwmon1/in1_label", "VDD_IN\n"),
        ("sys/class/hwmon/hwmon1/in1_input", "5000\n"),
        ("sys/class/hwmon/hwmon1/curr1_input", "3000\n"),
    ] {
        machine.folder.file(&format!("machine/{file}"), text);
    }
    let ended = machine.run("hangs_at=1", &["power", "get", "-o", "json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let value: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let rail = of(&value, "rail_power_watt");
    assert_eq!((&rail["rail"], &rail["value"]), (&"VDD_IN".into(), &15.0.into()));
    let why = of(&value, "gpu_power_watt")["reason"].as_str().expect("a reason");
    assert!(!why.contains("no answer") && !why.contains("NVML"), "{why}");
}
