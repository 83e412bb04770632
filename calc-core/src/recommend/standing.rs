//! The order of schemes: one ranking rule for `recommend`, `schedule` and every search.
//! Derivation: `docs/theory/recommendation.md`.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::bounds::{Bounds, Drop};
use super::objective::{Objective, RankedPart};
use super::outcome::Outcome;
use crate::calibration::{Engine, PairRatios};
use crate::device::UsableMemory;
use crate::expected::Expected;
use crate::order::sort_short;
use crate::units::{Bytes, Joules, Seconds};

/// The goal: the objective, the ranked part of the work, and the bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Aim {
    pub(crate) objective: Objective,
    pub(crate) part: RankedPart,
    pub(crate) bounds: Bounds,
    /// Usable memory that replaces both the device's own and the memory bound.
    pub(super) granted: Option<Bytes>,
    /// Only the bounds are checked, so the standing may be left out.
    pub(super) only_limits: bool,
}

/// The values that determine the rank of a scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Ranked value, less is better: seconds, joules, bytes or percent.
    pub score: f64,
    /// The score at the ends of the expected time's interval, the fast end first.
    pub interval: [f64; 2],
    /// Engine that runs the scheme.
    pub engine: Engine,
    /// Largest ratio of two scores that the prediction cannot tell from 1, because what both share cancels; 1 for exact scores.
    pub pair_ratio: f64,
    /// Larger end of the quality loss [%].
    pub loss: f64,
    /// Expected time of the ranked part.
    pub time: Seconds,
    /// Memory needed on one device.
    pub memory: Bytes,
    /// Memory that a model may use on the device.
    pub limit: Bytes,
    /// True for the formats in which the model is published.
    pub is_published: bool,
}

/// The ranked time of a scheme with what its uncertainty depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankedTime {
    pub(super) expected: Expected,
    pub(super) engine: Engine,
    pub(super) pair_ratio: f64,
}

impl RankedTime {
    /// The time of prefill and generation together; the ratio of each counts by its share of the time.
    pub(super) fn whole(
        engine: Engine,
        pairs: &PairRatios,
        first: Expected,
        generation: Expected,
    ) -> Self {
        let expected = first.then(generation);
        let sum = first.time * pairs.prefill + generation.time * pairs.decode;
        Self { expected, engine, pair_ratio: sum / expected.time }
    }
}

/// The reason why the first row is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstBy {
    Score,
    /// It is not distinguishable from the best, and its quality loss is smaller.
    LessLoss,
    /// It is not distinguishable from a faster one that needs much more memory and loses as much or more.
    LessMemory,
    /// It is the model as published, not distinguishable from a requantization that loses as much and is not much smaller.
    Published,
    /// It is the smallest of those within 5 % of the best, on a device with little memory.
    Size,
}

impl FirstBy {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::LessLoss => "less_loss",
            Self::LessMemory => "less_memory",
            Self::Published => "as_published",
            Self::Size => "size",
        }
    }
}

/// Up to this memory limit, the smallest of the schemes near the best is first.
const SMALL_MEMORY: Bytes = Bytes::from_gb(8.0);
/// Largest ratio to the best score that counts as near.
const NEAR: f64 = 1.05;
/// Largest ratio of two needs for memory that count as equal: a judgment.
const SAME_MEMORY: f64 = 1.02;
/// Difference of two losses [%] that count as equal where both schemes lose quality: a judgment, because the evaluations behind
/// them differ by more.
const SAME_LOSS: f64 = 0.1;
/// Ratio of two needs for memory that makes the smaller scheme worth its use, or a requantization worth writing: a judgment.
const MUCH_SMALLER: f64 = 1.25;

impl Aim {
    pub(super) const fn new(objective: Objective, part: RankedPart, bounds: Bounds) -> Self {
        Self { objective, part, bounds, granted: None, only_limits: false }
    }

    /// The memory limit: usable memory unless replaced by `granted`.
    fn limit(&self, usable: UsableMemory) -> Bytes {
        self.granted.unwrap_or(usable.bytes)
    }

