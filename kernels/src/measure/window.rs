//! Windows: several calls between two clock readings, so that the clock's resolution does not matter.

use std::ops::ControlFlow;
use std::time::Duration;

use super::{Clock, Iteration, Plan, Stage, Stopped, WarmUp, notify};

/// Fewest clock steps per window, so that one step is 0.5 %.
const STEPS: u64 = 200;
/// Equal readings after which a clock counts as stopped.
const LOOKS: u32 = 50_000_000;
/// Doublings of the number of calls after which a call counts as free.
const MOST_CALLS: u64 = 1 << 40;
/// Slices that must agree at the end of the warm-up.
const AGREE: usize = 4;

/// Timed windows of one function.
pub(super) struct Windows<'a, E> {
    clock: &'a dyn Clock,
    call: &'a mut dyn FnMut(Iteration) -> Result<(), E>,
    length: u64,
    iteration: u64,
    calls: u64,
}

/// Result of the warm-up.
pub(super) struct WarmUpResult {
    pub(super) seconds: f64,
    pub(super) is_steady: bool,
}

impl<'a, E> Windows<'a, E> {
    pub(super) fn new(
        clock: &'a dyn Clock,
        plan: &Plan,
        call: &'a mut dyn FnMut(Iteration) -> Result<(), E>,
    ) -> Result<Self, Stopped<E>> {
        let step = step(clock).ok_or(Stopped::NoTime)?;
        let length = nanoseconds(plan.window).max(step * STEPS);
        Ok(Self { clock, call, length, iteration: 0, calls: 1 })
    }

    pub(super) const fn calls(&self) -> u64 {
        self.calls
    }

    /// Time of `calls` calls [ns].
    fn time(&mut self, calls: u64) -> Result<u64, Stopped<E>> {
        let start = self.clock.now_ns();
        for left in (0..calls).rev() {
            let iteration = Iteration { index: self.iteration, ends_window: left == 0 };
            (self.call)(iteration).map_err(Stopped::Failed)?;
            self.iteration += 1;
        }
        Ok(self.clock.now_ns().saturating_sub(start))
    }

    /// Time per call of one window [s].
    pub(super) fn sample(&mut self) -> Result<f64, Stopped<E>> {
        let time = self.time(self.calls)?;
        if time == 0 { Err(Stopped::NoTime) } else { Ok(time as f64 * 1e-9 / self.calls as f64) }
    }

    /// Determines the calls per window, and runs until the time per call is stable.
    pub(super) fn warm_up(
        &mut self,
        rule: &WarmUp,
        watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
    ) -> Result<WarmUpResult, Stopped<E>> {
        let start = self.clock.now_ns();
        let mut slices = Vec::new();
        loop {
            notify(watch, Stage::WarmUp(slices.len()))?;
            slices.push(self.slice(nanoseconds(rule.slice))?);
            let elapsed = self.clock.now_ns() - start;
            let is_steady = is_flat(&slices, rule.spread);
            if (is_steady && elapsed >= nanoseconds(rule.least))
                || elapsed >= nanoseconds(rule.most)
            {
                self.settle(&slices)?;
                return Ok(WarmUpResult { seconds: elapsed as f64 * 1e-9, is_steady });
            }
        }
    }

    /// Median time per call over about this duration [ns].
    fn slice(&mut self, length: u64) -> Result<f64, Stopped<E>> {
        let start = self.clock.now_ns();
        let mut times = Vec::new();
        self.fill()?;
        loop {
            times.push(self.time(self.calls)? as f64 / self.calls as f64);
            if self.clock.now_ns() - start >= length {
                return crate::stats::median(&times).ok_or(Stopped::NoTime);
            }
        }
    }

    /// Sets the calls per window from the fastest of the last slices. A slice is a median of windows, so a single interruption
    /// does not shrink the windows.
    fn settle(&mut self, slices: &[f64]) -> Result<(), Stopped<E>> {
        let last = &slices[slices.len().saturating_sub(AGREE)..];
        // With a clock too coarse for a window, an interrupted slice may show no time at all.
        let measured = last.iter().copied().filter(|time| *time > 0.0);
        let fastest = measured.reduce(f64::min).ok_or(Stopped::NoTime)?;
        self.calls = self.calls_for(fastest);
        Ok(())
    }

    /// Calls per window, with a margin of 10 %, for calls of this duration [ns].
    fn calls_for(&self, call: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let calls = (1.1 * self.length as f64 / call) as u64;
        calls.min(MOST_CALLS - 1) + 1
    }

    /// Increases the calls per window until one is long enough.
    fn fill(&mut self) -> Result<(), Stopped<E>> {
        loop {
            let time = self.time(self.calls)?;
            if time >= self.length {
                // Large factors overshoot.
                self.calls = self.calls.min(self.calls_for(time as f64 / self.calls as f64));
                return Ok(());
            }
            let factor = (self.length / time.max(1) + 1).clamp(2, 16);
            self.calls *= factor;
            if self.calls > MOST_CALLS {
                return Err(Stopped::NoTime);
            }
        }
    }
}

fn is_flat(slices: &[f64], spread: f64) -> bool {
    let Some(first) = slices.len().checked_sub(AGREE) else { return false };
    let last = &slices[first..];
    let least = last.iter().copied().fold(f64::INFINITY, f64::min);
    let most = last.iter().copied().fold(0.0, f64::max);
    most <= least * (1.0 + spread)
}

/// Resolution of the clock [ns]. `None` if it stands still.
fn step(clock: &dyn Clock) -> Option<u64> {
    (0..20).map(|_| one_step(clock)).try_fold(u64::MAX, |least, step| Some(least.min(step?)))
}

fn one_step(clock: &dyn Clock) -> Option<u64> {
    let start = clock.now_ns();
    (0..LOOKS).map(|_| clock.now_ns()).find(|now| *now > start).map(|now| now - start)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
