//! The limits of a worker: time without a message, duration, number and bytes of messages, and the memory of the machine.

use std::time::Duration;

use protocol::device::DeviceName;
use protocol::fault::Fault;
use protocol::job::{JobEvent, JobSpec, JobState};
use protocol::limits::LIMITS;
use tokio::time::Instant;

use super::memory;
use super::message::{WorkerMessage, contradiction, unreadable, unreadable_device};
use crate::hooks::Hooks;
use crate::reason::Reason;
use crate::sandbox::Locks;

/// Shortest time between two progress events; a job that has run longer reports in steps of a thousandth of its time.
const PROGRESS: Duration = Duration::from_millis(200);
const PROGRESS_SHARE: u32 = 1000;
/// Interval in which memory is looked at, and in which the daemon finds out that it was stopped itself.
const LOOK: Duration = Duration::from_millis(500);
/// Delay of a timer above which the daemon was stopped: by a signal, with its container, or by a machine without any time left.
const STOPPED: Duration = Duration::from_secs(1);
/// Longest time of a benchmark: the largest sweep takes a quarter of it.
pub(super) const BENCH: Duration = Duration::from_secs(LIMITS.job_s as u64);
/// Longest time of a calibration.
const CALIBRATION: Duration = Duration::from_hours(1);
/// Longest time of a job that predicts none.
const UNPLANNED: Duration = Duration::from_hours(1);
const MAX_RESULTS: u32 = 4096;
/// Largest size of the results of a job, in bytes.
const MAX_BYTES: usize = 64 << 20;
const MAX_LOGS: u32 = 500;
/// Largest number of messages of a worker, heartbeats included; a job that lasts may send more, some of them per second.
const MAX_MESSAGES: u32 = 200_000;
const MESSAGES_PER_S: u64 = 20;
const LONGEST_NOTE: usize = 400;

/// The end of a job: its state, and the reason of a failure.
pub(super) type Ended = (JobState, Option<Fault>);

/// The effect of a message of a worker.
pub(super) enum Effect {
    Event(JobEvent),
    Locked(Locks),
    Nothing,
    Last(Ended),
}

/// A failed job.
pub(super) fn failed(reason: Reason, details: &[&dyn std::fmt::Display]) -> Ended {
    (JobState::Failed, Some(reason.with(details)))
}

/// The event of files that a worker wrote, or the end of its job where one of them cannot be read.
fn readable(event: JobEvent, why: Option<String>) -> Effect {
    match why {
        None => Effect::Event(event),
        Some(why) => Effect::Last(failed(Reason::CalibrationBad, &[&short(&why)])),
    }
}

/// Longest time of a job of this kind, whatever it predicts.
pub(super) const fn longest(spec: &JobSpec) -> Duration {
    match spec {
        JobSpec::Bench(_) => BENCH,
        JobSpec::Calibrate(_) => CALIBRATION,
    }
}

/// The limits of a worker: time without a message, duration, number and bytes of messages.
pub(super) struct WorkerLimits<'a> {
    hooks: &'a Hooks,
    start: Instant,
    last_message: Instant,
    next_look: Instant,
    longest: Duration,
    allowed: Duration,
    is_planned: bool,
    told: Told,
    messages: u32,
    results: u32,
    bytes: usize,
    logs: u32,
}

impl<'a> WorkerLimits<'a> {
    pub(super) fn new(hooks: &'a Hooks, longest: Duration) -> Self {
        let (now, longest) = (Instant::now(), hooks.longest(longest));
        Self {
            hooks,
            start: now,
            last_message: now,
            next_look: now + LOOK,
            longest,
            allowed: longest.min(UNPLANNED),
            is_planned: false,
            told: Told::default(),
            messages: 0,
            results: 0,
            bytes: 0,
            logs: 0,
        }
    }

    fn deadline(&self) -> Instant {
        (self.last_message + self.hooks.silence()).min(self.start + self.allowed)
    }

    /// The time at which to look next.
    pub(super) fn wake(&self) -> Instant {
        self.deadline().min(self.next_look)
    }

    /// The end of a job that takes too long, is silent, or takes the machine's last memory; looks only when it is time.
    pub(super) fn look(&mut self, now: Instant) -> Option<Ended> {
        if now < self.wake() {
            return None;
        }
        self.next_look = now + LOOK;
        self.late(now).or_else(|| memory::runs_out(self.hooks))
    }

    /// Time in which this process was stopped is nobody's silence, and the worker may have been stopped with it.
    pub(super) fn leave_out_pause(&mut self, wake: Instant, now: Instant) {
        let late = now.saturating_duration_since(wake);
        if late > STOPPED {
            self.start += late;
            self.last_message = (self.last_message + late).min(now);
        }
    }

    /// The end of a job that took too long or was silent.
    fn late(&self, now: Instant) -> Option<Ended> {
        if now < self.deadline() {
            return None;
        }
        if now >= self.start + self.allowed {
            let allowed = format!("{:.1}", self.allowed.as_secs_f64());
            return Some(failed(Reason::TooLong, &[&allowed]));
        }
        let silence = format!("{:.1}", self.hooks.silence().as_secs_f64());
        Some(failed(Reason::Silent, &[&silence]))
    }

