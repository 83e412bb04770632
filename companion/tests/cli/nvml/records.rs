//! Meters of a card of NVIDIA around a program, and in the conditions of a record.

use serde_json::Value;

use super::{CARD, Machine};
use crate::attach::{server, vllm};

#[test]
fn monitor_has_both_meters_of_a_card_and_keeps_them_apart() {
    let machine = Machine::h100();
    let run = ["monitor", "--device", CARD, "-o", "json", "--", "sleep", "1"];
    let ended = machine.run("counter=50", &run);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (_, json) = ended.stderr.split_once('\n').expect("the warning about hooks");
    let value: Value = serde_json::from_str(json).expect("JSON");
    let meters = value["meters"].as_array().expect("a list");
    let watts: Vec<(&str, f64)> = meters
        .iter()
        .map(|it| (it["meter"].as_str().expect("a name"), it["mean_w"].as_f64().expect("watts")))
        .collect();
    let [(energy, by_counter), (power, by_power)] = watts[..] else { panic!("{value}") };
    assert_eq!((energy, power), (&*format!("{CARD} energy"), &*format!("{CARD} power")));
    assert!((by_counter - 100.0).abs() < 5.0 && (by_power - 200.0).abs() < 1e-6, "{watts:?}");
}

#[test]
fn monitor_has_the_energy_of_a_card_by_the_steps_of_its_counter_with_their_error() {
    let machine = Machine::h100();
    let counted = |library: &str, seconds: &str| {
        let run = ["monitor", "--device", CARD, "-o", "json", "--", "sleep", seconds];
        let ended = machine.run(library, &run);
        let (_, json) = ended.stderr.split_once('\n').expect("the warning about hooks");
        let value: Value = serde_json::from_str(json).expect("JSON");
        (value["meters"][0].clone(), value["wall_s"].as_f64().expect("a time"))
    };
    let (meter, wall) = counted("step=100", "1.5");
    let of = |key: &str| meter[key].as_f64().unwrap_or_else(|| panic!("{key}: {meter}"));
    let error = of("power_error");
    assert!(error > 0.0 && error <= 0.05, "{meter}");
    assert!((of("mean_w") / 200.0 - 1.0).abs() <= error + 1e-3, "{meter}");
    assert!((of("energy_j") / (200.0 * wall) - 1.0).abs() < 0.2, "{meter} {wall}");
    // A window of one sample has one step or none.
    assert!(meter["max_w"].is_null(), "{meter}");
    let (short, _) = counted("step=100", "0.2");
    let why = short["reason"].as_str().unwrap_or_default();
    assert!(short["energy_j"].is_null() && why.contains("too coarse for a power"), "{short}");
}

