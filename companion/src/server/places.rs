//! The limits on sockets: few without a proof, and a fixed number of sessions.

use std::sync::Arc;
use std::time::Duration;

use protocol::limits::LIMITS;
use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, Semaphore};

use super::fair::{Place, Rule, Table};
use super::peer::Group;
use crate::keys::KeyId;

const SESSIONS: usize = LIMITS.sessions as usize;
/// Largest number of sockets that have not sent anything yet. A newcomer always has a place, and keeps it while fewer than two thirds of
/// so many come after it.
const STRANGERS: usize = 96;
/// Newcomers that keep their place for [`SHELTER`], however many come after them.
pub(super) const SHELTERED: usize = 32;
/// Time for a request on a new connection, and for a proof on a new socket: two ways through `ssh -L` around the world.
pub(super) const SHELTER: Duration = Duration::from_millis(400);
/// Largest number of refused proofs that wait for their answer.
const REFUSED: usize = 32;
/// Largest number of sockets that pair at once.
const PAIRING: usize = 32;

/// The places for sockets.
#[derive(Debug)]
pub(super) struct Places {
    strangers: Arc<Table<Group>>,
    sessions: Arc<Table<KeyId>>,
    refused: Arc<Semaphore>,
    pairing: Arc<Semaphore>,
    writing: Mutex<()>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self {
            strangers: Table::new(Rule {
                most: STRANGERS,
                sheltered: SHELTERED,
                shelter: SHELTER,
                only_larger: false,
            }),
            sessions: Table::new(Rule {
                most: SESSIONS,
                sheltered: 0,
                shelter: Duration::ZERO,
                only_larger: true,
            }),
            refused: Arc::new(Semaphore::new(REFUSED)),
            pairing: Arc::new(Semaphore::new(PAIRING)),
            writing: Mutex::default(),
        }
    }

    /// A place until the first message. The one that has been silent for the longest time gives way.
    pub(super) fn stranger(&self, group: Group) -> Option<Place<Group>> {
        self.strangers.enter(group).map(|(place, _evicted)| place)
    }

    /// A place for a session of a key. A key that has more than the newcomer's gives one up.
    pub(super) fn session(&self, key: KeyId) -> Option<Place<KeyId>> {
        self.sessions.enter(key).map(|(place, _evicted)| place)
    }

    /// A place for a refused proof, whose answer is delayed.
    pub(super) fn refused(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.refused).try_acquire_owned().ok()
    }

    /// A place to pair; `None` while too many do.
    pub(super) fn pairing(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.pairing).try_acquire_owned().ok()
    }

    /// The turn to write a pairing, so that those who wait for the disk hold one thread and not all.
    pub(super) async fn turn_to_pair(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Number of open sessions.
    pub(super) fn sessions(&self) -> usize {
        self.sessions.taken()
    }
}
