//! Runs the program with the sampler beside it, and waits for its end.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{self, Pid, WaitId, WaitIdOptions, WaitOptions};

use super::sampler::{RunCounters, Sampler};
use super::series::Series;
use super::signals::{self, Target};
use crate::failure::Failure;
use crate::files;
use crate::telemetry::Owner;

/// A finished run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) command: Vec<String>,
    pub(super) interval: Duration,
    pub(super) wall: Duration,
    pub(super) status: ExitStatus,
    pub(super) sampler: Sampler,
    pub(super) end: RunCounters,
    /// Processes that the program left running.
    pub(super) left: u64,
    /// Reason why a file could not be written.
    pub(super) lost: Option<String>,
}

impl Run {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn of(
        command: &[OsString],
        interval: Duration,
        device: Option<Owner>,
        mut series: Option<Series>,
    ) -> Result<Self, Failure> {
        let (name, arguments) = command.split_first().expect("the flag requires a program");
        let target = Target::default();
        signals::listen(&target)
            .map_err(|error| Failure::Failed(format!("cannot listen for signals: {error}")))?;
        // Processes whose parents end become children of this one, and so remain in view. Without it their time is not counted.
        let _ = process::set_child_subreaper(Some(process::getpid()));
        let mut sampler = Sampler::begin(device);
        let names: Vec<String> = sampler.meters.iter().map(|meter| meter.name.clone()).collect();
        let mut lost = series.as_mut().and_then(|series| {
            series
                .begin(names.into_iter(), sampler.cards.heads())
                .err()
                .map(|error| series.lost(&error))
        });
        let started = Instant::now();
        let child = target.start(|| Command::new(name).args(arguments).spawn());
        let mut child = child.map_err(|error| {
            Failure::NoDevice(format!(
                "cannot start {}: {}",
                name.to_string_lossy(),
                files::said(&error)
            ))
        })?;
        let (ended, ends) = channel::<()>();
        let (wall, status) = thread::scope(|scope| {
            let (sampler, series, lost) = (&mut sampler, &mut series, &mut lost);
            scope.spawn(move || sample_until(&ends, interval, sampler, series, lost));
            let found = wait(&mut child, &target, started);
            // The sampler takes its last sample now.
            drop(ended);
            found
        });
        let status = status
            .map_err(|error| Failure::Failed(format!("cannot wait for the program: {error}")))?;
        reap();
        let left = crate::measure::process_tree::below("/".as_ref(), std::process::id()).processes;
        let end = sampler.end();
        let command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Ok(Self { command, interval, wall, status, sampler, end, left, lost })
    }

    /// The exit code of the program as shells report it.
    pub(super) fn exit_code(&self) -> i32 {
        let by_signal = || self.status.signal().map(|signal| 128 + signal);
        self.status.code().or_else(by_signal).unwrap_or(1)
    }
}

fn sample_until(
    ends: &Receiver<()>,
    interval: Duration,
    sampler: &mut Sampler,
    series: &mut Option<Series>,
    lost: &mut Option<String>,
) {
    let mut next = Instant::now();
    loop {
        let sample = sampler.sample();
        if let Some(file) = series
            && let Err(error) = file.write(&sample)
        {
            *lost = Some(file.lost(&error));
            *series = None;
        }
        // A late sample does not bring the next ones closer together.
        next = (next + interval).max(Instant::now());
        match ends.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    sampler.program_ended();
    let sample = sampler.sample();
    if let Some(file) = series
        && let Err(error) = file.write(&sample)
    {
        *lost = Some(file.lost(&error));
    }
}

/// Waits for the end. The program keeps its number until no signal can be sent to it any more.
fn wait(
    child: &mut Child,
    target: &Target,
    started: Instant,
) -> (Duration, std::io::Result<ExitStatus>) {
    let id = WaitId::Pid(Pid::from_child(child));
    while let Err(rustix::io::Errno::INTR) =
        process::waitid(id.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    {}
    let wall = started.elapsed();
    target.end();
    (wall, child.wait())
}

/// Collects ended processes that the program left behind, so that their time counts.
fn reap() {
    while let Ok(Some(_)) = process::wait(WaitOptions::NOHANG) {}
}
