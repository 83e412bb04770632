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
use crate::harness::{Daemon, Setup, hooked, scripting};
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
    let old = text.replace("\"version\": 2,", "").replace(&hash, &secret);
    assert!(old.contains(&secret) && !old.contains("version"));
    fs::write(&path, old).expect("ours");
    let daemon = Daemon::start_in(folder, &scripting()).expect("it starts");
    assert_eq!(status(&daemon, &secret), 200, "it goes on working");
    assert!(!fs::read_to_string(&path).expect("keys").contains(&secret), "and is replaced");
    // A book of a later version is refused with a sentence.
    let folder = daemon.kill();
    let text = fs::read_to_string(&path).expect("keys").replace("\"version\": 2", "\"version\": 3");
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

