//! The queue: takes the oldest job, runs its worker, stores its messages, and ends a worker that hangs, contradicts itself, sends too
//! much, or is canceled.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::fault::Fault;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, RequestId, ToldSpec};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::child::{Next, Worker};
use super::message::{Order, WorkerMessage, contradiction, unreadable};
use super::store::{OPEN, Store};
use super::{has_room, is_possible, memory};
use crate::hooks::Hooks;
use crate::reason::Reason;

/// Grace time of a canceled worker; together with the wait for its end this is below 2 s.
const GRACE: Duration = Duration::from_secs(1);
/// Grace time of a worker after its last message.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Shortest time between two progress events; a job that has run longer reports in steps of a thousandth of its time.
const PROGRESS: Duration = Duration::from_millis(200);
const PROGRESS_SHARE: u32 = 1000;
/// Interval in which memory is looked at, and in which the daemon finds out that it was stopped itself.
const LOOK: Duration = Duration::from_millis(500);
/// Delay of a timer above which the daemon was stopped: by a signal, with its container, or by a machine without any time left.
const STOPPED: Duration = Duration::from_secs(1);
/// Longest time of a benchmark: the largest sweep takes a quarter of it.
const BENCH: Duration = Duration::from_hours(24);
/// Longest time of a calibration.
const CALIBRATION: Duration = Duration::from_hours(1);
/// Longest time of a job that predicts none.
const UNPLANNED: Duration = Duration::from_hours(1);
const MAX_RESULTS: u32 = 4096;
/// Largest size of the results of a job, in bytes.
const MAX_BYTES: usize = 64 << 20;
const MAX_LOGS: u32 = 500;
/// Largest number of messages of a worker, heartbeats included.
const MAX_MESSAGES: u32 = 200_000;
const LONGEST_NOTE: usize = 400;

/// The jobs of a daemon.
#[derive(Debug)]
pub(crate) struct Jobs {
    store: Store,
    hooks: Hooks,
    canceled: Mutex<BTreeSet<JobId>>,
    ending: AtomicBool,
    /// The running job, or the last one.
    running: Mutex<Option<JobId>>,
    /// Memory of the running job, in bytes.
    held: AtomicU64,
    /// The test hook that panics acts once.
    has_panicked: AtomicBool,
    /// Notified when a job is queued.
    waiting: Notify,
    /// Notified when a job is canceled.
    cancel: Notify,
}

