//! Recommends a scheme: every candidate is dropped with a reason or ranked by an objective on expected times; each row names
//! the reason for its rank and the changes that would alter the order. Derivation: `docs/theory/recommendation.md`.
//!
//! `task` evaluates a scheme, `bounds` drops schemes, `flips` searches for changes, `inverse` answers the reversed questions.

mod bounds;
mod flips;
mod inverse;
mod standing;
mod task;

use alloc::vec::Vec;

use crate::catalog::schemes::{BASELINE, SCHEMES};
use crate::error::Error;
use crate::estimate::EstimateRequest;
use crate::precision::PrecisionChoice;
use crate::quality::QualityLoss;
use crate::roofline::Roofs;
use crate::scheme::{Scheme, SchemeWeights};
use crate::units::{Bytes, Seconds};
use crate::workload::Workload;

pub use bounds::{Bounds, Drop, USUAL_QUALITY};
pub use flips::{Cause, Change, Flip};
pub(crate) use inverse::largest;
pub use inverse::{DeviceChoice, End, Largest, MemoryStep, Room, devices, memory_steps, room};
pub(crate) use standing::{Aim, order};
pub use standing::{FirstBy, Standing};
pub use task::{Axis, ModelTask, Outcome, PREFILL_ROWS, PhaseWork, ShapeTask, Task};

/// The quantity that the ranking minimizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Expected time of the ranked part.
    Latency,
    /// Expected time per token over the batch; for a fixed workload, the same order as latency.
    Throughput,
    /// Energy per token over all devices.
    Energy,
    /// Memory needed on one device.
    Memory,
    /// Quality loss; among equal losses, the fastest.
    Quality,
}

impl Objective {
    /// All objectives with their keys in requests.
    pub const ALL: [(&'static str, Self); 5] = [
        ("latency", Self::Latency),
        ("throughput", Self::Throughput),
        ("energy", Self::Energy),
        ("memory", Self::Memory),
        ("quality", Self::Quality),
    ];

    /// The key in requests.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::Energy => "energy",
            Self::Memory => "memory",
            Self::Quality => "quality",
        }
    }
}

/// The part of the work whose time is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The prompt alone.
    Prefill,
    /// One token at the stated context.
    Decode,
    /// Prompt and all new tokens.
    Whole,
}

impl Part {
    /// All parts with their keys in requests.
    pub const ALL: [(&'static str, Self); 3] =
        [("prefill", Self::Prefill), ("decode", Self::Decode), ("whole", Self::Whole)];

    /// The default part for a model: the whole request, prompt and all new tokens. A request for a single token does not state
    /// the length of the answer, so its default is one token at the stated context.
    pub const fn usual(workload: &Workload) -> Self {
        if workload.new_tokens > 1 { Self::Whole } else { Self::Decode }
    }

    /// The key in requests.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Whole => "whole",
        }
    }
}

/// The inputs of a recommendation.
#[derive(Debug, Clone, Copy)]
pub struct RecommendRequest<'a> {
    /// The work to run.
    pub task: Task<'a>,
    pub objective: Objective,
    pub part: Part,
    /// Limits that every ranked scheme meets.
    pub bounds: Bounds,
}

/// The component that dominates the ranked time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regime {
    /// DRAM traffic of the weights.
    Weights,
    /// DRAM traffic of the KV cache.
    KvCache,
    /// DRAM traffic of the activations.
    Activations,
    /// Arithmetic at the compute roof.
    Compute,
    /// Fixed time of the operators, independent of their size.
    Overhead,
}

/// A scheme that meets the bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub scheme: &'static Scheme,
    /// Times, memory and energy with this scheme.
    pub outcome: Outcome,
    /// Quality loss at the size of the model.
    pub quality: QualityLoss,
    /// The values that determine its rank.
    pub standing: Standing,
    /// Speedup over the baseline in prefill.
    pub speedup_prefill: f64,
    /// Speedup over the baseline in decode.
    pub speedup_decode: f64,
    pub regime: Regime,
    /// Changes that would put it first, or end its first place.
    pub flips: Vec<Flip>,
}

/// A scheme that was dropped, with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropped {
    pub scheme: &'static Scheme,
    /// Quality loss at the size of the model.
    pub quality: QualityLoss,
    pub reason: Drop,
}

