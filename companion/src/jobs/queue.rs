//! The queue: takes the oldest job, runs its worker, stores its messages, and ends a worker that hangs, contradicts itself, sends too
//! much, or is canceled.

mod turn;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kernels::backend::DeviceId;
use kernels::devices::Device;
use protocol::bench::BenchKind;
use protocol::fault::Fault;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, RequestId, ToldSpec};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::child::{Left, Next, Worker, Workers};
use super::limits::{Effect, Ended, WorkerLimits, failed, longest};
use super::order::{Order, Task};
use super::readings::JobReadings;
use super::store::{OPEN, Store};
use super::wedged::Wedged;
use super::{device, has_room, is_possible, memory};
use crate::hooks::Hooks;
use crate::measure::{gpus, machine};
use crate::reason::Reason;
use crate::sandbox::Locks;
use crate::telemetry::SharedSensors;

/// Grace time of a canceled worker; together with its kill this is below 2 s where a process can be killed.
const GRACE: Duration = Duration::from_secs(1);
/// Grace time of a worker after its last message.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// The jobs of a daemon.
#[derive(Debug)]
pub(crate) struct Jobs {
    store: Store,
    hooks: Hooks,
    /// Devices of this machine.
    devices: Vec<Device>,
    workers: Workers,
    sensors: Arc<SharedSensors>,
    wedged: Wedged,
    ending: AtomicBool,
    /// The running job, or the last one.
    running: Mutex<Option<JobId>>,
    /// Memory of the running job, in bytes.
    held: AtomicU64,
    /// The test hook that panics acts once.
    has_panicked: AtomicBool,
    /// It was said that the kernel does not lock workers.
    has_told_locks: AtomicBool,
    /// Notified when a job is queued.
    waiting: Notify,
    /// Notified when a job is canceled.
    cancel: Notify,
}

