//! A client with what it may expect: answers in the order of its messages, every event of its subscriptions once and in order, and
//! nothing that its key does not allow.

use std::collections::{BTreeMap, VecDeque};

use protocol::client::ClientMessage;
use protocol::close;
use protocol::fault::{Fault, FaultCode};
use protocol::job::{JobEvent, JobSummary};
use protocol::limits::LIMITS;
use protocol::scope::Scope;
use protocol::server::{Say, ServerMessage};

use super::around::Around;
use super::client::{Client, Heard};
use super::ledger::{is_told_right, rows};
use super::rules::{allowed, needed, shown};
use crate::server::peer::Peer;

/// Bytes around the jobs of a list, or around an event's longest line.
const AROUND: usize = 1024;
/// Messages that a session may send at once, whatever came before.
const BURST: u64 = 40;
/// Longest wait for an answer, in ms.
const ANSWER: u64 = 3_000;

/// A message that is not answered yet.
#[derive(Debug)]
struct Pending {
    id: u32,
    ask: ClientMessage,
    sent_ms: u64,
    /// The scopes that the key had at this moment; `None` without the key.
    scopes: Option<Vec<Scope>>,
    is_broken: bool,
    request: Option<usize>,
}

/// A client of the simulation.
pub(super) struct Seat {
    pub(super) name: u64,
    pub(super) client: Client,
    pub(super) key: usize,
    pub(super) peer: Peer,
    /// The scopes with which the session began; `None` until then.
    pub(super) session: Option<Vec<Scope>>,
    /// The scopes that the key may have had when the session began: over the network two may allow the same.
    granted: Vec<Vec<Scope>>,
    pending: VecDeque<Pending>,
    /// Jobs that it follows, with the number of the last event that it has.
    pub(super) follows: BTreeMap<u64, u64>,
    pub(super) told_broken: bool,
    /// True once it did something for which the daemon may end the session.
    pub(super) may_be_closed: bool,
    /// The time at which it reads again, in ms.
    pub(super) asleep_until: u64,
    pub(super) is_proof_right: bool,
    sent: u64,
    since_ms: u64,
    /// When something came last.
    heard_ms: u64,
    served: u64,
}

impl Seat {
    pub(super) fn new(name: u64, client: Client, key: usize, peer: Peer, now: u64) -> Self {
        Self {
            name,
            client,
            key,
            peer,
            session: None,
            granted: Vec::new(),
            pending: VecDeque::new(),
            follows: BTreeMap::new(),
            told_broken: false,
            may_be_closed: false,
            asleep_until: 0,
            is_proof_right: true,
            sent: 0,
            since_ms: now,
            heard_ms: now,
            served: 0,
        }
    }

    /// True if its session began after that time, in ms.
    pub(super) fn came_after(&self, time: Option<u64>) -> bool {
        time.is_some_and(|time| self.since_ms >= time)
    }

    /// Sends a message of a session.
    pub(super) fn ask(
        &mut self,
        around: &mut Around<'_>,
        ask: ClientMessage,
        request: Option<usize>,
    ) {
        let (scopes, is_broken, sent_ms) = (around.scopes(self.key), around.is_broken, around.now);
        let id = self.client.ask(ask.clone());
        self.sent += 1;
        self.pending.push_back(Pending { id, ask, sent_ms, scopes, is_broken, request });
    }

    /// Takes in what came; false if nothing did.
    pub(super) fn hear(&mut self, around: &mut Around<'_>) -> bool {
        if around.now < self.asleep_until {
            return false;
        }
        let all = self.client.hear();
        let has_heard = !all.is_empty();
        if has_heard {
            self.heard_ms = around.now;
        }
        for heard in all {
            match heard {
                Heard::Says(say, bytes) => self.says(around, &say, bytes),
                Heard::Closed(code) => self.closed(around, code),
            }
        }
        let late = self.pending.front().filter(|front| around.now > front.sent_ms + ANSWER);
        if let Some(late) = late.map(|late| late.id)
            && around.now > self.asleep_until.max(self.heard_ms) + ANSWER
            && !self.client.is_closed()
        {
            around.blame(format!("client {} gets no answer to {late}", self.name));
        }
        has_heard
    }

