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

/// Rows of a table by their cells.
fn rows(table: &str) -> Vec<Vec<&str>> {
    table.lines().skip(1).map(|row| row.split(',').collect()).collect()
}

#[test]
fn a_dry_run_measures_all_parts_and_makes_its_tables() {
    let folder = Folder::new();
    let out = folder.path("results");
    let words = ["--device", "cpu:0", "--quick", "--out", &out];
    let ended = script(&words);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let read = |name: &str| std::fs::read_to_string(format!("{out}/{name}")).expect("a file");
    let parts = read("parts.csv");
    let parts: Vec<(&str, &str)> = rows(&parts).iter().map(|row| (row[0], row[2])).collect();
    let expected = "about selftest vectors streams peaks products ratios matrices layer repeat calibrate table";
    let expected: Vec<(&str, &str)> = expected.split(' ').map(|part| (part, "0")).collect();
    assert_eq!(parts, expected);
    assert!(read("about.txt").contains("ridgepoint "));
    assert_eq!(read("streams.jsonl").lines().count(), 3);
    assert!(read("selftest.jsonl").lines().all(|line| line.contains("\"passed\":true")));
    // Three numbers of tokens in each format; a processor agrees with itself.
    let compared = read("vectors.jsonl").matches("\"worst_share\":0.0,").count();
    assert_eq!(compared, 3 * kernels::pack::Layout::ALL.len());
    for name in ["peaks", "matrices", "attention", "norm", "rope", "gate", "embedding", "repeat-5"]
    {
        assert!(read(&format!("{name}.jsonl")).contains("\"passed\":true"), "{name}");
    }
    let products = read("products.csv");
    let products = rows(&products);
    // Two sizes with one token and one with 4 and 16, in 13 formats.
    assert_eq!(products.len(), 4 * 13, "{products:?}");
    for row in products {
        let rate = |at: usize| row[at].parse::<f64>().expect("a number");
        // A share of reading has three digits, and a small product on a loaded machine may have less than a thousandth.
        assert!(rate(3) > 0.0 && rate(4) > 0.0 && rate(5) >= 0.0, "{row:?}");
    }
    // No target is judged by small sizes, and each row says why.
    let table = read("table.csv");
    for row in rows(&table) {
        assert!(row.len() == 5 && row[3] == "not measured" && !row[4].is_empty(), "{row:?}");
    }
    // A part that has its records is not measured again.
    let again = script(&[&words[..], &["streams", "table"]].concat());
    assert!(again.code == Some(0) && !again.stderr.contains("bandwidth"), "{}", again.stderr);
}

/// A record with what the tables read.
fn record(kernel: &str, weights: &str, (m, n): (u64, u64), time_s: f64, more: &str) -> String {
    format!(
        "{{\"kernel\":\"{kernel}\",\"device\":\"NVIDIA H200\",\"shape\":{{\"m\":{m},\"n\":{n},\"k\":{n}}},\"precision\":{{\"weights\":\"{weights}\"}},\
         \"time_s\":{{\"median\":{time_s:e}}},\"check\":{{\"passed\":true}},{more}\"flags\":[]}}\n"
    )
}

