//! The page's model of one daemon: connection, jobs, telemetry, and the requests to send. Requests without an answer are sent
//! again after a reconnect with the same request id, so that nothing runs twice.
//!
//! This file is longer than 400 lines because it answers every message of a daemon.

use protocol::client::{Ask, ClientMessage, ContinueJob, StartJob};
use protocol::close;
use protocol::engine::WatchEngine;
use protocol::fault::FaultCode;
use protocol::hex::Hex;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, JobSummary, RequestId};
use protocol::limits::LIMITS;
use protocol::server::ServerMessage;
use protocol::telemetry::Telemetry;

use super::connection::{Action, Connection, Event, State, TOO_LARGE};
use super::engine::WatchedEngine;
use super::jobs::{EventOutcome, Job, JobList, ResultUse};
use super::session::DaemonSession;
use forgetting::Forgetting;

mod forgetting;

/// Telemetry rate, in readings per second.
const HZ: f64 = 1.0;
/// Number of jobs to list.
const HISTORY: u32 = 50;

/// A job start that the daemon has not confirmed yet.
#[derive(Debug, Clone, PartialEq)]
struct Start {
    id: Option<u32>,
    order: StartJob,
    /// Number of the batch that it was ordered in.
    batch: u32,
    /// The batch was canceled before the daemon confirmed this one.
    is_canceled: bool,
    /// The ended job that it continues.
    continues: Option<JobId>,
}

impl Start {
    fn message(&self) -> ClientMessage {
        let StartJob { request, .. } = self.order;
        match self.continues {
            Some(job) => ClientMessage::ContinueJob(ContinueJob { request, job }),
            None => ClientMessage::StartJob(self.order.clone()),
        }
    }
}

/// A daemon as this page knows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Client {
    pub connection: Connection,
    pub jobs: JobList,
    pub telemetry: Option<Telemetry>,
    /// Reason of the last refused request; empty after the next request.
    pub refusal: String,
    /// The inference server that the daemon reads for this page.
    pub engine: WatchedEngine,
    /// The job whose results are shown.
    pub shown: Option<JobId>,
    /// It is shown because it was the latest, and another one takes its place if it turns out to have no results.
    is_latest: bool,
    forgetting: Option<Forgetting>,
    /// The daemon has told its jobs.
    pub has_jobs: bool,
    /// Jobs that the daemon stores and cannot read.
    pub passed_over: u32,
    /// Jobs that it has listed in this session.
    listed: u32,
    /// Its machine was selected as the device, or was the device already: that is done once, so that the reader can go back.
    pub is_selected: bool,
    /// The job whose roofs select it.
    pub roofs: Option<JobId>,
    last_id: u32,
    last_batch: u32,
    starts: Vec<Start>,
    server: Option<Hex<16>>,
}

impl Client {
    /// Whether a session is established.
    pub const fn is_connected(&self) -> bool {
        matches!(self.connection.state, State::Connected(_))
    }

    /// The established session.
    pub const fn session(&self) -> Option<&DaemonSession> {
        match &self.connection.state {
            State::Connected(session) => Some(session),
            _ => None,
        }
    }

    /// The job whose results are shown.
    pub fn shown(&self) -> Option<&Job> {
        self.jobs.job(self.shown?)
    }

    /// The oldest job that is queued or running.
    pub fn running(&self) -> Option<&Job> {
        self.jobs.all().iter().rev().find(|job| job.is_open())
    }

    /// Handles an event of the connection and returns the actions to take.
    pub fn on(&mut self, event: Event) -> Vec<Action> {
        if let Event::Closed { code, .. } = event
            && let Some(forgetting) = self.forgetting
        {
            let is_revoked = code == close::FORBIDDEN;
            let why = "the connection ended before it answered";
            return self.forgotten(if is_revoked { String::new() } else { forgetting.stays(why) });
        }
        if matches!(event, Event::Closed { .. } | Event::Disconnect) {
            self.jobs.lost();
            self.telemetry = None;
            self.engine.lost();
            if matches!(event, Event::Closed { code: TOO_LARGE, .. }) {
                // Asked again, it would close the next socket, too.
                self.starts.clear();
            }
        }
        let actions = self.connection.on(event);
        self.resumed(actions)
    }

    fn resumed(&mut self, actions: Vec<Action>) -> Vec<Action> {
        let mut all = Vec::new();
        for one in actions {
            if one == Action::Resume {
                self.reset_for_other_daemon();
                (self.passed_over, self.listed) = (0, 0);
                all.push(Action::Send(ClientMessage::SubscribeTelemetry { hz: HZ }));
                all.push(self.list(HISTORY, None));
                all.extend(self.starts.iter().map(|it| Action::Send(it.message())));
                all.extend(self.follow());
            } else {
                all.push(one);
            }
        }
        all
    }

