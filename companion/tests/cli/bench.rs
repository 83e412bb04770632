//! `bench` on the test machine: the content of its output, not the measured speed.
//!
//! This file is longer than 400 lines because it has every verb of `bench` but those with files of their own.

use serde_json::Value;

use crate::run::{Folder, answer, line};

/// Small and short, because the method is tested elsewhere.
const SMALL: &str = "--bytes 100000 --cache hot --iterations 5 --warm-up 0 --threads 1 -o json";

fn records(words: &str) -> Vec<Value> {
    let text = answer(words);
    serde_json::from_str::<Vec<Value>>(&text).expect("a list of records")
}

#[test]
fn a_record_has_the_published_keys_and_its_conditions() {
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
fn gemv_results_of_every_layout_are_correct() {
    let words =
        "bench gemv -n 100 -k 200 --cache hot --iterations 3 --warm-up 0 --threads 1 -o json";
    let records = records(words);
    assert_eq!(records.len(), kernels::pack::Layout::ALL.len());
    for record in &records {
        assert_eq!(record["shape"], serde_json::json!({"m": 1, "n": 100, "k": 200}));
        assert_eq!(record["check"]["passed"], true, "{}", record["precision"]);
        assert_eq!(record["flops"], 40_000.0);
    }
}

#[test]
fn products_of_several_tokens_with_packed_weights_are_correct() {
    let folder = Folder::new();
    let out = folder.path("packed.jsonl");
    let few = "--cache hot --iterations 3 --warm-up 0 --threads 1";
    let ended = line(&format!("bench sweep -m 2,16 -n 33 -k 65 {few} --out {out}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = std::fs::read_to_string(&out).unwrap();
    let records: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(records.len(), 2 * kernels::pack::Layout::ALL.len());
    for record in &records {
        assert_eq!(record["kernel"], "gemm_packed");
        assert_eq!(record["check"]["passed"], true, "{record}");
        let activations = record["precision"]["activations"].as_str().unwrap();
        assert!(["fp32", "int8"].contains(&activations), "{activations}");
    }
}

#[test]
fn gemm_results_are_correct() {
    let words = "bench gemm -m 3,17 -n 33 -k 65 --cache hot --iterations 3 --warm-up 0 -o json";
    let records = records(words);
    let flops: Vec<f64> = records.iter().filter_map(|it| it["flops"].as_f64()).collect();
    let of = |m: f64| 2.0 * m * 33.0 * 65.0;
    let elements = kernels::cpu::gemm::ELEMENTS.len();
    let expected = [[of(3.0)].repeat(elements), [of(17.0)].repeat(elements)].concat();
    assert_eq!(flops, expected);
    assert!(records.iter().all(|record| record["check"]["passed"] == true));
}

#[test]
fn kernels_of_a_layer_are_correct_in_every_format() {
    let few = "--cache hot --iterations 3 --warm-up 0 --threads 2 -o json";
    for (words, kernel, points) in [
        ("attention --heads 6 --kv-heads 2 --head-dim 40 --context 77,300", "attention", 8),
        ("attention --batch 2 --heads 4 --kv-heads 4 --new 9 --context 50", "attention", 4),
        ("norm --tokens 1,3 --width 100", "norm", 4),
        ("rope --tokens 2 --heads 3 --head-dim 10", "rope", 2),
        ("gate --tokens 3 --width 1000", "gate", 2),
        ("embedding --tokens 5 --width 33 --vocab 100", "embedding", 4),
    ] {
        let records = records(&format!("bench {words} {few}"));
        assert_eq!(records.len(), points, "{words}");
        for record in &records {
            assert_eq!(record["kernel"], kernel);
            assert!(record["shape"].is_null(), "{words}");
            assert_eq!(record["check"]["passed"], true, "{words}: {}", record["precision"]);
            assert!(record["bytes"].as_f64().unwrap() > 0.0, "{words}");
        }
        let first = &records[0]["sizes"];
        assert!(first.as_object().is_some_and(|sizes| sizes.len() >= 2), "{first}");
    }
    // 2 · 6 heads · 300 tokens · 80; keys and values of 2 heads in FP16, queries and output in FP32.
    let words = "attention --heads 6 --kv-heads 2 --head-dim 40 --context 300 --format fp16";
    let record = &records(&format!("bench {words} {few}"))[0];
    assert_eq!(record["flops"], 288_000.0);
    assert_eq!(record["bytes"], 2.0 * 2.0 * 300.0 * 80.0 + 4.0 * 6.0 * 80.0);
    let table = answer(&format!("bench {words} --cache hot --iterations 3 --warm-up 0"));
    assert!(table.contains("6/2 heads of 40, context 300"), "{table}");
}

#[test]
fn compare_with_a_backend_measures_here() {
    for m in [1, 3] {
        let words = format!(
            "compare --hardware t4 -m {m} -n 64 -k 64 --weights fp32,int8 --backend cpu -o json"
        );
        let value: Value = serde_json::from_str(&answer(&words)).expect("an object");
        for (row, weights) in [(0, "fp32"), (1, "int8")] {
            assert!(value["rows"][row]["measured_s"].as_f64().unwrap() > 0.0, "{m}");
            assert_eq!(value["rows"][row]["weights"], weights);
        }
    }
}

#[test]
fn the_self_test_does_not_change_the_exit_code() {
    let value: Value =
        serde_json::from_str(&answer("bench selftest --trials 1 -o json")).expect("an object");
    for key in ["false_alarm_share", "detected_share"] {
        assert!((0.0..=1.0).contains(&value[key].as_f64().unwrap()), "{key}");
    }
}

#[test]
fn outputs_of_another_device_must_agree() {
    let folder = Folder::new();
    let (own, other) = (folder.path("own.jsonl"), folder.path("other.jsonl"));
    let rows = records(&format!("bench selftest --device cpu --vectors {own} -o json"));
    assert!(rows.iter().all(|row| row["check"]["passed"] == true && row["against"].is_null()));
    let text = std::fs::read_to_string(&own).expect("a file");
    let mut line_of_int8: Value = serde_json::from_str(
        text.lines().find(|line| line.contains("gemv int8 ")).expect("a product"),
    )
    .expect("JSON");
    let output = &mut line_of_int8["outputs"][1];
    output[1] = (output[1].as_f64().expect("a number") + 0.1).into();
    let name = line_of_int8["point"].as_str().expect("a name").to_owned();
    std::fs::write(&other, format!("{line_of_int8}\n")).expect("ours");
    let ended = line(&format!("bench selftest --device cpu --against {other} -o json"));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("wrong results: {name}\n")), "{}", ended.stderr);
    let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("rows");
    let compared: Vec<&Value> = rows.iter().filter(|row| !row["against"].is_null()).collect();
    assert_eq!((compared.len(), &compared[0]["against"]["passed"]), (1, &Value::from(false)));
    refused(
        &format!("bench selftest --device cpu --against {}", folder.path("none")),
        2,
        "no such file",
    );
    refused(&format!("bench selftest --vectors {other}"), 2, "--device");
}

#[test]
fn a_sustained_measurement_stands_beside_that_of_a_burst() {
    let words =
        "bench gemm -m 17 -n 64 -k 64 --weights fp32 --iterations 3 --warm-up 0.01 --sustained 1";
    let records = records(&format!("{words} -o json"));
    let [burst, sustained] = &records[..] else { panic!("{records:?}") };
    let load = |record: &Value| record["conditions"].get("sustained_s").cloned();
    assert_eq!((load(burst), load(sustained)), (None, Some(Value::from(1.0))));
    assert!(sustained["conditions"]["warm_up_s"].as_f64().is_some_and(|took| took >= 1.0));
    assert!(burst["conditions"]["warm_up_s"].as_f64().is_some_and(|took| took < 1.0));
    let folder = Folder::new();
    let file = folder.file("both.json", Value::from(records.clone()).to_string());
    let compared = line(&format!("bench diff {file} {file}"));
    assert!(compared.stdout.contains(" 17x64x64 cold sustained "), "{}", compared.stdout);
    let table = answer(words);
    assert!(table.contains("cold, after 1 s of load"), "{table}");
}

#[test]
fn wrong_input_is_refused_in_one_line_before_measuring() {
    for (words, code, expected) in [
        ("bench gemm --sustained 0.5", 2, "sustained must be a number from 1 to 600"),
        (
            "bench sweep -m 1 -n 64 -k 64 --sustained 1 --out /dev/null",
            2,
            "--sustained and --out exclude each other",
        ),
        ("bench bandwidth --iterations 0", 2, "iterations must be a whole number from 1"),
        ("bench bandwidth --iterations 1.5", 2, "got 1.5"),
        ("bench bandwidth --warm-up -1", 2, "warm-up must be a number from 0"),
        ("bench bandwidth --bytes nan", 2, "bytes must be a whole number"),
        ("bench bandwidth --bytes 9e12", 2, "it lacks memory: "),
        (
            "bench bandwidth --bytes 10",
            2,
            "bytes must be a whole number from 4096 to 10000000000000; got 10",
        ),
        ("bench bandwidth --bytes 0", 2, "from 4096 to"),
        ("bench bandwidth --bytes 18446744073709551615", 2, "from 4096 to"),
        ("bench bandwidth --iterations 18446744073709551615", 2, "from 1 to 100000"),
        ("bench bandwidth --threads 18446744073709551615", 2, "threads must be"),
        ("bench bandwidth --time-limit 0", 2, "time-limit must be a number from 0.01 to 3600"),
        ("bench gemv --weights gguf_q4k", 2, "unknown format `gguf_q4k`; did you mean gguf_q4_k"),
        ("bench gemv -n 1 -k 1", 2, "needs at least 1024 bytes"),
        ("bench gemv -n 18446744073709551615", 2, "n must be a whole number from 1 to 1000000000"),
        ("bench gemv -n 1000000000 -k 1000000000", 2, "it lacks memory: "),
        ("bench gemm -m 1 -n 1 -k 1", 2, "needs at least 1024 bytes"),
        ("bench gemm -m 1000000000 -n 1000000000 -k 1", 2, "it lacks memory: "),
        ("bench bandwidth --cache warm", 2, "[possible values: cold, hot]"),
        ("bench flops --isa sse9", 2, "this processor has no `sse9`; it has portable"),
        ("bench flops --backend tpu", 2, "`tpu` is no device; a device is auto, or cpu or cuda"),
        ("bench flops --backend cuda", 3, "no device `cuda` here; it finds cpu:0 ("),
        (
            "bench flops --device cuda:0",
            3,
            "; CUDA's driver (libcuda.so.1) was not found; --cuda-libs DIR",
        ),
        ("bench sweep --device cpu:1 --out x.jsonl", 3, "no device `cpu:1` here; it finds cpu:0 ("),
        ("bench flops --device fake:0", 3, "no device `fake:0`"),
        ("bench flops --device cpu:-1", 2, "`cpu:-1` is no device"),
        ("bench flops --device=", 2, "`` is no device"),
        ("bench flops --device cpu --backend cpu", 2, "cannot be used multiple times"),
        ("calibrate --device cuda:0 --out x.json", 3, "no device `cuda:0`"),
        ("calibrate --device gpu --out x.json", 2, "`gpu` is no device"),
        ("calibrate --device cpu --from x.csv", 2, "cannot be used with"),
        ("bench flops --threads -1", 2, "threads must be"),
        ("bench flops --iterations 5 --time-limit 2", 2, "exclude each other"),
        ("bench diff nowhere.json nowhere.json", 2, "no such file"),
        ("bench diff nowhere.json", 2, "required"),
        ("bench gemv -n 0", 2, "n must be a whole number from 1"),
        ("bench gemv -n 1,x", 2, "got x"),
        ("bench gemv --weights xyzzy", 2, "no kernels for `xyzzy`; formats with kernels are fp32"),
        ("bench gemv -n 1000000000 -k 1000000", 2, "it lacks memory: "),
        ("bench gemm -m 0", 2, "m must be a whole number from 1"),
        ("bench gemm --weights int4", 2, "GEMM runs in fp32"),
        ("bench gemm -m 2 -n 8 -k 100000 --weights int8", 2, "at most 65536 inputs"),
        ("bench gemm -m 4,4", 2, "m has 4 twice"),
        ("bench gemm --weights bf16", 2, "GEMM runs in fp32"),
        ("bench gemv -n 64,", 2, "got an empty item"),
        ("bench gemv --weights ,", 2, "weights has an empty item"),
        ("bench gemv --weights fp16,FP16", 2, "weights has FP16 twice"),
        ("bench gemv -m 4", 2, "unexpected argument '-m'"),
        ("bench gemv --threads 0", 2, "threads must be a whole number from 1 to "),
        ("bench gemv --seed -1", 2, "seed must be"),
        ("bench gemv --time-limit 1h", 2, "time-limit must be a number from 0.01 to 3600; got 1h"),
        ("bench sweep -n 64", 2, "required"),
        ("bench sweep -m 0 --out x.jsonl", 2, "m must be a whole number from 1"),
        ("bench sweep -m 17 --weights nf4 --out x.jsonl", 2, "GEMM runs in fp32"),
        ("bench sweep -n 8 -k 8 --out no-such-folder/x.jsonl", 2, "no such folder"),
        ("bench gem", 2, "'gemv', 'gemm'"),
        ("calibrate --hardware t4", 2, "hardware needs --export-device or --from"),
        ("calibrate --hardware t5 --export-device x.json", 2, "unknown hardware `t5`"),
        ("calibrate --out x.json --export-device x.json", 2, "must be different files"),
        ("calibrate --about mine", 2, "--from"),
        ("compare --hardware t4 -m 0 -n 8 -k 8 --weights fp16 --backend cpu", 2, "from 1 to"),
        (
            "compare --hardware t4 -m 1 -n 8 -k 8 --weights fp16,fp16 --backend cpu",
            2,
            "weights has fp16 twice",
        ),
        (
            "compare --hardware t4 -m 1 -n 8 -k 8 --weights fp16 --activations int8 --backend cpu",
            2,
            "reads its input in fp32, not in int8",
        ),
        ("calibrate --out no-such-folder/x.json", 2, "no such folder"),
        (
            "compare --hardware t4 -m 1 -n 8 -k 8 --weights fp16 --measured x --backend cpu",
            2,
            "exclude each other",
        ),
        ("bench selftest --trials 0", 2, "trials must be"),
        ("bench", 2, "name a verb of bench: bandwidth, flops, gemv, gemm, sweep, attention, "),
    ] {
        refused(words, code, expected);
    }
}

/// Refused in one line with this exit code.
fn refused(words: &str, code: i32, expected: &str) {
    let ended = line(words);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{words}");
    assert_eq!(ended.stderr.lines().count(), 1, "{words}: {}", ended.stderr);
    assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
}

#[test]
fn sizes_that_no_kernel_of_a_layer_has_are_refused_before_measuring() {
    for (words, code, expected) in [
        ("bench attention --heads 0", 2, "heads must be a whole number from 1"),
        (
            "bench attention --heads 32 --kv-heads 5",
            2,
            "heads must be a multiple of kv_heads; got 32 and 5",
        ),
        ("bench attention --context 1e9 --batch 1000", 2, "it lacks memory: "),
        ("bench attention --context 10 --new 11", 2, "new must be at most context; got 11 and 10"),
        ("bench attention --context 100,100", 2, "context has 100 twice"),
        (
            "bench attention --format int4",
            2,
            "attention runs in fp32, fp16, bf16, fp8_e4m3 here; got `int4`",
        ),
        ("bench attention --format fp16,FP16", 2, "format has FP16 twice"),
        ("bench attention --head-dim 4096", 2, "head-dim must be a whole number from 1 to 1024"),
        (
            "bench attention --context 1 --kv-heads 1 --heads 1 --head-dim 1",
            2,
            "needs at least 1024 bytes",
        ),
        ("bench attention -m 2", 2, "unexpected argument '-m'"),
        ("bench norm --width 0", 2, "width must be a whole number from 1"),
        ("bench norm --format bf16", 2, "norm runs in fp32, fp16 here; got `bf16`"),
        ("bench norm --tokens 1e9 --width 1e9", 2, "it lacks memory: "),
        ("bench rope --head-dim 65", 2, "head_dim must be even"),
        ("bench gate --width x", 2, "got x"),
        ("bench embedding --vocab 10 --tokens 11", 2, "tokens must be at most vocab"),
        ("bench embedding --vocab 5e9", 2, "vocab must be a whole number from 1 to 4294967295"),
    ] {
        refused(words, code, expected);
    }
}

#[test]
fn a_point_above_the_roof_of_the_named_device_says_what_may_be_wrong() {
    let folder = Folder::new();
    let file = |disturbed: &str| {
        format!(
            r#"{{"key": "slow", "class": "cpu", "memory_gib": 8, "bandwidth_gb_s": 0.01, "measured_bandwidth_gb_s": 0.01,
                "dense_peaks_tflops": {{"fp32": 9000}}{disturbed}}}"#
        )
    };
    for (name, disturbed, roof, said) in [
        ("quiet.json", "", Value::Null, "which no kernel can be: either the roof is wrong"),
        (
            "busy.json",
            r#", "disturbed_roofs": ["bandwidth"]"#,
            "bandwidth".into(),
            "was measured while other programs ran or the clock changed: the roof is too low",
        ),
    ] {
        let path = folder.file(name, file(disturbed));
        let words = format!(
            "bench norm --tokens 64 --width 65536 --iterations 2 --warm-up 0 --hardware {path}"
        );
        let text = answer(&words).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said) && text.contains("the roof of slow"), "{text}");
        let expected = &records(&format!("{words} -o json"))[0]["expected"];
        assert_eq!(expected["above_roof"], true, "{expected}");
        assert_eq!(expected["disturbed_roof"], roof, "{expected}");
    }
}

