//! A plan on unlike cards of one machine: consecutive layers on each, times of operators on the card that runs them, memory of
//! each card, and the cut with the least time per token that fits. Equal cards are a pipeline, whose cut an engine fixes.
//! Derivation: `docs/theory/parallel.md`.

mod cut;
mod loads;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use super::place::Place;
use super::totals::{OpTimes, Unlike};
use super::{Paths, Plan, Span};
use crate::calibration::{Calibration, Engine, Tuned};
use crate::device::{Device, DeviceClass, Link};
use crate::energy::Power;
use crate::error::Error;
use crate::expected::Expected;
use crate::footprint::MemoryFootprint;
use crate::lowering::{OpInstances, Step, parts_of};
use crate::model_arch::{LayerGroup, LayerPart, ModelArch};
use crate::op::OpKind;
use crate::parallel::{Parallel, Stage, hand_over, hidden_states};
use crate::precision::Precision;
use crate::roofline::{ComputePath, Roofs};
use crate::software::backend;
use crate::units::{Bytes, BytesPerSec, Seconds};
use crate::workload::Workload;

/// A card beside the device of a request.
#[derive(Debug, Clone)]
pub struct Card {
    pub device: Cow<'static, Device>,
    /// Memory that may be used, if less than the card leaves to a model.
    pub memory_limit: Option<Bytes>,
}

/// Unlike cards, as requests have them: those after the device of the request. `pipeline` of the workload counts all.
///
/// The work is behind pointers, so that the linker drops it from a program that never makes cards, such as the first part of
/// the page.
#[derive(Debug, Clone)]
pub struct Cards {
    pub others: Vec<Card>,
    work: &'static CardWork,
}

impl Cards {
    /// The cards after the device of a request.
    pub const fn new(others: Vec<Card>) -> Self {
        Self { others, work: &WORK }
    }

    /// The engine of a request that names none: `first`, that of its device alone, or else another one that serves all cards.
    pub(super) fn engine(&self, first: Engine, serves: &Serves<'_>) -> Engine {
        (self.work.engine)(self, first, serves)
    }
}

/// The layers of one of several cards, their memory, and their time.
#[derive(Debug, Clone, PartialEq)]
pub struct CardLoad {
    /// Its layers, counted from 0; none for a card that would only slow the others down, or without room for one.
    pub layers: Range<u64>,
    /// Whether it has layers, or room for one.
    pub has_room: bool,
    /// True for the card with the LM head.
    pub has_head: bool,
    /// `None` for a card without layers.
    pub memory: Option<MemoryFootprint>,
    /// Its part of a decode step at the stated context, without the time on links.
    pub token: Span,
    pub bandwidth: BytesPerSec,
    /// The peak that products of its layers run on.
    pub layer: ComputePath,
}

/// Whether an engine serves the model of a request on a device.
type Serves<'s> = dyn Fn(Engine, &Device) -> bool + 's;

/// Visits the times of one instance, and their number.
type VisitTimes<'v> = dyn FnMut(&OpTimes, f64) + 'v;

