//! Bad input: one line on stderr that names the value and what is allowed, nothing on stdout, exit code 2.

use crate::run::{Folder, line, program, run};

fn refused(words: &str, expected: &str) {
    let ended = line(words);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}: {}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{words}: {}", ended.stderr);
    assert!(
        ended.stderr.starts_with("error: ") && ended.stderr.contains(expected),
        "{words}: {}",
        ended.stderr
    );
}

#[test]
fn impossible_shapes_are_refused() {
    let huge = "1000000000000000000000000000000";
    for (value, expected) in [
        ("0", "from 1 to 1000000000; got 0"),
        ("-3", "got -3"),
        ("1.5", "whole number; got 1.5"),
        ("1e30", "got 1e30"),
        (huge, "got 1e30"),
        ("nan", "m must be"),
        ("inf", "m must be"),
        ("abc", "m must be a number; got `abc`"),
        ("1000000001", "from 1 to 1000000000"),
    ] {
        let request = format!("analyze --hardware t4 -m {value} -n 64 -k 64 --weights fp16");
        refused(&request, expected);
        refused(&request.replace("analyze", "tiling"), expected);
    }
    for (flag, value, expected) in [
        ("batch", "0", "batch must be from 1"),
        ("prompt", "1e30", "prompt must be"),
        ("context", "-1", "context must be"),
        ("acceptance", "1.5", "acceptance"),
        ("new-tokens", "0.5", "new_tokens must be a whole number"),
        ("tensor-parallel", "0", "tensor_parallel"),
        ("weight-bits", "nan", "weight_bits"),
        ("weight-gb", "-4", "weight_gb"),
    ] {
        let sound =
            "estimate --hardware t4 --model llama-3.1-8b --batch 1 --prompt 64 --draft-tokens 2";
        let sound = if flag == "acceptance" {
            sound.to_owned()
        } else {
            sound.replace(" --draft-tokens 2", "")
        };
        let request = match flag {
            "batch" => sound.replace("--batch 1", &format!("--batch {value}")),
            "prompt" => sound.replace("--prompt 64", &format!("--prompt {value}")),
            _ => format!("{sound} --{flag} {value}"),
        };
        refused(&request, expected);
    }
}

#[test]
fn unknown_keys_suggest_the_nearest() {
    let estimate = "estimate --batch 1 --prompt 64";
    for (words, expected) in [
        ("hardware h10", "unknown hardware `h10`; did you mean h100_"),
        ("models lama-3.1-8b", "did you mean llama-3.1-8b"),
        ("formats int4_g", "did you mean int4_"),
        (
            "analyze --hardware t4 -m 1 -n 1 -k 1 --weights fp15",
            "unknown format `fp15`; did you mean",
        ),
        (
            "analyze --hardware t4 -m 1 -n 1 -k 1 --weights fp16 --engine vlm",
            "engine must be one of",
        ),
        ("analyze --hardware t4 --op convolution", "op must be one of gemm"),
        ("hardware --filter zebra", "no key or name contains `zebra`"),
    ] {
        refused(words, expected);
    }
    refused(&format!("{estimate} --hardware t4 --model gpt5"), "unknown model `gpt5`");
    let long = "x".repeat(100_000);
    let ended = run(["hardware", &long]);
    assert!(ended.code == Some(2) && ended.stderr.len() < 500, "a long key is cut");
}

#[test]
fn modes_and_formats_that_the_device_lacks_are_refused() {
    for (words, expected) in [
        (
            "analyze --hardware t4 -m 1 -n 1 -k 1 --weights fp16 --power-mode 15W",
            "this device has none",
        ),
        (
            "analyze --hardware jetson_orin_nano_8gb -m 1 -n 1 -k 1 --weights fp16 --power-mode 99W",
            "this device has 15W",
        ),
        (
            "analyze --hardware t4 -m 1 -n 1 -k 1 --weights fp16 --activations nf4",
            "nothing computes in nf4",
        ),
    ] {
        refused(words, expected);
    }
}

#[test]
fn this_machine_is_a_row_of_the_catalog_or_named() {
    let ended = line("hardware here");
    let names =
        ["this machine is \"", "this board is \"", "this machine has unlike", "this system does"];
    let is_named = names.iter().any(|name| ended.stderr.contains(name));
    match ended.code {
        Some(0) => assert!(ended.stdout.contains("bandwidth"), "{}", ended.stdout),
        code => assert!(code == Some(2) && is_named, "{code:?} {}", ended.stderr),
    }
}

#[test]
fn missing_and_contradictory_flags_are_refused() {
    for (words, expected) in [
        ("estimate", "hardware is missing"),
        ("estimate --hardware t4", "model is missing"),
        ("analyze --hardware t4 -m 1 -n 1 -k 1", "weights is missing"),
        (
            "estimate --hardware t4 --model llama-3.1-8b --batch 1 --prompt 1 --weight-gb 5 --weight-bits 4",
            "exclude each other",
        ),
        (
            "estimate --hardware t4 --model llama-3.1-8b --batch 1 --prompt 1 --draft-tokens 4",
            "draft_tokens needs acceptance",
        ),
        ("plot --hardware t4 --weights fp16", "weights needs a shape"),
        ("plot --hardware t4 -m 1 -n 1 -k 1", "a shape needs formats"),
        ("plot --hardware t4 -o t4.jpg", "must end in .svg or .png"),
        ("plot --hardware t4 --width 99999", "99999"),
        ("plot --hardware t4 --point a,0,1", "NAME,FLOP_PER_BYTE,TFLOPS"),
        ("plot --hardware t4 --point a,nan,1", "NAME,FLOP_PER_BYTE,TFLOPS"),
        ("plot --hardware t4 --point 1,2", "NAME,FLOP_PER_BYTE,TFLOPS"),
        ("compare --hardware t4 -m 1 -n 1 -k 1", "measured is missing"),
        (
            "compare --hardware t4 -m 17 -n 8 -k 8 --weights int4_g128 --backend cpu",
            "GEMM runs in fp32",
        ),
        ("compare --hardware t4 -m 1 -n 8 -k 8 --backend cpu", "weights is missing"),
        (
            "compare --hardware t4 -m 1 -n 8 -k 8 --weights gguf_q5_k --backend cpu",
            "no kernels for",
        ),
        ("compare --hardware t4 --backend tpu", "`tpu` is no device"),
        ("serve --allow-root --site no-such-folder", "no page in this folder"),
    ] {
        refused(words, expected);
    }
}

