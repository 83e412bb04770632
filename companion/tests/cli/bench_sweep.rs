//! `bench sweep`: files that are continued, measured or predicted.

use serde_json::Value;

use crate::run::{Folder, answer, line};

#[test]
fn an_interrupted_sweep_is_continued() {
    let folder = Folder::new();
    let out = folder.path("sweep.jsonl");
    let mut said = String::new();
    let mut sweep = |weights: &str| {
        let few = "--cache hot --iterations 3 --warm-up 0 --threads 1";
        let ended =
            line(&format!("bench sweep -m 1,17 -n 64 -k 64 --weights {weights} {few} --out {out}"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
        said = ended.stderr;
        std::fs::read_to_string(&out).unwrap()
    };
    let first = sweep("fp16");
    assert_eq!(first.lines().count(), 2);
    // An incomplete line, as after a crash.
    std::fs::write(&out, format!("{first}{{\"schema\":1,\"ker")).unwrap();
    let both = sweep("fp16,int8");
    assert!(both.starts_with(&first) && both.lines().count() == 4 && both.ends_with('\n'));
    assert_eq!(sweep("fp16,int8"), both);
    let kernels = |text: &str| -> Vec<String> {
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|record| record["kernel"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kernels(&both), ["gemv", "gemm_fp16", "gemv", "gemm_int8"]);
    // A format without a GEMM kernel is measured as GEMV only, with a note.
    assert_eq!(sweep("fp16,int8,int4_g128").lines().count(), 5);
    assert!(said.contains("skipped: ") && said.contains("4 of 5 points in "), "{said}");
    let summary = format!("1 point measured and written to {out}, which has 5 points\n");
    assert!(said.ends_with(&summary), "{said}");
    let other = "--cache hot --iterations 4 --warm-up 0 --threads 1";
    let ended = line(&format!("bench sweep -n 64 -k 64 --weights fp16 {other} --out {out}"));
    let why = "made with --threads 1 and 3 samples, but this request has --threads 1 and 4 samples";
    assert!(ended.code == Some(2) && ended.stderr.contains(why), "{}", ended.stderr);
    let foreign = folder.file("notes.txt", "mine\n");
    let ended = line(&format!("bench sweep -n 64 -k 64 --weights fp16 --out {foreign}"));
    assert_eq!(ended.code, Some(2));
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "mine\n");
}

#[test]
fn flags_of_the_records_of_a_sweep_are_counted_and_said() {
    let folder = Folder::new();
    let out = folder.path("sweep.jsonl");
    // Without a warm-up no time is steady.
    let few = "--cache hot --iterations 3 --warm-up 0 --threads 1";
    let ended = line(&format!("bench sweep -n 64 -k 64 --weights fp16,int8 {few} --out {out}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = std::fs::read_to_string(&out).unwrap();
    let flags = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(flags.clone().all(|record| !record["flags"].as_array().unwrap().is_empty()), "{text}");
    for expected in [
        "2 of 2 records with a flag, which makes a figure doubtful:\n",
        "  all: times were still falling or rising when sampling began; warm up longer\n",
    ] {
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    assert!(text.contains("\"samples_s\":["), "samples stay in the file");
}

#[test]
fn a_sweep_without_measuring_has_the_numbers_of_analyze() {
    let folder = Folder::new();
    let out = folder.path("predicted.jsonl");
    let sweep = |more: &str| {
        line(&format!(
            "bench sweep -m 4,512 -n 4096 -k 4096 --weights int8,int4_g128 --no-measure {more} --out {out}"
        ))
    };
    let ended = sweep("--hardware t4");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    let summary = format!("3 points predicted and written to {out}, which has 3 points\n");
    assert!(ended.stderr.ends_with(&summary), "{}", ended.stderr);
    let text = std::fs::read_to_string(&out).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // INT4 has no GEMM here.
    assert_eq!(lines.len(), 3, "{text}");
    for (record, words) in lines.iter().zip([
        "-m 4 --weights int8",
        "-m 4 --weights int4_g128",
        "-m 512 --weights int8 --activations int8",
    ]) {
        let words = format!("analyze --hardware t4 -n 4096 -k 4096 {words} -o json");
        let analyzed: Value = serde_json::from_str(&answer(&words)).unwrap();
        for key in ["ideal_s", "expected", "shape", "precision", "bound"] {
            assert_eq!(record[key], analyzed[key], "{words}");
        }
        assert_eq!((&record["measured"], &record["cache"]), (&false.into(), &"cold".into()));
    }
    // Nothing is written twice, and predictions do not stand for measurements or for another device.
    assert_eq!(sweep("--hardware t4").code, Some(0));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
    let other = sweep("--hardware h100");
    let why = "made with predictions for t4, but this request has predictions for h100_sxm";
    assert!(other.code == Some(2) && other.stderr.contains(why), "{}", other.stderr);
    let measured = line(&format!("bench sweep -n 64 -k 64 --weights fp16 --out {out}"));
    assert!(measured.code == Some(2) && measured.stderr.contains("made with predictions for t4"));
    for (more, why) in [
        ("", "--hardware"),
        ("--hardware t4 --threads 1", "--threads"),
        ("--hardware no-such-card", "no-such-card"),
    ] {
        let ended = sweep(more);
        assert!(ended.code == Some(2) && ended.stderr.contains(why), "{}", ended.stderr);
    }
}

#[test]
fn a_sweep_of_attention_is_continued_and_has_expected_times() {
    let folder = Folder::new();
    let out = folder.path("attention.jsonl");
    let sweep = |context: &str| {
        let few = "--cache cold --iterations 3 --warm-up 0 --format fp16 --heads 8 --kv-heads 8";
        let ended = line(&format!(
            "bench attention --context {context} {few} --hardware epyc_9654 --out {out}"
        ));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
        (std::fs::read_to_string(&out).unwrap(), ended.stderr)
    };
    let (first, _) = sweep("256,512");
    let (both, said) = sweep("256,512,1024");
    assert!(both.starts_with(&first) && both.lines().count() == 3, "{both}");
    assert!(said.contains("2 of 3 points in "), "{said}");
    let contexts = both.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let (measured, expected) = (&record["time_s"]["median"], &record["expected"]);
        let of = |key: &str| expected[key].as_f64().expect("a number");
        assert_eq!(expected["hardware"], "epyc_9654");
        let ideal = record["bytes"].as_f64().unwrap() / 460.8e9;
        assert!((of("ideal_s") / ideal - 1.0).abs() < 1e-9, "bytes over the bandwidth: {record}");
        assert!(of("ideal_s") <= of("low_s") && of("low_s") <= of("time_s"));
        let error = of("time_s") / measured.as_f64().unwrap() - 1.0;
        assert!((of("error") - error).abs() < 1e-9);
        record["sizes"]["context"].as_u64().unwrap()
    });
    assert_eq!(contexts.collect::<Vec<_>>(), [256, 512, 1024]);
}

#[test]
fn a_record_without_an_expected_time_says_why() {
    let few = "--iterations 3 --warm-up 0 -o json";
    for (words, why) in [
        (
            "gemv -n 64 -k 64 --weights fp16 --cache hot --hardware t4",
            Some("measured in the cache"),
        ),
        ("norm --format fp32", Some("the catalog does not have")),
        ("norm --format fp32 --hardware t4", None),
        ("norm --format fp32 --hardware t4 --threads 1", Some("on 1 thread")),
        ("norm --format fp32 --hardware t4 --isa portable", Some("with portable")),
        ("gemv -n 1024 -k 4096 --weights fp16 --hardware t4", None),
        ("flops --hardware t4", None),
    ] {
        let ended = line(&format!("bench {words} {few}"));
        let records: Vec<Value> = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
        let (record, missing) = (&records[0], &records[0]["conditions"]["missing"]["expected"]);
        // A machine that the catalog has needs no name.
        let is_known = !record["catalog_key"].is_null() && words == "norm --format fp32";
        let why = why.filter(|_| !is_known);
        assert_eq!(record["expected"].is_null(), why.is_some(), "{words}: {record}");
        assert_eq!(
            missing.as_str().is_some_and(|said| said.contains(why.unwrap_or("?"))),
            why.is_some(),
            "{missing}"
        );
    }
    let refused = line(&format!("bench norm --hardware t5 {few}"));
    assert!(
        refused.code == Some(2) && refused.stderr.contains("unknown hardware"),
        "{}",
        refused.stderr
    );
}