/// The ranking of all schemes.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// 16-bit weights, whether or not they fit.
    pub baseline: Outcome,
    /// Schemes that meet the bounds, best first.
    pub ranked: Vec<Ranked>,
    /// The reason for the first place.
    pub first_by: FirstBy,
    /// In the order of [`SCHEMES`].
    pub dropped: Vec<Dropped>,
    /// Scheme of `ranked` with the fastest prefill.
    pub best_prefill: Option<&'static Scheme>,
    /// Scheme of `ranked` with the fastest decode.
    pub best_decode: Option<&'static Scheme>,
}

/// Ranks all schemes for a task by an objective.
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
/// assert_eq!(first.scheme.key, "gguf_q4_k"); // within 5 % of perplexity, the low-bit format that costs least to unpack
/// assert!(first.speedup_decode > 3.0);
/// ```
///
/// # Errors
/// Errors of the task itself, independent of the scheme; a bound out of range; the energy objective on a device whose power
/// is unknown.
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
        let row = chooser.admit(&request.task, scheme).and_then(|outcome| {
            let standing = chooser.probe(&request.task, scheme)?;
            Ok(chooser.row(&baseline, scheme, &outcome, standing))
        });
        match row {
            Ok(row) => ranked.push(row),
            Err(reason) => dropped.push(Dropped { scheme, quality, reason }),
        }
    }
    let first_by = order(&mut ranked, |row| row.standing);
    let fastest = |time: fn(&Ranked) -> Seconds| {
        ranked.iter().min_by(|a, b| time(a).get().total_cmp(&time(b).get())).map(|row| row.scheme)
    };
    let best_prefill = fastest(|row| row.outcome.prefill.expected.time);
    let best_decode = fastest(|row| row.outcome.decode.expected.time);
    flips::fill(&chooser, &mut ranked, &dropped);
    Ok(Recommendation { baseline, ranked, first_by, dropped, best_prefill, best_decode })
}

/// The component that dominates the ranked part; for both parts together, that of the longer one.
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

/// A request with the values that are constant while it is answered.
#[derive(Clone)]
pub(crate) struct Chooser<'a> {
    task: Task<'a>,
    aim: Aim,
    roofs: Roofs,
}

/// A scheme with its standing.
#[derive(Clone, Copy)]
struct Placed {
    scheme: &'static Scheme,
    standing: Standing,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(request: &RecommendRequest<'a>) -> Result<Self, Error> {
        request.bounds.check()?;
        let roofs = Roofs::new(request.task.device(), request.task.mode())?;
        let aim = Aim::new(request.objective, request.part, request.bounds);
        Ok(Self { task: request.task, aim, roofs })
    }

