//! Slows down guessing: after ten failures within a minute the answer to a wrong proof is delayed, longer each time, and it is told to
//! come back later. Also limits how often a key opens sessions.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crate::keys::KeyId;

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

/// Sessions that a key may open at once before the sustained rate applies: all of a daemon, as after its restart, and some more.
const PACE_BURST: f64 = 100.0;
/// Sessions that a key may open per second, sustained.
const PACE_PER_S: f64 = 50.0;

/// How often each key opened a session lately.
#[derive(Debug, Default)]
pub(super) struct Pace {
    keys: BTreeMap<KeyId, (f64, Instant)>,
}

impl Pace {
    /// Counts a session of a key; false if the key opened too many.
    pub(super) fn opens(&mut self, key: KeyId, now: Instant) -> bool {
        let refilled = |left: f64, last: Instant| {
            (left + now.saturating_duration_since(last).as_secs_f64() * PACE_PER_S).min(PACE_BURST)
        };
        self.keys.retain(|_, (left, last)| refilled(*left, *last) < PACE_BURST);
        let (left, last) = self.keys.entry(key).or_insert((PACE_BURST, now));
        *left = refilled(*left, *last);
        *last = now;
        let may = *left >= 1.0;
        if may {
            *left -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use protocol::hex::Hex;

    use super::*;

    #[test]
    fn a_key_opens_a_limited_number_of_sessions_and_no_other_key_pays() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let opened = |pace: &mut Pace, key, at: Duration| pace.opens(Hex([key; 8]), start + at);
        let burst = (0..1000).filter(|_| opened(&mut pace, 1, Duration::ZERO)).count();
        assert_eq!(burst, 100);
        assert!(opened(&mut pace, 2, Duration::ZERO));
        let minute = |pace: &mut Pace| {
            (0..60_000).filter(|ms| opened(pace, 1, Duration::from_millis(*ms))).count()
        };
        let sustained = minute(&mut pace);
        assert!((2990..=3001).contains(&sustained), "{sustained}");
        // Keys that are quiet again take no memory.
        assert!(opened(&mut pace, 3, Duration::from_mins(5)));
        assert_eq!(pace.keys.len(), 1);
    }

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