    /// Clears the state if this is another daemon, because its jobs differ.
    fn reset_for_other_daemon(&mut self) {
        let server = self.connection.server;
        if self.server.is_some() && self.server != server {
            *self = Self { connection: core::mem::take(&mut self.connection), ..Self::default() };
        }
        self.server = server;
    }

    /// Asks for jobs, those of later versions included where the daemon knows that they may be left out.
    fn list(&self, limit: u32, before: Option<JobId>) -> Action {
        let can = self.session().and_then(|session| session.can.as_deref());
        let later = can.is_some_and(|can| can.lists_later);
        Action::Send(ClientMessage::ListJobs { limit, before, later })
    }

    fn follow(&mut self) -> Vec<Action> {
        let ask = |(job, after)| Action::Send(ClientMessage::SubscribeJob { job, after });
        // Half of the session's limit, so that a second list of jobs has room.
        let limit = self.session().map_or(LIMITS.subscriptions, |it| it.limits.subscriptions);
        let most = limit.div_ceil(2) as usize;
        self.jobs.follow(self.shown, most).into_iter().map(ask).collect()
    }

    /// Handles a message of the daemon; `id` is the number of the request that it answers.
    pub fn receive(&mut self, id: Option<u32>, message: ServerMessage) -> Vec<Action> {
        match message {
            ServerMessage::Hello(_)
            | ServerMessage::Identified(_)
            | ServerMessage::Paired(_)
            | ServerMessage::Bye(_) => self.on(Event::Received(message)),
            _ if !self.is_connected() => Vec::new(),
            ServerMessage::Accepted(accepted) => self.accepted(id, accepted.job),
            ServerMessage::Jobs { jobs, more, passed_over } => {
                self.passed_over = self.passed_over.saturating_add(passed_over);
                self.listed(jobs, more)
            }
            ServerMessage::Snapshot { job, after } => {
                self.jobs.snapshot(job, after);
                self.skip_empty()
            }
            ServerMessage::Event(event) => {
                let job = event.job;
                let is_started = matches!(event.event, JobEvent::Started { .. });
                match self.jobs.event(event) {
                    EventOutcome::Gap(after) => {
                        vec![Action::Send(ClientMessage::SubscribeJob { job, after })]
                    }
                    EventOutcome::Applied => {
                        if is_started {
                            self.show_next(job);
                        }
                        let mut actions = Vec::new();
                        if is_started && self.is_elsewhere(job) {
                            actions.extend(self.use_another(job));
                        }
                        actions.extend(self.unsubscribe_ended(job));
                        actions.extend(self.skip_empty());
                        actions
                    }
                    EventOutcome::Ignored => Vec::new(),
                }
            }
            ServerMessage::Telemetry(telemetry) => {
                self.telemetry = Some(telemetry);
                Vec::new()
            }
            ServerMessage::Ok if self.engine.asked(id) => {
                self.engine.is_begun = true;
                Vec::new()
            }
            ServerMessage::Engine(report) => {
                self.engine.told(report);
                Vec::new()
            }
            ServerMessage::EngineEnded { why } => {
                self.engine.ended(why);
                Vec::new()
            }
            ServerMessage::Ok if self.is_forgetting(id) => self.forgotten(String::new()),
            ServerMessage::Fault(fault) if self.is_forgetting(id) => {
                let why = match fault.code {
                    // An older daemon does not know the message.
                    FaultCode::Malformed => "it is older than this page".to_owned(),
                    _ => fault.message,
                };
                let said = self.forgetting.map_or_else(String::new, |it| it.stays(&why));
                self.forgotten(said)
            }
            ServerMessage::Fault(fault) if self.engine.asked(id) => {
                self.engine.ended(fault.message);
                Vec::new()
            }
            ServerMessage::Fault(fault) => {
                self.starts.retain(|it| it.id.is_none() || it.id != id);
                self.refusal = fault.message;
                Vec::new()
            }
            ServerMessage::Ok | ServerMessage::Pong | ServerMessage::Unknown => Vec::new(),
        }
    }

