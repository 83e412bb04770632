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
    /// Largest ratio of two scores that the prediction cannot tell from 1 on one engine, where what both share cancels.
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
    /// It is not distinguishable from the best, or from the first of those on its engine, and its quality loss is smaller.
    LessLoss,
    /// It is not distinguishable from the best and runs on the same engine; another engine's scheme loses less, but by less
    /// than is worth a change of engine.
    SameEngine,
    /// It is not distinguishable from a faster one that needs more memory and loses as much quality or more.
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
            Self::SameEngine => "same_engine",
            Self::LessMemory => "less_memory",
            Self::Published => "as_published",
            Self::Size => "size",
        }
    }
}

/// Up to this memory limit, schemes near the best are ranked smallest first.
const SMALL_MEMORY: Bytes = Bytes::from_gb(8.0);
/// Largest ratio to the best score, or of two needs for memory, that counts as near.
const NEAR: f64 = 1.05;
/// Loss of quality [%] up to which a scheme of another engine is not worth the change: a judgment.
const WORTH_ANOTHER_ENGINE: f64 = 0.5;
/// Up to this ratio of their memory, a requantization that loses as much is not worth writing: a judgment.
const WORTH_WRITING: f64 = 1.25;

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
        let interval = match self.objective {
            Objective::Latency | Objective::Throughput | Objective::Energy => {
                [low, high].map(|end| score * (end / time))
            }
            Objective::Memory | Objective::Quality => [score; 2],
        };
        let limit = self.limit(usable);
        Standing {
            score,
            interval,
            engine,
            pair_ratio,
            loss,
            time,
            memory,
            limit,
            is_published: false,
        }
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

    /// Largest score that may be ranked before this one: in the interval of one that is in the interval of this. `widest` is
    /// the largest ratio of the slow end of an interval to its score.
    pub(crate) fn reach(&self, widest: f64) -> f64 {
        (self.interval[1] * widest).max(self.score * NEAR)
    }

    /// Ratio of the slow end of the interval to the score.
    pub(crate) fn slow_ratio(&self) -> f64 {
        self.interval[1] / self.score
    }

    /// True for scores with an interval: times and energies.
    fn is_uncertain(&self) -> bool {
        self.interval[0] < self.interval[1]
    }

    /// The loss by which this is compared with schemes of an engine [%].
    fn loss_beside(&self, engine: Engine) -> f64 {
        if self.engine == engine { self.loss } else { self.loss + WORTH_ANOTHER_ENGINE }
    }

    /// Whether this is as fast as another within the uncertainty and loses less, or as much and needs less memory. Where it
    /// loses less, it may need a little more memory than a scheme of its engine: GGUF files of one model with the same
    /// experts differ by 1 %.
    fn replaces(&self, other: &Self) -> bool {
        let own = self.loss_beside(other.engine);
        let better = if own < other.loss {
            self.memory <= other.memory || self.is_about_as_small(other)
        } else {
            own <= other.loss && self.memory < other.memory
        };
        better && self.is_like(other)
    }

    /// Whether this is on the engine of another and needs no more than 5 % more memory.
    fn is_about_as_small(&self, other: &Self) -> bool {
        self.engine == other.engine && self.memory <= other.memory * NEAR
    }

    /// Whether this is the published model and another one a requantization that loses as much and is neither faster beyond
    /// the uncertainty nor much smaller.
    fn spares(&self, other: &Self) -> bool {
        self.is_published
            && !other.is_published
            && self.loss_beside(other.engine) <= other.loss
            && self.memory <= other.memory * WORTH_WRITING
            && self.is_like(other)
    }

    /// Whether two scores cannot be distinguished: each is within the interval of the other, and on one engine their ratio is
    /// no larger than what the predicted ratios of measured pairs are off by.
    pub fn is_like(&self, other: &Self) -> bool {
        let within = |score: f64, [low, high]: [f64; 2]| low <= score && score <= high;
        let largest = self.pair_ratio.min(other.pair_ratio);
        let (slow, fast) = (self.score.max(other.score), self.score.min(other.score));
        within(self.score, other.interval)
            && within(other.score, self.interval)
            && (self.engine != other.engine || slow <= fast * largest)
    }

    /// By score, then by quality loss, then by time, then by memory.
    fn by_score(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.loss.total_cmp(&other.loss))
            .then(self.time.get().total_cmp(&other.time.get()))
            .then(self.memory.get().total_cmp(&other.memory.get()))
    }
}

