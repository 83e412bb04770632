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

/// The best batch of a pair at a larger context.
pub(super) fn best_at(
    request: &ScheduleRequest<'_>,
    pair: &Pair<'_>,
    context: u64,
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
    if !is_without_context(request) {
        return least_known(request, &task, pair);
    }
    // Only the memory has changed: earlier results hold up to the largest batch that still fits.
    let fits = |batch| chooser.limits_of_batch(&task.at(Axis::Batch, batch), pair.scheme).is_none();
    let most = largest(most, fits)?;
    let known = pair.tried.partition_point(|(batch, _)| *batch <= most);
    let now = |batch| {
        let standing = standing(request, &task, (chooser, pair.scheme), batch)?;
        Some((batch, standing))
    };
    let best = least(&pair.tried[..known]).and_then(|(batch, _)| now(batch));
    let last = if is_single(request) { None } else { now(most) };
    least(&[best, last].into_iter().flatten().collect::<Vec<_>>())
}

/// The best of the tried batches for a task with a larger context. Scores only rise with the context, so the earlier ones
/// are lower bounds: the search goes by them and ends at the first that is not below the best one found.
fn least_known(
    request: &ScheduleRequest<'_>,
    task: &Task<'_>,
    pair: &Pair<'_>,
) -> Option<(u64, Standing)> {
    let chooser = &pair.setup.chooser;
    let fits = |batch| chooser.limits_of_batch(&task.at(Axis::Batch, batch), pair.scheme).is_none();
    let most = largest(pair.tried.last()?.0, fits)?;
    let mut known: Vec<(u64, f64)> = Vec::with_capacity(pair.tried.len());
    for (batch, standing) in pair.tried.iter().take_while(|(batch, _)| *batch <= most) {
        known.push((*batch, standing.score));
    }
    if known.last().is_none_or(|(batch, _)| *batch < most) {
        known.push((most, 0.0)); // the largest batch that fits now was not tried before
    }
    sort_short(&mut known, |a, b| (a.1, a.0) < (b.1, b.0));
    let mut best: Option<(u64, Standing)> = None;
    for (batch, bound) in known {
        if best.is_some_and(|(_, best)| best.score < bound) {
            break;
        }
        let now = standing(request, task, (chooser, pair.scheme), batch);
        let is_better = |now: &Standing| {
            best.is_none_or(|(other, best)| (now.score, batch) < (best.score, other))
        };
        best = now.filter(is_better).map(|now| (batch, now)).or(best);
    }
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
