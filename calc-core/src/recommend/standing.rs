//! What decides the place of a scheme, and the order: one rule for `recommend`, `schedule` and every search.
//! Derivation: `docs/theory/recommendation.md`.

use core::cmp::Ordering;

use super::bounds::{Bounds, Drop};
use super::objective::{Objective, RankedPart};
use super::outcome::Outcome;
use crate::device::UsableMemory;
use crate::expected::Expected;
use crate::order::sort_short;
use crate::units::{Bytes, Joules, Seconds};

/// What is wanted: the objective, the part of the work that counts, and what must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Aim {
    pub(crate) objective: Objective,
    pub(crate) part: RankedPart,
    pub(crate) bounds: Bounds,
    /// Memory that is there in place of the device's own and of the bound.
    pub(super) granted: Option<Bytes>,
    /// Only whether the bounds are met is asked for, so the standing may be left out.
    pub(super) only_limits: bool,
}

/// What decides the place of a scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The ranking is by this, less is better: seconds, joules, bytes or percent.
    pub score: f64,
    /// The score at the ends of the interval of the expected time, the fast one first.
    pub interval: [f64; 2],
    /// Larger end of the loss of quality [%].
    pub loss: f64,
    /// Expected time of the part that counts.
    pub time: Seconds,
    /// Memory of one device.
    pub memory: Bytes,
    /// Memory that may be used.
    pub limit: Bytes,
}

/// Why the first row stands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstBy {
    /// It has the best score.
    Score,
    /// The interval of the best one contains it, and it loses less.
    LessLoss,
    /// It is the smallest of those within 5 % of the best, on a device with little memory.
    Size,
}

impl FirstBy {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::LessLoss => "less_loss",
            Self::Size => "size",
        }
    }
}

/// Up to this memory limit, schemes near the best stand smallest first.
const SMALL_MEMORY: Bytes = Bytes::from_gb(8.0);
/// How near.
const NEAR: f64 = 1.05;

impl Aim {
    pub(super) const fn new(objective: Objective, part: RankedPart, bounds: Bounds) -> Self {
        Self { objective, part, bounds, granted: None, only_limits: false }
    }

    /// Memory that may be used of what a device leaves to models.
    fn limit(&self, usable: UsableMemory) -> Bytes {
        self.granted.unwrap_or(usable.bytes)
    }

    /// Whether a scheme fits. Of unknown memory the largest possible counts.
    pub(super) fn admit_memory(&self, needs: Bytes, usable: UsableMemory) -> Result<(), Drop> {
        let limit = self.limit(usable);
        if needs > limit { Err(Drop::Memory { needs, limit }) } else { Ok(()) }
    }

    /// Whether an outcome meets the bounds on memory and times.
    pub(super) fn admit(&self, batch: u64, outcome: &Outcome) -> Result<(), Drop> {
        self.admit_memory(outcome.memory, outcome.usable)?;
        let (tpot, ttft) = (outcome.decode.expected.time, outcome.ttft.time);
        self.bounds.admit_times(batch, || tpot, || ttft)
    }

    /// The standing of an outcome with a loss of quality [%].
    pub(crate) fn standing(&self, outcome: &Outcome, loss: f64) -> Standing {
        let (expected, energy) = match self.part {
            RankedPart::Prefill => (outcome.prefill.expected, outcome.prefill.energy),
            RankedPart::Decode => (outcome.decode.expected, outcome.decode.energy),
            RankedPart::Whole => (outcome.whole, outcome.whole_energy),
        };
        self.place(&expected, energy, loss, (outcome.memory, outcome.usable))
    }

    /// The standing of a scheme from the time of the part that counts, the energy and the memory. Unknown energy is worse
    /// than any. An energy is as uncertain as the time that it follows from.
    pub(super) fn place(
        &self,
        expected: &Expected,
        energy: Option<Joules>,
        loss: f64,
        (memory, usable): (Bytes, UsableMemory),
    ) -> Standing {
        let Expected { time, low, high, .. } = *expected;
        let score = match self.objective {
            Objective::Latency | Objective::Throughput => time.get(),
            Objective::Energy => energy.map_or(f64::INFINITY, Joules::get),
            Objective::Memory => memory.get(),
            Objective::Quality => loss,
        };
        let interval = match self.objective {
            Objective::Latency | Objective::Throughput | Objective::Energy => {
                [low, high].map(|end| score * (end / time))
            }
            Objective::Memory | Objective::Quality => [score; 2],
        };
        Standing { score, interval, loss, time, memory, limit: self.limit(usable) }
    }
}

