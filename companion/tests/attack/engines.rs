//! Inference servers that the daemon reads for a session: on its own machine alone, a few at once, by processes that end with the session.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

use protocol::client::ClientMessage;
use protocol::engine::{EngineReport, WatchEngine};
use protocol::fault::FaultCode;
use protocol::server::ServerMessage;

use crate::harness::{Daemon, PATIENCE, scripting};
use crate::keys::verb;
use crate::socket::{Client, Key};

/// A llama.cpp server of recorded answers, whose counters grow with every request; returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        let mut asked = 0;
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            let _head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            drop(lines);
            let path = first.split(' ').nth(1).unwrap_or_default();
            asked += usize::from(matches!(path, "/metrics" | "/slots"));
            let later = asked > 3;
            let body = match path {
                "/props" => include_str!("../attach/llama_cpp/props.json"),
                "/v1/models" => include_str!("../attach/llama_cpp/models.json"),
                "/slots" if later => include_str!("../attach/llama_cpp/slots-2.json"),
                "/slots" => include_str!("../attach/llama_cpp/slots-1.json"),
                "/metrics" if later => include_str!("../attach/llama_cpp/metrics-2.txt"),
                "/metrics" => include_str!("../attach/llama_cpp/metrics-1.txt"),
                _ => "",
            };
            let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
            let length = body.len();
            // A client that left is no matter.
            let _ = stream.write_all(
                format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
                    .as_bytes(),
            );
        }
    });
    address
}

fn watch(url: &str, fields: &[(&str, &str)]) -> ClientMessage {
    let fields = fields.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    ClientMessage::WatchEngine(WatchEngine {
        url: url.to_owned(),
        fields: fields.collect(),
        files: BTreeMap::new(),
    })
}

/// A session with a key of its own.
fn paired_anew(daemon: &Daemon) -> (Client, Key) {
    let link = verb(daemon, "pair");
    let mut client = daemon.open();
    let key = client.pair(link.split_once("#pair=").expect("a link").1).expect("the code is good");
    (client, key)
}

/// The next state of a server, within twenty seconds.
fn report(client: &mut Client) -> EngineReport {
    match client.push(PATIENCE) {
        Some(ServerMessage::Engine(report)) => report,
        other => panic!("no report: {other:?}"),
    }
}

#[test]
fn a_session_gets_the_rate_of_a_server_beside_the_expected_one() {
    let daemon = Daemon::start(&scripting());
    let url = server();
    let (mut client, _) = daemon.paired();
    let can = client.hello.can.clone().expect("abilities");
    assert!(can.engines.contains(&"llama.cpp".to_owned()), "{:?}", can.engines);
    let fields = [("hardware", "epyc_9334"), ("model", "llama-3.1-8b")];
    assert!(matches!(client.ask(watch(&url, &fields)), ServerMessage::Ok));
    let found = report(&mut client);
    assert!(found.heading.starts_with("llama.cpp"), "{found:?}");
    assert!(found.live.iter().any(|row| row.name == "generated" && row.value.contains("token/s")));
    assert!(found.rates.iter().any(|row| row.name == "expected"), "{found:?}");
    assert!(found.subject.contains("EPYC 9334"), "{found:?}");
    let mut children = daemon.children();
    assert_eq!(children.len(), 1);
    assert!(matches!(client.ask(ClientMessage::UnwatchEngine {}), ServerMessage::Ok));
    daemon.wait_for("the end of the process", || daemon.children().is_empty());
    // A session that goes away takes its process along.
    assert!(matches!(client.ask(watch(&url, &[])), ServerMessage::Ok));
    daemon.wait_for("a process", || {
        children = daemon.children();
        children.len() == 1
    });
    drop(client);
    daemon.wait_for("the end of the process", || daemon.children().is_empty());
    let logged = daemon.audit().iter().filter(|line| line.action == "watch_engine").count();
    assert_eq!(logged, 2);
}

#[test]
fn other_machines_files_and_a_fifth_server_are_refused() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let before = daemon.effects();
    for (url, fields, expected) in [
        ("http://10.1.2.3:80", &[][..], "of its own machine alone"),
        ("http://127.0.0.1.example.org:80", &[], "of its own machine alone"),
        ("http://user@127.0.0.1:80", &[], "the address of a server is"),
        ("http://127.0.0.1:80/v1", &[], "ends after host and port"),
        ("gopher://127.0.0.1:80", &[], "the address of a server is"),
        ("http://127.0.0.1:80", &[("model", "/etc/passwd")], "the catalog has no model"),
        ("http://127.0.0.1:80", &[("prompt", "1")], "prompt is no field"),
    ] {
        let ServerMessage::Fault(fault) = client.ask(watch(url, fields)) else {
            panic!("{url} was accepted")
        };
        assert_eq!(fault.code, FaultCode::BadInput);
        assert!(fault.message.contains(expected), "{}", fault.message);
    }
    assert_eq!(daemon.effects(), before, "nothing was started");
    // A field with the name of a file gets no file of this machine.
    let url = server();
    let fields = [("hardware", "/etc/hosts"), ("model", "llama-3.1-8b")];
    assert!(matches!(client.ask(watch(&url, &fields)), ServerMessage::Ok));
    let Some(ServerMessage::EngineEnded { why }) = client.push(PATIENCE) else {
        panic!("a file was read")
    };
    assert!(why.contains("the page sent no such file"), "{why}");
    // Nobody answers there.
    assert!(matches!(client.ask(watch("http://127.0.0.1:1", &[])), ServerMessage::Ok));
    let Some(ServerMessage::EngineEnded { why }) = client.push(PATIENCE) else {
        panic!("something answered")
    };
    assert!(why.contains("nothing answers"), "{why}");
    let mut sessions: Vec<Client> = (0..2).map(|_| daemon.connect(&key)).collect();
    for session in &mut sessions {
        assert!(matches!(session.ask(watch(&url, &[])), ServerMessage::Ok));
    }
    let ServerMessage::Fault(full) = client.ask(watch(&url, &[])) else { panic!("a third") };
    assert!(full.message.contains("a key may have at most 2 servers"), "{}", full.message);
    // Another key finds the places that are left, and a third one none.
    let (other, other_key) = paired_anew(&daemon);
    let mut others: Vec<Client> = vec![other, daemon.connect(&other_key)];
    for session in &mut others {
        assert!(matches!(session.ask(watch(&url, &[])), ServerMessage::Ok));
    }
    let (mut last, _) = paired_anew(&daemon);
    let ServerMessage::Fault(full) = last.ask(watch(&url, &[])) else { panic!("a fifth") };
    assert!(full.message.contains("at most 4 servers"), "{}", full.message);
    // A place that is given back is found.
    drop(others);
    daemon.wait_for("a place", || matches!(last.ask(watch(&url, &[])), ServerMessage::Ok));
    // One that reads already may read another.
    assert!(matches!(sessions[0].ask(watch(&url, &[])), ServerMessage::Ok));
}
