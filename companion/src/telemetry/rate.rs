//! Counters that become rates.

use std::time::Instant;

use super::SPAN;
use crate::measure::sensors::Reading as Found;

/// A counter that becomes a rate over at least [`SPAN`].
#[derive(Debug)]
pub(super) struct Rate<C> {
    before: Option<(Instant, C)>,
    rate: Option<Found<f64>>,
}

impl<C> Default for Rate<C> {
    fn default() -> Self {
        Self { before: None, rate: None }
    }
}

impl<C> Rate<C> {
    /// The rate after a reading that was taken at a moment.
    pub(super) fn next(
        &mut self,
        at: Instant,
        now: C,
        rate: impl Fn(&C, &C, f64) -> Found<f64>,
    ) -> Found<f64> {
        let passed = self.before.as_ref().map(|(before, _)| at.saturating_duration_since(*before));
        if passed.is_none_or(|passed| passed >= SPAN) {
            if let (Some((_, before)), Some(passed)) = (&self.before, passed) {
                self.rate = Some(rate(before, &now, passed.as_secs_f64()));
            }
            self.before = Some((at, now));
        }
        let first = || Err("the first reading has nothing to compare with".into());
        self.rate.clone().unwrap_or_else(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_rates_after_the_minimum_span() {
        let mut rate = Rate::default();
        let per_s = |before: &f64, now: &f64, seconds: f64| Ok((now - before) / seconds);
        let begin = Instant::now();
        let (soon, later) = (begin + SPAN / 2, begin + 2 * SPAN);
        assert!(rate.next(begin, 0.0, per_s).is_err());
        assert!(rate.next(soon, 1.0, per_s).is_err(), "too soon");
        let found = rate.next(later, 2.0, per_s).unwrap();
        assert!((found - 5.0).abs() < 1e-9, "2 in 0.4 s: {found}");
        assert_eq!(rate.next(later, 1e9, per_s), Ok(found), "the last one holds for a while");
    }
}