    /// Whether a scheme fits. For unknown memory, the supported maximum counts.
    pub(super) fn admit_memory(&self, needs: Bytes, usable: UsableMemory) -> Result<(), Drop> {
        let limit = self.limit(usable);
        if needs > limit { Err(Drop::Memory { needs, limit }) } else { Ok(()) }
    }

    /// Whether an outcome meets the bounds on memory and times.
    pub(super) fn admit(&self, batch: u64, outcome: &Outcome) -> Result<(), Drop> {
        self.admit_memory(outcome.memory, outcome.usable)?;
        let (tpot, ttft) = (outcome.slowest_token(), outcome.ttft.time);
        self.bounds.admit_times(batch, || tpot, || ttft)
    }

    /// The standing of a shape's outcome on an engine with a quality loss [%].
    pub(super) fn standing(
        &self,
        outcome: &Outcome,
        loss: f64,
        (engine, pairs): (Engine, &PairRatios),
    ) -> Standing {
        let (expected, energy) = match self.part {
            RankedPart::Prefill => (outcome.prefill.expected, outcome.prefill.energy),
            RankedPart::Decode => (outcome.decode.expected, outcome.decode.energy),
            RankedPart::Whole => {
                let whole = match self.objective {
                    Objective::Throughput => outcome.batch_whole,
                    _ => outcome.whole,
                };
                (whole, outcome.whole_energy)
            }
        };
        let time = RankedTime { expected, engine, pair_ratio: pairs.alone };
        self.place(&time, energy, loss, (outcome.memory, outcome.usable))
    }

    /// The standing of a scheme from the ranked time, the energy and the memory. Unknown energy ranks below every known
    /// energy. The interval of an energy is that of the time it is computed from.
    pub(super) fn place(
        &self,
        ranked: &RankedTime,
        energy: Option<Joules>,
        loss: f64,
        (memory, usable): (Bytes, UsableMemory),
    ) -> Standing {
        let RankedTime { expected, engine, pair_ratio } = *ranked;
        let Expected { time, low, high, .. } = expected;
        let score = match self.objective {
            Objective::Latency | Objective::Throughput => time.get(),
            Objective::Energy => energy.map_or(f64::INFINITY, Joules::get),
            Objective::Memory => memory.get(),
            Objective::Quality => loss,
        };
        let (interval, pair_ratio) = match self.objective {
            Objective::Latency | Objective::Throughput | Objective::Energy => {
                ([low, high].map(|end| score * (end / time)), pair_ratio)
            }
            Objective::Memory | Objective::Quality => ([score; 2], 1.0),
        };
        let limit = self.limit(usable);
        let is_published = false;
        Standing { score, interval, engine, pair_ratio, loss, time, memory, limit, is_published }
    }
}

impl Standing {
    /// The score per sequence of a batch.
    #[must_use]
    pub(crate) fn over(self, batch: u64) -> Self {
        let count = batch as f64;
        let interval = self.interval.map(|end| end / count);
        Self { score: self.score / count, interval, ..self }
    }

    /// Largest score that may be ranked before this one: not distinguishable from one that is not distinguishable from this,
    /// where `widest` is the largest ratio that is not distinguishable.
    pub(crate) fn reach(&self, widest: f64) -> f64 {
        self.score * (widest * widest).max(NEAR)
    }

    /// Whether two scores cannot be distinguished: each is within the interval of the other, and their ratio is no larger than
    /// what predicted ratios of measured pairs are off by.
    pub fn is_like(&self, other: &Self) -> bool {
        let within = |score: f64, [low, high]: [f64; 2]| low <= score && score <= high;
        let largest = self.pair_ratio.min(other.pair_ratio);
        let (slow, fast) = (self.score.max(other.score), self.score.min(other.score));
        slow <= fast * largest
            && within(self.score, other.interval)
            && within(other.score, self.interval)
    }

