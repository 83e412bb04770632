//! The fastest cut of a model over unlike cards: consecutive layers on each, as many as fit, a card without layers included.

use alloc::vec::Vec;
use core::ops::Range;

use super::Plan;
use crate::footprint::{HeldPart, MemoryFootprint};
use crate::lowering::{Step, parts_of};
use crate::model_arch::{Ends, LayerPart, Sliced};
use crate::op::OpKind;
use crate::units::{Bytes, Seconds};
use crate::workload::Workload;

/// Most places between layers at which a model is cut: between all layers of every published model. Of more layers some places
/// are tried, so that a file with a senseless number of them is answered soon.
const MOST_PLACES: u64 = 256;

impl Plan<'_> {
    /// Number of layers of each card in the fastest cut that fits; where none does, all cards but one are filled.
    pub(super) fn best_cut(&self, workload: &Workload) -> Vec<u64> {
        let cutter = Cutter::of(self, workload);
        cutter.fastest().unwrap_or_else(|| cutter.filled())
    }

    /// Whether a card has room for a layer at a place of the model, or for the one before.
    pub(super) fn has_room(&self, card: usize, place: u64) -> bool {
        let (cutter, last) = (Cutter::of(self, &self.request.workload), self.model().n_layers - 1);
        let mut layers = [place.saturating_sub(1), place.min(last)].into_iter();
        layers.any(|layer| cutter.fits(card, layer..layer + 1))
    }
}

/// A plan and a workload for which cuts are compared.
struct Cutter<'c> {
    plan: &'c Plan<'c>,
    workload: &'c Workload,
    sliced: Sliced<'c>,
    /// Numbers of layers before a cut, from none to all.
    places: Vec<u64>,
}

/// Times of one card in a decode step.
struct CardTimes {
    /// Time of the layers before each place.
    until: Vec<Seconds>,
    embedding: Seconds,
    head: Seconds,
    hop: Seconds,
}

impl<'c> Cutter<'c> {
    fn of(plan: &'c Plan<'_>, workload: &'c Workload) -> Self {
        let layers = plan.model().n_layers;
        let apart = layers.div_ceil(MOST_PLACES);
        let places = (0..layers.div_ceil(apart)).map(|place| place * apart).chain([layers]);
        Self { plan, workload, sliced: Sliced::of(plan.model()), places: places.collect() }
    }

    /// Number of layers of each card in the fastest cut that fits.
    ///
    /// ```text
    /// T_i(e) = min over s <= e of T_(i-1)(s) + time of the layers from s to e on card i + a hand-over if both have layers
    /// ```
    ///
    /// The last cut is T of all cards at all layers, where each stage must fit its card.
    fn fastest(&self) -> Option<Vec<u64>> {
        let all = self.places.len() - 1;
        let mut reached: Vec<Option<Seconds>> = alloc::vec![None; all + 1];
        reached[0] = Some(Seconds::ZERO);
        // Where the layers of each card start, by where they end.
        let mut starts: Vec<Vec<usize>> = Vec::new();
        for card in 0..self.plan.n_cards() {
            let times = self.times(card);
            let mut next = alloc::vec![None; all + 1];
            let mut from = alloc::vec![0; all + 1];
            let mut most = 0;
            for (start, before) in reached.iter().enumerate() {
                let Some(before) = *before else { continue };
                most = self.most(card, start, most);
                let whole = (most < all && most + 1 == all)
                    .then_some(all)
                    .filter(|_| self.fits(card, self.layers(start, all)));
                for end in (start..=most).chain(whole) {
                    let time = before + times.of(start, end);
                    if next[end].is_none_or(|best| time < best) {
                        (next[end], from[end]) = (Some(time), start);
                    }
                }
            }
            reached = next;
            starts.push(from);
        }
        reached[all]?;
        let mut end = all;
        let mut counts: Vec<u64> = Vec::new();
        for from in starts.iter().rev() {
            counts.push(self.places[end] - self.places[from[end]]);
            end = from[end];
        }
        counts.reverse();
        Some(counts)
    }

    /// The furthest end of layers from `start` on that fit a card without the LM head. Where more layers before them fitted, as
    /// far as `known`, these do, too, but for what an engine rounds up.
    fn most(&self, card: usize, start: usize, known: usize) -> usize {
        let mut most = known.max(start);
        while most > start && !self.fits(card, self.layers(start, most)) {
            most -= 1;
        }
        while most + 2 < self.places.len() && self.fits(card, self.layers(start, most + 1)) {
            most += 1;
        }
        most
    }

