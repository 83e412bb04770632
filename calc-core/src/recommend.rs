//! Which scheme to use: every candidate is dropped with its reason or ranked by an objective on expected times, and each row
//! says what makes it win and what would flip the order. Derivation: `docs/theory/recommendation.md`.
//!
//! `task` runs a scheme, `bounds` drops, `flips` looks for changes, `inverse` answers the reversed questions.

mod bounds;
mod flips;
mod inverse;
mod task;

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::catalog::schemes::{BASELINE, SCHEMES};
use crate::error::Error;
use crate::estimate::EstimateRequest;
use crate::order::sort_short;
use crate::precision::PrecisionChoice;
use crate::quality::QualityLoss;
use crate::roofline::Roofs;
use crate::scheme::{Scheme, SchemeWeights};
use crate::units::{Bytes, Joules, Seconds};

pub use bounds::{Bounds, Drop, USUAL_QUALITY};
pub use flips::{Cause, Change, Flip};
pub(crate) use inverse::largest;
pub use inverse::{DeviceChoice, End, Largest, MemoryStep, Room, devices, memory_steps, room};
pub use task::{Axis, ModelTask, Outcome, PREFILL_ROWS, PhaseWork, ShapeTask, Task};

/// What the ranking is by. Less is better in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Expected time.
    Latency,
    /// Expected time per token over the batch; at a given workload the same order as latency.
    Throughput,
    /// Energy per token.
    Energy,
    /// Memory.
    Memory,
}

impl Objective {
    /// All, with the keys of requests.
    pub const ALL: [(&'static str, Self); 4] = [
        ("latency", Self::Latency),
        ("throughput", Self::Throughput),
        ("energy", Self::Energy),
        ("memory", Self::Memory),
    ];

    /// The key in requests.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::Energy => "energy",
            Self::Memory => "memory",
        }
    }
}

/// Which part of the work counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The prompt.
    Prefill,
    /// One token at the stated context.
    Decode,
    /// Both, over all new tokens.
    Whole,
}

impl Part {
    /// All, with the keys of requests.
    pub const ALL: [(&'static str, Self); 3] =
        [("prefill", Self::Prefill), ("decode", Self::Decode), ("whole", Self::Whole)];

    /// The key in requests.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Whole => "whole",
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct RecommendRequest<'a> {
    /// What is to be run.
    pub task: Task<'a>,
    /// What the ranking is by.
    pub objective: Objective,
    /// Which part of the work counts.
    pub part: Part,
    /// What must hold.
    pub bounds: Bounds,
}

/// What decides the time of the part that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regime {
    /// Reading weights.
    Weights,
    /// Reading the KV cache.
    KvCache,
    /// Moving activations.
    Activations,
    /// Arithmetic.
    Compute,
    /// What every operator costs however small it is.
    Overhead,
}

/// A scheme that may be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Scheme.
    pub scheme: &'static Scheme,
    /// What it comes to.
    pub outcome: Outcome,
    /// Its loss of quality, at the size of the model.
    pub quality: QualityLoss,
    /// What the ranking is by.
    pub score: f64,
    /// How many times faster than the baseline in prefill.
    pub speedup_prefill: f64,
    /// How many times faster than the baseline in decode.
    pub speedup_decode: f64,
    /// What decides its time.
    pub regime: Regime,
    /// What would make it first, or end its being first.
    pub flips: Vec<Flip>,
}

/// A scheme that may not be used, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropped {
    /// Scheme.
    pub scheme: &'static Scheme,
    /// Its loss of quality, at the size of the model.
    pub quality: QualityLoss,
    /// Why.
    pub reason: Drop,
}

/// Which scheme to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// 16 bits, whether or not it fits.
    pub baseline: Outcome,
    /// Best first.
    pub ranked: Vec<Ranked>,
    /// In the order of the table.
    pub dropped: Vec<Dropped>,
    /// The fastest of `ranked` in prefill.
    pub best_prefill: Option<&'static Scheme>,
    /// The fastest of `ranked` in decode.
    pub best_decode: Option<&'static Scheme>,
}

/// Up to this memory limit, schemes near the best stand smallest first.
const SMALL_MEMORY: Bytes = Bytes::from_gb(8.0);
/// How near.
const NEAR: f64 = 1.05;

