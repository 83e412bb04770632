//! Nonsense for every flag of every verb: refused in one line that names the flag or the value, or a value that the flag accepts.
//! The flags are read from `--help`, so that a new one is tested without being listed here.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::thread;

use serde_json::{Map, Value, json};

use crate::run::{Folder, answer, committed, program, with_stdin};

/// Typing errors, and output of programs that fill in a variable wrongly.
const GARBAGE: [&str; 10] =
    ["", " ", "-1", "nan", "inf", "1e400", "0", "18446744073709551615", "٣", "no-such-thing.json"];

/// A shorter list for verbs that start a process for each value.
const FEW: [&str; 6] = ["", "-1", "nan", "0", "18446744073709551615", "no-such-thing.json"];

/// Longest refusal, in characters; devices have many modes, and verbs many flags.
const LONGEST: usize = 600;

/// The flags of a verb that take a value.
fn flags(verb: &str) -> Vec<String> {
    let help = answer(&format!("{verb} --help"));
    let named = |line: &str| {
        let (_, rest) = line.split_once("--")?;
        let (name, value) = rest.split_once(' ')?;
        value.starts_with('<').then(|| name.to_owned())
    };
    help.lines().filter(|line| line.trim_start().starts_with('-')).filter_map(named).collect()
}

/// Whether a refusal names the flag or the beginning of the value.
fn names(said: &str, flag: &str, value: &str) -> bool {
    let start: String = value.trim().chars().take(20).collect();
    let spellings = [flag.to_owned(), flag.replace('-', "_"), flag.replace('-', " ")];
    spellings.iter().any(|name| said.contains(name)) || !start.is_empty() && said.contains(&start)
}

fn request(words: &str) -> Map<String, Value> {
    let mut words = words.split(' ');
    let mut fields = Map::new();
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        fields.insert(key.into(), value.into());
    }
    fields
}

#[test]
fn every_flag_of_a_request_refuses_nonsense_by_name() {
    let model = "hardware h100 model llama-3.2-1b batch 1 prompt 64";
    let long = "x".repeat(100_000);
    for (verb, base) in [
        ("analyze", "hardware t4 m 1 n 64 k 64 weights fp16"),
        ("estimate", model),
        ("recommend", model),
        ("schedule", "hardware h100 model llama-3.2-1b prompt 64"),
        ("check", "hardware h100 model llama-3.2-1b batch 1 prompt 64 tokens_per_s 5"),
    ] {
        let flags: Vec<String> = flags(verb).into_iter().filter(|flag| flag != "output").collect();
        assert!(flags.len() > 20, "{verb}: {flags:?}");
        let mut tried = Vec::new();
        for flag in &flags {
            for value in GARBAGE.into_iter().chain([long.as_str()]) {
                let mut fields = request(base);
                fields.insert(flag.replace('-', "_"), value.into());
                tried.push((flag, value, json!(fields)));
            }
        }
        let input: String = tried.iter().map(|(_, _, line)| format!("{line}\n")).collect();
        let ended = with_stdin(&format!("{verb} --jsonl"), input.as_bytes());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{verb}");
        assert_eq!(ended.stdout.lines().count(), tried.len(), "{verb}");
        for ((flag, value, _), line) in tried.iter().zip(ended.stdout.lines()) {
            let found: Value = serde_json::from_str(line).expect("JSON");
            match found["error"].as_str() {
                Some(said) => {
                    let short = said.chars().count() < LONGEST || value.len() > LONGEST;
                    assert!(
                        names(said, flag, value) && short,
                        "{verb} --{flag} {value:.20?}: {said:.600}"
                    );
                }
                // A value that is a number and is allowed.
                None => assert!(
                    ["0", "1e400"].contains(value),
                    "{verb} --{flag} {value:.20?} was taken"
                ),
            }
        }
    }
}

