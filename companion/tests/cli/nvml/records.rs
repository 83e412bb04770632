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
    let records = records(&Machine::h100(), "reasons=4,others=1", &["--iterations", "5"]);
    let record = &records[0];
    let known = &record["conditions"];
    for (key, number) in
        [("power_cap_w", 700.0), ("temperature_before_c", 63.0), ("device_other_processes", 1.0)]
    {
        assert_eq!(known[key], number, "{key}: {known}");
    }
    let watts = known["power_w"].as_f64().expect("a meter");
    assert!((watts - 200.0).abs() < 10.0, "{watts}");
    assert_eq!(known["power_source"], "NVML, nvmlDeviceGetTotalEnergyConsumption");
    assert_eq!(known["device_throttle_reasons"], "power cap");
    assert!(record["energy_j"].as_f64() > Some(0.0), "{record}");
    // A cap is a limit that the card always has; another program that computes is not.
    assert!(flags(record).contains(&"contended"), "{record}");
    assert!(!flags(record).contains(&"throttled"), "{record}");
    let why = known["missing"]["meters_difference"].as_str().unwrap_or_default();
    assert!(why.contains("and 5 s are needed"), "{known}");
}

#[test]
fn heat_flags_a_record_and_a_lost_card_leaves_it_without_energy() {
    let machine = Machine::h100();
    let hot = records(&machine, "reasons=64", &["--iterations", "5"]);
    assert!(hot.iter().all(|record| flags(record).contains(&"throttled")), "{hot:?}");
    assert!(!flags(&hot[0]).contains(&"contended"), "{hot:?}");
    let lost = records(&machine, "lost_at=40", &["--iterations", "5"]);
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
    let records = records(&Machine::with("NVIDIA GB10"), "gb10", &["--iterations", "5"]);
    let known = &records[0]["conditions"];
    assert_eq!(known["power_w"], 200.0);
    let source = known["power_source"].as_str().expect("a source");
    assert!(source.ends_with("mean of readings before and after the samples"), "{source}");
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
        let records = records(&Machine::h100(), library, &["--iterations", "100"]);
        let found = records.iter().find_map(|record| {
            Some((record["conditions"]["meters_difference"].as_f64()?, flags(record)))
        });
        let (difference, flags) = found.expect("three records take more than 5 s");
        assert!((difference - share).abs() < 0.02, "{library}: {difference}");
        assert_eq!(flags.contains(&"meters_apart"), is_flagged, "{library}: {flags:?}");
    }
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
    let unread = live("orin");
    assert_eq!((&unread["joule_per_token"], &unread["card_power_w"]), (&Value::Null, &Value::Null));
}
