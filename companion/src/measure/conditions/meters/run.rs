//! Readings of a card while samples were taken: the steps of its counter of energy, and its power, clock and reasons for low clocks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::super::sensors::{CardSample, Reading};
use super::super::super::steps::{CounterSteps, MeanPower, seconds};

/// Age of a power at most: it is of the load so long after the begin. NVIDIA's documentation names no age; published measurements of its
/// cards found new values every 0.1 s.
pub(super) const AGE: Duration = Duration::from_millis(100);

/// Readings between the begin and the end of the samples.
#[derive(Debug, Clone)]
pub(crate) struct CardRun {
    began: Instant,
    ended: Option<Instant>,
    /// Steps of the counter.
    steps: CounterSteps,
    samples: Vec<(Instant, CardSample)>,
    /// Reason why the last reading of the counter failed.
    why: Option<String>,
    /// Reason why the last reading of everything failed.
    why_none: Option<String>,
}

/// Energy and power of the same time, in which the power was steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub(super) seconds: f64,
    /// Error of this time by the steps [s].
    pub(super) within: f64,
    pub(super) joules: f64,
    /// Mean of the power of now [W].
    pub(super) watts: f64,
}

impl CardRun {
    pub(super) fn new(began: Instant) -> Self {
        Self {
            began,
            ended: None,
            steps: CounterSteps::default(),
            samples: Vec::new(),
            why: None,
            why_none: None,
        }
    }

    pub(super) const fn began(&self) -> Instant {
        self.began
    }

    pub(super) const fn end(&mut self, at: Instant) {
        self.ended = Some(at);
    }

    /// Takes all readings of a moment. One that was asked for before the begin is none of this run.
    pub(super) fn take(&mut self, asked: Instant, at: Instant, found: Reading<CardSample>) {
        if asked < self.began {
            return;
        }
        match found {
            Ok(sample) => {
                self.count(asked, at, &sample.joules);
                self.samples.push((at, sample));
            }
            Err(why) => {
                self.why = Some(why.clone());
                self.why_none = Some(why);
            }
        }
    }

    /// Takes a reading of the counter.
    pub(super) fn count(&mut self, asked: Instant, at: Instant, found: &Reading<f64>) {
        if asked < self.began {
            return;
        }
        match found {
            Ok(joules) => self.steps.take(asked, at, *joules),
            Err(why) => self.why = Some(why.clone()),
        }
    }

    /// Length of the samples [s].
    fn length(&self) -> f64 {
        self.ended.map_or(0.0, |ended| seconds(self.began, ended))
    }

    /// The reason where no reading fell into the samples.
    fn unread(&self) -> String {
        let none = || format!("the samples took {:.3} s, in which no reading fell", self.length());
        self.why_none.clone().unwrap_or_else(none)
    }

    /// Number of all readings.
    pub(in super::super) const fn readings(&self) -> usize {
        self.samples.len()
    }

    /// Mean power by the counter between its first and its last step, so that no time in which the card rests counts.
    pub(crate) fn power(&self) -> Reading<MeanPower> {
        let unread = || self.why.clone().unwrap_or_else(|| self.unread());
        if self.steps.is_unread() {
            return Err(unread());
        }
        let found = self.steps.power(self.length());
        found.map_err(|coarse| self.why.clone().unwrap_or(coarse))
    }

    /// Mean of the power of now, without readings that may be of the time before the begin; and their number.
    pub(in super::super) fn mean_of_powers(&self) -> Reading<(f64, usize)> {
        let old = self.began + AGE;
        let (mut sum, mut number, mut why) = (0.0, 0_u32, None);
        for (_, sample) in self.samples.iter().filter(|(at, _)| *at >= old) {
            match &sample.watts {
                Ok(watts) => (sum, number) = (sum + watts, number + 1),
                Err(reason) => why = Some(reason.clone()),
            }
        }
        if number == 0 {
            return Err(why.unwrap_or_else(|| self.unread()));
        }
        Ok((sum / f64::from(number), number as usize))
    }

