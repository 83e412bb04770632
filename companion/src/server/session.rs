//! A session: answers what its client asks, and sends on its own what it subscribed to. It holds no queue: events are fetched by
//! number when the socket has room, so a slow client delays only itself, and none is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::Message;
use futures_util::StreamExt;
use protocol::client::{Ask, ClientMessage};
use protocol::close;
use protocol::fault::Fault;
use protocol::job::JobId;
use protocol::limits::LIMITS;
use protocol::scope::Scope;
use protocol::server::{Accepted, ServerMessage};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::handshake::{Session, Welcome};
use super::socket::{Close, Sink, Stream, say, send};
use super::{Daemon, audit};
use crate::audit::{Action, Entry};
use crate::reason::Reason;

/// Messages that a session may send at once before the sustained rate applies.
const BURST: f64 = 40.0;
/// Messages over that, after which the session ends.
const EXCESS: u32 = 100;
/// Messages that are none, after which the session ends.
const STRIKES: u32 = 8;
/// Jobs that one session follows.
const SUBSCRIPTIONS: usize = LIMITS.subscriptions as usize;
/// Lowest telemetry rate [Hz].
const SLOWEST_TELEMETRY_HZ: f64 = 0.2;
const PING: Duration = Duration::from_secs(15);
const DEAD: Duration = Duration::from_secs(45);
/// Events that are sent before the client is heard again.
const PAGE: u32 = 64;
const LIST: u32 = 500;

/// Runs a session to its end, and says why it ended.
pub(super) async fn run(
    daemon: &Arc<Daemon>,
    session: Session,
    welcome: Welcome,
    sink: &mut Sink,
    stream: &mut Stream,
) -> Close {
    let (id, welcome) = welcome;
    match say(sink, Some(id), welcome).await {
        Ok(()) => Running::new(daemon, session, sink).attend(stream).await,
        Err(close) => close,
    }
}

struct Running<'a> {
    daemon: &'a Arc<Daemon>,
    session: Session,
    sink: &'a mut Sink,
    jobs: BTreeMap<JobId, u64>,
    telemetry: Option<Interval>,
    bucket: Bucket,
    strikes: u32,
    told_broken: bool,
}

impl<'a> Running<'a> {
    fn new(daemon: &'a Arc<Daemon>, session: Session, sink: &'a mut Sink) -> Self {
        let (jobs, telemetry, bucket) = (BTreeMap::new(), None, Bucket::new());
        Self { daemon, session, sink, jobs, telemetry, bucket, strikes: 0, told_broken: false }
    }

    async fn attend(mut self, stream: &mut Stream) -> Close {
        let mut bell = self.daemon.journal.bell();
        let mut keys = self.daemon.keys.changes();
        let mut ending = self.daemon.ending.subscribe();
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        let mut more = false;
        loop {
            let done = tokio::select! {
                message = stream.next() => {
                    heard = Instant::now();
                    match message {
                        Some(Ok(message)) => {
                            more = true;
                            self.hear(message).await
                        }
                        Some(Err(error)) => Err(Close::of(error)),
                        None => Err(Close::Gone),
                    }
                }
                _ = bell.changed() => {
                    more = true;
                    self.tell_if_broken().await
                }
                () = std::future::ready(()), if more => self.send_events().await.map(|rest| more = rest),
                () = tick(&mut self.telemetry) => self.send_telemetry().await,
                _ = ping.tick() => {
                    if heard.elapsed() > DEAD {
                        return Close::Slow;
                    }
                    send(self.sink, Message::Ping(Bytes::new())).await
                }
                _ = keys.changed() => self.check_key(),
                () = ended(&mut ending) => Err(Close::saying(close::DRAINING, Reason::Draining)),
            };
            if let Err(close) = done {
                return close;
            }
        }
    }

    fn check_key(&self) -> Result<(), Close> {
        match self.daemon.keys.book().paired(self.session.key) {
            Some(_) => Ok(()),
            None => Err(Close::saying(close::FORBIDDEN, Reason::KeyRevoked)),
        }
    }

