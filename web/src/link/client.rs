//! The page's model of one daemon: connection, jobs, telemetry, and the requests to send. Requests without an answer are sent
//! again after a reconnect with the same request id, so that nothing runs twice.

use protocol::client::{Ask, ClientMessage, StartJob};
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
    start: StartJob,
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
                all.extend(
                    self.starts.iter().map(|it| Do::Say(ClientMessage::StartJob(it.start.clone()))),
                );
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
        let StartJob { request, job: spec } = self.starts.remove(place).start;
        let state = JobState::Queued;
        let summary = JobSummary { job, request, spec, state, created_ms: 0, last_seq: 0 };
        self.book.accepted(summary);
        self.shown = Some(job);
        self.follow()
    }

    /// Starts a job exactly once, even if the connection is lost meanwhile.
    pub fn start(&mut self, request: RequestId, job: JobSpec) -> Vec<Do> {
        self.refusal.clear();
        let start = StartJob { request, job };
        self.starts.push(Start { id: None, start: start.clone() });
        if self.is_up() { vec![Do::Say(ClientMessage::StartJob(start))] } else { Vec::new() }
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

    /// Serializes a message with a new request number, by which its answer is recognized.
    pub fn numbered(&mut self, ask: ClientMessage) -> String {
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
        if let ClientMessage::StartJob(start) = &ask
            && let Some(known) = self.starts.iter_mut().find(|it| it.start.request == start.request)
        {
            known.id = Some(id);
        }
        serde_json::to_string(&Ask { id, ask }).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use protocol::fault::{Fault, FaultCode};
    use protocol::hex::Hex;
    use protocol::job::{CalibrateSpec, JobEvent, NumberedEvent};
    use protocol::server::Accepted;

    use super::*;
    use crate::link::book::Find;
    use crate::link::connection::Up;

    const REQUEST: RequestId = Hex([3; 16]);

    fn spec() -> JobSpec {
        JobSpec::Calibrate(CalibrateSpec { backend: None })
    }

    fn up() -> Client {
        let mut client = Client::default();
        let up = Up { scopes: Vec::new(), epoch: Hex([0; 8]), version: String::new() };
        client.connection.state = State::Up(up);
        client.connection.server = Some(Hex([1; 16]));
        client
    }

    /// Serializes the messages among the actions and returns them with their numbers.
    fn said(client: &mut Client, todo: Vec<Do>) -> Vec<(u32, ClientMessage)> {
        let say = |one| match one {
            Do::Say(ask) => {
                let text = client.numbered(ask);
                let Ask { id, ask } = serde_json::from_str(&text).expect("a message");
                Some((id, ask))
            }
            _ => None,
        };
        todo.into_iter().filter_map(say).collect()
    }

    fn event(seq: u64, event: JobEvent) -> ServerMessage {
        ServerMessage::Event(NumberedEvent { job: JobId(4), seq, at_ms: 0, event })
    }

    #[test]
    fn a_job_that_was_not_answered_is_asked_again_and_shown_once() {
        let mut client = up();
        let todo = client.start(REQUEST, spec());
        let first = said(&mut client, todo);
        assert!(matches!(&first[..], [(_, ClientMessage::StartJob(it))] if it.request == REQUEST));
        client.on(Event::Closed { code: 1006, denied: false });
        assert!(client.is_starting());
        let before = up().connection.state;
        client.connection.state = before;
        let todo = client.resumed(vec![Do::Resume]);
        let again = said(&mut client, todo);
        let (id, _) = again
            .iter()
            .find(|(_, ask)| matches!(ask, ClientMessage::StartJob(it) if it.request == REQUEST))
            .expect("asked again");
        let accepted = ServerMessage::Accepted(Accepted { job: JobId(4), fresh: false });
        assert_eq!(client.hear(Some(first[0].0), accepted.clone()), [], "an answer from before");
        let todo = client.hear(Some(*id), accepted);
        assert_eq!(todo, [Do::Say(ClientMessage::SubscribeJob { job: JobId(4), after: 0 })]);
        assert!(
            !client.is_starting() && client.shown().is_some_and(|job| job.find == Find::Awaited)
        );
    }

    #[test]
    fn a_refused_job_is_not_asked_again() {
        let mut client = up();
        let todo = client.start(REQUEST, spec());
        let asked = said(&mut client, todo);
        let fault = Fault::new(FaultCode::QueueFull, "32 jobs wait already");
        client.hear(Some(asked[0].0), ServerMessage::Fault(fault));
        assert_eq!((client.is_starting(), &*client.refusal), (false, "32 jobs wait already"));
        client.start(REQUEST, spec());
        assert_eq!(client.refusal, "");
    }

    #[test]
    fn a_lost_connection_resumes_after_the_last_event() {
        let mut client = up();
        client.server = client.connection.server;
        let todo = client.start(REQUEST, spec());
        let asked = said(&mut client, todo);
        client.hear(
            Some(asked[0].0),
            ServerMessage::Accepted(Accepted { job: JobId(4), fresh: true }),
        );
        client.hear(None, event(1, JobEvent::Queued));
        client.hear(None, event(2, JobEvent::Started { predicted_s: None }));
        assert_eq!(
            client.hear(None, event(4, JobEvent::Queued)),
            [Do::Say(ClientMessage::SubscribeJob { job: JobId(4), after: 2 })]
        );
        client.on(Event::Closed { code: 1006, denied: false });
        client.connection.state = up().connection.state;
        let todo = client.resumed(vec![Do::Resume]);
        let resumed = Do::Say(ClientMessage::SubscribeJob { job: JobId(4), after: 2 });
        assert!(todo.contains(&resumed), "{todo:?}");
        let ended = JobEvent::Ended { state: JobState::Done, fault: None };
        assert_eq!(
            client.hear(None, event(3, ended)),
            [Do::Say(ClientMessage::UnsubscribeJob { job: JobId(4) })]
        );
    }

    #[test]
    fn an_old_job_is_followed_to_its_last_event() {
        let mut client = up();
        let summary = JobSummary {
            job: JobId(4),
            request: REQUEST,
            spec: spec(),
            state: JobState::Interrupted,
            created_ms: 0,
            last_seq: 3,
        };
        let asked = client.hear(None, ServerMessage::Jobs { jobs: vec![summary.clone()] });
        assert_eq!(asked, [Do::Say(ClientMessage::SubscribeJob { job: JobId(4), after: 0 })]);
        client.hear(None, ServerMessage::Snapshot { job: summary, after: 0 });
        for seq in 1..=2 {
            assert_eq!(client.hear(None, event(seq, JobEvent::Queued)), [], "{seq}");
        }
        let fault = Some(Fault::new(FaultCode::Interrupted, "the daemon ended"));
        let ended = JobEvent::Ended { state: JobState::Interrupted, fault };
        let left = [Do::Say(ClientMessage::UnsubscribeJob { job: JobId(4) })];
        assert_eq!(client.hear(None, event(3, ended)), left);
        assert!(client.shown().is_some_and(|job| job.fault.is_some()));
    }

    #[test]
    fn another_daemon_has_other_jobs() {
        let mut client = up();
        client.resumed(vec![Do::Resume]);
        client.start(REQUEST, spec());
        client.connection.server = Some(Hex([2; 16]));
        client.resumed(vec![Do::Resume]);
        assert!(!client.is_starting() && client.is_up());
    }

    #[test]
    fn nothing_is_heard_before_both_sides_proved_themselves() {
        let mut client = Client::default();
        client.connection.state = State::Opening;
        client.hear(None, ServerMessage::Telemetry(Telemetry { at_ms: 1, readings: Vec::new() }));
        assert_eq!(client.telemetry, None);
    }
}
