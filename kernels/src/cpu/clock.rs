//! The clock of the system, for measurements on it.

use std::time::Instant;

use crate::measure::Clock;

/// Monotonic time since it was made.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// Starts at 0.
    #[expect(clippy::new_without_default, reason = "a clock that starts now is no default value")]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        // 584 years of nanoseconds fit.
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
