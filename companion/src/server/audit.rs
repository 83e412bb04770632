//! The background part of the audit log: counted entries, and the last ones of a daemon.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::daemon::Daemon;
use crate::audit::{Action, Entry, Who};

/// Interval in which counted entries are written.
const LOOK: Duration = Duration::from_secs(1);

/// Writes counted entries until the daemon ends.
pub(super) async fn follow(daemon: Arc<Daemon>) {
    loop {
        tokio::time::sleep(LOOK.min(daemon.hooks.tally())).await;
        for entry in daemon.tally.due(Instant::now(), false) {
            daemon.notes.note(entry);
        }
        daemon.notes.probe();
    }
}

/// Writes the last entries of a daemon.
pub(super) fn finish(daemon: &Daemon) {
    for entry in daemon.tally.due(Instant::now(), true) {
        daemon.notes.note(entry);
    }
    daemon.notes.settle();
    daemon.notes.write(&Entry::done(Who::terminal(), Action::End, ""));
}
