//! The audit log: actions are logged before they are acknowledged, a flood of refusals does not fill the disk, changes are detected.

use std::fs;

use protocol::client::{ClientMessage, StartJob};
use protocol::fault::FaultCode;
use protocol::job::JobState;
use protocol::server::ServerMessage;
use serde_json::json;

use crate::harness::{Daemon, Logged, hooked, scripting};
use crate::keys::{ended, verb};
use crate::script::Act;
use crate::socket::{random, script};

fn actions(lines: &[Logged]) -> Vec<(&str, &str)> {
    lines.iter().map(|line| (line.action.as_str(), line.decision.as_str())).collect()
}

#[test]
fn actions_are_logged_with_their_client() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let job = client.scripted(0, 0, Act::Linger);
    client.ask(ClientMessage::CancelJob { job });
    client.end_of(job);
    // Revoking a key again, or one that does not exist, is not an action.
    client.ask(ClientMessage::CancelJob { job });
    verb(&daemon, "keys new --name program --scope read");
    verb(&daemon, &format!("keys revoke {}", key.name));
    let lines = daemon.audit();
    let done: Vec<Logged> = lines.into_iter().filter(Logged::changes).collect();
    let expected = ["new_code", "pair", "start_job", "cancel_job", "new_token", "revoke_keys"];
    assert_eq!(done.iter().map(|line| &*line.action).collect::<Vec<_>>(), expected);
    let (pair, start) = (&done[1].whole, &done[2].whole);
    for line in [pair, start, &done[3].whole] {
        assert_eq!(line["key_id"], key.name.to_string(), "{line}");
        assert_eq!(line["origin"], format!("http://localhost:{}", daemon.port));
        assert_eq!((&line["peer"], &line["session"]), (&json!("this machine"), &pair["session"]));
    }
    assert_eq!(done[4].whole["peer"], "command line");
    // The first and the last line of a daemon that shut down normally.
    let (_, folder) = daemon.end_by("-TERM");
    let text = fs::read_to_string(folder.path("state/audit.jsonl")).expect("a log");
    assert!(text.lines().last().is_some_and(|line| line.contains(r#""action":"end""#)), "{text}");
    assert_eq!(text.matches(r#""action":"serve""#).count(), 1, "{text}");
}

/// A key that may measure starts and cancels jobs as fast as it can: all are counted, in few lines.
#[test]
fn a_key_that_starts_without_a_pause_pushes_no_line_out() {
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "tally_ms": 2000 })));
    let (mut first, key) = daemon.paired();
    // It runs, so that the others wait and are canceled at once.
    first.scripted(0, 0, Act::Linger);
    // Each session sends what it may send at once.
    let (sessions, each) = (10, 15);
    for _ in 0..sessions {
        let mut client = daemon.connect(&key);
        for _ in 0..each {
            let job = client.scripted(1, 1, Act::Finish);
            assert!(matches!(client.ask(ClientMessage::CancelJob { job }), ServerMessage::Ok));
        }
    }
    let done = sessions * each;
    let all = |action: &str| -> Vec<Logged> {
        let lines = daemon.audit().into_iter();
        lines.filter(|line| line.action == action && line.decision == "allowed").collect()
    };
    let count = |action| all(action).iter().map(|line| line.count).sum::<u64>();
    daemon.wait_for("the counts", || (count("start_job"), count("cancel_job")) == (done + 1, done));
    let lines = all("start_job").len() + all("cancel_job").len();
    // 120 of its own and one per minute, then a first one and sums of both kinds, as many as intervals have passed.
    assert!((120..240).contains(&lines), "{lines} lines for {} actions", 2 * done + 1);
    let sums: Vec<Logged> = all("start_job").into_iter().filter(|line| line.count > 1).collect();
    assert!(!sums.is_empty(), "some were counted");
    for sum in sums {
        assert_eq!(sum.whole["key_id"], key.name.to_string(), "{sum:?}");
    }
    assert_eq!(all("pair").len(), 1);
}

