//! Tests of the transport: garbage, limits, order, cancellation.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::super::respond::Source;
use super::*;

fn context() -> Context {
    Context { source: Source::Files, page: "http://localhost:8000/".to_owned() }
}

/// The answers to all lines of an input.
fn answers(input: &[u8]) -> Vec<Value> {
    let mut output = Vec::new();
    serve(input, &mut output, &context()).expect("memory");
    let text = String::from_utf8(output).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("one message per line")).collect()
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
}

#[test]
fn a_session_opens_lists_and_calls() {
    let asked = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let call =
        json!({"name": "estimate", "arguments": {"hardware": "h100", "model": "llama-3.1-8b"}});
    let input = request(1, "initialize", &asked)
        + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n"
        + &request(2, "ping", &json!({}))
        + &request(3, "tools/list", &json!({}))
        + &request(4, "tools/call", &call)
        + &request(5, "resources/list", &json!({}));
    let mut found = answers(input.as_bytes());
    found.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(found[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(found[1]["result"], json!({}));
    assert_eq!(found[2]["result"]["tools"].as_array().map(Vec::len), Some(8));
    let told = &found[3]["result"];
    let link = told["structuredContent"]["link"].as_str().expect("a link");
    assert!(link.starts_with("http://localhost:8000/?view=model&model=llama-3.1-8b&d=h100_sxm"));
    assert!(told["content"][0]["text"].as_str().is_some_and(|text| text.ends_with(link)));
    assert_eq!(found[4]["error"]["code"], -32601);
}

#[test]
fn a_request_that_names_its_revision_needs_no_session() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let input = request(1, "server/discover", &json!({"_meta": meta}))
        + &request(2, "tools/list", &json!({"_meta": meta}))
        + &request(3, "ping", &json!({"_meta": meta}))
        + &request(4, "initialize", &json!({"_meta": meta, "protocolVersion": "2025-11-25"}));
    let found = answers(input.as_bytes());
    assert_eq!(found[0]["result"]["supportedVersions"][0], "2026-07-28");
    for answer in &found[..2] {
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(answer["result"]["cacheScope"], "public");
        assert_eq!(
            answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
            "ridgepoint"
        );
    }
    for answer in &found[2..] {
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}

#[test]
fn refused_questions_are_results_with_the_sentence_of_the_command_line() {
    for (name, given, says) in [
        ("estimate", json!({"hardware": "h10", "model": "llama-3.1-8b"}), "unknown hardware `h10`"),
        ("estimate", json!({"hardware": "h100", "model": "lama-9"}), "unknown model `lama-9`"),
        (
            "estimate",
            json!({"hardware": "h100", "model": "llama-3.1-8b", "batch": 0}),
            "batch must be from 1 to",
        ),
        ("estimate", json!({"devce": "h100", "model": "llama-3.1-8b"}), "hardware is missing"),
        ("estimate", json!({}), "hardware is missing"),
        ("list_devices", json!({"filter": "zzz"}), "no key or name contains `zzz`"),
        ("list_devices", json!({"limit": 0}), "limit must be from 1 to"),
        ("resolve_model", json!({"name": "/dev/stdin"}), "it is an open file of this program"),
        ("compare", json!({"scenarios": []}), "scenarios must be a list of 2 to 4 JSON objects"),
    ] {
        let input = request(1, "tools/call", &json!({"name": name, "arguments": given}));
        let found = answers(input.as_bytes());
        let told = &found[0]["result"];
        let text = told["content"][0]["text"].as_str().unwrap_or_default();
        assert!(told["isError"] == true && text.contains(says), "{name} {given}: {told}");
    }
}

#[test]
fn what_is_no_question_is_an_error_of_the_protocol() {
    let call = |params: Value| request(1, "tools/call", &params);
    for (line, code) in [
        ("nonsense\n".to_owned(), -32700),
        ("[]\n".to_owned(), -32600),
        (call(json!({})), -32602),
        (call(json!({"name": "estimat"})), -32602),
        (call(json!({"name": "estimate", "arguments": []})), -32602),
        (request(1, "initialize", &json!({})), -32602),
    ] {
        assert_eq!(answers(line.as_bytes())[0]["error"]["code"], code, "{line}");
    }
}

#[test]
fn a_message_that_is_too_long_is_refused_and_the_next_one_answered() {
    let mut input = vec![b' '; 3 * MAX_LINE];
    input.push(b'\n');
    input.extend(request(7, "ping", &json!({})).as_bytes());
    let found = answers(&input);
    assert!(found[0]["error"]["message"].as_str().is_some_and(|text| text.contains("at most")));
    assert_eq!((found.len(), &found[1]["id"]), (2, &json!(7)));
}

/// Input that sends its lines when it is told to, as a client does.
struct Told(Receiver<Vec<u8>>);

impl Read for Told {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(line) = self.0.recv() else { return Ok(0) };
        buffer[..line.len()].copy_from_slice(&line);
        Ok(line.len())
    }
}

/// Output that says when a line is complete.
struct Heard(Sender<Value>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(serde_json::from_slice(bytes).expect("a whole message"));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_canceled_question_is_not_answered_and_a_ping_does_not_wait() {
    let (say, told) = channel();
    let (heard, hear) = channel();
    let (start, started) = channel::<()>();
    let (release, released) = channel::<()>();
    let (started_by, released) = (Mutex::new(start), Mutex::new(released));
    let answer = |question: &Question| {
        if question.method == "tools/call" {
            let _ = started_by.lock().expect("one thread").send(());
            let _ = released.lock().expect("one thread").recv();
        }
        json!({"id": question.id})
    };
    let wait = Duration::from_mins(1);
    thread::scope(|scope| {
        scope.spawn(|| serve_with(Told(told), Heard(heard), answer).expect("memory"));
        let ask = |id: u64, method: &str| say.send(request(id, method, &json!({})).into_bytes());
        let cancel = |id: u64| {
            let params = json!({"requestId": id});
            let line =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            say.send(format!("{line}\n").into_bytes())
        };
        for id in [1, 2, 3] {
            ask(id, "tools/call").expect("it listens");
        }
        started.recv_timeout(wait).expect("the first one runs");
        ask(2, "tools/call").expect("it listens");
        let refused = hear.recv_timeout(wait).expect("an id in use is refused");
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32600)));
        cancel(1).expect("it listens");
        cancel(2).expect("it listens");
        cancel(99).expect("it listens");
        ask(4, "ping").expect("it listens");
        assert_eq!(hear.recv_timeout(wait).expect("a ping does not wait"), json!({"id": 4}));
        drop(release);
        assert_eq!(hear.recv_timeout(wait).expect("the third"), json!({"id": 3}));
        drop(say);
        assert!(hear.recv_timeout(wait).is_err(), "nothing else is written");
    });
}

#[test]
fn a_panic_ends_its_question_only() {
    let input = request(1, "tools/call", &json!({})) + &request(2, "tools/call", &json!({}));
    let mut output = Vec::new();
    let answer = |question: &Question| {
        assert_ne!(question.id, 1, "as the test asked");
        json!({"id": question.id})
    };
    serve_with(input.as_bytes(), &mut output, answer).expect("memory");
    let text = String::from_utf8(output).expect("text");
    assert!(text.contains("-32603") && text.ends_with("{\"id\":2}\n"), "{text}");
}

proptest! {
    #[test]
    fn garbage_is_answered_with_messages_and_never_panics(
        lines in prop::collection::vec(prop_oneof![
            "\\PC{0,60}",
            "\\{\"jsonrpc\":\"2.0\",\"id\":[0-9a\"\\[{]{0,4},\"method\":\"(ping|tools/call|tools/list|x)\"(,\"params\":\\PC{0,40})?\\}",
            Just("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"explain\",\"arguments\":{\"hardware\":{}}}}".to_owned()),
        ], 0..20)
    ) {
        let input = lines.join("\n");
        for answer in answers(input.as_bytes()) {
            prop_assert_eq!(&answer["jsonrpc"], "2.0");
        }
    }
}