    async fn hear(&mut self, message: Message) -> Result<(), Close> {
        let allowed = self.bucket.take(Instant::now());
        if !allowed {
            if self.bucket.excess > EXCESS {
                return Err(Close::saying(close::RATE, Reason::Flood));
            }
            let Message::Text(text) = message else { return Ok(()) };
            let fault = Reason::TooFast.with(&[&LIMITS.messages_per_s]);
            self.note(Action::Session, &fault);
            return say(self.sink, id_of(&text), ServerMessage::Fault(fault)).await;
        }
        match message {
            Message::Text(text) => self.hear_text(&text).await,
            // The library answers pings by itself.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => Err(Close::Gone),
            Message::Binary(_) => Err(Close::saying(close::MALFORMED, Reason::NotText)),
        }
    }

    async fn hear_text(&mut self, text: &str) -> Result<(), Close> {
        let Ask { id, ask } = match serde_json::from_str(text) {
            Ok(ask) => ask,
            Err(error) => {
                self.strikes += 1;
                if self.strikes > STRIKES {
                    return Err(Close::saying(close::MALFORMED, Reason::Strikes));
                }
                let fault = Reason::NoMessage.with(&[&error]);
                self.note(Action::Session, &fault);
                return say(self.sink, id_of(text), ServerMessage::Fault(fault)).await;
            }
        };
        let action = match ask {
            ClientMessage::StartJob(_) => Action::StartJob,
            ClientMessage::CancelJob { .. } => Action::CancelJob,
            _ => Action::Session,
        };
        let answer = self.answer(ask).await.unwrap_or_else(|fault| {
            self.note(action, &fault);
            ServerMessage::Fault(fault)
        });
        say(self.sink, Some(id), answer).await
    }

    async fn answer(&mut self, ask: ClientMessage) -> Result<ServerMessage, Fault> {
        self.may(&ask)?;
        match ask {
            ClientMessage::Identify(_) | ClientMessage::Pair(_) => Err(Reason::Proved.fault()),
            ClientMessage::StartJob(start) => {
                let owner = self.session.key.to_string();
                let (who, log) = (self.session.who.clone(), self.daemon.log.clone());
                let logged = move |spec: &str| {
                    audit::write(&log, &Entry::done(who, Action::StartJob, spec), true)
                };
                let jobs = &self.daemon.jobs;
                let (job, fresh) = jobs.start(start.request, owner, &start.job, logged).await?;
                Ok(ServerMessage::Accepted(Accepted { job, fresh }))
            }
            ClientMessage::CancelJob { job } => {
                if self.daemon.jobs.cancel(job).await? {
                    let who = self.session.who.clone();
                    let entry = Entry::done(who, Action::CancelJob, &job.0.to_string());
                    let log = self.daemon.log.clone();
                    // What is canceled stays so, whether or not it could be written down.
                    let written =
                        tokio::task::spawn_blocking(move || audit::write(&log, &entry, true));
                    let _ = written.await;
                }
                Ok(ServerMessage::Ok)
            }
            ClientMessage::ListJobs { limit } => {
                let jobs = self.daemon.jobs.store().list(limit.min(LIST)).await?;
                Ok(ServerMessage::Jobs { jobs })
            }
            ClientMessage::SubscribeJob { job, after } => self.subscribe(job, after).await,
            ClientMessage::UnsubscribeJob { job } => {
                self.jobs.remove(&job);
                Ok(ServerMessage::Ok)
            }
            ClientMessage::SubscribeTelemetry { hz } => self.watch_sensors(hz),
            ClientMessage::UnsubscribeTelemetry {} => {
                self.telemetry = None;
                Ok(ServerMessage::Ok)
            }
            ClientMessage::Ping {} => Ok(ServerMessage::Pong),
        }
    }

    /// Counts a refusal for the audit log.
    fn note(&self, action: Action, fault: &Fault) {
        self.daemon.note_refusal(|| self.session.who.clone(), action, fault.code.key());
    }

    /// The scope that a message needs. Every message has its line here.
    fn may(&self, ask: &ClientMessage) -> Result<(), Fault> {
        let needed = match ask {
            ClientMessage::StartJob(_) | ClientMessage::CancelJob { .. } => Scope::Bench,
            ClientMessage::ListJobs { .. }
            | ClientMessage::SubscribeJob { .. }
            | ClientMessage::UnsubscribeJob { .. }
            | ClientMessage::SubscribeTelemetry { .. }
            | ClientMessage::UnsubscribeTelemetry {} => Scope::Read,
            ClientMessage::Identify(_) | ClientMessage::Pair(_) | ClientMessage::Ping {} => {
                return Ok(());
            }
        };
        if self.session.scopes.contains(&needed) {
            return Ok(());
        }
        Err(Reason::ScopeLacking.with(&[&needed.key()]))
    }

