//! T: proofs, pairing codes and scopes: which clients get a session, and what a session may do.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::client::{Ask, ClientMessage, ContinueJob, Identify, Pair, StartJob};
use protocol::engine::WatchEngine;
use protocol::fault::FaultCode;
use protocol::job::{JobId, JobState};
use protocol::proof::{self, Handshake};
use protocol::scope::Scope;
use protocol::server::ServerMessage;
use serde_json::json;

use crate::harness::{Daemon, PATIENCE, Setup, hooked, scripting};
use crate::keys::verb;
use crate::script::Act;
use crate::socket::{Client, Key, random, script, sign};

fn start_job() -> ClientMessage {
    ClientMessage::StartJob(StartJob { request: random(), job: script(1, 1, Act::Finish) })
}

/// Every message of the protocol, from the golden files, of which a test of the protocol requires one per message.
fn schema() -> Vec<ClientMessage> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/tests/golden/v1");
    let files = fs::read_dir(folder).expect("golden files").flatten();
    let asks = files.filter(|file| file.file_name().to_string_lossy().starts_with("client_"));
    let read = |file: fs::DirEntry| {
        let text = fs::read_to_string(file.path()).expect("a file");
        serde_json::from_str::<Ask>(&text).expect("a message").ask
    };
    // A key that is revoked has no session any more; `others` has this one.
    asks.map(read).filter(|ask| !matches!(ask, ClientMessage::RevokeKey {})).collect()
}

/// Whether a message starts or ends a job. A new message needs its line here before this compiles.
fn controls(ask: &ClientMessage) -> bool {
    match ask {
        ClientMessage::StartJob(_)
        | ClientMessage::ContinueJob(_)
        | ClientMessage::CancelJob { .. }
        | ClientMessage::WatchEngine(_) => true,
        ClientMessage::Identify(_)
        | ClientMessage::Pair(_)
        | ClientMessage::ListJobs { .. }
        | ClientMessage::SubscribeJob { .. }
        | ClientMessage::UnsubscribeJob { .. }
        | ClientMessage::SubscribeTelemetry { .. }
        | ClientMessage::UnsubscribeTelemetry {}
        | ClientMessage::UnwatchEngine {}
        | ClientMessage::RevokeKey {}
        | ClientMessage::Ping {} => false,
    }
}

/// Every message except the two proofs.
fn others() -> Vec<ClientMessage> {
    vec![
        start_job(),
        ClientMessage::ContinueJob(ContinueJob { request: random(), job: JobId(1) }),
        ClientMessage::CancelJob { job: JobId(1) },
        ClientMessage::ListJobs { limit: 1, before: None, later: true },
        ClientMessage::SubscribeJob { job: JobId(1), after: 0 },
        ClientMessage::UnsubscribeJob { job: JobId(1) },
        ClientMessage::SubscribeTelemetry { hz: 1.0 },
        ClientMessage::UnsubscribeTelemetry {},
        ClientMessage::WatchEngine(WatchEngine {
            url: "http://127.0.0.1:1".into(),
            fields: BTreeMap::new(),
            files: BTreeMap::new(),
        }),
        ClientMessage::UnwatchEngine {},
        ClientMessage::RevokeKey {},
        ClientMessage::Ping {},
    ]
}

#[test]
fn sockets_without_a_proof_get_no_session() {
    let daemon = Daemon::start(&scripting());
    let before = daemon.effects();
    // T01
    let start = Instant::now();
    let closed = daemon.open().closed();
    assert_eq!((closed.code, closed.bye), (Some(4401), Some(FaultCode::Unauthenticated)));
    let waited = start.elapsed().as_secs_f64();
    assert!(
        (4.0..14.0).contains(&waited),
        "5 s, and not those of a session that is silent: {waited}"
    );
    // T02
    // A few at each daemon: the eleventh socket without a proof in a row has to wait.
    for asks in others().chunks(6) {
        let daemon = Daemon::start(&scripting());
        let before = daemon.effects();
        for ask in asks {
            let closed = daemon.open().first(ask.clone()).expect_err("no answer");
            assert_eq!(closed.code, Some(4401), "{ask:?}");
        }
        assert_eq!(daemon.effects(), before);
    }
    let (binary, large) = (tungstenite::Message::binary(vec![1]), "x".repeat(5000));
    for (message, code) in [
        (tungstenite::Message::text("hello"), 4400),
        (tungstenite::Message::text("{}"), 4400),
        (binary, 4400),
        (tungstenite::Message::text(large), 1009),
    ] {
        let mut client = daemon.open();
        client.socket.send(message.clone()).expect("it listens");
        assert_eq!(client.closed().code, Some(code), "{message:?}");
    }
    assert_eq!(daemon.effects(), before);
}