    /// Lowest and highest clock [Hz].
    pub(in super::super) fn clocks(&self) -> Reading<(f64, f64)> {
        let mut found: Reading<(f64, f64)> = Err(self.unread());
        for (_, sample) in &self.samples {
            match (&sample.clock, &mut found) {
                (Ok(clock), Ok((low, high))) => {
                    (*low, *high) = (low.min(*clock), high.max(*clock));
                }
                (Ok(clock), none) => *none = Ok((*clock, *clock)),
                (Err(why), Err(none)) => none.clone_from(why),
                (Err(_), Ok(_)) => {}
            }
        }
        found
    }

    /// Reasons for low clocks with the number of readings that had each, and the number of readings that told them. A card that rests
    /// has none.
    pub(in super::super) fn reasons(&self) -> Reading<(BTreeMap<&str, usize>, usize)> {
        let (mut all, mut number, mut why) = (BTreeMap::new(), 0, self.unread());
        for (_, sample) in &self.samples {
            match &sample.reasons {
                Ok(reasons) => {
                    number += 1;
                    for reason in reasons {
                        *all.entry(&**reason).or_default() += 1;
                    }
                }
                Err(reason) => why.clone_from(reason),
            }
        }
        if number > 0 { Ok((all, number)) } else { Err(why) }
    }

