//! R: excessive requests; each row is refused or bounded. Excessive bytes and connections are in `floods`.

use std::thread;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{JobId, JobSpec, JobState};
use protocol::server::ServerMessage;

use crate::fair::STRANGERS;
use crate::harness::{Daemon, PATIENCE, promised, scripting};
use crate::keys::verb;
use crate::script::Act;
use crate::socket::{Client, Heard, Key, random, script};

fn bench(shape: Shape) -> BenchSpec {
    BenchSpec {
        what: BenchKind::Gemm,
        shapes: vec![shape],
        formats: vec!["fp16".into()],
        sizes: Vec::new(),
        backend: None,
        iterations: None,
    }
}

#[test]
fn oversized_jobs_never_reach_the_queue() {
    let daemon = Daemon::start(&scripting());
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
        assert!(start.elapsed() < promised(Duration::from_secs(5)), "{row}");
    }
    assert_eq!(daemon.effects(), before);
    assert!(daemon.rss_mib() < 128.0, "{}", daemon.rss_mib());
}

/// A job that would fill the machine's memory is refused before it is queued; the message states both numbers.
/// A job beyond the limit of its kind is refused at once, with the number of points that fit, and a job of so many is accepted.
#[test]
fn a_job_that_would_take_too_long_is_refused_before_it_waits() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let job = |points| BenchSpec {
        what: BenchKind::Gemv,
        shapes: vec![Shape { m: 1, n: 64, k: 64 }; points],
        formats: vec!["int8".into()],
        iterations: Some(4096),
        ..bench(Shape { m: 1, n: 64, k: 64 })
    };
    let refused = |client: &mut Client, spec| match client.start(random(), JobSpec::Bench(spec)) {
        ServerMessage::Fault(fault) => fault.message,
        other => panic!("{other:?}"),
    };
    let said = refused(&mut client, job(4000));
    let fits = said.split("at most ").nth(1).and_then(|rest| rest.split(' ').next());
    let fits: usize = fits.and_then(|number| number.parse().ok()).expect("a number of points");
    assert!(said.contains("86400 s") && (100..400).contains(&fits), "{said}");
    assert!(refused(&mut client, job(fits + 1)).contains(&format!("at most {fits} points")));
    // Without formats each shape is measured in all of them.
    let all = BenchSpec { formats: Vec::new(), iterations: None, ..job(4000) };
    assert!(refused(&mut client, all).contains("points; a job has at most 4096"));
    let answer = client.start(random(), JobSpec::Bench(job(fits)));
    let ServerMessage::Accepted(accepted) = answer else { panic!("{answer:?}") };
    let limits_told = &client.hello.limits;
    assert_eq!((limits_told.job_s, limits_told.points), (86_400, 4096));
    assert!(matches!(
        client.ask(ClientMessage::CancelJob { job: accepted.job }),
        ServerMessage::Ok
    ));
}

#[test]
fn jobs_that_exceed_memory_are_refused() {
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
    assert!(said.contains("34.4 GB of memory") && said.contains("6.93 GB is"), "{said}");
    assert_eq!(daemon.effects(), before);
    // Control: the same with fewer rows has room.
    let ServerMessage::Accepted(accepted) = start(&mut client, gemv(16)) else { panic!("no job") };
    client.ask(ClientMessage::CancelJob { job: accepted.job });
    client.end_of(accepted.job);
}

/// A repeated request returns the job that it started, even if memory is short by then. The job is scripted: a real one fills
/// arrays larger than the caches, which takes seconds of processor time, and many times that on a busy machine.
#[test]
fn a_repeated_request_needs_no_memory() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let (request, job) = (random(), script(1, 1, Act::Finish));
    let ServerMessage::Accepted(first) = client.start(request, job.clone()) else {
        panic!("no job")
    };
    assert_eq!(client.end_of(first.job).0, JobState::Done);
    let short = serde_json::json!({ "scripted": true, "memory_byte": 1 });
    let daemon = daemon.kill_and_restart(&crate::harness::hooked(short));
    let mut client = daemon.connect(&key);
    let ServerMessage::Accepted(again) = client.start(request, job.clone()) else {
        panic!("no job")
    };
    assert_eq!(again.job, first.job);
    let before = daemon.effects();
    let new = client.start(random(), job);
    assert!(matches!(new, ServerMessage::Fault(_)), "{new:?}");
    assert_eq!(daemon.effects(), before);
}

