//! One request per verb, with the published JSON: keys, order, and numbers to the last bit.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Folder, answer};

fn check(name: &str, request: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let found = answer(request);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &found).expect("the golden file is writable");
        return;
    }
    let expected =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let line = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
    assert!(
        found == expected,
        "{name} differs, first in line {:?}; `ridgepoint {request}`",
        line.map(|i| i + 1)
    );
}

#[test]
fn answers_are_as_published() {
    for (name, request) in [
        ("hardware.json", "hardware jetson_orin_nano_8gb_super -o json"),
        ("models.json", "models llama-3.1-8b -o json"),
        ("formats.json", "formats int4_g128 -o json"),
        (
            "analyze.json",
            "analyze --hardware h100 -m 1 -n 4096 -k 4096 --weights int4_g128 -o json",
        ),
        (
            "attention.json",
            "analyze --hardware gb10 --op attention --heads 32 --kv-heads 8 --head-dim 128 --cached 4096 --kv fp8_e4m3 -o json",
        ),
        (
            "ffn.json",
            "analyze --hardware h100 --op ffn --tokens 64 --hidden 4096 --width 14336 --weights fp8_e4m3 -o json",
        ),
        (
            "moe.json",
            "analyze --hardware gb10 --op moe --tokens 4 --hidden 2048 --width 768 --n-experts 128 --per-token 8 \
             --weights nvfp4 -o json",
        ),
        (
            "moe.txt",
            "analyze --hardware gb10 --op moe --tokens 4 --hidden 2048 --width 768 --n-experts 128 --per-token 8 \
             --weights nvfp4",
        ),
        (
            "estimate.json",
            "estimate --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b --weights int4_g128 --batch 1 \
             --prompt 512 --context 4096 -o json",
        ),
        (
            "estimate.txt",
            "estimate --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b --weights int4_g128 --batch 1 \
             --prompt 512 --context 4096",
        ),
        (
            "recommend.json",
            "recommend --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b --batch 1 --prompt 512 \
             --context 4096 -o json",
        ),
        (
            "recommend.txt",
            "recommend --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b --batch 1 --prompt 512 \
             --context 4096",
        ),
        (
            "schedule.json",
            "schedule --hardware jetson_orin_nano_8gb_super --model llama-3.2-3b --prompt 512 --power-cap-w 7 -o json",
        ),
        (
            "devices.json",
            "recommend --hardware any --model llama-3.1-8b --batch 1 --prompt 512 --max-tpot-ms 5 -o json",
        ),
        (
            "tiling.json",
            "tiling --hardware a100_80gb_sxm -m 4096 -n 4096 -k 4096 --weights fp16 -o json",
        ),
        (
            "check.json",
            "check --hardware h100 --model llama-3.1-8b --weights bf16 --prompt 512 --tokens-per-s 500 -o json",
        ),
        (
            "check.txt",
            "check --hardware jetson_orin_nano_8gb_super --model llama-3.2-3b --weights int4_g128 --prompt 512 \
             --new-tokens 128 --seconds 9",
        ),
        (
            "check_operator.json",
            "check --hardware h100 -m 1 -n 4096 -k 4096 --weights int4_g128 --time-us 2 -o json",
        ),
        (
            "sweep.csv",
            "sweep --hardware t4 -m 1..4x2 -n 64 -k 64 --weights fp16,nf4 --activations fp16,nf4 -o csv",
        ),
    ] {
        check(name, request);
    }
}

#[test]
fn a_comparison_is_as_published() {
    let folder = Folder::new();
    let csv = "weights,time_us,m,n,k\nfp16,120,1,4096,4096\nint4_g128,40,1,4096,4096\nint8,70,1,4096,4096\nint8,9,8,4096,4096\n";
    let measured = folder.file("t4.csv", csv);
    check(
        "compare.json",
        &format!("compare --hardware t4 -m 1 -n 4096 -k 4096 --measured {measured} -o json"),
    );
}
