//! Changes that would give another best slot: a power budget, a loss of quality, a context.

use alloc::vec::Vec;

use super::batches::{Known, best_at};
use super::{Pair, Placed, ScheduleRequest, Slot, budget, modes, ranked, slot};
use crate::math::{round_down, round_up};
use crate::order::sort_short;
use crate::recommend::{Axis, LOSS_DIGITS, Task, order};
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
        flips.extend(
            then.map(|slot| SlotFlip::LossBelow(round_down(best.quality.high, LOSS_DIGITS), slot)),
        );
    }
    if let Some(any) = other(cap, ANY_LOSS).filter(|slot| slot.quality.high > quality) {
        let asked = round_up(any.quality.high, LOSS_DIGITS);
        flips.extend(
            other(cap, asked)
                .filter(|slot| slot.scheme.key == any.scheme.key)
                .map(|slot| SlotFlip::LossAllowed(asked, slot)),
        );
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
    let mut search = Search::new(request, ranked, best);
    let mut good = request.task.get(Axis::Context).max(1);
    let (mut bad, mut first) = loop {
        if good >= MOST.min(longest) {
            return None;
        }
        let next = (good * 2).min(longest);
        match search.first_at(next) {
            First::Best => good = next,
            First::Other(first) => break (next, first),
        }
    };
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match search.first_at(middle) {
            First::Best => good = middle,
            First::Other(other) => (bad, first) = (middle, other),
        }
    }
    let then = first.and_then(|placed| slot(&placed, &request.task.at(Axis::Context, bad)));
    Some(SlotFlip::Context(bad, then))
}

/// A search for the context at which another pair than the best one is first.
struct Search<'a> {
    request: &'a ScheduleRequest<'a>,
    best: &'a Slot,
    /// The pairs by score.
    hopeful: Vec<Placed<'a>>,
    /// Bounds on each pair at the largest context at which the best one was first.
    known: Vec<Known>,
}

/// The pair that is first at a context.
enum First<'a> {
    /// The pair that is first at the context of the request.
    Best,
    /// Another one with its batch; `None` if none meets the bounds.
    Other(Option<Placed<'a>>),
}

impl<'a> Search<'a> {
    fn new(request: &'a ScheduleRequest<'a>, ranked: &[Placed<'a>], best: &'a Slot) -> Self {
        let mut hopeful = ranked.to_vec();
        sort_short(&mut hopeful, |a, b| a.standing.score < b.standing.score);
        let known = hopeful.iter().map(|placed| Known::of(placed.pair)).collect();
        Self { request, best, hopeful, known }
    }

    /// The first-ranked pair at a context that is larger than those at which the best one was first. Scores only rise with
    /// the context, so the search ends at the first pair that was too far behind before.
    fn first_at(&mut self, context: u64) -> First<'a> {
        let mut known = self.known.clone();
        let mut found: Vec<Placed<'a>> = Vec::new();
        let mut reach = f64::INFINITY;
        let widest = self.request.task.widest_pair_ratio();
        for (placed, known) in self.hopeful.iter().zip(&mut known) {
            if placed.standing.score > reach {
                break;
            }
            let best = best_at(self.request, placed.pair, context, known);
            let Some((batch, standing)) = best else { continue };
            reach = reach.min(standing.reach(widest));
            found.push(Placed { batch, standing, ..*placed });
        }
        order(&mut found, |placed| placed.standing);
        match found.first() {
            Some(first) if first.pair.is(self.best) => {
                self.known = known;
                First::Best
            }
            first => First::Other(first.copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::calibration::Calibration;
    use crate::catalog;
    use crate::device::Device;
    use crate::plan::{Draft, EstimateRequest};
    use crate::precision::PrecisionChoice;
    use crate::recommend::{Bounds, ModelTask, Objective, RankedPart, Task, counted};
    use crate::schedule::{ScheduleRequest, SlotFlip, schedule};
    use crate::units::Bytes;
    use crate::workload::{Speculation, Workload};

    /// The standings computed for a schedule by energy of 131,072 new tokens, and the context at which the best slot changes.
    fn standings(device: &Device, model: &str, workload: Workload) -> (usize, Option<u64>) {
        let model = catalog::model(model).expect("catalog key");
        let draft = workload.speculation.map(|_| "llama-3.2-1b");
        let draft = draft.map(|key| Draft {
            model: &catalog::model(key).expect("catalog key").arch,
            files: None,
        });
        let task = ModelTask::new(
            EstimateRequest {
                device,
                mode: None,
                memory_limit: None,
                model: &model.arch,
                precision: PrecisionChoice::weights(&catalog::formats::FP16),
                workload,
                weight_size: None,
                draft,
                engine: None,
                calibration: &Calibration::FITTED,
                host: None,
                cards: None,
            },
            model.stored.choice(),
        );
        let found = schedule(&ScheduleRequest {
            task: Task::Model(counted::counted(&task)),
            objective: Objective::Energy,
            part: RankedPart::Whole,
            bounds: Bounds::default(),
            power_cap: None,
            max_batch: 1_000_000,
        });
        let context = found.expect("a schedule").flips.iter().find_map(|flip| match flip {
            SlotFlip::Context(context, _) => Some(*context),
            SlotFlip::Cap(..) | SlotFlip::LossAllowed(..) | SlotFlip::LossBelow(..) => None,
        });
        (counted::taken(), context)
    }

    /// The search for the context computed 3,860 and 16,011 standings in the first case and the last with the bounds of the request's own context.
    #[test]
    fn the_search_for_a_context_keeps_what_it_learned() {
        let device = |key: &str| catalog::device(key).expect("catalog key");
        let plain = Workload { new_tokens: 131_072, ..Workload::new(1, 512) };
        let mut drafted = plain;
        drafted.parallel.tensor = 8;
        drafted.speculation =
            Some(Speculation { draft_tokens: 4, acceptance: 0.7, own_layers: false });
        let mut large = device("h100_sxm").clone();
        large.memory.value = Bytes::from_gb(1e6);
        for (device, model, workload, most, context) in [
            (device("gb300"), "deepseek-v3", drafted, 1300, 36_290),
            (device("b200"), "llama-3.2-3b", plain, 1000, 36_467),
            (&large, "llama-3.1-8b", plain, 5500, 3302),
        ] {
            let (standings, found) = standings(device, model, workload);
            assert!(standings <= most, "{model}: {standings} standings");
            assert_eq!(found, Some(context), "{model}");
        }
    }
}
