//! D: the store has a size that it keeps to, and a row that cannot be read spoils no other.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::{Ask, ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, JobSummary};
use protocol::server::ServerMessage;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::binary::Folder;
use crate::harness::{Daemon, Setup, hooked, scripting};
use crate::keys::ended;
use crate::script::{Act, Script};
use crate::socket::{Client, random};

/// An order of about 106 kB whose script waits until it is canceled.
fn large() -> JobSpec {
    let script = Script { steps: 0, step_ms: 0, predicted_ms: None, act: Act::Linger };
    JobSpec::Bench(BenchSpec {
        what: BenchKind::Gemv,
        shapes: vec![Shape { m: 1, n: 1024, k: 1024 }; 4096],
        formats: vec!["fp16".into()],
        sizes: Vec::new(),
        backend: Some(script.to_string()),
        iterations: None,
    })
}

fn of_bytes(bytes: u64) -> Setup {
    hooked(json!({ "scripted": true, "store_byte": bytes, "memory_byte": 1_u64 << 40 }))
}

fn accepted(answer: &ServerMessage) -> Option<JobId> {
    match answer {
        ServerMessage::Accepted(accepted) => Some(accepted.job),
        ServerMessage::Fault(_) => None,
        other => panic!("{other:?}"),
    }
}

fn jobs(client: &mut Client) -> Vec<JobSummary> {
    match client.ask(ClientMessage::ListJobs { limit: 8, before: None, later: true }) {
        ServerMessage::Jobs { jobs, .. } => jobs,
        other => panic!("{other:?}"),
    }
}

fn size(daemon: &Daemon) -> u64 {
    fs::metadata(daemon.state().join("jobs.db")).expect("jobs").len()
}

/// The row of `doctor` about the results: its state and what was found.
fn doctor(daemon: &Daemon) -> (String, String) {
    let ended = ended(daemon, "doctor -o json");
    let rows: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    let rows = rows.as_array().expect("rows").clone();
    let row = rows.into_iter().find(|row| row["what"] == "results").expect("its row");
    let text = |key: &str| row[key].as_str().unwrap_or_default().replace('\u{202f}', " ");
    (text("state"), text("found"))
}

#[test]
fn starting_and_canceling_without_end_drops_the_oldest_jobs() {
    const FULL: u64 = 2 << 20;
    let setup = of_bytes(FULL);
    let daemon = Daemon::start(&setup);
    let (mut client, key) = daemon.paired();
    let running = accepted(&client.start(random(), large())).expect("the first");
    let mut clients: Vec<Client> = (0..4).map(|_| daemon.connect(&key)).collect();
    let mut last = running;
    for round in 0..72 {
        let client = &mut clients[round % 4];
        last = accepted(&client.start(random(), large())).expect("there is always room");
        assert!(matches!(client.ask(ClientMessage::CancelJob { job: last }), ServerMessage::Ok));
    }
    assert_eq!(last, JobId(73), "numbers are never used twice");
    assert!(size(&daemon) <= FULL + FULL / 8, "{}", size(&daemon));
    assert_eq!(daemon.get("/healthz").status, 200);
    let found = jobs(&mut client);
    assert_eq!(found[0].job, last);
    let dropped = ClientMessage::SubscribeJob { job: JobId(2), after: 0 };
    assert_eq!(client.fault(dropped), FaultCode::NotFound, "the oldest gave way");
    client.ask(ClientMessage::CancelJob { job: running });
    assert_eq!(client.end_of(running).0, JobState::Canceled, "an open job never does");
    let daemon = daemon.kill_and_restart(&setup);
    let found = jobs(&mut daemon.connect(&key));
    assert_eq!(found[0].job, last);
    assert!((2..15).contains(&crate::harness::counts(&daemon.state()).0));
    let (state, found) = doctor(&daemon);
    assert!(state == "ok" && found.contains("B of at most 537 MB"), "{found}");
}

