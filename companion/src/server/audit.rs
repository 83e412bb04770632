//! The background part of the audit log: counted refusals, and the last entries of a daemon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::daemon::{Daemon, write};
use crate::audit::{Action, Entry, Who};

/// Interval in which counted refusals are written.
const LOOK: Duration = Duration::from_secs(1);

/// Writes counted refusals until the daemon ends.
pub(super) async fn follow(daemon: Arc<Daemon>) {
    loop {
        tokio::time::sleep(LOOK.min(daemon.hooks.tally())).await;
        for entry in daemon.tally.due(Instant::now(), false) {
            daemon.note(entry);
        }
    }
}

/// Writes the last entries of a daemon.
pub(super) fn finish(daemon: &Daemon) {
    for entry in daemon.tally.due(Instant::now(), true) {
        write(&daemon.log, &entry, false);
    }
    write(&daemon.log, &Entry::done(Who::terminal(), Action::End, ""), true);
}