    fn listed(&mut self, jobs: Vec<JobSummary>, more: bool) -> Vec<Action> {
        let last = jobs.last().map(|job| job.job).filter(|_| more);
        self.listed = self.listed.saturating_add(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
        self.jobs.listed(jobs);
        if !self.has_jobs {
            self.offer_measured();
        }
        self.has_jobs = true;
        if self.shown.is_none() {
            let latest = self.jobs.all().first();
            self.is_latest = latest.is_some_and(|job| !job.is_open());
            self.shown = latest.map(|job| job.summary.job);
        }
        let mut actions = self.follow();
        let left = HISTORY.saturating_sub(self.listed);
        match last.filter(|_| left > 0) {
            Some(before) => actions.push(self.list(left, Some(before))),
            None => self.connection.is_sound(),
        }
        actions
    }

    /// Has the newest measurements of each device of the machine become a choice of device.
    fn offer_measured(&mut self) {
        let Some(session) = self.session() else { return };
        let newest = |id: String| self.jobs.newest_roofs(&id);
        let found: Vec<JobId> = session.device_ids().into_iter().filter_map(newest).collect();
        for job in found {
            self.jobs.awaits(job, ResultUse::Offered);
        }
    }

    /// Whether a job, whose result is to be used by itself, ran on a device that had another name.
    fn is_elsewhere(&self, id: JobId) -> bool {
        let (Some(session), Some(job)) = (self.session(), self.jobs.job(id)) else { return false };
        let is_automatic = job.result_use == ResultUse::Offered || self.roofs == Some(id);
        let asked = job.device();
        let now = session.devices.iter().find(|device| device.id() == asked);
        let is_other = |now: &str| !now.is_empty() && !job.ran_on.is_empty() && now != job.ran_on;
        is_automatic && now.is_some_and(|device| is_other(&device.name))
    }

    /// Uses another job than one whose device is gone: that of an older job, or none.
    fn use_another(&mut self, gone: JobId) -> Vec<Action> {
        self.jobs.elsewhere(gone);
        if self.roofs == Some(gone) {
            (self.is_selected, self.roofs) = (false, None);
        }
        self.offer_measured();
        self.follow()
    }

    /// Shows the latest job that may have results, if the one that is shown was only the latest and has none, as one that a killed daemon
    /// left behind.
    fn skip_empty(&mut self) -> Vec<Action> {
        if !self.is_latest || !self.shown().is_some_and(Job::is_empty) {
            return Vec::new();
        }
        let mut all = self.jobs.all().iter();
        let Some(next) = all.find(|job| !job.is_empty()) else { return Vec::new() };
        self.shown = Some(next.summary.job);
        self.is_latest = !next.is_open();
        self.follow()
    }

    /// Unsubscribes from a job that has ended and whose events were all received.
    fn unsubscribe_ended(&mut self, job: JobId) -> Vec<Action> {
        let has_more = |known: &Job| {
            known.is_open() || !known.is_followed || known.seq < known.summary.last_seq
        };
        if self.jobs.job(job).is_none_or(has_more) {
            return Vec::new();
        }
        self.jobs.left(job);
        let mut actions = vec![Action::Send(ClientMessage::UnsubscribeJob { job })];
        // Another job has its place.
        actions.extend(self.follow());
        actions
    }

    fn accepted(&mut self, id: Option<u32>, job: JobId) -> Vec<Action> {
        let Some(place) = self.starts.iter().position(|it| it.id == id && id.is_some()) else {
            return Vec::new();
        };
        let Start { order: StartJob { request, job: spec }, batch, is_canceled, .. } =
            self.starts.remove(place);
        let state = JobState::Queued;
        let spec = spec.into();
        let summary = JobSummary { job, request, spec, state, created_ms: 0, last_seq: 0 };
        self.jobs.accepted(summary, batch);
        self.show_next(job);
        let mut actions = self.follow();
        if is_canceled {
            actions.push(Action::Send(ClientMessage::CancelJob { job }));
        }
        actions
    }

    /// Shows a job of this page, unless the one that is shown still runs: its points come before those of a job that waits.
    fn show_next(&mut self, job: JobId) {
        let is_ours = self.jobs.job(job).is_some_and(|it| it.batch > 0);
        if is_ours && !self.shown().is_some_and(Job::is_open) {
            self.is_latest = false;
            self.shown = Some(job);
        }
    }

    /// Starts the jobs of an order, each exactly once, even if the connection is lost meanwhile.
    pub fn start(&mut self, jobs: Vec<(RequestId, JobSpec)>) -> Vec<Action> {
        self.ask_start(jobs.into_iter().map(|(request, job)| (StartJob { request, job }, None)))
    }

    /// The canceled and interrupted jobs of which "Continue" measures the rest: this one, and those that were ordered with it.
    pub fn cut_with(&self, ended: JobId) -> Vec<JobId> {
        if self.jobs.job(ended).is_some_and(Job::can_continue) {
            let cut = self.jobs.ordered_with(ended).filter(|job| job.can_continue());
            cut.map(|job| job.summary.job).collect()
        } else {
            Vec::new()
        }
    }

    /// Starts jobs, each exactly once, that measure what canceled or interrupted ones did not.
    pub fn start_rest(&mut self, rests: Vec<(RequestId, JobId)>) -> Vec<Action> {
        let order = |(request, ended)| {
            let spec =
                self.jobs.job(ended).filter(|job| job.can_continue())?.summary.spec.known()?;
            Some((StartJob { request, job: spec.clone() }, Some(ended)))
        };
        let orders: Vec<(StartJob, Option<JobId>)> = rests.into_iter().filter_map(order).collect();
        self.ask_start(orders.into_iter())
    }

    fn ask_start(
        &mut self,
        orders: impl Iterator<Item = (StartJob, Option<JobId>)>,
    ) -> Vec<Action> {
        self.refusal.clear();
        self.last_batch += 1;
        let mut messages = Vec::new();
        for (order, continues) in orders {
            let start =
                Start { id: None, order, batch: self.last_batch, is_canceled: false, continues };
            messages.push(Action::Send(start.message()));
            self.starts.push(start);
        }
        if self.is_connected() { messages } else { Vec::new() }
    }

    /// Whether a job start is not confirmed yet.
    pub const fn is_starting(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Cancels a job, and those that were ordered with it.
    pub fn cancel(&mut self, job: JobId) -> Vec<Action> {
        self.refusal.clear();
        if !self.is_connected() {
            return Vec::new();
        }
        let batch = self.jobs.job(job).map_or(0, |job| job.batch);
        for start in self.starts.iter_mut().filter(|start| start.batch == batch) {
            start.is_canceled = true;
        }
        let open = self.jobs.ordered_with(job).filter(|job| job.is_open());
        // Those that wait are canceled first, so that none of them begins.
        let jobs: Vec<JobId> = open.map(|job| job.summary.job).collect();
        let cancel = |job| Action::Send(ClientMessage::CancelJob { job });
        jobs.into_iter().rev().map(cancel).collect()
    }

    /// Selects the job whose results are shown.
    pub fn show(&mut self, job: JobId) -> Vec<Action> {
        self.is_latest = false;
        self.shown = Some(job);
        if self.is_connected() { self.follow() } else { Vec::new() }
    }

    /// Has the roofs of an earlier job applied when they arrive.
    pub fn await_roofs(&mut self, job: JobId) -> Vec<Action> {
        self.jobs.awaits(job, ResultUse::Awaited);
        self.roofs = Some(job);
        if self.is_connected() { self.follow() } else { Vec::new() }
    }

    /// Has the daemon revoke the key of this page; the browser forgets it when the daemon has answered, whatever the answer is.
    pub fn forget(&mut self) -> Vec<Action> {
        let Some(session) = self.session() else { return Vec::new() };
        self.forgetting = Some(Forgetting { id: None, key: session.key });
        vec![Action::Send(ClientMessage::RevokeKey {})]
    }

    fn is_forgetting(&self, id: Option<u32>) -> bool {
        self.forgetting.is_some_and(|it| it.id.is_some() && it.id == id)
    }

    /// Ends the session and drops the key; `said` is what is left to do at the daemon.
    fn forgotten(&mut self, said: String) -> Vec<Action> {
        self.forgetting = None;
        let server = self.connection.server;
        let mut actions = self.on(Event::Disconnect);
        actions.extend(server.map(Action::DropKey));
        self.refusal = said;
        actions
    }

    /// Reads an inference server.
    pub fn watch_engine(&mut self, order: WatchEngine) -> Vec<Action> {
        self.engine = WatchedEngine { is_on: true, ..WatchedEngine::default() };
        vec![Action::Send(ClientMessage::WatchEngine(order))]
    }

    /// Ends the reading of the server; its last state stays.
    pub fn unwatch_engine(&mut self) -> Vec<Action> {
        self.engine.is_on = false;
        vec![Action::Send(ClientMessage::UnwatchEngine {})]
    }

    /// Serializes a message with a new request number, by which its answer is recognized.
    pub fn numbered(&mut self, ask: ClientMessage) -> String {
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
        if let ClientMessage::WatchEngine(_) = &ask {
            self.engine.id = Some(id);
        }
        if let (ClientMessage::RevokeKey {}, Some(forgetting)) = (&ask, &mut self.forgetting) {
            forgetting.id = Some(id);
        }
        let request = match &ask {
            ClientMessage::StartJob(start) => Some(start.request),
            ClientMessage::ContinueJob(order) => Some(order.request),
            _ => None,
        };
        let known = self.starts.iter_mut().find(|it| Some(it.order.request) == request);
        if let Some(known) = known {
            known.id = Some(id);
        }
        serde_json::to_string(&Ask { id, ask }).unwrap_or_default()
    }
}

#[cfg(test)]
mod many_jobs;
#[cfg(test)]
mod old_daemon;
#[cfg(test)]
mod tests;