    fn says(&mut self, around: &mut Around<'_>, say: &Say, bytes: usize) {
        let name = self.name;
        if bytes > LIMITS.message_bytes as usize + AROUND {
            around.blame(format!("client {name} got {bytes} bytes in a message"));
        }
        match (say.id, &say.say) {
            (None, ServerMessage::Hello(hello)) => {
                let (scopes, sent_ms) = (around.scopes(self.key), around.now);
                let nonce = protocol::hex::Hex(around.world.dice.bytes());
                let id = self.client.identify(hello, nonce, self.is_proof_right);
                let (ask, is_broken) = (ClientMessage::Ping {}, false);
                let pending = Pending { id, ask, sent_ms, scopes, is_broken, request: None };
                self.pending.push_back(pending);
            }
            (None, ServerMessage::Event(event)) => {
                around.note(&format!("client {name} hears event {}.{}", event.job.0, event.seq));
                self.event(around, event);
            }
            (None, ServerMessage::Telemetry(_)) => around.world.count("reading"),
            (None, ServerMessage::Fault(fault)) => {
                around.note(&format!("client {name} hears fault {}", fault.code.key()));
                if fault.code == FaultCode::NotFound {
                    return self.dropped(around);
                }
                let is_right = fault.code == FaultCode::Storage && around.is_broken;
                if !is_right || self.told_broken {
                    // A malformed message may have no number.
                    if !self.may_be_closed {
                        around.blame(format!("client {name} hears {fault:?} for no reason"));
                    }
                } else {
                    self.told_broken = true;
                    around.world.count("told that the store broke");
                }
            }
            (None, ServerMessage::Bye(fault)) => {
                around.note(&format!("client {name} hears bye {}", fault.code.key()));
            }
            (Some(id), answer) => self.answered(around, id, answer),
            (None, other) => around.blame(format!("client {name} hears {other:?} unasked")),
        }
    }

    /// Follows no job any more that made room for others.
    fn dropped(&mut self, around: &mut Around<'_>) {
        let found = rows(around.db);
        let before = self.follows.len();
        self.follows.retain(|job, _| found.iter().any(|row| row.job == *job));
        if self.follows.len() == before || !around.world.ledger.drops_ended {
            around.blame(format!("client {} was told that a job was dropped", self.name));
        }
        around.world.count("dropped while it is followed");
    }

    fn event(&mut self, around: &mut Around<'_>, event: &protocol::job::NumberedEvent) {
        let (name, job) = (self.name, event.job.0);
        match self.follows.get_mut(&job) {
            None => around.blame(format!("client {name} does not follow job {job}")),
            Some(last) if event.seq != *last + 1 => {
                let last = *last;
                around.blame(format!("client {name} has event {job}.{last}, got {}", event.seq));
            }
            Some(last) => *last = event.seq,
        }
        if matches!(event.event, JobEvent::Ended { .. }) {
            self.follows.remove(&job);
        }
        let now_rows = rows(around.db);
        around.world.ledger.look(&now_rows, around.now, around.is_broken);
        around.world.ledger.heard(event);
    }

    fn answered(&mut self, around: &mut Around<'_>, id: u32, answer: &ServerMessage) {
        let name = self.name;
        let Some(pending) = self.pending.pop_front().filter(|pending| pending.id == id) else {
            return around.blame(format!("client {name} got an answer to {id} out of turn"));
        };
        around.note(&format!("client {name} hears {id}: {}", shown(answer)));
        if let ServerMessage::Identified(identified) = answer {
            return self.identified(around, &pending, &identified.scopes);
        }
        let Some(session) = self.session.clone() else {
            return around.blame(format!("client {name} got an answer before its proof"));
        };
        match &pending.scopes {
            None => around.blame(format!("client {name} got an answer after its key was revoked")),
            Some(scopes) if !self.granted.contains(scopes) => {
                around.blame(format!("client {name} got an answer after its scopes were changed"));
            }
            Some(_) => {}
        }
        if let ServerMessage::Fault(fault) = answer {
            return self.refused(around, &pending, fault, &session);
        }
        self.served += 1;
        let most = BURST + (around.now - self.since_ms) * u64::from(LIMITS.messages_per_s) / 1000;
        if self.served > most + 1 {
            around.blame(format!("client {name} got {} answers", self.served));
        }
        if needed(&pending.ask).is_some_and(|needed| !session.contains(&needed)) {
            around.blame(format!("client {name} used a scope that it lacks: {:?}", pending.ask));
        }
        self.granted_answer(around, &pending, answer);
    }

    fn identified(&mut self, around: &mut Around<'_>, pending: &Pending, told: &[Scope]) {
        let name = self.name;
        let now = around.scopes(self.key);
        if !self.is_proof_right || pending.scopes.is_none() {
            around.blame(format!("client {name} has a session without a key"));
        }
        let known = [&pending.scopes, &now].into_iter().flatten();
        self.granted = known.filter(|key| allowed(key, self.peer) == told).cloned().collect();
        if self.granted.is_empty() {
            around.blame(format!("client {name} has the scopes {told:?}, not {now:?}"));
        }
        if matches!(self.peer, Peer::Network(_)) {
            around.world.count("session over the network");
        }
        self.session = Some(told.to_vec());
        self.since_ms = around.now;
    }