#[test]
fn a_store_that_open_jobs_fill_names_its_limit_and_recovers() {
    let setup = of_bytes(600_000);
    let daemon = Daemon::start(&setup);
    let (mut client, key) = daemon.paired();
    let mut taken = Vec::new();
    let refused = loop {
        match client.start(random(), large()) {
            ServerMessage::Accepted(accepted) => taken.push(accepted.job),
            ServerMessage::Fault(fault) => break fault,
            other => panic!("{other:?}"),
        }
    };
    assert!((3..7).contains(&taken.len()), "{taken:?}");
    assert!(refused.code == FaultCode::Storage && refused.message.contains("fill the space"));
    assert_eq!(daemon.get("/healthz").status, 200, "a limit is no failure");
    // All of them can be ended, and there is room again.
    let daemon = daemon.kill_and_restart(&setup);
    let mut client = daemon.connect(&key);
    let last = taken[taken.len() - 1];
    assert_eq!(client.end_of(last).0, JobState::Interrupted);
    let job = accepted(&client.start(random(), large())).expect("room");
    client.ask(ClientMessage::CancelJob { job });
    // Results without end, too, end their job alone.
    let job = client.scripted(3000, 0, Act::Finish);
    assert_eq!(client.end_of(job), (JobState::Failed, Some(FaultCode::Storage)));
    assert!(size(&daemon) <= 680_000, "{}", size(&daemon));
    let job = client.scripted(2, 1, Act::Finish);
    assert_eq!(client.end_of(job), (JobState::Done, None));
    assert_eq!(daemon.get("/healthz").status, 200);
}

/// Bytes of the pages of the database.
fn pages(daemon: &Daemon) -> u64 {
    let db = Connection::open(daemon.state().join("jobs.db")).expect("it runs");
    let of =
        |name| db.pragma_query_value(None, name, |row| row.get::<_, u64>(0)).expect("a number");
    of("page_count") * of("page_size")
}

#[test]
fn ended_jobs_give_way_to_the_results_of_one_that_runs() {
    const FULL: u64 = 600_000;
    let daemon = Daemon::start(&of_bytes(FULL));
    let (mut client, _) = daemon.paired();
    let steps = 250;
    let ended = client.scripted(steps, 0, Act::Finish);
    assert_eq!(client.end_of(ended).0, JobState::Done);
    // It is kept, since it fills less than half, and beside it the results of the next have no room.
    let used = pages(&daemon);
    assert!((FULL / 4..FULL / 2).contains(&used), "{used}");
    let steps = u64::from(steps) * (FULL - FULL / 8) / used;
    let next = client.scripted(u32::try_from(steps).expect("few"), 0, Act::Finish);
    assert_eq!(client.end_of(next), (JobState::Done, None), "{steps} steps, {used} B");
    let dropped = ClientMessage::SubscribeJob { job: ended, after: 0 };
    assert_eq!(client.fault(dropped), FaultCode::NotFound);
}

/// The tables as version 1 wrote them.
const TABLES_1: &str = "PRAGMA journal_mode = WAL;
    CREATE TABLE jobs (
        job INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
        spec TEXT NOT NULL, state TEXT NOT NULL, created_ms INTEGER NOT NULL, last_seq INTEGER NOT NULL);
    CREATE INDEX by_state ON jobs (state);
    CREATE TABLE events (
        job INTEGER NOT NULL REFERENCES jobs, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL,
        PRIMARY KEY (job, seq)) WITHOUT ROWID;
    PRAGMA user_version = 1;";

const SPEC: &str = r#"{"kind":"bench","what":"bandwidth"}"#;

/// Adds a job with events.
fn add(db: &Connection, spec: &str, state: &str, events: &[&str]) {
    let request = random::<16>().to_string();
    let last = i64::try_from(events.len()).expect("few");
    let sql = "INSERT INTO jobs (request, owner, spec, state, created_ms, last_seq) VALUES (?1, 'x', ?2, ?3, 1, ?4)";
    db.execute(sql, rusqlite::params![request, spec, state, last]).expect("a row");
    let job = db.last_insert_rowid();
    for (seq, event) in (1_i64..).zip(events) {
        let sql = "INSERT INTO events (job, seq, at_ms, event) VALUES (?1, ?2, 1, ?3)";
        db.execute(sql, rusqlite::params![job, seq, event]).expect("an event");
    }
}