    pub(crate) const fn task(&self) -> &Task<'a> {
        &self.task
    }

    /// All candidate schemes; the published formats only if they differ from 16 bits.
    fn candidates(&self) -> impl Iterator<Item = &'static Scheme> {
        SCHEMES.into_iter().filter(|scheme| self.considers(scheme))
    }

    /// Whether a scheme is a candidate for the task.
    fn considers(&self, scheme: &Scheme) -> bool {
        match (scheme.weights, &self.task) {
            (SchemeWeights::Half | SchemeWeights::Format(_), _) => true,
            (SchemeWeights::Published, Task::Shape(_)) => false,
            (SchemeWeights::Published, Task::Model(task)) => is_quantized(&task.published),
        }
    }

    pub(crate) fn quality(&self, scheme: &Scheme) -> QualityLoss {
        match self.task.parameters() {
            Some(parameters) => scheme.quality.at_size(parameters),
            None => scheme.quality,
        }
    }

    fn row(
        &self,
        baseline: &Outcome,
        scheme: &'static Scheme,
        outcome: &Outcome,
        standing: Standing,
    ) -> Ranked {
        Ranked {
            scheme,
            outcome: *outcome,
            quality: self.quality(scheme),
            standing,
            speedup_prefill: baseline.prefill.expected.time / outcome.prefill.expected.time,
            speedup_decode: baseline.decode.expected.time / outcome.decode.expected.time,
            regime: regime(self.aim.part, outcome),
            flips: Vec::new(),
        }
    }

    /// Whether a scheme is a candidate that meets all conditions except those on times and memory.
    pub(crate) fn allows(&self, scheme: &Scheme) -> bool {
        self.considers(scheme) && self.admit_at_all(scheme).is_ok()
    }

    /// Whether a scheme is a candidate with kernels and shapes for the task; quality is not checked.
    pub(crate) fn takes(&self, scheme: &Scheme) -> bool {
        self.considers(scheme) && self.admit_matrices(scheme).is_ok()
    }

    fn admit_matrices(&self, scheme: &Scheme) -> Result<(), Drop> {
        scheme.runs_on(self.task.device(), &self.roofs).map_err(Drop::Kernel)?;
        self.task.shapes(scheme).map_err(Drop::Shape)
    }

    /// Checks kernels, shapes and quality, which do not depend on the number of tokens.
    fn admit_at_all(&self, scheme: &Scheme) -> Result<(), Drop> {
        self.admit_matrices(scheme)?;
        self.aim.bounds.admit_quality(&self.quality(scheme))
    }

    /// The bound on memory or time that a scheme violates, if any.
    fn limits(&self, task: &Task<'_>, scheme: &Scheme) -> Option<Drop> {
        let limits = Aim { only_limits: true, ..self.aim };
        task.probe(&self.roofs, scheme, &limits, 0.0).err()
    }

    /// The bound that a larger batch may violate: all except the token rate, which a larger batch raises.
    pub(crate) fn limits_of_batch(&self, task: &Task<'_>, scheme: &Scheme) -> Option<Drop> {
        let bounds = Bounds { rate: None, ..self.aim.bounds };
        let limits = Aim { only_limits: true, bounds, ..self.aim };
        task.probe(&self.roofs, scheme, &limits, 0.0).err()
    }

    /// The estimate request for a scheme at a batch; `None` for a single shape.
    pub(crate) fn estimate_request(
        &self,
        scheme: &Scheme,
        batch: u64,
    ) -> Option<EstimateRequest<'a>> {
        self.task.at(Axis::Batch, batch).estimate_request(&self.roofs, scheme)
    }

    /// The outcome of a scheme for a task, if it meets all conditions.
    fn admit(&self, task: &Task<'_>, scheme: &'static Scheme) -> Result<Outcome, Drop> {
        self.admit_at_all(scheme)?;
        let outcome = task.run(&self.roofs, scheme).map_err(Drop::Refused)?;
        self.aim.admit(task.get(Axis::Batch), &outcome)?;
        Ok(outcome)
    }

    /// The standing of an allowed scheme for a task, if it meets the bounds.
    pub(crate) fn probe(&self, task: &Task<'_>, scheme: &Scheme) -> Result<Standing, Drop> {
        task.probe(&self.roofs, scheme, &self.aim, self.quality(scheme).high)
    }

    /// The outcome of a scheme for a task.
    pub(crate) fn run(&self, task: &Task<'_>, scheme: &Scheme) -> Result<Outcome, Error> {
        task.run(&self.roofs, scheme)
    }

    /// The first-ranked of the given allowed schemes for a task.
    fn winner(&self, task: &Task<'_>, among: &[&'static Scheme]) -> Option<&'static Scheme> {
        let mut placed: Vec<Placed> = Vec::with_capacity(SCHEMES.len());
        for scheme in among {
            if let Ok(standing) = self.probe(task, scheme) {
                placed.push(Placed { scheme, standing });
            }
        }
        order(&mut placed, |placed| placed.standing);
        placed.first().map(|first| first.scheme)
    }

    /// The schemes that are allowed.
    fn allowed(&self) -> Vec<&'static Scheme> {
        self.candidates().filter(|scheme| self.admit_at_all(scheme).is_ok()).collect()
    }

    /// The first-ranked scheme with another bound on the quality loss [%].
    fn winner_at_quality(&self, quality: f64) -> Option<&'static Scheme> {
        let mut other = self.clone();
        other.aim.bounds.quality = quality;
        other.winner(&self.task, &other.allowed())
    }

    /// The first-ranked scheme with the given usable memory.
    fn winner_with_memory(&self, memory: Bytes) -> Option<&'static Scheme> {
        let mut other = self.clone();
        other.aim.granted = Some(memory);
        other.winner(&self.task, &other.allowed())
    }
}

fn is_quantized(published: &PrecisionChoice) -> bool {
    let narrow = |bits: f64| bits < 16.0;
    narrow(published.weights.bits_per_element())
        || published.experts.is_some_and(|format| narrow(format.bits_per_element()))
}