/// Ranks all schemes.
///
/// ```
/// use calc_core::{calibration::Calibration, catalog, cost::gemm::GemmShape, lowering::Phase};
/// use calc_core::recommend::{Bounds, Objective, Part, RecommendRequest, ShapeTask, Task, recommend};
/// let task = Task::Shape(ShapeTask {
///     device: catalog::device("jetson_orin_nano_8gb_super").unwrap(),
///     mode: None,
///     memory_limit: None,
///     shape: GemmShape { m: 1, n: 4096, k: 4096 },
///     phase: Phase::Decode,
///     engine: None,
///     calibration: &Calibration::FITTED,
/// });
/// let answer = recommend(&RecommendRequest {
///     task,
///     objective: Objective::Latency,
///     part: Part::Decode,
///     bounds: Bounds::default(),
/// }).unwrap();
/// let first = &answer.ranked[0];
/// assert_eq!(first.scheme.key, "gguf_q4_k"); // of the few bits within 5 % of perplexity, those that cost least to unpack
/// assert!(first.speedup_decode > 3.0);
/// ```
///
/// # Errors
/// Anything that makes the task itself impossible, whatever the scheme; a bound out of range; energy asked of a device
/// whose power is unknown.
pub fn recommend(request: &RecommendRequest<'_>) -> Result<Recommendation, Error> {
    let chooser = Chooser::new(request)?;
    let baseline = request.task.run(&chooser.roofs, &BASELINE)?;
    if request.objective == Objective::Energy && baseline.decode.energy.is_none() {
        return Err(Error::UnknownFact {
            device: request.task.device().key.clone(),
            fact: "power",
        });
    }
    let mut ranked = Vec::new();
    let mut dropped = Vec::new();
    for scheme in chooser.candidates() {
        let quality = chooser.quality(scheme);
        match chooser.admit(&request.task, scheme) {
            Ok(outcome) => ranked.push(row(request, &baseline, scheme, &outcome, quality)),
            Err(reason) => dropped.push(Dropped { scheme, quality, reason }),
        }
    }
    order(&mut ranked);
    let fastest = |time: fn(&Ranked) -> Seconds| {
        ranked.iter().min_by(|a, b| time(a).get().total_cmp(&time(b).get())).map(|row| row.scheme)
    };
    let best_prefill = fastest(|row| row.outcome.prefill.expected.time);
    let best_decode = fastest(|row| row.outcome.decode.expected.time);
    flips::fill(&chooser, &mut ranked, &dropped);
    Ok(Recommendation { baseline, ranked, dropped, best_prefill, best_decode })
}

fn row(
    request: &RecommendRequest<'_>,
    baseline: &Outcome,
    scheme: &'static Scheme,
    outcome: &Outcome,
    quality: QualityLoss,
) -> Ranked {
    Ranked {
        scheme,
        outcome: *outcome,
        quality,
        score: score(request, outcome),
        speedup_prefill: baseline.prefill.expected.time / outcome.prefill.expected.time,
        speedup_decode: baseline.decode.expected.time / outcome.decode.expected.time,
        regime: regime(request.part, outcome),
        flips: Vec::new(),
    }
}

/// What the ranking is by: seconds, joules or bytes. Unknown energy is worse than any.
fn score(request: &RecommendRequest<'_>, outcome: &Outcome) -> f64 {
    let energy = |energy: Option<Joules>| energy.map_or(f64::INFINITY, Joules::get);
    match (request.objective, request.part) {
        (Objective::Memory, _) => outcome.memory.get(),
        (Objective::Energy, Part::Prefill) => energy(outcome.prefill.energy),
        (Objective::Energy, Part::Decode) => energy(outcome.decode.energy),
        (Objective::Energy, Part::Whole) => energy(outcome.whole_energy),
        (_, Part::Prefill) => outcome.prefill.expected.time.get(),
        (_, Part::Decode) => outcome.decode.expected.time.get(),
        (_, Part::Whole) => outcome.whole.time.get(),
    }
}

/// Best first. Equal ones by quality, then by memory; near the best of a small device, the smallest first.
fn order(ranked: &mut [Ranked]) {
    sort_short(ranked, |a, b| by_score(a, b).is_lt());
    let usable = ranked.first().map(|first| first.outcome.usable.bytes);
    if usable.is_some_and(|usable| usable <= SMALL_MEMORY) {
        let best = ranked.first().map_or(0.0, |first| first.score);
        let near = ranked.partition_point(|row| row.score <= best * NEAR);
        sort_short(&mut ranked[..near], |a, b| a.outcome.memory < b.outcome.memory);
    }
}

fn by_score(a: &Ranked, b: &Ranked) -> Ordering {
    a.score
        .total_cmp(&b.score)
        .then(a.quality.high.total_cmp(&b.quality.high))
        .then(a.outcome.memory.get().total_cmp(&b.outcome.memory.get()))
}

