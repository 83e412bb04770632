//! C: clients that disconnect, reconnect, sleep, repeat requests, or are too slow. Every event reaches every client once, in order.

use std::thread;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, NumberedEvent, ToldSpec};
use protocol::limits::LIMITS;
use protocol::server::{Accepted, ServerMessage};
use serde_json::json;

use crate::harness::{Daemon, PATIENCE, hooked, scripting};
use crate::keys::verb;
use crate::script::Act;
use crate::socket::{Heard, Key, random, script};
use crate::v0;

/// C01, C02
#[test]
fn jobs_survive_their_client_and_are_followed_without_a_gap() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let job = client.scripted(20, 20, Act::Finish);
    let mut seen = client.follow_some(job, 0, 5);
    drop(client);
    while !matches!(seen.last().map(|event| &event.event), Some(JobEvent::Ended { .. })) {
        thread::sleep(Duration::from_millis(50));
        let after = seen.last().expect("five at least").seq;
        let mut client = daemon.connect(&key);
        seen.extend(client.follow_some(job, after, 3));
    }
    let numbers: Vec<u64> = seen.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let results = seen.iter().filter(|event| matches!(event.event, JobEvent::Result { .. }));
    assert_eq!(results.count(), 20);
    // The events from the start are the same again.
    assert_eq!(daemon.connect(&key).follow(job, 0), seen);
}

/// C04: a client that stops reading, as a sleeping laptop does, and then continues.
#[test]
fn a_sleeping_client_misses_no_event() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    client.ask(ClientMessage::SubscribeTelemetry { hz: 20.0 });
    let job = client.scripted(10, 50, Act::Finish);
    let after = client.subscribe(job, 0);
    thread::sleep(Duration::from_millis(1500));
    let (mut last, mut telemetry, mut has_ended) = (after, 0, false);
    while !has_ended || telemetry < 5 {
        match client.push(PATIENCE) {
            Some(ServerMessage::Event(event)) => {
                assert_eq!(event.seq, last + 1);
                last = event.seq;
                has_ended |= matches!(event.event, JobEvent::Ended { .. });
            }
            Some(ServerMessage::Telemetry(_)) => telemetry += 1,
            other => panic!("{other:?}"),
        }
    }
}

/// C05
#[test]
fn two_pages_get_the_same_events() {
    let daemon = Daemon::start(&scripting());
    let (mut one, key) = daemon.paired();
    let mut two = daemon.connect(&key);
    let job = one.scripted(10, 10, Act::Finish);
    let other = thread::spawn(move || two.follow(job, 0));
    assert_eq!(one.follow(job, 0), other.join().expect("no panic"));
}

