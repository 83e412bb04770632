//! The fastest cut of a model over unlike cards: consecutive layers on each, as many as fit, a card without layers included.

use alloc::vec::Vec;

use super::Plan;
use crate::expected::Expected;
use crate::footprint::HeldPart;
use crate::lowering::{Step, parts_of};
use crate::model_arch::{Ends, LayerPart};
use crate::op::OpKind;
use crate::units::Seconds;
use crate::workload::Workload;

/// Times of one card in a decode step.
struct CardTimes {
    /// Time of the first layers, from none to all.
    until: Vec<Seconds>,
    embedding: Seconds,
    head: Seconds,
}

/// A cut of the first layers.
#[derive(Clone)]
struct Reached {
    time: Seconds,
    /// Number of layers of each card so far.
    counts: Vec<u64>,
}

impl Plan<'_> {
    /// Number of layers of each card in the fastest cut that fits; the one that fills one card after the other if none does.
    ///
    /// ```text
    /// T_i(e) = min over s <= e of T_(i-1)(s) + time of the layers from s to e on card i + a hand-over if both have layers
    /// ```
    ///
    /// The last cut is T of all cards at all layers, where each stage must fit its card.
    pub(super) fn best_cut(&self, workload: &Workload) -> Vec<u64> {
        let layers = self.model().n_layers;
        let cards = self.n_cards();
        let step = Step::decode(workload.batch, workload.context);
        let hop = self.link.map_or(Seconds::ZERO, |link| self.hop(step, &link));
        let mut reached: Vec<Option<Reached>> = alloc::vec![None; places(layers) + 1];
        reached[0] = Some(Reached { time: Seconds::ZERO, counts: Vec::new() });
        for card in 0..cards {
            let times = self.card_times(card, workload);
            let mut next: Vec<Option<Reached>> = alloc::vec![None; reached.len()];
            for (start, before) in (0..).zip(&reached) {
                let Some(before) = before else { continue };
                let most = self.most(card, start, workload);
                let last = card + 1 == cards;
                let ends = (start..=most).filter(|end| !last || *end == layers);
                let whole =
                    (most < layers && self.fits(card, start, layers, workload)).then_some(layers);
                for end in ends.chain(whole) {
                    let time = before.time + times.of(start, end, layers, hop);
                    let slot = &mut next[places(end)];
                    if slot.as_ref().is_none_or(|best| time < best.time) {
                        let counts = before.counts.iter().copied().chain([end - start]);
                        *slot = Some(Reached { time, counts: counts.collect() });
                    }
                }
            }
            reached = next;
        }
        let best = reached.pop().flatten();
        best.map_or_else(|| self.filled_up(cards, workload), |best| best.counts)
    }

    /// One card after the other takes what it holds, and the last one the rest.
    fn filled_up(&self, cards: usize, workload: &Workload) -> Vec<u64> {
        let layers = self.model().n_layers;
        let mut start = 0;
        let count = |card| {
            let most = self.most(card, start, workload);
            let end = if card + 1 == cards { layers } else { most };
            let count = end - start;
            start = end;
            count
        };
        (0..cards).map(count).collect()
    }

    /// The end of the most layers from `start` on that fit a card without the LM head.
    fn most(&self, card: usize, start: u64, workload: &Workload) -> u64 {
        let (mut least, mut most) = (start, self.model().n_layers);
        while least + 1 < most {
            let middle = least + (most - least) / 2;
            if self.fits(card, start, middle, workload) {
                least = middle;
            } else {
                most = middle;
            }
        }
        least
    }

    fn fits(&self, card: usize, start: u64, end: u64, workload: &Workload) -> bool {
        let whole = self.model();
        let ends = Ends { first: start == 0, last: end == whole.n_layers };
        let layers = start..end;
        let part = whole.stage(layers.clone(), ends);
        let held = HeldPart {
            whole,
            part: &part,
            layers: Some(&layers),
            ends,
            host_tables: self.host_tables(),
        };
        self.memory_on(&held, workload, &self.place_of(card)).verdict().may_fit()
    }

    fn card_times(&self, card: usize, workload: &Workload) -> CardTimes {
        let model = self.model();
        let step = Step::decode(workload.batch, workload.context);
        let place = self.place_of(card);
        let (mut embedding, mut head, mut every) = (Seconds::ZERO, Seconds::ZERO, Seconds::ZERO);
        let mut parts: Vec<(LayerPart, Seconds)> = Vec::new();
        let layers = model.n_layers as f64;
        self.lowering().each(step, &mut |op| {
            let Expected { time, .. } = self.times_there(&op, step, &place).expected;
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
        let of = |layer: &[LayerPart]| -> Seconds {
            parts.iter().filter(|(part, _)| layer.contains(part)).map(|(_, time)| *time).sum()
        };
        let mut until = alloc::vec![Seconds::ZERO];
        let mut sum = Seconds::ZERO;
        let mut add = |layer: Seconds| {
            sum += layer;
            until.push(sum);
        };
        if let Some(order) = model.layers_in_order() {
            for layer in &order {
                add(every + of(layer));
            }
        } else {
            let all = |(part, time): &(LayerPart, Seconds)| *time * part.layers(model) as f64;
            let mean = parts.iter().map(all).sum::<Seconds>() / layers;
            for _ in 0..model.n_layers {
                add(every + mean);
            }
        }
        CardTimes { until, embedding, head }
    }
}

impl CardTimes {
    /// The time of the layers from `start` to `end`, with the ends of the model and the hand-over before them.
    fn of(&self, start: u64, end: u64, layers: u64, hop: Seconds) -> Seconds {
        if start == end {
            return Seconds::ZERO;
        }
        let until = |place| self.until.get(places(place)).copied().unwrap_or(Seconds::ZERO);
        let first = if start == 0 { self.embedding } else { hop };
        let last = if end == layers { self.head } else { Seconds::ZERO };
        until(end) - until(start) + first + last
    }
}

/// A number of layers as an index.
fn places(layers: u64) -> usize {
    usize::try_from(layers).expect("a model has fewer layers than 2^16")
}