/// Verbs with words that make them answer, to which the test adds one flag at a time.
fn commands(folder: &Folder) -> Vec<(&'static str, String)> {
    let measured = folder.file("t4.csv", "weights,time_us\nfp16,120\n");
    let product = "--hardware t4 -m 1 -n 64 -k 64 --weights fp16";
    let quick = "--cache hot --iterations 1 --warm-up 0";
    vec![
        ("hardware", String::new()),
        ("models", String::new()),
        ("formats", String::new()),
        ("tiling", product.into()),
        ("sweep", product.into()),
        ("merge", "no-such-file".into()),
        ("compare", format!("--hardware t4 -m 1 -n 64 -k 64 --measured {measured}")),
        ("plot", product.into()),
        ("validate", committed("calc-core/validation/data/no-such-file.csv")),
        ("calibrate", "--from no-such-file".into()),
        ("bench bandwidth", format!("--bytes 4096 {quick}")),
        ("bench gemv", format!("-n 64 -k 64 --weights fp16 {quick}")),
        ("bench gemm", format!("-m 2 -n 64 -k 64 --weights fp16 {quick}")),
        ("bench attention", format!("--context 64 --format fp16 {quick}")),
        ("bench norm", format!("--width 64 --format fp16 {quick}")),
        ("bench rope", format!("--heads 2 --format fp16 {quick}")),
        ("bench gate", format!("--width 64 --format fp16 {quick}")),
        ("bench embedding", format!("--vocab 64 --width 64 --format fp16 {quick}")),
        ("bench sweep", format!("-m 2 -n 64 -k 64 --weights fp16 {quick} --out /dev/null")),
        ("bench selftest", "--trials 1".into()),
        ("keys list", String::new()),
        ("pair", String::new()),
        ("man", String::new()),
        ("completions", "bash".into()),
    ]
}

#[test]
fn every_flag_of_the_other_verbs_refuses_nonsense_in_one_line() {
    let folder = Folder::new();
    let mut tried = Vec::new();
    let mut seen = BTreeSet::new();
    for (verb, words) in commands(&folder) {
        for flag in flags(verb) {
            // The verbs of `bench` share their flags, and so do the verbs that answer requests.
            let family = verb.split(' ').next().unwrap_or_default();
            if ["bench", "sweep"].contains(&family) && !seen.insert((family, flag.clone())) {
                continue;
            }
            let garbage = FEW.map(OsString::from).into_iter();
            let more = [OsStr::from_bytes(b"\xff\xfe").to_owned(), folder.path("").into()];
            tried.extend(
                garbage.chain(more).map(|value| (verb, words.clone(), flag.clone(), value)),
            );
        }
    }
    assert!(tried.len() > 200, "{}", tried.len());
    let halves = tried.split_at(tried.len() / 2);
    thread::scope(|scope| {
        for half in [halves.0, halves.1] {
            scope.spawn(move || {
                for (verb, words, flag, value) in half {
                    refused_or_taken(verb, words, flag, value);
                }
            });
        }
    });
}

/// Runs a verb with one more flag in an empty folder, because some flags name an output file.
fn refused_or_taken(verb: &str, words: &str, flag: &str, value: &OsStr) {
    let folder = Folder::new();
    let mut given: Vec<&str> = words.split_whitespace().collect();
    let short = ["m", "n", "k"].contains(&flag).then(|| format!("-{flag}"));
    let same = |word: &&str| *word == format!("--{flag}") || Some(*word) == short.as_deref();
    if let Some(at) = given.iter().position(same) {
        given.drain(at..at + 2);
    }
    let mut command = program();
    command.current_dir(folder.path("")).args(verb.split(' ')).args(given);
    let ended = command.arg(format!("--{flag}")).arg(value).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let which = {
        let code = ended.status.code();
        format!("{verb} {words} --{flag} `{}`: {code:?} {said}", value.display())
    };
    match ended.status.code() {
        Some(0) => assert!(!said.contains("panicked"), "{which}"),
        // A failure or a missing permission, for folders and files that exist.
        Some(1 | 2 | 5) => {
            assert!(ended.stdout.is_empty() && said.starts_with("error: "), "{which}");
            assert!(said.lines().count() == 1 && said.len() < LONGEST, "{which}");
        }
        _ => panic!("{which}"),
    }
}
