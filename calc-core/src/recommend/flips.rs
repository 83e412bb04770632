//! Changes that would alter the ranking: a larger or smaller workload, another bound on quality, more memory.

use alloc::vec::Vec;

use super::{Axis, Chooser, Drop, Dropped, Ranked, RankedPart, Task};
use crate::math::{round_down, round_up};
use crate::order::sort_short;
use crate::scheme::Scheme;
use crate::units::Bytes;

/// The condition under which another scheme is first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// From this value of an axis upwards.
    From(Axis, u64),
    /// From this value of an axis downwards.
    DownFrom(Axis, u64),
    /// If this quality loss is allowed [%].
    LossAllowed(f64),
    /// If less than this quality loss is allowed [%].
    LossBelow(f64),
    /// With this much usable memory.
    Memory(Bytes),
}

/// The reason why another scheme is first from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It overtakes the previous one.
    Passes,
    /// The previous one no longer meets the bounds.
    TheOtherDrops,
    /// It now meets the bounds.
    Admitted,
}

/// A change of the first-ranked scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flip {
    pub when: Change,
    pub cause: Cause,
    /// The scheme that is first until there.
    pub from: &'static Scheme,
    /// The new first scheme; `None` if no scheme meets the bounds.
    pub to: Option<&'static Scheme>,
}

/// Search limits of the axes; larger values are not practical.
const MOST_BATCH: u64 = 4096;
const MOST_TOKENS: u64 = 1 << 20;

/// Digits of a loss and of a need for memory in a sentence: the threshold is what it prints.
pub(crate) const LOSS_DIGITS: u32 = 2;
const MEMORY_DIGITS: u32 = 3;

/// Fills the flips of all rows: for the first row, the changes that end its first place; for each other row, those that put
/// it first.
pub(super) fn fill(chooser: &Chooser<'_>, ranked: &mut [Ranked], dropped: &[Dropped]) {
    let Some(first) = ranked.first() else { return };
    let mut flips = Vec::new();
    let among = chooser.allowed();
    for axis in axes(chooser) {
        changes((chooser, &among), axis, first.scheme, &mut flips);
    }
    bounds(chooser, first, dropped, &mut flips);
    for row in ranked.iter_mut().skip(1) {
        row.flips
            .extend(flips.iter().filter(|flip| flip.to.is_some_and(|to| to.key == row.scheme.key)));
    }
    let mut nearest: Vec<Flip> = Vec::new();
    for flip in flips {
        if !nearest.iter().any(|near| direction(near.when) == direction(flip.when)) {
            nearest.push(flip);
        }
    }
    ranked[0].flips = nearest;
}

/// The direction of a change. Of several changes in one direction, only the nearest ends the first place of the first row.
fn direction(change: Change) -> (u8, Option<Axis>) {
    match change {
        Change::From(axis, _) => (0, Some(axis)),
        Change::DownFrom(axis, _) => (1, Some(axis)),
        Change::LossAllowed(_) => (2, None),
        Change::LossBelow(_) => (3, None),
        Change::Memory(_) => (4, None),
    }
}

fn axes(chooser: &Chooser<'_>) -> Vec<Axis> {
    match (&chooser.task, chooser.aim.part) {
        (Task::Shape(_), _) => [Axis::Rows].into(),
        (Task::Model(_), RankedPart::Decode) => [Axis::Batch, Axis::Context].into(),
        (Task::Model(task), RankedPart::Prefill | RankedPart::Whole) => {
            let has_images = task.request.workload.images.is_some();
            [Axis::Batch, if has_images { Axis::Text } else { Axis::Prompt }].into()
        }
    }
}

/// All changes of the first scheme along an axis, up and down from the task's value.
fn changes(chooser: Among<'_>, axis: Axis, first: &'static Scheme, flips: &mut Vec<Flip>) {
    let most = match axis {
        Axis::Rows | Axis::Batch => MOST_BATCH,
        Axis::Prompt | Axis::Text | Axis::Context => MOST_TOKENS,
    }
    .min(chooser.0.task.most(axis));
    let up = |value: u64| Some((value * 2).min(most)).filter(|next| *next > value);
    let down = |value: u64| Some(value / 2).filter(|next| *next > 0);
    walk(chooser, (axis, &up, Change::From), first, flips);
    walk(chooser, (axis, &down, Change::DownFrom), first, flips);
}