/// Sorts best first and returns the reason for the first place. By score; up to 8 GB of memory, those within 5 % of the best
/// smallest first; then those indistinguishable from the best and from the best of their engine, smaller quality loss first.
/// Without small memory, a row that is indistinguishable from the first and better in loss or memory takes its place, and the
/// published model takes that of a requantization that is not better.
pub(crate) fn order<T>(rows: &mut [T], standing: impl Fn(&T) -> Standing) -> FirstBy {
    sort_short(rows, |a, b| standing(a).by_score(&standing(b)).is_lt());
    let Some(best) = rows.first().map(&standing) else { return FirstBy::Score };
    let is_small = best.limit <= SMALL_MEMORY;
    let mut leaders: Vec<Standing> = Vec::new();
    for own in rows.iter().map(&standing) {
        if leaders.iter().all(|leader| leader.engine != own.engine) {
            leaders.push(own);
        }
    }
    let is_like_the_best = |own: &Standing| {
        let is_led = |leader: &Standing| leader.engine != own.engine || own.is_like(leader);
        own.is_like(&best) && leaders.iter().all(is_led)
    };
    let near = rows.partition_point(|row| is_small && standing(row).score <= best.score * NEAR);
    sort_short(&mut rows[..near], |a, b| standing(a).memory < standing(b).memory);
    sort_short(&mut rows[near..], |a, b| {
        let (a, b) = (standing(a), standing(b));
        match (is_like_the_best(&a), is_like_the_best(&b)) {
            (true, true) => a.loss_beside(best.engine) < b.loss_beside(best.engine),
            (is_like, _) => is_like,
        }
    });
    let moved = if near == 0 && best.is_uncertain() { lighten(rows, &standing) } else { None };
    match rows.first().map(&standing) {
        Some(first) if first == best => FirstBy::Score,
        _ if near > 0 => FirstBy::Size,
        Some(first) => moved.unwrap_or_else(|| {
            let loses_less =
                |row| standing(row).loss < first.loss && is_like_the_best(&standing(row));
            if rows.iter().any(loses_less) { FirstBy::SameEngine } else { FirstBy::LessLoss }
        }),
        None => FirstBy::Score,
    }
}

/// Puts before the first row the one with the least loss, then memory, of those that replace it, or the published model that
/// spares it or that one. Returns the reason if the first row changed.
fn lighten<T>(rows: &mut [T], standing: &impl Fn(&T) -> Standing) -> Option<FirstBy> {
    let first = rows.first().map(standing)?;
    let better = |a: &Standing, b: &Standing| {
        let losses = a.loss_beside(first.engine).total_cmp(&b.loss_beside(first.engine));
        losses.then(a.memory.get().total_cmp(&b.memory.get())).is_lt()
    };
    let (mut place, mut least) = (0, first);
    for (at, row) in rows.iter().enumerate() {
        let own = standing(row);
        if own.replaces(&first) && (place == 0 || better(&own, &least)) {
            (place, least) = (at, own);
        }
    }
    let mut reason =
        if least.memory < first.memory { FirstBy::LessMemory } else { FirstBy::LessLoss };
    let spares = |own: &Standing| own.spares(&least) && (*own == first || own.is_like(&first));
    if let Some(at) = rows.iter().position(|row| spares(&standing(row))) {
        place = at;
        reason = FirstBy::Published;
    }
    rows[..=place].rotate_right(1);
    (place > 0).then_some(reason)
}

#[cfg(test)]
mod tests;