    fn refused(
        &mut self,
        around: &mut Around<'_>,
        pending: &Pending,
        fault: &Fault,
        session: &[Scope],
    ) {
        let name = self.name;
        let lacks = needed(&pending.ask).is_some_and(|needed| !session.contains(&needed));
        let is_right = match fault.code {
            FaultCode::Forbidden => {
                around.world.count("refused scope");
                lacks
            }
            FaultCode::Rate if fault.message.contains("per second") => {
                around.world.count("too many messages");
                self.sent >= BURST
            }
            FaultCode::NotFound
            | FaultCode::Conflict
            | FaultCode::QueueFull
            | FaultCode::Storage
            | FaultCode::Unsupported
            | FaultCode::Rate => !lacks,
            FaultCode::BadInput => !lacks && matches!(pending.ask, ClientMessage::WatchEngine(_)),
            _ => false,
        };
        if !is_right {
            around.blame(format!("client {name} asked {:?} and got {fault:?}", pending.ask));
        }
    }

    fn granted_answer(
        &mut self,
        around: &mut Around<'_>,
        pending: &Pending,
        answer: &ServerMessage,
    ) {
        let name = self.name;
        match (&pending.ask, answer) {
            (
                ClientMessage::StartJob(_) | ClientMessage::ContinueJob(_),
                ServerMessage::Accepted(accepted),
            ) => {
                if pending.is_broken {
                    around.blame(format!("job {} accepted after a write failed", accepted.job.0));
                }
                let now_rows = rows(around.db);
                around.world.ledger.look(&now_rows, around.now, around.is_broken);
                let request = pending.request.expect("a start has one");
                around.world.ledger.accepted(request, accepted.job.0, accepted.fresh);
            }
            (ClientMessage::CancelJob { job }, ServerMessage::Ok) => {
                let now_rows = rows(around.db);
                around.world.ledger.look(&now_rows, around.now, around.is_broken);
                around.world.ledger.canceled(job.0, around.now);
            }
            (
                ClientMessage::SubscribeJob { job, after },
                ServerMessage::Snapshot { job: summary, after: from },
            ) => {
                let last = summary.last_seq;
                let expected = (*after).min(last);
                if *from != expected && !(around.world.ledger.drops_ended && *from > expected) {
                    around.blame(format!("job {} goes on after {from}, not {expected}", job.0));
                }
                if !(summary.state.is_final() && *from == last) {
                    self.follows.insert(job.0, *from);
                }
                self.listed(around, summary);
            }
            (ClientMessage::UnsubscribeJob { job }, ServerMessage::Ok) => {
                self.follows.remove(&job.0);
            }
            (ClientMessage::ListJobs { limit, before, .. }, ServerMessage::Jobs { jobs, .. }) => {
                let numbers: Vec<u64> = jobs.iter().map(|job| job.job.0).collect();
                let falls = numbers.windows(2).all(|two| two[0] > two[1]);
                let is_below = before.is_none_or(|end| numbers.iter().all(|job| *job < end.0));
                if !falls || !is_below || jobs.len() > *limit as usize {
                    around.blame(format!("client {name} got the list {numbers:?}"));
                }
                for job in jobs {
                    self.listed(around, job);
                }
            }
            (ClientMessage::RevokeKey {}, ServerMessage::Ok) => {
                around.world.count("key revoked by its session");
                if around.scopes(self.key).is_some() {
                    around.blame(format!("client {name} was told that its key is revoked"));
                }
            }
            (ClientMessage::Ping {}, ServerMessage::Pong)
            | (
                ClientMessage::SubscribeTelemetry { .. }
                | ClientMessage::UnsubscribeTelemetry {}
                | ClientMessage::UnwatchEngine {},
                ServerMessage::Ok,
            ) => {}
            (ask, answer) => around.blame(format!("client {name} asked {ask:?}, got {answer:?}")),
        }
    }

    fn listed(&self, around: &mut Around<'_>, told: &JobSummary) {
        let found = rows(around.db);
        let row = found.iter().find(|row| row.job == told.job.0);
        let is_right = match row {
            Some(row) => is_told_right(told.state, &row.state),
            None => around.world.ledger.drops_ended,
        };
        if !is_right {
            around.blame(format!("client {} was told {told:?}, not {row:?}", self.name));
        }
    }

    fn closed(&mut self, around: &mut Around<'_>, code: Option<u16>) {
        let name = self.name;
        around.note(&format!("client {name} is closed with {code:?}"));
        let key = around.scopes(self.key);
        let key_changed =
            key.is_none_or(|key| self.session.is_some() && !self.granted.contains(&key));
        let is_right = match code {
            Some(close::UNAUTHENTICATED | close::RATE) if self.session.is_none() => {
                around.world.count("refused proof");
                // One that slept may have let the time for its proof pass.
                let is_revoked = around.world.keys[self.key].is_revoked;
                !self.is_proof_right || is_revoked || self.may_be_closed
            }
            // The scopes may have been given back meanwhile.
            Some(close::SCOPES) => true,
            Some(close::FORBIDDEN) => key_changed,
            _ => self.may_be_closed || key_changed,
        };
        if !is_right {
            around.blame(format!("client {name} was closed with {code:?} for no reason"));
        }
        self.pending.clear();
        self.follows.clear();
    }
}