/// A request with the schemes that pass on kernels, shapes and quality.
type Among<'a> = (&'a Chooser<'a>, &'a [&'static Scheme]);

/// An axis, the next value to try on it, and the constructor of a change on it.
type Direction<'a> = (Axis, &'a dyn Fn(u64) -> Option<u64>, fn(Axis, u64) -> Change);

/// Tries values in sequence and locates a change between two of them by bisection. Two changes between consecutive values
/// are missed.
fn walk(
    (chooser, among): Among<'_>,
    (axis, next, change): Direction<'_>,
    first: &'static Scheme,
    flips: &mut Vec<Flip>,
) {
    let task = &chooser.task;
    let winner = |value| chooser.winner(&task.at(axis, value), among);
    let (mut here, mut holder) = (task.get(axis).max(1), Some(first));
    while let (Some(then), Some(scheme)) = (next(here), holder) {
        let before = here;
        here = then;
        if is(winner(then), scheme) {
            continue;
        }
        here = nearest_change(before, then, |value| is(winner(value), scheme));
        holder = winner(here);
        let cause = match chooser.probe(&task.at(axis, here), scheme) {
            Ok(_) => Cause::Passes,
            Err(_) => Cause::TheOtherDrops,
        };
        flips.push(Flip { when: change(axis, here), cause, from: scheme, to: holder });
    }
}

fn is(winner: Option<&Scheme>, scheme: &Scheme) -> bool {
    winner.is_some_and(|winner| winner.key == scheme.key)
}

/// Finds the value next to a change, on its far side: `holds` is true at `good` and false at `bad`; `bad` may be smaller.
fn nearest_change(mut good: u64, mut bad: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while good.abs_diff(bad) > 1 {
        let middle = good.min(bad) + good.abs_diff(bad) / 2;
        if holds(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    bad
}

/// Changes from other bounds on quality and memory.
fn bounds(chooser: &Chooser<'_>, first: &Ranked, dropped: &[Dropped], flips: &mut Vec<Flip>) {
    let barred = dropped.iter().filter(|row| matches!(row.reason, Drop::Quality { .. }));
    let mut losses: Vec<f64> = barred.map(|row| row.quality.high).collect();
    sort_short(&mut losses, |a, b| a < b);
    losses.dedup();
    let mut holder = first.scheme;
    let mut before = chooser.aim.bounds.quality;
    for loss in losses {
        // As it is printed, and never less than what it takes.
        let asked = round_up(loss, LOSS_DIGITS);
        let Some(winner) = chooser.winner_at_quality(asked) else { continue };
        // A scheme that another one makes room for met the bound before, so the bound is not what it waited for.
        let is_admitted = chooser.quality(winner).high > before;
        before = loss;
        if winner.key == holder.key {
            continue;
        }
        let from = core::mem::replace(&mut holder, winner);
        if is_admitted {
            let when = Change::LossAllowed(asked);
            flips.push(Flip { when, cause: Cause::Admitted, from, to: Some(winner) });
        }
    }
    if first.quality.high > 0.0 {
        let loss = round_down(first.quality.high, LOSS_DIGITS);
        let to = chooser.winner_at_quality(loss * (1.0 - 1e-6));
        let when = Change::LossBelow(loss);
        flips.push(Flip { when, cause: Cause::TheOtherDrops, from: first.scheme, to });
    }
    for row in dropped {
        let Drop::Memory { needs, .. } = row.reason else { continue };
        let needs = Bytes::new(round_up(needs.get(), MEMORY_DIGITS));
        if is(chooser.winner_with_memory(needs), row.scheme) {
            let when = Change::Memory(needs);
            let (from, to) = (first.scheme, Some(row.scheme));
            flips.push(Flip { when, cause: Cause::Admitted, from, to });
        }
    }
}
