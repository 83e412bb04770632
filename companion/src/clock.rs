//! The wall clock, for stamps and expiry dates only; durations are measured with the monotonic clock, never with this one.

use std::path::PathBuf;
#[cfg(all(test, debug_assertions))]
use std::sync::Arc;
#[cfg(all(test, debug_assertions))]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) type Millis = u64;

/// The source of the wall-clock time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    /// File with seconds to add, for tests that shift the clock of one daemon.
    turned_by: Option<PathBuf>,
    /// The time itself, in a simulation.
    #[cfg(all(test, debug_assertions))]
    scripted: Option<Arc<AtomicU64>>,
}

impl Clock {
    pub(crate) const fn turned_by(file: Option<PathBuf>) -> Self {
        Self {
            turned_by: file,
            #[cfg(all(test, debug_assertions))]
            scripted: None,
        }
    }

    /// A clock that a simulation sets.
    #[cfg(all(test, debug_assertions))]
    pub(crate) const fn scripted(time: Arc<AtomicU64>) -> Self {
        Self { turned_by: None, scripted: Some(time) }
    }

    /// The time now.
    pub(crate) fn now(&self) -> Millis {
        #[cfg(all(test, debug_assertions))]
        if let Some(time) = &self.scripted {
            return time.load(Ordering::Relaxed);
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX);
        now.saturating_add_signed(self.turned().saturating_mul(1000))
    }

    fn turned(&self) -> i64 {
        let text = self.turned_by.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }
}
