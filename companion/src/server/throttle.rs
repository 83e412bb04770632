//! Slows down guessing: after ten failures within a minute the answer to a wrong proof is delayed, longer each time, and it is told to
//! come back later. Also limits how often a key opens sessions, and how many lines of the audit log it has for itself.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

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

/// Sessions of a key: all of a daemon at once, as after its restart, and some more.
const SESSIONS: Rate = Rate { burst: 100.0, per_s: 50.0 };
/// Lines of a key in the audit log: more at once than a person starts in an hour, and few enough that a key that starts and cancels
/// without a pause needs weeks to push the lines of others out.
const LINES: Rate = Rate { burst: 120.0, per_s: 1.0 / 60.0 };

/// How often something may be done: so often at once, then so often per second.
#[derive(Debug, Clone, Copy)]
struct Rate {
    burst: f64,
    per_s: f64,
}

/// How often each key did something lately.
#[derive(Debug)]
pub(super) struct Pace {
    rate: Rate,
    keys: BTreeMap<KeyId, (f64, Instant)>,
}

impl Pace {
    /// The sessions that a key may open.
    pub(super) const fn of_sessions() -> Self {
        Self { rate: SESSIONS, keys: BTreeMap::new() }
    }

    /// The actions of a key that have a line of their own in the audit log.
    pub(super) const fn of_lines() -> Self {
        Self { rate: LINES, keys: BTreeMap::new() }
    }

    /// Counts one of a key; false if the key had too many.
    pub(super) fn takes(&mut self, key: KeyId, now: Instant) -> bool {
        let Rate { burst, per_s } = self.rate;
        let refilled = |left: f64, last: Instant| {
            (left + now.saturating_duration_since(last).as_secs_f64() * per_s).min(burst)
        };
        self.keys.retain(|_, (left, last)| refilled(*left, *last) < burst);
        let (left, last) = self.keys.entry(key).or_insert((burst, now));
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
        let (mut pace, start) = (Pace::of_sessions(), Instant::now());
        let opened = |pace: &mut Pace, key, at: Duration| pace.takes(Hex([key; 8]), start + at);
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

    /// A day of starting and canceling without a pause: lines of its own, and per minute a first one and a sum for each of the two.
    #[test]
    fn a_key_needs_weeks_to_fill_the_audit_log() {
        let (mut pace, start) = (Pace::of_lines(), Instant::now());
        let minutes = 24 * 60;
        let own = (0..60 * minutes)
            .filter(|second| pace.takes(Hex([1; 8]), start + Duration::from_secs(*second)))
            .count();
        assert!((1500..1600).contains(&own), "{own}");
        let bytes_per_day = (own as u64 + 4 * minutes) * 500;
        assert!(14 * bytes_per_day < crate::audit::MOST_BYTES, "{bytes_per_day} bytes per day");
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
        assert_eq!(throttle.failures.len(), KEPT, "a flood takes no memory");
        let (last, minute) = (Duration::from_millis(59_999), Duration::from_mins(1));
        assert_eq!(throttle.wait(start + last), LONGEST);
        assert_eq!(throttle.wait(start + minute), Duration::ZERO);
    }
}
