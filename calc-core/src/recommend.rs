//! Which scheme to use: every candidate is dropped with its reason or ranked by an objective on expected times, and each row
//! says what makes it win and what would flip the order. Derivation: `docs/theory/recommendation.md`.
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
use crate::quality::QualityLoss;
use crate::scheme::Scheme;
use crate::units::Seconds;

pub use bounds::{Bounds, Drop, USUAL_QUALITY};
pub(crate) use chooser::Chooser;
pub use flips::{Cause, Change, Flip};
pub(crate) use inverse::largest;
pub use inverse::{DeviceChoice, End, Largest, MemoryStep, Room, devices, memory_steps, room};
pub use objective::{Objective, RankedPart};
pub use outcome::{Outcome, PhaseWork};
pub(crate) use standing::order;
pub use standing::{FirstBy, Standing};
pub use task::{Axis, ModelTask, PREFILL_ROWS, ShapeTask, Task};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct RecommendRequest<'a> {
    /// What is to be run.
    pub task: Task<'a>,
    /// What the ranking is by.
    pub objective: Objective,
    /// Which part of the work counts.
    pub part: RankedPart,
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
    /// What decides its place.
    pub standing: Standing,
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
    /// Why the first of them is first.
    pub first_by: FirstBy,
    /// In the order of the table.
    pub dropped: Vec<Dropped>,
    /// The fastest of `ranked` in prefill.
    pub best_prefill: Option<&'static Scheme>,
    /// The fastest of `ranked` in decode.
    pub best_decode: Option<&'static Scheme>,
}

/// Ranks all schemes.
///
/// ```
/// use calc_core::{calibration::Calibration, catalog, cost::gemm::GemmShape, lowering::Phase};
/// use calc_core::recommend::{Bounds, Objective, RankedPart, RecommendRequest, ShapeTask, Task, recommend};
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
///     part: RankedPart::Decode,
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

/// What decides the time of the part that counts; of both, the longer.
fn regime(part: RankedPart, outcome: &Outcome) -> Regime {
    let is_prefill = match part {
        RankedPart::Prefill => true,
        RankedPart::Decode => false,
        RankedPart::Whole => outcome.prefill.expected.time.get() * 2.0 > outcome.whole.time.get(),
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
