//! Steps of a counter of energy: it advances every 20 to 100 ms on cards, so the energy between two moments is known to a step alone. Between
//! two steps that were seen it is known to the time between two readings.

use std::time::{Duration, Instant};

use super::sensors::Reading;

/// Largest error of a power by a counter, as a share: with a larger one there is none.
const MOST_ERROR: f64 = 0.05;
/// Time between two readings by which a step is looked for.
pub(crate) const SPACING: Duration = Duration::from_millis(10);
/// Longest time in which a counter that works advances once: twice the longest step that users measured.
const LONGEST_STEP: Duration = Duration::from_millis(200);

/// A counter at a moment, which is known so well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Count {
    asked: Instant,
    pub(crate) at: Instant,
    pub(crate) joules: f64,
    /// Time in which it took this figure [s].
    pub(crate) within: f64,
}

/// Mean power between two steps of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeanPower {
    pub(crate) watts: f64,
    /// Largest error, as a share of the power.
    pub(crate) error: f64,
}

/// The first and the last step of a counter among its readings.
#[derive(Debug, Clone, Default)]
pub(crate) struct CounterSteps {
    /// The last reading.
    last: Option<Count>,
    /// The first step and the last; the energy before the first step is not known.
    ends: Option<(Count, Count)>,
    number: u32,
}

impl Count {
    /// Mean power since an earlier step.
    ///
    /// # Errors
    /// Steps that lie too close together for a power, and a counter that fell or stands still.
    pub(crate) fn power_since(&self, before: &Self) -> Reading<MeanPower> {
        let passed = seconds(before.at, self.at);
        let joules = self.joules - before.joules;
        if joules <= 0.0 {
            return Err("the counter of energy does not advance".into());
        }
        let error = before.within.max(self.within) / passed;
        if passed > 0.0 && error <= MOST_ERROR {
            Ok(MeanPower { watts: joules / passed, error })
        } else {
            Err(too_coarse(&format!("its steps are {passed:.3} s apart")))
        }
    }
}

impl CounterSteps {
    /// Takes a reading that was asked for at a moment and answered at another one.
    pub(crate) fn take(&mut self, asked: Instant, at: Instant, joules: f64) {
        let now = Count { asked, at, joules, within: 0.0 };
        match self.last.replace(now) {
            // A counter that falls has begun anew.
            Some(last) if joules < last.joules => (self.ends, self.number) = (None, 0),
            Some(last) if joules > last.joules => {
                let step = Count { within: seconds(last.asked, at), ..now };
                let first = self.ends.map_or(step, |(first, _)| first);
                self.ends = Some((first, step));
                self.number += 1;
            }
            _ => {}
        }
    }

    /// Whether nothing was read.
    pub(crate) const fn is_unread(&self) -> bool {
        self.last.is_none()
    }

    /// The first and the last step.
    pub(crate) const fn ends(&self) -> Option<(Count, Count)> {
        self.ends
    }

    /// Mean power between the first and the last step of readings that took so many seconds.
    ///
    /// # Errors
    /// Too few steps.
    pub(crate) fn power(&self, length: f64) -> Reading<MeanPower> {
        let known = self.ends.and_then(|(first, last)| last.power_since(&first).ok());
        known.ok_or_else(|| {
            too_coarse(&format!("it advanced {} times in {length:.3} s", self.number))
        })
    }
}

fn too_coarse(why: &str) -> String {
    let most = MOST_ERROR * 100.0;
    format!(
        "the counter of energy is too coarse for a power within {most:.0} %: {why}; measure for longer"
    )
}

/// The next step of a counter, which is read until it advances.
///
/// # Errors
/// A counter that cannot be read or does not advance.
pub(crate) fn next_step(read: impl Fn() -> Reading<f64>) -> Reading<Count> {
    let (mut steps, begin) = (CounterSteps::default(), Instant::now());
    loop {
        let asked = Instant::now();
        let joules = read()?;
        steps.take(asked, Instant::now(), joules);
        if let Some((step, _)) = steps.ends {
            return Ok(step);
        }
        if begin.elapsed() > LONGEST_STEP {
            let ms = LONGEST_STEP.as_millis();
            return Err(format!("the counter of energy did not advance within {ms} ms"));
        }
        std::thread::sleep(SPACING);
    }
}

pub(crate) fn seconds(from: Instant, until: Instant) -> f64 {
    until.saturating_duration_since(from).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn count(at: Instant, joules: f64, within: f64) -> Count {
        Count { asked: at, at, joules, within }
    }

    #[test]
    fn power_between_two_steps_has_the_error_of_the_worse_one() {
        let begin = Instant::now();
        let later = begin + Duration::from_secs(2);
        let found = count(later, 450.0, 0.02).power_since(&count(begin, 50.0, 0.01));
        assert_eq!(found, Ok(MeanPower { watts: 200.0, error: 0.01 }));
        let coarse = count(later, 450.0, 0.11).power_since(&count(begin, 50.0, 0.01)).unwrap_err();
        assert!(coarse.contains("within 5 %: its steps are 2.000 s apart"), "{coarse}");
        for joules in [50.0, 20.0] {
            let why = count(later, joules, 0.01).power_since(&count(begin, 50.0, 0.01));
            assert!(why.unwrap_err().ends_with("does not advance"));
        }
        let same = count(begin, 60.0, 0.01).power_since(&count(begin, 50.0, 0.01));
        assert!(same.unwrap_err().contains("too coarse"), "no time passed");
    }

    #[test]
    fn a_step_is_looked_for_until_it_comes_or_does_not() {
        let reads = Cell::new(0);
        let found = next_step(|| {
            reads.set(reads.get() + 1);
            Ok(if reads.get() < 4 { 7.0 } else { 9.0 })
        });
        let found = found.unwrap();
        assert_eq!((reads.get(), found.joules), (4, 9.0));
        assert!(found.within >= SPACING.as_secs_f64() && found.within < 1.0, "{found:?}");
        assert!(next_step(|| Ok(7.0)).unwrap_err().contains("did not advance"));
        assert_eq!(next_step(|| Err("gone".into())), Err("gone".to_owned()));
    }
}
