//! T: the scopes of a key are changed at the terminal, and its sessions follow without pairing anew.

use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::fault::FaultCode;
use protocol::job::{CalibrateSpec, JobSpec, JobState};
use protocol::scope::Scope;
use protocol::server::ServerMessage;

use crate::harness::{Daemon, Setup, promised, scripting};
use crate::keys::{ended, verb};
use crate::script::Act;
use crate::socket::{Client, Closed, Key, random, script};

/// Pairs a page whose key may only read.
fn reader(daemon: &Daemon) -> (Client, Key) {
    let link = verb(daemon, "pair --scope read");
    let mut client = daemon.open();
    let key = client.pair(link.split_once("#pair=").expect("a link").1).expect("good");
    assert_eq!(client.scopes, [Scope::Read]);
    (client, key)
}

/// The sentence with which a job is refused.
fn refusal(client: &mut Client) -> String {
    match client.start(random(), script(1, 1, Act::Finish)) {
        ServerMessage::Fault(fault) if fault.code == FaultCode::Forbidden => fault.message,
        other => panic!("{other:?}"),
    }
}

/// Each kind of job is refused by the scope that it needs, and a session with that scope starts it.
#[test]
fn a_job_needs_the_scope_of_its_kind() {
    let daemon = Daemon::start(&scripting());
    let (mut reader, _) = reader(&daemon);
    let (mut client, _) = daemon.paired();
    let calibration = JobSpec::Calibrate(CalibrateSpec { backend: None });
    let jobs = [script(1, 1, Act::Finish), calibration];
    let mut kinds = jobs.each_ref().map(JobSpec::kind);
    kinds.sort_unstable();
    assert_eq!(kinds, JobSpec::KINDS, "one of each");
    for job in jobs {
        let scope = job.scope();
        assert!(client.scopes.contains(&scope) && !reader.scopes.contains(&scope));
        let ServerMessage::Fault(fault) = reader.start(random(), job.clone()) else {
            panic!("started by a reader: {job:?}")
        };
        assert_eq!(fault.code, FaultCode::Forbidden);
        assert!(fault.message.contains(scope.key()), "{}", fault.message);
        let answer = client.start(random(), job);
        assert!(matches!(answer, ServerMessage::Accepted(_)), "{answer:?}");
    }
}

fn is_ended_with_new_scopes(client: &mut Client, since: Instant) {
    let expected = Closed { code: Some(4405), bye: Some(FaultCode::Unauthenticated) };
    assert_eq!(client.closed(), expected);
    assert!(since.elapsed() < promised(Duration::from_secs(3)), "{:?}", since.elapsed());
}

#[test]
fn a_paired_page_gets_another_scope_and_loses_it_again() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = reader(&daemon);
    let (mut other, _) = daemon.paired();
    assert_eq!(daemon.open().hello.can.expect("abilities").grants, [Scope::Read, Scope::Bench]);
    // The refusal itself names the command that helps.
    let said = refusal(&mut client);
    let command = format!("keys grant {} --scope bench", key.name);
    assert!(said.contains(&format!("`ridgepoint {command}`")), "{said}");
    let answer = verb(&daemon, &command);
    let start = Instant::now();
    assert_eq!(answer, format!("{}: read,bench", key.name));
    is_ended_with_new_scopes(&mut client, start);
    let mut client = daemon.connect(&key);
    assert_eq!(client.scopes, [Scope::Read, Scope::Bench]);
    let job = client.scripted(1, 1, Act::Finish);
    assert_eq!(client.end_of(job).0, JobState::Done);
    // A job that runs goes on when its page may no longer measure, and nobody else's session is disturbed.
    let job = client.scripted(0, 0, Act::Linger);
    verb(&daemon, &format!("keys withdraw {} --scope bench", key.name));
    is_ended_with_new_scopes(&mut client, Instant::now());
    let mut client = daemon.connect(&key);
    assert_eq!(client.scopes, [Scope::Read]);
    assert_eq!(client.fault(ClientMessage::CancelJob { job }), FaultCode::Forbidden);
    assert!(matches!(other.ask(ClientMessage::CancelJob { job }), ServerMessage::Ok));
    let logged: Vec<_> =
        daemon.audit().into_iter().filter(|line| line.action.contains("scopes")).collect();
    let actions: Vec<&str> = logged.iter().map(|line| line.action.as_str()).collect();
    assert_eq!(actions, ["grant_scopes", "withdraw_scopes"]);
    assert!(logged.iter().all(|line| line.whole["key_id"] == key.name.to_string()), "{logged:?}");
}

#[test]
fn only_known_keys_get_scopes_that_exist() {
    let daemon = Daemon::start(&scripting());
    let (_client, key) = reader(&daemon);
    let before = daemon.effects();
    for words in [
        "keys grant 0123456789abcdef --scope bench".to_owned(),
        "keys grant all --scope bench".to_owned(),
        format!("keys grant {}", key.name),
        format!("keys grant {} --scope power", key.name),
        format!("keys withdraw {} --scope read", key.name),
        "pair --scope files".to_owned(),
    ] {
        assert_eq!(ended(&daemon, &words).status.code(), Some(2), "{words}");
    }
    assert_eq!(daemon.effects(), before);
}

/// A scope that is off in this daemon: the terminal, the session and the hello name the same change of its start.
#[test]
fn a_scope_that_is_off_is_said_with_what_turns_it_on() {
    let daemon = Daemon::start(&Setup { flags: vec!["--read-only".into()], ..scripting() });
    let (mut client, key) = reader(&daemon);
    let command = format!("keys grant {} --scope bench", key.name);
    for words in [command.as_str(), "pair --scope bench"] {
        let said = String::from_utf8(ended(&daemon, words).stderr).expect("text");
        assert!(said.contains("scope bench") && said.contains("`--read-only`"), "{words}: {said}");
    }
    client.closed();
    let mut client = daemon.connect(&key);
    assert_eq!(client.scopes, [Scope::Read], "its key has both, the daemon gives one");
    let said = refusal(&mut client);
    let off = &client.hello.can.as_ref().expect("abilities").off;
    assert!(
        off[0].scope == Scope::Bench && said.ends_with(&format!("start it {}", off[0].start)),
        "{said}"
    );
    // Without the flag the same key measures, and nothing is said.
    let daemon = daemon.kill_and_restart(&scripting());
    let said = ended(&daemon, &command).stderr;
    assert_eq!(String::from_utf8(said).expect("text"), "");
    assert_eq!(daemon.connect(&key).scopes, [Scope::Read, Scope::Bench]);
}
