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
use crate::jobs::message::{Order, WorkerMessage};

/// Time between a stop request and the forced exit.
const EXIT_GRACE: Duration = Duration::from_millis(900);
/// Longest job description [bytes].
const MAX_JOB_BYTES: u64 = 1 << 20;

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

/// Reads the job from stdin and runs it.
pub(crate) fn run(hooks: &Hooks) -> Result<(), String> {
    let mut job = String::new();
    let mut stdin = io::stdin().lock().take(MAX_JOB_BYTES);
    stdin.read_line(&mut job).map_err(|error| format!("cannot read the job: {error}"))?;
    drop(stdin);
    let Order { job: spec, done } = serde_json::from_str(&job).map_err(|error| {
        format!("this command is for the daemon; stdin has no valid job: {error}")
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    let channel = WorkerChannel { out: Arc::new(io::stdout()), stop: Arc::clone(&stop) };
    #[cfg(debug_assertions)]
    if let Some(script) = hooks.script(&spec) {
        if script.act != script::Act::IgnoreCancel {
            stop_when_stdin_ends(stop);
        }
        scripted::run(script, done, &channel);
        return Ok(());
    }
    stop_when_stdin_ends(stop);
    let ended = match &spec {
        JobSpec::Bench(spec) => bench::run(spec, done, &channel, hooks),
        JobSpec::Calibrate(spec) => calibrate::run(spec, &channel, hooks),
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
