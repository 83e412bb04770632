//! R: too much of everything. Each row is refused or bounded, and meanwhile and afterwards a client that behaves is served.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{FakeAct, JobId, JobSpec};
use protocol::server::ServerMessage;
use tungstenite::Message;

use crate::harness::{Daemon, fakes, read_answer};
use crate::socket::{Client, Heard, Key, fake, random};

/// How a good client fares while something happens: the 99th percentile of its pings, in milliseconds.
fn good_client(daemon: &Daemon, key: &Key, seconds: f64) -> f64 {
    let mut client = daemon.connect(key);
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed().as_secs_f64() < seconds {
        let asked = Instant::now();
        assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
        times.push(asked.elapsed().as_secs_f64() * 1e3);
        thread::sleep(Duration::from_millis(60));
    }
    times.sort_by(f64::total_cmp);
    times[(times.len() * 99 / 100).min(times.len() - 1)]
}

/// After it: still small, and no file left open.
fn is_well(daemon: &Daemon, row: &str, files: usize, key: &Key) {
    assert!(daemon.rss_mib() < 128.0, "{row}: {} MiB", daemon.rss_mib());
    daemon.wait_for(row, || daemon.open_files() <= files + 2);
    let mut client = daemon.connect(key);
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong), "{row}");
}

fn bench(shape: Shape) -> BenchSpec {
    BenchSpec {
        what: BenchKind::Gemm,
        shapes: vec![shape],
        formats: vec!["fp16".into()],
        backend: None,
        iterations: None,
    }
}

