//! A plan on a card and its host: times of operators where they run, memory of both, and the fastest placement that fits.

mod kinds;

use alloc::vec::Vec;

use kinds::{PrefixShares, kinds, split};

use super::Plan;
use super::totals::{HostTime, OpTimes, Unlike};
use crate::calibration::{Engine, Factors};
use crate::device::Device;
use crate::error::Error;
use crate::expected::{Expected, reached};
use crate::footprint::{MemoryFootprint, divisible};
use crate::lowering::{OpInstances, Step};
use crate::model_arch::ModelArch;
use crate::op::Shape;
use crate::precision::Precision;
use crate::roofline::KernelTime;
use crate::software::HostTables;
use crate::tiers::{COPIED_FROM, Divisible, Host, HostFactors, Placement, is_of_cache, least_read};
use crate::units::{Bytes, Seconds};
use crate::workload::Workload;

/// Fewest tokens of an answer for which a placement is chosen: who asks for one token asks for a rate.
const ANSWER: u64 = 256;
/// Bytes per element of activations between card and host: FP32.
const CROSSING_BYTES: f64 = 4.0;

/// A host, as requests have it.
///
/// Its work is behind pointers, so that the linker drops it from a program that never makes a host, such as the first part of
/// the page.
#[derive(Debug, Clone)]
pub struct Behind {
    pub host: Host,
    work: &'static HostWork,
}

impl Behind {
    /// The host of a card.
    pub const fn new(host: Host) -> Self {
        Self { host, work: &WORK }
    }
}

