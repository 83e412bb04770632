//! The monotonic system clock.

use std::time::Instant;

use crate::measure::Clock;

/// Monotonic time since its creation.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that starts at 0 now.
    #[expect(clippy::new_without_default, reason = "a clock that starts now is no default value")]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        // u64 holds 584 years of nanoseconds.
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