#[test]
fn what_is_too_large_never_reaches_the_queue() {
    let daemon = Daemon::start(&fakes());
    let (mut client, _) = daemon.paired();
    let before = daemon.effects();
    let one = Shape { m: 1, n: 1, k: 1 };
    let huge = Shape { m: 1 << 31, n: 1 << 31, k: 1 << 31 };
    for (row, spec) in [
        ("R01", bench(huge)),
        ("R02", bench(Shape { m: u64::MAX, n: u64::MAX, k: u64::MAX })),
        ("R03", bench(Shape { m: 0, ..one })),
        ("R04", BenchSpec { iterations: Some(u32::MAX), ..bench(one) }),
        ("R04 zero", BenchSpec { iterations: Some(0), ..bench(one) }),
        (
            "R06",
            BenchSpec { shapes: vec![one; 3000], formats: vec!["fp16".into(); 2], ..bench(one) },
        ),
        ("format", BenchSpec { formats: vec!["../../etc/passwd".into()], ..bench(one) }),
        ("backend", BenchSpec { backend: Some("/bin/sh".into()), ..bench(one) }),
    ] {
        let start =
            ClientMessage::StartJob(StartJob { request: random(), job: JobSpec::Bench(spec) });
        assert_eq!(client.fault(start), FaultCode::BadInput, "{row}");
    }
    let request = "a5".repeat(16);
    for (row, job) in [
        ("R03 negative", r#"{"kind":"bench","what":"gemm","shapes":[{"m":-1,"n":1,"k":1}]}"#),
        ("R03 fraction", r#"{"kind":"bench","what":"gemm","shapes":[{"m":1.5,"n":1,"k":1}]}"#),
        ("R03 not a number", r#"{"kind":"bench","what":"gemm","shapes":[{"m":NaN,"n":1,"k":1}]}"#),
        ("R04", r#"{"kind":"bench","what":"flops","iterations":1000000000000}"#),
    ] {
        client.send(&format!(
            r#"{{"id":99,"ask":{{"type":"start_job","request":"{request}","job":{job}}}}}"#
        ));
        assert_eq!(client.answer_or_push(), Some(FaultCode::Malformed), "{row}");
    }
    for (row, target, body, status) in [
        (
            "R06 REST",
            "/api/v1/sweep",
            r#"{"hardware":"t4","m":"1..1000000000","n":64,"k":64,"weights":"fp16"}"#,
            400,
        ),
        (
            "R06 many",
            "/api/v1/sweep",
            r#"{"hardware":"t4","m":"1..5000","n":64,"k":64,"weights":"fp16"}"#,
            400,
        ),
        (
            "R01 REST",
            "/api/v1/analyze",
            r#"{"hardware":"t4","m":1e300,"n":1e300,"k":1e300,"weights":"fp16"}"#,
            400,
        ),
        (
            "file",
            "/api/v1/analyze",
            r#"{"hardware":"/etc/passwd","m":1,"n":1,"k":1,"weights":"fp16"}"#,
            400,
        ),
        ("R10", "/api/v1/analyze", &"[".repeat(10_000), 400),
        (
            "R11 string",
            "/api/v1/analyze",
            &format!(r#"{{"hardware":"{}"}}"#, "a".repeat(10_000_000)),
            413,
        ),
        ("R11 array", "/api/v1/sweep", &format!(r#"{{"m":[{}1]}}"#, "1,".repeat(1_000_000)), 413),
        (
            "R11 array that fits",
            "/api/v1/sweep",
            &format!(
                r#"{{"hardware":"t4","m":[{}1],"n":1,"k":1,"weights":"fp16"}}"#,
                "1,".repeat(100_000)
            ),
            400,
        ),
    ] {
        let start = Instant::now();
        assert_eq!(daemon.post(target, body).status, status, "{row}");
        assert!(start.elapsed() < Duration::from_secs(5), "{row}");
    }
    assert_eq!(daemon.effects(), before);
    assert!(daemon.rss_mib() < 128.0, "{}", daemon.rss_mib());
}

/// R05
#[test]
fn a_queue_has_an_end() {
    let daemon = Daemon::start(&fakes());
    let (mut client, key) = daemon.paired();
    let running = client.fake(0, 0, FakeAct::Linger);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    let (mut taken, mut full, mut rate) = (0, 0, 0);
    for _ in 0..30 {
        match client.start(random(), fake(1, 1, FakeAct::Finish)) {
            ServerMessage::Accepted(_) => taken += 1,
            ServerMessage::Fault(fault) if fault.code == FaultCode::QueueFull => full += 1,
            ServerMessage::Fault(fault) if fault.code == FaultCode::Rate => rate += 1,
            other => panic!("{other:?}"),
        }
    }
    // One key has eight jobs at most, with the one that runs.
    assert_eq!((taken, taken + full + rate), (7, 30));
    // A flood of orders is answered for a while, and then ended.
    let mut flood = daemon.connect(&key);
    for _ in 0..400 {
        flood.ask_only(ClientMessage::StartJob(StartJob {
            request: random(),
            job: fake(1, 1, FakeAct::Finish),
        }));
    }
    assert_eq!(flood.closed().code, Some(4429));
    let mut client = daemon.connect(&key);
    client.ask(ClientMessage::CancelJob { job: running });
    client.end_of(running);
}

#[test]
fn bad_frames_end_their_own_socket_only() {
    let daemon = Daemon::start(&fakes());
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
        // It may close before it has read all of it.
        let _ = client.socket.get_mut().write_all(&bytes);
        assert_eq!(client.closed().code, Some(code), "{row}");
    }
    // R08: a message that never ends, in many frames.
    let mut client = daemon.connect(&key);
    let frame = masked(0x00, &[b'x'; 120]);
    let _ = client.socket.get_mut().write_all(&masked(0x01, b"{"));
    for _ in 0..4000 {
        if client.socket.get_mut().write_all(&frame).is_err() {
            break;
        }
    }
    assert_eq!(client.closed().code, Some(1009), "R08");
    // R10, inside a message.
    let mut client = daemon.connect(&key);
    client.send(&format!(r#"{{"id":1,"ask":{}"#, "[".repeat(10_000)));
    assert_eq!(client.answer_or_push(), Some(FaultCode::Malformed), "R10");
    drop(client);
    is_well(&daemon, "bad frames", files, &key);
}

/// R09
#[test]
fn a_flood_of_empty_frames_is_ended() {
    let daemon = Daemon::start(&fakes());
    let (client, key) = daemon.paired();
    drop(client);
    for message in
        [Message::text(""), Message::Ping(Vec::new().into()), Message::Pong(Vec::new().into())]
    {
        let mut client = daemon.connect(&key);
        for _ in 0..20_000 {
            if client.socket.send(message.clone()).is_err() {
                break;
            }
        }
        let closed = client.closed();
        // Reset is as good as a word, when the word cannot be read any more.
        assert!(matches!(closed.code, Some(4429 | 4400) | None), "{message:?}: {closed:?}");
    }
    assert!(daemon.rss_mib() < 128.0, "{}", daemon.rss_mib());
    daemon.connect(&key);
}

#[test]
fn heads_that_are_too_large_or_too_slow_are_cut_off() {
    let daemon = Daemon::start(&fakes());
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
    // R15, R13: a body and a head that do not come.
    let mut body = daemon.tcp();
    body.write_all(
        b"POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    )
    .expect("it listens");
    let mut head = daemon.tcp();
    head.write_all(b"GET / HTTP/1.1\r\nHost: loc").expect("it listens");
    let start = Instant::now();
    let answer = read_answer(&mut body);
    assert!(answer.status == 408 && start.elapsed() < Duration::from_secs(12), "R15: {answer:?}");
    let mut rest = Vec::new();
    let _ = head.read_to_end(&mut rest);
    assert!(start.elapsed() < Duration::from_secs(15), "R13");
    drop((body, head));
    is_well(&daemon, "slow heads", files, &key);
}

/// R13, R16: hundreds that hold a connection and say nothing, or a little.
#[test]
fn idle_connections_give_way() {
    let daemon = Daemon::start(&fakes());
    let (client, key) = daemon.paired();
    drop(client);
    thread::sleep(Duration::from_millis(700));
    let files = daemon.open_files();
    let flood = thread::spawn({
        let port = daemon.port;
        move || {
            let mut held = Vec::new();
            for i in 0..900 {
                if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
                    if i % 2 == 0 {
                        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost:");
                    }
                    held.push(stream);
                }
            }
            thread::sleep(Duration::from_secs(2));
            held.len()
        }
    });
    let p99 = good_client(&daemon, &key, 2.0);
    // Somebody new gets in too, while all places are held.
    assert_eq!(daemon.get("/healthz").status, 200);
    daemon.connect(&key);
    println!("p99 of a good client under idle connections: {p99:.1} ms");
    assert!(p99 < 250.0, "{p99}");
    assert!(flood.join().expect("no panic") >= 800);
    is_well(&daemon, "idle connections", files, &key);
}

/// R17: it asks for much and reads nothing.
#[test]
fn a_client_that_does_not_read_costs_nobody() {
    let daemon = Daemon::start(&fakes());
    let (mut client, key) = daemon.paired();
    let jobs: Vec<JobId> = (0..3).map(|_| client.fake(300, 0, FakeAct::Finish)).collect();
    client.end_of(jobs[2]);
    let mut deaf: Vec<Client> = (0..8).map(|_| daemon.connect(&key)).collect();
    for client in &mut deaf {
        client.ask_only(ClientMessage::SubscribeTelemetry { hz: 20.0 });
        for job in &jobs {
            client.ask_only(ClientMessage::SubscribeJob { job: *job, after: 0 });
        }
    }
    let p99 = good_client(&daemon, &key, 2.0);
    println!("p99 of a good client beside deaf ones: {p99:.1} ms");
    assert!(p99 < 250.0 && daemon.rss_mib() < 128.0, "{p99} ms, {} MiB", daemon.rss_mib());
}

/// R18
#[test]
fn rates_and_subscriptions_have_limits() {
    let daemon = Daemon::start(&fakes());
    let (mut client, key) = daemon.paired();
    for hz in [0.0, 0.1, 20.1, 1e6, -1.0] {
        assert_eq!(
            client.fault(ClientMessage::SubscribeTelemetry { hz }),
            FaultCode::BadInput,
            "{hz}"
        );
    }
    let mut counter = daemon.connect(&key);
    assert!(matches!(
        counter.ask(ClientMessage::SubscribeTelemetry { hz: 20.0 }),
        ServerMessage::Ok
    ));
    let (mut count, start) = (0, Instant::now());
    while start.elapsed() < Duration::from_secs(1) {
        if let Some(ServerMessage::Telemetry(_)) = counter.push(Duration::from_millis(100)) {
            count += 1;
        }
    }
    assert!((10..=23).contains(&count), "{count} readings in a second");
    let waiting = client.fake(0, 0, FakeAct::Linger);
    for round in 0..40 {
        // Always the same one: that is one subscription.
        match client.ask(ClientMessage::SubscribeJob { job: waiting, after: 0 }) {
            ServerMessage::Snapshot { .. } => {}
            other => panic!("{round}: {other:?}"),
        }
        thread::sleep(Duration::from_millis(60));
    }
    client.ask(ClientMessage::CancelJob { job: waiting });
}

/// As many sessions as the hello says, and not one more; strangers have few places.
#[test]
fn sessions_and_strangers_have_their_number() {
    let daemon = Daemon::start(&fakes());
    let (first, key) = daemon.paired();
    let most = first.hello.limits.sessions as usize;
    assert_eq!(most, 64);
    let mut sessions: Vec<Client> = vec![first];
    sessions.extend((1..most).map(|_| daemon.connect(&key)));
    let mut one_more = daemon.open();
    assert_eq!(one_more.identify(&key).expect_err("no place").code, Some(4429));
    sessions.pop();
    thread::sleep(Duration::from_millis(100));
    sessions.push(daemon.connect(&key));
    let strangers: Vec<Client> = (0..8).map(|_| daemon.open()).collect();
    let refused = daemon.raw(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
          Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    assert_eq!(refused.status, 503, "{refused:?}");
    drop(strangers);
    let mut last = sessions.pop().expect("64");
    assert!(matches!(last.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    assert!(matches!(last.hear(Duration::from_millis(10)), Heard::Nothing));
}
