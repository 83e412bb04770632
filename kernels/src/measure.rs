//! How something is timed: warm up until it is steady, time windows of several calls, stop when the median is certain enough.
//! The clock is an argument, so that the browser measures by the same rules, and tests by a clock that they script.

mod interleave;
mod plan;
mod stopper;
mod window;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

pub use interleave::{Comparison, Pair, interleave};
pub use plan::{Plan, StopRule, WarmUp};

use crate::stats::{Summary, autocorrelation, bimodal, drift};
use stopper::{Stopper, Verdict};
use window::Windows;

/// Ranks that repeat more than this from one sample to the next are flagged; chance is at most 2/√n.
const MEMORY: f64 = 0.3;

/// A clock that never runs backwards.
pub trait Clock {
    /// Nanoseconds since some moment.
    fn now_ns(&self) -> u64;
}

/// What makes a result less than it seems. A result is kept and flagged, never dropped in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// The median was not certain enough when the time was up.
    TimeLimit,
    /// It was still getting faster or slower when the time for warming up was up.
    Unsteady,
    /// A later part differs from an earlier one.
    Drift,
    /// The clock of the device fell.
    Throttled,
    /// The samples sit on two levels.
    Bimodal,
    /// Samples depend on those before them. The interval allows for it.
    Autocorrelated,
    /// Others used the machine.
    Contended,
}

impl Flag {
    /// The word for it in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::TimeLimit => "time_limit",
            Self::Unsteady => "unsteady",
            Self::Drift => "drift",
            Self::Throttled => "throttled",
            Self::Bimodal => "bimodal",
            Self::Autocorrelated => "autocorrelated",
            Self::Contended => "contended",
        }
    }
}

/// Where a measurement is, for whoever watches it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stage {
    /// Warming up; so far this many slices.
    WarmUp(usize),
    /// The first sample is next: counters of energy are read here.
    Begin,
    /// Sampling.
    Sampling {
        /// Samples so far.
        n: usize,
        /// How uncertain the median was when it was looked at last, as a share of it.
        half_width: f64,
    },
    /// The last sample is taken: counters of energy are read here.
    End,
}

/// Why there is no measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped<E> {
    /// Whoever watches it wished so.
    Canceled,
    /// A call failed.
    Failed(E),
    /// The clock stands still, or a time is no number.
    NoTime,
}

/// A call that was timed.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Seconds per call, one of each window, in the order in which they were taken.
    pub samples: Vec<f64>,
    /// The same in a few numbers, in seconds.
    pub summary: Summary,
    /// Calls in a window.
    pub calls_per_window: u64,
    /// Seconds in all windows together.
    pub timed: f64,
    /// Seconds of warming up.
    pub warm_up: f64,
    /// What was to be watched.
    pub rule: StopRule,
    /// What makes it less than it seems.
    pub flags: Vec<Flag>,
}

impl Measurement {
    /// Adds a flag once.
    pub fn flag(&mut self, flag: Flag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
            self.flags.sort_unstable();
        }
    }

    /// Flags a clock that fell by more than 3 % between two readings, in Hz.
    pub fn flag_throttling(&mut self, before: f64, after: f64) {
        if after < 0.97 * before {
            self.flag(Flag::Throttled);
        }
    }
}

/// A call as what is timed sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iteration {
    /// Calls before this one: the number by which buffers rotate.
    pub index: u64,
    /// The clock is read after this call, so that work which was only started must be waited for.
    pub ends_window: bool,
}

/// Times a call.
///
/// # Errors
/// When a call fails, when `watch` breaks off, or when the clock stands still.
pub fn measure<E>(
    clock: &dyn Clock,
    plan: &Plan,
    call: &mut dyn FnMut(Iteration) -> Result<(), E>,
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
) -> Result<Measurement, Stopped<E>> {
    let mut windows = Windows::new(clock, plan, call)?;
    let warm = windows.warm_up(&plan.warm_up, watch)?;
    go_on(watch, Stage::Begin)?;
    let start = clock.now_ns();
    let mut samples = Vec::new();
    let mut stopper = Stopper::new(plan.rule);
    let timed_out = loop {
        samples.push(windows.sample()?);
        let (n, elapsed) = (samples.len(), clock.now_ns() - start);
        let half_width = || Summary::of(&samples).map(|summary| summary.relative_half_width());
        match stopper.verdict(n, elapsed, half_width) {
            Verdict::GoOn => {
                go_on(watch, Stage::Sampling { n, half_width: stopper.half_width })?;
            }
            Verdict::Done => break false,
            Verdict::TimeIsUp => break true,
        }
    };
    go_on(watch, Stage::End)?;
    let summary = Summary::of(&samples).ok_or(Stopped::NoTime)?;
    let mut measured = Measurement {
        flags: flags(&samples),
        summary,
        calls_per_window: windows.calls(),
        timed: samples.iter().sum::<f64>() * windows.calls() as f64,
        warm_up: warm.seconds,
        rule: plan.rule,
        samples,
    };
    if timed_out {
        measured.flag(Flag::TimeLimit);
    }
    if !warm.is_steady {
        measured.flag(Flag::Unsteady);
    }
    Ok(measured)
}

/// What the series itself says.
fn flags(samples: &[f64]) -> Vec<Flag> {
    let memory = autocorrelation(samples, 1);
    let chance = 2.0 / calc_core::math::sqrt(samples.len() as f64);
    let mut flags = Vec::new();
    if drift(samples).is_some_and(|drift| drift.is_real) {
        flags.push(Flag::Drift);
    }
    if bimodal(samples) {
        flags.push(Flag::Bimodal);
    }
    if memory > chance.max(MEMORY) {
        flags.push(Flag::Autocorrelated);
    }
    flags
}

fn go_on<E>(
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
    stage: Stage,
) -> Result<(), Stopped<E>> {
    match watch(stage) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stopped::Canceled),
    }
}
