//! The page's model of one daemon: connection, jobs, telemetry, and the requests to send. Requests without an answer are sent
//! again after a reconnect with the same request id, so that nothing runs twice.

use protocol::client::{Ask, ClientMessage, ContinueJob, StartJob};
use protocol::job::{JobId, JobSpec, JobState, JobSummary, RequestId};
use protocol::server::ServerMessage;
use protocol::telemetry::Telemetry;

use super::book::{Book, Job, Taken};
use super::connection::{Connection, Do, Event, State};

/// Telemetry rate, in readings per second.
const HZ: f64 = 1.0;
/// Number of jobs to list.
const HISTORY: u32 = 50;

/// A job start that the daemon has not confirmed yet.
#[derive(Debug, Clone, PartialEq)]
struct Start {
    id: Option<u32>,
    order: StartJob,
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
    pub book: Book,
    pub telemetry: Option<Telemetry>,
    /// Reason of the last refused request; empty after the next request.
    pub refusal: String,
    /// The job whose results are shown.
    pub shown: Option<JobId>,
    /// The daemon has told its jobs.
    pub has_jobs: bool,
    /// Its machine was selected as the device, or was the device already: that is done once, so that the reader can go back.
    pub is_selected: bool,
    /// The job whose roofs select it.
    pub roofs: Option<JobId>,
    last_id: u32,
    starts: Vec<Start>,
    server: Option<protocol::hex::Hex<16>>,
}

impl Client {
    /// Whether a session is established.
    pub const fn is_up(&self) -> bool {
        matches!(self.connection.state, State::Up(_))
    }

    /// The job whose results are shown.
    pub fn shown(&self) -> Option<&Job> {
        self.book.job(self.shown?)
    }

    /// The oldest job that is queued or running.
    pub fn running(&self) -> Option<&Job> {
        self.book.jobs().iter().rev().find(|job| job.is_open())
    }

    /// Handles an event of the connection and returns the actions to take.
    pub fn on(&mut self, event: Event) -> Vec<Do> {
        if matches!(event, Event::Closed { .. } | Event::Leave) {
            self.book.lost();
            self.telemetry = None;
        }
        let todo = self.connection.on(event);
        self.resumed(todo)
    }

    fn resumed(&mut self, todo: Vec<Do>) -> Vec<Do> {
        let mut all = Vec::new();
        for one in todo {
            if one == Do::Resume {
                self.welcome();
                all.push(Do::Say(ClientMessage::SubscribeTelemetry { hz: HZ }));
                all.push(Do::Say(ClientMessage::ListJobs { limit: HISTORY }));
                all.extend(self.starts.iter().map(|it| Do::Say(it.message())));
                all.extend(self.follow());
            } else {
                all.push(one);
            }
        }
        all
    }

    /// Clears the state if this is another daemon, because its jobs differ.
    fn welcome(&mut self) {
        let server = self.connection.server;
        if self.server.is_some() && self.server != server {
            *self = Self { connection: core::mem::take(&mut self.connection), ..Self::default() };
        }
        self.server = server;
    }

    fn follow(&mut self) -> Vec<Do> {
        let ask = |(job, after)| Do::Say(ClientMessage::SubscribeJob { job, after });
        self.book.follow(self.shown).into_iter().map(ask).collect()
    }

    /// Handles a message of the daemon; `id` is the number of the request that it answers.
    pub fn hear(&mut self, id: Option<u32>, message: ServerMessage) -> Vec<Do> {
        match message {
            ServerMessage::Hello(_)
            | ServerMessage::Identified(_)
            | ServerMessage::Paired(_)
            | ServerMessage::Bye(_) => self.on(Event::Said(message)),
            _ if !self.is_up() => Vec::new(),
            ServerMessage::Accepted(accepted) => self.accepted(id, accepted.job),
            ServerMessage::Jobs { jobs } => {
                self.book.listed(jobs);
                self.has_jobs = true;
                if self.shown.is_none() {
                    self.shown = self.book.jobs().first().map(|job| job.summary.job);
                }
                self.follow()
            }
            ServerMessage::Snapshot { job, after } => {
                self.book.snapshot(job, after);
                Vec::new()
            }
            ServerMessage::Event(event) => {
                let job = event.job;
                match self.book.event(event) {
                    Taken::Gap(after) => vec![Do::Say(ClientMessage::SubscribeJob { job, after })],
                    Taken::Next => self.let_go(job),
                    Taken::Known => Vec::new(),
                }
            }
            ServerMessage::Telemetry(telemetry) => {
                self.telemetry = Some(telemetry);
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

    /// Unsubscribes from a job that has ended and whose events were all received.
    fn let_go(&mut self, job: JobId) -> Vec<Do> {
        let has_more = |known: &Job| {
            known.is_open() || !known.is_followed || known.seq < known.summary.last_seq
        };
        if self.book.job(job).is_none_or(has_more) {
            return Vec::new();
        }
        self.book.left(job);
        vec![Do::Say(ClientMessage::UnsubscribeJob { job })]
    }

    fn accepted(&mut self, id: Option<u32>, job: JobId) -> Vec<Do> {
        let Some(place) = self.starts.iter().position(|it| it.id == id && id.is_some()) else {
            return Vec::new();
        };
        let StartJob { request, job: spec } = self.starts.remove(place).order;
        let state = JobState::Queued;
        let summary = JobSummary { job, request, spec, state, created_ms: 0, last_seq: 0 };
        self.book.accepted(summary);
        self.shown = Some(job);
        self.follow()
    }

    /// Starts a job exactly once, even if the connection is lost meanwhile.
    pub fn start(&mut self, request: RequestId, job: JobSpec) -> Vec<Do> {
        self.ask_start(Start { id: None, order: StartJob { request, job }, continues: None })
    }

    /// Starts a job, exactly once, that measures what a canceled or interrupted one did not.
    pub fn start_rest(&mut self, request: RequestId, ended: JobId) -> Vec<Do> {
        let Some(job) = self.book.job(ended).filter(|job| job.can_continue()) else {
            return Vec::new();
        };
        let order = StartJob { request, job: job.summary.spec.clone() };
        self.ask_start(Start { id: None, order, continues: Some(ended) })
    }

    fn ask_start(&mut self, start: Start) -> Vec<Do> {
        self.refusal.clear();
        let message = start.message();
        self.starts.push(start);
        if self.is_up() { vec![Do::Say(message)] } else { Vec::new() }
    }

    /// Whether a job start is not confirmed yet.
    pub const fn is_starting(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Cancels a job.
    pub fn cancel(&mut self, job: JobId) -> Vec<Do> {
        self.refusal.clear();
        if self.is_up() { vec![Do::Say(ClientMessage::CancelJob { job })] } else { Vec::new() }
    }

    /// Selects the job whose results are shown.
    pub fn show(&mut self, job: JobId) -> Vec<Do> {
        self.shown = Some(job);
        if self.is_up() { self.follow() } else { Vec::new() }
    }

    /// Has the roofs of an earlier job applied when they arrive.
    pub fn await_roofs(&mut self, job: JobId) -> Vec<Do> {
        self.book.awaits(job);
        self.roofs = Some(job);
        if self.is_up() { self.follow() } else { Vec::new() }
    }

    /// Serializes a message with a new request number, by which its answer is recognized.
    pub fn numbered(&mut self, ask: ClientMessage) -> String {
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
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
mod tests;
