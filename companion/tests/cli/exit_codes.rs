//! The published exit codes: one case for each, and for each verb its answer and its refusal.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Ends, Folder, line, program};

#[test]
fn every_verb_ends_with_its_published_code() {
    let folder = Folder::new();
    let measured = folder.file("t4.csv", "weights,time_us\nfp16,120\n");
    let steps = crate::validate::file(&folder, crate::validate::GOOD);
    let open = folder.path("open");
    fs::create_dir(&open).expect("a folder");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let state = folder.path("state");
    fs::create_dir(&state).expect("a folder");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let product = "--hardware t4 -m 1 -n 64 -k 64 --weights fp16";
    let model = "--hardware h100 --model llama-3.2-1b";
    let bench = "--cache hot --iterations 1 --warm-up 0";
    for (words, code) in [
        ("hardware t4".to_owned(), 0),
        ("hardware t5".into(), 2),
        ("models llama-3.2-1b".into(), 0),
        ("models llama-9".into(), 2),
        ("formats fp16".into(), 0),
        ("formats fp15".into(), 2),
        (format!("analyze {product}"), 0),
        (format!("analyze {product} --batch 2"), 2),
        (format!("estimate {model}"), 0),
        (format!("estimate {model} --batch 0"), 2),
        (format!("recommend {model}"), 0),
        (format!("recommend {model} --batch 0"), 2),
        (format!("recommend {} --batch 0", model.replace("h100", "any")), 2),
        (format!("recommend {model} --weight-gb -1"), 2),
        (format!("schedule {model}"), 0),
        (format!("schedule {model} --tensor-parallel 0"), 2),
        (format!("sweep {product}"), 0),
        (format!("sweep {product} --power-mode 7W"), 2),
        (format!("sweep {} -m 0", product.replace("-m 1 ", "")), 2),
        (format!("sweep {product} --out /dev/full"), 1),
        ("merge no-such-file".into(), 2),
        (format!("tiling {product}"), 0),
        ("tiling --hardware t4".into(), 2),
        (format!("compare --hardware t4 -m 1 -n 64 -k 64 --measured {measured}"), 0),
        ("compare --hardware t4".into(), 2),
        (format!("compare {product} --backend cuda"), 3),
        (format!("check {product} --time-us 50"), 0),
        (format!("check {product}"), 2),
        ("plot --hardware t4".into(), 0),
        ("plot --hardware t4 -o t4.jpg".into(), 2),
        (format!("plot --hardware t4 -o {}", folder.path("no/t4.svg")), 1),
        (format!("bench bandwidth --bytes 4096 {bench}"), 0),
        (format!("bench bandwidth --bytes 10 {bench}"), 2),
        ("bench flops --backend cuda".into(), 3),
        ("monitor -- no-such-program".into(), 3),
        ("monitor --interval 1ms -- true".into(), 2),
        ("attach http://127.0.0.1:1".into(), 1),
        ("attach https://127.0.0.1:1".into(), 2),
        ("telemetry -o jsonl".into(), 0),
        ("telemetry --interval 1s".into(), 2),
        ("calibrate --from no-such-file".into(), 2),
        (format!("validate {steps}"), 0),
        (format!("validate {steps} --max-median-percent 0"), 4),
        ("validate no-such-file".into(), 2),
        (format!("keys list --state {state}"), 0),
        (format!("keys list --state {open}"), 5),
        (format!("keys new --name= --state {state}"), 2),
        (format!("pair --state {state}"), 1),
        ("serve --port 99999".into(), 2),
        ("completions bash".into(), 0),
        ("completions tcsh".into(), 2),
        ("man".into(), 0),
        (format!("man --dir {measured}"), 2),
        ("no-such-verb".into(), 2),
    ] {
        let ended = line(&words);
        assert_eq!(ended.code, Some(code), "{words}: {}", ended.stderr);
        // An answer is printed on stdout even if a threshold is not met.
        let answers = [0, 4].contains(&code);
        assert_eq!(ended.stdout.is_empty(), !answers, "{words}");
        assert_eq!(
            ended.stderr.lines().count(),
            usize::from(code != 0),
            "{words}: {}",
            ended.stderr
        );
    }
}

#[test]
fn an_interrupt_is_130() {
    let mut child = Ends(
        program()
            .args(["analyze", "--jsonl"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts"),
    );
    // An answer shows that the program reads; its input stays open until it exits.
    let mut stdin = child.0.stdin.take().expect("piped");
    stdin.write_all(b"{}\n").expect("it reads");
    child.0.stdout.as_mut().expect("piped").read_exact(&mut [0; 1]).expect("it answers");
    kill_process(Pid::from_child(&child.0), Signal::INT).expect("it runs");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(130));
}

#[test]
fn messages_are_clipped() {
    for words in [
        "hardware --filter LONG",
        "analyze --hardware t4 --op LONG",
        "hardware -o LONG",
        "analyze --LONG",
    ] {
        let ended = line(&words.replace("LONG", &"x".repeat(100_000)));
        assert_eq!(ended.code, Some(2), "{words:.40}");
        assert!(ended.stderr.len() < 1000, "{words:.40}: {}", ended.stderr.len());
    }
}

#[test]
fn keys_of_no_state_are_said_to_be_none_and_nothing_is_created() {
    let folder = Folder::new();
    let state = folder.path("no-such-state");
    let why = format!("there is no state in {state}");
    for (verb, code) in [
        ("list", 0),
        ("list -o json", 0),
        ("revoke all", 2),
        ("revoke 0123456789abcdef", 2),
        ("grant 0123456789abcdef --scope bench", 2),
        ("withdraw 0123456789abcdef --scope bench", 2),
    ] {
        let ended = line(&format!("keys {verb} --state {state}"));
        assert_eq!(ended.code, Some(code), "{verb}: {}", ended.stderr);
        assert!(ended.stderr.contains(&why), "{verb}: {}", ended.stderr);
        assert!(!fs::exists(&state).expect("it can be asked"), "{verb} created the folder");
    }
}
