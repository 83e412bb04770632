//! The stop rule at work.

use std::time::Duration;

use super::StopRule;

/// No measurement keeps more samples than this.
const MOST_SAMPLES: usize = 100_000;

/// What the rule says now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    GoOn,
    Done,
    TimeIsUp,
}

/// Watches the samples come in.
///
/// Whoever stops as soon as an interval is narrow stops when chance made it narrow, and it holds the truth too seldom.
/// So when it is narrow after n samples, half as many again are taken, which chance did not choose, and it must be narrow
/// still, at the looks between and with the last sample.
#[derive(Debug)]
pub(super) struct Stopper {
    rule: StopRule,
    /// How uncertain the median was when it was looked at last, as a share.
    pub(super) half_width: f64,
    next_look: usize,
    narrow_since: Option<usize>,
}

impl Stopper {
    pub(super) const fn new(rule: StopRule) -> Self {
        Self { rule, half_width: f64::INFINITY, next_look: 1, narrow_since: None }
    }

    /// After `n` samples in `elapsed_ns`. Asks for the half width seldom, because finding it takes longer the more
    /// samples there are.
    pub(super) fn verdict(
        &mut self,
        n: usize,
        elapsed_ns: u64,
        half_width: impl FnOnce() -> Option<f64>,
    ) -> Verdict {
        match self.rule {
            StopRule::Iterations(wanted) if n >= wanted => Verdict::Done,
            StopRule::Iterations(_) => Verdict::GoOn,
            StopRule::Certain { half_width: wanted, least, shortest, limit } => {
                let elapsed = Duration::from_nanos(elapsed_ns);
                let may_end = |stopper: &Self| {
                    let confirmed =
                        stopper.narrow_since.is_some_and(|since| n >= since + since / 2);
                    confirmed && elapsed >= shortest
                };
                // It never ends by an old look: the interval that is reported is as narrow as was asked for.
                if n >= self.next_look || may_end(self) {
                    self.half_width = half_width().unwrap_or(f64::INFINITY);
                    self.next_look = n + n.div_ceil(10);
                    self.note(n, wanted, least);
                }
                if may_end(self) {
                    Verdict::Done
                } else if elapsed >= limit || n >= MOST_SAMPLES {
                    Verdict::TimeIsUp
                } else {
                    Verdict::GoOn
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
