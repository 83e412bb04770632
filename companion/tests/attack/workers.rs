//! G: jobs whose process crashes, hangs, sends false results, floods or ignores a cancellation. The job ends with the right reason,
//! no process is left, and the next job runs normally.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::{ClientMessage, ContinueJob, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, NumberedEvent};
use protocol::server::ServerMessage;
use serde_json::json;

use crate::binary::{Folder, TURN};
use crate::harness::{Daemon, Setup, children_of, hooked, limited, promised, scripting};
use crate::patience::measuring;
use crate::script::{Act, Script};
use crate::socket::{Client, job_of, random, script};

#[test]
fn misbehaving_jobs_end_and_the_next_one_runs() {
    // The limit of silence is that of a worker that hangs, and long for one that starts on a loaded machine.
    let daemon = Daemon::start(&limited(6000, 60_000));
    let (mut client, _) = daemon.paired();
    for (row, act, state, fault) in [
        ("control", Act::Finish, JobState::Done, None),
        ("says so", Act::Fail, JobState::Failed, Some(FaultCode::Failed)),
        ("G01", Act::Crash, JobState::Failed, Some(FaultCode::Crashed)),
        ("exit without a result", Act::Vanish, JobState::Failed, Some(FaultCode::Crashed)),
        ("G04", Act::Hang, JobState::Failed, Some(FaultCode::Hung)),
        ("G07 garbage", Act::Garble, JobState::Failed, Some(FaultCode::Garbled)),
        ("G07 oversize", Act::Oversize, JobState::Failed, Some(FaultCode::Garbled)),
        ("G08", Act::Flood, JobState::Failed, Some(FaultCode::Garbled)),
        ("lie", Act::Lie, JobState::Failed, Some(FaultCode::Garbled)),
        ("babble", Act::Babble, JobState::Done, None),
    ] {
        let job = client.scripted(2, 5, act);
        assert_eq!(client.end_of(job), (state, fault), "{row}");
        let none_left = || daemon.children().is_empty();
        daemon.wait_for(row, none_left);
        let next = client.scripted(1, 1, Act::Finish);
        assert_eq!(client.end_of(next), (JobState::Done, None), "after {row}");
    }
    assert!(daemon.rss_mib() < 128.0, "{}", daemon.rss_mib());
}

/// G02: killed from outside, as by the kernel's out-of-memory killer.
#[test]
fn a_killed_worker_is_reported_with_its_signal() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let job = client.scripted(0, 0, Act::Linger);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    let killed =
        std::process::Command::new("kill").args(["-9", &daemon.children()[0].to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let events = client.follow(job, 0);
    let Some(JobEvent::Ended { state: JobState::Failed, fault: Some(fault) }) =
        events.last().map(|event| event.event.clone())
    else {
        panic!("{events:?}")
    };
    assert!(fault.code == FaultCode::Crashed && fault.message.contains("signal: 9"), "{fault:?}");
}

/// The last words of a worker are told without the folders that they name.
#[test]
fn a_crashed_worker_is_reported_with_its_last_words_and_without_paths() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let job = client.scripted(0, 0, Act::Crash);
    let told = serde_json::to_string(&client.follow(job, 0)).expect("JSON");
    assert!(told.contains("libdriver.so: crashing as asked"), "{told}");
    assert!(!told.contains("secret-place"), "{told}");
}

/// G05, G13: within 2 s, whether or not the worker reacts; a second cancellation changes nothing.
#[test]
fn a_canceled_job_ends_within_two_seconds() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    for act in [Act::Linger, Act::IgnoreCancel] {
        let job = client.scripted(0, 0, act);
        daemon.wait_for("a worker", || daemon.children().len() == 1);
        let start = Instant::now();
        for _ in 0..3 {
            assert!(matches!(client.ask(ClientMessage::CancelJob { job }), ServerMessage::Ok));
        }
        assert_eq!(client.end_of(job), (JobState::Canceled, None), "{act:?}");
        assert!(
            start.elapsed() < promised(Duration::from_secs(2)),
            "{act:?}: {:?}",
            start.elapsed()
        );
        daemon.wait_for("no worker", || daemon.children().is_empty());
        assert!(matches!(client.ask(ClientMessage::CancelJob { job }), ServerMessage::Ok));
        assert_eq!(client.end_of(job), (JobState::Canceled, None), "it stays so");
    }
    // A canceled job that waits never starts.
    let (first, second) = (client.scripted(0, 0, Act::Linger), client.scripted(1, 1, Act::Finish));
    client.ask(ClientMessage::CancelJob { job: second });
    let events: Vec<JobEvent> =
        client.follow(second, 0).into_iter().map(|event| event.event).collect();
    assert_eq!(
        events,
        [JobEvent::Queued, JobEvent::Ended { state: JobState::Canceled, fault: None }]
    );
    client.ask(ClientMessage::CancelJob { job: first });
    assert_eq!(client.end_of(first).0, JobState::Canceled);
    let unknown = ClientMessage::CancelJob { job: JobId(u64::MAX) };
    assert_eq!(client.fault(unknown), FaultCode::NotFound);
}

