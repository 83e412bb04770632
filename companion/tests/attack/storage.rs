//! D: the daemon is killed at chosen places, its disk is full or broken, its files are damaged. After the next start every
//! acknowledged job exists once, its events have no gap, and nothing has run a second time.

use std::fs;
use std::thread;
use std::time::Duration;

use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{JobEvent, JobState, JobSummary};
use protocol::server::ServerMessage;
use serde_json::json;

use crate::harness::{Daemon, PATIENCE, Setup, hooked, scripting};
use crate::script::Act;
use crate::socket::{Client, Key, random, script};

fn jobs(client: &mut Client) -> Vec<JobSummary> {
    match client.ask(ClientMessage::ListJobs { limit: 100, before: None, later: true }) {
        ServerMessage::Jobs { jobs, .. } => jobs,
        other => panic!("{other:?}"),
    }
}

/// Checks that every job has ended, that its event numbers have no gap, and that its last event is its only end.
fn ledger(daemon: &Daemon, key: &Key) -> Vec<JobSummary> {
    let mut client = daemon.connect(key);
    let jobs = jobs(&mut client);
    for job in &jobs {
        assert!(job.state.is_final(), "{job:?}");
        let events = client.follow(job.job, 0);
        assert_eq!(events.len() as u64, job.last_seq);
        let ends: Vec<_> =
            events.iter().filter(|event| matches!(event.event, JobEvent::Ended { .. })).collect();
        assert_eq!(ends.len(), 1, "{events:?}");
    }
    assert!(daemon.children().is_empty());
    jobs
}

#[test]
fn kills_at_any_place_lose_nothing_acknowledged() {
    for (row, place, acknowledged, kept) in [
        ("D01", "before_create", false, 0),
        ("D02", "after_create", false, 1),
        ("D03", "after_spawn", true, 1),
        ("D04", "after_event_4", true, 1),
        ("D05 result", "before_result", true, 1),
        ("D05", "before_end", true, 1),
    ] {
        let quiet = scripting();
        let daemon = Daemon::start(&quiet);
        let (client, key) = daemon.paired();
        drop(client);
        let daemon = daemon.kill_and_restart(&hooked(json!({ "scripted": true, "die_at": place })));
        let mut client = daemon.connect(&key);
        let (request, spec) = (random(), script(3, 30, Act::Finish));
        let start = ClientMessage::StartJob(StartJob { request, job: spec.clone() });
        client.ask_only(start);
        let answer = client.push(PATIENCE);
        let accepted = matches!(answer, Some(ServerMessage::Accepted(_)));
        // Messages from before the kill may still arrive.
        assert!(accepted || !acknowledged, "{row}: {answer:?}");
        let folder = daemon.wait_for_end();
        let daemon = Daemon::start_in(folder, &quiet).expect("it starts again");
        let found = ledger(&daemon, &key);
        assert_eq!(found.len(), kept, "{row}");
        for job in &found {
            assert_eq!(job.state, JobState::Interrupted, "{row}: never run again by itself");
        }
        // Sending the request again returns the existing job, or starts the first one.
        let mut client = daemon.connect(&key);
        let ServerMessage::Accepted(again) = client.start(request, spec) else { panic!("{row}") };
        assert_eq!(again.fresh, kept == 0, "{row}");
        if again.fresh {
            assert_eq!(client.end_of(again.job).0, JobState::Done, "{row}");
        }
        assert_eq!(ledger(&daemon, &key).len(), 1, "{row}");
    }
}

/// D04: SIGKILL from outside during a job, twice, with a queue.
#[test]
fn a_killed_daemon_keeps_results_and_leaves_no_process() {
    let setup = scripting();
    let mut daemon = Daemon::start(&setup);
    let (mut client, key) = daemon.paired();
    let running = client.scripted(1000, 10, Act::Finish);
    let waiting = client.scripted(1, 1, Act::Finish);
    let seen = client.follow_some(running, 0, 15);
    let worker = daemon.children();
    assert_eq!(worker.len(), 1);
    daemon = daemon.kill_and_restart(&setup);
    let gone = || worker.iter().all(|pid| fs::metadata(format!("/proc/{pid}")).is_err());
    daemon.wait_for("no orphan", gone);
    let mut client = daemon.connect(&key);
    let kept = client.follow(running, 0);
    assert_eq!(kept[..15], seen[..], "what was seen is what is kept");
    for job in [running, waiting] {
        assert_eq!(client.end_of(job), (JobState::Interrupted, Some(FaultCode::Interrupted)));
    }
    daemon = daemon.kill_and_restart(&setup);
    assert_eq!(ledger(&daemon, &key).len(), 2);
    assert_eq!(daemon.connect(&key).follow(running, 0), kept, "a second start adds nothing");
}

