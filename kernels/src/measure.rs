//! Measuring a call: warm up until the time per call is stable, time windows of several calls, stop when the interval of the
//! median is narrow enough. [`Stepper`] is this method without a loop and without a clock; [`drive`] and [`measure()`] are loops
//! around it.

mod interleave;
mod plan;
mod stepper;
mod stopper;
mod timer;
mod warm_up;
mod window;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

pub use interleave::{Comparison, Pair, interleave};
pub use plan::{Plan, StopRule, WarmUp};
pub use stepper::{Step, Stepper};
pub use timer::{DeviceSpan, DeviceWindows, HostSpan, Timer, Took};

use crate::stats::{Summary, autocorrelation, bimodal, drift};
use window::Windows;

/// Smallest autocorrelation of ranks at lag 1 that is flagged; chance reaches up to 2/√n.
const MIN_AUTOCORRELATION: f64 = 0.3;

/// A monotonic clock.
pub trait Clock {
    /// Nanoseconds since a fixed, arbitrary moment.
    fn now_ns(&self) -> u64;
}

/// Warnings about a result. A doubtful result is kept and flagged, never dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// The time limit ended the measurement before the interval was narrow enough.
    TimeLimit,
    /// The time per call was not stable when warm-up reached its time limit.
    Unsteady,
    /// A later part of the samples differs from an earlier one.
    Drift,
    /// The core clock fell, or the driver says that heat or a brake slowed the device down.
    Throttled,
    /// The samples form two levels.
    Bimodal,
    /// Samples depend on earlier ones. The interval accounts for it.
    Autocorrelated,
    /// Other processes used the machine.
    Contended,
    /// Two meters of the device disagree: its energy is doubtful, its times are not.
    MetersApart,
}

impl Flag {
    /// Key in records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::TimeLimit => "time_limit",
            Self::Unsteady => "unsteady",
            Self::Drift => "drift",
            Self::Throttled => "throttled",
            Self::Bimodal => "bimodal",
            Self::Autocorrelated => "autocorrelated",
            Self::Contended => "contended",
            Self::MetersApart => "meters_apart",
        }
    }
}

/// Progress of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stage {
    /// Ways to run are tried, with those tried so far.
    Choosing(usize),
    /// Warm-up, with the slices so far.
    WarmUp(usize),
    /// The first sample is next; energy counters are read here.
    Begin,
    /// A sample was taken.
    Sampling {
        /// Samples so far.
        n: usize,
        /// Half the relative width of the interval at the last evaluation.
        half_width: f64,
    },
    /// The last sample was taken; energy counters are read here.
    End,
}

/// Reasons why a measurement ended without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped<E> {
    /// The watcher canceled it.
    Canceled,
    /// A call failed.
    Failed(E),
    /// The clock stands still, or a time is NaN.
    NoTime,
}

/// A clock stands still, or a time is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTime;

impl<E> From<NoTime> for Stopped<E> {
    fn from(_: NoTime) -> Self {
        Self::NoTime
    }
}

/// The timing of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Time per call of each window, in order [s].
    pub samples: Vec<f64>,
    /// Summary of the samples [s].
    pub summary: Summary,
    pub calls_per_window: u64,
    /// Host time and clock of the windows, where the device times its own calls.
    pub device: Option<DeviceWindows>,
    /// Total time of all windows [s].
    pub timed: f64,
    /// Duration of the warm-up [s].
    pub warm_up: f64,
    /// Stop rule that was applied.
    pub rule: StopRule,
    /// Warnings, sorted.
    pub flags: Vec<Flag>,
}

impl Measurement {
    /// Adds a flag unless it is present.
    pub fn flag(&mut self, flag: Flag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
            self.flags.sort_unstable();
        }
    }

    /// Flags a core clock that fell by more than 3 % between two readings [Hz].
    pub fn flag_throttling(&mut self, before: f64, after: f64) {
        if after < 0.97 * before {
            self.flag(Flag::Throttled);
        }
    }
}

/// One call of the timed function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iteration {
    /// Index of the call, from 0; it selects the set of buffers.
    pub index: u64,
    /// The clock is read after this call, so asynchronous work must be waited for.
    pub ends_window: bool,
}

/// Times a call by the host's clock.
///
/// # Errors
/// When a call fails, when `watch` cancels, or when the clock stands still.
pub fn measure<E>(
    clock: &dyn Clock,
    plan: &Plan,
    call: &mut dyn FnMut(Iteration) -> Result<(), E>,
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
) -> Result<Measurement, Stopped<E>> {
    let mut windows = Windows::new(clock, call);
    let stepper = Stepper::new(plan, Timer::of_host(clock)?);
    drive(stepper, &mut |calls| windows.time(calls), watch)
}

/// Does what a stepper says: `window` runs a number of calls and says how long they took.
///
/// # Errors
/// When a window fails, when `watch` cancels, or when no time passes.
pub fn drive<E>(
    mut stepper: Stepper,
    window: &mut dyn FnMut(u64) -> Result<Took, Stopped<E>>,
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
) -> Result<Measurement, Stopped<E>> {
    loop {
        match stepper.step() {
            Step::Tell(stage) => notify(watch, stage)?,
            Step::Run { calls } => stepper.took(&window(calls)?)?,
            Step::Stop => return Ok(stepper.measurement()?),
        }
    }
}

/// Flags that follow from the samples alone.
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
    if memory > chance.max(MIN_AUTOCORRELATION) {
        flags.push(Flag::Autocorrelated);
    }
    flags
}

fn notify<E>(
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
    stage: Stage,
) -> Result<(), Stopped<E>> {
    match watch(stage) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stopped::Canceled),
    }
}