    /// By score, then by quality loss, then by time, then by memory.
    fn by_score(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.loss.total_cmp(&other.loss))
            .then(self.time.get().total_cmp(&other.time.get()))
            .then(self.memory.get().total_cmp(&other.memory.get()))
    }

    /// By quality loss, then by score.
    fn by_loss(&self, other: &Self) -> Ordering {
        self.loss.total_cmp(&other.loss).then(self.by_score(other))
    }

    /// By memory, then by quality loss, then by score.
    fn by_memory(&self, other: &Self) -> Ordering {
        self.memory.get().total_cmp(&other.memory.get()).then(self.by_loss(other))
    }
}

/// Sorts by score, and puts the recommended row first. Returns the reason.
pub(crate) fn order<T>(rows: &mut [T], standing: impl Fn(&T) -> Standing) -> FirstBy {
    sort_short(rows, |a, b| standing(a).by_score(&standing(b)).is_lt());
    let standings: Vec<Standing> = rows.iter().map(standing).collect();
    let Some((place, reason)) = recommended(&standings) else { return FirstBy::Score };
    rows[..=place].rotate_right(1);
    reason
}

/// The place of the recommended row among rows that are sorted by score, and the reason.
fn recommended(rows: &[Standing]) -> Option<(usize, FirstBy)> {
    let best = rows.first()?;
    let is_small = best.limit <= SMALL_MEMORY;
    let own = if is_small { smallest_near(rows, best) } else { least_loss(rows, best) };
    let lighter = rows
        .iter()
        .filter(|row| row.loss <= own.loss && row.memory * MUCH_SMALLER <= own.memory)
        .filter(|row| row.is_like(&own))
        .min_by(|a, b| a.by_memory(b))
        .filter(|_| !is_small);
    let chosen = *lighter.unwrap_or(&own);
    let published = rows
        .iter()
        .filter(|row| row.is_published && !chosen.is_published && row.loss <= chosen.loss)
        .find(|row| row.memory <= chosen.memory * MUCH_SMALLER && row.is_like(&chosen))
        .filter(|_| !is_small);
    let reason = match (published, lighter) {
        (Some(_), _) => FirstBy::Published,
        (None, Some(_)) => FirstBy::LessMemory,
        (None, None) if chosen == *best => FirstBy::Score,
        (None, None) if is_small => FirstBy::Size,
        (None, None) => FirstBy::LessLoss,
    };
    let first = published.unwrap_or(&chosen);
    let place = rows.iter().position(|row| row == first)?;
    Some((place, if place == 0 { FirstBy::Score } else { reason }))
}

/// The row that needs the least memory among those within 5 % of the best score. Where several need as little within 2 %, the one
/// that loses least.
fn smallest_near(rows: &[Standing], best: &Standing) -> Standing {
    let near = || rows.iter().filter(|row| row.score <= best.score * NEAR);
    let least = near().min_by(|a, b| a.by_memory(b)).unwrap_or(best).memory;
    let small = near().filter(|row| row.memory <= least * SAME_MEMORY);
    *small.min_by(|a, b| a.by_loss(b)).unwrap_or(best)
}

/// The row that loses least among those that cannot be told from the best. Where several lossy rows lose as little within 0.1 %,
/// the fastest of them. A row that is better in both takes its place.
fn least_loss(rows: &[Standing], best: &Standing) -> Standing {
    let alike = || rows.iter().filter(|row| row.is_like(best));
    let least = alike().min_by(|a, b| a.by_loss(b)).unwrap_or(best).loss;
    let most = if least > 0.0 { least + SAME_LOSS } else { least };
    let fastest = alike().filter(|row| row.loss <= most).min_by(|a, b| a.by_score(b));
    let fastest = fastest.unwrap_or(best);
    let better = rows.iter().filter(|row| row.score <= fastest.score && row.loss <= fastest.loss);
    *better.min_by(|a, b| a.by_loss(b)).unwrap_or(fastest)
}

#[cfg(test)]
mod tests;
