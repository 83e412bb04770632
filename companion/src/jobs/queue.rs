//! The queue: takes the oldest job, runs its worker, stores its messages, and ends a worker that hangs, contradicts itself, sends too
//! much, or is canceled.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::fault::Fault;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, RequestId, ToldSpec};
use protocol::limits::LIMITS;
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
/// Shortest time between two progress events.
const PROGRESS: Duration = Duration::from_millis(200);
const MAX_RESULTS: u32 = 4096;
const MAX_LOGS: u32 = 500;
const MAX_PROGRESS: u32 = 5000;
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
                self.attend(job, worker).await
            }
            Err(error) => failed(Reason::NotStarted, &[&error]),
        };
        self.canceled().remove(&job);
        let event = JobEvent::Ended { state: ended.0, fault: ended.1 };
        // If this cannot be stored, the next daemon marks the job as interrupted.
        let _ = self.store.append(job, event, &OPEN).await;
    }

    /// Reads a worker's messages to its end, and returns how it ended.
    async fn attend(&self, job: JobId, mut worker: Worker) -> Ended {
        let mut limits = WorkerLimits::new(&self.hooks);
        let verdict = loop {
            tokio::select! {
                next = worker.next() => match next {
                    Next::Says(message) => match limits.handle(*message) {
                        Effect::Event(event) => match self.store.append(job, event, &OPEN).await {
                            Ok(true) => {}
                            Ok(false) => break Verdict::Over((JobState::Canceled, None)),
                            Err(fault) => break Verdict::Over((JobState::Failed, Some(fault))),
                        },
                        Effect::Nothing => {}
                        Effect::Last(ended) => break Verdict::Over(ended),
                    },
                    Next::Garbles(why) => break Verdict::Over(failed(why, &[])),
                    Next::Ends => break Verdict::Silent,
                },
                () = sleep_until(limits.deadline()) => break Verdict::Over(limits.late()),
                () = self.cancel.notified() => {
                    if self.is_ending() {
                        let fault = Reason::EndedWhileRunning.fault();
                        break Verdict::Over((JobState::Interrupted, Some(fault)));
                    }
                    if self.canceled().contains(&job) {
                        break Verdict::Canceled;
                    }
                }
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

/// The limits of a worker: time without a message, duration, number of messages.
struct WorkerLimits<'a> {
    hooks: &'a Hooks,
    start: Instant,
    last_message: Instant,
    allowed: Duration,
    told: Option<Instant>,
    messages: u32,
    results: u32,
    logs: u32,
    progress: u32,
}

impl<'a> WorkerLimits<'a> {
    fn new(hooks: &'a Hooks) -> Self {
        let now = Instant::now();
        let allowed = Duration::from_secs(u64::from(LIMITS.job_s));
        let (told, messages, results, logs, progress) = (None, 0, 0, 0, 0);
        Self {
            hooks,
            start: now,
            last_message: now,
            allowed,
            told,
            messages,
            results,
            logs,
            progress,
        }
    }

    fn deadline(&self) -> Instant {
        (self.last_message + self.hooks.silence()).min(self.start + self.allowed)
    }

    fn late(&self) -> Ended {
        let now = Instant::now();
        if now >= self.start + self.allowed {
            let allowed = format!("{:.1}", self.allowed.as_secs_f64());
            return failed(Reason::TooLong, &[&allowed]);
        }
        let silence = format!("{:.1}", self.hooks.silence().as_secs_f64());
        failed(Reason::Silent, &[&silence])
    }

    fn handle(&mut self, message: WorkerMessage) -> Effect {
        self.last_message = Instant::now();
        self.messages += 1;
        if self.messages > MAX_MESSAGES {
            return Effect::Last(failed(Reason::SaidTooMuch, &[]));
        }
        match message {
            WorkerMessage::Beat {} => Effect::Nothing,
            WorkerMessage::Plan { predicted_s } => self.planned(predicted_s),
            WorkerMessage::Progress { done, total, note } => self.progressed(done, total, &note),
            WorkerMessage::Result { record } => self.measured(record),
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

    /// A prediction shortens the longest duration of a job and never extends it.
    fn planned(&mut self, predicted_s: Option<f64>) -> Effect {
        if let Some(seconds) = predicted_s {
            let predicted = Duration::try_from_secs_f64(3.0 * seconds).unwrap_or(self.allowed);
            self.allowed = self.allowed.min(predicted.saturating_add(self.hooks.slack()));
        }
        Effect::Event(JobEvent::Started { predicted_s })
    }

    fn progressed(&mut self, done: u32, total: u32, note: &str) -> Effect {
        let last = done == total;
        let soon = self.told.is_some_and(|told| told.elapsed() < PROGRESS);
        if (soon && !last) || self.progress >= MAX_PROGRESS {
            return Effect::Nothing;
        }
        self.told = Some(Instant::now());
        self.progress += 1;
        Effect::Event(JobEvent::Progress { done, total, note: short(note) })
    }

    fn measured(&mut self, record: Box<protocol::bench::BenchRecord>) -> Effect {
        self.results += 1;
        if self.results > MAX_RESULTS {
            return Effect::Last(failed(Reason::ResultsFull, &[]));
        }
        match contradiction(&record) {
            None => Effect::Event(JobEvent::Result { record }),
            Some(why) => Effect::Last(failed(Reason::Contradiction, &[&why])),
        }
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST_NOTE).collect()
}
