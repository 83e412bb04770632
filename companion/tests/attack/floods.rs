//! R07 to R17: too many bytes, frames, request heads and connections. A well-behaved client is served meanwhile and afterwards.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use protocol::client::{ClientMessage, Pair};
use protocol::fault::FaultCode;
use protocol::job::JobId;
use protocol::server::ServerMessage;
use tungstenite::Message;

use crate::harness::{Daemon, promised, read_answer, scripting};
use crate::keys::verb;
use crate::script::Act;
use crate::socket::{Client, Key, random};

/// Limit of the 99th percentile of the well-behaved client's response times, in ms. The test machine may be busy with other
/// work, so tests only check that the client is not starved; `cargo xtask soak` checks the target.
const SLOWEST_P99: f64 = if cfg!(feature = "soak") { 250.0 } else { 5_000.0 };

/// Runs an attack beside a well-behaved client and prints the 99th percentile of that client's response times.
fn while_served<T: Send + 'static>(
    daemon: &Daemon,
    key: &Key,
    row: &str,
    attack: impl FnOnce() -> T + Send + 'static,
) -> T {
    let mut client = daemon.connect(key);
    let attack = thread::spawn(attack);
    let mut times = Vec::new();
    while !attack.is_finished() || times.len() < 20 {
        let asked = Instant::now();
        assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
        times.push(asked.elapsed().as_secs_f64() * 1e3);
        thread::sleep(Duration::from_millis(55));
    }
    times.sort_by(f64::total_cmp);
    let p99 = times[(times.len() * 99 / 100).min(times.len() - 1)];
    println!("{row}: p99 of a good client {p99:.1} ms");
    assert!(p99 < SLOWEST_P99, "{row}: {p99}");
    assert!(daemon.rss_mib() < 128.0, "{row}: {} MiB", daemon.rss_mib());
    attack.join().expect("no panic")
}

/// Checks memory and open files of the daemon after an attack.
fn is_well(daemon: &Daemon, row: &str, files: usize, key: &Key) {
    assert!(daemon.rss_mib() < 128.0, "{row}: {} MiB", daemon.rss_mib());
    daemon.wait_for(row, || daemon.open_files() <= files + 2);
    let mut client = daemon.connect(key);
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong), "{row}");
}

#[test]
fn malformed_frames_end_only_their_socket() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    thread::sleep(Duration::from_millis(700));
    let files = daemon.open_files();
    let masked = |first: u8, payload: &[u8]| {
        let length = u8::try_from(payload.len()).expect("short");
        [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
    };
    let long = |first: u8, length: u64| {
        [&[first, 0x80 | 127][..], &length.to_be_bytes(), &[0; 4]].concat()
    };
    for (row, bytes, code) in [
        ("R07", [long(0x81, 16 << 20), vec![b'x'; 1 << 20]].concat(), 1009),
        ("R07 2^63", long(0x81, u64::MAX >> 1), 1009),
        ("R12 bad UTF-8", masked(0x81, &[0xff, 0xfe]), 1007),
        ("R12 unmasked", vec![0x81, 1, b'x'], 1002),
        ("R12 reserved bit", masked(0xc1, b"x"), 1002),
        ("R12 reserved opcode", masked(0x83, b"x"), 1002),
        ("R12 fragmented ping", masked(0x09, b"x"), 1002),
        ("R12 continuation of nothing", masked(0x80, b"x"), 1002),
    ] {
        let mut client = daemon.connect(&key);
        // The daemon may close before it has read everything.
        let _ = client.socket.get_mut().write_all(&bytes);
        assert_eq!(client.closed().code, Some(code), "{row}");
    }
    // R08: a message that never ends, in many frames.
    let mut client = daemon.connect(&key);
    let (first, frame) = (masked(0x01, b"{"), masked(0x00, &[b'x'; 120]));
    let closed = while_served(&daemon, &key, "R08", move || {
        let _ = client.socket.get_mut().write_all(&first);
        while client.socket.get_mut().write_all(&frame).is_ok() {}
        client.closed().code
    });
    // A reset is accepted instead of a close frame when the frame can no longer be read.
    assert!(matches!(closed, Some(1009) | None), "R08: {closed:?}");
    // R10, inside a message.
    let mut client = daemon.connect(&key);
    client.send(&format!(r#"{{"id":1,"ask":{}"#, "[".repeat(10_000)));
    assert_eq!(client.answer_or_push(), Some(FaultCode::Malformed), "R10");
    drop(client);
    is_well(&daemon, "bad frames", files, &key);
}

/// R09
#[test]
fn a_flood_of_empty_frames_closes_the_socket() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    for message in
        [Message::text(""), Message::Ping(Vec::new().into()), Message::Pong(Vec::new().into())]
    {
        let mut client = daemon.connect(&key);
        let sent = message.clone();
        let closed = while_served(&daemon, &key, "R09", move || {
            for _ in 0..1_000_000 {
                if client.socket.send(sent.clone()).is_err() {
                    break;
                }
            }
            client.closed()
        });
        // A reset is accepted instead of a close frame when the frame can no longer be read.
        assert!(matches!(closed.code, Some(4429 | 4400) | None), "{message:?}: {closed:?}");
    }
    assert!(daemon.rss_mib() < 128.0, "{}", daemon.rss_mib());
    daemon.connect(&key);
}

#[test]
fn oversized_or_slow_heads_are_refused() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    thread::sleep(Duration::from_millis(700));
    let files = daemon.open_files();
    // R14
    for (row, headers) in [
        ("64 KiB", format!("X: {}\r\n", "a".repeat(65_536))),
        ("1000 headers", "X: a\r\n".repeat(1000)),
    ] {
        let answer =
            daemon.raw(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes());
        assert!(matches!(answer.status, 431 | 400 | 0), "{row}: {answer:?}");
        assert!(!answer.body.contains("doctype"), "{row}");
    }
    // R15, R13: a body and a head that are never sent.
    let mut body = daemon.tcp();
    body.write_all(
        b"POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    )
    .expect("it listens");
    let mut head = daemon.tcp();
    head.write_all(b"GET / HTTP/1.1\r\nHost: loc").expect("it listens");
    let start = Instant::now();
    let answer = read_answer(&mut body);
    assert!(
        answer.status == 408 && start.elapsed() < promised(Duration::from_secs(12)),
        "R15: {answer:?}"
    );
    let mut rest = Vec::new();
    let _ = head.read_to_end(&mut rest);
    assert!(start.elapsed() < promised(Duration::from_secs(15)), "R13");
    drop((body, head));
    is_well(&daemon, "slow heads", files, &key);
}

/// R13, R16: two thousand silent connections, and five hundred request heads that never end.
#[test]
fn idle_connections_are_closed_for_new_ones() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    thread::sleep(Duration::from_millis(700));
    let files = daemon.open_files();
    let most = may_open(2600);
    let port = daemon.port;
    let held = while_served(&daemon, &key, "R13, R16", move || {
        let mut held = Vec::new();
        for i in 0..most {
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
                if i % 5 == 0 {
                    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost:");
                }
                held.push(stream);
            }
        }
        thread::sleep(Duration::from_secs(1));
        held
    });
    // A new client gets in too while all places are taken.
    assert_eq!(daemon.get("/healthz").status, 200);
    daemon.connect(&key);
    assert!(held.len() >= most * 9 / 10, "{} of {most}", held.len());
    drop(held);
    is_well(&daemon, "idle connections", files, &key);
}