/// C06
#[test]
fn a_repeated_request_is_one_job() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let (request, spec) = (random(), script(1, 1, Act::Finish));
    let ServerMessage::Accepted(first) = client.start(request, spec.clone()) else {
        panic!("no job")
    };
    assert!(first.fresh);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (mut client, spec) = (daemon.connect(&key), spec.clone());
            thread::spawn(move || {
                for _ in 0..25 {
                    let again = client.start(request, spec.clone());
                    let ServerMessage::Accepted(Accepted { job, fresh: false }) = again else {
                        panic!("{again:?}")
                    };
                    assert_eq!(job, first.job);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    let other = ClientMessage::StartJob(StartJob { request, job: script(2, 1, Act::Finish) });
    assert_eq!(client.fault(other), FaultCode::Conflict);
    let ServerMessage::Jobs { jobs, .. } =
        client.ask(ClientMessage::ListJobs { limit: 10, before: None, later: true })
    else {
        panic!("no list")
    };
    assert_eq!(jobs.len(), 1);
}

/// Orders of 3,000 shapes arrive in a message as large as the hello says, and a history of them is listed in answers that are no
/// larger.
#[test]
fn a_history_of_large_jobs_is_listed_in_pages() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let shape = Shape { m: 10_000, n: 10_000, k: 10_000 };
    let JobSpec::Bench(spec) = script(1, 60_000, Act::Linger) else { panic!("a bench job") };
    let formats = vec!["fp32".to_owned()];
    let spec = BenchSpec { what: BenchKind::Gemm, shapes: vec![shape; 3000], formats, ..spec };
    let order = |shapes: &BenchSpec| serde_json::to_string(shapes).expect("JSON").len();
    assert!((64 * 1024..LIMITS.message_bytes as usize).contains(&order(&spec)), "a large order");
    let all: Vec<JobId> = (0..8)
        .map(|_| match client.start(random(), JobSpec::Bench(spec.clone())) {
            ServerMessage::Accepted(accepted) => accepted.job,
            other => panic!("{other:?}"),
        })
        .collect();
    let (mut listed, mut before, mut pages) = (Vec::new(), None, 0);
    loop {
        let answer = client.ask(ClientMessage::ListJobs { limit: 50, before, later: true });
        let bytes = serde_json::to_string(&answer).expect("JSON").len();
        assert!(bytes <= LIMITS.message_bytes as usize + 1024, "{bytes} bytes");
        let ServerMessage::Jobs { jobs, more, .. } = answer else { panic!("{answer:?}") };
        assert!(jobs.iter().all(|job| job.spec == spec_of(&spec)), "whole orders");
        listed.extend(jobs.iter().map(|job| job.job));
        (before, pages) = (listed.last().copied(), pages + 1);
        if !more {
            break;
        }
    }
    listed.reverse();
    assert_eq!(listed, all);
    assert!(pages > 2, "{pages} pages");
}

/// A page built before `hello.can` asks without `later` and loses its list by one order that it cannot read.
#[test]
fn a_page_of_before_keeps_its_list_beside_jobs_of_later_kinds() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let hello = daemon.open().hello;
    assert!(hello.can.expect("abilities").lists_later, "later pages ask for all");
    let JobSpec::Bench(first) = script(1, 1, Act::Finish) else { panic!("a bench job") };
    let sizes = ["batch", "heads", "kv_heads", "head_dim", "new", "context"];
    let sizes = vec![sizes.map(|size| (size.to_owned(), 1)).into()];
    let (what, formats) = (BenchKind::Attention, vec!["fp16".to_owned()]);
    let later = BenchSpec { what, sizes, formats, ..first.clone() };
    let jobs = [&first, &later, &later].map(|spec| {
        match client.start(random(), JobSpec::Bench(spec.clone())) {
            ServerMessage::Accepted(accepted) => accepted.job.0,
            other => panic!("{other:?}"),
        }
    });
    // The list of a page of before is full of what it reads, whatever lies between.
    let mut list = |limit, later| {
        let ask = ClientMessage::ListJobs { limit, before: None, later };
        serde_json::to_string(&client.ask(ask)).expect("JSON")
    };
    for (limit, later, listed) in
        [(1, false, &jobs[..1]), (9, false, &jobs[..1]), (9, true, &jobs[..])]
    {
        let text = list(limit, later);
        let read = serde_json::from_str::<v0::ServerMessage>(&text);
        assert_eq!(read.is_ok(), !later, "{text}");
        if let Ok(v0::ServerMessage::Jobs { jobs }) = read {
            assert_eq!(jobs.iter().map(|job| job.job.0).collect::<Vec<_>>(), listed);
        }
        let ServerMessage::Jobs { jobs, .. } = serde_json::from_str(&text).expect("a list") else {
            panic!("{text}")
        };
        let mut numbers: Vec<u64> = jobs.iter().map(|job| job.job.0).collect();
        numbers.reverse();
        assert_eq!(numbers, listed);
    }
}

fn spec_of(bench: &BenchSpec) -> ToldSpec {
    JobSpec::Bench(bench.clone()).into()
}

/// C07
#[test]
fn a_late_client_gets_the_summary_of_dropped_events() {
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "keep_jobs": 2 })));
    let (mut client, _) = daemon.paired();
    let jobs: Vec<JobId> = (0..4)
        .map(|_| {
            let job = client.scripted(3, 1, Act::Finish);
            assert_eq!(client.end_of(job).0, JobState::Done);
            job
        })
        .collect();
    let (old, new) = (client.follow(jobs[0], 0), client.follow(jobs[3], 0));
    assert_eq!((old.len(), new[0].seq), (1, 1), "{old:?}");
    assert!(
        old[0].seq > 1 && matches!(old[0].event, JobEvent::Ended { state: JobState::Done, .. })
    );
    // An event number from another state folder, and a job that does not exist.
    assert_eq!(client.subscribe(jobs[3], u64::MAX), new.last().expect("events").seq);
    let unknown = ClientMessage::SubscribeJob { job: JobId(12345), after: 0 };
    assert_eq!(client.fault(unknown), FaultCode::NotFound);
}

