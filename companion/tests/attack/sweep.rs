//! A sweep that is measured on this processor, with a daemon that is killed in the middle.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::ClientMessage;
use protocol::fault::FaultCode;
use protocol::job::{JobEvent, JobSpec, JobState, NumberedEvent};
use protocol::server::ServerMessage;

use crate::harness::{Daemon, PATIENCE, Setup};
use crate::socket::random;

fn sweep() -> BenchSpec {
    BenchSpec {
        what: BenchKind::Gemv,
        shapes: (1..=8).map(|rows| Shape { m: 1, n: 64 * rows, k: 512 }).collect(),
        formats: vec!["fp16".into(), "int8".into(), "int4_g128".into()],
        sizes: Vec::new(),
        backend: Some("cpu".into()),
        iterations: Some(20),
    }
}

fn results(events: &[NumberedEvent]) -> usize {
    events.iter().filter(|event| matches!(event.event, JobEvent::Result { .. })).count()
}

#[test]
fn a_daemon_killed_during_a_sweep_keeps_every_point() {
    let setup = Setup::default();
    let daemon = Daemon::start(&setup);
    let (mut client, key) = daemon.paired();
    let spec = JobSpec::Bench(sweep());
    let ServerMessage::Accepted(accepted) = client.start(random(), spec) else { panic!("no job") };
    // Waits for events until two points are measured.
    let mut seen = client.follow_some(accepted.job, 0, 1);
    while results(&seen) < 2 {
        match client.push(PATIENCE) {
            Some(ServerMessage::Event(event)) => seen.push(event),
            other => panic!("{other:?}"),
        }
    }
    let workers = daemon.children();
    assert_eq!(workers.len(), 1, "it is still measuring");
    let folder = daemon.kill();
    let daemon = Daemon::start_in(folder, &setup).expect("it starts again");
    let gone = || workers.iter().all(|pid| fs::metadata(format!("/proc/{pid}")).is_err());
    daemon.wait_for("no orphan", gone);
    let mut client = daemon.connect(&key);
    let kept = client.follow(accepted.job, 0);
    assert_eq!(kept[..seen.len()], seen[..], "every event that was delivered is the same");
    let end = kept.last().map(|event| event.event.clone());
    let Some(JobEvent::Ended { state: JobState::Interrupted, fault: Some(fault) }) = end else {
        panic!("{end:?}")
    };
    assert_eq!(fault.code, FaultCode::Interrupted);
    let points: BTreeSet<String> = kept
        .iter()
        .filter_map(|event| match &event.event {
            JobEvent::Result { record } => {
                Some(format!("{:?} {:?}", record.shape, record.precision))
            }
            _ => None,
        })
        .collect();
    assert!(points.len() == results(&kept) && points.len() < 24, "no point twice: {points:?}");
    // Nothing starts by itself.
    let before = daemon.effects();
    thread::sleep(Duration::from_secs(1));
    assert!(daemon.children().is_empty());
    assert_eq!(daemon.effects(), before);
    let starts = daemon.audit().into_iter().filter(|line| line.action == "start_job").count();
    assert_eq!(starts, 1);
    let ServerMessage::Jobs { jobs, .. } =
        client.ask(ClientMessage::ListJobs { limit: 9, before: None, later: true })
    else {
        panic!("no list")
    };
    assert_eq!(jobs.len(), 1);
    // The next job measures normally.
    let one = BenchSpec {
        shapes: vec![Shape { m: 1, n: 64, k: 512 }],
        formats: vec!["int8".into()],
        ..sweep()
    };
    let ServerMessage::Accepted(next) = client.start(random(), JobSpec::Bench(one)) else {
        panic!("no job")
    };
    assert_eq!(client.end_of(next.job), (JobState::Done, None));
}
