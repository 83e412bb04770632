//! A session: answers the client's messages and sends its subscriptions. It has no queue: events are fetched by
//! number when the socket has room, so a slow client delays only itself, and no event is lost.
//!
//! This file is longer than 400 lines because it answers every message of a session.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::Message;
use futures_util::StreamExt;
use protocol::client::{Ask, ClientMessage, ContinueJob};
use protocol::close;
use protocol::fault::Fault;
use protocol::job::JobId;
use protocol::limits::LIMITS;
use protocol::scope::Scope;
use protocol::server::{Accepted, ServerMessage};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use super::daemon::Daemon;
use super::engine::{self, EngineWatch};
use super::fair::Place;
use super::handshake::{Session, Welcome, use_key};
use super::socket::{Close, Sink, Stream, say, send};
use crate::audit::Action;
use crate::jobs::{Listed, Wanted};
use crate::keys::{KeyFileError, KeyId};
use crate::reason::Reason;
use crate::verbs::attach::is_allowed;

/// Messages that a session may send at once before the sustained rate applies.
const BURST: f64 = 40.0;
/// Messages above the rate after which the session ends.
const EXCESS: u32 = 100;
/// Malformed messages after which the session ends.
const STRIKES: u32 = 8;
/// Largest number of subscriptions.
const SUBSCRIPTIONS: usize = LIMITS.subscriptions as usize;
/// Lowest telemetry rate [Hz].
const SLOWEST_TELEMETRY_HZ: f64 = 0.2;
const PING: Duration = Duration::from_secs(15);
const DEAD: Duration = Duration::from_secs(45);
/// Events that are sent before the next message is read.
const PAGE: u32 = 64;
const LIST: u32 = 500;

/// Runs a session to its end, and returns the reason. A session whose client does not read ends as soon as any other.
pub(super) async fn run(
    daemon: &Arc<Daemon>,
    session: Session,
    welcome: Welcome,
    place: &Place<KeyId>,
    sink: &mut Sink,
    stream: &mut Stream,
) -> Close {
    let (key, granted, (id, welcome)) = (session.key, session.granted.clone(), welcome);
    let revokes = AtomicBool::new(false);
    let talk = async {
        match say(sink, Some(id), welcome).await {
            Ok(()) => Running::new(daemon, session, place, sink, &revokes).attend(stream).await,
            Err(close) => close,
        }
    };
    let mut ending = daemon.ending.subscribe();
    tokio::select! {
        // The end of a session comes before its next message.
        biased;
        close = key_changed(daemon, key, &granted, &revokes) => close,
        () = place.to_leave() => Close::saying(close::RATE, Reason::SessionsFull),
        () = ended(&mut ending) => Close::saying(close::DRAINING, Reason::Draining),
        close = talk => close,
    }
}

/// Waits until the key is no longer there, or has other scopes than when the session began. The next session proves the key again and has
/// the new ones; every page reconnects by itself. A session that revokes its own key ends itself, after its answer.
async fn key_changed(
    daemon: &Daemon,
    key: KeyId,
    granted: &[Scope],
    revokes: &AtomicBool,
) -> Close {
    let mut changes = daemon.keys.changes();
    loop {
        match daemon.keys.book().paired(key) {
            None if revokes.load(Ordering::Relaxed) => {}
            None => return Close::saying(close::FORBIDDEN, Reason::KeyRevoked),
            Some(known) if known.scopes != granted => {
                return Close::saying(close::SCOPES, Reason::ScopesChanged);
            }
            Some(_) => {}
        }
        if changes.changed().await.is_err() {
            return Close::saying(close::DRAINING, Reason::Draining);
        }
    }
}

struct Running<'a> {
    daemon: &'a Arc<Daemon>,
    session: Session,
    place: &'a Place<KeyId>,
    sink: &'a mut Sink,
    jobs: BTreeMap<JobId, u64>,
    telemetry: Option<Interval>,
    engine: Option<EngineWatch>,
    bucket: Bucket,
    strikes: u32,
    told_broken: bool,
    /// True while and after the session revokes its own key.
    revokes: &'a AtomicBool,
}

