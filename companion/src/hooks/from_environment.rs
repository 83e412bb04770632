//! The hooks of a debug build. All are off unless the environment variable [`VARIABLE`] is set; the daemon then prints a warning.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use kernels::backend::fake;
use protocol::job::JobSpec;
use serde::{Deserialize, Serialize};

use super::Spoil;
use crate::sandbox::{GivenFile, Label, LeftOut, Right};
use crate::worker::script::Script;

/// Environment variable that holds the hooks as JSON.
const VARIABLE: &str = "RIDGEPOINT_TEST_HOOKS";

/// Environment variable with the file of the lock of those that measure; empty for none, so that tests do not wait for each other.
const TURN: &str = "RIDGEPOINT_TEST_TURN";

/// The hooks; the default changes nothing.
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    /// Runs the script that a bench job names as its backend.
    scripted: bool,
    /// Adds the scripted device with this script, as [`fake::Script`] reads it.
    device: Option<String>,
    /// Replaces the measurement plan of a job by so many samples of few points; the figures are worthless.
    quick_plan: Option<usize>,
    /// Replaces [`super::SILENCE`], in ms.
    silence_ms: Option<u64>,
    /// Replaces [`super::SLACK`], in ms.
    slack_ms: Option<u64>,
    /// File with seconds that are added to the wall clock.
    clock: Option<PathBuf>,
    /// Point at which the daemon is killed with SIGKILL.
    die_at: Option<String>,
    /// First write to the job store that fails, counted from 1; all later writes fail too.
    fail_write: Option<u64>,
    /// Number of ended jobs whose events are kept.
    keep_jobs: Option<u32>,
    /// Size at which the job store is full, in bytes.
    store_byte: Option<u64>,
    /// The task that runs jobs panics once.
    runner_panics: bool,
    /// Available memory, in bytes, in place of the system's figure.
    memory_byte: Option<u64>,
    /// File with the available memory, in bytes, for tests that change it while a job runs.
    memory_file: Option<PathBuf>,
    /// Replaces the longest duration of every kind of job, in ms.
    longest_ms: Option<u64>,
    /// Replaces [`super::TALLY`], in ms.
    tally_ms: Option<u64>,
    /// Pause after the changed keys are read and before they count, in ms.
    keys_pause_ms: Option<u64>,
    /// The settings of the job store's connection are printed.
    tells_settings: bool,
    /// `GET /healthz?panic` panics.
    panics: bool,
    /// Locks that a worker does not get.
    left_out: LeftOut,
    /// Files that every worker is given, by name.
    gives: BTreeMap<String, Gift>,
    /// Root folder in place of `/` for all that sensors read.
    sensors: Option<PathBuf>,
    /// Replaces [`super::METER_IDLE`], in ms.
    meter_idle_ms: Option<u64>,
    /// File while which is there no worker reads its order.
    deaf: Option<PathBuf>,
    /// Paths that a worker tries to open by the script for it, by name.
    tries: BTreeMap<String, PathBuf>,
    /// The simulation that watches and spoils writes.
    #[cfg(test)]
    #[serde(skip)]
    watcher: Option<super::Watcher>,
}

/// A file for workers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gift {
    path: PathBuf,
    right: Right,
}

impl Hooks {
    /// Reads the hooks of the environment.
    ///
    /// # Errors
    /// A sentence if the variable does not hold hooks.
    pub(crate) fn read() -> Result<Self, String> {
        let Some(text) = std::env::var_os(VARIABLE) else { return Ok(Self::default()) };
        eprintln!("test hooks are on: do not work with this daemon");
        let text = text.to_string_lossy();
        serde_json::from_str(&text).map_err(|error| format!("{VARIABLE}: {error}"))
    }

    /// The environment variable, for the process of a worker.
    pub(crate) fn variable() -> Option<(&'static str, std::ffi::OsString)> {
        std::env::var_os(VARIABLE).map(|value| (VARIABLE, value))
    }

