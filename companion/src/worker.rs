//! The worker's side: one job on stdin, what happens on stdout, the end when stdin ends. The daemon starts it and nobody else.

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

/// How long a worker that was told to stop may take before it is ended.
const GRACE: Duration = Duration::from_millis(900);
/// Longest order.
const ORDER: u64 = 1 << 20;

/// Says things to the daemon.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    out: Arc<io::Stdout>,
    stop: Arc<AtomicBool>,
}

impl Voice {
    /// Says one message. A daemon that does not listen any more is gone, and so is the reason to go on.
    pub(crate) fn say(&self, message: &WorkerMessage) {
        let mut line = serde_json::to_vec(message).expect("messages have text keys");
        line.push(b'\n');
        let mut out = self.out.lock();
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    }

    /// True when the work should end.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reads the order and does it.
pub(crate) fn run(hooks: &Hooks) -> Result<(), String> {
    let mut order = String::new();
    let mut stdin = io::stdin().lock().take(ORDER);
    stdin.read_line(&mut order).map_err(|error| format!("no order: {error}"))?;
    drop(stdin);
    let spec: JobSpec = serde_json::from_str(&order)
        .map_err(|error| format!("this verb is for the daemon; the order is no job: {error}"))?;
    let stop = Arc::new(AtomicBool::new(false));
    let voice = Voice { out: Arc::new(io::stdout()), stop: Arc::clone(&stop) };
    #[cfg(debug_assertions)]
    if let Some(script) = hooks.script(&spec) {
        if script.act != script::Act::IgnoreCancel {
            ends_with_stdin(stop);
        }
        scripted::run(script, &voice);
        return Ok(());
    }
    ends_with_stdin(stop);
    let ended = match &spec {
        JobSpec::Bench(spec) => bench::run(spec, &voice, hooks),
        JobSpec::Calibrate(spec) => calibrate::run(spec, &voice, hooks),
    };
    voice.say(&match ended {
        Ok(true) => WorkerMessage::Done {},
        Ok(false) => WorkerMessage::Stopped {},
        Err(message) => WorkerMessage::Failed { message },
    });
    Ok(())
}

/// The daemon closes stdin to stop a job, and the system closes it when the daemon dies, however it dies.
fn ends_with_stdin(stop: Arc<AtomicBool>) {
    thread::spawn(move || {
        // Nothing more is expected on it.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        stop.store(true, Ordering::Relaxed);
        thread::sleep(GRACE);
        std::process::exit(1);
    });
}
