//! The batches that are tried with a power mode and a scheme, and the best of them at another context.
//!
//! Memory and times grow with the batch, so the largest batch that meets the bounds is found by bisection, and the best for
//! latency is one. Time and energy per token fall while rows fill a tile, and rise where the next tile begins. So every batch
//! up to [`EACH`] is tried, then every [`ROWS`], and from [`FINE`] on steps of an eighth: the batches that fill their tiles.

use alloc::vec::Vec;

use super::{Pair, ScheduleRequest};
use crate::order::sort_short;
use crate::recommend::{Axis, Chooser, Objective, RankedPart, Standing, Task, largest};
use crate::scheme::Scheme;

/// Batches up to this one are tried one by one.
pub const EACH: u64 = 16;
/// Number of rows of the smallest tiles; up to [`FINE`] every multiple is tried.
const ROWS: u64 = 8;
const FINE: u64 = 128;

/// The tried batches up to a largest one, with their standing.
pub(super) fn batches(
    request: &ScheduleRequest<'_>,
    task: &Task<'_>,
    candidate: (&Chooser<'_>, &'static Scheme),
    most: u64,
) -> Vec<(u64, Standing)> {
    let (chooser, scheme) = candidate;
    let fits = |batch| chooser.limits_of_batch(&task.at(Axis::Batch, batch), scheme).is_none();
    let Some(most) = largest(most, fits) else { return Vec::new() };
    let mut tried = Vec::new();
    let mut batch = 1;
    while batch <= most && (tried.is_empty() || !is_single(request)) {
        tried.extend(standing(request, task, candidate, batch).map(|standing| (batch, standing)));
        let next = next_batch(batch);
        batch = if batch < most { next.min(most) } else { next };
    }
    tried
}

const fn next_batch(batch: u64) -> u64 {
    if batch < EACH {
        batch + 1
    } else if batch < FINE {
        (batch / ROWS + 1) * ROWS
    } else {
        (batch + batch / 8) / (2 * ROWS) * (2 * ROWS)
    }
}

/// The standing of a batch, if it meets the bounds: by seconds, seconds per sequence, joules or percent.
fn standing(
    request: &ScheduleRequest<'_>,
    task: &Task<'_>,
    (chooser, scheme): (&Chooser<'_>, &'static Scheme),
    batch: u64,
) -> Option<Standing> {
    let standing = chooser.probe(&task.at(Axis::Batch, batch), scheme).ok()?;
    Some(match request.objective {
        Objective::Throughput => standing.over(batch),
        Objective::Latency | Objective::Energy | Objective::Memory | Objective::Quality => standing,
    })
}

/// Largest relative error of a score; a generation is summed within 1e-7.
const SCORE_ERROR: f64 = 1e-6;

/// Bounds on a pair from a context on: scores only rise with the context, and the largest batch that fits only falls.
#[derive(Clone)]
pub(super) struct Known {
    /// Largest batch that may fit.
    most: u64,
    /// Batches with lower bounds of their scores, the least first.
    scores: Vec<(u64, f64)>,
}

impl Known {
    /// The bounds at the context of the request.
    pub(super) fn of(pair: &Pair<'_>) -> Self {
        let scores = pair.tried.iter().map(|(batch, standing)| (*batch, standing.score));
        let most = pair.tried.last().map_or(1, |(batch, _)| *batch);
        let mut known = Self { most, scores: scores.collect() };
        known.sort();
        known
    }

    fn sort(&mut self) {
        sort_short(&mut self.scores, |a, b| (a.1, a.0) < (b.1, b.0));
    }

    /// Lowers the largest batch to what fits; `None` if nothing does.
    fn shrink(&mut self, fits: impl Fn(u64) -> bool) -> Option<()> {
        if !fits(self.most) {
            self.most = largest(self.most.checked_sub(1).filter(|most| *most > 0)?, fits)?;
            self.scores.retain(|(batch, _)| *batch <= self.most);
        }
        if self.scores.iter().all(|(batch, _)| *batch != self.most) {
            self.scores.insert(0, (self.most, 0.0)); // it was not tried before
        }
        Some(())
    }
}

/// The best batch of a pair at a larger context than that of `known`, which becomes what is known at this one.
pub(super) fn best_at(
    request: &ScheduleRequest<'_>,
    pair: &Pair<'_>,
    context: u64,
    known: &mut Known,
) -> Option<(u64, Standing)> {
    let chooser = &pair.setup.chooser;
    let task = chooser.task().at(Axis::Context, context);
    let most = pair.tried.last()?.0;
    let least = |tried: &[(u64, Standing)]| {
        tried.iter().min_by(|a, b| a.1.score.total_cmp(&b.1.score)).copied()
    };
    if is_single(request) {
        return least(&batches(request, &task, (chooser, pair.scheme), most));
    }
    let fits = |batch| chooser.limits_of_batch(&task.at(Axis::Batch, batch), pair.scheme).is_none();
    let now = |batch| standing(request, &task, (chooser, pair.scheme), batch);
    if !is_without_context(request) {
        known.shrink(fits)?;
        return least_known(known, now);
    }
    // Only the memory has changed: earlier results hold up to the largest batch that still fits.
    let most = largest(most, fits)?;
    let tried = pair.tried.partition_point(|(batch, _)| *batch <= most);
    let with_batch = |batch| now(batch).map(|standing| (batch, standing));
    let best = least(&pair.tried[..tried]).and_then(|(batch, _)| with_batch(batch));
    least(&[best, with_batch(most)].into_iter().flatten().collect::<Vec<_>>())
}

/// The best of the known batches by their standings now, which replace the bounds: the search goes by these and ends at the
/// first that is not below the best one found.
fn least_known(
    known: &mut Known,
    now: impl Fn(u64) -> Option<Standing>,
) -> Option<(u64, Standing)> {
    let mut best: Option<(u64, Standing)> = None;
    for (batch, bound) in &mut known.scores {
        if best.is_some_and(|(_, best)| best.score < *bound * (1.0 - SCORE_ERROR)) {
            break;
        }
        let standing = now(*batch);
        // A bound on times that is violated stays so at every larger context.
        *bound = standing.map_or(f64::INFINITY, |standing| standing.score);
        let is_better = |now: &Standing| {
            best.is_none_or(|(other, best)| (now.score, *batch) < (best.score, other))
        };
        best = standing.filter(is_better).map(|now| (*batch, now)).or(best);
    }
    known.sort();
    best
}

/// True if the order of the batches does not depend on the context: only prefill reads none of it. The time to first token
/// depends on it, because other requests decode beside the prompt.
fn is_without_context(request: &ScheduleRequest<'_>) -> bool {
    request.part == RankedPart::Prefill
        && request.bounds.rate.is_none()
        && request.bounds.ttft.is_none()
}

/// True if the smallest batch that meets the bounds is the best: a larger one is slower with the same quality loss.
const fn is_single(request: &ScheduleRequest<'_>) -> bool {
    match request.objective {
        Objective::Latency | Objective::Quality => true,
        Objective::Throughput | Objective::Energy | Objective::Memory => false,
    }
}
