//! Tests of a page with many jobs: which it follows, how it brings them up to date, and whose measurements it takes.

use protocol::device::DeviceName;
use protocol::job::{CalibrateSpec, JobEvent};

use super::tests::{ended_job, list, named, result_of, spec, up};
use super::*;
use crate::link::jobs::ResultUse;

#[test]
fn of_many_open_jobs_the_running_one_is_followed_and_the_next_when_it_has_ended() {
    let open =
        |job| JobSummary { state: JobState::Queued, last_seq: 1, ..named(job, spec().into()) };
    let running = JobSummary { state: JobState::Running, ..open(1) };
    let jobs: Vec<JobSummary> = (2..=40).rev().map(open).chain([running]).collect();
    let mut client = up();
    let followed = |actions: &[Action]| -> Vec<u64> {
        let job = |action: &Action| match action {
            Action::Send(ClientMessage::SubscribeJob { job, .. }) => Some(job.0),
            _ => None,
        };
        actions.iter().filter_map(job).collect()
    };
    let asked = followed(&client.receive(None, list(jobs)));
    assert_eq!(asked[..3], [40, 1, 2], "the shown one, then the oldest");
    let next = *asked.last().expect("some") + 1;
    client.receive(None, ServerMessage::Snapshot { job: named(1, spec().into()), after: 0 });
    let ended = JobEvent::Ended { state: JobState::Done, fault: None };
    assert_eq!(followed(&client.receive(None, result_of(1, 1, ended))), [next]);
}

#[test]
fn no_more_jobs_are_followed_than_the_daemon_lets_a_session() {
    let open =
        |job| JobSummary { state: JobState::Queued, last_seq: 1, ..named(job, spec().into()) };
    for (limit, most) in [(1, 1), (6, 3), (32, 16)] {
        let mut client = up();
        if let State::Connected(session) = &mut client.connection.state {
            session.limits.subscriptions = limit;
        }
        let asked = client.receive(None, list((1..=40).rev().map(open).collect()));
        let is_follow =
            |it: &&Action| matches!(it, Action::Send(ClientMessage::SubscribeJob { .. }));
        assert_eq!(asked.iter().filter(is_follow).count(), most, "{limit}");
    }
}

#[test]
fn a_history_that_is_known_already_makes_a_session_sound_and_is_brought_up_to_date() {
    let mut client = up();
    let page = |first: u64| ServerMessage::Jobs {
        jobs: (first - 24..=first).rev().map(|job| named(job, spec().into())).collect(),
        more: true,
        passed_over: 0,
    };
    let next = |before| {
        Action::Send(ClientMessage::ListJobs {
            limit: 25,
            before: Some(JobId(before)),
            later: false,
        })
    };
    for session in 0..2 {
        client.connection.tries = 3;
        client.resumed(vec![Action::Resume]);
        assert!(client.receive(None, page(90)).contains(&next(66)), "session {session}");
        assert_eq!(client.connection.tries, 3, "session {session}: more is to come");
        client.receive(None, page(65));
        assert_eq!(client.connection.tries, 0, "session {session}: {HISTORY} are listed");
    }
}

#[test]
fn measurements_of_a_card_that_is_gone_are_not_those_of_its_successor() {
    let spec = || JobSpec::Calibrate(CalibrateSpec { backend: Some("cuda:0".to_owned()) });
    let card = |name: &str| DeviceName {
        backend: "cuda".into(),
        index: 0,
        name: name.into(),
        catalog_key: None,
    };
    let mut client = up();
    if let State::Connected(session) = &mut client.connection.state {
        session.devices = vec![card("card B")];
    }
    let of = |job| JobSummary { last_seq: 2, ..named(job, spec().into()) };
    client.receive(None, list(vec![of(9), of(8)]));
    assert_eq!(client.jobs.job(JobId(9)).map(|job| job.result_use), Some(ResultUse::Offered));
    let started = |name: &str| JobEvent::Started { predicted_s: None, device: Some(card(name)) };
    client.receive(None, result_of(9, 1, started("card A")));
    let uses =
        |client: &Client| [9, 8].map(|job| client.jobs.job(JobId(job)).map(|it| it.result_use));
    assert_eq!(uses(&client), [Some(ResultUse::Shown), Some(ResultUse::Offered)]);
    client.receive(None, result_of(8, 1, started("card B")));
    assert_eq!(uses(&client)[1], Some(ResultUse::Offered));
    // One whose roofs are to become the device gives way, too, and the machine is selected anew.
    let mut client = Client { is_selected: true, ..client };
    client.await_roofs(JobId(8));
    client.receive(None, result_of(8, 2, started("card A")));
    assert_eq!((client.is_selected, client.roofs), (false, None));
    assert_eq!(client.jobs.newest_roofs("cuda:0"), None);
}

/// All events of a job are sent again to a page that has just connected.
#[test]
fn roofs_that_a_connected_machine_had_do_not_come_into_view() {
    let mut client = up();
    client.receive(
        None,
        list(vec![ended_job(9, JobState::Done, 3), ended_job(1, JobState::Done, 3)]),
    );
    assert_eq!(client.shown, Some(JobId(9)));
    client.await_roofs(JobId(1));
    client.receive(None, result_of(1, 1, JobEvent::Queued));
    client.receive(None, result_of(1, 2, JobEvent::Started { predicted_s: None, device: None }));
    assert_eq!(client.shown, Some(JobId(9)), "the newest one stays");
}
