//! The steps of a simulation: what clients, the user at the terminal and the disk do next.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use protocol::bench::{BenchKind, BenchSpec};
use protocol::client::{ClientMessage, ContinueJob, StartJob};
use protocol::engine::WatchEngine;
use protocol::hex::Hex;
use protocol::job::{JobId, JobSpec};
use protocol::limits::LIMITS;
use protocol::scope::Scope;
use rusqlite::{Connection, params};

use super::World;
use super::client::Client;
use super::dice::Dice;
use super::ledger::{Request, rows};
use super::life::Life;
use super::seat::Seat;
use crate::server::peer::Peer;
use crate::worker::script::{Act, Script};

/// Owner of the jobs that a later version puts into the queue.
pub(super) const OUTSIDE: &str = "later";
/// Most clients at once.
const CLIENTS: usize = 5;

/// How jobs end, the usual way more often.
const ACTS: [Act; 14] = [
    Act::Finish,
    Act::Finish,
    Act::Finish,
    Act::Finish,
    Act::Finish,
    Act::Fail,
    Act::Hang,
    Act::Linger,
    Act::IgnoreCancel,
    Act::Crash,
    Act::Vanish,
    Act::Garble,
    Act::Lie,
    Act::Babble,
];

/// Takes one step.
pub(super) fn take(life: &mut Life<'_>) {
    let choice = life.world.dice.below(100);
    let sessions = || life.seats.iter().filter(|seat| seat.session.is_some()).count();
    match choice {
        0..12 => connect(life),
        _ if sessions() == 0 => connect(life),
        12..15 => disconnect(life),
        15..18 => change_key(life),
        18..20 => row_of_a_later_version(life),
        20..24 => sleep(life),
        24..26 => flood(life),
        26..28 => garbage(life),
        _ => ask(life),
    }
}

fn connect(life: &mut Life<'_>) {
    if life.seats.len() >= CLIENTS {
        return;
    }
    let dice = &mut life.world.dice;
    let key = dice.index(life.world.keys.len());
    let far = Peer::Network(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7)));
    let peer = dice.pick(&[Peer::Here, Peer::Here, Peer::Here, Peer::Socket, far]);
    let is_proof_right = !dice.chance(5);
    let held = &life.world.keys[key];
    let proves = (held.id, held.secret.clone());
    let client = Client::connect(&life.daemon, &life.connections, peer, proves);
    let client = client.expect("few have a place");
    life.world.count("connection");
    let name = life.world.counts["connection"];
    life.note(&format!("client {name} connects with key {key} from {peer:?}"));
    let mut seat = Seat::new(name, client, key, peer, life.now());
    seat.is_proof_right = is_proof_right;
    life.seats.push(seat);
}

fn disconnect(life: &mut Life<'_>) {
    let at = life.world.dice.index(life.seats.len());
    let seat = life.seats.remove(at);
    life.note(&format!("client {} disconnects", seat.name));
}

/// A client reads nothing for a while; after a long one the daemon may give it up.
fn sleep(life: &mut Life<'_>) {
    let (at, ms) = (life.world.dice.index(life.seats.len()), life.world.dice.below(30_000));
    let until = life.now() + ms;
    // Answers that fill the wire make a slow client of one that sleeps.
    let lists = if life.world.dice.chance(30) { 25 } else { 0 };
    let (mut around, seats) = life.around();
    let seat = &mut seats[at];
    if seat.session.is_some() {
        for _ in 0..lists {
            let list = ClientMessage::ListJobs { limit: 30, before: None, later: true };
            seat.ask(&mut around, list, None);
        }
    }
    seat.asleep_until = until;
    seat.may_be_closed |= ms > 4_000;
    let name = seat.name;
    life.note(&format!("client {name} reads nothing for {ms} ms"));
}

/// Revokes a key, or changes its scopes.
fn change_key(life: &mut Life<'_>) {
    let at = life.world.dice.index(life.world.keys.len());
    let (id, revokes) = (life.world.keys[at].id, life.world.dice.chance(25) && at > 0);
    if revokes {
        life.note(&format!("key {at} is revoked"));
        life.world.count("revoked key");
        life.world.keys[at].is_revoked = true;
        life.change_keys(|book| book.keys.retain(|key| key.id != id));
        return;
    }
    let reads = life.world.keys[at].scopes == [Scope::Read];
    let scopes = if reads { vec![Scope::Read, Scope::Bench] } else { vec![Scope::Read] };
    if !reads {
        life.world.count("withdrawn scope");
    }
    life.note(&format!("key {at} gets the scopes {scopes:?}"));
    life.change_keys(|book| book.set_scopes(id, &scopes));
    life.world.keys[at].scopes = scopes;
}

