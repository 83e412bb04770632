//! The measuring method on a scripted clock and a noise model, reproducible on every machine.
//!
//! Noise model: a call takes `t·(1 + 0.01·N + wander)` with `N` normal; `wander` is autoregressive with factor 0.9 and deviation
//! 0.3 %; one call of twenty is interrupted and takes up to 30 % longer. This is a quiet laptop, not a busy one.

mod stepper;

use std::cell::Cell;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::Duration;

use super::*;
use crate::random::Random;

/// A clock that advances only with calls.
struct Scripted {
    now: Cell<u64>,
    looks: Cell<u64>,
    step: u64,
}

impl Scripted {
    fn new(step: u64) -> Self {
        Self { now: Cell::new(0), looks: Cell::new(0), step }
    }

    fn pass(&self, seconds: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "short times")]
        self.now.set(self.now.get() + (seconds * 1e9) as u64);
    }
}

impl Clock for Scripted {
    fn now_ns(&self) -> u64 {
        self.looks.set(self.looks.get() + 1);
        // Reading takes time, or the search for the clock's step would not end.
        self.now.set(self.now.get() + 20);
        self.now.get() / self.step * self.step
    }
}

/// A stopped clock.
struct StandsStill;

impl Clock for StandsStill {
    fn now_ns(&self) -> u64 {
        7
    }
}

/// The noise model of this file.
struct Noise {
    random: Random,
    wander: f64,
}

impl Noise {
    const fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), wander: 0.0 }
    }

    fn on(&mut self, time: f64) -> f64 {
        // 0.436 = √(1 − 0.9²) keeps the deviation at 0.3 %.
        self.wander = 0.9 * self.wander + 0.436 * 0.003 * self.random.normal();
        let interrupted = self.random.uniform() < 0.05;
        let spike = if interrupted { 0.3 * self.random.uniform() } else { 0.0 };
        time * (1.0 + 0.01 * self.random.normal() + self.wander + spike)
    }
}

/// A plan with windows of one 1 ms call and a short warm-up.
const QUICK: Plan = Plan {
    warm_up: WarmUp {
        least: Duration::from_millis(20),
        most: Duration::from_millis(400),
        slice: Duration::from_millis(5),
        spread: 0.03,
    },
    window: Duration::from_micros(900),
    rule: StopRule::Certain {
        half_width: 0.005,
        least: 10,
        shortest: Duration::ZERO,
        limit: Duration::from_secs(2),
    },
};

fn watch(_: Stage) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Measures what takes `time(seconds since the start)` per call.
fn timed(plan: &Plan, seed: u64, time: impl Fn(f64) -> f64) -> Measurement {
    let clock = Scripted::new(1);
    let mut noise = Noise::new(seed);
    let mut call = |_| -> Result<(), Infallible> {
        clock.pass(noise.on(time(clock.now.get() as f64 * 1e-9)));
        Ok(())
    };
    measure(&clock, plan, &mut call, &mut watch).unwrap()
}

fn compared(seed: u64, slower: f64) -> Comparison {
    let clock = Scripted::new(1);
    let noise = std::cell::RefCell::new(Noise::new(seed));
    let call = |time: f64| {
        clock.pass(noise.borrow_mut().on(time));
        Ok::<(), Infallible>(())
    };
    let mut pair = Pair { a: &mut |_| call(1e-3), b: &mut |_| call(1e-3 * slower), seed };
    interleave(&clock, &QUICK, &mut pair, &mut watch).unwrap()
}

/// Share of measurements of a call of `seconds` whose interval covers the true median, and the median number of samples.
fn coverage(plan: &Plan, trials: u64, seconds: f64) -> (f64, usize) {
    // Median of the noise model over four million calls; interruptions shift it.
    let truth = 1.000_664 * seconds;
    let mut sizes = Vec::new();
    let covered = (0..trials).filter(|seed| {
        let summary = timed(plan, *seed, |_| seconds).summary;
        sizes.push(summary.n);
        summary.interval.contains(truth)
    });
    let share = covered.count() as f64 / trials as f64;
    sizes.sort_unstable();
    (share, sizes[sizes.len() / 2])
}

