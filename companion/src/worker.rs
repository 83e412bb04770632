//! The worker process: reads one order from stdin, writes messages to stdout, and ends when stdin closes. Only the daemon starts it.

mod bench;
mod calibrate;
#[cfg(debug_assertions)]
pub(crate) mod script;
#[cfg(debug_assertions)]
mod scripted;

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use protocol::job::JobSpec;

use crate::hooks::Hooks;
use crate::jobs::message::WorkerMessage;

/// Grace time after stdin closes.
const GRACE: Duration = Duration::from_millis(900);
/// Longest order, in bytes.
const ORDER: u64 = 1 << 20;

/// The channel from a worker to the daemon.
#[derive(Debug, Clone)]
pub(crate) struct WorkerChannel {
    out: Arc<io::Stdout>,
    stop: Arc<AtomicBool>,
}

impl WorkerChannel {
    /// Sends one message. If that fails the daemon is gone, and the process exits.
    pub(crate) fn send(&self, message: &WorkerMessage) {
        let mut line = serde_json::to_vec(message).expect("messages have text keys");
        line.push(b'\n');
        let mut out = self.out.lock();
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    }

    /// True once the job is canceled.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reads the order and executes it.
pub(crate) fn run(hooks: &Hooks) -> Result<(), String> {
    let mut order = String::new();
    let mut stdin = io::stdin().lock().take(ORDER);
    stdin.read_line(&mut order).map_err(|error| format!("no order: {error}"))?;
    drop(stdin);
    let spec: JobSpec = serde_json::from_str(&order)
        .map_err(|error| format!("this verb is for the daemon; the order is no job: {error}"))?;
    let stop = Arc::new(AtomicBool::new(false));
    let channel = WorkerChannel { out: Arc::new(io::stdout()), stop: Arc::clone(&stop) };
    #[cfg(debug_assertions)]
    if let Some(script) = hooks.script(&spec) {
        if script.act != script::Act::IgnoreCancel {
            ends_with_stdin(stop);
        }
        scripted::run(script, &channel);
        return Ok(());
    }
    ends_with_stdin(stop);
    let ended = match &spec {
        JobSpec::Bench(spec) => bench::run(spec, &channel, hooks),
        JobSpec::Calibrate(spec) => calibrate::run(spec, &channel, hooks),
    };
    channel.send(&match ended {
        Ok(true) => WorkerMessage::Done {},
        Ok(false) => WorkerMessage::Stopped {},
        Err(message) => WorkerMessage::Failed { message },
    });
    Ok(())
}

/// The daemon closes stdin to cancel a job, and the system closes it when the daemon dies.
fn ends_with_stdin(stop: Arc<AtomicBool>) {
    thread::spawn(move || {
        // No further input is expected.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        stop.store(true, Ordering::Relaxed);
        thread::sleep(GRACE);
        std::process::exit(1);
    });
}
