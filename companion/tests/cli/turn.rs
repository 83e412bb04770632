//! The turn to measure: a second ridgepoint waits for the first.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::binary::TURN;
use crate::run::{Ended, Folder, program};

#[test]
fn a_measurement_waits_for_another_one_and_says_so() {
    let folder = Folder::new();
    let path = folder.file("turn", "");
    let words = "bench bandwidth --bytes 100000 --cache hot --iterations 5 --warm-up 0 --threads 1";
    let start = || {
        let mut command = program();
        command.args(words.split_whitespace()).env(TURN, &path);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    };
    let other = File::open(&path).expect("it was written");
    other.lock().expect("nobody else has it");
    let mut waiting = start();
    let mut said = BufReader::new(waiting.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it writes text");
    assert!(
        line.starts_with("another ridgepoint measures on this machine; this one waits"),
        "{line}"
    );
    assert_eq!(waiting.try_wait().expect("a child"), None, "it waits");
    other.unlock().expect("it was locked");
    let ended = Ended::from(waiting.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("Measured on"), "{}", ended.stdout);
    let alone = Ended::from(start().wait_with_output().expect("it ends"));
    assert_eq!((alone.code, &*alone.stderr), (Some(0), ""));
}