#[test]
fn the_table_says_of_each_target_whether_it_was_reached() {
    let folder = Folder::new();
    let out = folder.path("results");
    std::fs::create_dir(&out).expect("a folder");
    let write = |name: &str, text: String| {
        std::fs::write(format!("{out}/{name}"), text).expect("a file");
    };
    let rate = |bytes: f64, rate: f64| format!("\"bytes\":{bytes:?},\"byte_per_s\":{rate:?},");
    let ideal = "\"expected\":{\"ideal_s\":9.4e-5},";
    write("streams.jsonl", record("read", "", (1, 1), 1e-4, &(rate(4.8e8, 4.8e12) + ideal)));
    write("streams-64000000.jsonl", record("read", "", (1, 1), 1e-5, &rate(6.4e7, 4e12)));
    let gemv = |format: &str, bytes, byte_per_s| {
        record("gemv", format, (1, 16_384), 1e-4, &rate(bytes, byte_per_s))
    };
    let products =
        [gemv("int8", 2.7e8, 4.6e12), gemv("nf4", 6e7, 3.5e12), gemv("mxfp4", 1e6, 4e12)];
    write("products-large.jsonl", products.concat());
    let bf16 = |time| record("gemm_bf16", "bf16", (1, 16_384), time, "");
    write("ratios-before.jsonl", bf16(1.3e-4));
    write("ratios-after.jsonl", bf16(1.2e-4));
    let few = [("int8", 6e-5), ("int4_g128", 3.44e-5), ("nvfp4", 4e-5)];
    let few = few.map(|(format, time)| record("gemv", format, (1, 16_384), time, ""));
    let wrong = record("gemv", "nf4", (1, 16_384), 1e-6, "").replace("true", "false");
    write("ratios-1.jsonl", few.concat() + &wrong);
    write("ratios-side.jsonl", record("gemv", "int4_g128", (1, 8192), 1.13e-5, ""));
    let matrices = |kernel, weights, rate: f64| {
        record(kernel, weights, (8192, 8192), 1e-3, &format!("\"flop_per_s\":{rate:?},"))
    };
    let both =
        [matrices("gemm_bf16", "bf16", 7.96e14), matrices("gemm_fp8_e4m3", "fp8_e4m3", 1.4e15)];
    write("matrices.jsonl", both.concat());
    write("matrices.seconds", "61\n".to_owned());
    for (run, time) in (1..=5).zip([1e-4, 1.01e-4, 1.02e-4, 1.03e-4, 1.04e-4]) {
        let int8 = record("gemv", "int8", (1, 16_384), 1e-4, "");
        let fp8 = record("gemv", "fp8_e4m3", (1, 16_384), 4e-5, "");
        write(
            &format!("repeat-{run}.jsonl"),
            record("gemv", "bf16", (1, 16_384), time, "") + &int8 + &fp8,
        );
    }
    write(
        "calibrate.json",
        "{\"median_error\":0.02,\"median_error_matrices\":0.0701}\n".to_owned(),
    );
    let ended = script(&["--out", &out, "table"]);
    // A wrong result is there.
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let table = std::fs::read_to_string(format!("{out}/table.csv")).expect("a file");
    for row in [
        "read kernel over the published bandwidth,>= 0.93,0.940,yes,",
        "GEMV int8 large over reading,>= 0.95,0.958,yes,",
        "GEMV nf4 large over reading,>= 0.90,0.875,no,",
        "GEMV mxfp4 large over reading,>= 0.90,,not measured,it has fewer than 16000000 bytes",
        "GEMV fp16 large over reading,>= 0.90,,not measured,products-large has no such record",
        "GEMV fp16 side over reading,>= 0.90,,not measured,products-side was not measured",
        "int8 over cuBLASLt BF16 at M = 1,>= 1.9,2.000,yes,",
        "nvfp4 over cuBLASLt BF16 at M = 1,>= 3.2,3.000,no,",
        "nf4 over cuBLASLt BF16 at M = 1,>= 3.4,,not measured,its result is wrong",
        "int4_g128 over cuBLASLt BF16 at M = 16,>= 3.0,,not measured,ratios-after has no such record",
        "INT4 g128 16384 × 16384,<= 34.5 µs,34.400 µs,yes,",
        "INT4 g128 8192 × 8192,<= 11.2 µs,11.300 µs,no,",
        "gemm_bf16,>= 795 TFLOPS,796.000 TFLOPS,yes,",
        "gemm_fp8_e4m3,>= 1453 TFLOPS,1400.000 TFLOPS,no,",
        "search of the products of matrices,<= 60 s,61.0 s,no,",
        // The deviation of 100 to 104 is 1.581, over 102.
        "GEMV bf16 in five processes,<= 1.0 %,1.5500 %,no,",
        "GEMV int8 in five processes,<= 1.0 %,0.0000 %,yes,",
        "GEMV fp8_e4m3 in five processes,<= 1.0 %,,not measured,it takes less than 50 µs",
        "prediction of GEMV; median error,<= 6.0 %,2.000 %,yes,",
        "prediction of GEMM; median error,<= 6.0 %,7.010 %,no,",
    ] {
        assert!(table.lines().any(|line| line == row), "{row}\n{table}");
    }
    // Figures that were published for one device are not held against another one.
    for name in ["streams", "ratios-1", "matrices"] {
        let path = format!("{out}/{name}.jsonl");
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(path, text.replace("H200", "L4")).expect("a file");
    }
    let ended = script(&["--out", &out, "table"]);
    for row in [
        "read kernel over the published bandwidth,>= 0.93,,not measured,the figure is about H200; this is NVIDIA L4",
        "INT4 g128 16384 × 16384,<= 34.5 µs,,not measured,the figure is about H200; this is NVIDIA L4",
        "gemm_bf16,>= 795 TFLOPS,,not measured,the figure is about H200; this is NVIDIA L4",
        "int8 over cuBLASLt BF16 at M = 1,>= 1.9,2.000,yes,",
    ] {
        assert!(ended.stdout.lines().any(|line| line == row), "{row}\n{}", ended.stdout);
    }
}