impl Jobs {
    pub(crate) fn new(
        store: Store,
        hooks: Hooks,
        devices: Vec<Device>,
        workers: Workers,
        sensors: Arc<SharedSensors>,
    ) -> Arc<Self> {
        let (waiting, cancel) = (Notify::new(), Notify::new());
        Arc::new(Self {
            store,
            hooks,
            devices,
            workers,
            sensors,
            wedged: Wedged::default(),
            ending: AtomicBool::new(false),
            running: Mutex::default(),
            held: AtomicU64::new(0),
            has_panicked: AtomicBool::new(false),
            has_told_locks: AtomicBool::new(false),
            waiting,
            cancel,
        })
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// The reason why jobs of a device are refused, while a killed worker has not ended.
    pub(crate) fn wedged(&self) -> Option<Fault> {
        self.wedged.fault()
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
        let is_compared = match spec {
            JobSpec::Calibrate(_) => true,
            JobSpec::Bench(bench) => bench.what == BenchKind::Roofs,
        };
        if is_compared {
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
        let held = self.held.load(Ordering::Relaxed);
        let room = self.device(spec).and_then(|it| self.has_room(spec, it, held));
        // A known request id is answered as before, even if memory is short now.
        let is_kept = room.is_ok();
        let logged = move |text: &str| is_kept && logged(text);
        let started = self.store.create(request, owner, spec, continues, logged).await;
        let started = started.map_err(|fault| room.err().unwrap_or(fault))?;
        self.waiting.notify_one();
        Ok(started)
    }

    /// Refuses a device that a killed worker holds, and a job without room.
    fn has_room(&self, spec: &JobSpec, device: &Device, held: u64) -> Result<(), Fault> {
        self.wedged.lets(device.id)?;
        has_room(spec, device, &self.hooks, held)
    }

    /// The device of a job. A script of a test names none, and stands on the first.
    fn device(&self, spec: &JobSpec) -> Result<&Device, Fault> {
        match self.devices.first() {
            Some(first) if self.hooks.is_scripted(spec) => Ok(first),
            _ => device(spec, &self.devices),
        }
    }

    /// Cancels a waiting or running job; false if it has ended already.
    pub(crate) async fn cancel(&self, job: JobId) -> Result<bool, Fault> {
        let canceled = self.store.cancel(job).await?;
        self.cancel.notify_one();
        Ok(canceled)
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
                    let device = self.device(&spec);
                    let needed = device.as_ref().map_or(0, |it| memory::needed(&spec, it));
                    self.held.store(needed, Ordering::Relaxed);
                    match device.map(|it| (it.id, it.address.clone())) {
                        Ok((device, card)) => {
                            let watched = Watched { longest: longest(&spec), device, card };
                            let task = Task { job: spec, device: device.to_string(), done };
                            self.run_one(job, task, watched).await;
                        }
                        Err(fault) => self.close(job, (JobState::Failed, Some(fault))).await,
                    }
                    self.held.store(0, Ordering::Relaxed);
                }
                Ok(None) => self.waiting.notified().await,
                // The store is broken, so no job is run.
                Err(_) => std::future::pending().await,
            }
        }
    }

    async fn run_one(&self, job: JobId, task: Task, watched: Watched) {
        let _turn = match self.turn(job).await {
            Ok(turn) => turn,
            Err(ended) => return self.close(job, ended).await,
        };
        // When it was admitted, the job before it may have taken less than it needed.
        let device = self.device(&task.job);
        if let Err(fault) = device.and_then(|it| self.has_room(&task.job, it, 0)) {
            return self.close(job, (JobState::Failed, Some(fault))).await;
        }
        let order = self.hooks.given().map(|mut given| {
            if machine::asks_for_gpu(&task.device) {
                given.extend(gpus::files());
            }
            Order { task, given }
        });
        let worker = match order {
            Ok(order) => self.workers.start(order, &self.sensors),
            Err(error) => Err(error),
        };
        let ended = match worker {
            Ok((worker, readings)) => {
                self.hooks.pass("after_spawn");
                let first = !self.has_panicked.swap(true, Ordering::Relaxed);
                assert!(!(self.hooks.runner_panics() && first), "as the test hook asked");
                self.attend(job, worker, readings, watched).await
            }
            Err(error) => failed(Reason::NotStarted, &[&error]),
        };
        self.close(job, ended).await;
    }

    async fn close(&self, job: JobId, ended: Ended) {
        let event = JobEvent::Ended { state: ended.0, fault: ended.1 };
        // If this cannot be stored, the next daemon marks the job as interrupted.
        let _ = self.store.append(job, event, &OPEN).await;
    }

    /// Says once what the kernel does not keep workers from.
    fn tell_locks(&self, locks: &Locks) {
        if !locks.are_whole() && !self.has_told_locks.swap(true, Ordering::Relaxed) {
            eprintln!("workers are not fully locked: {}", locks.sentence());
        }
    }

    /// Reads a worker's messages to its end, and returns how it ended.
    async fn attend(
        &self,
        job: JobId,
        mut worker: Worker,
        mut readings: JobReadings,
        watched: Watched,
    ) -> Ended {
        let mut limits = WorkerLimits::new(&self.hooks, watched.longest);
        let verdict = loop {
            let (begin, wake) = (Instant::now(), limits.wake());
            let news = tokio::select! {
                // Waiting messages are read before silence is judged.
                biased;
                () = self.cancel.notified() => News::Cancel,
                next = worker.next() => News::Heard(next),
                event = readings.next() => News::Read(event),
                () = sleep_until(wake) => News::Time,
            };
            let now = Instant::now();
            limits.leave_out_pause(wake.max(begin), now);
            match news {
                News::Heard(Next::Says(message, bytes)) => match limits.handle(*message, bytes) {
                    Effect::Event(mut event) => {
                        if let (JobEvent::Result { record }, Some(card)) =
                            (&mut event, &watched.card)
                        {
                            self.sensors.latest().await.users_of(card).add_to(record);
                        }
                        match self.store.append(job, event, &OPEN).await {
                            Ok(true) => {}
                            Ok(false) => break Verdict::Over((JobState::Canceled, None)),
                            Err(fault) => break Verdict::Over((JobState::Failed, Some(fault))),
                        }
                    }
                    Effect::Locked(locks) => self.tell_locks(&locks),
                    Effect::Nothing => {}
                    Effect::Last(ended) => break Verdict::Over(ended),
                },
                News::Read(event) => {
                    // If this cannot be stored, the next event of the worker cannot either, and ends the job.
                    let _ = self.store.append(job, event, &OPEN).await;
                }
                News::Heard(Next::Garbles(why)) => break Verdict::Over(failed(why, &[])),
                News::Heard(Next::Ends) => break Verdict::Silent,
                News::Time => {}
                News::Cancel => {
                    if self.is_ending() {
                        let fault = Reason::EndedWhileRunning.fault();
                        break Verdict::Over((JobState::Interrupted, Some(fault)));
                    }
                    if self.store.is_canceled(job) {
                        break Verdict::Canceled;
                    }
                }
            }
            if let Some(ended) = limits.look(now) {
                break Verdict::Over(ended);
            }
        };
        // A sensor that hangs must not delay the end of the worker.
        let (ended, readings) =
            tokio::join!(self.left(worker, verdict, watched.device), readings.end());
        for event in readings {
            // As above: the event of the end is next.
            let _ = self.store.append(job, event, &OPEN).await;
        }
        ended
    }

    /// Ends a worker as a verdict asks.
    async fn left(&self, worker: Worker, verdict: Verdict, device: DeviceId) -> Ended {
        let grace = match &verdict {
            Verdict::Canceled => GRACE,
            Verdict::Silent | Verdict::Over((JobState::Done, _)) => EXIT_GRACE,
            Verdict::Over(_) => Duration::ZERO,
        };
        match (worker.end(grace).await, verdict) {
            (Left::Gone { .. }, Verdict::Canceled) => (JobState::Canceled, None),
            (Left::Gone { .. }, Verdict::Over(ended)) => ended,
            (Left::Gone { status, words }, Verdict::Silent) => {
                let words = if words.is_empty() { words } else { format!(": {words}") };
                failed(Reason::NoLastWord, &[&format!("{status}{words}")])
            }
            (Left::Wedged(gone), verdict) => {
                let fault = Some(self.wedged.hold(device, gone));
                match verdict {
                    // Whoever canceled it was told so, and may continue it.
                    Verdict::Canceled => (JobState::Canceled, fault),
                    Verdict::Over(ended @ (JobState::Done | JobState::Interrupted, _)) => ended,
                    Verdict::Over(_) | Verdict::Silent => (JobState::Failed, fault),
                }
            }
        }
    }
}

/// The part of a task that counts while its worker is attended.
struct Watched {
    /// Longest time of the job.
    longest: Duration,
    device: DeviceId,
    /// Place on its bus of the card that computes.
    card: Option<String>,
}

/// An event while a worker is attended.
enum News {
    Heard(Next),
    /// Readings of sensors.
    Read(JobEvent),
    Cancel,
    Time,
}

enum Verdict {
    Over(Ended),
    /// The worker's output ended without a last message.
    Silent,
    Canceled,
}
