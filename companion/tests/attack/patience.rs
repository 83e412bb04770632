//! How long a test waits: without hurry for what must come, and by the promise for what must come soon.

use std::time::Duration;

/// Time after which a test gives up what it waits for. A machine under load may need long; a test that succeeds never takes it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Limit of a duration that the daemon promises. The test machine may be busy with other work, so a test tells the promise from a wait
/// of many seconds or without end; `cargo xtask soak` checks the promise itself.
pub(crate) fn promised(duration: Duration) -> Duration {
    if cfg!(feature = "soak") { duration } else { duration + Duration::from_secs(5) }
}