/// Functions of a plan on several cards.
#[derive(Debug)]
struct CardWork {
    engine: fn(&Cards, Engine, &Serves<'_>) -> Engine,
    seats: for<'a> fn(&'a Cards, &Asked<'a>, &Precision) -> Result<Vec<Seat<'a>>, Error>,
    is_ordered: fn(&ModelArch) -> bool,
    cut: fn(&mut Plan<'_>),
    visit: fn(&Plan<'_>, &OpInstances, Step, &mut VisitTimes<'_>),
    memory: fn(&Plan<'_>, &Workload) -> MemoryFootprint,
    link: fn(&Plan<'_>, Step) -> Expected,
    power: fn(&Plan<'_>, Span) -> Option<Power>,
    loads: fn(&Plan<'_>) -> Vec<CardLoad>,
    put: fn(&mut Plan<'_>, &[u64]),
}

static WORK: CardWork = CardWork {
    engine: |cards, first, serves| {
        let serves_all =
            |engine: &Engine| cards.others.iter().all(|card| serves(*engine, &card.device));
        [first, Engine::LlamaCpp, Engine::Vllm].into_iter().find(serves_all).unwrap_or(first)
    },
    seats,
    is_ordered: |model| model.layers_in_order().is_some(),
    cut: |plan| {
        let counts = plan.best_cut(&plan.request.workload);
        plan.set_cut(&counts);
    },
    visit: |plan, op, step, visit| plan.visit_cards(op, step, visit),
    memory: |plan, workload| plan.memory_of_cards(workload),
    link: |plan, step| plan.between_cards(step),
    power: |plan, token| plan.power_of_cards(token),
    loads: |plan| plan.loads(),
    put: |plan, counts| plan.set_cut(counts),
};

/// A card with its roofs and factors.
#[derive(Debug, Clone)]
pub(super) struct Seat<'a> {
    device: &'a Device,
    memory_limit: Option<Bytes>,
    bandwidth: BytesPerSec,
    paths: Paths,
    tuned: Tuned<'a>,
}

/// The cards of a plan after its own device.
#[derive(Debug, Clone)]
pub(super) struct Seats<'a> {
    others: Vec<Seat<'a>>,
    /// The order of the layers is known, so that a stage says which ones it has.
    is_ordered: bool,
    work: &'static CardWork,
}

/// A request, as far as cards depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The device of the request.
    pub(super) first: &'a Device,
    pub(super) engine: Engine,
    pub(super) calibration: &'a Calibration,
    pub(super) parallel: Parallel,
    /// Inputs that no several cards have, each with whether the request has it.
    pub(super) others: [(&'static str, bool); 3],
}

impl<'a> Seats<'a> {
    pub(super) fn of(
        cards: &'a Cards,
        asked: &Asked<'a>,
        (model, precision): (&ModelArch, &Precision),
    ) -> Result<Self, Error> {
        let others = (cards.work.seats)(cards, asked, precision)?;
        Ok(Self { others, is_ordered: (cards.work.is_ordered)(model), work: cards.work })
    }
}

/// Checks that an engine runs a model on these cards together, and gives each its roofs and factors.
fn seats<'a>(
    cards: &'a Cards,
    asked: &Asked<'a>,
    precision: &Precision,
) -> Result<Vec<Seat<'a>>, Error> {
    check(cards, asked)?;
    let seat = |card: &'a Card| {
        let device = &*card.device;
        let roofs = Roofs::new(device, None)?;
        let paths = Paths::of(&roofs, precision)?;
        let calibration = asked.calibration;
        let tuned = calibration.tuned(device, None, Some(asked.engine), precision.stored());
        let (memory_limit, bandwidth) = (card.memory_limit, roofs.bandwidth);
        Ok(Seat { device, memory_limit, bandwidth, paths, tuned })
    };
    cards.others.iter().map(seat).collect()
}

fn check(cards: &Cards, asked: &Asked<'_>) -> Result<(), Error> {
    let refused = |input, part| Err(Error::Inapplicable { input, part });
    let Parallel { tensor, expert, .. } = asked.parallel;
    for (input, is_given) in [("tensor_parallel", tensor > 1), ("expert_parallel", expert > 1)] {
        if is_given {
            return refused(input, "unlike cards, which share a model by layers");
        }
    }
    if let Some((input, _)) = asked.others.iter().find(|(_, is_given)| *is_given) {
        return refused(input, "several cards");
    }
    let others = cards.others.iter().map(|card| &*card.device);
    let devices = || [asked.first].into_iter().chain(others.clone());
    let is_card = |device: &Device| {
        device.class == DeviceClass::DiscreteGpu && !device.memory_platform.is_shared()
    };
    if !devices().all(is_card) {
        return refused(INPUT, "devices that are no cards of one machine");
    }
    let kind = |device| core::mem::discriminant(&backend(device));
    let is_mixed = devices().any(|device| kind(device) != kind(asked.first));
    match asked.engine {
        Engine::IdealKernels => Ok(()),
        _ if is_mixed => refused(INPUT, MIXED),
        Engine::LlamaCpp | Engine::Ollama | Engine::Vllm => Ok(()),
        Engine::Sglang
        | Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc => {
            refused(INPUT, "engines other than llama.cpp, ollama, vllm and ideal-kernels")
        }
    }
}

/// The input that names several cards.
const INPUT: &str = "hardware with +";
const MIXED: &str = "cards of several vendors: one build of an engine runs on one of them, except llama.cpp by Vulkan or RPC, \
                     which is not modeled";

impl Plan<'_> {
    /// The device that has a stage; equal devices are all the own one.
    pub(super) fn place_of(&self, stage: usize) -> Place<'_> {
        let others = self.seats.as_ref().map_or(&[][..], |seats| &seats.others);
        let other = stage.checked_sub(1).and_then(|index| others.get(index));
        other.map_or_else(
            || self.own_place(),
            |seat| Place {
                device: seat.device,
                memory_limit: seat.memory_limit,
                bandwidth: seat.bandwidth,
                paths: &seat.paths,
                tuned: &seat.tuned,
            },
        )
    }

    /// The layers, the memory and the time of each of several unlike cards; empty for other plans.
    pub fn card_loads(&self) -> Vec<CardLoad> {
        self.seats.as_ref().map_or_else(Vec::new, |seats| (seats.work.loads)(self))
    }

    /// Gives each of several unlike cards a number of layers, in place of the fastest cut.
    pub fn put_layers(&mut self, counts: &[u64]) {
        if let Some(work) = self.seats.as_ref().map(|seats| seats.work) {
            (work.put)(self, counts);
        }
    }

    /// Chooses the fastest cut where there are unlike cards.
    pub(super) fn cut(&mut self) {
        if let Some(work) = self.seats.as_ref().map(|seats| seats.work) {
            (work.cut)(self);
        }
    }

    /// [`Plan::placed`] on several cards.
    pub(super) fn on_seats(
        &self,
        (op, step): (&OpInstances, Step),
        seats: &Seats<'_>,
        visit: &mut VisitTimes<'_>,
    ) {
        (seats.work.visit)(self, op, step, visit);
    }

    /// Memory of the card with the least to spare.
    pub(super) fn memory_on_seats(
        &self,
        seats: &Seats<'_>,
        workload: &Workload,
    ) -> MemoryFootprint {
        (seats.work.memory)(self, workload)
    }

    /// The hidden states that cards hand to the next.
    pub(super) fn link_on_seats(&self, seats: &Seats<'_>, step: Step) -> Expected {
        (seats.work.link)(self, step)
    }

    /// Mean power of all cards while a token takes a time.
    pub(super) fn power_on_seats(&self, seats: &Seats<'_>, token: Span) -> Option<Power> {
        (seats.work.power)(self, token)
    }

    fn set_cut(&mut self, counts: &[u64]) {
        let head = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
        self.stages = Stage::of_counts(self.model(), counts, head);
    }

    /// The memory of a workload: that of the cut for the plan's own workload, and of the best one for others.
    fn memory_of_cards(&self, workload: &Workload) -> MemoryFootprint {
        if *workload == self.request.workload {
            return self.on_card(workload);
        }
        let mut other = self.clone();
        other.set_cut(&self.best_cut(workload));
        other.on_card(workload)
    }

    fn visit_cards(&self, op: &OpInstances, step: Step, visit: &mut VisitTimes<'_>) {
        let own = self.times(op, step.setting());
        for (index, stage) in self.stages.iter().enumerate() {
            let count = self.instances(op, stage);
            if count <= 0.0 {
                continue;
            }
            if index == 0 {
                visit(&own, count);
            } else {
                visit(&self.times_there(op, step, &self.place_of(index)), count);
            }
        }
    }

    /// The times of an operator on another card.
    fn times_there(&self, op: &OpInstances, step: Step, place: &Place<'_>) -> OpTimes {
        let scale = self.weight_scale.of(op.kind, op.path);
        let times = place.times(op, step.setting(), scale);
        let peak = self.path(op.path).peak / place.paths.of_op(op.path).peak;
        let unlike = Unlike { bytes: self.roofs.bandwidth / place.bandwidth, flops: peak };
        OpTimes { unlike, ..times }
    }

    /// Number of an operator's instances in the layers of a stage; they add up to all.
    fn instances(&self, op: &OpInstances, stage: &Stage) -> f64 {
        let count = op.count as f64;
        let at = |end: bool| if end { count } else { 0.0 };
        match op.kind {
            OpKind::Embedding => return at(stage.ends.first),
            OpKind::LmHead => return at(stage.ends.last),
            _ => {}
        }
        let model = self.model();
        let layers = (stage.layers.end - stage.layers.start) as f64 / model.n_layers as f64;
        let is_ordered = self.seats.as_ref().is_some_and(|seats| seats.is_ordered);
        if op.group == LayerGroup::Whole || !is_ordered {
            return count * layers;
        }
        let parts = parts_of(model, op).into_iter().filter(|(_, count)| *count > 0);
        let of = |(part, count): (LayerPart, u64)| {
            count as f64 * part.layers(&stage.part) as f64 / part.layers(model) as f64
        };
        parts.map(of).sum()
    }

    fn between_cards(&self, step: Step) -> Expected {
        let Some(link) = self.link else { return Expected::ZERO };
        let used = self.stages.iter().filter(|stage| !stage.layers.is_empty()).count();
        let hops = used.saturating_sub(1) as f64;
        Expected::assumed(self.hop(step, &link) * hops)
    }

    /// The time of a hand-over between two of the cards, which a link joins all.
    fn hop(&self, step: Step, link: &Link) -> Seconds {
        let states = hidden_states(self.request.model, step, self.precision.carrier);
        hand_over(states, link, self.n_cards() as u64)
    }

    /// Number of the cards, those without layers included.
    fn n_cards(&self) -> usize {
        self.seats.as_ref().map_or(1, |seats| seats.others.len() + 1)
    }
}
