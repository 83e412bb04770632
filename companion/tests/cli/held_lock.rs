//! A lock that a stopped program holds: whoever waits for it says so within a second.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::run::{Ends, Folder, line, program};

#[test]
fn a_revocation_behind_a_stopped_program_says_within_a_second_why_it_waits() {
    let folder = Folder::new();
    let state = folder.path("state");
    let begin = Instant::now();
    let made = line(&format!("keys new --name page --scope read --state {state}"));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let usual = begin.elapsed();
    let lock = File::open(folder.path("state/keys.lock")).expect("the verb made it");
    lock.lock().expect("nobody else has it");
    let mut command = program();
    command.args(["keys", "revoke", "all", "--state", &state]).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut waits = Ends(command.stdout(Stdio::null()).spawn().expect("the binary starts"));
    let mut stderr = BufReader::new(waits.0.stderr.take().expect("piped"));
    let mut said = String::new();
    stderr.read_line(&mut said).expect("a line");
    // A program starts more slowly on a machine under load: by as much as the one that made the key.
    assert!(begin.elapsed() < Duration::from_secs(3) + 4 * usual, "{:?}", begin.elapsed());
    assert!(said.starts_with("waiting, for 5 s at most, for another program"), "{said}");
    assert!(said.contains("keys.lock"), "{said}");
    lock.unlock().expect("it was locked");
    let status = waits.0.wait().expect("a child");
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert!(status.success(), "{rest}");
}