impl Standing {
    /// The score of one sequence of a batch.
    #[must_use]
    pub(crate) fn over(self, batch: u64) -> Self {
        let count = batch as f64;
        let interval = self.interval.map(|end| end / count);
        Self { score: self.score / count, interval, ..self }
    }

    /// Scores up to this one may stand before it.
    pub(crate) const fn reach(&self) -> f64 {
        self.interval[1].max(self.score * NEAR)
    }

    /// Whether each of two scores lies within the interval of the other, so that nobody can tell which is less.
    fn is_like(&self, other: &Self) -> bool {
        let within = |score: f64, [low, high]: [f64; 2]| low <= score && score <= high;
        within(self.score, other.interval) && within(other.score, self.interval)
    }

    /// Equal scores by loss of quality, then by time, then by memory.
    fn by_score(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.loss.total_cmp(&other.loss))
            .then(self.time.get().total_cmp(&other.time.get()))
            .then(self.memory.get().total_cmp(&other.memory.get()))
    }
}

/// Puts the best first and says by what it is first. By score; up to 8 GB of memory those within 5 % of the best smallest
/// first; then those that are like the best, less loss of quality first.
pub(crate) fn order<T>(rows: &mut [T], standing: impl Fn(&T) -> Standing) -> FirstBy {
    sort_short(rows, |a, b| standing(a).by_score(&standing(b)).is_lt());
    let Some(best) = rows.first().map(&standing) else { return FirstBy::Score };
    let is_small = best.limit <= SMALL_MEMORY;
    let near = rows.partition_point(|row| is_small && standing(row).score <= best.score * NEAR);
    sort_short(&mut rows[..near], |a, b| standing(a).memory < standing(b).memory);
    sort_short(&mut rows[near..], |a, b| {
        let (a, b) = (standing(a), standing(b));
        match (a.is_like(&best), b.is_like(&best)) {
            (true, true) => a.loss < b.loss,
            (is_like, _) => is_like,
        }
    });
    match rows.first().map(standing) {
        Some(first) if first == best => FirstBy::Score,
        _ if near > 0 => FirstBy::Size,
        _ => FirstBy::LessLoss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(score: f64, loss: f64, gigabytes: f64, limit: f64) -> Standing {
        let (memory, limit) = (Bytes::from_gb(gigabytes), Bytes::from_gb(limit));
        let time = Seconds::new(score);
        Standing { score, interval: [score * 0.9, score * 1.5], loss, time, memory, limit }
    }

    fn losses(rows: &[Standing; 3]) -> [u64; 3] {
        rows.map(|row| row.loss.to_bits())
    }

    #[test]
    fn within_the_interval_of_the_best_less_loss_is_first() {
        let mut rows =
            [row(1.3, 0.0, 16.0, 80.0), row(1.0, 4.0, 4.0, 80.0), row(1.1, 0.1, 8.0, 80.0)];
        assert_eq!(order(&mut rows, |row| *row), FirstBy::LessLoss);
        // 1.0 is not within 1.17 to 1.95, though 1.3 is within 0.9 to 1.5.
        assert_eq!(losses(&rows), [0.1, 4.0, 0.0].map(f64::to_bits));
    }

    #[test]
    fn on_a_small_device_the_smallest_near_the_best_is_first() {
        let mut rows = [row(1.1, 0.0, 7.0, 8.0), row(1.0, 0.1, 5.0, 8.0), row(1.04, 4.0, 4.0, 8.0)];
        assert_eq!(order(&mut rows, |row| *row), FirstBy::Size);
        assert_eq!(losses(&rows), [4.0, 0.1, 0.0].map(f64::to_bits));
    }
}