    /// Number of layers of each card where no cut fits: all cards but one take what they hold, and the one that then lacks least
    /// the rest.
    fn filled(&self) -> Vec<u64> {
        let cuts = (0..self.plan.n_cards()).map(|rest| self.filled_but(rest));
        let least = cuts.reduce(|a, b| if b.0 < a.0 { b } else { a });
        least.map_or_else(Vec::new, |(_, counts)| counts)
    }

    /// The memory that one card lacks for the layers that the others, which are full, leave to it; and the layers of each.
    fn filled_but(&self, rest: usize) -> (Bytes, Vec<u64>) {
        let mut counts = alloc::vec![0; self.plan.n_cards()];
        let mut left = 0..self.plan.model().n_layers;
        let (before, after) = counts.split_at_mut(rest);
        for (card, count) in before.iter_mut().enumerate() {
            let all = left.end - left.start;
            *count = most_of(all, |count| self.fits(card, left.start..left.start + count));
            left.start += *count;
        }
        for (card, count) in after.iter_mut().enumerate().skip(1).rev() {
            let all = left.end - left.start;
            *count = most_of(all, |count| self.fits(rest + card, left.end - count..left.end));
            left.end -= *count;
        }
        counts[rest] = left.end - left.start;
        let memory = (!left.is_empty()).then(|| self.memory(rest, left));
        let short = memory.map_or(Bytes::ZERO, |memory| memory.total() - memory.usable.bytes);
        (short, counts)
    }

    fn layers(&self, start: usize, end: usize) -> Range<u64> {
        self.places[start]..self.places[end]
    }

    fn fits(&self, card: usize, layers: Range<u64>) -> bool {
        layers.is_empty() || self.memory(card, layers).verdict().may_fit()
    }

    fn memory(&self, card: usize, layers: Range<u64>) -> MemoryFootprint {
        let whole = self.plan.model();
        let ends = Ends { first: layers.start == 0, last: layers.end == whole.n_layers };
        let part = self.sliced.stage(layers.clone(), ends);
        let held = HeldPart {
            whole,
            part: &part,
            layers: Some(&layers),
            ends,
            host_tables: self.plan.host_tables(),
        };
        self.plan.memory_on(&held, self.workload, &self.plan.place_of(card))
    }

    fn times(&self, card: usize) -> CardTimes {
        let (plan, model) = (self.plan, self.plan.model());
        let step = Step::decode(self.workload.batch, self.workload.context);
        let place = plan.place_of(card);
        let (mut embedding, mut head, mut every) = (Seconds::ZERO, Seconds::ZERO, Seconds::ZERO);
        // Time of a layer with each part.
        let mut parts: Vec<(LayerPart, Seconds)> = Vec::new();
        let layers = model.n_layers as f64;
        plan.lowering().step(step, &mut |op| {
            let time = plan.times_there(&op, step, &place).expected.time;
            match op.kind {
                OpKind::Embedding => return embedding += time * op.count as f64,
                OpKind::LmHead => return head += time * op.count as f64,
                _ => {}
            }
            for (part, count) in parts_of(model, &op).into_iter().filter(|(_, count)| *count > 0) {
                let all = time * count as f64;
                if part == LayerPart::WHOLE {
                    every += all / layers;
                } else {
                    parts.push((part, all / part.layers(model) as f64));
                }
            }
        });
        let until = |place: &u64| -> Seconds {
            let share = *place as f64 / layers;
            let before = |(part, time): &(LayerPart, Seconds)| {
                let mean = || part.layers(model) as f64 * share;
                let known = self.sliced.among_first(*part, *place);
                *time * known.map_or_else(mean, |count| count as f64)
            };
            every * *place as f64 + parts.iter().map(before).sum::<Seconds>()
        };
        let until = self.places.iter().map(until).collect();
        let hop = plan.link.map_or(Seconds::ZERO, |link| plan.hop(step, &link));
        CardTimes { until, embedding, head, hop }
    }
}

impl CardTimes {
    /// The time of the layers between two places, with the ends of the model and the hand-over before them.
    fn of(&self, start: usize, end: usize) -> Seconds {
        if start == end {
            return Seconds::ZERO;
        }
        let first = if start == 0 { self.embedding } else { self.hop };
        let last = if end + 1 == self.until.len() { self.head } else { Seconds::ZERO };
        self.until[end] - self.until[start] + first + last
    }
}

/// The largest number up to `all` that fits, where every smaller one does, too; zero fits.
fn most_of(all: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut least, mut most) = (0, all);
    while least < most {
        let middle = most - (most - least) / 2;
        if fits(middle) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}
