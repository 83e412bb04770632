//! Tests the requests to a simulated daemon: repeated after a lost connection, answered once.

use protocol::ability::Abilities;
use protocol::fault::{Fault, FaultCode};
use protocol::hex::Hex;
use protocol::job::{CalibrateSpec, JobEvent, LaterSpec, NumberedEvent, ToldSpec};
use protocol::server::Accepted;

use super::*;
use crate::link::jobs::ResultUse;
use crate::link::session::DaemonSession;

const REQUEST: RequestId = Hex([3; 16]);

pub(super) fn named(job: u64, spec: ToldSpec) -> JobSummary {
    let state = JobState::Done;
    JobSummary { job: JobId(job), request: REQUEST, spec, state, created_ms: 0, last_seq: 0 }
}

pub(super) fn list(jobs: Vec<JobSummary>) -> ServerMessage {
    ServerMessage::Jobs { jobs, more: false, passed_over: 0 }
}

#[test]
fn a_long_history_is_asked_for_in_pages() {
    let mut client = up();
    let list =
        |limit, before| Action::Send(ClientMessage::ListJobs { limit, before, later: false });
    let later = || ToldSpec::Later(LaterSpec { kind: "quantize".into() });
    let jobs = vec![named(9, later()), named(8, spec().into())];
    let asked = client.receive(None, ServerMessage::Jobs { jobs, more: true, passed_over: 2 });
    assert_eq!(asked, [list(HISTORY - 2, Some(JobId(8)))]);
    let jobs = vec![named(5, spec().into())];
    let rest = ServerMessage::Jobs { jobs, more: false, passed_over: 1 };
    assert_eq!(client.receive(None, rest), []);
    assert_eq!(client.passed_over, 3, "of both pages");
    assert_eq!(client.jobs.all().len(), 3);
    assert_eq!(client.shown, Some(JobId(9)), "one of a later version is listed, too");
    assert_eq!(client.start_rest(vec![(REQUEST, JobId(9))]), [], "and cannot be continued here");
}

/// Older daemons refuse a message with a field that they do not know.
#[test]
fn jobs_of_later_versions_are_asked_for_where_the_daemon_knows_the_word() {
    for (can, expected) in [(None, false), (Some(false), false), (Some(true), true)] {
        let mut client = up();
        if let State::Connected(session) = &mut client.connection.state {
            session.can =
                can.map(|lists_later| Abilities { lists_later, ..Abilities::default() }.into());
        }
        let asked = client.resumed(vec![Action::Resume]);
        let list = ClientMessage::ListJobs { limit: HISTORY, before: None, later: expected };
        assert!(asked.contains(&Action::Send(list)), "{can:?}: {asked:?}");
    }
}

#[test]
fn a_job_that_no_daemon_takes_is_dropped() {
    let mut client = up();
    client.start(vec![(REQUEST, spec())]);
    client.on(Event::Closed { code: TOO_LARGE, denied: false });
    assert!(!client.is_starting());
}

pub(super) fn spec() -> JobSpec {
    JobSpec::Calibrate(CalibrateSpec { backend: None })
}

pub(super) fn up() -> Client {
    let mut client = Client::default();
    let session = DaemonSession::simulated(Vec::new(), "", "");
    client.connection.state = State::Connected(session);
    client.connection.server = Some(Hex([1; 16]));
    client
}

/// Serializes the messages among the actions and returns them with their numbers.
fn said(client: &mut Client, actions: Vec<Action>) -> Vec<(u32, ClientMessage)> {
    let say = |one| match one {
        Action::Send(ask) => {
            let text = client.numbered(ask);
            let Ask { id, ask } = serde_json::from_str(&text).expect("a message");
            Some((id, ask))
        }
        _ => None,
    };
    actions.into_iter().filter_map(say).collect()
}

fn event(seq: u64, event: JobEvent) -> ServerMessage {
    ServerMessage::Event(NumberedEvent { job: JobId(4), seq, at_ms: 0, event })
}

#[test]
fn a_job_that_was_not_answered_is_asked_again_and_shown_once() {
    let mut client = up();
    let actions = client.start(vec![(REQUEST, spec())]);
    let first = said(&mut client, actions);
    assert!(matches!(&first[..], [(_, ClientMessage::StartJob(it))] if it.request == REQUEST));
    client.on(Event::Closed { code: 1006, denied: false });
    assert!(client.is_starting());
    let before = up().connection.state;
    client.connection.state = before;
    let actions = client.resumed(vec![Action::Resume]);
    let again = said(&mut client, actions);
    let (id, _) = again
        .iter()
        .find(|(_, ask)| matches!(ask, ClientMessage::StartJob(it) if it.request == REQUEST))
        .expect("asked again");
    let accepted = ServerMessage::Accepted(Accepted { job: JobId(4), fresh: false });
    assert_eq!(client.receive(Some(first[0].0), accepted.clone()), [], "an answer from before");
    let actions = client.receive(Some(*id), accepted);
    assert_eq!(actions, [Action::Send(ClientMessage::SubscribeJob { job: JobId(4), after: 0 })]);
    assert!(
        !client.is_starting()
            && client.shown().is_some_and(|job| job.result_use == ResultUse::Awaited)
    );
}

