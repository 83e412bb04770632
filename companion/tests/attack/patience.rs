//! How long a test waits: without hurry for what must come, and by the promise for what must come soon.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Setup, hooked};

/// Time after which a test gives up what it waits for. A machine under load may need long; a test that succeeds never takes it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Limit of a duration that the daemon promises. The test machine may be busy with other work, so a test tells the promise from a wait
/// of many seconds or without end; `cargo xtask soak` checks the promise itself.
pub(crate) fn promised(duration: Duration) -> Duration {
    if cfg!(feature = "soak") { duration } else { duration + Duration::from_secs(5) }
}

/// Hooks for scripted jobs. No worker of a loaded machine is as late as these limits.
pub(crate) fn scripting() -> Setup {
    limited(60_000, 60_000)
}

/// Hooks for scripted jobs with a limit of silence and one of time beyond the prediction, in ms.
pub(crate) fn limited(silence_ms: u32, slack_ms: u32) -> Setup {
    hooked(json!({ "scripted": true, "silence_ms": silence_ms, "slack_ms": slack_ms }))
}

/// Hooks for jobs that measure beside other programs, as [`scripting`] has them for those that are played.
pub(crate) fn measuring() -> Setup {
    hooked(json!({ "silence_ms": 60_000, "slack_ms": 120_000 }))
}