#[test]
fn malformed_claims_are_refused() {
    let model = "check --hardware t4 --model llama-3.1-8b --prompt 64";
    let operator = "check --hardware t4 -m 1 -n 64 -k 64 --weights fp16";
    for (claim, expected) in [
        ("", "tokens_per_s, time_us or seconds is missing"),
        ("--tokens-per-s 0", "tokens_per_s must be from 1e-9 to 1000000000000; got 0"),
        ("--tokens-per-s -5", "got -5"),
        ("--tokens-per-s nan", "tokens_per_s must be"),
        ("--tokens-per-s fast", "tokens_per_s must be a number; got `fast`"),
        ("--time-us 0", "time_us must be from 1e-6"),
        ("--time-us inf", "time_us must be"),
        ("--new-tokens 9 --seconds -1", "seconds must be from"),
        ("--tokens-per-s 5 --time-us 9", "tokens_per_s and time_us exclude each other"),
        ("--time-us 9 --new-tokens 4 --seconds 9", "time_us and seconds exclude each other"),
        ("--time-us 9 --per-user", "per_user needs tokens_per_s"),
        ("--seconds 9", "seconds needs new_tokens"),
        ("--new-tokens 999999 --seconds 9", "new_tokens must be from 1 to 131072; got 999999"),
        ("--tokens-per-s 5 --batch 0", "batch must be from 1"),
    ] {
        refused(&format!("{model} {claim}"), expected);
    }
    for (claim, expected) in [
        ("--tokens-per-s 5", "tokens_per_s needs model"),
        ("--seconds 5", "seconds needs model"),
        ("--time-us 5 --time-us 6", "cannot be used multiple times"),
        ("--time-us 5 --prompt 5", "unknown field `prompt`"),
        ("", "tokens_per_s, time_us or seconds is missing"),
    ] {
        refused(&format!("{operator} {claim}"), expected);
    }
    refused("check --hardware t5 -m 1 -n 1 -k 1 --time-us 5", "unknown hardware `t5`");
    refused("check --time-us 5", "hardware is missing");
    refused("check --tokens-per-sec 5", "a similar argument exists: '--tokens-per-s'");
    let split = "check --hardware strix_halo --model llama-3.1-8b --prompt 64 --tensor-parallel 2";
    refused(&format!("{split} --time-us 5"), "the link of strix_halo is unknown");
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (words, expected) in [
        ("", "name a verb, such as estimate"),
        (
            "keys",
            "name a verb of keys: list, new, grant, withdraw, revoke; `ridgepoint keys --help`",
        ),
        ("estimat", "a similar subcommand exists: 'estimate'"),
        ("estimate --hardwre t4", "a similar argument exists: '--hardware'"),
        ("estimate --hardware", "a value is required"),
        ("estimate --batch 1 --batch 2", "cannot be used multiple times"),
        ("hardware -o xml", "table, json, jsonl, csv, md"),
        ("hardware t4 --filter x", "cannot be used with"),
        ("completions tcsh", "bash"),
        ("completions", "required arguments were not provided: <SHELL>"),
        ("merge", "required arguments were not provided: <FILE>..."),
        ("serve --port 99999", "99999 is not in 0..=65535"),
        ("serve --port -1", "-1"),
    ] {
        refused(words, expected);
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let ended = program()
        .arg("hardware")
        .arg(std::ffi::OsStr::from_bytes(b"\xff\xfe"))
        .output()
        .expect("it starts");
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr).lines().count(), 1);
}

#[test]
fn measurements_that_do_not_match_are_refused() {
    let folder = Folder::new();
    for (content, rest, expected) in [
        ("weights,time_us\nfp16,120\n", "--weights fp16,nf4", "has no row for nf4"),
        ("weights,time_us\nfp16,120\nfp16,121\n", "", "more than one row for fp16"),
        ("weights,time_us\nfp3,120\n", "", "unknown format `fp3`"),
        ("weights,time_us\nfp16,-1\n", "", "line 2: a time must be positive"),
        ("weights,time_us\nfp16,fast\n", "", "line 2: the time must be a number"),
        ("weights,speed\nfp16,1\n", "", "the header must have weights"),
        ("weights,time_us,m,n,k\nfp16,1,8,8,8\n", "", "no row is about this shape"),
        (
            "weights,time_us,activations\nfp16,1,bf16\n",
            "--activations fp16",
            "no row is about this shape",
        ),
        ("{\"precision\":{}}", "", "record 1: it has no precision.weights"),
        ("", "", "the file is empty"),
    ] {
        let file = folder.file("t4.csv", content);
        refused(
            &format!("compare --hardware t4 -m 1 -n 64 -k 64 --measured {file} {rest}"),
            expected,
        );
    }
    refused("compare --hardware t4 --measured no.csv", "cannot read no.csv: no such file");
    let several = folder.file("several.csv", "weights,time_us,m,n,k\nfp16,1,8,8,8\nfp16,1,9,8,8\n");
    refused(&format!("compare --hardware t4 --measured {several}"), "several shapes");
}