/// Raises this process's limit of open files, if the system allows it; prints a note if not.
fn may_open(wanted: usize) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let spare = 200;
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(spare).min(wanted);
    if most < wanted {
        eprintln!("only {most} connections: this user may not open more files");
    }
    most
}

/// R17: a client that requests much and reads nothing.
#[test]
fn a_client_that_does_not_read_slows_nobody_down() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let jobs: Vec<JobId> = (0..3).map(|_| client.scripted(300, 0, Act::Finish)).collect();
    client.end_of(jobs[2]);
    let mut deaf: Vec<Client> = (0..8).map(|_| daemon.connect(&key)).collect();
    for client in &mut deaf {
        client.ask_only(ClientMessage::SubscribeTelemetry { hz: 20.0 });
        for job in &jobs {
            client.ask_only(ClientMessage::SubscribeJob { job: *job, after: 0 });
        }
    }
    while_served(&daemon, &key, "R17", || thread::sleep(Duration::from_secs(2)));
    drop(deaf);
}

/// Programs that try pairing codes without a pause, with and without a code that could be right: a client is served meanwhile, and nothing
/// is written where there is no code.
#[test]
fn a_flood_of_wrong_codes_stops_nobody_else() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _key) = daemon.paired();
    let written = || {
        let file = daemon.state().join("keys.json");
        std::fs::metadata(file).expect("keys").modified().expect("a time")
    };
    let attack = || {
        let mut refused = 0;
        for _ in 0..4 {
            // A socket that waits too long gives its place to others.
            let Ok(mut client) = daemon.open_on(daemon.tcp()) else { continue };
            let (nonce, proof) = (random(), random());
            let pair = Pair { protocol: 1, nonce, proof, label: String::new() };
            refused += u32::from(client.first(ClientMessage::Pair(pair)).is_err());
        }
        refused
    };
    for has_code in [false, true] {
        if has_code {
            verb(&daemon, "pair");
        }
        let before = written();
        thread::scope(|scope| {
            let attackers: Vec<_> = (0..48).map(|_| scope.spawn(attack)).collect();
            let mut slowest = Duration::ZERO;
            while attackers.iter().any(|attacker| !attacker.is_finished()) {
                let asked = Instant::now();
                assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
                assert_eq!(daemon.get("/healthz").status, 200);
                slowest = slowest.max(asked.elapsed());
                thread::sleep(Duration::from_millis(55));
            }
            println!("codes: slowest of a good client {} ms", slowest.as_millis());
            let refused = attackers.into_iter().map(|it| it.join().expect("no panic")).sum::<u32>();
            assert!(refused > 48, "{refused}");
            assert!(slowest.as_secs_f64() * 1e3 < SLOWEST_P99, "{slowest:?}");
        });
        assert_eq!(written() != before, has_code, "without a code nothing is written");
    }
}