/// A canceled job is continued by a job that has its results and measures the rest, once per request.
#[test]
fn a_canceled_job_is_continued_after_its_last_result() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let bytes = |events: &[NumberedEvent]| -> Vec<f64> {
        let result = |event: &NumberedEvent| match &event.event {
            JobEvent::Result { record } => Some(record.bytes),
            _ => None,
        };
        events.iter().filter_map(result).collect()
    };
    // The job lasts 4 s, so that a loaded machine cancels it before its end, too.
    let first = client.scripted(40, 100, Act::Finish);
    let mut watcher = daemon.connect(&key);
    watcher.follow_some(first, 0, 6);
    client.ask(ClientMessage::CancelJob { job: first });
    let events = client.follow(first, 0);
    let had = bytes(&events);
    assert!((1..40).contains(&had.len()), "{had:?}");
    let order = ContinueJob { request: random(), job: first };
    let ServerMessage::Accepted(rest) = client.ask(ClientMessage::ContinueJob(order)) else {
        panic!("not accepted")
    };
    let again = client.ask(ClientMessage::ContinueJob(order));
    assert!(matches!(again, ServerMessage::Accepted(it) if it.job == rest.job && !it.fresh));
    let all = client.follow(rest.job, 0);
    let each: Vec<f64> = (1..=40).map(f64::from).collect();
    assert_eq!(bytes(&all), each, "each point once and in order");
    let times = |events: &[NumberedEvent]| -> Vec<u64> {
        let is_result = |event: &&NumberedEvent| matches!(event.event, JobEvent::Result { .. });
        events.iter().filter(is_result).map(|event| event.at_ms).collect()
    };
    assert_eq!(times(&all)[..had.len()], times(&events), "each with the time of its measurement");
    assert_eq!(client.end_of(rest.job), (JobState::Done, None));
    let done = ClientMessage::ContinueJob(ContinueJob { request: random(), job: rest.job });
    assert_eq!(client.fault(done), FaultCode::Conflict);
    let unknown = ContinueJob { request: random(), job: JobId(u64::MAX) };
    assert_eq!(client.fault(ClientMessage::ContinueJob(unknown)), FaultCode::NotFound);
}

/// A worker that does not take its order ends as one that is silent or canceled, also where the order is larger than what the system keeps
/// for a reader.
#[test]
fn a_worker_that_does_not_read_its_order_keeps_nobody_waiting() {
    let folder = Folder::new();
    folder.file("site/index.html", "<!doctype html>page");
    let deaf = folder.file("deaf", "");
    let hooks =
        json!({ "scripted": true, "deaf": deaf, "silence_ms": 4000, "memory_byte": 1_u64 << 40 });
    let daemon = Daemon::start_in(Arc::new(folder), &hooked(hooks)).expect("it starts");
    let (mut client, _) = daemon.paired();
    let sizes = ["batch", "heads", "kv_heads", "head_dim", "new", "context"];
    let sizes = sizes.map(|size| (size.to_owned(), 1)).into_iter().collect();
    let JobSpec::Bench(script) = script(0, 0, Act::Finish) else { panic!("a bench job") };
    let (what, formats) = (BenchKind::Attention, vec!["fp16".into()]);
    let large = JobSpec::Bench(BenchSpec { what, formats, sizes: vec![sizes; 3500], ..script });
    let bytes = serde_json::to_string(&large).expect("text keys").len();
    assert!(bytes > 230_000, "the system keeps 213 kB at most: {bytes}");
    let mut start = || match client.start(random(), large.clone()) {
        ServerMessage::Accepted(accepted) => accepted.job,
        other => panic!("{other:?}"),
    };
    let (silent, canceled, next) = (start(), start(), start());
    assert_eq!(client.end_of(silent), (JobState::Failed, Some(FaultCode::Hung)));
    daemon.wait_for("the next worker", || daemon.children().len() == 1);
    let begin = Instant::now();
    client.ask(ClientMessage::CancelJob { job: canceled });
    assert_eq!(client.end_of(canceled), (JobState::Canceled, None));
    assert!(begin.elapsed() < promised(Duration::from_secs(2)), "{:?}", begin.elapsed());
    std::fs::remove_file(deaf).expect("ours");
    assert_eq!(client.end_of(next), (JobState::Done, None));
}

