//! Warm-up without a loop of its own: it determines the calls per window, and ends when the time per call is stable.

use std::time::Duration;

use super::timer::{Timer, Took};
use super::{NoTime, Plan, WarmUp};

/// Fewest clock steps per window, so that one step is 0.5 %.
const STEPS: f64 = 200.0;
/// Doublings of the number of calls after which a call counts as free.
const MOST_CALLS: u64 = 1 << 40;
/// Slices that must agree at the end of the warm-up.
const AGREE: usize = 4;

/// Result of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WarmUpResult {
    pub(super) seconds: f64,
    pub(super) is_steady: bool,
}

/// A warm-up in progress: slices of windows, each the median time per call.
#[derive(Debug)]
pub(super) struct WarmUpState {
    rule: WarmUp,
    /// Shortest window [ns].
    length: f64,
    calls: u64,
    /// The calls of a window are a multiple of this number.
    multiple: u64,
    slices: Vec<f64>,
    /// When the first window began [ns].
    start: Option<u64>,
    slice: Slice,
}

/// A slice in progress.
#[derive(Debug, Default)]
struct Slice {
    start: Option<u64>,
    /// Whether a window is long enough.
    is_filled: bool,
    /// Times per call [ns].
    times: Vec<f64>,
}

impl WarmUpState {
    pub(super) fn new(plan: &Plan, timer: Timer) -> Self {
        Self {
            rule: plan.warm_up,
            length: (nanoseconds(plan.window) as f64).max(timer.step_ns * STEPS),
            calls: 1,
            multiple: 1,
            slices: Vec::new(),
            start: None,
            slice: Slice::default(),
        }
    }

    /// Windows have whole multiples of so many calls.
    pub(super) const fn in_multiples_of(&mut self, calls: u64) {
        self.multiple = if calls > 0 { calls } else { 1 };
        self.calls = self.multiple;
    }

    /// Calls of the next window; after the warm-up those of every sample.
    pub(super) const fn calls(&self) -> u64 {
        self.calls
    }

    /// Slices so far.
    pub(super) const fn slices(&self) -> usize {
        self.slices.len()
    }

    /// Takes the time of a window. Some when the warm-up has ended.
    pub(super) fn took(&mut self, took: &Took) -> Result<Option<WarmUpResult>, NoTime> {
        let (time, now) = (took.nanoseconds(), took.host.ended_ns);
        let start = *self.start.get_or_insert(took.host.began_ns);
        let slice_start = *self.slice.start.get_or_insert(took.host.began_ns);
        if !self.slice.is_filled {
            self.fill(time)?;
            return Ok(None);
        }
        self.slice.times.push(time / self.calls as f64);
        if now.saturating_sub(slice_start) < nanoseconds(self.rule.slice) {
            return Ok(None);
        }
        let slice = std::mem::take(&mut self.slice);
        self.slices.push(crate::stats::median(&slice.times).ok_or(NoTime)?);
        self.ended(now.saturating_sub(start))
    }

    fn ended(&mut self, elapsed: u64) -> Result<Option<WarmUpResult>, NoTime> {
        let is_steady = is_flat(&self.slices, self.rule.spread);
        let is_long = elapsed >= nanoseconds(self.rule.least);
        if (is_steady && is_long) || elapsed >= nanoseconds(self.rule.most) {
            self.settle()?;
            return Ok(Some(WarmUpResult { seconds: elapsed as f64 * 1e-9, is_steady }));
        }
        Ok(None)
    }

    /// Increases the calls per window until one is long enough.
    fn fill(&mut self, time: f64) -> Result<(), NoTime> {
        if time >= self.length {
            // Large factors overshoot.
            self.calls = self.calls.min(self.calls_for(time / self.calls as f64));
            self.slice.is_filled = true;
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let factor = (self.length / time.max(1.0) + 1.0).clamp(2.0, 16.0) as u64;
        self.calls *= factor;
        if self.calls > MOST_CALLS { Err(NoTime) } else { Ok(()) }
    }

    /// Sets the calls per window from the fastest of the last slices. A slice is a median of windows, so a single interruption
    /// does not shrink the windows.
    fn settle(&mut self) -> Result<(), NoTime> {
        let last = &self.slices[self.slices.len().saturating_sub(AGREE)..];
        // With a clock too coarse for a window, an interrupted slice may show no time at all.
        let measured = last.iter().copied().filter(|time| *time > 0.0);
        let fastest = measured.reduce(f64::min).ok_or(NoTime)?;
        self.calls = self.calls_for(fastest);
        Ok(())
    }

    /// Calls per window, with a margin of 10 %, for calls of this duration [ns].
    fn calls_for(&self, call: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let calls = (1.1 * self.length / call) as u64;
        (calls.min(MOST_CALLS - 1) + 1).next_multiple_of(self.multiple)
    }
}

fn is_flat(slices: &[f64], spread: f64) -> bool {
    let Some(first) = slices.len().checked_sub(AGREE) else { return false };
    let last = &slices[first..];
    let least = last.iter().copied().fold(f64::INFINITY, f64::min);
    let most = last.iter().copied().fold(0.0, f64::max);
    most <= least * (1.0 + spread)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
