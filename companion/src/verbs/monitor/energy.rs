//! Energy and power of each meter over a run, from its readings.

use std::sync::Arc;

use crate::measure::conditions::Follower;
use crate::measure::sensors::{PowerMeter, Reading, Shows};
use crate::measure::steps::MeanPower;

/// Shorter windows have no power of their own: counters advance in steps of about a millisecond.
const SHORTEST_WINDOW: f64 = 0.05;

/// The reason why a sample has no power of a counter that advances by steps.
const COARSE: &str = "the counter advances too seldom for the power of one sample; the other meter of the card has it";

/// A meter over a run.
#[derive(Debug, Clone)]
pub(super) struct Metered {
    pub(super) name: String,
    pub(super) source: String,
    /// Energy so far, or why it is unknown.
    joules: Reading<f64>,
    /// Largest power of a window [W].
    most: Option<f64>,
    last: Option<(f64, Shows)>,
    /// Time between the first and the last reading [s].
    seconds: f64,
    /// The thread that sees the steps of a card's counter.
    follower: Option<Arc<Follower>>,
    /// Mean power between the steps that it saw.
    by_steps: Option<Reading<MeanPower>>,
}

/// Energy and power of a meter over a whole run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MeteredEnergy {
    pub(super) joules: f64,
    pub(super) mean_watts: f64,
    /// Largest power of a window, or why there is none.
    pub(super) most_watts: Reading<f64>,
    /// Largest error by the steps of the counter, as a share; `None` where they are not known.
    pub(super) error: Option<f64>,
}

impl Metered {
    pub(super) fn new(meter: &PowerMeter) -> Self {
        Self {
            name: meter.name.clone(),
            source: meter.source.clone(),
            joules: Ok(0.0),
            most: None,
            last: None,
            seconds: 0.0,
            follower: None,
            by_steps: None,
        }
    }

    /// Has the steps of its counter seen by this thread from now on.
    pub(super) fn count_steps(&mut self, follower: Arc<Follower>) {
        follower.begin_counting();
        self.follower = Some(follower);
    }

    /// The run has ended.
    pub(super) fn end(&mut self) {
        let Some(follower) = &self.follower else { return };
        let unread = || Err("the counter was not read while the program ran".into());
        self.by_steps = Some(follower.end().map_or_else(unread, |run| run.power()));
    }

    /// Takes a reading at `t` s and returns the power since the last one [W].
    pub(super) fn take(&mut self, t: f64, shows: &Reading<Shows>) -> Reading<f64> {
        let now = match shows {
            Ok(now) => *now,
            Err(why) => {
                self.joules = Err(why.clone());
                return Err(why.clone());
            }
        };
        let before = self.last.replace((t, now));
        let Some((since, before)) = before else {
            return match now {
                Shows::Power(watts) => Ok(watts),
                Shows::Energy { .. } => Err("the first reading has nothing to compare with".into()),
            };
        };
        let seconds = t - since;
        let joules =
            passed(before, now, seconds).inspect_err(|why| self.joules = Err(why.clone()))?;
        self.seconds += seconds;
        self.joules = self.joules.clone().map(|sum| sum + joules);
        if self.follower.is_some() {
            return Err(COARSE.into());
        }
        if seconds < SHORTEST_WINDOW {
            return Err("the window is too short".into());
        }
        let watts = match now {
            Shows::Power(watts) => watts,
            Shows::Energy { .. } => joules / seconds,
        };
        self.most = Some(self.most.map_or(watts, |most| most.max(watts)));
        Ok(watts)
    }

    /// Energy and power of the run.
    pub(super) fn energy(&self) -> Reading<MeteredEnergy> {
        let joules = self.joules.clone()?;
        if self.seconds <= 0.0 {
            return Err("it was read only once".into());
        }
        // Nothing runs without energy: a host hides the counter from its guests, or the run was shorter than its step.
        if joules <= 0.0 {
            return Err(format!("{} does not advance", self.source));
        }
        if let Some(by_steps) = &self.by_steps {
            let MeanPower { watts, error } = by_steps.clone()?;
            return Ok(MeteredEnergy {
                joules: watts * self.seconds,
                mean_watts: watts,
                most_watts: Err(COARSE.into()),
                error: Some(error),
            });
        }
        Ok(MeteredEnergy {
            joules,
            mean_watts: joules / self.seconds,
            most_watts: self.most.ok_or_else(|| "no window was long enough".into()),
            error: None,
        })
    }
}

/// Energy between two readings [J].
fn passed(before: Shows, now: Shows, seconds: f64) -> Reading<f64> {
    match (before, now) {
        (Shows::Power(before), Shows::Power(now)) => Ok(f64::midpoint(before, now) * seconds),
        (Shows::Energy { joules: before, .. }, Shows::Energy { joules: now, range }) => {
            match (now - before, range) {
                (passed, _) if passed >= 0.0 => Ok(passed),
                // A counter wraps at its range, at most once between two readings.
                (passed, Some(range)) => Ok(passed + range),
                (_, None) => Err("the counter fell".into()),
            }
        }
        (Shows::Power(_), Shows::Energy { .. }) | (Shows::Energy { .. }, Shows::Power(_)) => {
            Err("the meter shows another quantity".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sensors::MeterOf;

    fn over(readings: &[(f64, Reading<Shows>)]) -> Reading<MeteredEnergy> {
        let shows = Ok(Shows::Power(0.0));
        let of = MeterOf::Processor;
        let meter = PowerMeter { name: "m".into(), source: "RAPL".into(), of, shows };
        let mut metered = Metered::new(&meter);
        for (t, shows) in readings {
            let _ = metered.take(*t, shows);
        }
        metered.energy()
    }

    const fn counter(joules: f64) -> Shows {
        Shows::Energy { joules, range: Some(100.0) }
    }

    #[test]
    fn counters_that_wrap_give_energy_mean_and_largest_power() {
        // 5 J in 1 s, then 8 J over the wrap, then 1 J in a window that is too short for a power.
        let found = over(&[
            (0.0, Ok(counter(90.0))),
            (1.0, Ok(counter(95.0))),
            (2.0, Ok(counter(3.0))),
            (2.01, Ok(counter(4.0))),
        ]);
        let found = found.unwrap();
        assert!((found.joules - 14.0).abs() < 1e-9);
        assert!((found.mean_watts - 14.0 / 2.01).abs() < 1e-9);
        assert_eq!(found.most_watts, Ok(8.0));
    }

    #[test]
    fn power_is_integrated() {
        let power = |watts| Ok(Shows::Power(watts));
        let found = over(&[(0.0, power(10.0)), (1.0, power(20.0)), (3.0, power(20.0))]).unwrap();
        assert!((found.joules - 55.0).abs() < 1e-9);
        assert_eq!(found.most_watts, Ok(20.0));
    }

    #[test]
    fn unknown_energy_has_a_reason_and_is_never_zero() {
        for (readings, expected) in [
            (vec![(0.0, Ok(counter(5.0)))], "only once"),
            (vec![(0.0, Ok(counter(5.0))), (1.0, Ok(counter(5.0)))], "RAPL does not advance"),
            (
                vec![
                    (0.0, Ok(counter(5.0))),
                    (1.0, Err("gone".to_owned())),
                    (2.0, Ok(counter(9.0))),
                ],
                "gone",
            ),
        ] {
            let why = over(&readings).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
