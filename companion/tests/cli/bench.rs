//! `bench` on the machine that runs the tests: what it says, never how fast it is.

use serde_json::Value;

use crate::run::{Folder, answer, line};

/// Small and short: the method is tested elsewhere.
const SMALL: &str = "--bytes 100000 --cache hot --iterations 5 --threads 1 -o json";

fn records(words: &str) -> Vec<Value> {
    let text = answer(words);
    serde_json::from_str::<Vec<Value>>(&text).expect("a list of records")
}

#[test]
fn a_record_has_what_is_published_and_its_conditions() {
    let records = records(&format!("bench bandwidth {SMALL}"));
    let kernels: Vec<&str> = records.iter().filter_map(|it| it["kernel"].as_str()).collect();
    assert_eq!(kernels, ["read", "copy", "triad"]);
    for record in &records {
        assert_eq!((&record["schema"], &record["backend"]), (&1.into(), &"cpu".into()));
        assert_eq!(record["stop_rule"], serde_json::json!({"kind": "iterations", "n": 5}));
        assert_eq!(record["samples_s"].as_array().map(Vec::len), Some(5));
        assert_eq!(record["check"]["passed"], true);
        let time = &record["time_s"];
        let of = |key: &str| time[key].as_f64().expect("a number");
        assert!(0.0 < of("low") && of("low") <= of("median") && of("median") <= of("high"));
        let rate = record["bytes"].as_f64().unwrap() / of("median");
        assert!((record["byte_per_s"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9);
        for key in ["version", "kernel_hash", "threads", "seed"] {
            assert!(!record["conditions"][key].is_null(), "{key}");
        }
        let conditions = record["conditions"].as_object().unwrap();
        for (key, value) in conditions.iter().filter(|(key, _)| *key != "power_source") {
            let why = &record["conditions"]["missing"][key];
            assert_eq!(value.is_null(), why.is_string(), "{key} is null without a reason");
        }
    }
}

#[test]
fn every_form_has_every_point() {
    let small = SMALL.replace("-o json", "");
    for (form, least) in [("table", 6), ("md", 5), ("jsonl", 3), ("csv", 4)] {
        let text = answer(&format!("bench bandwidth {small} -o {form}"));
        assert!(text.lines().count() >= least, "{form}: {text}");
        for kernel in ["read", "copy", "triad"] {
            assert!(text.contains(kernel), "{form}: {text}");
        }
    }
}

#[test]
fn two_files_are_compared_point_by_point() {
    let folder = Folder::new();
    let record = |time: f64| {
        let samples: Vec<f64> = (0..30).map(|i| time * (1.0 + 0.0001 * f64::from(i))).collect();
        serde_json::json!([{"kernel": "read", "cache": "cold", "bytes": 1.0, "samples_s": samples}])
    };
    let a = folder.file("a.json", record(1.0).to_string());
    let b = folder.file("b.json", record(1.1).to_string());
    let other = folder.file("c.json", record(1.0).to_string().replace("read", "copy"));
    let rows: Vec<Value> =
        serde_json::from_str(&answer(&format!("bench diff {a} {b} -o json"))).unwrap();
    assert_eq!(rows[0]["verdict"], "slower");
    assert!((rows[0]["time_ratio"].as_f64().unwrap() - 1.1).abs() < 1e-9);
    assert!(answer(&format!("bench diff {a} {a}")).contains("no difference found"));
    let ended = line(&format!("bench diff {a} {other}"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("no point in common"), "{}", ended.stderr);
}

#[test]
fn the_self_test_prints_and_does_not_judge() {
    let value: Value =
        serde_json::from_str(&answer("bench selftest --trials 1 -o json")).expect("an object");
    for key in ["false_alarm_share", "detected_share"] {
        assert!((0.0..=1.0).contains(&value[key].as_f64().unwrap()), "{key}");
    }
}

#[test]
fn wrong_input_is_one_line_and_measures_nothing() {
    for (words, code, expected) in [
        ("bench bandwidth --iterations 0", 2, "iterations must be a whole number from 1"),
        ("bench bandwidth --iterations 1.5", 2, "got 1.5"),
        ("bench bandwidth --bytes nan", 2, "bytes must be a number"),
        ("bench bandwidth --bytes 9e12", 2, "GB of memory"),
        ("bench bandwidth --cache warm", 2, "[possible values: cold, hot]"),
        ("bench flops --isa sse9", 2, "this processor has no `sse9`; it has portable"),
        ("bench flops --backend tpu", 2, "unknown backend `tpu`"),
        ("bench flops --backend cuda", 3, "no backend for CUDA"),
        ("bench flops --threads -1", 2, "threads must be"),
        ("bench flops --iterations 5 --time-limit 2", 2, "exclude each other"),
        ("bench diff nowhere.json nowhere.json", 2, "no such file"),
        ("bench diff nowhere.json", 2, "required"),
        ("bench selftest --trials 0", 2, "trials must be"),
        ("bench", 2, "name a verb"),
    ] {
        let ended = line(words);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{words}");
        assert_eq!(ended.stderr.lines().count(), 1, "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
    }
}