impl<'a> Running<'a> {
    fn new(
        daemon: &'a Arc<Daemon>,
        session: Session,
        place: &'a Place<KeyId>,
        sink: &'a mut Sink,
        revokes: &'a AtomicBool,
    ) -> Self {
        Self {
            daemon,
            session,
            place,
            sink,
            jobs: BTreeMap::new(),
            telemetry: None,
            engine: None,
            bucket: Bucket::new(),
            strikes: 0,
            told_broken: false,
            revokes,
        }
    }

    async fn attend(mut self, stream: &mut Stream) -> Close {
        let mut changes = self.daemon.journal.changes();
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_message = Instant::now();
        let (mut more, mut owes_events) = (false, false);
        loop {
            let done = tokio::select! {
                // Messages come first, and their rate is limited; readings and pages of events take turns.
                biased;
                message = stream.next() => {
                    last_message = Instant::now();
                    self.place.touch();
                    match message {
                        Some(Ok(message)) => {
                            more = true;
                            self.handle(message).await
                        }
                        Some(Err(error)) => Err(Close::of(error)),
                        None => Err(Close::Gone),
                    }
                }
                _ = ping.tick() => {
                    if last_message.elapsed() > DEAD {
                        return Close::Slow;
                    }
                    use_key(self.daemon, self.session.key);
                    send(self.sink, Message::Ping(Bytes::new())).await
                }
                _ = changes.changed() => {
                    more = true;
                    self.tell_if_broken().await
                }
                // One every two seconds.
                report = engine::next(&mut self.engine) => {
                    if matches!(report, ServerMessage::EngineEnded { .. }) {
                        self.engine = None;
                    }
                    say(self.sink, None, report).await
                }
                () = tick(&mut self.telemetry), if !(more && owes_events) => {
                    owes_events = true;
                    self.send_telemetry().await
                }
                () = std::future::ready(()), if more => {
                    owes_events = false;
                    self.send_events().await.map(|rest| more = rest)
                }
            };
            if let Err(close) = done {
                return close;
            }
        }
    }