/// D08
#[test]
fn shutdown_notifies_clients_and_marks_the_running_job() {
    let setup = scripting();
    for (signal, code) in [("-TERM", 0), ("-INT", 130)] {
        let daemon = Daemon::start(&setup);
        let (mut client, key) = daemon.paired();
        let job = client.scripted(0, 0, Act::Linger);
        daemon.wait_for("a worker", || daemon.children().len() == 1);
        daemon.signal(signal);
        assert_eq!(client.closed().code, Some(4503), "{signal}");
        let (ended, folder) = daemon.end_by("-0");
        assert_eq!(ended, Some(code), "{signal}");
        let daemon = Daemon::start_in(folder, &setup).expect("it starts again");
        let (state, fault) = daemon.connect(&key).end_of(job);
        assert_eq!((state, fault), (JobState::Interrupted, Some(FaultCode::Interrupted)));
        ledger(&daemon, &key);
    }
}

/// D09
#[test]
fn a_panic_in_a_request_ends_only_that_request() {
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "panics": true })));
    let (mut client, _) = daemon.paired();
    for _ in 0..3 {
        assert_eq!(daemon.get("/healthz?panic").status, 500);
    }
    assert_eq!(daemon.get("/healthz").status, 200);
    assert!(daemon.get("/metrics").body.contains("\nridgepoint_panics_total 3\n"));
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
}

/// D10
#[test]
fn a_panic_of_the_job_runner_ends_only_that_job() {
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "runner_panics": true })));
    let (mut client, key) = daemon.paired();
    let (first, second) = (client.scripted(5, 20, Act::Finish), client.scripted(1, 1, Act::Finish));
    assert_eq!(client.end_of(first), (JobState::Failed, Some(FaultCode::Internal)));
    assert_eq!(client.end_of(second), (JobState::Done, None), "the queue goes on");
    assert_eq!(ledger(&daemon, &key).len(), 2);
}

/// D11: a limit on the file size simulates a full disk, at many places of the write.
#[test]
fn a_full_disk_loses_nothing_acknowledged() {
    let quiet = scripting();
    let mut refused = 0;
    for blocks in (84..180).step_by(8).chain([200, 230, 260]) {
        let daemon = Daemon::start(&quiet);
        let (client, key) = daemon.paired();
        drop(client);
        let folder = daemon.kill();
        // Blocks of 512 bytes; the signal is ignored, so a write fails as on a full disk.
        let limit = Some(format!("trap '' XFSZ; ulimit -f {blocks}"));
        let Ok(daemon) = Daemon::start_in(folder.clone(), &Setup { before: limit, ..scripting() })
        else {
            // The daemon could not even start, and printed that.
            refused += 1;
            continue;
        };
        let mut client = daemon.connect(&key);
        let mut acknowledged = Vec::new();
        for _ in 0..12 {
            match client.start(random(), script(4, 1, Act::Finish)) {
                ServerMessage::Accepted(accepted) => acknowledged.push(accepted.job),
                ServerMessage::Fault(fault) if fault.code == FaultCode::Storage => {
                    refused += 1;
                    break;
                }
                ServerMessage::Fault(fault) if fault.code == FaultCode::QueueFull => {}
                other => panic!("{blocks}: {other:?}"),
            }
            thread::sleep(Duration::from_millis(30));
        }
        drop(client);
        let folder = daemon.kill();
        let daemon = Daemon::start_in(folder, &quiet).expect("with room it starts again");
        let found: Vec<_> = ledger(&daemon, &key).iter().map(|job| job.job).collect();
        assert!(
            acknowledged.iter().all(|job| found.contains(job)),
            "{blocks}: {acknowledged:?} {found:?}"
        );
    }
    assert!(refused > 0, "no limit was ever met");
}

