//! The method of measuring as a stepper without a loop of its own: it says how many calls to run, is told how long they took, and
//! says when to stop. Whoever can run calls and read a clock drives it: a processor, a GPU with a clock of its own, a browser.

use super::stopper::{Decision, Stopper};
use super::timer::{DeviceWindows, Timer, Took};
use super::warm_up::{WarmUpResult, WarmUpState};
use super::{Flag, Measurement, NoTime, Plan, Stage, flags};
use crate::stats::Summary;

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Tell whoever watches; here energy counters and clocks are read.
    Tell(Stage),
    /// Run this many calls, wait for the last one, and say how long they took: [`Stepper::took`].
    Run {
        /// Calls of this window.
        calls: u64,
    },
    /// Nothing: [`Stepper::measurement`] has the result.
    Stop,
}

/// A measurement in progress.
#[derive(Debug)]
pub struct Stepper {
    plan: Plan,
    stopper: Stopper,
    warming: WarmUpState,
    warm: Option<WarmUpResult>,
    samples: Vec<f64>,
    device: Option<DeviceWindows>,
    /// When the first sample began, on the host's clock [ns].
    begin_ns: Option<u64>,
    next: Next,
    timed_out: bool,
}

/// The next answer of [`Stepper::step`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Next {
    Tell(Stage),
    Run,
    Stop,
}

impl Stepper {
    /// A measurement by a plan, timed by this timer.
    pub fn new(plan: &Plan, timer: Timer) -> Self {
        Self {
            plan: *plan,
            stopper: Stopper::new(plan.rule),
            warming: WarmUpState::new(plan, timer),
            warm: None,
            samples: Vec::new(),
            device: None,
            begin_ns: None,
            next: Next::Tell(Stage::WarmUp(0)),
            timed_out: false,
        }
    }

    /// As it is, with windows of whole multiples of so many calls.
    #[must_use]
    pub const fn in_multiples_of(mut self, calls: u64) -> Self {
        self.warming.in_multiples_of(calls);
        self
    }

    /// The next thing to do.
    pub fn step(&mut self) -> Step {
        match self.next {
            Next::Tell(stage) => {
                self.next = if stage == Stage::End { Next::Stop } else { Next::Run };
                Step::Tell(stage)
            }
            Next::Run => Step::Run { calls: self.warming.calls() },
            Next::Stop => Step::Stop,
        }
    }

    /// Takes the time of the calls that [`Step::Run`] asked for.
    ///
    /// # Errors
    /// When the time shows nothing: a clock that stands still.
    pub fn took(&mut self, took: &Took) -> Result<(), NoTime> {
        if self.warm.is_some() { self.sampled(took) } else { self.warmed_up(took) }
    }

    fn warmed_up(&mut self, took: &Took) -> Result<(), NoTime> {
        let before = self.warming.slices();
        self.warm = self.warming.took(took)?;
        if self.warm.is_some() {
            self.next = Next::Tell(Stage::Begin);
        } else if self.warming.slices() > before {
            self.next = Next::Tell(Stage::WarmUp(self.warming.slices()));
        }
        Ok(())
    }

    fn sampled(&mut self, took: &Took) -> Result<(), NoTime> {
        let time = took.nanoseconds();
        if time <= 0.0 {
            return Err(NoTime);
        }
        let begin = *self.begin_ns.get_or_insert(took.host.began_ns);
        self.samples.push(time * 1e-9 / self.warming.calls() as f64);
        self.note_device(took);
        let (n, elapsed) = (self.samples.len(), took.host.ended_ns.saturating_sub(begin));
        let samples = &self.samples;
        let half_width = || Summary::of(samples).map(|summary| summary.relative_half_width());
        match self.stopper.decide(n, elapsed, half_width) {
            Decision::Continue => {
                let half_width = self.stopper.half_width;
                self.next = Next::Tell(Stage::Sampling { n, half_width });
            }
            Decision::Done => self.next = Next::Tell(Stage::End),
            Decision::TimeLimit => {
                self.timed_out = true;
                self.next = Next::Tell(Stage::End);
            }
        }
        Ok(())
    }

    fn note_device(&mut self, took: &Took) {
        let Some(span) = took.device else { return };
        let windows = self.device.get_or_insert_with(|| DeviceWindows {
            empty: span.empty_seconds(),
            host: Vec::new(),
            cores_hz: Vec::new(),
        });
        windows.host.push(took.host.nanoseconds() as f64 * 1e-9);
        windows.cores_hz.extend(span.cores_hz);
    }

    /// The result of the samples so far.
    ///
    /// # Errors
    /// When there is no sample, or one is not a number.
    pub fn measurement(self) -> Result<Measurement, NoTime> {
        let warm = self.warm.ok_or(NoTime)?;
        let summary = Summary::of(&self.samples).ok_or(NoTime)?;
        let mut measured = Measurement {
            flags: flags(&self.samples),
            summary,
            calls_per_window: self.warming.calls(),
            device: self.device.map(|windows| DeviceWindows {
                // A list with gaps would not say which window a clock is of.
                cores_hz: if windows.cores_hz.len() == windows.host.len() {
                    windows.cores_hz
                } else {
                    Vec::new()
                },
                ..windows
            }),
            timed: self.samples.iter().sum::<f64>() * self.warming.calls() as f64,
            warm_up: warm.seconds,
            rule: self.plan.rule,
            samples: self.samples,
        };
        for (is, flag) in [(self.timed_out, Flag::TimeLimit), (!warm.is_steady, Flag::Unsteady)] {
            if is {
                measured.flag(flag);
            }
        }
        Ok(measured)
    }
}
