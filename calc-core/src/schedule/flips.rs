//! Changes that would give another best slot: a power budget, a loss of quality, a context.

use alloc::vec::Vec;

use super::batches::best_at;
use super::{Pair, Placed, ScheduleRequest, Slot, budget, modes, ranked, slot};
use crate::order::sort_short;
use crate::recommend::{Axis, Standing, Task, order};
use crate::units::Watts;

/// A limit on the quality loss that admits every scheme [%].
const ANY_LOSS: f64 = 1e6;

/// A change that would make another slot the best.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotFlip {
    /// With this power budget.
    Cap(Watts, Slot),
    /// If this quality loss is allowed [%].
    LossAllowed(f64, Slot),
    /// If less than this quality loss is allowed [%].
    LossBelow(f64, Slot),
    /// From this context on; `None` if no slot meets the bounds any more.
    Context(u64, Option<Slot>),
}

/// The best slots under changed conditions, if they are different ones.
pub(super) fn flips(
    request: &ScheduleRequest<'_>,
    pairs: &[Pair<'_>],
    best: &Slot,
) -> Vec<SlotFlip> {
    let (task, cap, quality) = (&request.task, request.power_cap, request.bounds.quality);
    let other = |cap, quality| {
        let first = ranked(pairs, cap, quality).0.into_iter().next();
        first.filter(|first| !first.pair.is(best)).and_then(|first| slot(&first, task))
    };
    let mut flips = Vec::new();
    if let Some(cap) = cap {
        let device = request.task.device();
        let larger = modes(device).filter_map(|mode| budget(device, mode)).filter(|w| *w > cap);
        if let Some(next) = larger.min_by(|a, b| a.get().total_cmp(&b.get())) {
            flips.extend(other(Some(next), quality).map(|slot| SlotFlip::Cap(next, slot)));
        }
    }
    let below = best.quality.high * (1.0 - 1e-6) - 1e-9;
    if below >= 0.0 {
        let then = other(cap, below);
        flips.extend(then.map(|slot| SlotFlip::LossBelow(best.quality.high, slot)));
    }
    if let Some(any) = other(cap, ANY_LOSS) {
        flips.push(SlotFlip::LossAllowed(any.quality.high, any));
    }
    flips.extend(context_flip(request, &ranked(pairs, cap, quality).0, best));
    flips
}

/// The first context at which another slot is best, found by doubling and bisection.
fn context_flip(
    request: &ScheduleRequest<'_>,
    ranked: &[Placed<'_>],
    best: &Slot,
) -> Option<SlotFlip> {
    const MOST: u64 = 1 << 20;
    let Task::Model(_) = request.task else { return None };
    let longest = request.task.most(Axis::Context);
    let mut hopeful: Vec<Placed<'_>> = ranked.to_vec();
    sort_short(&mut hopeful, |a, b| a.standing.score < b.standing.score);
    let first = |context| first_at(request, &hopeful, context);
    let holds = |placed: Option<(usize, u64)>| {
        placed.is_some_and(|(place, _)| hopeful[place].pair.is(best))
    };
    let mut good = request.task.get(Axis::Context).max(1);
    let mut bad = good;
    while bad < MOST.min(longest) && holds(first(bad)) {
        good = bad;
        bad = (bad * 2).min(longest);
    }
    if holds(first(bad)) {
        return None;
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(first(middle)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    let then = first(bad).and_then(|(place, batch)| {
        let task = request.task.at(Axis::Context, bad);
        slot(&Placed { batch, ..hopeful[place] }, &task)
    });
    Some(SlotFlip::Context(bad, then))
}

/// The first-ranked pair at a larger context: its index in `hopeful`, and its batch. Scores only rise with the context, so
/// the search ends at the first pair that was too far behind before.
fn first_at(
    request: &ScheduleRequest<'_>,
    hopeful: &[Placed<'_>],
    context: u64,
) -> Option<(usize, u64)> {
    let mut found: Vec<(usize, u64, Standing)> = Vec::new();
    let mut reach = f64::INFINITY;
    let widest = hopeful.iter().map(|placed| placed.standing.slow_ratio()).fold(1.0, f64::max);
    for (place, placed) in hopeful.iter().enumerate() {
        if placed.standing.score > reach {
            break;
        }
        let Some((batch, standing)) = best_at(request, placed.pair, context) else { continue };
        reach = reach.min(standing.reach(widest));
        found.push((place, batch, standing));
    }
    order(&mut found, |(.., standing)| *standing);
    found.first().map(|(place, batch, _)| (*place, *batch))
}