impl Jobs {
    pub(crate) fn new(store: Store, hooks: Hooks) -> Arc<Self> {
        let (waiting, cancel) = (Notify::new(), Notify::new());
        Arc::new(Self {
            store,
            hooks,
            canceled: Mutex::default(),
            ending: AtomicBool::new(false),
            running: Mutex::default(),
            held: AtomicU64::new(0),
            has_panicked: AtomicBool::new(false),
            waiting,
            cancel,
        })
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// Stores a job and returns its number, or the number of the job that the same request id started before. A new job is stored only if
    /// `logged`, called with the text of the order, returns true.
    pub(crate) async fn start(
        &self,
        request: RequestId,
        owner: String,
        spec: &JobSpec,
        logged: impl FnOnce(&str) -> bool + Send + 'static,
    ) -> Result<(JobId, bool), Fault> {
        self.enqueue(request, owner, spec, None, logged).await
    }

    /// Stores a job that continues a canceled or interrupted one: with its order and its results. Otherwise like [`Self::start`].
    pub(crate) async fn start_rest(
        &self,
        request: RequestId,
        owner: String,
        ended: JobId,
        logged: impl FnOnce(&str) -> bool + Send + 'static,
    ) -> Result<(JobId, bool), Fault> {
        let known = self.store.get(ended).await?;
        let known = known.ok_or_else(|| Reason::NoJob.with(&[&ended.0]))?;
        if !matches!(known.state, JobState::Canceled | JobState::Interrupted) {
            return Err(Reason::NotCut.with(&[&ended.0, &known.state.key()]));
        }
        let ToldSpec::Known(spec) = &known.spec else {
            return Err(Reason::LaterJob.with(&[&ended.0]));
        };
        if matches!(spec, JobSpec::Calibrate(_)) {
            return Err(Reason::CalibrationCut.fault());
        }
        self.enqueue(request, owner, spec, Some(ended), logged).await
    }

    async fn enqueue(
        &self,
        request: RequestId,
        owner: String,
        spec: &JobSpec,
        continues: Option<JobId>,
        logged: impl FnOnce(&str) -> bool + Send + 'static,
    ) -> Result<(JobId, bool), Fault> {
        is_possible(spec)?;
        let room = has_room(spec, &self.hooks, self.held.load(Ordering::Relaxed));
        // A known request id is answered as before, even if memory is short now.
        let is_kept = room.is_ok();
        let logged = move |text: &str| is_kept && logged(text);
        let started = self.store.create(request, owner, spec, continues, logged).await;
        let started = started.map_err(|fault| room.err().unwrap_or(fault))?;
        self.waiting.notify_one();
        Ok(started)
    }

    /// Cancels a waiting or running job; false if it has ended already.
    pub(crate) async fn cancel(&self, job: JobId) -> Result<bool, Fault> {
        let ended = JobEvent::Ended { state: JobState::Canceled, fault: None };
        if self.store.append(job, ended, &[JobState::Queued]).await? {
            return Ok(true);
        }
        let known = self.store.get(job).await?;
        let state = known.ok_or_else(|| Reason::NoJob.with(&[&job.0]))?.state;
        let runs = state == JobState::Running;
        if runs {
            self.canceled().insert(job);
            self.cancel.notify_one();
        }
        Ok(runs)
    }

    /// Stops taking jobs and ends the running one.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
        self.cancel.notify_one();
        self.waiting.notify_one();
    }

    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    fn canceled(&self) -> MutexGuard<'_, BTreeSet<JobId>> {
        self.canceled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until the daemon ends. A panic ends the current job only.
    pub(crate) async fn run(self: Arc<Self>) {
        while let Err(panicked) = tokio::spawn(Arc::clone(&self).run_in_turn()).await {
            eprintln!("the job runner panicked: {panicked}");
            let (state, fault) = failed(Reason::Defect, &[]);
            let event = JobEvent::Ended { state, fault };
            let running = *self.running();
            if let Some(job) = running {
                // If this cannot be stored, the next daemon marks the job as interrupted.
                let _ = self.store.append(job, event, &[JobState::Running]).await;
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<JobId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run_in_turn(self: Arc<Self>) {
        self.held.store(0, Ordering::Relaxed);
        while !self.is_ending() {
            match self.store.claim().await {
                Ok(Some((job, spec, done))) => {
                    *self.running() = Some(job);
                    self.held.store(memory::needed(&spec), Ordering::Relaxed);
                    self.run_one(job, &Order { job: spec, done }).await;
                    self.held.store(0, Ordering::Relaxed);
                }
                Ok(None) => self.waiting.notified().await,
                // The store is broken, so no job is run.
                Err(_) => std::future::pending().await,
            }
        }
    }

    async fn run_one(&self, job: JobId, order: &Order) {
        let ended = match Worker::start(order).await {
            Ok(worker) => {
                self.hooks.pass("after_spawn");
                let first = !self.has_panicked.swap(true, Ordering::Relaxed);
                assert!(!(self.hooks.runner_panics() && first), "as the test hook asked");
                self.attend(job, worker, longest(&order.job)).await
            }
            Err(error) => failed(Reason::NotStarted, &[&error]),
        };
        self.canceled().remove(&job);
        let event = JobEvent::Ended { state: ended.0, fault: ended.1 };
        // If this cannot be stored, the next daemon marks the job as interrupted.
        let _ = self.store.append(job, event, &OPEN).await;
    }

    /// Reads a worker's messages to its end, and returns how it ended.
    async fn attend(&self, job: JobId, mut worker: Worker, longest: Duration) -> Ended {
        let mut limits = WorkerLimits::new(&self.hooks, longest);
        let verdict = loop {
            let (begin, wake) = (Instant::now(), limits.wake());
            let news = tokio::select! {
                // What waits is read before silence is judged.
                biased;
                () = self.cancel.notified() => News::Cancel,
                next = worker.next() => News::Heard(next),
                () = sleep_until(wake) => News::Time,
            };
            let now = Instant::now();
            limits.leave_out_pause(wake.max(begin), now);
            match news {
                News::Heard(Next::Says(message, bytes)) => match limits.handle(*message, bytes) {
                    Effect::Event(event) => match self.store.append(job, event, &OPEN).await {
                        Ok(true) => {}
                        Ok(false) => break Verdict::Over((JobState::Canceled, None)),
                        Err(fault) => break Verdict::Over((JobState::Failed, Some(fault))),
                    },
                    Effect::Nothing => {}
                    Effect::Last(ended) => break Verdict::Over(ended),
                },
                News::Heard(Next::Garbles(why)) => break Verdict::Over(failed(why, &[])),
                News::Heard(Next::Ends) => break Verdict::Silent,
                News::Time => {}
                News::Cancel => {
                    if self.is_ending() {
                        let fault = Reason::EndedWhileRunning.fault();
                        break Verdict::Over((JobState::Interrupted, Some(fault)));
                    }
                    if self.canceled().contains(&job) {
                        break Verdict::Canceled;
                    }
                }
            }
            if let Some(ended) = limits.look(now) {
                break Verdict::Over(ended);
            }
        };
        match verdict {
            Verdict::Canceled => {
                worker.ask_to_stop();
                worker.end(GRACE).await;
                (JobState::Canceled, None)
            }
            Verdict::Over(ended) => {
                let grace = if ended.0 == JobState::Done { EXIT_GRACE } else { Duration::ZERO };
                worker.end(grace).await;
                ended
            }
            Verdict::Silent => {
                let (status, words) = worker.end(EXIT_GRACE).await;
                let words = if words.is_empty() { words } else { format!(": {words}") };
                failed(Reason::NoLastWord, &[&format!("{status}{words}")])
            }
        }
    }
}

type Ended = (JobState, Option<Fault>);

/// What happened while a worker was attended.
enum News {
    Heard(Next),
    Cancel,
    Time,
}

enum Verdict {
    Over(Ended),
    /// The worker's output ended without a last message.
    Silent,
    Canceled,
}

enum Effect {
    Event(JobEvent),
    Nothing,
    Last(Ended),
}

fn failed(reason: Reason, details: &[&dyn std::fmt::Display]) -> Ended {
    (JobState::Failed, Some(reason.with(details)))
}

/// Longest time of a job of this kind, whatever it predicts.
const fn longest(spec: &JobSpec) -> Duration {
    match spec {
        JobSpec::Bench(_) => BENCH,
        JobSpec::Calibrate(_) => CALIBRATION,
    }
}

/// The limits of a worker: time without a message, duration, number and bytes of messages.
struct WorkerLimits<'a> {
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
    fn new(hooks: &'a Hooks, longest: Duration) -> Self {
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
    fn wake(&self) -> Instant {
        self.deadline().min(self.next_look)
    }

    /// The end of a job that takes too long, is silent, or takes the machine's last memory; looks only when it is time.
    fn look(&mut self, now: Instant) -> Option<Ended> {
        if now < self.wake() {
            return None;
        }
        self.next_look = now + LOOK;
        self.late(now).or_else(|| memory::runs_out(self.hooks))
    }

    /// Time in which this process was stopped is nobody's silence, and the worker may have been stopped with it.
    fn leave_out_pause(&mut self, wake: Instant, now: Instant) {
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

    fn handle(&mut self, message: WorkerMessage, bytes: usize) -> Effect {
        self.last_message = Instant::now();
        self.messages += 1;
        if self.messages > MAX_MESSAGES {
            return Effect::Last(failed(Reason::SaidTooMuch, &[]));
        }
        match message {
            WorkerMessage::Beat {} => Effect::Nothing,
            WorkerMessage::Plan { predicted_s } => self.planned(predicted_s),
            WorkerMessage::Progress { done, total, note } => self.progressed(done, total, &note),
            WorkerMessage::Result { record } => self.measured(record, bytes),
            WorkerMessage::Calibration { calibration, device } => {
                match unreadable(&calibration, device.as_deref()) {
                    None => Effect::Event(JobEvent::Calibration { calibration, device }),
                    Some(why) => Effect::Last(failed(Reason::CalibrationBad, &[&short(&why)])),
                }
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
    fn planned(&mut self, predicted_s: Option<f64>) -> Effect {
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
        Effect::Event(JobEvent::Started { predicted_s })
    }

    fn progressed(&mut self, done: u32, total: u32, note: &str) -> Effect {
        if !self.told.again(self.start.elapsed(), done == total) {
            return Effect::Nothing;
        }
        Effect::Event(JobEvent::Progress { done, total, note: short(note) })
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
    use protocol::limits::LIMITS;

    use super::*;

    /// Duration of a point as workers predict it, in s.
    const POINT_S: u64 = 5;

    #[test]
    fn the_largest_sweep_is_within_the_limit_of_its_kind() {
        let longest = BENCH.as_secs();
        assert!(4 * POINT_S * u64::from(LIMITS.points) <= longest, "{longest} s");
    }

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