#[test]
fn wrong_proofs_are_refused_and_guessing_is_slowed_down() {
    let daemon = Daemon::start(&scripting());
    let (_session, key) = daemon.paired();
    let before = daemon.effects();
    let mut flipped = key;
    flipped.secret[31] ^= 1;
    let unknown = Key { name: random(), ..key };
    // T03: wrong secret, unknown key, a proof for another origin, an old version.
    for wrong in [flipped, unknown] {
        assert_eq!(daemon.open().identify(&wrong).expect_err("refused").code, Some(4401));
    }
    let mut client = daemon.open();
    client.origin = "https://evil.test".into();
    assert_eq!(client.identify(&key).expect_err("refused").code, Some(4401));
    let mut client = daemon.open();
    let (message, _) = client.identification(&key);
    let ClientMessage::Identify(identify) = message else { unreachable!() };
    let later = ClientMessage::Identify(Identify { protocol: 2, ..identify });
    assert_eq!(client.first(later).expect_err("refused").code, Some(4409));
    // T08: a proof from one socket is invalid on the next.
    let mut first = daemon.open();
    let (message, _) = first.identification(&key);
    first.first(message.clone()).expect("good once");
    assert_eq!(daemon.open().first(message).expect_err("replayed").code, Some(4401));
    // T04: seven more failures are not delayed; the eleventh is delayed and told to retry later.
    let mut codes = Vec::new();
    let mut times = Vec::new();
    for _ in 0..9 {
        let mut client = daemon.open();
        let start = Instant::now();
        codes.push(client.identify(&flipped).expect_err("refused").code);
        times.push(start.elapsed());
    }
    assert_eq!(codes[..6], [Some(4401); 6]);
    assert_eq!(codes[8], Some(4429), "{codes:?}");
    assert!(times[8] >= Duration::from_millis(200), "{times:?}");
    // The owner is delayed too, but gets in.
    daemon.connect(&key);
    assert_eq!(daemon.effects(), before);
}

#[test]
fn a_code_pairs_one_page() {
    let daemon = Daemon::start(&scripting());
    let code = daemon.code();
    let mut client = daemon.open();
    let key = client.pair(&code).expect("good");
    assert_eq!(client.scopes, [Scope::Read, Scope::Bench]);
    // T05
    assert_eq!(daemon.open().pair(&code).expect_err("used").code, Some(4401));
    assert_eq!(daemon.connect(&key).scopes, [Scope::Read, Scope::Bench]);
    assert!(daemon.effects().starts_with("1 keys"), "{}", daemon.effects());
    // T07: five wrong codes invalidate the right one.
    let link = verb(&daemon, "pair");
    let code = link.split_once("#pair=").expect("a link").1.to_owned();
    for _ in 0..5 {
        assert_eq!(daemon.open().pair("aaaaaaaaaaaaaaaaaaaa").expect_err("wrong").code, Some(4401));
    }
    assert!(daemon.open().pair(&code).is_err());
    assert!(daemon.effects().starts_with("1 keys"), "{}", daemon.effects());
}

/// A link with fewer scopes makes a key with fewer; a key that may measure may also read its results.
#[test]
fn keys_have_the_scopes_of_their_link() {
    let daemon = Daemon::start(&scripting());
    let both = [Scope::Read, Scope::Bench];
    for (words, scopes) in [
        ("--scope read", &both[..1]),
        ("--scope bench", &both),
        ("--scope bench,read", &both),
        ("--scope read --scope read", &both[..1]),
    ] {
        let link = verb(&daemon, &format!("pair {words}"));
        let mut client = daemon.open();
        client.pair(link.split_once("#pair=").expect("a link").1).expect("good");
        assert_eq!(client.scopes, scopes, "{words}");
        if scopes.contains(&Scope::Bench) {
            let job = client.scripted(1, 1, Act::Finish);
            assert_eq!(client.end_of(job).0, JobState::Done, "{words}");
        }
    }
    verb(&daemon, "keys new --name measures --scope bench");
    let keys = verb(&daemon, "keys list -o json");
    let keys: Vec<serde_json::Value> = serde_json::from_str(&keys).expect("JSON");
    let token = keys.iter().find(|key| key["name"] == "measures").expect("the new one");
    assert_eq!(token["scopes"], json!(["read", "bench"]));
}

/// T06, D16: only the daemon's clock is shifted.
#[test]
fn codes_expire_and_clock_shifts_do_no_harm() {
    for (seconds, works) in
        [(0, true), (200, true), (301, false), (86_400, false), (-86_400, false)]
    {
        let turned = crate::binary::Folder::new();
        let file = turned.file("clock", "0");
        let daemon = Daemon::start(&hooked(json!({ "scripted": true, "clock": file })));
        let code = daemon.code();
        fs::write(&file, seconds.to_string()).expect("a clock");
        let paired = daemon.open().pair(&code);
        assert_eq!(paired.is_ok(), works, "{seconds}: {paired:?}");
        if let Ok(key) = paired {
            // A shift of one day expires no key, and jobs still run and end.
            for turn in ["86400", "-86400"] {
                fs::write(&file, turn).expect("a clock");
                let mut client = daemon.connect(&key);
                let job = client.scripted(2, 5, Act::Finish);
                assert_eq!(client.follow(job, 0).len(), 7, "{turn}");
            }
        }
    }
}