/// The libraries of the emulated driver.
#[cfg(target_os = "linux")]
fn libraries(folder: &Folder) -> String {
    let libraries = folder.path("libraries");
    let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/cuda/cpu/build.sh");
    assert!(Command::new(build).arg(&libraries).status().expect("a shell").success());
    libraries
}

/// A format that takes more memory than there is does not take its results from the others.
#[cfg(target_os = "linux")]
#[test]
fn a_point_without_memory_is_left_out_with_its_reason() {
    let folder = Folder::new();
    let libraries = libraries(&folder);
    let bench = |weights: &str| {
        let mut command = crate::run::program();
        command.env("RIDGEPOINT_CUDA_LIBS", &libraries).env("FAKE_CUDA", "memory=8");
        let words =
            "bench gemv -n 1024 -k 512 --device cuda:0 --iterations 3 --warm-up 0.01 -o jsonl";
        Ended::from(
            command
                .args(words.split(' '))
                .args(["--weights", weights])
                .output()
                .expect("it starts"),
        )
    };
    let ended = bench("fp16,nvfp4");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("\"weights\":\"nvfp4\""), "{}", ended.stdout);
    let said = "left out: gemv 1 × 1024 × 512 in fp16: cuda:0 (Emulated GPU 0): it lacks memory: ";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    // Nothing is measured: the reason is the answer.
    let ended = bench("fp32,fp16");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn a_part_that_fails_stops_no_other_and_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    // A program that fails in one part, is wrong in another, and else answers.
    let program = folder.file(
        "program",
        "#!/usr/bin/env bash\ncase \"$1 $2\" in\n\"bench flops\") exit 7 ;;\n\
         \"bench norm\") echo '{\"kernel\":\"norm\",\"check\":{\"passed\":false}}' && exit 1 ;;\n\
         \"calibrate --device\") echo '{\"median_error\":0.02,\"median_error_matrices\":0.03}' ;;\n\
         *) echo '{\"kernel\":\"other\"}' ;;\nesac\n",
    );
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("ours");
    let out = folder.path("results");
    let words = ["--program", &program, "--out", &out];
    let ended =
        script(&[&words[..], &["streams", "peaks", "layer", "calibrate", "table"]].concat());
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for said in [
        "gpu-run: peaks failed with exit code 7; the other parts go on",
        "results are wrong in",
        "gpu-run: failed: peaks (exit code 7);layer (exit code 1)",
    ] {
        assert!(ended.stderr.contains(said), "{said}\n{}", ended.stderr);
    }
    let parts = std::fs::read_to_string(format!("{out}/parts.csv")).expect("a file");
    let codes: Vec<&str> = rows(&parts).iter().map(|row| row[2]).collect();
    assert_eq!(codes, ["0", "7", "1", "0", "0"]);
    // Kernels after the one that failed in its part are there, too.
    assert!(std::fs::exists(format!("{out}/embedding.jsonl")).expect("a folder"));
    assert!(ended.stdout.contains("prediction of GEMV; median error,<= 6.0 %,2.000 %,yes,"));
    // Without the wrong result the exit code is that of the part that failed.
    let other = folder.path("other");
    let ended = script(&["--program", &program, "--out", &other, "peaks", "streams"]);
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
}

/// The backend of a GPU on the driver of tests, as the script calls it.
#[cfg(target_os = "linux")]
#[test]
fn products_of_matrices_are_measured_where_the_library_is_found() {
    let folder = Folder::new();
    let libraries = libraries(&folder);
    let run = |out: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/gpu-run.sh");
        let mut command = Command::new(script);
        command.env(TURN, "").env("RIDGEPOINT_CUDA_LIBS", &libraries);
        command.args(["--program", env!("CARGO_BIN_EXE_ridgepoint"), "--quick", "--out", out]);
        let parts = ["matrices", "table"];
        Ended::from(command.args(parts).output().expect("bash"))
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