/// A later version puts a job into the queue.
fn row_of_a_later_version(life: &mut Life<'_>) {
    if life.disk.has_failed() {
        return;
    }
    let request = Hex::<16>(life.world.dice.bytes()).to_string();
    let spec = life.world.dice.pick(&[r#"{"kind":"quantize","model":"x"}"#, "not JSON", "{}"]);
    let added = life.db.execute(
        "INSERT INTO jobs (request, owner, spec, state, created_ms, last_seq) VALUES (?1, ?3, ?2, 'queued', 1, 1)",
        params![request, spec, OUTSIDE],
    );
    added.expect("nobody else writes now");
    let job = life.db.last_insert_rowid();
    let queued = r#"{"type":"queued"}"#;
    let added = life.db.execute(
        "INSERT INTO events (job, seq, at_ms, event) VALUES (?1, 1, 1, ?2)",
        params![job, queued],
    );
    added.expect("nobody else writes now");
    life.world.count("row of a later version");
    life.note(&format!("job {job} appears with the order {spec}"));
}

/// More messages than a session may send.
fn flood(life: &mut Life<'_>) {
    let (at, count) = (life.world.dice.index(life.seats.len()), 30 + life.world.dice.below(60));
    let (mut around, seats) = life.around();
    let seat = &mut seats[at];
    if seat.session.is_none() {
        return;
    }
    around.note(&format!("client {} sends {count} pings", seat.name));
    for _ in 0..count {
        seat.ask(&mut around, ClientMessage::Ping {}, None);
    }
    seat.may_be_closed = true;
}

/// A message that is none, or is larger than any may be.
fn garbage(life: &mut Life<'_>) {
    let (at, is_large) = (life.world.dice.index(life.seats.len()), life.world.dice.chance(30));
    let seat = &mut life.seats[at];
    if seat.session.is_none() {
        return;
    }
    seat.may_be_closed = true;
    let bytes = if is_large { LIMITS.message_bytes as usize + 1 } else { 100 };
    seat.client.send("x".repeat(bytes));
    let name = seat.name;
    life.note(&format!("client {name} sends {bytes} bytes of garbage"));
}

/// A client with a session asks for something.
fn ask(life: &mut Life<'_>) {
    let with_session = life.seats.iter().enumerate().filter(|(_, seat)| seat.session.is_some());
    let with_session: Vec<usize> = with_session.map(|(at, _)| at).collect();
    let at = life.world.dice.pick(&with_session);
    let numbers = life.world.ledger.numbers();
    let any_job = |dice: &mut Dice| match numbers.len() {
        0 => 1,
        _ if dice.chance(5) => 999_999,
        // The latest are of the most interest.
        many => numbers[many - 1 - dice.index(many.min(6))],
    };
    let (mut ask, mut request) = (ClientMessage::Ping {}, None);
    let dice = &mut life.world.dice;
    match dice.below(100) {
        0..30 => {
            let (asked, number) = start(life.world);
            (ask, request) = (asked, Some(number));
        }
        30..36 => {
            let job = any_job(dice);
            let id = Hex(dice.bytes());
            let spec = script(dice);
            if life.world.ledger.can_continue(job) {
                let continues = Some(job);
                life.world.ledger.requests.push(Request {
                    id,
                    spec,
                    continues,
                    job: None,
                    is_fresh: false,
                });
                request = Some(life.world.ledger.requests.len() - 1);
                ask = ClientMessage::ContinueJob(ContinueJob { request: id, job: JobId(job) });
            }
        }
        36..50 => ask = ClientMessage::CancelJob { job: JobId(any_job(dice)) },
        50..80 => {
            let job = any_job(dice);
            let heard = life.world.ledger.last_heard(job);
            let after = match dice.below(10) {
                0..4 => 0,
                4..9 => heard,
                _ => 1_000_000,
            };
            if after > 0 && after == heard {
                life.world.count("resumed subscription");
            }
            let follows = life.seats[at].follows.contains_key(&job);
            if !follows {
                ask = ClientMessage::SubscribeJob { job: JobId(job), after };
            }
        }
        80..84 => ask = ClientMessage::UnsubscribeJob { job: JobId(any_job(dice)) },
        84..94 => {
            let limit = u32::try_from(1 + dice.below(30)).expect("a small number");
            let before = dice.chance(50).then(|| JobId(any_job(dice)));
            ask = ClientMessage::ListJobs { limit, before, later: true };
        }
        94..96 => ask = ClientMessage::SubscribeTelemetry { hz: 1.0 },
        96 => ask = ClientMessage::UnwatchEngine {},
        97 => {
            // The server of another machine is refused, so that no process is started.
            let url = "http://10.0.0.7:8000".to_owned();
            let (fields, files) = (BTreeMap::new(), BTreeMap::new());
            ask = ClientMessage::WatchEngine(WatchEngine { url, fields, files });
        }
        // One key stays, so that there are sessions to the end.
        98 if life.seats[at].key > 0 => {
            life.world.keys[life.seats[at].key].is_revoked = true;
            ask = ClientMessage::RevokeKey {};
        }
        _ => {}
    }
    let (mut around, seats) = life.around();
    let text = serde_json::to_string(&ask).expect("messages have text keys");
    let text = text.split("\"request\"").next().unwrap_or_default();
    around.note(&format!("client {} asks {text} {request:?}", seats[at].name));
    seats[at].ask(&mut around, ask, request);
}

/// A start of a job: a new one, or a request that was sent before.
fn start(world: &mut World) -> (ClientMessage, usize) {
    let again = world.dice.chance(15).then(|| world.dice.index(world.ledger.requests.len()));
    let again = again.filter(|at| {
        world.ledger.requests.get(*at).is_some_and(|request| request.continues.is_none())
    });
    let number = again.unwrap_or_else(|| {
        let (id, spec) = (Hex(world.dice.bytes()), script(&mut world.dice));
        world.ledger.requests.push(Request {
            id,
            spec,
            continues: None,
            job: None,
            is_fresh: false,
        });
        world.ledger.requests.len() - 1
    });
    let Request { id, spec, .. } = world.ledger.requests[number].clone();
    (ClientMessage::StartJob(StartJob { request: id, job: spec }), number)
}

fn script(dice: &mut Dice) -> JobSpec {
    let number = |number: u64| u32::try_from(number).expect("a small number");
    let steps = if dice.chance(10) { 100 } else { number(dice.below(8)) };
    let step_ms = if steps == 100 { 1 } else { number(dice.below(300)) };
    let predicted_ms = match dice.below(4) {
        0 => Some(1000.0),
        1 if dice.chance(20) => Some(1e6),
        _ => None,
    };
    let act = dice.pick(&ACTS);
    JobSpec::Bench(BenchSpec {
        what: BenchKind::Bandwidth,
        shapes: Vec::new(),
        formats: Vec::new(),
        sizes: Vec::new(),
        backend: Some(Script { steps, step_ms, predicted_ms, act }.to_string()),
        iterations: None,
    })
}

/// Damages a row before the next daemon reads it.
pub(super) fn damage(world: &mut World, folder: &Path) {
    if !world.dice.chance(30) {
        return;
    }
    let db = Connection::open(folder.join("jobs.db")).expect("a database");
    let is_made = db.prepare("SELECT job FROM events").is_ok();
    let found = if is_made { rows(&db) } else { Vec::new() };
    let ended: Vec<u64> = found.iter().filter(|row| !row.is_open()).map(|row| row.job).collect();
    if ended.is_empty() {
        return;
    }
    let job = world.dice.pick(&ended);
    let number = i64::try_from(job).expect("a small number");
    let (sql, event) = match world.dice.below(5) {
        0 => (r#"UPDATE jobs SET spec = '{"kind":"quantize"}' WHERE job = ?1"#, None),
        1 => ("UPDATE jobs SET spec = x'ff00' WHERE job = ?1", None),
        4 => ("UPDATE jobs SET state = x'ff' WHERE job = ?1", None),
        2 => ("UPDATE events SET event = 'garbage' WHERE job = ?1 AND seq = 1", Some(1)),
        _ => {
            (r#"UPDATE events SET event = '{"type":"later"}' WHERE job = ?1 AND seq = 1"#, Some(1))
        }
    };
    db.execute(sql, [number]).expect("our file");
    world.ledger.damaged(job, event);
    world.count("damaged row");
    world.trace.push(format!("job {job} is damaged: {sql}"));
}