/// C08: a client that requests everything repeatedly and does not read is disconnected, and resumes by event number.
#[test]
fn a_slow_client_is_disconnected_and_misses_no_event() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let job = client.scripted(600, 0, Act::Finish);
    let whole = client.follow(job, 0);
    let mut slow = daemon.connect(&key);
    // Each round is most of a megabyte, so the socket buffers of a client that does not read are full soon.
    let begin = Instant::now();
    while !daemon.get("/metrics").body.contains("\nridgepoint_sessions_closed_slow_total 1\n") {
        slow.ask_only(ClientMessage::SubscribeJob { job, after: 0 });
        thread::sleep(Duration::from_millis(80));
        assert!(begin.elapsed() < Duration::from_mins(1), "it is not let go");
    }
    let mut last = 0;
    while let Heard::Say(say) = slow.hear(Duration::from_secs(2)) {
        match say.say {
            ServerMessage::Event(event) => {
                assert_eq!(event.seq, last + 1);
                last = event.seq;
            }
            ServerMessage::Snapshot { after, .. } => last = after,
            _ => {}
        }
    }
    assert_eq!(
        daemon.connect(&key).follow(job, last),
        whole[usize::try_from(last).expect("small")..]
    );
}

/// C09
#[test]
fn a_thousand_reconnects_leak_nothing() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    // A key opens 100 sessions at once and 50 per second, so that several take turns.
    let more = (1..11).map(|_| {
        let link = verb(&daemon, "pair");
        daemon.open().pair(link.split_once("#pair=").expect("a link").1).expect("good")
    });
    let keys: Vec<Key> = std::iter::once(key).chain(more).collect();
    let settle = || thread::sleep(Duration::from_millis(800));
    for key in &keys {
        daemon.connect(key);
    }
    settle();
    let (files, memory) = (daemon.open_files(), daemon.rss_mib());
    for key in keys.iter().cycle().take(1000) {
        let mut client = daemon.connect(key);
        client.ask(ClientMessage::Ping {});
    }
    settle();
    daemon.wait_for("files closed", || daemon.open_files() <= files);
    assert!(daemon.rss_mib() < memory + 8.0, "{memory} MiB before, {} after", daemon.rss_mib());
}

/// C10
#[test]
fn a_cancellation_during_the_end_yields_one_end() {
    let daemon = Daemon::start(&scripting());
    let (_, key) = daemon.paired();
    let threads: Vec<_> = (0..6)
        .map(|offset: u32| {
            let mut client = daemon.connect(&key);
            thread::spawn(move || {
                let mut ends = [0, 0];
                for round in 0..40 {
                    let job = client.scripted(1, (round + offset) % 8, Act::Finish);
                    thread::sleep(Duration::from_millis(u64::from((round + offset) * 7 % 200)));
                    client.ask(ClientMessage::CancelJob { job });
                    let events = client.follow(job, 0);
                    // Three messages per round; 20 per second are allowed.
                    thread::sleep(Duration::from_millis(100));
                    ends[usize::from(only_end(&events) == JobState::Canceled)] += 1;
                }
                ends
            })
        })
        .collect();
    let ends: Vec<[u32; 2]> = threads.into_iter().map(|it| it.join().expect("no panic")).collect();
    let (done, canceled): (u32, u32) =
        (ends.iter().map(|it| it[0]).sum(), ends.iter().map(|it| it[1]).sum());
    println!("{done} done, {canceled} canceled");
    assert_eq!(done + canceled, 240);
    assert!(daemon.children().is_empty());
}

fn only_end(events: &[NumberedEvent]) -> JobState {
    let ended = |event: &NumberedEvent| match event.event {
        JobEvent::Ended { state, .. } => Some(state),
        _ => None,
    };
    let states: Vec<JobState> = events.iter().filter_map(ended).collect();
    match states.as_slice() {
        [state @ (JobState::Done | JobState::Canceled)] => *state,
        other => panic!("{other:?}"),
    }
}