#[test]
fn a_cut_sweep_is_continued_once_and_shown() {
    let mut client = up();
    let summary = |job, spec: JobSpec, state| JobSummary {
        job: JobId(job),
        request: REQUEST,
        spec: spec.into(),
        state,
        created_ms: 0,
        last_seq: 1,
    };
    let sweep: JobSpec = serde_json::from_str(r#"{"kind":"bench","what":"flops"}"#).expect("a job");
    let jobs = vec![
        summary(4, sweep.clone(), JobState::Canceled),
        summary(3, sweep.clone(), JobState::Done),
        summary(2, spec(), JobState::Interrupted),
    ];
    client.receive(None, list(jobs));
    for ended in [2, 3, 9] {
        assert_eq!(client.start_rest(vec![(REQUEST, JobId(ended))]), [], "{ended}");
    }
    let actions = client.start_rest(vec![(REQUEST, JobId(4))]);
    let order = ContinueJob { request: REQUEST, job: JobId(4) };
    assert_eq!(actions, [Action::Send(ClientMessage::ContinueJob(order))]);
    let asked = said(&mut client, actions);
    client.on(Event::Closed { code: 1006, denied: false });
    client.connection.state = up().connection.state;
    let actions = client.resumed(vec![Action::Resume]);
    assert!(actions.contains(&Action::Send(ClientMessage::ContinueJob(order))), "{actions:?}");
    let again = said(&mut client, actions);
    let (id, _) = again
        .into_iter()
        .find(|(_, ask)| *ask == ClientMessage::ContinueJob(order))
        .expect("asked again");
    assert_ne!(id, asked[0].0);
    let accepted = Accepted { job: JobId(5), fresh: true };
    client.receive(Some(id), ServerMessage::Accepted(accepted));
    let shown = client.shown().expect("shown");
    assert_eq!((shown.summary.job, &shown.summary.spec), (JobId(5), &sweep.into()));
}

/// A sweep of products with packed weights and of plain matrices is two jobs.
#[test]
fn the_jobs_of_an_order_are_canceled_and_continued_together() {
    let mut client = up();
    let sweep: JobSpec = serde_json::from_str(r#"{"kind":"bench","what":"flops"}"#).expect("a job");
    let order = |client: &mut Client, jobs: [u8; 2]| {
        let asked = client.start(jobs.map(|job| (Hex([job; 16]), sweep.clone())).to_vec());
        for ((id, _), job) in said(client, asked).into_iter().zip(jobs) {
            let accepted = Accepted { job: JobId(job.into()), fresh: true };
            client.receive(Some(id), ServerMessage::Accepted(accepted));
        }
    };
    order(&mut client, [4, 5]);
    order(&mut client, [6, 7]);
    let cancel = |jobs: &[u64]| -> Vec<Action> {
        let job = |job: &u64| Action::Send(ClientMessage::CancelJob { job: JobId(*job) });
        jobs.iter().map(job).collect()
    };
    assert_eq!(client.cancel(JobId(4)), cancel(&[5, 4]), "the one that waits first");
    let end = |job, state| result_of(job, 1, JobEvent::Ended { state, fault: None });
    client.receive(None, end(5, JobState::Canceled));
    assert_eq!(client.cancel(JobId(4)), cancel(&[4]), "that is still open");
    client.receive(None, end(4, JobState::Canceled));
    assert_eq!(client.cut_with(JobId(5)), [JobId(4), JobId(5)]);
    client.receive(None, end(6, JobState::Done));
    client.receive(None, end(7, JobState::Interrupted));
    assert_eq!((client.cut_with(JobId(6)), client.cut_with(JobId(7))), (vec![], vec![JobId(7)]));
    // One that the daemon has not confirmed yet is canceled as soon as it is.
    let asked = client.start([8_u8, 9].map(|job| (Hex([job; 16]), sweep.clone())).to_vec());
    let ids: Vec<u32> = said(&mut client, asked).into_iter().map(|(id, _)| id).collect();
    let accepted = |job| ServerMessage::Accepted(Accepted { job: JobId(job), fresh: true });
    client.receive(Some(ids[0]), accepted(18));
    assert_eq!(client.cancel(JobId(18)), cancel(&[18]));
    assert!(client.receive(Some(ids[1]), accepted(19)).contains(&cancel(&[19])[0]));
    // Jobs of others, and of the page before it was loaded again, are no batch.
    client.receive(None, list([8, 9].map(|job| ended_job(job, JobState::Canceled, 0)).to_vec()));
    assert_eq!(client.cut_with(JobId(9)), [], "a calibration");
    let rests = vec![(REQUEST, JobId(4)), (Hex([1; 16]), JobId(5))];
    let continued =
        |request, job| Action::Send(ClientMessage::ContinueJob(ContinueJob { request, job }));
    let expected = [continued(REQUEST, JobId(4)), continued(Hex([1; 16]), JobId(5))];
    assert_eq!(client.start_rest(rests), expected);
}

#[test]
fn the_job_that_runs_stays_in_view_until_the_next_one_of_this_page_begins() {
    let mut client = up();
    let accept = |client: &mut Client, job: u8| {
        let asked = client.start(vec![(Hex([job; 16]), spec())]);
        let (id, _) = said(client, asked)[0];
        client.receive(
            Some(id),
            ServerMessage::Accepted(Accepted { job: JobId(job.into()), fresh: true }),
        );
    };
    accept(&mut client, 4);
    accept(&mut client, 5);
    assert_eq!(client.shown, Some(JobId(4)), "the first one is still open");
    let of = |job, seq, event| {
        ServerMessage::Event(NumberedEvent { job: JobId(job), seq, at_ms: 0, event })
    };
    let started = || JobEvent::Started { predicted_s: None, device: None };
    client.receive(None, of(4, 1, started()));
    client.receive(None, of(4, 2, JobEvent::Ended { state: JobState::Done, fault: None }));
    assert_eq!(client.shown, Some(JobId(4)), "its results stay until others come");
    client.receive(None, of(5, 1, started()));
    assert_eq!(client.shown, Some(JobId(5)));
}

#[test]
fn a_refused_job_is_not_asked_again() {
    let mut client = up();
    let actions = client.start(vec![(REQUEST, spec())]);
    let asked = said(&mut client, actions);
    let fault = Fault::new(FaultCode::QueueFull, "32 jobs wait already");
    client.receive(Some(asked[0].0), ServerMessage::Fault(fault));
    assert_eq!((client.is_starting(), &*client.refusal), (false, "32 jobs wait already"));
    client.start(vec![(REQUEST, spec())]);
    assert_eq!(client.refusal, "");
}

#[test]
fn a_lost_connection_resumes_after_the_last_event() {
    let mut client = up();
    client.server = client.connection.server;
    let actions = client.start(vec![(REQUEST, spec())]);
    let asked = said(&mut client, actions);
    client.receive(
        Some(asked[0].0),
        ServerMessage::Accepted(Accepted { job: JobId(4), fresh: true }),
    );
    client.receive(None, event(1, JobEvent::Queued));
    client.receive(None, event(2, JobEvent::Started { predicted_s: None, device: None }));
    assert_eq!(
        client.receive(None, event(4, JobEvent::Queued)),
        [Action::Send(ClientMessage::SubscribeJob { job: JobId(4), after: 2 })]
    );
    client.on(Event::Closed { code: 1006, denied: false });
    client.connection.state = up().connection.state;
    let actions = client.resumed(vec![Action::Resume]);
    let resumed = Action::Send(ClientMessage::SubscribeJob { job: JobId(4), after: 2 });
    assert!(actions.contains(&resumed), "{actions:?}");
    let ended = JobEvent::Ended { state: JobState::Done, fault: None };
    assert_eq!(
        client.receive(None, event(3, ended)),
        [Action::Send(ClientMessage::UnsubscribeJob { job: JobId(4) })]
    );
}

#[test]
fn an_old_job_is_followed_to_its_last_event() {
    let mut client = up();
    let summary = JobSummary {
        job: JobId(4),
        request: REQUEST,
        spec: spec().into(),
        state: JobState::Interrupted,
        created_ms: 0,
        last_seq: 3,
    };
    let asked = client.receive(None, list(vec![summary.clone()]));
    assert_eq!(asked, [Action::Send(ClientMessage::SubscribeJob { job: JobId(4), after: 0 })]);
    client.receive(None, ServerMessage::Snapshot { job: summary, after: 0 });
    for seq in 1..=2 {
        assert_eq!(client.receive(None, event(seq, JobEvent::Queued)), [], "{seq}");
    }
    let fault = Some(Fault::new(FaultCode::Interrupted, "the daemon ended"));
    let ended = JobEvent::Ended { state: JobState::Interrupted, fault };
    let left = [Action::Send(ClientMessage::UnsubscribeJob { job: JobId(4) })];
    assert_eq!(client.receive(None, event(3, ended)), left);
    assert!(client.shown().is_some_and(|job| job.fault.is_some()));
}

#[test]
fn another_daemon_has_other_jobs() {
    let mut client = up();
    client.resumed(vec![Action::Resume]);
    client.start(vec![(REQUEST, spec())]);
    client.connection.server = Some(Hex([2; 16]));
    client.resumed(vec![Action::Resume]);
    assert!(!client.is_starting() && client.is_connected());
}

#[test]
fn nothing_is_heard_before_both_sides_proved_themselves() {
    let mut client = Client::default();
    client.connection.state = State::Opening;
    client.receive(None, ServerMessage::Telemetry(Telemetry { at_ms: 1, readings: Vec::new() }));
    assert_eq!(client.telemetry, None);
}

pub(super) fn ended_job(job: u64, state: JobState, last_seq: u64) -> JobSummary {
    // No device of the session, so that the page does not ask for its measurements by itself.
    let other = JobSpec::Calibrate(CalibrateSpec { backend: Some("cuda:0".to_owned()) });
    JobSummary { state, last_seq, ..named(job, other.into()) }
}

pub(super) fn result_of(job: u64, seq: u64, event: JobEvent) -> ServerMessage {
    ServerMessage::Event(NumberedEvent { job: JobId(job), seq, at_ms: 0, event })
}

#[test]
fn a_job_without_points_that_a_killed_daemon_left_is_not_the_latest_result() {
    let cut = || JobEvent::Ended { state: JobState::Interrupted, fault: None };
    let jobs = || vec![ended_job(9, JobState::Interrupted, 2), ended_job(8, JobState::Done, 3)];
    let mut client = up();
    client.receive(None, list(jobs()));
    assert_eq!(client.shown, Some(JobId(9)), "its events are not known yet");
    client.receive(None, result_of(9, 1, JobEvent::Queued));
    assert_eq!(client.shown, Some(JobId(9)));
    let asked = client.receive(None, result_of(9, 2, cut()));
    assert_eq!(client.shown, Some(JobId(8)));
    let follow = ClientMessage::SubscribeJob { job: JobId(8), after: 0 };
    assert!(asked.contains(&Action::Send(follow)), "{asked:?}");
    // The reader may look at it all the same, and a history of such jobs shows its latest.
    client.show(JobId(9));
    assert_eq!(client.shown, Some(JobId(9)));
    let mut client = up();
    client.receive(None, list(vec![ended_job(9, JobState::Interrupted, 2)]));
    client.receive(None, result_of(9, 1, JobEvent::Queued));
    client.receive(None, result_of(9, 2, cut()));
    assert_eq!(client.shown, Some(JobId(9)));
    // A job that ended while it was looked at stays.
    let mut client = up();
    let open = JobSummary { state: JobState::Running, ..ended_job(9, JobState::Running, 1) };
    client.receive(None, list(vec![open, ended_job(8, JobState::Done, 3)]));
    client.receive(None, result_of(9, 1, JobEvent::Queued));
    client.receive(None, result_of(9, 2, cut()));
    assert_eq!(client.shown, Some(JobId(9)));
}

#[test]
fn a_forgotten_key_is_revoked_and_an_older_daemon_leaves_a_command() {
    let key = Hex([7; 8]);
    let start = || {
        let mut client = up();
        let State::Connected(session) = &mut client.connection.state else { panic!("up") };
        session.key = Some(key);
        let actions = client.forget();
        let sent = said(&mut client, actions);
        assert_eq!(sent[0].1, ClientMessage::RevokeKey {});
        (client, Some(sent[0].0))
    };
    let dropped = [Action::Close, Action::DropKey(Hex([1; 16]))];
    let fault = |code| ServerMessage::Fault(Fault::new(code, "the keys cannot be written"));
    for (code, part) in [
        (FaultCode::Malformed, "older than this page"),
        (FaultCode::Storage, "the keys cannot be written"),
    ] {
        let (mut client, id) = start();
        assert_eq!(client.receive(id, fault(code)), dropped);
        assert!(client.refusal.contains(part), "{}", client.refusal);
        assert!(client.refusal.contains(&format!("ridgepoint keys revoke {key}")));
        assert_eq!(client.connection.state, State::Idle);
    }
    let (mut client, id) = start();
    assert_eq!(client.receive(id, ServerMessage::Ok), dropped);
    assert_eq!(client.refusal, "");
    // The end of the session may come before the answer.
    for (code, is_revoked) in [(close::FORBIDDEN, true), (1006, false)] {
        let (mut client, _) = start();
        assert_eq!(client.on(Event::Closed { code, denied: false }), dropped);
        assert_eq!(client.refusal.is_empty(), is_revoked, "{}", client.refusal);
    }
    assert_eq!(Client::default().forget(), []);
}
