//! Evaluation of the stop rule while samples arrive.

use std::time::Duration;

use super::StopRule;

/// Largest number of samples of a measurement.
const MAX_SAMPLES: usize = 100_000;

/// Decision after a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Continue,
    Done,
    TimeLimit,
}

/// State of the stop rule.
///
/// Stopping at the first narrow interval selects intervals that are narrow by chance, and these cover the true median too
/// seldom. So once the interval is narrow after n samples, n/2 further samples are taken, and it must stay narrow at every
/// evaluation up to the last sample.
#[derive(Debug)]
pub(super) struct Stopper {
    rule: StopRule,
    /// Half the relative width of the interval at the last evaluation.
    pub(super) half_width: f64,
    next_evaluation: usize,
    narrow_since: Option<usize>,
}

impl Stopper {
    pub(super) const fn new(rule: StopRule) -> Self {
        Self { rule, half_width: f64::INFINITY, next_evaluation: 1, narrow_since: None }
    }

    /// Decides after `n` samples in `elapsed_ns`. Evaluates the half width at intervals that grow with `n`, because its cost
    /// grows with `n`.
    pub(super) fn decide(
        &mut self,
        n: usize,
        elapsed_ns: u64,
        half_width: impl FnOnce() -> Option<f64>,
    ) -> Decision {
        match self.rule {
            StopRule::Iterations(wanted) if n >= wanted => Decision::Done,
            StopRule::Iterations(_) => Decision::Continue,
            StopRule::Certain { half_width: wanted, least, shortest, limit } => {
                let elapsed = Duration::from_nanos(elapsed_ns);
                let may_end = |stopper: &Self| {
                    let confirmed =
                        stopper.narrow_since.is_some_and(|since| n >= since + since / 2);
                    confirmed && elapsed >= shortest
                };
                // The last evaluation includes all samples, so the reported interval is as narrow as requested.
                if n >= self.next_evaluation || may_end(self) {
                    self.half_width = half_width().unwrap_or(f64::INFINITY);
                    self.next_evaluation = n + n.div_ceil(10);
                    self.note(n, wanted, least);
                }
                if may_end(self) {
                    Decision::Done
                } else if elapsed >= limit || n >= MAX_SAMPLES {
                    Decision::TimeLimit
                } else {
                    Decision::Continue
                }
            }
        }
    }

    fn note(&mut self, n: usize, wanted: f64, least: usize) {
        if n < least || self.half_width >= wanted {
            self.narrow_since = None;
        } else if self.narrow_since.is_none() {
            self.narrow_since = Some(n);
        }
    }
}