/// What decides the time of the part that counts; of both, the longer.
fn regime(part: Part, outcome: &Outcome) -> Regime {
    let is_prefill = match part {
        Part::Prefill => true,
        Part::Decode => false,
        Part::Whole => outcome.prefill.expected.time.get() * 2.0 > outcome.whole.time.get(),
    };
    let work = if is_prefill { &outcome.prefill } else { &outcome.decode };
    let traffic = &work.traffic;
    if work.floors * 2.0 > work.expected.time {
        Regime::Overhead
    } else if work.compute * 2.0 > work.ideal {
        Regime::Compute
    } else if traffic.weights >= traffic.kv_cache.max(traffic.activations) {
        Regime::Weights
    } else if traffic.kv_cache >= traffic.activations {
        Regime::KvCache
    } else {
        Regime::Activations
    }
}

/// A request with what does not change while it is answered.
pub(crate) struct Chooser<'a> {
    request: RecommendRequest<'a>,
    roofs: Roofs,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(request: &RecommendRequest<'a>) -> Result<Self, Error> {
        request.bounds.check()?;
        let roofs = Roofs::new(request.task.device(), request.task.mode())?;
        Ok(Self { request: *request, roofs })
    }

    /// All schemes; the published formats only where they differ from 16 bits.
    fn candidates(&self) -> impl Iterator<Item = &'static Scheme> {
        SCHEMES.into_iter().filter(|scheme| self.considers(scheme))
    }

    /// Whether a scheme is a candidate at all.
    pub(crate) fn considers(&self, scheme: &Scheme) -> bool {
        match (scheme.weights, &self.request.task) {
            (SchemeWeights::Half | SchemeWeights::Format(_), _) => true,
            (SchemeWeights::Published, Task::Shape(_)) => false,
            (SchemeWeights::Published, Task::Model(task)) => is_quantized(&task.published),
        }
    }

    /// What the ranking is by.
    pub(crate) fn score(&self, outcome: &Outcome) -> f64 {
        score(&self.request, outcome)
    }

    pub(crate) fn quality(&self, scheme: &Scheme) -> QualityLoss {
        match self.request.task.parameters() {
            Some(parameters) => scheme.quality.at_size(parameters),
            None => scheme.quality,
        }
    }

    /// Whether a scheme is a candidate that nothing but times and memory can speak against.
    pub(crate) fn allows(&self, scheme: &Scheme) -> bool {
        self.considers(scheme) && self.admit_at_all(&self.request.task, scheme).is_ok()
    }

    /// What the core is asked for a scheme at a batch; none for a single shape.
    pub(crate) fn estimate_request(
        &self,
        scheme: &Scheme,
        batch: u64,
    ) -> Option<EstimateRequest<'a>> {
        self.request.task.at(Axis::Batch, batch).estimate_request(&self.roofs, scheme)
    }

    fn admit_at_all(&self, task: &Task<'_>, scheme: &Scheme) -> Result<(), Drop> {
        scheme.runs_on(task.device(), &self.roofs).map_err(Drop::Kernel)?;
        task.shapes(scheme).map_err(Drop::Shape)?;
        self.request.bounds.admit_quality(&self.quality(scheme))
    }

    /// What a scheme comes to for a task, if nothing speaks against it.
    pub(crate) fn admit(&self, task: &Task<'_>, scheme: &'static Scheme) -> Result<Outcome, Drop> {
        self.admit_at_all(task, scheme)?;
        let bounds = &self.request.bounds;
        let outcome = task.run(&self.roofs, scheme).map_err(Drop::Refused)?;
        bounds.admit_outcome(&outcome)?;
        Ok(outcome)
    }

    /// The first of the ranking for a task.
    fn winner(&self, task: &Task<'_>) -> Option<&'static Scheme> {
        self.first(task).map(|first| first.scheme)
    }

    /// The first of the ranking if another loss of quality were allowed [%].
    fn winner_at_quality(&self, quality: f64) -> Option<&'static Scheme> {
        let bounds = Bounds { quality, ..self.request.bounds };
        let request = RecommendRequest { bounds, ..self.request };
        Chooser { request, roofs: self.roofs.clone() }.winner(&self.request.task)
    }

    /// The first of the ranking for a task, without flips; speedups are not known.
    fn first(&self, task: &Task<'_>) -> Option<Ranked> {
        let request = &self.request;
        let mut ranked: Vec<Ranked> = Vec::with_capacity(SCHEMES.len());
        for scheme in self.candidates() {
            if let Ok(outcome) = self.admit(task, scheme) {
                ranked.push(row(request, &outcome, scheme, &outcome, self.quality(scheme)));
            }
        }
        order(&mut ranked);
        ranked.into_iter().next()
    }
}

fn is_quantized(published: &PrecisionChoice) -> bool {
    let narrow = |bits: f64| bits < 16.0;
    narrow(published.weights.bits_per_element())
        || published.experts.is_some_and(|format| narrow(format.bits_per_element()))
}
