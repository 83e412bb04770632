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
    assert!(said.contains("skipped: ") && said.contains("4 of 5 points"), "{said}");
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
