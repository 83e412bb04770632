//! R: too much of everything that can be asked for. Each row is refused or bounded. What comes as bytes and connections is in
//! `floods`.

use std::thread;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{FakeAct, JobSpec};
use protocol::server::ServerMessage;

use crate::harness::{Daemon, fakes};
use crate::socket::{Client, Heard, fake, random};

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

/// What would fill the memory of the machine is refused before it waits, and both numbers are named.
#[test]
fn a_job_needs_room_in_memory() {
    let hooks = serde_json::json!({ "memory_byte": 8_000_000_000_u64 });
    let daemon = Daemon::start(&crate::harness::hooked(hooks));
    let (mut client, _) = daemon.paired();
    let before = daemon.effects();
    let gemv = |n| BenchSpec {
        what: BenchKind::Gemv,
        formats: vec!["fp32".into()],
        iterations: Some(1),
        ..bench(Shape { m: 1, n, k: 65_536 })
    };
    let start = |client: &mut Client, spec| client.start(random(), JobSpec::Bench(spec));
    let ServerMessage::Fault(fault) = start(&mut client, gemv(65_536)) else { panic!("no fault") };
    let said = fault.message.replace('\u{202f}', " ");
    assert_eq!(fault.code, FaultCode::BadInput);
    assert!(said.contains("34.4 GB of memory") && said.contains("6.93 GB are"), "{said}");
    assert_eq!(daemon.effects(), before);
    // Control: the same with fewer rows has room.
    let ServerMessage::Accepted(accepted) = start(&mut client, gemv(16)) else { panic!("no job") };
    client.ask(ClientMessage::CancelJob { job: accepted.job });
    client.end_of(accepted.job);
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
