//! `--device` of measurements: the device that is measured, and the sentences where there is none. The second device is the scripted one.

use serde_json::{Value, json};

use crate::run::{Ended, program};

/// Runs the binary on a machine with the scripted device beside its processor.
fn with_device(script: &str, words: &str) -> Ended {
    let hooks = json!({ "device": script }).to_string();
    let mut program = program();
    program.env("RIDGEPOINT_TEST_HOOKS", hooks).args(words.split_whitespace());
    program.output().expect("the binary starts").into()
}

#[test]
fn a_second_device_is_measured_by_its_name() {
    let few = "--iterations 5 --warm-up 0 -o json";
    for (flag, device) in [("--device fake:0", "fake"), ("--backend fake", "fake"), ("", "cpu")] {
        let ended = with_device("time_us=200", &format!("bench flops {flag} {few}"));
        let records: Vec<Value> = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
        assert_eq!((ended.code, records.len()), (Some(0), 2), "{}", ended.stderr);
        for record in records {
            let named = (&record["backend"], &record["index"]);
            assert_eq!(named, (&device.into(), &0.into()), "{flag}");
            assert_eq!(record["device"] == "scripted device", device == "fake");
        }
    }
    for (script, words, code, expected) in [
        ("time_us=1", "flops --device fake:1", 3, "it finds cpu:0 ("),
        ("time_us=1", "flops --device fake:1", 3, "fake:0 (scripted device)"),
        (
            "time_us=1",
            "gemv -n 4096 -k 4096 --device fake:0",
            2,
            "not measured on fake:0; it measures read",
        ),
        ("time_us=1", "flops --device fake:0 --threads 1", 2, "omit them for fake:0"),
        (
            "absent",
            "flops --device fake:0",
            3,
            "fake:0 (scripted device) cannot be measured: it is gone",
        ),
        ("gone_from=3", "flops --device fake:0", 3, "fake:0 (scripted device): it is gone"),
    ] {
        let ended = with_device(script, &format!("bench {words}"));
        assert_eq!(ended.code, Some(code), "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
    }
}

#[test]
fn the_points_before_a_failure_of_the_device_are_printed() {
    let words = "bench flops --device fake:0 --iterations 40 --warm-up 0 -o json";
    // Each point has about 40 calls of 20 ms.
    let ended = with_device("time_us=20000,gone_from=60", words);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("fake:0 (scripted device): it is gone"), "{}", ended.stderr);
    let records: Vec<Value> = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
    assert_eq!(records.len(), 1, "{}", ended.stdout);
    // Without any point there is nothing on stdout.
    let none = with_device("time_us=20000,gone_from=3", words);
    assert_eq!((none.code, &*none.stdout), (Some(3), ""));
}
