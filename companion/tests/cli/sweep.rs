//! Sweeps: shards, resuming, merging, refusals.

use std::fs;

use serde_json::Value;

use crate::run::{Ended, Folder, answer, line, model_file};

const SWEEP: &str =
    "sweep --hardware t4,b10 -m 1..8x2,3 -n 256 -k 256 --weights fp16,nf4 --activations fp16,nf4";

fn refused(words: &str, expected: &str) {
    let Ended { code, stdout, stderr } = line(words);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{words}");
    assert!(stderr.lines().count() == 1 && stderr.contains(expected), "{words}: {stderr}");
}

#[test]
fn points_are_in_the_documented_order_and_errors_are_rows() {
    let rows: Vec<Value> = answer(&format!("{SWEEP} -o jsonl"))
        .lines()
        .map(|row| serde_json::from_str(row).expect("JSON"))
        .collect();
    assert_eq!(rows.len(), 2 * 5 * 2 * 2);
    assert_eq!(rows[0]["points"], 40);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row["point"], i);
        assert_eq!(row["hardware"], if i < 20 { "t4" } else { "b10" });
        assert_eq!(row["m"], [1, 2, 4, 8, 3][i / 4 % 5]);
        assert_eq!(row["activations"], ["fp16", "nf4"][i % 2]);
        let refused =
            row["error"].as_str().is_some_and(|error| error.contains("nothing computes in nf4"));
        assert_eq!(refused, i % 2 == 1, "{row}");
        assert_eq!(row["ideal_s"].is_number(), i % 2 == 0, "{row}");
    }
}

#[test]
fn points_equal_the_answers_of_analyze_and_estimate() {
    let row: Value = serde_json::from_str(&answer(
        "sweep --hardware t4 -m 7 -n 64 -k 64 --weights int8 -o jsonl",
    ))
    .expect("JSON");
    let whole: Value = serde_json::from_str(&answer(
        "analyze --hardware t4 -m 7 -n 64 -k 64 --weights int8 -o json",
    ))
    .expect("JSON");
    for key in
        ["flops", "bytes", "ideal_s", "bound", "attainable_flop_per_s", "ridge_flop_per_byte"]
    {
        assert_eq!(row[key], whole[key], "{key}");
    }
    assert_eq!(row["expected_s"], whole["expected"]["time_s"]);
    let request =
        "--hardware l4 --model llama-3.1-8b --weights int8 --batch 2 --prompt 64 --new-tokens 5";
    let row: Value =
        serde_json::from_str(&answer(&format!("sweep {request} -o jsonl"))).expect("JSON");
    let whole: Value =
        serde_json::from_str(&answer(&format!("estimate {request} -o json"))).expect("JSON");
    for key in ["ttft_s", "tpot_s", "generation_s", "end_to_end_s", "throughput_token_per_s"] {
        assert_eq!(row[key], whole[key], "{key}");
    }
    assert_eq!(row["memory_total_bytes"], whole["memory"]["total"]);
    assert_eq!(row["fits"], whole["memory"]["fits"]);
}

#[test]
fn shards_resumed_and_merged_are_the_whole_sweep() {
    let folder = Folder::new();
    let whole = answer(&format!("{SWEEP} -o jsonl"));
    let parts: Vec<String> = (1..=3).map(|i| folder.path(&format!("{i}.jsonl"))).collect();
    for (i, part) in parts.iter().enumerate() {
        assert_eq!(answer(&format!("{SWEEP} --shard {}/3 --out {part}", i + 1)), "");
    }
    let finished = fs::read(&parts[1]).expect("a file");
    for cut in [0, 5, finished.len() / 2, finished.len() - 1, finished.len()] {
        fs::write(&parts[1], &finished[..cut]).expect("cut off as by a crash");
        answer(&format!("{SWEEP} --shard 2/3 --out {}", parts[1]));
        assert_eq!(fs::read(&parts[1]).expect("a file"), finished, "cut at {cut}");
    }
    // In any order: rows contain their position.
    assert_eq!(answer(&format!("merge {} {} {}", parts[2], parts[0], parts[1])), whole);
    let one = folder.path("one.jsonl");
    answer(&format!("{SWEEP} --out {one}"));
    assert_eq!(fs::read_to_string(&one).expect("a file"), whole);
    assert_eq!(answer(&format!("merge {one}")), whole);
    assert_eq!(answer(&format!("merge {one} -o csv")).lines().count(), 41);
    let more_shards_than_points = "sweep --hardware t4 -m 1 -n 64 -k 64 --weights fp16,int8";
    let parts: Vec<String> = (1..=5).map(|i| folder.path(&format!("few{i}.jsonl"))).collect();
    for (i, part) in parts.iter().enumerate() {
        answer(&format!("{more_shards_than_points} --shard {}/5 -o jsonl --out {part}", i + 1));
    }
    assert_eq!(
        answer(&format!("merge {}", parts.join(" "))),
        answer(&format!("{more_shards_than_points} -o jsonl"))
    );
}