#[test]
fn one_sample_has_no_interval_and_integers_are_no_floating_point_operations() {
    let ended = line("bench flops --iterations 1 --warm-up 0 --threads 1 -o md");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let row = |kernel: &str| {
        let found = ended.stdout.lines().find(|line| line.contains(kernel));
        found.unwrap_or_else(|| panic!("{}", ended.stdout)).to_owned()
    };
    let integers = row("dot_int8");
    assert!(integers.contains("OP/s") && !integers.contains("FLOP/s"), "{integers}");
    assert!(row("fma_fp32").contains("FLOP/s"), "{}", ended.stdout);
    assert!(integers.contains("| – |"), "one sample: {integers}");
    let several = line("bench flops --iterations 5 --warm-up 0 --threads 1 -o md");
    let several = several.stdout.lines().find(|line| line.contains("dot_int8")).map(str::to_owned);
    assert!(several.is_some_and(|row| !row.contains("| – |")));
}

#[test]
fn rows_that_end_with_a_part_of_a_block_are_said() {
    let few = "--cache hot --iterations 3 --warm-up 0 --threads 1";
    let said = |k: u64, format: &str| {
        let words = format!("bench gemv -n 64 -k {k} --weights {format} {few}");
        let table = answer(&words);
        let record = records(&format!("{words} -o json")).remove(0);
        (table, record["accounting"].as_str().expect("text").to_owned())
    };
    let (table, accounting) = said(4097, "gguf_q4_k");
    let blocks = "inputs take 17 blocks of 256, the last one padded with zeros; a GGUF file stores such rows in FP16";
    assert!(table.contains(blocks) && accounting.ends_with(blocks), "{table} {accounting}");
    let (_, groups) = said(4097, "int4_g128");
    assert!(groups.ends_with("33 blocks of 128, the last one padded with zeros"), "{groups}");
    for (k, format) in [(4096, "gguf_q4_k"), (4097, "fp16")] {
        let (table, accounting) = said(k, format);
        assert!(!table.contains("padded") && !accounting.contains("padded"), "{k} {format}");
    }
}
