//! C: clients that go away, come back, sleep, ask twice, or are too slow. Every event reaches every client once and in order.

use std::thread;
use std::time::Duration;

use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{FakeAct, JobEvent, JobId, JobState};
use protocol::server::{Accepted, ServerMessage};
use serde_json::json;

use crate::harness::{Daemon, fakes, hooked};
use crate::socket::{fake, random};

/// C01, C02
#[test]
fn a_job_survives_its_client_and_is_followed_without_a_gap() {
    let daemon = Daemon::start(&fakes());
    let (mut client, key) = daemon.paired();
    let job = client.fake(20, 20, FakeAct::Finish);
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
    // Asked again from the begin, it is the same story.
    assert_eq!(daemon.connect(&key).follow(job, 0), seen);
}

/// C04: stopped like a lid that is closed, then awake again.
#[test]
fn a_client_that_sleeps_misses_nothing() {
    let daemon = Daemon::start(&fakes());
    let (mut client, _) = daemon.paired();
    client.ask(ClientMessage::SubscribeTelemetry { hz: 20.0 });
    let job = client.fake(10, 50, FakeAct::Finish);
    let after = client.subscribe(job, 0);
    thread::sleep(Duration::from_millis(1500));
    let (mut last, mut telemetry) = (after, 0);
    loop {
        match client.push(Duration::from_secs(5)) {
            Some(ServerMessage::Event(event)) => {
                assert_eq!(event.seq, last + 1);
                last = event.seq;
                if matches!(event.event, JobEvent::Ended { .. }) {
                    break;
                }
            }
            Some(ServerMessage::Telemetry(_)) => telemetry += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(telemetry >= 5, "{telemetry}");
}

/// C05
#[test]
fn two_pages_see_the_same() {
    let daemon = Daemon::start(&fakes());
    let (mut one, key) = daemon.paired();
    let mut two = daemon.connect(&key);
    let job = one.fake(10, 10, FakeAct::Finish);
    let other = thread::spawn(move || two.follow(job, 0));
    assert_eq!(one.follow(job, 0), other.join().expect("no panic"));
}

/// C06
#[test]
fn one_request_is_one_job() {
    let daemon = Daemon::start(&fakes());
    let (mut client, key) = daemon.paired();
    let (request, spec) = (random(), fake(1, 1, FakeAct::Finish));
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
    let other = ClientMessage::StartJob(StartJob { request, job: fake(2, 1, FakeAct::Finish) });
    assert_eq!(client.fault(other), FaultCode::Conflict);
    let ServerMessage::Jobs { jobs } = client.ask(ClientMessage::ListJobs { limit: 10 }) else {
        panic!("no list")
    };
    assert_eq!(jobs.len(), 1);
}

/// C07
#[test]
fn a_client_from_long_ago_gets_the_job_in_short() {
    let daemon = Daemon::start(&hooked(json!({ "fake": true, "keep_jobs": 2 })));
    let (mut client, _) = daemon.paired();
    let jobs: Vec<JobId> = (0..4)
        .map(|_| {
            let job = client.fake(3, 1, FakeAct::Finish);
            assert_eq!(client.end_of(job).0, JobState::Done);
            job
        })
        .collect();
    let (old, new) = (client.follow(jobs[0], 0), client.follow(jobs[3], 0));
    assert_eq!((old.len(), new[0].seq), (1, 1), "{old:?}");
    assert!(
        old[0].seq > 1 && matches!(old[0].event, JobEvent::Ended { state: JobState::Done, .. })
    );
    // A number from another life of the daemon, and a job that never was.
    assert_eq!(client.subscribe(jobs[3], u64::MAX), new.last().expect("events").seq);
    let unknown = ClientMessage::SubscribeJob { job: JobId(12345), after: 0 };
    assert_eq!(client.fault(unknown), FaultCode::NotFound);
}

/// C09
#[test]
fn a_hundred_reconnects_leave_nothing_behind() {
    let daemon = Daemon::start(&fakes());
    let (client, key) = daemon.paired();
    drop(client);
    let settle = || thread::sleep(Duration::from_millis(800));
    for _ in 0..20 {
        daemon.connect(&key);
    }
    settle();
    let (files, memory) = (daemon.open_files(), daemon.rss_mib());
    for _ in 0..100 {
        let mut client = daemon.connect(&key);
        client.ask(ClientMessage::Ping {});
    }
    settle();
    daemon.wait_for("files closed", || daemon.open_files() <= files);
    assert!(daemon.rss_mib() < memory + 8.0, "{memory} MiB before, {} after", daemon.rss_mib());
}

/// C10
#[test]
fn a_cancel_that_meets_the_end_leaves_one_end() {
    let daemon = Daemon::start(&fakes());
    let (mut client, _) = daemon.paired();
    let mut ends = [0, 0];
    for round in 0..40 {
        let job = client.fake(1, round % 8, FakeAct::Finish);
        thread::sleep(Duration::from_millis(u64::from(round * 3 % 20)));
        client.ask(ClientMessage::CancelJob { job });
        let events = client.follow(job, 0);
        // Three messages in each round, of which 20 in a second are allowed.
        thread::sleep(Duration::from_millis(140));
        let ended = |event: &JobEvent| match event {
            JobEvent::Ended { state, .. } => Some(*state),
            _ => None,
        };
        let states: Vec<JobState> = events.iter().filter_map(|event| ended(&event.event)).collect();
        match states.as_slice() {
            [JobState::Done] => ends[0] += 1,
            [JobState::Canceled] => ends[1] += 1,
            other => panic!("{other:?}"),
        }
    }
    println!("{} done, {} canceled", ends[0], ends[1]);
    assert_eq!(client.follow(JobId(1), 0).last().map(|event| event.job), Some(JobId(1)));
}