#[test]
fn the_interval_holds_the_truth_of_the_noise_model_in_95_of_100_measurements() {
    let fixed = |n| Plan { rule: StopRule::Iterations(n), ..QUICK };
    let standard = Plan { rule: Plan::STANDARD.rule, ..QUICK };
    for (name, plan, seconds, wanted) in [
        ("20 samples", fixed(20), 1e-3, 0.95),
        ("100 samples", fixed(100), 1e-3, 0.95),
        ("500 samples", fixed(500), 1e-3, 0.95),
        ("the standard rule, calls of 1 ms", standard, 1e-3, 0.95),
        // A rule that stops at the first opportunity stops slightly too often by chance, confirmed or not.
        ("the standard rule, calls of 10 ms", standard, 1e-2, 0.935),
    ] {
        let trials = 1000;
        let (share, n) = coverage(&plan, trials, seconds);
        println!("{name}: {share} of 0.95, {n} samples");
        // Three standard deviations for this number of trials.
        let chance = 3.0 * calc_core::math::sqrt(wanted * (1.0 - wanted) / trials as f64);
        assert!(share >= wanted - chance && share < 1.0, "{name}: {share}");
        assert!(n <= 500, "{name}: it takes {n} samples");
    }
}

#[test]
fn it_ends_as_narrow_as_was_asked_for_or_says_that_it_did_not() {
    let standard = Plan { rule: Plan::STANDARD.rule, ..QUICK };
    for seed in 0..500 {
        let measured = timed(&standard, seed, |_| 1e-2);
        let width = measured.summary.relative_half_width();
        assert!(width < 0.005 || measured.flags.contains(&Flag::TimeLimit), "{seed}: {width}");
    }
}

#[test]
fn it_stops_when_the_median_is_certain_and_is_right() {
    for seed in 0..20 {
        let measured = timed(&QUICK, seed, |_| 1e-3);
        let summary = measured.summary;
        assert!(summary.relative_half_width() < 0.005, "{summary:?}");
        assert!((summary.median / 1e-3 - 1.0).abs() < 0.01, "{summary:?}");
        assert!(measured.samples.len() >= 10 && measured.samples.len() == summary.n);
        assert!(!measured.flags.contains(&Flag::TimeLimit), "{:?}", measured.flags);
    }
}

#[test]
fn equal_calls_seldom_differ_and_two_percent_are_nearly_always_found() {
    let trials = 2000;
    let share = |slower: f64| {
        let found = (0..trials).filter(|seed| compared(*seed, slower).differs).count();
        found as f64 / trials as f64
    };
    let (alarms, found) = (share(1.0), share(1.02));
    println!("A/A: {alarms} alarms per comparison; 2 % slower: found in {found}");
    assert!(alarms <= 0.01, "{alarms}");
    assert!(found >= 0.99, "{found}");
}

#[test]
fn the_ratio_of_a_comparison_is_that_of_the_calls() {
    let compared = compared(1, 1.5);
    assert!((compared.ratio - 1.5).abs() < 0.02, "{}", compared.ratio);
    assert!(compared.interval.contains(compared.ratio) && compared.differs);
}

#[test]
fn a_device_that_slows_down_is_found_and_a_steady_one_is_not_accused() {
    let long = Plan { rule: StopRule::Iterations(300), ..QUICK };
    for seed in 0..20 {
        for (name, time, expected) in [
            ("steady", (|_| 1e-3) as fn(f64) -> f64, false),
            ("slides", |t| 1e-3 * (1.0 + 0.2 * t), true),
            ("throttles after a while", |t| if t < 0.2 { 1e-3 } else { 1.15e-3 }, true),
        ] {
            let flags = timed(&long, seed, time).flags;
            assert_eq!(flags.contains(&Flag::Drift), expected, "{name} {seed}: {flags:?}");
        }
    }
}

#[test]
fn a_fallen_clock_is_throttling() {
    let mut measured = timed(&QUICK, 1, |_| 1e-3);
    measured.flag_throttling(3.0e9, 2.95e9);
    assert!(!measured.flags.contains(&Flag::Throttled));
    measured.flag_throttling(3.0e9, 2.7e9);
    assert!(measured.flags.contains(&Flag::Throttled));
}

#[test]
fn what_is_wrong_with_a_series_is_flagged() {
    type Time = fn(f64) -> f64;
    let levels: Time = |t| if (t * 80.0) % 2.0 < 1.0 { 1e-3 } else { 2e-3 };
    let wild: Time = |t| 1e-3 * (1.0 + 20.0 * (t * 7919.0).fract());
    for (name, time, expected) in [
        ("two levels of 12.5 ms", levels, [Flag::Unsteady, Flag::Bimodal, Flag::Autocorrelated]),
        ("anything from one to twenty", wild, [Flag::Unsteady, Flag::TimeLimit, Flag::TimeLimit]),
    ] {
        let measured = timed(&QUICK, 2, time);
        for flag in expected {
            assert!(measured.flags.contains(&flag), "{name}: {flag:?} in {:?}", measured.flags);
        }
    }
    let measured = timed(&QUICK, 2, wild);
    assert!((1.9..2.3).contains(&measured.timed), "{}", measured.timed);
    assert_eq!(timed(&QUICK, 2, |_| 1e-3).flags, []);
}

