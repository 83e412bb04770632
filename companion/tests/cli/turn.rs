//! The turn to measure: a second ridgepoint waits for the first.

use std::fs::File;
use std::thread;
use std::time::Duration;

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
        thread::spawn(move || Ended::from(command.output().expect("the binary starts")))
    };
    let other = File::open(&path).expect("it was written");
    other.lock().expect("nobody else has it");
    let waiting = start();
    thread::sleep(Duration::from_millis(500));
    assert!(!waiting.is_finished(), "it waits");
    other.unlock().expect("it was locked");
    let ended = waiting.join().expect("no panic");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("Measured on"), "{}", ended.stdout);
    assert!(
        ended.stderr.starts_with("another ridgepoint measures on this machine; this one waits"),
        "{}",
        ended.stderr
    );
    let alone = start().join().expect("no panic");
    assert_eq!((alone.code, &*alone.stderr), (Some(0), ""));
}