/// R05: jobs up to the queue's limit, from as many keys as needed; then ten thousand orders more.
#[test]
fn the_queue_is_bounded() {
    // Readings of the running job would be events beside those that are counted.
    let no_sensors = serde_json::json!({ "scripted": true, "sensors": "/nowhere" });
    let daemon = Daemon::start(&crate::harness::hooked(no_sensors));
    let (client, key) = daemon.paired();
    let keys: Vec<Key> = (0..5)
        .map(|_| {
            let link = verb(&daemon, "pair");
            daemon.open().pair(link.split_once("#pair=").expect("a link").1).expect("good")
        })
        .collect();
    let mut clients: Vec<Client> = keys.iter().map(|key| daemon.connect(key)).collect();
    clients.push(client);
    let mut taken: Vec<(usize, JobId)> = Vec::new();
    let mut full = Vec::new();
    for (who, client) in clients.iter_mut().enumerate() {
        for _ in 0..10 {
            match client.start(random(), script(0, 0, Act::Linger)) {
                ServerMessage::Accepted(accepted) => taken.push((who, accepted.job)),
                ServerMessage::Fault(fault) if fault.code == FaultCode::QueueFull => {
                    full.push(fault.message);
                }
                other => panic!("{other:?}"),
            }
            if taken.len() == 1 {
                daemon.wait_for("a worker", || daemon.children().len() == 1);
            }
        }
    }
    // One job runs and 32 wait; a key may have eight, so the fifth key gets the rest.
    assert_eq!((taken.len(), full.len()), (33, 27));
    for why in ["this key has", "the queue is full"] {
        assert!(full.iter().any(|said| said.starts_with(why)), "{why}: {full:?}");
    }
    follows_only_some(&daemon, &key, &taken);
    let before = daemon.effects();
    let sent = orders(&daemon, &key, 10_000);
    println!("{sent} orders were heard or ended by the daemon");
    assert_eq!(daemon.effects(), before);
    for (who, job) in taken.into_iter().rev() {
        clients[who].ask(ClientMessage::CancelJob { job });
    }
    daemon.wait_for("an empty queue", || daemon.children().is_empty());
    let job = clients[0].scripted(1, 1, Act::Finish);
    assert_eq!(clients[0].end_of(job).0, JobState::Done);
}

/// R18: subscriptions up to the limit of a session; one more is refused.
fn follows_only_some(daemon: &Daemon, key: &Key, jobs: &[(usize, JobId)]) {
    let mut client = daemon.connect(key);
    let most = client.hello.limits.subscriptions as usize;
    for (index, (_, job)) in jobs.iter().enumerate() {
        let subscribe = ClientMessage::SubscribeJob { job: *job, after: 0 };
        if index < most {
            assert!(matches!(client.ask(subscribe), ServerMessage::Snapshot { .. }), "{index}");
        } else {
            assert_eq!(client.fault(subscribe), FaultCode::Rate, "{index}");
        }
    }
    assert!(jobs.len() > most);
}

/// Sends orders without a pause, in as many sessions as needed, because each is closed for flooding.
fn orders(daemon: &Daemon, key: &Key, most: usize) -> usize {
    let mut sent = 0;
    while sent < most {
        let mut flood = daemon.connect(key);
        for _ in 0..400 {
            let (request, job) = (random(), script(1, 1, Act::Finish));
            flood.ask_only(ClientMessage::StartJob(StartJob { request, job }));
            sent += 1;
        }
        assert!(matches!(flood.closed().code, Some(4429) | None));
    }
    sent
}

/// R18
#[test]
fn rates_and_subscriptions_have_limits() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    for hz in [0.0, 0.1, 20.1, 1e6, -1.0] {
        assert_eq!(
            client.fault(ClientMessage::SubscribeTelemetry { hz }),
            FaultCode::BadInput,
            "{hz}"
        );
    }
    let mut counter = daemon.connect(&key);
    let start = Instant::now();
    assert!(matches!(
        counter.ask(ClientMessage::SubscribeTelemetry { hz: 20.0 }),
        ServerMessage::Ok
    ));
    for number in 0..20 {
        let reading = counter.push(PATIENCE);
        assert!(matches!(reading, Some(ServerMessage::Telemetry(_))), "{number}: {reading:?}");
    }
    // Twenty readings have 19 pauses of 50 ms between them.
    let (took, most) = (start.elapsed(), promised(Duration::from_secs(2)));
    assert!((Duration::from_millis(850)..most).contains(&took), "twenty readings in {took:?}");
    // Subscribing to the same job twice is one subscription.
    let waiting = client.scripted(0, 0, Act::Linger);
    for round in 0..34 {
        let again = client.ask(ClientMessage::SubscribeJob { job: waiting, after: 0 });
        assert!(matches!(again, ServerMessage::Snapshot { .. }), "{round}: {again:?}");
        thread::sleep(Duration::from_millis(50));
    }
    client.ask(ClientMessage::CancelJob { job: waiting });
}

/// Sessions up to the limit in the hello message; unauthenticated sockets have few places.
#[test]
fn sessions_and_unauthenticated_sockets_are_bounded() {
    let daemon = Daemon::start(&scripting());
    let (first, key) = daemon.paired();
    let most = first.hello.limits.sessions as usize;
    assert_eq!(most, 64);
    let mut sessions: Vec<Client> = vec![first];
    sessions.extend((1..most).map(|_| daemon.connect(&key)));
    let mut one_more = daemon.open();
    assert_eq!(one_more.identify(&key).expect_err("no place").code, Some(4429));
    sessions.pop();
    daemon
        .wait_for("a place", || daemon.get("/metrics").body.contains("\nridgepoint_sessions 63\n"));
    sessions.push(daemon.connect(&key));
    let before = daemon.open_files();
    let mut strangers: Vec<Client> = (0..STRANGERS + 40).map(|_| daemon.open()).collect();
    daemon.wait_for("their end", || daemon.open_files() <= before + STRANGERS + 8);
    let open =
        |client: &mut Client| matches!(client.hear(Duration::from_millis(1)), Heard::Nothing);
    let open = strangers.iter_mut().map(open).filter(|open| *open).count();
    assert!(open <= STRANGERS, "{open}");
    drop(strangers);
    let mut last = sessions.pop().expect("64");
    assert!(matches!(last.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    assert!(matches!(last.hear(Duration::from_millis(10)), Heard::Nothing));
}
