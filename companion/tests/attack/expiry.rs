//! T, D: keys that are no longer valid, locks that nobody gives back, and the end of sessions and daemons.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::JobState;
use protocol::server::ServerMessage;
use serde_json::{Value, json};

use crate::binary::Folder;
use crate::harness::{Daemon, Setup, hooked, promised, scripting};
use crate::keys::{ended, verb};
use crate::script::Act;
use crate::socket::{random, script};

const DAY: u64 = 24 * 3600;

#[test]
fn a_key_revoked_while_the_file_is_read_is_revoked() {
    // Between reading the file and using what was read there is time for another change.
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "keys_pause_ms": 2500 })));
    let (mut client, key) = daemon.paired();
    // The daemon has read its own change before this test changes anything.
    thread::sleep(Duration::from_secs(6));
    verb(&daemon, "keys new --name another --scope read");
    thread::sleep(Duration::from_millis(700));
    verb(&daemon, &format!("keys revoke {}", key.name));
    assert_eq!(client.closed().code, Some(4403));
    thread::sleep(Duration::from_secs(3));
    assert_eq!(daemon.open().identify(&key).expect_err("revoked").code, Some(4401));
}

#[test]
fn a_paired_key_that_was_unused_for_a_week_is_refused() {
    let turned = Folder::new();
    let clock = turned.file("clock", "0");
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "clock": clock })));
    let (session, key) = daemon.paired();
    drop(session);
    fs::write(&clock, (6 * DAY).to_string()).expect("a clock");
    drop(daemon.connect(&key));
    let used = || {
        let text = fs::read_to_string(daemon.state().join("keys.json")).expect("keys");
        let book: Value = serde_json::from_str(&text).expect("JSON");
        book["keys"][0]["used_ms"].as_u64().expect("a time")
            - book["keys"][0]["created_ms"].as_u64().expect("a time")
    };
    daemon.wait_for("its use", || used() > 5 * DAY * 1000);
    // A week after its last use, not after it was made.
    fs::write(&clock, (12 * DAY).to_string()).expect("a clock");
    drop(daemon.connect(&key));
    daemon.wait_for("its use", || used() > 11 * DAY * 1000);
    // Nobody adds a key in between, so nothing has dropped it from the file.
    fs::write(&clock, (20 * DAY).to_string()).expect("a clock");
    assert_eq!(daemon.open().identify(&key).expect_err("expired").code, Some(4401));
    assert!(used() > 0, "it is still in the file");
    fs::write(&clock, (18 * DAY).to_string()).expect("a clock");
    drop(daemon.connect(&key));
}

#[test]
fn tokens_are_stored_as_hashes_also_those_of_earlier_daemons() {
    let daemon = Daemon::start(&scripting());
    let token = verb(&daemon, "keys new --name program --scope read");
    let secret = token.rsplit('_').next().expect("a secret").to_owned();
    let path = daemon.state().join("keys.json");
    let text = fs::read_to_string(&path).expect("keys");
    assert!(!text.contains(&secret), "{text}");
    let book: Value = serde_json::from_str(&text).expect("JSON");
    let hash = book["keys"][0]["secret"].as_str().expect("a hash").to_owned();
    let bearer = |secret: &str| {
        let name = token.split('_').nth(1).expect("a number");
        format!("Authorization: Bearer rp_{name}_{secret}")
    };
    let status = |daemon: &Daemon, secret: &str| {
        daemon.ask("GET", "/metrics", &[&bearer(secret)], "").status
    };
    daemon.wait_for("the token", || status(&daemon, &secret) == 200);
    assert_eq!(status(&daemon, &hash), 401, "whoever reads the file has no token");
    // The book as the first version wrote it.
    let folder = daemon.kill();
    let mut old: Value = serde_json::from_str(&text).expect("JSON");
    for later in ["version", "sha256"] {
        old.as_object_mut().and_then(|book| book.remove(later)).expect("today's form has it");
    }
    let old = old.to_string().replace(&hash, &secret);
    assert!(old.contains(&secret) && !old.contains("version"));
    fs::write(&path, old).expect("ours");
    let daemon = Daemon::start_in(folder, &scripting()).expect("it starts");
    assert_eq!(status(&daemon, &secret), 200, "it goes on working");
    assert!(!fs::read_to_string(&path).expect("keys").contains(&secret), "and is replaced");
    // A book of a later version is refused with a sentence.
    let folder = daemon.kill();
    let text = fs::read_to_string(&path).expect("keys").replace("\"version\": 3", "\"version\": 4");
    fs::write(&path, &text).expect("ours");
    let said = Daemon::start_in(Arc::clone(&folder), &scripting()).err().expect("refused");
    assert!(said.contains("a later version of this program wrote the keys"), "{said}");
    assert_eq!(fs::read_to_string(&path).expect("keys"), text);
}

