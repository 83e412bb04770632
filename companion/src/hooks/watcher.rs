//! A watcher of the hooks: the simulation hears of every named point and every write of the job store, and may spoil them.

use std::fmt;
use std::sync::Arc;

use super::Spoil;

/// A simulation, as hooks see it.
pub(crate) trait Watch: Send + Sync {
    /// A named point is passed. A panic here is a kill of the daemon at this point.
    fn passes(&self, place: &str);
    /// A write is about to begin.
    fn spoils(&self) -> Spoil;
}

/// A handle to the simulation.
#[derive(Clone)]
pub(crate) struct Watcher(pub(crate) Arc<dyn Watch>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

impl Watcher {
    pub(crate) fn passes(&self, place: &str) {
        self.0.passes(place);
    }

    pub(crate) fn spoils(&self) -> Spoil {
        self.0.spoils()
    }
}
