//! `telemetry`: every sensor with its value or the reason why it is missing, once and until Ctrl-C.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::run::{Ends, answer, line, program};

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
    assert!(table.contains("missing: this build has no GPU backend"), "{table}");
    assert!(table.contains("/proc/meminfo"), "{table}");
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
    let ended = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        child.0.try_wait().expect("a child")
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
}

#[test]
fn wrong_flags_are_refused() {
    for (words, expected) in [
        ("telemetry --interval 1s", "--watch"),
        ("telemetry --watch --interval 1ms", "from 200 ms to 3600 s, such as 1s or 500ms; got 1ms"),
        ("telemetry --watch --interval never", "got never"),
        ("telemetry --watch --interval=-1s", "got -1s"),
        ("telemetry --watch -o csv", "--watch writes a table or, with -o jsonl"),
    ] {
        let ended = line(words);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}");
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
    }
}