#[test]
fn jobs_are_for_this_user_alone() {
    let daemon = Daemon::start(&Setup { before: Some("umask 000".into()), ..scripting() });
    let (mut client, _) = daemon.paired();
    let job = client.scripted(3, 1, Act::Finish);
    client.end_of(job);
    let modes = |daemon: &Daemon| {
        let files = fs::read_dir(daemon.state()).expect("its state").flatten();
        let mode = |file: fs::DirEntry| {
            let name = file.file_name().to_string_lossy().into_owned();
            let mode = file.metadata().expect("a file").permissions().mode() & 0o777;
            name.starts_with("jobs.db").then_some((name, mode))
        };
        files.filter_map(mode).collect::<Vec<_>>()
    };
    assert_eq!(modes(&daemon).len(), 3, "with its log");
    assert!(modes(&daemon).iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes(&daemon));
    // Files of an earlier daemon.
    let path = daemon.state().join("jobs.db");
    let folder = daemon.kill();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("ours");
    let daemon = Daemon::start_in(folder, &scripting()).expect("it starts");
    assert!(modes(&daemon).iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes(&daemon));
}

/// A file that another program has locked.
fn locked(daemon: &Daemon, name: &str) -> File {
    let file = OpenOptions::new().write(true).open(daemon.state().join(name)).expect("a lock");
    file.lock().expect("nobody has it");
    file
}

#[test]
fn a_program_that_holds_the_audit_lock_hangs_nobody() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let lock = locked(&daemon, "audit.lock");
    let begin = Instant::now();
    // Each of these writes to the log.
    for _ in 0..12 {
        daemon.connect(&key);
        daemon.ask("GET", "/healthz", &["Origin: https://evil.test"], "");
    }
    let shape = r#"{"hardware":"t4","m":1,"n":64,"k":64,"weights":"fp16"}"#;
    assert_eq!(daemon.post("/api/v1/analyze", shape).status, 200);
    // A line waits 2 s for the lock, so 24 would wait 48 s.
    assert!(begin.elapsed() < Duration::from_secs(24), "{:?}", begin.elapsed());
    let begin = Instant::now();
    let start = StartJob { request: random(), job: script(1, 1, Act::Finish) };
    for _ in 0..10 {
        assert_eq!(client.fault(ClientMessage::StartJob(start.clone())), FaultCode::Storage);
    }
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "only the first waits: {:?}",
        begin.elapsed()
    );
    let health = daemon.get("/healthz");
    assert!(
        health.status == 503 && health.body.contains("the audit log cannot be written"),
        "{health:?}"
    );
    assert_eq!(
        daemon.said().matches("the audit log cannot be written").count(),
        1,
        "{}",
        daemon.said()
    );
    assert!(
        !ended(&daemon, "keys new --name x --scope read").status.success(),
        "a sentence, not a wait"
    );
    drop(lock);
    daemon.wait_for("its health", || daemon.get("/healthz").status == 200);
    let ServerMessage::Accepted(accepted) = client.ask(ClientMessage::StartJob(start)) else {
        panic!("no job")
    };
    assert_eq!(client.end_of(accepted.job).0, JobState::Done);
}

