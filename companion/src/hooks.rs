//! What tests may bend in the real binary: scripted jobs, shorter limits, a turned clock, a death at a chosen place.
//! All of it is off unless the environment variable [`VARIABLE`] is set, and the daemon says so when it is.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Names the variable that holds the hooks as JSON.
pub(crate) const VARIABLE: &str = "RIDGEPOINT_TEST_HOOKS";

/// The hooks; the default is a daemon as everybody runs it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    /// Scripted jobs are taken.
    pub(crate) fake: bool,
    /// Jobs take a glance at few points, so many samples of each: everything is real but the numbers, which are good for
    /// nothing.
    pub(crate) glance: Option<usize>,
    /// Milliseconds without a sign of life after which a job hangs.
    pub(crate) silence_ms: Option<u64>,
    /// Milliseconds beyond three times the prediction.
    pub(crate) slack_ms: Option<u64>,
    /// A file with seconds by which the wall clock is turned.
    pub(crate) clock: Option<PathBuf>,
    /// Where the daemon dies as by SIGKILL.
    pub(crate) die_at: Option<String>,
    /// The write to the store that fails, counted from 1, and all after it.
    pub(crate) fail_write: Option<u64>,
    /// Jobs that keep their events.
    pub(crate) keep_jobs: Option<u32>,
    /// What runs jobs panics once.
    pub(crate) runner_panics: bool,
    /// Bytes that the system says are available.
    pub(crate) memory_byte: Option<u64>,
    /// Milliseconds in which refusals of a kind are one line of the audit log.
    pub(crate) tally_ms: Option<u64>,
    /// `GET /healthz?panic` panics.
    pub(crate) panics: bool,
}

impl Hooks {
    /// Those of the environment.
    ///
    /// # Errors
    /// A text that is not theirs.
    pub(crate) fn of_environment() -> Result<Self, String> {
        let Some(text) = std::env::var_os(VARIABLE) else { return Ok(Self::default()) };
        let text = text.to_string_lossy();
        serde_json::from_str(&text).map_err(|error| format!("{VARIABLE}: {error}"))
    }

    /// True if any is set.
    pub(crate) fn any() -> bool {
        std::env::var_os(VARIABLE).is_some()
    }

    /// How long a job may be silent.
    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.silence_ms.unwrap_or(10_000))
    }

    /// The time in which refusals are counted together.
    pub(crate) fn tally(&self) -> Duration {
        Duration::from_millis(self.tally_ms.unwrap_or(60_000))
    }

    /// What a job may take beyond three times its prediction.
    pub(crate) fn slack(&self) -> Duration {
        Duration::from_millis(self.slack_ms.unwrap_or(30_000))
    }

    /// Ends the process without another word if this is the chosen place.
    pub(crate) fn pass(&self, place: &str) {
        if self.die_at.as_deref() == Some(place) {
            // Unlike `abort`, nothing is flushed and no handler runs.
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }
}
