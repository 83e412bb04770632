//! Recommends a scheme: every candidate is dropped with a reason or ranked by an objective on expected times; each row names
//! the reason for its rank and the changes that would alter the order. Derivation: `docs/theory/recommendation.md`.
//!
//! `task` runs a scheme, `chooser` knows the candidates, `bounds` drops, `flips` looks for changes, `inverse` answers the reversed questions.

mod bounds;
mod chooser;
mod flips;
mod inverse;
mod model_run;
mod objective;
mod outcome;
mod standing;
mod task;

use alloc::vec::Vec;

use crate::catalog::schemes::BASELINE;
use crate::error::Error;
use crate::op::Traffic;
use crate::plan::Limit;
use crate::quality::QualityLoss;
use crate::scheme::Scheme;
use crate::units::Seconds;

pub use bounds::{Bounds, Drop, USUAL_QUALITY};
pub(crate) use chooser::Chooser;
pub(crate) use flips::LOSS_DIGITS;
pub use flips::{Cause, Change, Flip};
pub(crate) use inverse::largest;
pub use inverse::{DeviceChoice, End, Largest, MemoryStep, Room, devices, memory_steps, room};
pub use objective::{Objective, RankedPart};
pub use outcome::{Outcome, PhaseWork};
pub(crate) use standing::order;
pub use standing::{FirstBy, Standing};
#[cfg(test)]
pub(crate) use task::counted;
pub use task::{Axis, ModelTask, PREFILL_ROWS, RunShape, ShapeTask, Task, run_shape};

/// The inputs of a recommendation.
#[derive(Debug, Clone, Copy)]
pub struct RecommendRequest<'a> {
    /// The work to run.
    pub task: Task<'a>,
    pub objective: Objective,
    /// Which part of the work counts.
    pub part: RankedPart,
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
    /// The links between devices.
    Links,
    /// The host of a card.
    Host,
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
    /// Speedup over the baseline in the decode step at the stated context.
    pub speedup_decode: f64,
    /// Speedup over the baseline in the mean over the generation.
    pub speedup_token: f64,
    /// Speedup over the baseline in the time to first token.
    pub speedup_ttft: f64,
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
    /// Times and memory on a device that met the bounds; `None` where no kernel takes the scheme.
    pub outcome: Option<Outcome>,
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

/// Ranks all schemes, and finds the changes that would put another one first.
///
/// ```
/// use calc_core::{calibration::Calibration, catalog, cost::gemm::GemmShape, lowering::Phase};
/// use calc_core::recommend::{Bounds, Objective, RankedPart, RecommendRequest, ShapeTask, Task, recommend, run_shape};
/// let task = Task::Shape(ShapeTask {
///     device: catalog::device("jetson_orin_nano_8gb_super").unwrap(),
///     mode: None,
///     memory_limit: None,
///     shape: GemmShape { m: 1, n: 4096, k: 4096 },
///     phase: Phase::Decode,
///     engine: None,
///     calibration: &Calibration::FITTED,
///     run: run_shape,
/// });
/// let answer = recommend(&RecommendRequest {
///     task,
///     objective: Objective::Latency,
///     part: RankedPart::Decode,
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
    let mut found = rank(request)?;
    flips::fill(&Chooser::new(request)?, &mut found.ranked, &found.dropped);
    Ok(found)
}

/// Ranks all schemes as [`recommend`] does, and leaves the flips of every row empty: they take most of the time.
///
/// # Errors
/// As [`recommend`].
pub fn rank(request: &RecommendRequest<'_>) -> Result<Recommendation, Error> {
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
            Err(reason) => {
                let takes = !matches!(
                    reason,
                    Drop::Kernel(_) | Drop::Split(..) | Drop::Cache(..) | Drop::Shape(_)
                );
                let outcome = takes.then(|| chooser.run(&request.task, scheme).ok()).flatten();
                dropped.push(Dropped { scheme, quality, reason, outcome });
            }
        }
    }
    let first_by = order(&mut ranked, |row| row.standing);
    let fastest = |time: fn(&Ranked) -> Seconds| {
        ranked.iter().min_by(|a, b| time(a).get().total_cmp(&time(b).get())).map(|row| row.scheme)
    };
    let best_prefill = fastest(|row| row.outcome.prefill.expected.time);
    let best_decode = fastest(|row| row.outcome.decode.expected.time);
    Ok(Recommendation { baseline, ranked, first_by, dropped, best_prefill, best_decode })
}

/// The component that dominates the ranked part; for both parts together, that of the longer one.
fn regime(part: RankedPart, outcome: &Outcome) -> Regime {
    let work = outcome.step(part, outcome.longer_phase(part));
    let Traffic { weights, kv_cache, activations } = work.traffic;
    match work.limit {
        Limit::Links => Regime::Links,
        Limit::Host => Regime::Host,
        Limit::Launch => Regime::Overhead,
        Limit::Compute => Regime::Compute,
        Limit::Memory if weights >= kv_cache.max(activations) => Regime::Weights,
        Limit::Memory if kv_cache >= activations => Regime::KvCache,
        Limit::Memory => Regime::Activations,
    }
}