    pub(super) fn handle(&mut self, message: WorkerMessage, bytes: usize) -> Effect {
        self.last_message = Instant::now();
        self.messages += 1;
        let lasting = MESSAGES_PER_S.saturating_mul(self.start.elapsed().as_secs());
        if u64::from(self.messages) > lasting.saturating_add(MAX_MESSAGES.into()) {
            return Effect::Last(failed(Reason::SaidTooMuch, &[]));
        }
        match message {
            WorkerMessage::Locked { locks } => Effect::Locked(locks),
            WorkerMessage::Beat {} => Effect::Nothing,
            WorkerMessage::Plan { predicted_s, device } => self.planned(predicted_s, device),
            WorkerMessage::Progress { done, total, unit, note } => {
                let is_told = self.told.again(self.start.elapsed(), done == total);
                let event = JobEvent::Progress { done, total, unit, note: short(&note) };
                if is_told { Effect::Event(event) } else { Effect::Nothing }
            }
            WorkerMessage::Result { record } => self.measured(record, bytes),
            WorkerMessage::Calibration { calibration, device, whole, whole_device } => {
                let files = [Some(&calibration), whole.as_ref()].into_iter().flatten();
                let devices = [device.as_ref(), whole_device.as_ref()].into_iter().flatten();
                let why = files
                    .filter_map(|text| unreadable(text))
                    .chain(devices.filter_map(|text| unreadable_device(text)))
                    .next();
                let event = JobEvent::Calibration { calibration, device, whole, whole_device };
                readable(event, why)
            }
            WorkerMessage::Device { file, whole } => {
                let files = [Some(&file), whole.as_ref()];
                let why = files.into_iter().flatten().find_map(|text| unreadable_device(text));
                readable(JobEvent::Device { file, whole }, why)
            }
            WorkerMessage::Log { line } => {
                self.logs += 1;
                if self.logs > MAX_LOGS {
                    return Effect::Nothing;
                }
                Effect::Event(JobEvent::Log { line: short(&line) })
            }
            WorkerMessage::Done {} => Effect::Last((JobState::Done, None)),
            WorkerMessage::Stopped {} => Effect::Last((JobState::Canceled, None)),
            WorkerMessage::Failed { message } => {
                Effect::Last(failed(Reason::GaveUp, &[&short(&message)]))
            }
        }
    }

    /// The first prediction of a job sets its longest duration, within the limit of its kind; one beyond that limit ends the job
    /// before it has cost any time.
    fn planned(&mut self, predicted_s: Option<f64>, device: Option<DeviceName>) -> Effect {
        if let Some(seconds) = predicted_s.filter(|_| !self.is_planned) {
            let longest = self.longest;
            if seconds > longest.as_secs_f64() {
                let shown = |seconds: f64| format!("{seconds:.0}");
                let limits = [shown(seconds), shown(longest.as_secs_f64())];
                return Effect::Last(failed(Reason::WouldTakeTooLong, &[&limits[0], &limits[1]]));
            }
            let predicted = Duration::try_from_secs_f64(3.0 * seconds).unwrap_or(longest);
            self.allowed = longest.min(predicted.saturating_add(self.hooks.slack()));
            self.is_planned = true;
        }
        Effect::Event(JobEvent::Started { predicted_s, device })
    }

    fn measured(&mut self, record: Box<protocol::bench::BenchRecord>, bytes: usize) -> Effect {
        self.results += 1;
        self.bytes += bytes;
        if self.results > MAX_RESULTS {
            return Effect::Last(failed(Reason::ResultsFull, &[]));
        }
        if self.bytes > MAX_BYTES {
            return Effect::Last(failed(Reason::ResultsLarge, &[]));
        }
        match contradiction(&record) {
            None => Effect::Event(JobEvent::Result { record }),
            Some(why) => Effect::Last(failed(Reason::Contradiction, &[&why])),
        }
    }
}

/// When progress was told last, by the time since the start of the job.
#[derive(Debug, Default)]
struct Told(Option<Duration>);

impl Told {
    /// True if progress is told again. The longer a job has run the rarer that is, so that it never stops.
    fn again(&mut self, elapsed: Duration, is_last: bool) -> bool {
        let soon = PROGRESS.max(elapsed / PROGRESS_SHARE);
        let again = is_last || self.0.is_none_or(|told| elapsed.saturating_sub(told) >= soon);
        if again {
            self.0 = Some(elapsed);
        }
        again
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST_NOTE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_goes_on_as_long_as_the_job_in_a_limited_number_of_events() {
        let (mut told, mut events, mut last) = (Told::default(), 0_u32, 0);
        let day_ms = 24 * 3600 * 1000_u32;
        for ms in (0..day_ms).step_by(100) {
            if told.again(Duration::from_millis(ms.into()), false) {
                let gap = ms - last;
                assert!(gap <= 300 + ms / 1000, "{gap} ms after {ms} ms");
                (events, last) = (events + 1, ms);
            }
        }
        assert!((5000..10_000).contains(&events), "{events}");
        assert!(day_ms - last < 100_000, "{last}");
        // The last point is told at any time.
        assert!(told.again(Duration::from_millis(last.into()), true));
    }

    #[test]
    fn a_pause_of_the_daemon_is_nobodys_silence() {
        let hooks = Hooks::default();
        let mut limits = WorkerLimits::new(&hooks, BENCH);
        let (start, minute) = (limits.start, Duration::from_mins(1));
        let wake = start + LOOK;
        // A busy machine may wake it late.
        limits.leave_out_pause(wake, wake + STOPPED);
        assert_eq!((limits.start, limits.last_message), (start, start));
        let now = wake + 30 * minute;
        limits.leave_out_pause(wake, now);
        assert!(limits.late(now).is_none(), "neither silent nor too long");
        assert!(limits.late(now + hooks.silence()).is_some(), "from now on it counts");
    }
}