    /// The hooks without their warning. Faults of the variable are told where the hooks are read as a whole.
    fn quietly() -> Self {
        let text = std::env::var(VARIABLE).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Root folder of what sensors read.
    pub(crate) fn sensors() -> PathBuf {
        Self::quietly().sensors.unwrap_or_else(|| PathBuf::from("/"))
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no such library is opened"))]
    pub(crate) fn meter_idle() -> Duration {
        Self::quietly().meter_idle_ms.map_or(super::METER_IDLE, Duration::from_millis)
    }

    /// File of the lock of those that measure.
    pub(crate) fn turn() -> Option<PathBuf> {
        let path = std::env::var_os(TURN).unwrap_or_else(|| super::TURN.into());
        (!path.is_empty()).then(|| path.into())
    }

    pub(crate) fn silence(&self) -> Duration {
        self.silence_ms.map_or(super::SILENCE, Duration::from_millis)
    }

    pub(crate) fn slack(&self) -> Duration {
        self.slack_ms.map_or(super::SLACK, Duration::from_millis)
    }

    pub(crate) fn tally(&self) -> Duration {
        self.tally_ms.map_or(super::TALLY, Duration::from_millis)
    }

    /// The script of the scripted device; `None` without one.
    pub(crate) fn device(&self) -> Option<fake::Script> {
        self.device.as_deref().and_then(fake::Script::parse)
    }

    pub(crate) const fn quick_plan(&self) -> Option<usize> {
        self.quick_plan
    }

    pub(crate) fn clock(&self) -> Option<PathBuf> {
        self.clock.clone()
    }

    pub(crate) fn keep_jobs(&self, usual: u32) -> u32 {
        self.keep_jobs.unwrap_or(usual)
    }

    pub(crate) fn store_bytes(&self, usual: u64) -> u64 {
        self.store_byte.unwrap_or(usual)
    }

    pub(crate) fn memory(&self) -> Option<u64> {
        let file = self.memory_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        file.and_then(|text| text.trim().parse().ok()).or(self.memory_byte)
    }

    pub(crate) fn longest(&self, usual: Duration) -> Duration {
        self.longest_ms.map_or(usual, Duration::from_millis)
    }

    pub(crate) fn pause_after_keys(&self) {
        if let Some(pause) = self.keys_pause_ms {
            std::thread::sleep(Duration::from_millis(pause));
        }
    }

    pub(crate) const fn tells_settings(&self) -> bool {
        self.tells_settings
    }

    pub(crate) const fn runner_panics(&self) -> bool {
        self.runner_panics
    }

    pub(crate) const fn panics(&self) -> bool {
        self.panics
    }

    /// The fate of the write with this number.
    pub(crate) fn spoils_write(&self, number: u64) -> Spoil {
        #[cfg(test)]
        if let Some(watcher) = &self.watcher {
            return watcher.spoils();
        }
        let fails = self.fail_write.is_some_and(|first| number >= first);
        if fails { Spoil::Before } else { Spoil::Nothing }
    }

    /// These hooks with a simulation that watches them.
    #[cfg(test)]
    pub(crate) fn watched(self, watcher: super::Watcher) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    pub(crate) const fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// The files for a worker, opened.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub(crate) fn given(&self) -> io::Result<Vec<GivenFile>> {
        let open = |(name, Gift { path, right }): (&String, &Gift)| {
            let label = Label { name: name.clone(), right: *right };
            Ok(GivenFile { label, descriptor: File::open(path)?.into() })
        };
        self.gives.iter().map(open).collect()
    }

    /// Waits while a worker is not to read its order.
    pub(crate) fn wait_before_order(&self) {
        while self.deaf.as_ref().is_some_and(|file| file.exists()) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) const fn tries(&self) -> &BTreeMap<String, PathBuf> {
        &self.tries
    }

    /// Kills this process if `place` is the chosen point. Unlike `abort`, SIGKILL flushes nothing and runs no handler.
    pub(crate) fn pass(&self, place: &str) {
        #[cfg(test)]
        if let Some(watcher) = &self.watcher {
            watcher.passes(place);
        }
        if self.die_at.as_deref() == Some(place) {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }

    /// Whether a job is a script that is allowed.
    pub(crate) fn is_scripted(&self, spec: &JobSpec) -> bool {
        self.script(spec).is_some()
    }

    /// The script of a job, if scripts are allowed and its backend names one.
    pub(crate) fn script(&self, spec: &JobSpec) -> Option<Script> {
        match spec {
            JobSpec::Bench(bench) if self.scripted => Script::parse(bench.backend.as_deref()?),
            JobSpec::Bench(_) | JobSpec::Calibrate(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_only_under_its_hook() {
        let spec = r#"{"kind":"bench","what":"bandwidth","backend":"scripted-2-5-x-finish"}"#;
        let spec: JobSpec = serde_json::from_str(spec).unwrap();
        assert_eq!(Hooks::default().script(&spec), None);
        assert!(Hooks { scripted: true, ..Hooks::default() }.script(&spec).is_some());
    }
}
