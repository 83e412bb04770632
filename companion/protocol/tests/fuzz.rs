//! Fuzz target: the messages of both sides. What can be read can be written and read again as the same, and of a client's message nothing
//! is passed over.

use std::fs;
use std::path::Path;

use fuzz::{Target, Verdict};
use protocol::client::Ask;
use protocol::server::Say;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const WORDS: [&str; 16] = [
    "null",
    "true",
    "{}",
    "[]",
    "\"type\":\"ping\"",
    "\"type\":\"later\"",
    "\"kind\":\"quantize\"",
    "\"later\":1,",
    "\"id\":1,",
    "\"id\":null,",
    "\"after\":0,",
    "\"read\"",
    "\"power\"",
    "\\u0000",
    "\\ud800",
    ",",
];

/// One file of every message.
fn messages() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("golden files")
        .map(|file| file.expect("a file").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file")).collect()
}

/// Reads a message; checks that its written form is the same message.
fn read<T: DeserializeOwned + Serialize + PartialEq + core::fmt::Debug>(bytes: &[u8]) -> Option<T> {
    let message: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_string(&message).expect("text keys");
    let again: T = serde_json::from_str(&written)
        .unwrap_or_else(|error| panic!("{error} in what was written: {written}"));
    assert_eq!(again, message, "{written}");
    assert_eq!(serde_json::to_string(&again).expect("text keys"), written);
    Some(message)
}

/// The first part of a message that its written form lacks. What says nothing may be absent there.
fn lost(sent: &Value, written: &Value, place: &str) -> Option<String> {
    match (sent, written) {
        (Value::Object(sent), Value::Object(written)) => sent.iter().find_map(|(key, value)| {
            let place = format!("{place}/{key}");
            if let Some(found) = written.get(key) {
                return lost(value, found, &place);
            }
            let says_nothing = match value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            };
            (!says_nothing).then_some(place)
        }),
        (Value::Array(sent), Value::Array(written)) if sent.len() == written.len() => sent
            .iter()
            .zip(written)
            .enumerate()
            .find_map(|(at, (sent, written))| lost(sent, written, &format!("{place}/{at}"))),
        (Value::Number(sent), Value::Number(written)) => {
            let same = sent.as_f64() == written.as_f64();
            (!same).then(|| format!("{place}: {sent} is {written}"))
        }
        _ => (sent != written).then(|| format!("{place}: {sent} is {written}")),
    }
}

#[test]
fn a_message_that_is_read_is_the_one_that_was_sent() {
    Target { name: "protocol", inputs: messages(), words: &WORDS }.run(|case| {
        let ask = read::<Ask>(case.bytes);
        let say = read::<Say>(case.bytes);
        if let Some(ask) = &ask {
            let sent: Value = serde_json::from_slice(case.bytes).expect("it was read");
            let written = serde_json::to_value(ask).expect("text keys");
            assert_eq!(lost(&sent, &written, ""), None);
        }
        assert!(!case.is_whole() || ask.is_some() || say.is_some());
        if ask.is_some() || say.is_some() { Verdict::Accepted } else { Verdict::Refused }
    });
}

#[test]
fn a_part_that_gets_lost_is_found() {
    let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    for (sent, written, expected) in [
        (r#"{"a":[1,{"b":2}]}"#, r#"{"a":[1,{"b":2.0}]}"#, None),
        (r#"{"a":null,"b":[]}"#, "{}", None),
        (r#"{"a":{"b":1}}"#, r#"{"a":{}}"#, Some("/a/b")),
        (r#"{"a":[1,2]}"#, r#"{"a":[1,3]}"#, Some("/a/1: 2 is 3")),
        (r#"{"a":[1,2]}"#, r#"{"a":[1]}"#, Some("/a: [1,2] is [1]")),
    ] {
        assert_eq!(lost(&value(sent), &value(written), "").as_deref(), expected, "{sent}");
    }
}
