//! `tools/gpu-run.sh`, dry on the processor: the script that measures a GPU with the program alone.

use std::process::Command;

use crate::binary::TURN;
use crate::run::{Ended, Folder};

fn script(words: &[&str]) -> Ended {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/gpu-run.sh");
    let mut command = Command::new(script);
    command.env(TURN, "").args(["--program", env!("CARGO_BIN_EXE_ridgepoint")]).args(words);
    command.output().expect("bash").into()
}

#[test]
fn a_dry_run_measures_its_parts_and_makes_a_table() {
    let folder = Folder::new();
    let out = folder.path("results");
    let words = ["--device", "cpu:0", "--quick", "--out", &out];
    let ended = script(&[&words[..], &["about", "streams", "products", "table"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let read = |name: &str| std::fs::read_to_string(format!("{out}/{name}")).expect("a file");
    assert!(read("about.txt").contains("ridgepoint "));
    assert_eq!(read("streams.jsonl").lines().count(), 3);
    let table = read("table.csv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split(',').collect()).collect();
    // Two sizes with one token and one with 4 and 16, in 13 formats.
    assert_eq!(rows.len(), 4 * 13, "{table}");
    for row in rows {
        let rate = |at: usize| row[at].parse::<f64>().expect("a number");
        assert!(rate(3) > 0.0 && rate(4) > 0.0 && rate(5) > 0.0, "{row:?}");
    }
    // A part that has its records is not measured again.
    let again = script(&[&words[..], &["streams", "table"]].concat());
    assert!(again.code == Some(0) && !again.stderr.contains("bandwidth"), "{}", again.stderr);
}

/// The backend of a GPU on the driver of tests, as the script calls it.
#[cfg(target_os = "linux")]
#[test]
fn products_of_matrices_are_measured_where_the_library_is_found() {
    let folder = Folder::new();
    let libraries = folder.path("libraries");
    let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/cuda/cpu/build.sh");
    assert!(Command::new(build).arg(&libraries).status().expect("a shell").success());
    let run = |out: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/gpu-run.sh");
        let mut command = Command::new(script);
        command.env(TURN, "").env("RIDGEPOINT_CUDA_LIBS", &libraries);
        command.args(["--program", env!("CARGO_BIN_EXE_ridgepoint"), "--quick", "--out", out]);
        Ended::from(command.args(["matrices", "table"]).output().expect("bash"))
    };
    let out = folder.path("results");
    let ended = run(&out);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let table = std::fs::read_to_string(format!("{out}/matrices.csv")).expect("a file");
    let kernels: Vec<&str> =
        table.lines().skip(1).filter_map(|row| row.split(',').next()).collect();
    let expected = ["gemm", "gemm_tf32", "gemm_fp16", "gemm_bf16", "gemm_fp8_e4m3", "gemm_int8"];
    assert_eq!(kernels, expected);
    assert!(table.lines().skip(1).all(|row| row.contains("\"cuBLASLt 12.9.1, algorithm 6")));
    std::fs::remove_file(format!("{libraries}/libcublasLt.so.12")).expect("ours");
    let without = run(&folder.path("without"));
    assert_eq!(without.code, Some(0), "{}", without.stderr);
    assert!(without.stderr.contains("this device has no GEMM"), "{}", without.stderr);
    assert!(without.stderr.contains("products of matrices are left out"), "{}", without.stderr);
}

#[test]
fn wrong_words_are_refused_and_a_missing_gpu_is_named() {
    let folder = Folder::new();
    let out = folder.path("results");
    for (words, code, expected) in [
        (&["--speed"][..], 2, "--speed is no flag"),
        (&["--out", &out, "everything"], 2, "everything is no part"),
        (&["--out", &out, "--device", "cuda:0", "streams"], 3, "no device `cuda:0` here"),
    ] {
        let ended = script(words);
        assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}