#[test]
fn a_flood_of_refusals_is_summed_in_a_few_lines() {
    let daemon = Daemon::start(&hooked(json!({ "scripted": true, "tally_ms": 400 })));
    let (mut client, _) = daemon.paired();
    for _ in 0..200 {
        assert_eq!(daemon.ask("GET", "/healthz", &["Origin: https://evil.test"], "").status, 403);
    }
    for _ in 0..10 {
        assert_eq!(
            client.fault(ClientMessage::CancelJob { job: protocol::job::JobId(9) }),
            FaultCode::NotFound
        );
    }
    let refused = |daemon: &Daemon, action: &str, decision: &str| {
        let lines = daemon.audit();
        let of = lines.iter().filter(|line| (&*line.action, &*line.decision) == (action, decision));
        of.map(|line| line.count).collect::<Vec<u64>>()
    };
    let all = |action, decision, expected: u64| {
        let so = || refused(&daemon, action, decision).iter().sum::<u64>() == expected;
        daemon.wait_for(action, so);
        refused(&daemon, action, decision)
    };
    let lines = all("request", "refused: origin", 200);
    assert!(lines.len() < 20, "{lines:?}");
    all("cancel_job", "refused: not_found", 10);
    let first = daemon.audit().into_iter().find(|line| line.action == "request").expect("one");
    assert_eq!(first.whole["origin"], "https://evil.test");
}

#[test]
fn doctor_detects_a_changed_log() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let job = client.scripted(1, 1, Act::Finish);
    client.end_of(job);
    let state_of_log = || {
        let ended = ended(&daemon, "doctor -o json");
        let rows: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("JSON");
        let rows = rows.as_array().expect("rows").clone();
        let row = rows.into_iter().find(|row| row["what"] == "audit log").expect("its row");
        (row["state"].as_str().unwrap_or_default().to_owned(), row["found"].to_string())
    };
    assert_eq!(state_of_log().0, "ok");
    let path = daemon.state().join("audit.jsonl");
    let text = fs::read_to_string(&path).expect("a log");
    fs::write(&path, text.replace(r#""action":"pair""#, r#""action":"identify""#)).expect("ours");
    let (state, found) = state_of_log();
    assert!(state == "missing" && found.contains("was changed"), "{found}");
}

#[test]
fn actions_that_cannot_be_logged_are_refused() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let running = client.scripted(0, 0, Act::Linger);
    let link = verb(&daemon, "pair");
    let path = daemon.state().join("audit.jsonl");
    fs::rename(&path, path.with_extension("aside")).expect("ours");
    fs::create_dir(&path).expect("ours");
    let start = StartJob { request: random(), job: script(1, 1, Act::Finish) };
    assert_eq!(client.fault(ClientMessage::StartJob(start.clone())), FaultCode::Storage);
    let code = link.split_once("#pair=").expect("a link").1;
    assert_eq!(daemon.open().pair(code).expect_err("not logged").bye, Some(FaultCode::Storage));
    assert!(!ended(&daemon, "keys new --name x --scope read").status.success());
    // Revoking works without the log.
    client.ask(ClientMessage::CancelJob { job: running });
    assert_eq!(client.end_of(running).0, JobState::Canceled);
    fs::remove_dir(&path).expect("ours");
    fs::rename(path.with_extension("aside"), &path).expect("ours");
    assert!(daemon.effects().starts_with("1 keys, 1 jobs"), "{}", daemon.effects());
    // Once the log can be written again, the same request is a new job.
    let answer = client.ask(ClientMessage::StartJob(start));
    let ServerMessage::Accepted(accepted) = answer else { panic!("{answer:?}") };
    assert!(accepted.fresh);
    assert_eq!(client.end_of(accepted.job).0, JobState::Done);
    let lines = daemon.audit();
    assert!(actions(&lines).contains(&("start_job", "allowed")), "{lines:?}");
}