/// D12 by a hook: the Nth write and all later ones fail, for every N until a job needs no more writes.
#[test]
fn nothing_is_acknowledged_after_a_failed_write() {
    let quiet = scripting();
    let mut nth = 1;
    while fails_at(nth, &quiet) {
        nth += 1;
        assert!(nth < 40, "a job of two steps needs fewer writes");
    }
    println!("a job of two steps is {} writes", nth - 1);
    assert!(nth > 8, "{nth}");
}

/// False if the whole job needed fewer writes.
fn fails_at(nth: u32, quiet: &Setup) -> bool {
    let daemon = Daemon::start(quiet);
    let (client, key) = daemon.paired();
    drop(client);
    let failing = hooked(json!({ "scripted": true, "fail_write": nth }));
    let daemon = daemon.kill_and_restart(&failing);
    let mut client = daemon.connect(&key);
    let answer = client.start(random(), script(2, 1, Act::Finish));
    let acknowledged = matches!(answer, ServerMessage::Accepted(_));
    let is_broken = || daemon.get("/healthz").status == 503;
    let (mut looks, mut broken) = (0, is_broken());
    while !broken && looks < 10 {
        let done = jobs(&mut client).iter().any(|job| job.state == JobState::Done);
        // Writes after the end of a job take a moment.
        looks += u32::from(done);
        thread::sleep(Duration::from_millis(60));
        broken = is_broken();
    }
    if broken {
        let spec = script(1, 1, Act::Finish);
        let later = ClientMessage::StartJob(StartJob { request: random(), job: spec });
        assert_eq!(client.fault(later), FaultCode::Storage, "{nth}");
    }
    daemon.wait_for("no worker", || daemon.children().is_empty());
    let daemon = daemon.kill_and_restart(quiet);
    let found = ledger(&daemon, &key);
    assert_eq!(found.len(), usize::from(acknowledged), "{nth}: {answer:?}");
    broken
}

/// The damage to a file.
type Damage = fn(&mut Vec<u8>);

/// D14
#[test]
fn a_damaged_job_file_is_put_aside_and_reported() {
    let setup = scripting();
    let damages: [(&str, Damage); 3] = [
        ("its head", |bytes| bytes[..64].fill(0x5a)),
        ("a page", |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle..].fill(0xff);
        }),
        ("its end", |bytes| bytes.truncate(bytes.len() / 2)),
    ];
    for (row, damage) in damages {
        let daemon = Daemon::start(&setup);
        let (mut client, key) = daemon.paired();
        for _ in 0..4 {
            let job = client.scripted(30, 0, Act::Finish);
            client.end_of(job);
        }
        drop(client);
        let (_, folder) = daemon.end_by("-TERM");
        let path = folder.path("state/jobs.db");
        let mut bytes = fs::read(&path).expect("jobs");
        damage(&mut bytes);
        fs::write(&path, bytes).expect("ours");
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{path}{end}"));
        }
        let daemon = Daemon::start_in(folder, &setup).expect("it starts with empty jobs");
        daemon.wait_for(row, || daemon.said().contains("was damaged"));
        let aside = fs::read_dir(daemon.state()).expect("its state").flatten();
        let aside =
            aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("jobs.damaged-"));
        assert!(aside.count() >= 1, "{row}");
        // The keys are in another file, so the page stays paired.
        let mut client = daemon.connect(&key);
        assert!(jobs(&mut client).is_empty(), "{row}");
        let job = client.scripted(1, 1, Act::Finish);
        assert_eq!(client.end_of(job).0, JobState::Done, "{row}");
    }
}

/// D15
#[test]
fn a_second_daemon_in_the_same_folder_is_refused() {
    let setup = scripting();
    let daemon = Daemon::start(&setup);
    let (mut client, _) = daemon.paired();
    let before = daemon.effects();
    let said = Daemon::start_in(daemon.folder(), &setup).err().expect("refused");
    assert!(said.starts_with("Some(1)") && said.contains("already uses"), "{said}");
    assert_eq!(daemon.effects(), before);
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    // The lock is released when the process ends in any way.
    let folder = daemon.kill();
    assert!(Daemon::start_in(folder, &setup).is_ok());
}