    /// The time between steps, once the powers are of the load, if the power was within a share of its mean.
    pub(super) fn steady(&self, share: f64) -> Reading<Stretch> {
        let (first, last) =
            self.steps.ends().ok_or_else(|| self.power().err().unwrap_or_default())?;
        let loaded = first.at.max(self.began + AGE);
        let of_load = self.samples.iter().filter(|(at, _)| *at >= loaded && *at <= last.at);
        let powers = of_load.map(|(_, sample)| sample.watts.clone());
        let powers = powers.collect::<Reading<Vec<f64>>>()?;
        if powers.len() < 3 {
            return Err(format!(
                "the samples took {:.3} s, too short to compare meters",
                self.length()
            ));
        }
        let watts = powers.iter().sum::<f64>() / powers.len() as f64;
        let is_steady = powers.iter().all(|power| (power - watts).abs() <= share * watts);
        if !is_steady {
            return Err(format!(
                "the power changed by more than {:.0} % while sampling, and of bursts the power of now sees a part alone",
                share * 100.0
            ));
        }
        let (seconds, within) = (seconds(first.at, last.at), first.within.max(last.within));
        Ok(Stretch { seconds, within, joules: last.joules - first.joules, watts })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A card that draws 100 W, and `load(t)` between 0 and `length` s, with a counter that advances every `step` s; it is read from 0.5 s
    /// before the begin until 0.5 s after the end.
    pub(in super::super) fn run(length: f64, step: f64, load: impl Fn(f64) -> f64) -> CardRun {
        let origin = Instant::now();
        let at = |t: f64| origin + Duration::from_secs_f64(t + 1.0);
        let mut run = CardRun::new(at(0.0));
        let watts = |t: f64| if (0.0..length).contains(&t) { load(t) } else { 100.0 };
        let (mut joules, mut shown, mut due) = (0.0, 0.0, -0.5);
        for tick in 0_u32.. {
            let t = f64::from(tick) / 1000.0 - 0.5;
            if t >= length + 0.5 {
                break;
            }
            joules += watts(t) / 1000.0;
            if t + 1e-9 >= due {
                (shown, due) = (joules, due + step);
            }
            if t >= length || tick % 10 != 3 {
                continue;
            }
            let (asked, told) = (at(t), at(t + 0.001));
            if tick % 100 == 13 {
                let reasons = if t < length / 2.0 { vec!["power cap".to_owned()] } else { vec![] };
                let clock = Ok(1e9 + t);
                let sample = CardSample {
                    joules: Ok(shown),
                    watts: Ok(watts(t)),
                    clock,
                    reasons: Ok(reasons),
                };
                run.take(asked, told, Ok(sample));
            } else {
                run.count(asked, told, &Ok(shown));
            }
        }
        run.end(at(length));
        run
    }

    #[test]
    fn energy_between_steps_of_the_counter_has_no_time_at_rest() {
        for (length, step) in [(1.0, 0.1), (1.0, 0.07), (2.0, 0.1), (0.6, 0.02)] {
            let found = run(length, step, |_| 300.0).power().unwrap();
            assert!(found.error > 0.0 && found.error <= 0.05, "{found:?}");
            let off = (found.watts / 300.0 - 1.0).abs();
            assert!(off <= found.error, "{length} {step}: {found:?}");
        }
    }

    #[test]
    fn a_run_that_is_too_short_for_the_steps_has_no_power() {
        for (length, steps) in [(0.25, 2), (0.15, 1), (0.05, 0)] {
            let why = run(length, 0.1, |_| 300.0).power().unwrap_err();
            let expected = format!("advanced {steps} times in {length:.3} s");
            assert!(why.contains(&expected) && why.contains("measure for longer"), "{why}");
        }
        let mut unread = CardRun::new(Instant::now());
        unread.end(unread.began());
        let expected = "the samples took 0.000 s, in which no reading fell";
        assert_eq!(unread.power(), Err(expected.to_owned()));
        assert_eq!(unread.reasons(), Err(expected.to_owned()));
        assert_eq!(unread.clocks(), Err(expected.to_owned()));
        let now = Instant::now();
        unread.take(now, now, Err("lost".into()));
        assert_eq!((unread.power(), unread.clocks()), (Err("lost".into()), Err("lost".into())));
    }

    #[test]
    fn readings_of_before_the_begin_do_not_count() {
        let mut all = run(1.0, 0.1, |_| 300.0);
        let before = all.began().checked_sub(Duration::from_millis(1)).expect("a later moment");
        let number = all.readings();
        let sample = CardSample {
            joules: Ok(1e9),
            watts: Ok(1e9),
            clock: Ok(1.0),
            reasons: Ok(vec!["temperature".into()]),
        };
        let power = all.power();
        all.take(before, all.began() + AGE, Ok(sample));
        all.count(before, all.began() + AGE, &Ok(1e9));
        assert_eq!((all.readings(), all.power()), (number, power));
        assert!(all.clocks().unwrap().0 >= 1e9);
    }

    #[test]
    fn reasons_are_counted_by_readings_and_clocks_have_a_range() {
        let all = run(1.0, 0.1, |_| 300.0);
        let (reasons, number) = all.reasons().unwrap();
        assert_eq!((reasons.into_iter().collect::<Vec<_>>(), number), (vec![("power cap", 5)], 10));
        let (low, high) = all.clocks().unwrap();
        assert!(low < high && high - low > 0.8, "{low} {high}");
    }

    #[test]
    fn the_mean_of_powers_leaves_out_those_that_may_be_of_the_time_before() {
        // The first reading, 13 ms after the begin, is older than the load.
        let all = run(1.0, 0.1, |t| if t < 0.05 { 100.0 } else { 300.0 });
        assert_eq!(all.mean_of_powers(), Ok((300.0, 9)));
        assert!(run(0.09, 0.1, |_| 300.0).mean_of_powers().is_err());
    }

    #[test]
    fn steady_power_is_compared_and_bursts_are_not() {
        let steady = run(2.0, 0.1, |_| 300.0).steady(0.1).unwrap();
        assert!((steady.joules / steady.seconds / steady.watts - 1.0).abs() < 0.01, "{steady:?}");
        let bursts = run(2.0, 0.1, |t| if t % 0.2 < 0.1 { 300.0 } else { 150.0 });
        let why = bursts.steady(0.1).unwrap_err();
        assert!(why.contains("changed by more than 10 %"), "{why}");
        let short = run(0.3, 0.1, |_| 300.0).steady(0.1).unwrap_err();
        assert!(short.contains("too short to compare"), "{short}");
    }
}
