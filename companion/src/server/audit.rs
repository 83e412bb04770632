//! What the daemon writes into the audit log: what was done before it is acknowledged, refusals in the background and counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::guard::Admitted;
use super::{Daemon, Peer};
use crate::audit::{Action, Entry, Log, Who};

/// How often counted refusals are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Who is at the other end of a request or a socket.
pub(super) fn who(peer: Peer, origin: Option<&str>) -> Who {
    let peer = match peer {
        Peer::Here => "this machine".to_owned(),
        Peer::Socket => "unix socket".to_owned(),
        Peer::Network(address) => address.to_string(),
    };
    Who { peer, origin: origin.map(str::to_owned), ..Who::default() }
}

impl Admitted {
    /// Who is at the other end.
    pub(super) fn who(&self) -> Who {
        who(self.peer, self.origin.as_deref())
    }
}

impl Daemon {
    /// Writes a line beside everything else; who did something waits for it, who was refused does not.
    pub(super) fn note(&self, entry: Entry) {
        let log = self.log.clone();
        tokio::task::spawn_blocking(move || write(&log, &entry, false));
    }

    /// Counts a refusal, and writes it down if it is the first of its kind in a while.
    pub(super) fn note_refusal(
        &self,
        who: impl FnOnce() -> Who,
        action: Action,
        why: &'static str,
    ) {
        if let Some(entry) = self.tally.refused(Instant::now(), who, action, why) {
            self.note(entry);
        }
    }
}

/// Writes a line; true if it is there.
pub(super) fn write(log: &Log, entry: &Entry, safe: bool) -> bool {
    let added = log.add(entry, safe);
    added.inspect_err(|error| eprintln!("the audit log cannot be written: {error}")).is_ok()
}

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