#[test]
fn warming_up_ends_when_the_time_per_call_is_flat() {
    // The time per call halves within 0.1 s.
    let measured = timed(&QUICK, 3, |t| 1e-3 * (1.0 + (0.1 - t).max(0.0) * 10.0));
    assert!((0.08..0.3).contains(&measured.warm_up), "{}", measured.warm_up);
    assert!(!measured.flags.contains(&Flag::Unsteady));
    assert!((measured.summary.median - 1e-3).abs() < 2e-5);
}

#[test]
fn iterations_override_the_rule() {
    let plan = Plan { rule: StopRule::Iterations(30), ..QUICK };
    let measured = timed(&plan, 4, |_| 1e-3);
    assert_eq!((measured.samples.len(), measured.rule), (30, StopRule::Iterations(30)));
}

#[test]
fn a_window_has_calls_enough_for_a_coarse_clock() {
    // A clock step of 100 µs, as in a browser: 200 steps are 20 ms.
    let clock = Scripted::new(100_000);
    let mut call = |_| -> Result<(), Infallible> {
        clock.pass(50e-6);
        Ok(())
    };
    let measured = measure(&clock, &QUICK, &mut call, &mut watch).unwrap();
    assert!((400..=500).contains(&measured.calls_per_window), "{}", measured.calls_per_window);
    assert!((measured.summary.median / 50e-6 - 1.0).abs() < 0.01);
}

#[test]
fn an_interruption_while_warming_up_leaves_windows_as_long_as_promised() {
    let plan = Plan { rule: StopRule::Iterations(3), ..QUICK };
    // Calls of 20 µs, 50 per window; any one is interrupted for 10 ms.
    for interrupted in 0..2000 {
        let clock = Scripted::new(1);
        let mut call = |iteration: Iteration| -> Result<(), Infallible> {
            clock.pass(if iteration.index == interrupted { 10e-3 } else { 20e-6 });
            Ok(())
        };
        let calls = measure(&clock, &plan, &mut call, &mut watch).unwrap().calls_per_window;
        assert!((45..=60).contains(&calls), "interrupted call {interrupted}: {calls} calls");
    }
}

#[test]
fn buffers_rotate_because_every_call_has_its_number() {
    let clock = Scripted::new(1);
    let mut indices = Vec::new();
    let mut call = |iteration: Iteration| -> Result<(), Infallible> {
        indices.push(iteration.index);
        clock.pass(1e-3);
        Ok(())
    };
    measure(&clock, &QUICK, &mut call, &mut watch).unwrap();
    assert!(indices.iter().copied().eq(0..indices.len() as u64));
}

#[test]
fn a_failing_call_a_canceling_watcher_and_a_stopped_clock_end_it() {
    let clock = Scripted::new(1);
    let mut fails = |iteration: Iteration| {
        if iteration.index == 30 {
            Err("broken")
        } else {
            clock.pass(1e-3);
            Ok(())
        }
    };
    let failed = measure(&clock, &QUICK, &mut fails, &mut watch);
    assert_eq!(failed.unwrap_err(), Stopped::Failed("broken"));

    let mut works = |_| -> Result<(), &str> {
        clock.pass(1e-3);
        Ok(())
    };
    let mut cancels = |stage| match stage {
        Stage::Sampling { n: 5, .. } => ControlFlow::Break(()),
        Stage::Choosing(_)
        | Stage::WarmUp(_)
        | Stage::Begin
        | Stage::Sampling { .. }
        | Stage::End => ControlFlow::Continue(()),
    };
    let canceled = measure(&clock, &QUICK, &mut works, &mut cancels);
    assert_eq!(canceled.unwrap_err(), Stopped::Canceled);

    let mut nothing = |_| -> Result<(), &str> { Ok(()) };
    let stopped = measure(&StandsStill, &QUICK, &mut nothing, &mut watch);
    assert_eq!(stopped.unwrap_err(), Stopped::NoTime);
}
