//! Runs the binary to its end.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;

pub(crate) use crate::binary::{Ends, Folder, daemon, program};

/// The output and exit code of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Runs the binary with arguments.
pub(crate) fn run<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Ended {
    program().args(words).output().expect("the binary starts").into()
}

/// Runs the binary with the arguments of a line.
pub(crate) fn line(words: &str) -> Ended {
    run(words.split_whitespace())
}

/// Runs the arguments of a line, which must succeed, and returns stdout.
pub(crate) fn answer(words: &str) -> String {
    let ended = line(words);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{words}");
    ended.stdout
}

/// Runs the binary with a text on its stdin.
pub(crate) fn with_stdin(words: &str, input: &[u8]) -> Ended {
    let mut child = program()
        .args(words.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    thread::scope(|scope| {
        // A thread writes, because both pipes may fill up.
        scope.spawn(move || stdin.write_all(input).expect("the binary reads its input"));
        child.wait_with_output().expect("the binary ends").into()
    })
}

/// A committed file of this repository.
pub(crate) fn committed(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    root.join(path).to_str().expect("a plain name").to_owned()
}

/// The example device of the documentation.
pub(crate) fn device_file() -> String {
    committed("docs/examples/custom-device.json")
}

/// The example model of the documentation.
pub(crate) fn model_file() -> String {
    committed("docs/examples/custom-model.json")
}
