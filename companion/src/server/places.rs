//! The limits on sockets: few without a proof, and a fixed number of sessions.

use std::sync::Arc;

use protocol::limits::LIMITS;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const SESSIONS: usize = LIMITS.sessions as usize;
/// Largest number of sockets without a proof.
const STRANGERS: usize = 8;

/// Permits for sockets; dropping one frees its place.
#[derive(Debug)]
pub(super) struct Places {
    strangers: Arc<Semaphore>,
    sessions: Arc<Semaphore>,
}

impl Places {
    pub(super) fn new() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { strangers: places(STRANGERS), sessions: places(SESSIONS) }
    }

    pub(super) fn stranger(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.strangers).try_acquire_owned().ok()
    }

    pub(super) fn session(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.sessions).try_acquire_owned().ok()
    }

    /// Number of open sessions.
    pub(super) fn sessions(&self) -> usize {
        SESSIONS - self.sessions.available_permits()
    }
}
