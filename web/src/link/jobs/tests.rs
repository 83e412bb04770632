//! Jobs by the events that a daemon sends.

use protocol::hex::Hex;
use protocol::job::{CalibrateSpec, JobSpec};

use super::*;

fn summary(id: u64, state: JobState, last_seq: u64) -> JobSummary {
    let spec = JobSpec::Calibrate(CalibrateSpec { backend: None }).into();
    JobSummary { job: JobId(id), request: Hex([1; 16]), spec, state, created_ms: 0, last_seq }
}

fn event(seq: u64, event: JobEvent) -> NumberedEvent {
    NumberedEvent { job: JobId(7), seq, at_ms: 1000 * seq, event }
}

fn progress(done: u64) -> JobEvent {
    JobEvent::Progress { done, total: 4, unit: ProgressUnit::Points, note: String::new() }
}

fn ended() -> JobEvent {
    JobEvent::Ended { state: JobState::Done, fault: None }
}

#[test]
fn nothing_is_taken_twice_and_a_gap_is_asked_for() {
    let mut jobs = JobList::default();
    jobs.snapshot(summary(7, JobState::Queued, 0), 0);
    let log = || JobEvent::Log { line: String::new() };
    let all = [
        (1, JobEvent::Started { predicted_s: Some(9.0), device: None }, EventOutcome::Applied),
        (1, log(), EventOutcome::Ignored),
        (2, progress(1), EventOutcome::Applied),
        (4, log(), EventOutcome::Gap(2)),
        (3, progress(2), EventOutcome::Applied),
        (4, ended(), EventOutcome::Applied),
        (4, progress(1), EventOutcome::Ignored),
    ];
    for (seq, it, taken) in all {
        assert_eq!(jobs.event(event(seq, it)), taken, "{seq}");
    }
    let job = jobs.job(JobId(7)).expect("known");
    assert_eq!((job.seq, job.summary.state), (4, JobState::Done));
    assert_eq!(job.progress.as_ref().map(|it| it.done), Some(2));
    let stranger = NumberedEvent { job: JobId(8), ..event(1, log()) };
    assert_eq!(jobs.event(stranger), EventOutcome::Ignored);
}

#[test]
fn what_was_lost_goes_on_after_the_last_number() {
    let mut jobs = JobList::default();
    jobs.listed(vec![
        summary(7, JobState::Running, 2),
        summary(5, JobState::Done, 9),
        summary(9, JobState::Queued, 1),
    ]);
    let ids: Vec<u64> = jobs.all().iter().map(|job| job.summary.job.0).collect();
    assert_eq!(ids, [9, 7, 5], "the latest first");
    assert_eq!(jobs.follow(None, 16), [(JobId(7), 0), (JobId(9), 0)], "the running one first");
    assert_eq!(jobs.follow(None, 16), [], "asked for already");
    jobs.event(event(1, JobEvent::Started { predicted_s: None, device: None }));
    jobs.event(event(2, progress(1)));
    jobs.lost();
    assert_eq!(jobs.follow(Some(JobId(5)), 16), [(JobId(5), 0), (JobId(7), 2), (JobId(9), 0)]);
    jobs.snapshot(summary(7, JobState::Done, 4), 3);
    assert!(jobs.job(JobId(7)).is_some_and(|job| job.is_cut && job.is_open()));
    assert_eq!(jobs.event(event(4, ended())), EventOutcome::Applied);
    assert_eq!(jobs.job(JobId(7)).map(Job::is_open), Some(false));
    jobs.listed(vec![summary(7, JobState::Running, 2)]);
    assert_eq!(jobs.job(JobId(7)).map(Job::is_open), Some(false), "a list may be late");
}

#[test]
fn a_job_of_this_page_has_the_time_of_its_first_event() {
    let mut jobs = JobList::default();
    jobs.accepted(summary(7, JobState::Queued, 0), 1);
    jobs.event(event(1, JobEvent::Queued));
    jobs.event(event(2, progress(1)));
    assert_eq!(jobs.job(JobId(7)).map(|job| job.summary.created_ms), Some(1000));
}

#[test]
fn what_is_taken_over_makes_older_results_late() {
    let mut jobs = JobList::default();
    jobs.listed([5, 7, 9].map(|id| summary(id, JobState::Done, 1)).to_vec());
    jobs.accepted(summary(9, JobState::Done, 1), 2);
    jobs.taken(JobId(7));
    let uses: Vec<ResultUse> = jobs.all().iter().map(|job| job.result_use).collect();
    assert_eq!(
        uses,
        [ResultUse::Awaited, ResultUse::Applied, ResultUse::Applied],
        "the latest first"
    );
}

#[test]
fn the_time_left_follows_what_is_done() {
    let mut jobs = JobList::default();
    jobs.snapshot(summary(7, JobState::Queued, 0), 0);
    let left = |jobs: &JobList| jobs.job(JobId(7)).and_then(Job::seconds_left);
    assert_eq!(left(&jobs), None);
    jobs.event(event(1, JobEvent::Started { predicted_s: Some(9.0), device: None }));
    assert_eq!(left(&jobs), Some(9.0));
    jobs.event(event(2, progress(1)));
    assert_eq!(left(&jobs), Some(3.0));
}

#[test]
fn the_whole_device_file_counts_where_older_pages_get_a_shorter_one() {
    let text = str::to_owned;
    for (whole, expected) in [(None, "short"), (Some("whole".to_owned()), "whole")] {
        let mut jobs = JobList::default();
        jobs.snapshot(summary(7, JobState::Queued, 0), 0);
        jobs.event(event(1, JobEvent::Device { file: text("short"), whole: whole.clone() }));
        jobs.event(event(
            2,
            JobEvent::Calibration {
                calibration: text("factors"),
                device: Some(text("short")),
                whole: None,
                whole_device: whole,
            },
        ));
        let job = jobs.job(JobId(7)).expect("it was told");
        assert_eq!(job.roofs.as_deref(), Some(expected));
        assert_eq!(job.calibration, Some((text("factors"), Some(text(expected)))));
    }
}
