//! Two meters of one card held against each other: its counter of energy, and its power of now. Where both are right they agree over a
//! steady load. A reading of instant power shows only a part of a burst, so measurements with bursts are left out.

use super::run::{CardRun, Stretch};
use crate::measure::sensors::Reading;

/// Shortest time over which the meters are compared, of all measurements together [s].
const LEAST: f64 = 5.0;
/// Largest distance of a power from the mean, as a share, that counts as steady: readings of a constant load scatter by a few percent.
const STEADY: f64 = 0.1;
/// Difference as a share of the counted energy above which a record is flagged, beside the error by the steps of the counter.
const MOST_APART: f64 = 0.03;

/// Both meters over the steady measurements so far.
#[derive(Debug, Default)]
pub(super) struct MeterComparison {
    seconds: f64,
    within: f64,
    /// By the counter [J].
    counted: f64,
    /// By the power [J].
    integral: f64,
    /// Reason why the last measurement was left out.
    why: Option<String>,
}

/// Energy by power over energy by the counter, less one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Difference {
    pub(in super::super) share: f64,
    /// Its error by the steps of the counter.
    error: f64,
}

impl Difference {
    /// Whether it is larger than the meters and the steps of the counter explain.
    pub(in super::super) fn is_apart(self) -> bool {
        self.share.abs() > MOST_APART + self.error
    }
}

impl MeterComparison {
    pub(super) fn add(&mut self, run: &CardRun) {
        match run.steady(STEADY) {
            Ok(Stretch { seconds, within, joules, watts }) => {
                self.seconds += seconds;
                self.within += within;
                self.counted += joules;
                self.integral += watts * seconds;
                self.why = None;
            }
            Err(why) => self.why = Some(why),
        }
    }

    pub(super) fn difference(&mut self) -> Reading<Difference> {
        if self.seconds < LEAST {
            let so_far = format!(
                "the meters were compared over {:.1} s of steady power so far, and {LEAST} s are needed",
                self.seconds
            );
            return Err(match &self.why {
                Some(why) => format!("{so_far}; this time {why}"),
                None => so_far,
            });
        }
        let found = Difference {
            share: self.integral / self.counted - 1.0,
            error: self.within / self.seconds,
        };
        *self = Self::default();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::run;
    use super::*;

    #[test]
    fn bursts_are_never_apart_and_wrong_counters_of_a_steady_load_are() {
        let mut bursts = MeterComparison::default();
        for _ in 0..10 {
            // Readings fall into every second phase alone.
            bursts.add(&run(2.0, 0.1, |t| if t % 0.21 < 0.1 { 300.0 } else { 150.0 }));
        }
        let why = bursts.difference().unwrap_err();
        assert!(why.starts_with("the meters were compared over 0.0 s"), "{why}");
        assert!(why.contains("; this time the power changed by more than 10 %"), "{why}");
        let mut steady = MeterComparison::default();
        steady.add(&run(2.0, 0.1, |_| 300.0));
        assert!(steady.difference().is_err(), "2 s are too few");
        steady.add(&run(2.0, 0.1, |_| 250.0));
        steady.add(&run(2.0, 0.1, |_| 300.0));
        let found = steady.difference().unwrap();
        assert!(found.share.abs() < 0.01 && found.error > 0.0 && !found.is_apart(), "{found:?}");
        assert!(steady.difference().is_err(), "one that was told ends");
    }

    #[test]
    fn a_difference_within_the_error_of_the_steps_is_none() {
        for (share, error, expected) in
            [(0.031, 0.0, true), (0.029, 0.0, false), (-0.25, 0.02, true), (0.045, 0.02, false)]
        {
            assert_eq!(Difference { share, error }.is_apart(), expected, "{share} {error}");
        }
    }
}
