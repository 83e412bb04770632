//! Fuzz target: the audit log. A damaged line takes none of its neighbors with it: lines before it are followed, the damage is found at
//! the line or at the next one, and a later line never changes those before it.

use std::fs;

use fuzz::{Target, Verdict};
use protocol::hex::Hex;

use super::{Action, Clock, Entry, LINE, Line, Linked, Log, Who, hash, path, verify};

const WORDS: [&str; 8] = [
    "\n",
    "\"seq\":18446744073709551615",
    "\"refused: host\"",
    "{}",
    "null",
    "\"prev_sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\"",
    "\"action\":\"pair\"",
    ",",
];

/// A log as a daemon writes it, from its start to its end.
fn written(log: &Log) -> Vec<u8> {
    let page = Who {
        session: Some(7),
        key: Some(Hex([0xab; 8])),
        origin: Some("http://localhost:8000".into()),
        peer: "this machine".into(),
    };
    let done = |who: Who, action, args| Entry::done(who, action, args);
    let refused = Entry {
        who: Who { origin: Some("https://evil.test".into()), ..page.clone() },
        action: Action::Request,
        args: None,
        refused: Some("origin"),
        count: 12,
    };
    let _absent_the_first_time = fs::remove_file(path(&log.folder, 0));
    for entry in [
        done(Who::terminal(), Action::Serve, ""),
        done(Who::terminal(), Action::NewCode, "read,bench"),
        done(page.clone(), Action::Pair, "Firefox"),
        refused,
        done(page.clone(), Action::Identify, ""),
        done(page, Action::StartJob, "{\"kind\":\"calibrate\"}"),
        done(Who::terminal(), Action::End, ""),
    ] {
        log.add(&entry, false).expect("a folder of its own");
    }
    fs::read(path(&log.folder, 0)).expect("it was written")
}

/// The complete lines of a log, without their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let complete = bytes[..end].split_inclusive(|byte| *byte == b'\n');
    complete.map(|line| &line[..line.len() - 1]).collect()
}

/// Number of lines at the start of both.
fn same(a: &[&[u8]], b: &[&[u8]]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[test]
fn a_damaged_audit_line_takes_no_neighbor_with_it() {
    let name = format!("ridgepoint-fuzz-audit-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).expect("a folder of its own");
    let log = Log::of(&folder, Clock::default());
    let (first, second) = (written(&log), written(&log));
    let torn = first[..first.len() - 30].to_vec();
    let one = [lines(&second)[0], b"\n"].concat();
    // The next number of this last line is none: it once ended the program.
    let last = String::from_utf8(one.clone()).expect("text");
    let last = last.replace("\"seq\":1,", "\"seq\":18446744073709551615,").into_bytes();
    let target =
        Target { name: "audit", inputs: vec![first, second, torn, one, last], words: &WORDS };
    let ours = &target.inputs[..4];
    target.run(|case| {
        fs::write(path(&folder, 0), case.bytes).expect("a folder of its own");
        let found = lines(case.bytes);
        let verdict = match verify(&folder) {
            Ok(chain) => {
                assert_eq!(chain.lines, found.len() as u64, "all of them");
                // Nothing names the hash of the last line yet.
                let named = &found[..found.len().saturating_sub(1)];
                let is_ours = |input: &Vec<u8>| same(named, &lines(input)) == named.len();
                assert!(ours.iter().any(is_ours), "a changed line");
                Verdict::Accepted
            }
            Err(why) => {
                let number = why.split_once(", line ").and_then(|(_, rest)| rest.split_once(':'));
                let number = number.and_then(|(number, _)| number.parse().ok());
                let number: usize = number.unwrap_or_else(|| panic!("no line in `{why}`"));
                // A chain of ours may go on in that of another input.
                let kept = ours.iter().map(|input| same(&found, &lines(input))).max();
                let kept = kept.unwrap_or_default();
                assert!((kept + 1..=kept + 2).contains(&number), "{why}: {kept} are whole");
                Verdict::Refused
            }
        };
        continued(&log, case.bytes, verdict);
        verdict
    });
    fs::remove_dir_all(folder).expect("ours");
}

/// Writes a line after damaged ones: it is refused, or it follows the last one and leaves the others as they are.
fn continued(log: &Log, damaged: &[u8], verdict: Verdict) {
    let found = lines(damaged);
    let complete: Vec<u8> = found.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
    let added = log.add(&Entry::done(Who::terminal(), Action::End, "x"), false);
    let after = fs::read(path(&log.folder, 0)).expect("it is there");
    if added.is_err() {
        assert!(after == damaged || after == complete, "a refused line changed the log");
        let is_long = damaged.split(|byte| *byte == b'\n').any(|line| line.len() as u64 >= LINE);
        assert!(verdict == Verdict::Refused || is_long, "{added:?}");
        return;
    }
    let line = after.strip_prefix(&*complete).expect("the lines before are as they were");
    let line: Line = serde_json::from_slice(line).expect("one line of ours");
    let before = found.last().map(|line| {
        let read: Linked = serde_json::from_slice(line).expect("it was continued");
        (read.seq, hash(line))
    });
    let (seq, prev_sha256) = before.unwrap_or((0, Hex([0; 32])));
    assert_eq!((line.seq, line.prev_sha256), (seq + 1, prev_sha256));
    assert_eq!(verify(&log.folder).is_ok(), verdict == Verdict::Accepted);
}