    async fn subscribe(&mut self, job: JobId, after: u64) -> Result<ServerMessage, Fault> {
        if self.jobs.len() >= SUBSCRIPTIONS && !self.jobs.contains_key(&job) {
            return Err(Reason::SubscriptionsFull.with(&[&SUBSCRIPTIONS]));
        }
        let store = self.daemon.jobs.store();
        let summary = store.get(job).await?.ok_or_else(|| Reason::NoJob.with(&[&job.0]))?;
        // Older events may be dropped; a number from another daemon's life may lie in the future.
        let after = after.min(summary.last_seq);
        let first = store.events(job, after, 1).await?.first().map(|event| event.seq);
        let after = first.map_or(after, |first| first - 1);
        // A job that has ended has nothing to add to what the client knows.
        if !(summary.state.is_final() && after == summary.last_seq) {
            self.jobs.insert(job, after);
        }
        Ok(ServerMessage::Snapshot { job: summary, after })
    }

    fn watch_sensors(&mut self, hz: f64) -> Result<ServerMessage, Fault> {
        let (low, high) = (SLOWEST_TELEMETRY_HZ, LIMITS.telemetry_hz);
        if !(low..=high).contains(&hz) {
            return Err(Reason::OutOfRange.with(&[&"hz", &hz, &low, &high]));
        }
        let mut every = interval(Duration::from_secs_f64(1.0 / hz));
        // A client that was slow gets the latest reading, not all that it missed.
        every.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.telemetry = Some(every);
        Ok(ServerMessage::Ok)
    }

    async fn send_telemetry(&mut self) -> Result<(), Close> {
        let telemetry = self.daemon.sensors.read();
        say(self.sink, None, ServerMessage::Telemetry(telemetry)).await
    }

    /// Sends the next events of every job; true if there may be more.
    async fn send_events(&mut self) -> Result<bool, Close> {
        let (mut more, mut over) = (false, Vec::new());
        for (job, seen) in &mut self.jobs {
            let lines = match self.daemon.journal.after(*job, *seen, PAGE as usize) {
                Some(lines) => lines,
                None => stored(self.daemon, *job, *seen).await?,
            };
            more |= lines.len() == PAGE as usize;
            for line in lines {
                debug_assert_eq!(line.seq, *seen + 1, "numbers follow each other");
                *seen = line.seq;
                send(self.sink, Message::Text(line.text)).await?;
                if line.is_last {
                    over.push(*job);
                }
            }
        }
        self.jobs.retain(|job, _| !over.contains(job));
        Ok(more)
    }

    async fn tell_if_broken(&mut self) -> Result<(), Close> {
        if self.told_broken || !self.daemon.jobs.store().is_broken() {
            return Ok(());
        }
        self.told_broken = true;
        say(self.sink, None, ServerMessage::Fault(Reason::StoreBroke.fault())).await
    }
}

async fn stored(daemon: &Daemon, job: JobId, after: u64) -> Result<Vec<crate::jobs::Line>, Close> {
    let events = daemon.jobs.store().events(job, after, PAGE).await;
    let events = events.map_err(|fault| Close::Say(close::DRAINING, fault))?;
    Ok(events.iter().map(crate::jobs::line).collect())
}

/// Waits until the daemon ends. What is watched is locked while it is looked at, so it is let go at once.
async fn ended(ending: &mut tokio::sync::watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}

/// The next tick, or never.
async fn tick(every: &mut Option<Interval>) {
    match every {
        Some(every) => {
            every.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// The number of a message that could not be read whole.
fn id_of(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        id: u32,
    }
    serde_json::from_str::<Numbered>(text).ok().map(|numbered| numbered.id)
}

/// How much a client may say.
struct Bucket {
    tokens: f64,
    last: Instant,
    excess: u32,
}

impl Bucket {
    fn new() -> Self {
        Self { tokens: BURST, last: Instant::now(), excess: 0 }
    }

    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.last).as_secs_f64();
        self.tokens = (self.tokens + passed * f64::from(LIMITS.messages_per_s)).min(BURST);
        self.last = now;
        if self.tokens < 1.0 {
            self.excess += 1;
            return false;
        }
        self.tokens -= 1.0;
        // A client that keeps to the limit is forgiven over time.
        if self.tokens > BURST / 2.0 {
            self.excess = 0;
        }
        true
    }
}
