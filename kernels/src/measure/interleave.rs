//! Comparison of two calls: timed in pairs, in random order within a pair, so that changes of the machine affect both.

use std::ops::ControlFlow;

use calc_core::math::{exp, ln};

use super::stopper::{Decision, Stopper};
use super::timer::Timer;
use super::warm_up::WarmUpState;
use super::window::Windows;
use super::{Clock, Flag, Iteration, NoTime, Plan, Stage, Stopped, notify};
use crate::random::Random;
use crate::stats::{ALARM, CONFIDENCE, Interval, bimodal, median};

/// The calls to compare.
#[expect(missing_debug_implementations, reason = "calls have nothing to show")]
pub struct Pair<'a, E> {
    /// Baseline.
    pub a: &'a mut dyn FnMut(Iteration) -> Result<(), E>,
    /// Candidate.
    pub b: &'a mut dyn FnMut(Iteration) -> Result<(), E>,
    /// Seed of the random order.
    pub seed: u64,
}

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Time per call of A by pair [s].
    pub a: Vec<f64>,
    /// Time per call of B by pair [s].
    pub b: Vec<f64>,
    /// Median over the pairs of time B over time A.
    pub ratio: f64,
    /// Interval of the ratio with 95 % confidence.
    pub interval: Interval,
    /// Whether the 99 % interval excludes 1.
    pub differs: bool,
    /// Warnings, sorted.
    pub flags: Vec<Flag>,
}

/// Times two calls alternately. The stop rule applies to the ratio.
///
/// # Errors
/// As [`super::measure`].
pub fn interleave<E>(
    clock: &dyn Clock,
    plan: &Plan,
    pair: &mut Pair<'_, E>,
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
) -> Result<Comparison, Stopped<E>> {
    let mut random = Random::new(pair.seed);
    let timer = Timer::of_host(clock)?;
    let mut a = Warm::up(Windows::new(clock, pair.a), plan, timer, watch)?;
    let mut b = Warm::up(Windows::new(clock, pair.b), plan, timer, watch)?;
    let steady = a.is_steady && b.is_steady;
    notify(watch, Stage::Begin)?;
    let start = clock.now_ns();
    let mut seen = TimedPairs::default();
    let mut stopper = Stopper::new(plan.rule);
    let timed_out = loop {
        if random.coin() {
            let first = a.sample()?;
            seen.push(first, b.sample()?);
        } else {
            let first = b.sample()?;
            seen.push(a.sample()?, first);
        }
        let (n, elapsed) = (seen.a.len(), clock.now_ns() - start);
        match stopper.decide(n, elapsed, || seen.half_width()) {
            Decision::Continue => {
                notify(watch, Stage::Sampling { n, half_width: stopper.half_width })?;
            }
            Decision::Done => break false,
            Decision::TimeLimit => break true,
        }
    };
    notify(watch, Stage::End)?;
    let mut compared = seen.comparison().ok_or(Stopped::NoTime)?;
    let known = [(timed_out, Flag::TimeLimit), (!steady, Flag::Unsteady)];
    compared.flags.extend(known.iter().filter(|(is, _)| *is).map(|(_, flag)| *flag));
    compared.flags.sort_unstable();
    Ok(compared)
}

/// One of the two calls, warmed up.
struct Warm<'a, E> {
    windows: Windows<'a, E>,
    /// Calls of a sample.
    calls: u64,
    is_steady: bool,
}

impl<'a, E> Warm<'a, E> {
    fn up(
        mut windows: Windows<'a, E>,
        plan: &Plan,
        timer: Timer,
        watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
    ) -> Result<Self, Stopped<E>> {
        let mut state = WarmUpState::new(plan, timer);
        let mut told = None;
        loop {
            if told != Some(state.slices()) {
                told = Some(state.slices());
                notify(watch, Stage::WarmUp(state.slices()))?;
            }
            let took = windows.time(state.calls())?;
            if let Some(warm) = state.took(&took)? {
                return Ok(Self { windows, calls: state.calls(), is_steady: warm.is_steady });
            }
        }
    }

    /// Time per call of one window [s].
    fn sample(&mut self) -> Result<f64, Stopped<E>> {
        let time = self.windows.time(self.calls)?.nanoseconds();
        if time > 0.0 { Ok(time * 1e-9 / self.calls as f64) } else { Err(NoTime.into()) }
    }
}

/// Pairs so far.
#[derive(Default)]
struct TimedPairs {
    a: Vec<f64>,
    b: Vec<f64>,
    logs: Vec<f64>,
}

impl TimedPairs {
    fn push(&mut self, a: f64, b: f64) {
        self.a.push(a);
        self.b.push(b);
        self.logs.push(ln(b / a));
    }

    /// Half the width of the interval of ln(ratio), which is relative to the ratio.
    fn half_width(&self) -> Option<f64> {
        let interval = Interval::of_median(&self.logs, CONFIDENCE)?;
        Some((interval.high - interval.low) / 2.0)
    }

    fn comparison(self) -> Option<Comparison> {
        let interval = Interval::of_median(&self.logs, CONFIDENCE)?;
        let sure = Interval::of_median(&self.logs, ALARM)?;
        let flags = if bimodal(&self.a) || bimodal(&self.b) { vec![Flag::Bimodal] } else { vec![] };
        Some(Comparison {
            ratio: exp(median(&self.logs)?),
            interval: Interval { low: exp(interval.low), high: exp(interval.high) },
            differs: !sure.contains(0.0),
            a: self.a,
            b: self.b,
            flags,
        })
    }
}