/// Functions of a plan with a host.
#[derive(Debug)]
struct HostWork {
    factors: fn(&Device, &Workload, Engine) -> Result<HostFactors, Error>,
    /// Share of an operator's instances on the host, and the times of one there.
    part: fn(&Tiers<'_>, &ModelArch, &OpTimes, &OpInstances, Step) -> (f64, OpTimes),
    crossings: fn(&Tiers<'_>, &ModelArch, Step) -> Expected,
    /// Share of the ideal time of a token in which the card is busy.
    busy: fn(&Plan<'_>) -> f64,
    place: fn(&mut Plan<'_>),
    memory: fn(&Plan<'_>, &Workload) -> MemoryFootprint,
    sustained: fn(&Tiers<'_>) -> Behind,
    put: fn(&mut Plan<'_>, Placement),
    /// Placements of the plan's own workload that fit.
    fitting: fn(&Plan<'_>) -> Vec<Placement>,
    shares: fn(&ModelArch, &Precision) -> PrefixShares,
}

static WORK: HostWork = HostWork {
    factors: host_factors,
    part: |tiers, model, card, op, step| {
        let share = tiers.placement.share(op.kind, model);
        (share, if share > 0.0 { tiers.times(card, op, step) } else { *card })
    },
    crossings: |tiers, model, step| tiers.crossing_times(model, step),
    busy: |plan| plan.busy_share(),
    place: |plan| plan.choose_placement(),
    memory: |plan, workload| plan.divided_best(workload),
    sustained: |tiers| Behind::new(tiers.factors.sustained(tiers.host)),
    put: |plan, placement| plan.set_placement(placement),
    fitting: |plan| plan.candidates(&plan.request.workload, &[true, false]),
    shares: PrefixShares::of,
};

/// The constants of an engine on a host, if it computes there.
fn host_factors(
    device: &Device,
    workload: &Workload,
    engine: Engine,
) -> Result<HostFactors, Error> {
    let refused = |part| Err(Error::Inapplicable { input: "host", part });
    if let Some(reason) = Host::impossible(device) {
        return refused(reason);
    }
    if workload.parallel.devices() > 1 {
        return refused("several devices");
    }
    let engines = "engines other than llama.cpp and ollama";
    HostFactors::of(engine).ok_or(Error::Inapplicable { input: "host", part: engines })
}

/// The host of a plan, and what lies there.
#[derive(Debug, Clone)]
pub(super) struct Tiers<'a> {
    pub(super) host: &'a Host,
    pub(super) placement: Placement,
    /// Bytes of the first layers.
    shares: PrefixShares,
    factors: HostFactors,
    /// Share of the host's weights on the SSD.
    ssd_share: f64,
    work: &'static HostWork,
}

impl<'a> Tiers<'a> {
    /// The host of a card with everything still on the card.
    pub(super) fn of(
        Behind { host, work }: &'a Behind,
        (device, workload): (&Device, &Workload),
        (model, precision): (&ModelArch, &Precision),
        engine: Engine,
    ) -> Result<Self, Error> {
        let factors = (work.factors)(device, workload, engine)?;
        let (placement, shares) = (Placement::ON_CARD, (work.shares)(model, precision));
        Ok(Self { host, placement, shares, factors, ssd_share: 0.0, work })
    }

    /// The time of a step in which activations change sides.
    pub(super) fn crossings(&self, model: &ModelArch, step: Step) -> Expected {
        (self.work.crossings)(self, model, step)
    }

    /// The times of an operator of the host; `card` has those on the card.
    ///
    /// ```text
    /// computed there   max(bytes / DRAM, weights on SSD / SSD, flops / processor)
    /// copied           max(weights / min(link, DRAM), weights on SSD / SSD, bytes / card, flops / card)
    /// ```
    ///
    /// The ideal time of a copy counts fewer experts than the expected one, see [`least_read`].
    fn times(&self, card: &OpTimes, op: &OpInstances, step: Step) -> OpTimes {
        let weights = card.cost.traffic.weights;
        let from_ssd = self.host.ssd.map_or(Seconds::ZERO, |ssd| weights * self.ssd_share / ssd);
        if self.placement.copies && step.tokens() >= COPIED_FROM && !is_of_cache(op.kind) {
            return self.copied(card, from_ssd, (&op.shape, step));
        }
        let dram = card.cost.traffic.total() / self.host.bandwidth.value;
        let compute = self.host.peak().map_or(Seconds::ZERO, |peak| card.cost.flops / peak);
        let time = KernelTime { memory: dram.max(from_ssd), compute };
        let factors = self.factors.processor;
        let likely = card.cost.flops / self.host.likely_peak();
        let computed = Expected::of(KernelTime { memory: dram, compute: likely }, &factors);
        let read = self.ssd_time(from_ssd);
        let expected = computed.then(read);
        let floor = if dram > Seconds::ZERO { factors.floor } else { Seconds::ZERO };
        let host = HostTime { time: expected.time, copied: Seconds::ZERO, from_ssd: read.time };
        let busy = Seconds::ZERO;
        let reached = reached(KernelTime { memory: time.memory, compute: likely }, &factors);
        let (cost, unlike) = (card.cost, Unlike::OWN);
        OpTimes { cost, time, reached, expected, floor, host, busy, factors, unlike }
    }

    /// The weights go over the link, and then the card computes.
    fn copied(&self, card: &OpTimes, from_ssd: Seconds, (shape, step): (&Shape, Step)) -> OpTimes {
        let rate = self.host.link.value.bandwidth.min(self.host.bandwidth.value);
        let moved = card.cost.traffic.weights / rate;
        let Factors { low, high, provenance, .. } = self.factors.processor;
        let least = least_read(shape, step.tokens());
        let chosen = match shape {
            Shape::Experts { .. } => self.factors.experts.max(least),
            Shape::Product(_) | Shape::Attention { .. } | Shape::Scan | Shape::Stream => 1.0,
        };
        let time = moved * chosen / self.factors.link;
        let ideal = moved * least;
        let copy = Expected { time, low: (time * low).max(ideal), high: time * high, provenance };
        let memory = card.time.memory.max(ideal).max(from_ssd * least);
        let read = self.ssd_time(from_ssd * chosen);
        let moving = copy.then(read);
        OpTimes {
            cost: card.cost,
            time: KernelTime { memory, compute: card.time.compute },
            reached: KernelTime { memory: card.reached.memory.max(moving.time), ..card.reached },
            expected: moving.then(card.expected),
            floor: card.floor,
            host: HostTime { time: moving.time, copied: copy.time, from_ssd: read.time },
            busy: card.busy,
            factors: card.factors,
            unlike: Unlike::OWN,
        }
    }

    /// The expected time of reads from the SSD.
    fn ssd_time(&self, ideal: Seconds) -> Expected {
        let read = KernelTime { memory: ideal, compute: Seconds::ZERO };
        Expected::of(read, &self.factors.ssd())
    }

    /// The time of a step in which activations change sides; like that of other links it is part of expected times only.
    fn crossing_times(&self, model: &ModelArch, step: Step) -> Expected {
        let copies = self.placement.copies && step.tokens() >= COPIED_FROM;
        let crossing = if copies {
            Placement { layers: 0, feed_forward: 0, ..self.placement }
        } else {
            self.placement
        };
        let link = self.host.link.value;
        let message = (step.tokens() * model.hidden_size) as f64 * CROSSING_BYTES;
        let one =
            Bytes::new(message) / (link.bandwidth * self.factors.link) + self.factors.crossing;
        let time = one * crossing.crossings(model);
        let Factors { low, high, provenance, .. } = self.factors.processor;
        Expected { time, low: time * low, high: time * high, provenance }
    }
}

impl Plan<'_> {
    /// Where the parts of the model lie; `None` without a host.
    pub fn placement(&self) -> Option<Placement> {
        self.tiers.as_ref().map(|tiers| tiers.placement)
    }

    /// The host with the rates that programs sustain there, see [`HostFactors::sustained`].
    pub(crate) fn sustained_host(&self) -> Option<Behind> {
        self.tiers.as_ref().map(|tiers| (tiers.work.sustained)(tiers))
    }

    /// [`Plan::set_placement`], which the linker drops from a program that never makes a host.
    pub(crate) fn put(&mut self, placement: Placement) {
        if let Some(work) = self.tiers.as_ref().map(|tiers| tiers.work) {
            (work.put)(self, placement);
        }
    }

    /// The placements that fit; none without a host.
    pub(crate) fn fitting_placements(&self) -> Vec<Placement> {
        self.tiers.as_ref().map_or(Vec::new(), |tiers| (tiers.work.fitting)(self))
    }

    /// Visits the times of an operator where its instances run, each time with their number.
    pub(super) fn placed(
        &self,
        op: &OpInstances,
        step: Step,
        visit: &mut impl FnMut(&OpTimes, f64),
    ) {
        if let Some(seats) = &self.seats {
            return self.on_seats((op, step), seats, visit);
        }
        let card = self.times(op, step.setting());
        let count = op.count as f64;
        let Some(tiers) = &self.tiers else { return visit(&card, count) };
        let (share, there) = (tiers.work.part)(tiers, self.model(), &card, op, step);
        if share < 1.0 {
            visit(&card, count * (1.0 - share));
        }
        if share > 0.0 {
            visit(&there, count * share);
        }
    }

    /// The part of the ideal time of a token in which the card is busy; all of it without a host.
    pub(super) fn busy(&self, ideal: Seconds) -> Seconds {
        self.tiers.as_ref().map_or(ideal, |tiers| ideal * (tiers.work.busy)(self))
    }

    /// [`Plan::busy`] as a share, that of the step at the middle of the generation.
    fn busy_share(&self) -> f64 {
        let Workload { batch, new_tokens, speculation, .. } = self.request.workload;
        let cached = self.request.workload.filled() + (new_tokens - 1) / 2;
        let step = speculation.map_or(Step::decode(batch, cached), |drafts| {
            Step::verify(batch, drafts.draft_tokens + 1, cached)
        });
        let (mut busy, mut all) = (Seconds::ZERO, Seconds::ZERO);
        self.lowering().step(step, &mut |op| {
            self.placed(&op, step, &mut |times, count| {
                busy += times.busy * count;
                all += times.time.ideal() * count;
            });
        });
        busy / all
    }

    /// Puts a model whose parts lie as a placement says on card and host.
    pub fn set_placement(&mut self, placement: Placement) {
        let memory = self.divided(&self.request.workload, &placement);
        if let Some(tiers) = &mut self.tiers {
            tiers.placement = placement;
            tiers.ssd_share = memory.host.map_or(0.0, |host| host.ssd_share());
        }
    }

    /// Replaces the constants of expected times on the host, as a fit does.
    pub const fn set_host_factors(&mut self, factors: HostFactors) {
        if let Some(tiers) = &mut self.tiers {
            tiers.factors = factors;
        }
    }

    /// Chooses the fastest placement that fits, or the one that misses least.
    ///
    /// ```text
    /// fastest   chunks of the prompt, and then as many decode steps as the answer has tokens, at least 256
    /// ```
    fn choose_placement(&mut self) {
        let workload = self.request.workload;
        let found = self.likely_candidates(&workload);
        let fastest = found.iter().map(|placement| (*placement, self.answer_time(*placement)));
        let fastest = fastest.reduce(|best, next| if next.1 < best.1 { next } else { best });
        let chosen =
            fastest.map_or_else(|| self.least_missing(&workload), |(placement, _)| placement);
        self.set_placement(chosen);
    }

    /// Places the model where it has a host or several cards.
    pub(super) fn place(&mut self) {
        self.cut();
        if let Some(work) = self.tiers.as_ref().map(|tiers| tiers.work) {
            (work.place)(self);
        }
    }

    fn answer_time(&self, placement: Placement) -> Seconds {
        let mut trial = self.clone();
        trial.set_placement(placement);
        let Workload { batch, context, new_tokens, .. } = self.request.workload;
        let chunk = trial.timed_step(trial.middle_step()).expected.time;
        let token = trial.timed_step(Step::decode(batch, context)).expected.time;
        chunk * self.chunks().steps as f64 + token * new_tokens.max(ANSWER) as f64
    }

    /// The memory of a workload: that of the placement for the plan's own workload, and of the first one that fits for others.
    fn divided_best(&self, workload: &Workload) -> MemoryFootprint {
        let Some(tiers) = &self.tiers else { return self.on_card(workload) };
        if *workload == self.request.workload {
            return self.divided(workload, &tiers.placement);
        }
        let first = self.likely_candidates(workload).into_iter().next();
        let placement = first.unwrap_or_else(|| self.least_missing(workload));
        self.divided(workload, &placement)
    }

    /// The memory of a workload on the card, and on its host where it has one.
    pub(super) fn memory_of(&self, workload: &Workload) -> MemoryFootprint {
        match (&self.tiers, &self.seats) {
            (Some(tiers), _) => (tiers.work.memory)(self, workload),
            (None, Some(seats)) => self.memory_on_seats(seats, workload),
            (None, None) => self.on_card(workload),
        }
    }

    /// The memory of a placement on card and host.
    fn divided(&self, workload: &Workload, placement: &Placement) -> MemoryFootprint {
        let all = self.on_card(workload);
        let Some(tiers) = &self.tiers else { return all };
        split(&all, &self.parts_of(&all), (placement, self.model()), (tiers.host, &tiers.shares))
    }

    fn parts_of(&self, all: &MemoryFootprint) -> Divisible {
        let tables = match self.tuned.engine {
            // Its placements are those that llama.cpp can make.
            Engine::IdealKernels => HostTables::of(Engine::LlamaCpp, self.request.device),
            engine => HostTables::of(engine, self.request.device),
        };
        divisible((self.model(), tables), &self.precision, &self.weight_scale, all)
    }

    /// Placements that fit. Without copies, large steps run on the processor: where its peaks are unknown only if nothing else fits.
    fn likely_candidates(&self, workload: &Workload) -> Vec<Placement> {
        let Some(tiers) = &self.tiers else { return Vec::new() };
        let is_known = tiers.host.peak().is_some();
        let found = self.candidates(workload, if is_known { &[true, false] } else { &[true] });
        if found.is_empty() { self.candidates(workload, &[false]) } else { found }
    }

    /// Placements that fit, with or without copies: of each kind the one with the least on the host, and the one with the most.
    fn candidates(&self, workload: &Workload, with_copies: &[bool]) -> Vec<Placement> {
        let Some(tiers) = &self.tiers else { return Vec::new() };
        let model = self.model();
        let all = self.on_card(workload);
        let parts = self.parts_of(&all);
        let fits = |placement: &Placement| {
            let divided = split(&all, &parts, (placement, model), (tiers.host, &tiers.shares));
            divided.verdict().may_fit()
        };
        let mut found = Vec::new();
        for &copies in with_copies {
            for (most, kind) in kinds(model) {
                let at = |count| Placement { copies, ..kind(count, model) };
                let least = (0..=most).find(|count| fits(&at(*count)));
                found.extend(least.map(at));
                found.extend(Some(at(most)).filter(fits));
            }
        }
        found
    }
}
