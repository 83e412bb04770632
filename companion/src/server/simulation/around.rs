//! The surroundings of a client at a moment of the simulation.

use protocol::scope::Scope;
use rusqlite::Connection;

use super::World;
use crate::server::daemon::Daemon;

/// The surroundings of a seat.
pub(super) struct Around<'a> {
    pub(super) world: &'a mut World,
    pub(super) daemon: &'a Daemon,
    pub(super) db: &'a Connection,
    pub(super) now: u64,
    pub(super) is_broken: bool,
}

impl Around<'_> {
    /// The scopes of a key now; `None` without the key.
    pub(super) fn scopes(&self, key: usize) -> Option<Vec<Scope>> {
        let id = self.world.keys[key].id;
        self.daemon.keys.book().paired(id).map(|key| key.scopes.clone())
    }

    pub(super) fn note(&mut self, line: &str) {
        self.world.trace.push(format!("{}.{:06} {line}", self.world.life, self.now));
    }

    pub(super) fn blame(&mut self, what: String) {
        self.note(&format!("WRONG: {what}"));
        self.world.ledger.blame(what);
    }
}
