//! What the daemon writes into the audit log: what was done before it is acknowledged, refusals in the background and counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::daemon::{Daemon, write};
use crate::audit::{Action, Entry, Who};

/// How often counted refusals are looked at.
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

/// The last lines of a daemon.
pub(super) fn finish(daemon: &Daemon) {
    for entry in daemon.tally.due(Instant::now(), true) {
        write(&daemon.log, &entry, false);
    }
    write(&daemon.log, &Entry::done(Who::terminal(), Action::End, ""), true);
}
