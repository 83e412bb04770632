//! `compare --measured` with files of benchmarks and profilers: forms, flags, refusals and exit codes.

use serde_json::Value;

use crate::run::{Folder, answer, line};

/// Path of a fixture, which the reader's own tests use, too.
fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../calc-core/report/tests/measurements");
    format!("{folder}/{name}")
}

#[test]
fn a_file_of_llama_bench_needs_no_other_flag() {
    let name = fixture("llama-bench.json");
    let text = answer(&format!("compare --measured {name}"));
    assert!(text.starts_with("llama-bench on GeForce RTX 4090: theory against measurement\n"));
    assert!(text.contains("4 of 4 comparable times are as expected"), "{text}");
    assert!(text.contains("taken from the file: engine llama.cpp (the tool); hardware"), "{text}");
    let csv = answer(&format!("compare --measured {name} -o csv"));
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(
        csv.lines()
            .next()
            .is_some_and(|head| head.contains("measured_s") && head.contains("expected.low_s"))
    );
}

#[test]
fn json_has_a_row_per_time() {
    let name = fixture("vllm-serve-queue.json");
    let text = answer(&format!("compare --hardware h100_sxm --measured {name} -o json"));
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["schema"], 1);
    assert_eq!(value["tool"], "vllm bench serve");
    let works: Vec<&str> = value["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["work"].as_str().expect("text"))
        .collect();
    assert_eq!(works, ["first_token", "token", "all_tokens"]);
    let row = &value["rows"][1];
    let number = |key: &str| row[key].as_f64().expect("a number");
    let expected = row["expected"]["time_s"].as_f64().expect("s");
    assert!((number("ratio") - number("measured_s") / expected).abs() < 1e-9);
    assert_eq!((&row["judged"], &row["inside_expected"]), (&"roof".into(), &Value::Null));
}

#[test]
fn a_kernel_of_a_profile_is_compared_with_a_product() {
    let name = fixture("ncu-raw.csv");
    let product = "--hardware rtx_4090 -m 1 -n 4096 -k 4096 --weights fp16";
    let text = answer(&format!("compare {product} --measured {name} --kernel gemv"));
    assert!(text.contains("DRAM traffic: counted 33.6") && text.contains("ratio 1.00×"), "{text}");
    let ended = line(&format!("compare {product} --measured {name}"));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("gemv_kernel, rms_norm"), "{}", ended.stderr);
}

#[test]
fn refusals_are_one_line_with_exit_code_2() {
    let folder = Folder::new();
    let broken = folder.file("broken.json", "[{\"n_prompt\":512,\"n_gen\":0,\"avg_ns\":-1}]");
    let products = folder.file("products.csv", "weights,time_s\nfp16,1e-3");
    let empty = folder.file("empty.json", "");
    for (words, expected) in [
        (
            format!("--hardware t4 --measured {broken}"),
            "avg_ns must be a time in ns above 0; got -1",
        ),
        (format!("--hardware t4 --measured {empty}"), "the file is empty"),
        (
            format!("--hardware t4 --measured {}", fixture("vllm-throughput.json")),
            "vllm bench latency",
        ),
        (format!("--hardware t4 --measured {products} --batch 4"), "--batch is for files of"),
        (format!("--hardware t4 --measured {products} --kernel a"), "--kernel is for files of"),
        (
            format!("--hardware t4 --measured {} --kernel a", fixture("aiperf.json")),
            "aiperf has none",
        ),
        ("--hardware t4 --backend cpu --model llama-3.1-8b".into(), "--model is for files of"),
    ] {
        let ended = line(&format!("compare {words}"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}");
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
        assert_eq!(ended.stderr.trim_end().lines().count(), 1, "{}", ended.stderr);
    }
}
