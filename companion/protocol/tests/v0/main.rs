//! Pages built before `hello.can` and the messages of today's daemon: what such a page reads is what the message says. And daemons of
//! before, which read the messages of today's page but those that need an ability.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use protocol::bench::{BenchKind, BenchSpec};
use protocol::job::{CalibrateSpec, JobSpec, LaterSpec, ToldSpec};
use serde_json::Value;

mod asks;
mod messages;

/// Messages that a daemon of before refuses. A page sends them only where the hello says so; a test of `web` drives it.
const REFUSED: [&str; 6] = [
    "client_list_jobs_before.json",
    "client_list_jobs_later.json",
    "client_revoke_key.json",
    "client_start_attention.json",
    "client_unwatch_engine.json",
    "client_watch_engine.json",
];

/// Messages that such a page passes over as of a later version; it has not asked for the first two.
const PASSED_OVER: [&str; 5] = [
    "server_engine.json",
    "server_engine_ended.json",
    "server_event_device.json",
    "server_event_device_disturbed.json",
    "server_event_readings.json",
];

/// Progress above 2³², which only jobs in bytes have: a page that cannot read their order is not told of them.
const NOT_FOR_IT: [&str; 1] = ["server_event_progress_bytes.json"];

/// Today's messages of one side by the name of their file.
fn golden(side: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let files = fs::read_dir(folder).expect("golden messages").map(|file| file.expect("a file"));
    let text = |path| fs::read_to_string(path).expect("text");
    files
        .map(|file| (file.file_name().into_string().expect("a name"), text(file.path())))
        .filter(|(name, _)| name.starts_with(side))
        .collect()
}

/// Whether a whole value says nothing that `told` does not say, too. Numbers are compared as values: 30 is 30.0.
fn is_part(read: &Value, told: &Value) -> bool {
    match (read, told) {
        (Value::Object(read), Value::Object(told)) => read.iter().all(|(key, value)| {
            told.get(key).map_or(value.is_null(), |other| is_part(value, other))
        }),
        (Value::Array(read), Value::Array(told)) => {
            read.len() == told.len()
                && read.iter().zip(told).all(|(read, told)| is_part(read, told))
        }
        (Value::Number(read), Value::Number(told)) => read.as_f64() == told.as_f64(),
        _ => read == told,
    }
}

#[test]
fn a_page_of_before_reads_the_messages_of_today() {
    let all = golden("server_");
    assert!(all.len() > 30, "{} messages", all.len());
    let (mut passed_over, mut unread) = (Vec::new(), Vec::new());
    for (name, text) in all {
        let Ok(read) = serde_json::from_str::<messages::Say>(&text) else {
            unread.push(name);
            continue;
        };
        let is_later = match &read.say {
            messages::ServerMessage::Event(event) => {
                matches!(event.event, messages::JobEvent::Unknown)
            }
            message => matches!(message, messages::ServerMessage::Unknown),
        };
        if is_later {
            passed_over.push(name);
            continue;
        }
        let (read, told) = (serde_json::to_value(read), serde_json::from_str(&text));
        let (read, told) = (read.expect("JSON"), told.expect("JSON"));
        assert!(is_part(&read, &told), "{name}: {read} of {told}");
    }
    assert_eq!(unread, NOT_FOR_IT);
    assert_eq!(passed_over, PASSED_OVER);
}

#[test]
fn a_daemon_of_before_reads_what_needs_no_ability() {
    let all = golden("client_");
    let read = |text: &String| serde_json::from_str::<asks::Ask>(text).is_ok();
    let refused = all.iter().filter(|(_, text)| !read(text)).map(|(name, _)| name.as_str());
    assert_eq!(refused.collect::<Vec<_>>(), REFUSED);
    assert!(all.len() > 2 * REFUSED.len(), "{} messages", all.len());
}

#[test]
fn a_misread_value_is_found() {
    let value = |text| serde_json::from_str::<Value>(text).expect("JSON");
    for (read, told, is_same) in [
        (r#"{"a":[1.0]}"#, r#"{"a":[1],"b":2}"#, true),
        (r#"{"a":null}"#, "{}", true),
        (r#"{"a":1}"#, r#"{"a":2}"#, false),
        (r#"{"a":1}"#, "{}", false),
        (r#"{"a":[]}"#, r#"{"a":[1]}"#, false),
    ] {
        assert_eq!(is_part(&value(read), &value(told)), is_same, "{read} of {told}");
    }
}

/// The rule by which a daemon leaves jobs out of the list of such a page.
#[test]
fn a_page_of_before_reads_just_the_first_orders() {
    let bench = |what, sizes| {
        let formats = vec!["fp16".to_owned()];
        let (shapes, backend, iterations) = (Vec::new(), None, None);
        JobSpec::Bench(BenchSpec { what, shapes, sizes, formats, backend, iterations })
    };
    let calibrate = |backend| JobSpec::Calibrate(CalibrateSpec { backend });
    let kernels = BenchKind::ALL.map(|what| bench(what, Vec::new()));
    let others = [
        bench(BenchKind::Gemv, vec![[("batch".to_owned(), 1)].into()]),
        calibrate(None),
        calibrate(Some("cuda:1".into())),
    ];
    let mut orders: Vec<ToldSpec> = kernels.into_iter().chain(others).map(ToldSpec::from).collect();
    orders.push(ToldSpec::Later(LaterSpec { kind: "quantize".into() }));
    for order in orders {
        let text = serde_json::to_string(&order).expect("JSON");
        let read = serde_json::from_str::<messages::JobSpec>(&text);
        assert_eq!(read.is_ok(), order.is_first(), "{text}");
    }
}
