//! Figures of each of several unlike cards: layers, memory, time, and its share of the power.

use alloc::vec::Vec;

use super::{CardLoad, Plan, Span, Stage};
use crate::energy::{Power, mean_power};
use crate::lowering::Step;
use crate::parallel::Parallel;
use crate::units::Seconds;
use crate::workload::Workload;

impl Plan<'_> {
    pub(super) fn loads(&self) -> Vec<CardLoad> {
        let Workload { batch, context, .. } = self.request.workload;
        let times = self.spans(Step::decode(batch, context));
        let load = |((index, stage), token): ((usize, &Stage), Span)| {
            let held = self.held_at(index);
            let place = self.place_of(index);
            let memory = held.map(|held| self.memory_on(&held, &self.request.workload, &place));
            let (layers, has_head) =
                (stage.layers.clone(), stage.ends.last && self.request.model.has_head);
            let has_room = !layers.is_empty() || self.has_room(index, layers.start);
            let (bandwidth, layer) = (place.bandwidth, place.paths.layer);
            CardLoad { layers, has_room, has_head, memory, token, bandwidth, layer }
        };
        self.stages.iter().enumerate().zip(times).map(load).collect()
    }

    /// The part of a step on each card.
    fn spans(&self, step: Step) -> Vec<Span> {
        let mut spans = alloc::vec![Span::ZERO; self.stages.len()];
        self.lowering().step(step, &mut |op| {
            for (index, stage) in self.stages.iter().enumerate() {
                let times = self.times_there(&op, step, &self.place_of(index));
                let one = Span { ideal: times.time.ideal(), expected: times.expected };
                spans[index] = spans[index].then(one.times(self.instances(&op, stage)));
            }
        });
        spans
    }

    pub(super) fn power_of_cards(&self, Span { ideal, expected }: Span) -> Option<Power> {
        let workload = &self.request.workload;
        let spans = self.spans(Step::decode(workload.batch, workload.middle()));
        let all: Seconds = spans.iter().map(|span| span.ideal).sum();
        let mut sum = None;
        for (index, span) in spans.iter().enumerate() {
            let busy = ideal * (span.ideal / all);
            let place = (self.place_of(index).device, None);
            let own = mean_power(place, &Parallel::default(), busy, expected.time)?.device;
            sum = Some(sum.map_or(own, |sum| sum + own));
        }
        let (all, devices) = (sum?, spans.len() as u64);
        Some(Power { device: all / devices as f64, all, devices })
    }
}