/// A prediction sets the time limit of a job; one above the maximum of its kind ends it at once.
#[test]
fn a_job_may_take_three_times_its_prediction() {
    let daemon = Daemon::start(&limited(60_000, 1500));
    let (mut client, _) = daemon.paired();
    let job =
        |predicted_ms| job_of(Script { steps: 0, step_ms: 0, predicted_ms, act: Act::Linger });
    let start = |client: &mut Client, job| {
        let start = ClientMessage::StartJob(StartJob { request: random(), job });
        let ServerMessage::Accepted(accepted) = client.ask(start) else { panic!("no job") };
        accepted.job
    };
    let late = start(&mut client, job(Some(100.0)));
    let begin = Instant::now();
    let Some(JobEvent::Ended { state: JobState::Failed, fault: Some(fault) }) =
        client.follow(late, 0).pop().map(|event| event.event)
    else {
        panic!("it may go on")
    };
    let said = "the job took longer than the allowed 1.8 s";
    assert_eq!((fault.code, &*fault.message), (FaultCode::Hung, said), "3 times 0.1 s and 1.5 s");
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(1500), "{took:?}");
    let boast = start(&mut client, job(Some(1e303)));
    assert_eq!(client.end_of(boast), (JobState::Failed, Some(FaultCode::Failed)));
    let long = start(&mut client, job(None));
    client.follow_some(long, 0, 2);
    client.ask(ClientMessage::CancelJob { job: long });
    assert_eq!(client.end_of(long).0, JobState::Canceled);
}

/// Measures for real: two formats of one small GEMV, with heartbeats, a check and the conditions.
#[test]
fn a_spot_check_measures_on_this_machine() {
    let daemon = Daemon::start(&measuring());
    let (mut client, _) = daemon.paired();
    let bench = BenchSpec {
        what: BenchKind::Gemv,
        shapes: vec![Shape { m: 1, n: 256, k: 1024 }],
        formats: vec!["fp16".into(), "int8".into()],
        sizes: Vec::new(),
        backend: None,
        iterations: Some(20),
    };
    let start = StartJob { request: random(), job: JobSpec::Bench(bench.clone()) };
    let ServerMessage::Accepted(accepted) = client.ask(ClientMessage::StartJob(start)) else {
        panic!("no job")
    };
    let events = client.follow(accepted.job, 0);
    let ended = events.last().map(|event| &event.event);
    assert_eq!(ended, Some(&JobEvent::Ended { state: JobState::Done, fault: None }));
    let mut records = Vec::new();
    for event in events {
        if let JobEvent::Result { record } = event.event {
            records.push(*record);
        }
    }
    assert_eq!(records.len(), 2);
    for (record, format) in records.iter().zip(&bench.formats) {
        assert_eq!(record.precision.as_ref().map(|it| &it.weights), Some(format));
        assert!(record.check.passed && record.time_s.n == 20, "{record:?}");
        assert!(record.samples_s.len() == 20 && record.conditions.contains_key("missing"));
    }
    // A format without a kernel is refused with the reason.
    let bench = BenchSpec { what: BenchKind::Gemm, formats: vec!["int4_g128".into()], ..bench };
    let start = StartJob { request: random(), job: JobSpec::Bench(bench) };
    let ServerMessage::Accepted(accepted) = client.ask(ClientMessage::StartJob(start)) else {
        panic!("no job")
    };
    assert_eq!(client.end_of(accepted.job), (JobState::Failed, Some(FaultCode::Failed)));
}