#[test]
fn merge_refuses_shards_of_different_sweeps() {
    let folder = Folder::new();
    let part = |name: &str, sweep: &str| folder.file(name, answer(&format!("{sweep} -o jsonl")));
    let (a, b, c) = (
        part("a", &format!("{SWEEP} --shard 1/3")),
        part("b", &format!("{SWEEP} --shard 2/3")),
        part("c", &format!("{SWEEP} --shard 3/3")),
    );
    let other = part("other", &SWEEP.replace("b10", "l4"));
    refused(&format!("merge {a} {c}"), "points 13 to 25 are missing");
    refused(&format!("merge {a} {b}"), "points 26 to 39 are missing");
    refused(&format!("merge {b} {c}"), "points 0 to 12 are missing");
    refused(&format!("merge {a} {b} {b} {c}"), "repeats point 13");
    refused(&format!("merge {a} {b} {c} {other}"), "another sweep");
    refused(&format!("merge {}", folder.file("empty", "")), "these files have no rows");
    refused(&format!("merge {}", folder.file("text", "hello\n")), "line 1: not a row of a sweep");
    let cut = fs::read_to_string(&a).expect("a file");
    refused(&format!("merge {}", folder.file("cut", &cut[..cut.len() - 9])), "line 13 is cut off");
    let swapped: Vec<&str> = cut.lines().rev().collect();
    refused(
        &format!("merge {}", folder.file("swapped", swapped.join("\n") + "\n")),
        "point 11 instead of 13",
    );
    refused(&format!("merge {}", folder.path("nothing")), "no such file");
}

#[test]
fn other_files_are_never_continued() {
    let folder = Folder::new();
    let other = folder.file("other", answer(&format!("{} -o jsonl", SWEEP.replace("b10", "l4"))));
    refused(&format!("{SWEEP} --out {other}"), "another sweep");
    let shard = folder.file("shard", answer(&format!("{SWEEP} --shard 2/3 -o jsonl")));
    refused(&format!("{SWEEP} --out {shard}"), "of another shard");
    for content in ["dear diary", "dear diary\n", "{\"a\":1}\n"] {
        let diary = folder.file("diary", content);
        refused(&format!("{SWEEP} --out {diary}"), "choose another name");
        assert_eq!(fs::read_to_string(&diary).expect("a file"), content, "it is untouched");
    }
    refused(&format!("{SWEEP} --out {}", folder.path("no/such/folder.jsonl")), "no such file");
    refused(&format!("{SWEEP} --out {}", folder.path("")), "it is a folder");
    refused(&format!("{SWEEP} --out {} -o csv", folder.path("x")), "--out writes JSON lines");
}

#[test]
fn a_changed_model_file_is_another_sweep() {
    let folder = Folder::new();
    let text = fs::read_to_string(model_file()).expect("the example model");
    let model = folder.file("config.json", &text);
    let sweep = format!(
        "sweep --hardware l4 --model {model} --batch 1,2 --prompt 64 --out {}",
        folder.path("out")
    );
    answer(&sweep);
    fs::write(&model, text.replace("\"num_hidden_layers\": 24", "\"num_hidden_layers\": 25"))
        .expect("changed");
    refused(&sweep, "another sweep");
}

#[test]
fn errors_of_the_whole_request_are_refused() {
    for (words, expected) in [
        ("sweep", "name what to sweep"),
        ("sweep --hardware t4 --model llama-3.1-8b -m 1", "exclude each other"),
        ("sweep -m 1 -n 1 -k 1 --weights fp16", "hardware is missing"),
        ("sweep --hardware t4,h10 -m 1 -n 1 -k 1 --weights fp16", "unknown hardware `h10`"),
        (
            "sweep --hardware t4 --model llama-3.1-8b --weights fp17 --batch 1 --prompt 1",
            "unknown format `fp17`",
        ),
        ("sweep --hardware t4 -m 4..1 -n 1 -k 1 --weights fp16", "its end is before its start"),
        ("sweep --hardware t4 -m 1,,2 -n 1 -k 1 --weights fp16", "empty item"),
        (
            "sweep --hardware t4 -m 1..100000 -n 1..100000 -k 1 --weights fp16",
            "10000000000 points; at most 100000000",
        ),
        (
            "sweep --hardware t4 -m 1..99999999999999999 -n 1..9999999999999 -k 1..999999999 --weights fp16",
            "at most 100000000",
        ),
        ("sweep --hardware t4 -m 1 -n 1 -k 1 --weights fp16 --shard 3/2", "shard must be I/N"),
        ("sweep --hardware t4 -m 1 -n 1 -k 1 --weights fp16 --prompt 5", "unknown field `prompt`"),
    ] {
        refused(words, expected);
    }
}
