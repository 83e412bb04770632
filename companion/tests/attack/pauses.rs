//! G: a daemon that was stopped for a while, limits of time by kind of job, and a machine that runs out of memory.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchSpec};
use protocol::client::{ClientMessage, StartJob};
use protocol::fault::{Fault, FaultCode};
use protocol::job::{JobEvent, JobId, JobSpec, JobState};
use protocol::server::ServerMessage;
use serde_json::json;

use crate::binary::Folder;
use crate::harness::{Daemon, hooked, limited};
use crate::script::{Act, Script};
use crate::socket::{Client, job_of, random};

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.expect("kill is there").success());
}

/// A job that waits until it is canceled. Its prediction has one digit, because the name of a script has no point.
fn predicted(client: &mut Client, ms: f64) -> JobId {
    let script = Script { steps: 0, step_ms: 0, predicted_ms: Some(ms), act: Act::Linger };
    let start = StartJob { request: random(), job: job_of(script) };
    match client.ask(ClientMessage::StartJob(start)) {
        ServerMessage::Accepted(accepted) => accepted.job,
        other => panic!("{other:?}"),
    }
}

fn end(client: &mut Client, job: JobId) -> (JobState, Option<Fault>) {
    match client.follow(job, 0).pop().map(|event| event.event) {
        Some(JobEvent::Ended { state, fault }) => (state, fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stopped_daemon_ends_no_healthy_job() {
    // Limits of 3 s of silence, and of 5 s beyond three times the prediction, are long for a worker of a loaded machine.
    let daemon = Daemon::start(&limited(3000, 5000));
    let (mut client, _) = daemon.paired();
    let job = predicted(&mut client, 1e3);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    let worker = daemon.children()[0];
    for round in 0..3 {
        // The daemon alone, as by a signal; and with its worker, as in a container.
        let with_worker = round % 2 == 1;
        daemon.signal("-STOP");
        if with_worker {
            signal(worker, "-STOP");
        }
        thread::sleep(Duration::from_millis(4500));
        daemon.signal("-CONT");
        if with_worker {
            thread::sleep(Duration::from_millis(300));
            signal(worker, "-CONT");
        }
        thread::sleep(Duration::from_millis(400));
        assert_eq!(daemon.children(), [worker], "round {round}");
    }
    // Neither silent nor, with 15 s of which 13 were a pause, too long.
    client.ask(ClientMessage::CancelJob { job });
    assert_eq!(end(&mut client, job), (JobState::Canceled, None));
    // Control: a worker that is stopped alone is silent.
    let job = predicted(&mut client, 6e4);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    signal(daemon.children()[0], "-STOP");
    let (state, fault) = end(&mut client, job);
    let said = fault.expect("a reason").message;
    assert!(state == JobState::Failed && said == "the worker sent nothing for 3.0 s", "{said}");
    daemon.wait_for("no worker", || daemon.children().is_empty());
}

#[test]
fn a_job_beyond_the_limit_of_its_kind_ends_before_it_costs_time() {
    let setup = hooked(json!({ "scripted": true, "slack_ms": 500, "longest_ms": 4000 }));
    let daemon = Daemon::start(&setup);
    let (mut client, _) = daemon.paired();
    let job = predicted(&mut client, 5e3);
    let (state, fault) = end(&mut client, job);
    let said = fault.expect("a reason").message;
    assert_eq!(state, JobState::Failed);
    assert!(said.contains("may take 4 s") && said.contains("split the sweep"), "{said}");
    let results = client.follow(job, 0).into_iter();
    assert_eq!(results.filter(|event| matches!(event.event, JobEvent::Started { .. })).count(), 0);
    // Three times the prediction and the slack would be longer than the kind may take.
    let begin = Instant::now();
    let job = predicted(&mut client, 3e3);
    let (_, fault) = end(&mut client, job);
    let fault = fault.expect("a reason");
    let said = "the job took longer than the allowed 4.0 s";
    assert_eq!((fault.code, &*fault.message), (FaultCode::Hung, said));
    assert!(begin.elapsed() >= Duration::from_millis(3900), "{:?}", begin.elapsed());
    // With the limits of a release, a sweep that takes more than an hour is accepted, and one of more than a day is not.
    let daemon = Daemon::start(&hooked(json!({ "scripted": true })));
    let (mut client, _) = daemon.paired();
    for (hours, ms, runs) in [(5.6, 2e7, true), (22.2, 8e7, true), (25.0, 9e7, false)] {
        let job = predicted(&mut client, ms);
        // It has started with its prediction, or was refused by it.
        client.follow_some(job, 0, 2);
        client.ask(ClientMessage::CancelJob { job });
        let expected = if runs { JobState::Canceled } else { JobState::Failed };
        assert_eq!(client.end_of(job).0, expected, "{hours} h");
    }
}

/// A job that had room when it was ordered is refused where it has none when its turn comes.
#[test]
fn memory_is_looked_at_again_before_a_job_begins() {
    let folder = Folder::new();
    let left = folder.file("left", "8000000000");
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "memory_file": left })));
    let (mut client, _) = daemon.paired();
    let first = client.scripted(0, 0, Act::Linger);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    let streams = BenchSpec {
        what: BenchKind::Bandwidth,
        shapes: Vec::new(),
        formats: Vec::new(),
        sizes: Vec::new(),
        backend: None,
        iterations: Some(1),
    };
    let ServerMessage::Accepted(second) = client.start(random(), JobSpec::Bench(streams)) else {
        panic!("there is room")
    };
    // Enough for the one that runs.
    fs::write(&left, "300000000").expect("ours");
    client.ask(ClientMessage::CancelJob { job: first });
    let (state, fault) = end(&mut client, second.job);
    let said = fault.expect("a reason").message.replace('\u{202f}', " ");
    assert!(state == JobState::Failed && said.contains("but 0 B is available"), "{said}");
}

/// G12: the watchdog.
#[test]
fn a_worker_ends_before_the_machine_swaps() {
    let folder = Folder::new();
    let left = folder.file("left", "8000000000");
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "memory_file": left })));
    let (mut client, _) = daemon.paired();
    let job = client.scripted(0, 0, Act::Linger);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    fs::write(&left, "300000000").expect("ours");
    thread::sleep(Duration::from_millis(1200));
    assert_eq!(daemon.children().len(), 1, "little is enough");
    fs::write(&left, "200000000").expect("ours");
    let (state, fault) = end(&mut client, job);
    let said = fault.expect("a reason").message.replace('\u{202f}', " ");
    assert!(state == JobState::Failed && said.contains("only 200 MB of memory was left"), "{said}");
    daemon.wait_for("no worker", || daemon.children().is_empty());
    fs::write(&left, "8000000000").expect("ours");
    let job = client.scripted(1, 1, Act::Finish);
    assert_eq!(client.end_of(job), (JobState::Done, None));
}