    async fn handle(&mut self, message: Message) -> Result<(), Close> {
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
            // The library answers pings.
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
            ClientMessage::StartJob(_) | ClientMessage::ContinueJob(_) => Action::StartJob,
            ClientMessage::CancelJob { .. } => Action::CancelJob,
            ClientMessage::WatchEngine(_) => Action::WatchEngine,
            ClientMessage::RevokeKey {} => Action::RevokeKeys,
            _ => Action::Session,
        };
        let answer = self.answer(ask).await.unwrap_or_else(|fault| {
            self.note(action, &fault);
            ServerMessage::Fault(fault)
        });
        say(self.sink, Some(id), answer).await?;
        if self.revokes.load(Ordering::Relaxed) {
            return Err(Close::saying(close::FORBIDDEN, Reason::KeyRevoked));
        }
        Ok(())
    }

    async fn answer(&mut self, ask: ClientMessage) -> Result<ServerMessage, Fault> {
        self.may(&ask)?;
        match ask {
            ClientMessage::Identify(_) | ClientMessage::Pair(_) => Err(Reason::Proved.fault()),
            ClientMessage::StartJob(start) => {
                let (owner, jobs) = (self.session.key.to_string(), &self.daemon.jobs);
                let logged = self.logged_start();
                let (job, fresh) = jobs.start(start.request, owner, &start.job, logged).await?;
                Ok(ServerMessage::Accepted(Accepted { job, fresh }))
            }
            ClientMessage::ContinueJob(ContinueJob { request, job }) => {
                let (owner, jobs) = (self.session.key.to_string(), &self.daemon.jobs);
                let (job, fresh) =
                    jobs.start_rest(request, owner, job, self.logged_start()).await?;
                Ok(ServerMessage::Accepted(Accepted { job, fresh }))
            }
            ClientMessage::CancelJob { job } => {
                if self.daemon.jobs.cancel(job).await? {
                    let (who, daemon) = (self.session.who.clone(), Arc::clone(self.daemon));
                    // The job stays canceled even if the audit log cannot be written.
                    let write =
                        move || daemon.write_action(&who, Action::CancelJob, &job.0.to_string());
                    let _ = tokio::task::spawn_blocking(write).await;
                }
                Ok(ServerMessage::Ok)
            }
            ClientMessage::ListJobs { limit, before, later } => {
                let wanted = Wanted { limit: limit.min(LIST), before, later };
                let listed = self.daemon.jobs.store().list(wanted).await?;
                let Listed { jobs, more, passed_over } = listed;
                let passed_over = u32::try_from(passed_over.len()).unwrap_or(u32::MAX);
                Ok(ServerMessage::Jobs { jobs, more, passed_over })
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
            ClientMessage::WatchEngine(order) => {
                is_allowed(&order).map_err(|why| Reason::EngineRefused.with(&[&why]))?;
                // The place of the one that it replaces.
                self.engine = None;
                let (who, daemon) = (self.session.who.clone(), Arc::clone(self.daemon));
                let url = order.url.clone();
                let write = move || daemon.write_action(&who, Action::WatchEngine, &url);
                if !tokio::task::spawn_blocking(write).await.unwrap_or(false) {
                    return Err(Reason::Unlogged.fault());
                }
                let places = &self.daemon.engines;
                self.engine = Some(EngineWatch::start(places, self.session.key, &order).await?);
                Ok(ServerMessage::Ok)
            }
            ClientMessage::UnwatchEngine {} => {
                self.engine = None;
                Ok(ServerMessage::Ok)
            }
            ClientMessage::RevokeKey {} => {
                let (who, daemon) = (self.session.who.clone(), Arc::clone(self.daemon));
                let key = self.session.key;
                self.revokes.store(true, Ordering::Relaxed);
                let revoke = move || {
                    daemon.keys.change(|book| book.keys.retain(|known| known.id != key))?;
                    // It stays revoked even if the audit log cannot be written.
                    daemon.write_action(&who, Action::RevokeKeys, &key.to_string());
                    Ok::<_, KeyFileError>(())
                };
                match tokio::task::spawn_blocking(revoke).await {
                    Ok(Ok(())) => Ok(ServerMessage::Ok),
                    failed => {
                        self.revokes.store(false, Ordering::Relaxed);
                        eprintln!("a page could not revoke its key {key}: {failed:?}");
                        Err(Reason::KeyStays.fault())
                    }
                }
            }
            ClientMessage::Ping {} => Ok(ServerMessage::Pong),
        }
    }

    /// Writes the start of a job, given its order, to the audit log; returns whether that succeeded.
    fn logged_start(&self) -> impl FnOnce(&str) -> bool + Send + use<> {
        let (who, daemon) = (self.session.who.clone(), Arc::clone(self.daemon));
        move |spec| daemon.write_action(&who, Action::StartJob, spec)
    }

    /// Counts a refusal for the audit log.
    fn note(&self, action: Action, fault: &Fault) {
        self.daemon.note_refusal(|| self.session.who.clone(), action, fault.code.key());
    }

    /// Refuses a message that needs another scope.
    fn may(&self, ask: &ClientMessage) -> Result<(), Fault> {
        let Some(needed) = needed(ask) else { return Ok(()) };
        if self.session.scopes.contains(&needed) {
            return Ok(());
        }
        Err(match self.daemon.restriction.off(needed) {
            Some(start) => Reason::ScopeOff.with(&[&needed.key(), &start]),
            None => Reason::ScopeLacking.with(&[&needed.key(), &self.session.key, &needed.key()]),
        })
    }

    async fn subscribe(&mut self, job: JobId, after: u64) -> Result<ServerMessage, Fault> {
        if self.jobs.len() >= SUBSCRIPTIONS && !self.jobs.contains_key(&job) {
            return Err(Reason::SubscriptionsFull.with(&[&SUBSCRIPTIONS]));
        }
        let store = self.daemon.jobs.store();
        let summary = store.get(job).await?.ok_or_else(|| Reason::NoJob.with(&[&job.0]))?;
        // Older events may be dropped; a number from another state folder may be too large.
        let after = after.min(summary.last_seq);
        let first = store.events(job, after, 1).await?.first().map(|event| event.seq);
        let after = first.map_or(after, |first| first - 1);
        // An ended job whose last event the client has sends nothing more.
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
        // A slow client gets the latest reading, not all missed ones.
        every.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.telemetry = Some(every);
        Ok(ServerMessage::Ok)
    }

    async fn send_telemetry(&mut self) -> Result<(), Close> {
        let telemetry = self.daemon.sensors.latest().await.told();
        say(self.sink, None, ServerMessage::Telemetry(telemetry)).await
    }

    /// Sends the next events of every subscribed job; true if there may be more.
    async fn send_events(&mut self) -> Result<bool, Close> {
        let (mut more, mut over) = (false, Vec::new());
        for (job, seen) in &mut self.jobs {
            let latest = self.daemon.journal.after(*job, *seen, PAGE as usize);
            // A page of the store is limited by bytes too, so any may be followed by more.
            let is_stored = latest.is_none();
            let lines = match latest {
                Some(lines) => lines,
                None => stored(self.daemon, *job, *seen).await?,
            };
            if lines.is_empty() && is_stored && is_dropped(self.daemon, *job).await? {
                let dropped = Reason::JobDropped.with(&[&job.0]);
                say(self.sink, None, ServerMessage::Fault(dropped)).await?;
                over.push(*job);
            }
            more |= lines.len() >= if is_stored { 1 } else { PAGE as usize };
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

/// The scope that a session needs for a message; `None` for those of everybody. A job that can be continued is a benchmark.
const fn needed(ask: &ClientMessage) -> Option<Scope> {
    match ask {
        ClientMessage::StartJob(start) => Some(start.job.scope()),
        ClientMessage::ContinueJob(_)
        | ClientMessage::CancelJob { .. }
        | ClientMessage::WatchEngine(_) => Some(Scope::Bench),
        ClientMessage::ListJobs { .. }
        | ClientMessage::SubscribeJob { .. }
        | ClientMessage::UnsubscribeJob { .. }
        | ClientMessage::SubscribeTelemetry { .. }
        | ClientMessage::UnsubscribeTelemetry {}
        | ClientMessage::UnwatchEngine {} => Some(Scope::Read),
        // Everybody may give a right back.
        ClientMessage::Identify(_)
        | ClientMessage::Pair(_)
        | ClientMessage::RevokeKey {}
        | ClientMessage::Ping {} => None,
    }
}

async fn stored(
    daemon: &Daemon,
    job: JobId,
    after: u64,
) -> Result<Vec<crate::jobs::EventText>, Close> {
    let events = daemon.jobs.store().events(job, after, PAGE).await;
    let events = events.map_err(|fault| Close::Say(close::DRAINING, fault))?;
    Ok(events.iter().map(crate::jobs::serialize).collect())
}

/// Whether a job that a session follows gave way to later ones.
async fn is_dropped(daemon: &Daemon, job: JobId) -> Result<bool, Close> {
    let found = daemon.jobs.store().get(job).await;
    found.map(|it| it.is_none()).map_err(|fault| Close::Say(close::DRAINING, fault))
}

/// Waits until the daemon ends. The guard of the watched value is a lock, so it is dropped at once.
async fn ended(ending: &mut tokio::sync::watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}

/// Waits for the next tick; without an interval, for ever.
async fn tick(every: &mut Option<Interval>) {
    match every {
        Some(every) => {
            every.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// The number of a malformed message, if it can be read.
fn id_of(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        id: u32,
    }
    serde_json::from_str::<Numbered>(text).ok().map(|numbered| numbered.id)
}

/// Token bucket: the rate of a client's messages.
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
        // The excess is forgotten once the bucket is half full.
        if self.tokens > BURST / 2.0 {
            self.excess = 0;
        }
        true
    }
}
