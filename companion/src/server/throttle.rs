//! Slows down guessing: after ten failures within a minute every further proof is delayed, longer each time, and a wrong one
//! is told to come back later.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_mins(1);
const FREE: usize = 10;
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_millis(3200);
/// Number of failures that are kept; more would not change the delay.
const KEPT: usize = 32;

/// The failures of the last minute, of all clients together.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    failures: VecDeque<Instant>,
}

impl Throttle {
    /// The delay of the next proof.
    pub(super) fn wait(&mut self, now: Instant) -> Duration {
        self.failures.retain(|failure| now.saturating_duration_since(*failure) < WINDOW);
        match self.failures.len().checked_sub(FREE) {
            None => Duration::ZERO,
            Some(over) => FIRST.saturating_mul(1 << over.min(10)).min(LONGEST),
        }
    }

    /// Counts a failure.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failures.push_back(now);
        if self.failures.len() > KEPT {
            self.failures.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_failure_of_a_minute_is_slowed_down() {
        let start = Instant::now();
        let mut throttle = Throttle::default();
        for _ in 0..FREE {
            assert_eq!(throttle.wait(start), Duration::ZERO);
            throttle.failed(start);
        }
        let mut waits = Vec::new();
        for _ in 0..100 {
            waits.push(throttle.wait(start));
            throttle.failed(start);
        }
        assert_eq!(waits[..3], [FIRST, 2 * FIRST, 4 * FIRST]);
        assert_eq!(waits[99], LONGEST);
        assert_eq!(throttle.wait(start + WINDOW), Duration::ZERO);
    }
}