/// T15
#[test]
fn read_only_sessions_control_nothing() {
    let daemon = Daemon::start(&scripting());
    let (mut owner, _) = daemon.paired();
    let running = owner.scripted(0, 0, Act::Linger);
    let link = verb(&daemon, "pair --scope read");
    let mut client = daemon.open();
    client.pair(link.split_once("#pair=").expect("a link").1).expect("good");
    // The job is queued and then begins: two events, after which it waits.
    daemon.wait_for("the job", || daemon.effects().contains(" 2 events"));
    let before = daemon.effects();
    let mut refused = 0;
    for ask in [ClientMessage::CancelJob { job: running }, start_job()].into_iter().chain(schema())
    {
        let controls = controls(&ask);
        let answer = client.ask(ask.clone());
        let forbidden =
            matches!(&answer, ServerMessage::Fault(fault) if fault.code == FaultCode::Forbidden);
        assert_eq!(forbidden, controls, "{ask:?}: {answer:?}");
        refused += usize::from(controls);
    }
    assert!(refused >= 6, "{refused}");
    assert_eq!(daemon.effects(), before);
    let told = |line: &crate::harness::Logged| line.decision == "refused: forbidden";
    daemon.wait_for("the log", || daemon.audit().iter().filter(|line| told(line)).count() == 3);
    // Control: reading is allowed.
    assert_eq!(client.subscribe(running, 0), 0);
    assert!(
        matches!(client.ask(ClientMessage::ListJobs { limit: 5, before: None, later: true }), ServerMessage::Jobs { jobs, .. } if jobs.len() == 1)
    );
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    owner.ask(ClientMessage::CancelJob { job: running });
    // A daemon that grants only reading refuses the scope of a job, too.
    let daemon = Daemon::start(&Setup { flags: vec!["--read-only".into()], ..scripting() });
    let (mut client, _) = daemon.paired();
    assert_eq!(client.scopes, [Scope::Read]);
    assert_eq!(client.fault(start_job()), FaultCode::Forbidden);
}

/// T16, the daemon's side: its proof is bound to one key and one handshake, so another program on the port cannot produce it.
#[test]
fn the_daemons_proof_is_bound_to_one_key_and_handshake() {
    let daemon = Daemon::start(&scripting());
    let (_, key) = daemon.paired();
    let mut proofs = Vec::new();
    for _ in 0..3 {
        let mut client: Client = daemon.open();
        let (message, nonce) = client.identification(&key);
        let ServerMessage::Identified(identified) = client.first(message).expect("good") else {
            panic!("no session")
        };
        let handshake: Handshake<'_> = client.handshake(&nonce);
        assert_eq!(identified.proof, sign(&key.secret, &proof::identified(&handshake)));
        assert_ne!(identified.proof, sign(&key.secret, &proof::identify(&handshake)), "no echo");
        assert_ne!(identified.proof, sign(&[0; 32], &proof::identified(&handshake)));
        proofs.push(identified.proof);
    }
    proofs.sort();
    proofs.dedup();
    assert_eq!(proofs.len(), 3, "each is of its handshake");
    // A replayed pairing is refused, because its code is used up.
    let mut client = daemon.open();
    let pair = Pair { protocol: 1, nonce: random(), proof: random(), label: String::new() };
    assert!(client.first(ClientMessage::Pair(pair)).is_err());
}

/// A second proof on a session changes nothing, and malformed messages end the session only after a few.
#[test]
fn a_few_malformed_messages_end_a_session() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let (again, _) = client.identification(&key);
    assert_eq!(client.fault(again), FaultCode::BadInput);
    let ping =
        serde_json::to_string(&Ask { id: 7, ask: ClientMessage::Ping {} }).expect("text keys");
    for strange in ["{", "[]", "null", "\"x\"", r#"{"id":7}"#, r#"{"id":7,"ask":{"type":"admin"}}"#]
    {
        client.send(strange);
        let fault = client.answer_or_push();
        assert_eq!(fault, Some(FaultCode::Malformed), "{strange}");
    }
    client.send(&ping);
    assert!(matches!(client.push(PATIENCE), Some(ServerMessage::Pong)));
    for _ in 0..4 {
        client.send("{");
    }
    assert_eq!(client.closed().code, Some(4400));
}

/// The daemon runs as an ordinary user here, or the test reports that it does not.
#[test]
fn running_as_root_is_refused_or_reported() {
    let daemon = Daemon::start(&Setup::default());
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("a process");
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:")).expect("a user");
    let cmdline = fs::read_to_string(format!("/proc/{}/cmdline", daemon.pid())).expect("a process");
    let is_root = user.split_whitespace().any(|id| id == "0");
    assert_eq!(is_root, cmdline.contains("--allow-root"), "{user}");
    let id = Command::new("id").arg("-u").output().expect("id is there");
    if id.stdout.trim_ascii() != b"0" {
        assert!(!is_root);
    }
}
