//! Named pipes, sockets, devices and folders in place of a file: refused at once by every verb that reads or writes one.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::run::{Ended, Ends, Folder, answer, line, program, with_stdin};

fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    path
}

fn refused(words: &str, expected: &str) {
    let Ended { code, stdout, stderr } = line(words);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{words}: {stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains(expected), "{words}: {stderr}");
}

#[test]
fn a_named_pipe_is_refused_wherever_a_file_is_read_or_written() {
    let folder = Folder::new();
    let pipe = pipe(&folder, "pipe.json");
    let svg = folder.path("pipe.svg");
    fs::hard_link(&pipe, &svg).expect("another name");
    let sweep = "sweep --hardware t4 -m 1 -n 64 -k 64 --weights fp16";
    let product = "--hardware t4 -m 1 -n 64 -k 64 --weights fp16";
    for words in [
        format!("hardware {pipe}"),
        format!("models {pipe}"),
        format!("analyze {}", product.replace("t4", &pipe)),
        format!("analyze {product} --calibration {pipe}"),
        format!("tiling {}", product.replace("t4", &pipe)),
        format!("estimate --hardware t4 --model {pipe} --batch 1 --prompt 64"),
        format!("recommend --hardware {pipe} --model llama-3.2-1b --batch 1 --prompt 64"),
        format!("schedule --hardware t4 --model {pipe} --prompt 64"),
        format!("check --hardware {pipe} -m 1 -n 64 -k 64 --weights fp16 --time-us 5"),
        format!("sweep {}", product.replace("t4", &pipe)),
        format!("{sweep} --out {pipe}"),
        format!("merge {pipe}"),
        format!("compare --hardware t4 --measured {pipe}"),
        format!("validate {pipe}"),
        format!(
            "validate {} --calibration {pipe}",
            crate::run::committed("calc-core/validation/data/steps.csv")
        ),
        format!("calibrate --from {pipe}"),
        format!("calibrate --out {pipe}"),
        format!("bench diff {pipe} {pipe}"),
        format!("bench sweep -n 64 -k 64 --weights fp16 --out {pipe}"),
        format!("plot --hardware {pipe}"),
        format!("plot --hardware t4 -o {svg}"),
    ] {
        refused(&words, "it is a named pipe, not a file");
    }
    let ended = line(&format!("serve --allow-root --site {pipe}"));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
}

#[test]
fn devices_are_written_and_never_read() {
    let folder = Folder::new();
    let sweep = "sweep --hardware t4 -m 1..4 -n 64 -k 64 --weights fp16 --out";
    for device in ["/dev/null", "/dev/full"] {
        refused(&format!("merge {device}"), "it is a device, not a file");
    }
    assert_eq!(answer(&format!("{sweep} /dev/null")), "");
    let bench =
        "bench sweep -n 64 -k 64 --weights fp16 --iterations 1 --warm-up 0 --cache hot --out";
    let steps = folder.file(
        "mine.csv",
        fs::read_to_string(crate::run::committed("calc-core/validation/data/steps.csv"))
            .expect("it is there"),
    );
    let calibrate = format!("calibrate --from {steps} --hardware h100_sxm --out");
    for words in [sweep, bench, &calibrate] {
        let ended = line(&format!("{words} /dev/full"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{words}: {}", ended.stderr);
        let said = "cannot write /dev/full: No space left on device";
        assert!(ended.stderr.contains(said), "{words}: {}", ended.stderr);
    }
}

#[test]
fn a_full_disk_behind_stdout_is_reported() {
    for words in [
        "hardware t4",
        "sweep --hardware t4 -m 1 -n 64 -k 64 --weights fp16",
        "man",
        "completions bash",
        "--help",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let child = program().args(words.split(' ')).stdout(full).stderr(Stdio::piped()).output();
        let child = child.expect("the binary starts");
        let said = String::from_utf8_lossy(&child.stderr).into_owned();
        assert_eq!(child.status.code(), Some(1), "{words}: {said}");
        assert!(said.lines().count() == 1 && said.contains("No space left"), "{words}: {said}");
    }
}

/// As `<(command)` of a shell passes them.
#[test]
fn pipes_opened_by_the_shell_are_read() {
    let csv = b"weights,time_us\nfp16,120\n";
    for name in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        let words = format!("compare --hardware t4 -m 1 -n 4096 -k 4096 --measured {name}");
        let ended = with_stdin(&words, csv);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{name}");
    }
    let mut child = Ends(
        program()
            .args(["validate", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts"),
    );
    child.0.stdin.take().expect("piped").write_all(b"nonsense\n").expect("it reads");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(2));
}