/// Records of the scripted device at the card's address.
fn records(machine: &Machine, library: &str, more: &[&str]) -> Vec<Value> {
    let words = ["bench", "bandwidth", "--device", "fake:0", "--warm-up", "0", "-o", "json"];
    let ended = machine.run(library, &[&words[..], more].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("a list of records")
}

fn flags(record: &Value) -> Vec<&str> {
    record["flags"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_record_has_the_conditions_of_its_card_by_nvml() {
    let library = "reasons=5,others=1,step=100";
    let records = records(&Machine::h100(), library, &["--iterations", "40"]);
    let record = &records[0];
    let known = &record["conditions"];
    for (key, number) in
        [("power_cap_w", 700.0), ("temperature_before_c", 63.0), ("device_other_processes", 1.0)]
    {
        assert_eq!(known[key], number, "{key}: {known}");
    }
    let watts = known["power_w"].as_f64().expect("a meter");
    let error = known["power_error"].as_f64().expect("by the steps of the counter");
    assert!(error > 0.0 && error <= 0.05, "{error}");
    assert!((watts / 200.0 - 1.0).abs() <= error + 1e-3, "{watts} {error}");
    assert_eq!(known["power_source"], "NVML, nvmlDeviceGetTotalEnergyConsumption");
    // Read while sampling alone; the bit of rest, 1, is no reason.
    let readings = known["device_readings"].as_u64().expect("a number");
    assert!((4..=12).contains(&readings), "0.8 s with one every 0.1 s: {known}");
    let reasons = format!("power cap ({readings} of {readings} readings)");
    assert_eq!(known["device_throttle_reasons"], reasons);
    for key in ["device_clock_low_hz", "device_clock_high_hz"] {
        assert_eq!(known[key], 1755e6, "{key}: {known}");
    }
    assert!(record["energy_j"].as_f64() > Some(0.0), "{record}");
    assert_eq!(known["driver_version"], "580.65.06");
    // A cap is a limit that the card always has; another program that computes is not.
    assert!(flags(record).contains(&"contended"), "{record}");
    assert!(!flags(record).contains(&"throttled"), "{record}");
    let why = known["missing"]["meters_difference"].as_str().unwrap_or_default();
    assert!(why.contains("and 5 s are needed"), "{known}");
}

#[test]
fn samples_that_are_too_short_for_the_steps_of_the_counter_have_no_energy() {
    let records = records(&Machine::h100(), "step=100", &["--iterations", "5"]);
    let record = &records[0];
    assert_eq!(
        (&record["energy_j"], &record["conditions"]["power_w"]),
        (&Value::Null, &Value::Null)
    );
    for key in ["power_w", "energy_j"] {
        let why = record["conditions"]["missing"][key].as_str().unwrap_or_default();
        assert!(why.contains("measure for longer"), "{key}: {record}");
    }
}

#[test]
fn a_card_that_sleeps_is_not_woken_by_a_record() {
    let machine = Machine::h100();
    machine
        .folder
        .file("machine/sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
    // Any question would hang.
    let records = records(&machine, "hangs_at=1", &["--iterations", "5"]);
    for key in ["power_w", "meters_difference", "temperature_source"] {
        let why = records[0]["conditions"]["missing"][key].as_str().unwrap_or_default();
        assert!(why.contains("it sleeps"), "{key}: {}", records[0]);
    }
}

#[test]
fn the_linux_of_windows_lists_no_card_in_proc_and_its_record_has_the_meters() {
    let machine = Machine { root: "windows", ..Machine::h100() };
    machine.folder.file("windows/usr/lib/wsl/lib/libcuda.so.1", "");
    let record = records(&machine, "", &["--iterations", "40"]).remove(0);
    let known = &record["conditions"];
    assert_eq!(known["driver_version"], "580.65.06", "{known}");
    let watts = known["power_w"].as_f64().expect("a meter");
    assert!((watts - 200.0).abs() < 10.0, "{known}");
    // A card that the library has at another place is not this one.
    let other = records(&machine, "bus=9", &["--iterations", "5"]).remove(0);
    let why = other["conditions"]["missing"]["power_w"].as_str().unwrap_or_default();
    assert!(why.contains("no driver of a card at 0000:01:00.0"), "{other}");
}

#[test]
fn heat_that_comes_and_goes_while_sampling_flags_the_record() {
    // The questions when sampling begins and ends are not the fourth one.
    let records = records(&Machine::h100(), "heat_at=4", &["--iterations", "40"]);
    let record = &records[0];
    assert!(flags(record).contains(&"throttled"), "{record}");
    let reasons = record["conditions"]["device_throttle_reasons"].as_str().unwrap_or_default();
    assert!(reasons.starts_with("temperature, by hardware (1 of "), "{reasons}");
}

#[test]
fn heat_flags_a_record_and_a_lost_card_leaves_it_without_energy() {
    let machine = Machine::h100();
    let hot = records(&machine, "reasons=64", &["--iterations", "20"]);
    assert!(hot.iter().all(|record| flags(record).contains(&"throttled")), "{hot:?}");
    assert!(!flags(&hot[0]).contains(&"contended"), "{hot:?}");
    let lost = records(&machine, "lost_at=40", &["--iterations", "20"]);
    let last = lost.last().expect("a record");
    assert_eq!(last["energy_j"], Value::Null);
    for key in ["power_w", "temperature_before_c", "device_throttle_reasons", "power_cap_w"] {
        let why = last["conditions"]["missing"][key].as_str().unwrap_or_default();
        assert!(!why.is_empty() && last["conditions"][key].is_null(), "{key}: {last}");
    }
    let why = last["conditions"]["missing"]["power_w"].as_str().unwrap_or_default();
    assert!(why.contains("the GPU is lost"), "{last}");
}

#[test]
fn a_board_without_a_counter_has_the_mean_of_its_power_and_no_comparison() {
    let records = records(&Machine::with("NVIDIA GB10"), "gb10", &["--iterations", "40"]);
    let known = &records[0]["conditions"];
    assert_eq!(known["power_w"], 200.0);
    let source = known["power_source"].as_str().expect("a source");
    assert!(source.ends_with(" readings while sampling"), "{source}");
    assert!(known.get("power_error").is_none(), "{known}");
    for (key, function) in [
        ("meters_difference", "nvmlDeviceGetTotalEnergyConsumption"),
        ("power_cap_w", "nvmlDeviceGetEnforcedPowerLimit"),
    ] {
        let why = known["missing"][key].as_str().unwrap_or_default();
        assert!(why.contains(function) && known[key].is_null(), "{key}: {known}");
    }
}

#[test]
fn meters_that_disagree_over_5_s_flag_the_record_and_those_that_agree_do_not() {
    for (library, share, is_flagged) in [("", 0.0, false), ("counter=80", 0.25, true)] {
        let records = records(&Machine::h100(), library, &["--iterations", "120"]);
        let found = compared(&records);
        let (difference, flags) = found.expect("three records take more than 5 s");
        assert!((difference - share).abs() < 0.02, "{library}: {difference}");
        assert_eq!(flags.contains(&"meters_apart"), is_flagged, "{library}: {flags:?}");
    }
    // A reading of instant power shows a part of each burst; the energy counter of this library does not show bursts.
    let bursts = records(&Machine::h100(), "burst=250", &["--iterations", "120"]);
    assert_eq!(compared(&bursts), None);
    let why = bursts[2]["conditions"]["missing"]["meters_difference"].as_str().unwrap_or_default();
    assert!(why.contains("the power changed by more than 10 % while sampling"), "{why}");
    assert!(bursts.iter().all(|record| !flags(record).contains(&"meters_apart")), "{bursts:?}");
}

/// The first difference of the meters, with the flags of its record.
fn compared(records: &[Value]) -> Option<(f64, Vec<&str>)> {
    records.iter().find_map(|record| {
        Some((record["conditions"]["meters_difference"].as_f64()?, flags(record)))
    })
}

#[test]
fn a_server_beside_the_only_card_has_its_energy_per_token() {
    let address = server(vllm);
    let words = ["attach", &address, "--interval", "1s", "-o", "json"];
    let live = |library: &str| {
        let ended = Machine::h100().run(library, &words);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let value: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        value["live"].clone()
    };
    let known = live("");
    let [watts, joules, rate] = ["card_power_w", "joule_per_token", "token_per_s"]
        .map(|key| known[key].as_f64().unwrap_or_else(|| panic!("{key}: {known}")));
    assert!((watts - 200.0).abs() < 5.0, "{known}");
    assert!((joules * rate / watts - 1.0).abs() < 1e-9, "{known}");
    assert_eq!(known["card_power_source"], "NVML, nvmlDeviceGetTotalEnergyConsumption");
    // Each reading waits for a step of the counter.
    let coarse = live("step=90");
    let watts = coarse["card_power_w"].as_f64().unwrap_or_else(|| panic!("{coarse}"));
    let error = coarse["card_power_error"].as_f64().unwrap_or_else(|| panic!("{coarse}"));
    assert!(error > 0.0 && (watts / 200.0 - 1.0).abs() <= error + 1e-3, "{coarse}");
    // A counter that advances less often than any is not read.
    assert!(live("step=5000")["joule_per_token"].is_null());
    let unread = live("orin");
    assert_eq!((&unread["joule_per_token"], &unread["card_power_w"]), (&Value::Null, &Value::Null));
}
