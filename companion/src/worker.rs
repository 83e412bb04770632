//! The worker process: reads one order from stdin, locks itself, writes messages to stdout, and ends when stdin closes. Only the daemon
//! starts it.

mod bench;
mod calibrate;
#[cfg(debug_assertions)]
pub(crate) mod script;
#[cfg(debug_assertions)]
pub(crate) mod scripted;
#[cfg(debug_assertions)]
mod tried;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use protocol::job::JobSpec;

use crate::hooks::Hooks;
use crate::jobs::message::WorkerMessage;
use crate::jobs::order::{self, Order, Task};
use crate::measure::machine;
use crate::sandbox::{self, Drives};

/// Time between a stop request and the forced exit.
const EXIT_GRACE: Duration = Duration::from_millis(900);

/// Channel to the daemon: messages as JSON lines on stdout.
#[derive(Debug, Clone)]
pub(crate) struct WorkerChannel {
    out: Arc<io::Stdout>,
    stop: Arc<AtomicBool>,
}

impl WorkerChannel {
    /// Sends one message. Exits when the daemon no longer reads.
    pub(crate) fn send(&self, message: &WorkerMessage) {
        let mut line = serde_json::to_vec(message).expect("messages have text keys");
        line.push(b'\n');
        let mut out = self.out.lock();
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    }

    /// Whether the daemon asked to stop.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reads the order from stdin, locks this process and runs the job.
pub(crate) fn run(hooks: &Hooks) -> Result<(), String> {
    hooks.wait_before_order();
    let Order { task, given } = order::receive(io::stdin())?;
    sandbox::limit(&given).map_err(|error| format!("the worker cannot limit itself: {error}"))?;
    // Before any other thread, because each has locks of its own.
    let drives = if machine::asks_for_gpu(&task.device) { Drives::Gpu } else { Drives::Nothing };
    let locks = sandbox::lock(&given, drives, hooks.left_out());
    let stop = Arc::new(AtomicBool::new(false));
    let channel = WorkerChannel { out: Arc::new(io::stdout()), stop: Arc::clone(&stop) };
    channel.send(&WorkerMessage::Locked { locks });
    #[cfg(debug_assertions)]
    if let Some(script) = hooks.script(&task.job) {
        if !matches!(script.act, script::Act::IgnoreCancel | script::Act::Hang) {
            stop_when_stdin_ends(stop);
        }
        scripted::run(script, task.done, &channel, &tried::Tries { hooks, given: &given });
        return Ok(());
    }
    stop_when_stdin_ends(stop);
    let Task { job, device, done } = &task;
    let ended = match job {
        JobSpec::Bench(spec) => bench::run(spec, device, *done, &channel, hooks),
        JobSpec::Calibrate(_) => calibrate::run(device, &channel, hooks),
    };
    channel.send(&match ended {
        Ok(true) => WorkerMessage::Done {},
        Ok(false) => WorkerMessage::Stopped {},
        Err(message) => WorkerMessage::Failed { message },
    });
    Ok(())
}

/// The daemon closes stdin to stop a job; the system closes it when the daemon dies.
fn stop_when_stdin_ends(stop: Arc<AtomicBool>) {
    thread::spawn(move || {
        // The daemon sends nothing after the job.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        stop.store(true, Ordering::Relaxed);
        thread::sleep(EXIT_GRACE);
        std::process::exit(1);
    });
}