#[test]
fn sessions_without_end_do_not_push_older_lines_out_of_the_log() {
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "tally_ms": 1000 })));
    let link = verb(&daemon, "pair --scope read");
    let mut client = daemon.open();
    let key = client.pair(link.split_once("#pair=").expect("a link").1).expect("good");
    let (begin, most) = (Instant::now(), 90);
    for _ in 0..most {
        daemon.connect(&key);
    }
    let seconds = begin.elapsed().as_secs();
    let lines = || {
        let lines = daemon.audit().into_iter().filter(|line| line.action == "identify");
        lines.filter(|line| line.decision == "allowed").collect::<Vec<_>>()
    };
    daemon.wait_for("all of them", || lines().iter().map(|line| line.count).sum::<u64>() == most);
    let lines = lines();
    assert!((lines.len() as u64) < 2 * seconds + 6, "{} lines in {seconds} s", lines.len());
    assert!(lines.iter().all(|line| line.whole["key_id"] == key.name.to_string()), "{lines:?}");
    assert_eq!(lines[0].whole["peer"], "this machine");
}

#[test]
fn a_revoked_session_that_does_not_read_ends_within_a_second() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let job = client.scripted(600, 0, Act::Finish);
    client.end_of(job);
    let link = verb(&daemon, "pair");
    let mut other = daemon.open();
    other.pair(link.split_once("#pair=").expect("a link").1).expect("good");
    drop(client);
    let mut deaf = daemon.connect(&key);
    let sessions = || {
        let metrics = daemon.get("/metrics").body;
        let line = metrics.lines().find_map(|line| line.strip_prefix("ridgepoint_sessions "));
        line.and_then(|count| count.parse::<u32>().ok()).expect("a number")
    };
    daemon.wait_for("two sessions", || sessions() == 2);
    // Most of a megabyte each, until the daemon waits for a client that does not read.
    for _ in 0..30 {
        deaf.ask_only(ClientMessage::SubscribeJob { job, after: 0 });
        thread::sleep(Duration::from_millis(60));
    }
    assert_eq!(sessions(), 2);
    verb(&daemon, &format!("keys revoke {}", key.name));
    let begin = Instant::now();
    daemon.wait_for("its end", || sessions() == 1);
    // One that waits for its client would wait 10 s.
    assert!(begin.elapsed() < promised(Duration::from_secs(1)), "{:?}", begin.elapsed());
    assert!(matches!(other.ask(ClientMessage::Ping {}), ServerMessage::Pong));
}

#[test]
fn the_end_of_the_terminal_drains_unless_it_is_to_be_ignored() {
    // These tests may run under `nohup` themselves, and a shell cannot undo that.
    let hearing =
        Setup { before: Some("through='env --default-signal=HUP'".into()), ..scripting() };
    let daemon = Daemon::start(&hearing);
    let (mut client, key) = daemon.paired();
    let job = client.scripted(0, 0, Act::Linger);
    daemon.wait_for("a worker", || daemon.children().len() == 1);
    daemon.signal("-HUP");
    assert_eq!(client.closed().code, Some(4503));
    let (code, folder) = daemon.end_by("-0");
    assert_eq!(code, Some(129));
    // As with `nohup`.
    let ignoring = Setup { before: Some("trap '' HUP".into()), ..scripting() };
    let daemon = Daemon::start_in(folder, &ignoring).expect("it starts again");
    let mut client = daemon.connect(&key);
    assert_eq!(client.end_of(job), (JobState::Interrupted, Some(FaultCode::Interrupted)));
    daemon.signal("-HUP");
    thread::sleep(Duration::from_millis(500));
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    let (code, _) = daemon.end_by("-TERM");
    assert_eq!(code, Some(0));
}

#[test]
fn a_pipe_or_a_link_in_place_of_a_lock_is_refused() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    for name in ["daemon.lock", "audit.lock", "keys.lock", "jobs.db"] {
        for is_pipe in [true, false] {
            let folder = Daemon::start(&scripting()).kill();
            let path = folder.path(&format!("state/{name}"));
            let _ = fs::remove_file(&path);
            if is_pipe {
                mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
                let state = fs::metadata(folder.path("state")).expect("its state");
                let owner = std::os::unix::fs::MetadataExt::uid(&state);
                std::os::unix::fs::chown(&path, Some(owner), Some(owner)).expect("its owner");
            } else {
                std::os::unix::fs::symlink("elsewhere", &path).expect("a link");
            }
            // One that opened the pipe would say nothing for ever.
            let said = Daemon::start_in(folder, &scripting()).err().expect("refused");
            assert!(
                said.starts_with("Some(1)") && said.contains("is not a file"),
                "{name}: {said}"
            );
        }
    }
}