/// A folder whose daemon has ended, with the tables of version 1 in place of its own.
fn stored(fill: impl FnOnce(&Connection)) -> (Arc<Folder>, crate::socket::Key) {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    let (_, folder) = daemon.end_by("-TERM");
    let path = folder.path("state/jobs.db");
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&path).expect("jobs"));
    fs::remove_file(&path).expect("ours");
    let db = Connection::open(&path).expect("a database");
    db.execute_batch(TABLES_1).expect("tables");
    fill(&db);
    drop(db);
    std::os::unix::fs::chown(&path, Some(owner), Some(owner)).expect("its owner");
    (folder, key)
}

#[test]
fn a_full_store_of_an_earlier_daemon_starts_again() {
    // Twice the size at which this daemon is full, and a job that did not end.
    let (folder, key) = stored(|db| {
        let text = format!(r#"{{"type":"log","line":"{}"}}"#, "x".repeat(100_000));
        (0..40).for_each(|_| add(db, SPEC, "done", &[&text]));
        add(db, SPEC, "running", &[r#"{"type":"queued"}"#]);
    });
    let daemon = Daemon::start_in(folder, &of_bytes(2 << 20)).expect("it starts");
    let mut client = daemon.connect(&key);
    assert_eq!(client.end_of(JobId(41)).0, JobState::Interrupted);
    let job = client.scripted(2, 1, Act::Finish);
    assert_eq!(client.end_of(job), (JobState::Done, None));
    assert!((2..15).contains(&crate::harness::counts(&daemon.state()).0));
}

#[test]
fn a_row_that_cannot_be_read_spoils_no_other() {
    let ended = r#"{"type":"ended","state":"done"}"#;
    let (log, result) = (r#"{"type":"log","line":"a"}"#, r#"{"type":"result","record":"none"}"#);
    let (folder, key) = stored(|db| {
        add(db, SPEC, "done", &[log, ended]);
        add(db, "{damaged", "done", &[log, ended]);
        add(db, r#"{"kind":"of_a_later_version"}"#, "done", &[log, ended]);
        add(db, SPEC, "of_a_later_version", &[log, ended]);
        add(db, SPEC, "canceled", &[log, "\u{0}{", result, r#"{"type":"later"}"#, "{"]);
        add(db, "{damaged", "queued", &[log]);
        add(db, SPEC, "of_a_later_version", &[log, ended]);
        // Job 4 has a state of a later version, a request and a time that cannot be read; job 7 the state alone.
        db.execute("UPDATE jobs SET request = 'x', created_ms = -1 WHERE job = 4", [])
            .expect("one");
    });
    let daemon = Daemon::start_in(folder, &scripting()).expect("it starts");
    let mut client = daemon.connect(&key);
    let all = ClientMessage::ListJobs { limit: 8, before: None, later: true };
    let answer = client.ask(all);
    let ServerMessage::Jobs { jobs: listed, more: false, passed_over: 3 } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(listed[0].state, JobState::Unknown);
    let listed: Vec<u64> = listed.iter().map(|job| job.job.0).collect();
    assert_eq!(listed, [7, 5, 3, 1], "the others cannot be read");
    daemon.wait_for("the note", || daemon.said().contains("job 2 cannot be read"));
    jobs(&mut client);
    assert_eq!(daemon.said().matches("job 2 cannot").count(), 1, "{}", daemon.said());
    for job in [2, 4, 6].map(JobId) {
        let subscribe = ClientMessage::SubscribeJob { job, after: 0 };
        assert_eq!(client.fault(subscribe), FaultCode::Storage, "{job:?}");
    }
    assert_eq!(client.end_of(JobId(1)), (JobState::Done, None));
    // Its events keep their numbers, and the last one is an end.
    let events: Vec<JobEvent> =
        client.follow(JobId(5), 0).into_iter().map(|event| event.event).collect();
    let told = |event: &JobEvent| matches!(event, JobEvent::Log { line } if line.contains("cannot be read"));
    assert_eq!(events.len(), 5, "{events:?}");
    assert!(told(&events[1]) && told(&events[2]) && events[3] == JobEvent::Unknown, "{events:?}");
    assert_eq!(client.end_of(JobId(5)), (JobState::Canceled, Some(FaultCode::Storage)));
    // One that waits ends, and those behind it run.
    let db = Connection::open(daemon.state().join("jobs.db")).expect("it runs");
    db.busy_timeout(Duration::from_secs(5)).expect("a setting");
    add(&db, "{damaged", "queued", &[r#"{"type":"queued"}"#]);
    drop(db);
    let job = client.scripted(1, 1, Act::Finish);
    assert_eq!(client.end_of(job), (JobState::Done, None));
    assert_eq!(daemon.get("/healthz").status, 200);
    let (state, found) = doctor(&daemon);
    assert!(state == "less" && found.contains("cannot be read"), "{found}");
    // A job of a later version is not continued, and nothing that is damaged is copied.
    let rest = protocol::client::ContinueJob { request: random(), job: JobId(5) };
    let rest = client.ask(ClientMessage::ContinueJob(rest));
    accepted(&rest).expect("its order can be read");
}

#[test]
fn tables_of_a_later_version_are_refused_and_left_as_they_are() {
    let (folder, key) = stored(|db| add(db, SPEC, "done", &[r#"{"type":"queued"}"#]));
    let path = folder.path("state/jobs.db");
    // Version 1 is read by every later version.
    let daemon = Daemon::start_in(Arc::clone(&folder), &scripting()).expect("it starts");
    assert_eq!(jobs(&mut daemon.connect(&key)).len(), 1);
    assert_eq!(doctor(&daemon).0, "ok");
    daemon.end_by("-TERM");
    let db = Connection::open(&path).expect("a database");
    db.pragma_update(None, "user_version", 99).expect("a number");
    drop(db);
    let before = fs::read(&path).expect("jobs");
    let said = Daemon::start_in(Arc::clone(&folder), &scripting()).err().expect("refused");
    assert!(
        said.starts_with("Some(1)") && said.contains("a later version of this program"),
        "{said}"
    );
    assert!(said.contains("tables 99"), "{said}");
    assert_eq!(fs::read(&path).expect("jobs"), before);
    let files = fs::read_dir(folder.path("state")).expect("its state").flatten();
    let damaged = |file: &fs::DirEntry| file.file_name().to_string_lossy().contains("damaged");
    assert!(!files.into_iter().any(|file| damaged(&file)));
}

/// D13: what was committed survives a power failure only if commits are synced. The daemon tells the settings of the connection that
/// it works with.
#[test]
fn commits_are_synced_to_disk() {
    let daemon = Daemon::start(&hooked(json!({ "tells_settings": true })));
    let settings = "jobs: synchronous 2, journal wal\n";
    daemon.wait_for("its settings", || daemon.said().contains("jobs: synchronous"));
    assert!(daemon.said().contains(settings), "{}", daemon.said());
}

#[test]
fn a_start_job_of_the_largest_message_is_one_frame() {
    let daemon = Daemon::start(&of_bytes(64 << 20));
    let (mut client, _) = daemon.paired();
    let id = 4711;
    let ask = ClientMessage::StartJob(StartJob { request: random(), job: large() });
    let mut text = serde_json::to_string(&Ask { id, ask }).expect("text keys");
    let most = client.hello.limits.message_bytes as usize;
    assert!((100_000..most).contains(&text.len()), "{}", text.len());
    text.push_str(&" ".repeat(most - text.len()));
    client.send(&text);
    assert!(accepted(&client.answer(id)).is_some());
    client.send(&(text + " "));
    assert_eq!(client.closed().code, Some(1009), "one byte more");
}
