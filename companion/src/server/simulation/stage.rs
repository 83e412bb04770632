//! The workers of a simulation: each plays the script of its job by the simulated clock, and misbehaves as the script says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::job::{JobEvent, JobSpec, ProgressUnit};
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::dice::Dice;
use crate::jobs::message::WorkerMessage;
use crate::jobs::order::Task;
use crate::jobs::{Cast, Played};
use crate::worker::script::{Act, Script};
use crate::worker::scripted::record;

/// Bytes that a worker may write before the daemon reads.
const PIPE: usize = 16 << 10;

/// The workers, and what was seen of them.
#[derive(Debug, Default)]
pub(super) struct Stage {
    seen: Mutex<Seen>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) now: u32,
    /// The largest number at once.
    pub(super) most: u32,
    /// Workers whose order said that some points are measured already.
    pub(super) continued: u32,
}

/// A worker that runs.
struct OnStage(Arc<Stage>);

impl Drop for OnStage {
    fn drop(&mut self) {
        self.0.lock().now -= 1;
    }
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn seen(&self) -> Seen {
        *self.lock()
    }

    /// The players of a daemon's workers.
    pub(super) fn cast(self: &Arc<Self>, dice: Dice) -> Cast {
        let (stage, dice) = (Arc::clone(self), Mutex::new(dice));
        Arc::new(move |task| {
            let dice = dice.lock().unwrap_or_else(PoisonError::into_inner).fork();
            Arc::clone(&stage).play(&task, dice)
        })
    }

    fn play(self: Arc<Self>, task: &Task, mut dice: Dice) -> Played {
        let mut seen = self.lock();
        seen.now += 1;
        seen.most = seen.most.max(seen.now);
        seen.continued += u32::from(task.done > 0);
        drop(seen);
        let script = match &task.job {
            JobSpec::Bench(bench) => bench.backend.as_deref().and_then(Script::parse),
            JobSpec::Calibrate(_) => None,
        };
        let script = script.expect("jobs of a simulation have scripts");
        let (out, lines) = duplex(PIPE);
        let (stdin, stopped) = oneshot::channel();
        let (told, readings) = mpsc::unbounded_channel();
        let (done, on_stage) = (task.done, OnStage(self));
        let readings_after = dice.chance(30).then(|| Duration::from_millis(dice.below(3000)));
        let task = tokio::spawn(async move {
            let _on_stage = on_stage;
            if let Some(after) = readings_after {
                tokio::spawn(async move {
                    sleep(after).await;
                    // The job may have ended.
                    let _ = told.send(JobEvent::Readings { at_ms: vec![1], sensors: Vec::new() });
                });
            }
            Worker { out, stopped: Some(stopped) }.run(script, done).await
        });
        Played { lines, stdin, task, wedged: None, readings }
    }
}

/// A worker while it plays.
struct Worker {
    out: DuplexStream,
    stopped: Option<oneshot::Receiver<()>>,
}

impl Worker {
    async fn say(&mut self, message: &WorkerMessage) {
        let mut line = serde_json::to_vec(message).expect("messages have text keys");
        line.push(b'\n');
        self.raw(&line).await;
    }

    /// A worker whose daemon no longer reads has nothing to do.
    async fn raw(&mut self, bytes: &[u8]) {
        if self.out.write_all(bytes).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits; true if the daemon asked to stop.
    async fn waits(&mut self, ms: u64) -> bool {
        let Some(stopped) = &mut self.stopped else {
            sleep(Duration::from_millis(ms)).await;
            return false;
        };
        tokio::select! {
            biased;
            _ = stopped => true,
            () = sleep(Duration::from_millis(ms)) => false,
        }
    }

    /// Plays a script, and returns the status with which it exits.
    async fn run(mut self, script: Script, done: u32) -> String {
        if matches!(script.act, Act::IgnoreCancel | Act::Hang) {
            self.stopped = None;
        }
        let predicted_s = script.predicted_ms.map(|ms| ms / 1e3);
        self.say(&WorkerMessage::Plan { predicted_s, device: None }).await;
        for step in done + 1..=script.steps {
            if self.waits(script.step_ms.into()).await {
                self.say(&WorkerMessage::Stopped {}).await;
                return "exit status: 0".into();
            }
            let note = format!("step {step}");
            let (done, total) = (step.into(), script.steps.into());
            let unit = ProgressUnit::Points;
            self.say(&WorkerMessage::Progress { done, total, unit, note }).await;
            let record = Box::new(record(f64::from(step)));
            self.say(&WorkerMessage::Result { record }).await;
        }
        self.act(script.act).await;
        if script.act == Act::Crash { "signal: 6" } else { "exit status: 0" }.into()
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Finish => self.say(&WorkerMessage::Done {}).await,
            Act::Fail => self.say(&WorkerMessage::Failed { message: "as asked".into() }).await,
            Act::Hang => sleep(Duration::from_hours(1)).await,
            Act::Linger | Act::IgnoreCancel => {
                while !self.waits(200).await {
                    self.say(&WorkerMessage::Beat {}).await;
                }
                self.say(&WorkerMessage::Stopped {}).await;
            }
            Act::Crash | Act::Vanish | Act::Try => {}
            Act::Garble => self.raw(b"{\"say\":\"done\"\n\xff\xfe\n").await,
            Act::Oversize => loop {
                self.raw(&[b'x'; 4096]).await;
            },
            Act::Flood => loop {
                self.say(&WorkerMessage::Log { line: "flood".into() }).await;
            },
            Act::Lie => {
                let mut record = record(1.0);
                record.bytes *= 2.0;
                self.say(&WorkerMessage::Result { record: Box::new(record) }).await;
                self.say(&WorkerMessage::Done {}).await;
            }
            Act::Babble => {
                self.say(&WorkerMessage::Done {}).await;
                // It does not exit by itself.
                self.stopped = None;
                loop {
                    self.say(&WorkerMessage::Log { line: "one more thing".into() }).await;
                }
            }
        }
    }
}