/// Measures the kernels of a layer for real, with small sizes by name, and refuses sizes that no kernel has.
#[test]
fn kernels_of_a_layer_are_measured_by_their_sizes() {
    let daemon = Daemon::start(&measuring());
    let (mut client, _) = daemon.paired();
    let sizes = |all: &[(&str, u64)]| -> std::collections::BTreeMap<String, u64> {
        all.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect()
    };
    let heads = [("batch", 1), ("heads", 4), ("kv_heads", 2), ("head_dim", 64), ("new", 1)];
    let bench = |what, all: &[(&str, u64)]| BenchSpec {
        what,
        shapes: Vec::new(),
        sizes: vec![sizes(all)],
        formats: vec!["fp16".into()],
        backend: None,
        iterations: Some(5),
    };
    for (what, all) in [
        (BenchKind::Attention, [&heads[..], &[("context", 500)]].concat()),
        (BenchKind::Norm, vec![("tokens", 2), ("width", 512)]),
        (BenchKind::Rope, vec![("tokens", 2), ("heads", 4), ("head_dim", 128)]),
        (BenchKind::Gate, vec![("tokens", 2), ("width", 512)]),
        (BenchKind::Embedding, vec![("tokens", 2), ("width", 64), ("vocab", 1000)]),
    ] {
        let start = StartJob { request: random(), job: JobSpec::Bench(bench(what, &all)) };
        let ServerMessage::Accepted(accepted) = client.ask(ClientMessage::StartJob(start)) else {
            panic!("no job for {what:?}")
        };
        let events = client.follow(accepted.job, 0);
        let end = events.last().map(|event| event.event.clone());
        let records = events.into_iter().filter_map(|it| match it.event {
            JobEvent::Result { record } => Some(*record),
            _ => None,
        });
        let records: Vec<_> = records.collect();
        assert_eq!(records.len(), 1, "{what:?}: {end:?}");
        assert_eq!((&*records[0].kernel, &records[0].sizes), (what.key(), &sizes(&all)));
        assert!(records[0].check.passed && records[0].shape.is_none(), "{what:?}");
    }
    let wrong = [&heads[..], &[("context", 0)]].concat();
    let start =
        StartJob { request: random(), job: JobSpec::Bench(bench(BenchKind::Attention, &wrong)) };
    let ServerMessage::Fault(fault) = client.ask(ClientMessage::StartJob(start)) else {
        panic!("no refusal")
    };
    assert!(fault.message.contains("context must be"), "{}", fault.message);
}

/// The worker is isolated: its own process group, its name and verb alone, and no process left behind.
#[test]
fn a_worker_inherits_nothing_from_the_daemon() {
    let daemon = Daemon::start(&Setup { ..scripting() });
    let (mut client, _) = daemon.paired();
    let job = client.scripted(0, 0, Act::Linger);
    // Until the child has executed the worker it is a copy of the daemon, command line included.
    let command = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    let own = command(daemon.pid()).expect("it runs");
    let is_worker = |pid: &u32| command(*pid).is_ok_and(|line| !line.is_empty() && line != own);
    daemon.wait_for("a worker", || {
        daemon.children().iter().filter(|pid| is_worker(pid)).count() == 1
    });
    let worker = daemon.children()[0];
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/{worker}/{name}")).expect("it runs");
    assert_eq!(read("cmdline").matches('\0').count(), 2, "its name and its verb");
    let group: u32 = read("stat")
        .rsplit_once(") ")
        .expect("stat")
        .1
        .split(' ')
        .nth(2)
        .expect("a group")
        .parse()
        .expect("a number");
    assert_eq!(group, worker);
    client.ask(ClientMessage::CancelJob { job });
    client.end_of(job);
    assert!(children_of(worker).is_empty());
}

/// A job waits while another ridgepoint measures on this machine, and can be canceled meanwhile.
#[test]
fn a_job_waits_until_another_ridgepoint_has_measured() {
    let folder = Folder::new();
    let path = folder.file("turn", "");
    let before = Some(format!("export {TURN}={path}"));
    let daemon = Daemon::start(&Setup { before, ..scripting() });
    let (mut client, key) = daemon.paired();
    let other = std::fs::File::open(&path).expect("it was written");
    other.lock().expect("nobody else has it");
    let (first, second) = (client.scripted(1, 1, Act::Finish), client.scripted(1, 1, Act::Finish));
    let waits = |event: &NumberedEvent| matches!(&event.event, JobEvent::Progress { note, .. } if note.starts_with("waits until another ridgepoint"));
    let says_that_it_waits = |job| {
        let events = daemon.connect(&key).follow_some(job, 0, 2);
        assert!(waits(&events[1]), "{events:?}");
    };
    says_that_it_waits(first);
    assert_eq!(daemon.children(), [0; 0], "no worker has started");
    client.ask(ClientMessage::CancelJob { job: first });
    assert_eq!(client.end_of(first), (JobState::Canceled, None));
    says_that_it_waits(second);
    other.unlock().expect("it was locked");
    assert_eq!(client.end_of(second), (JobState::Done, None));
    for job in [first, second] {
        let events = client.follow(job, 0);
        assert_eq!(events.iter().filter(|event| waits(event)).count(), 1, "{events:?}");
    }
}
