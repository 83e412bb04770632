//! A model on a device: prefill, decode, generation, memory, energy. What is not here: the steps themselves (`plan`).

use alloc::vec::Vec;

use crate::calibration::{Basis, Calibration, Engine};
use crate::device::{Device, DeviceClass, PowerMode};
use crate::error::Error;
use crate::expected::Expected;
use crate::footprint::MemoryFootprint;
use crate::lowering::Step;
use crate::model_arch::ModelArch;
use crate::plan::{OpRow, Paths, Plan, StepTotals};
use crate::precision::{Precision, PrecisionChoice};
use crate::roofline::Bound;
use crate::units::{Bytes, BytesPerSec, FlopsPerByte, Joules, Seconds, TokensPerSec, Watts};
use crate::workload::Workload;

/// The size of the weights when it is known better than from the formats alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightSize {
    /// All weights, embeddings included; the size of a file.
    Total(Bytes),
    /// Mean bits per weight over all parameters.
    BitsPerWeight(f64),
}

/// What to estimate.
#[derive(Debug, Clone, Copy)]
pub struct EstimateRequest<'a> {
    /// Device.
    pub device: &'a Device,
    /// Its power mode; `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Model.
    pub model: &'a ModelArch,
    /// Formats.
    pub precision: PrecisionChoice,
    /// Sequences and tokens.
    pub workload: Workload,
    /// Known size of the weights; without it that of the file which the formats name, if they name one.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding; drafts cost nothing without one.
    pub draft: Option<&'a ModelArch>,
    /// Engine whose factors are asked for.
    pub engine: Option<Engine>,
    /// Factors.
    pub calibration: &'a Calibration,
}

impl EstimateRequest<'_> {
    /// The size of the weights: the one given, else that of the file which the formats name, if they name one.
    pub fn size(&self) -> Option<WeightSize> {
        self.weight_size.or_else(|| self.precision.file_size())
    }
}

/// One phase in full.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseEstimate {
    /// Sums over the operators; `expected` with the time on links.
    pub totals: StepTotals,
    /// What limits.
    pub bound: Bound,
    /// Where the roofs of the layers' matmuls meet.
    pub ridge: FlopsPerByte,
    /// Share of the compute peak that the expected time uses.
    pub mfu: f64,
    /// Share of the bandwidth that weights and KV cache use in the expected time.
    pub mbu: f64,
    /// Rows by name, in the order of a layer.
    pub operators: Vec<OpRow>,
}

/// Energy of one token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Mean power during decode.
    pub power: Watts,
    /// Energy of one token.
    pub per_token: Joules,
}

/// A model on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Format of every role.
    pub precision: Precision,
    /// Peaks that the matmuls run on.
    pub paths: Paths,
    /// By how much the weights differ from what their formats say; 1 when nothing was given.
    pub weight_scale: f64,
    /// DRAM bandwidth in force.
    pub bandwidth: BytesPerSec,
    /// The step with the whole prompt.
    pub prefill: PhaseEstimate,
    /// The step at the stated context.
    pub decode: PhaseEstimate,
    /// What expected times rest on.
    pub basis: Basis,
    /// Time to first token.
    pub ttft: Expected,
    /// Time per output token at the stated context.
    pub tpot: Expected,
    /// The same at the roof.
    pub token_ideal: Seconds,
    /// All new tokens after the first.
    pub generation: Expected,
    /// First to last token.
    pub end_to_end: Expected,
    /// The same at the roof.
    pub end_to_end_ideal: Seconds,
    /// Tokens per second over the batch.
    pub throughput: TokensPerSec,
    /// Memory of one device.
    pub memory: MemoryFootprint,
    /// Energy; `None` when the device's power is unknown.
    pub energy: Option<Energy>,
    /// The devices exchange data over a link that nobody has put a number to: what is `expected` is unknown then, and the
    /// values here leave the link out.
    pub link_unknown: bool,
}

impl Estimate {
    /// Tokens per second over the batch if every operator ran at its roof.
    pub fn ideal_throughput(&self) -> TokensPerSec {
        self.throughput * (self.tpot.time / self.token_ideal)
    }
}

/// A model on a device.
///
/// # Errors
/// Anything that [`Error`] names.
pub fn estimate(request: EstimateRequest<'_>) -> Result<Estimate, Error> {
    let plan = Plan::new(request)?;
    let draft = plan.draft()?;
    let Workload { batch, prompt, context, .. } = request.workload;
    let prefill = plan.phase(Step::prefill(batch, prompt));
    let decode = plan.phase(Step::decode(batch, context));
    let ttft = prefill.totals.expected;
    let tpot = plan.token_time(draft.as_ref(), context);
    let generation = plan.generation(draft.as_ref());
    let token_ideal = plan.token_ideal(draft.as_ref(), context);
    Ok(Estimate {
        precision: plan.precision,
        paths: plan.paths,
        weight_scale: plan.weight_scale,
        bandwidth: plan.roofs.bandwidth,
        basis: plan.tuned.basis,
        ttft,
        tpot,
        token_ideal,
        generation: generation.expected,
        end_to_end: ttft.then(generation.expected),
        end_to_end_ideal: prefill.totals.ideal + generation.ideal,
        throughput: TokensPerSec::new(batch as f64 / tpot.time.get()),
        memory: plan.footprint(),
        energy: decode_energy(&request, token_ideal, tpot.time),
        link_unknown: plan.link_unknown(),
        prefill,
        decode,
    })
}

/// Power while nothing runs, as a share of the thermal design power; assumed.
pub const fn idle_share(class: DeviceClass) -> f64 {
    match class {
        DeviceClass::DiscreteGpu => 0.2,
        DeviceClass::UnifiedGpu => 0.35,
        DeviceClass::Cpu => 0.4,
    }
}

/// Mean power of work that takes `ideal` at the roof and `expected` in reality.
///
/// ```text
/// P = idle + (TDP - idle) * t_ideal / t_expected
/// ```
///
/// In a power mode its budget stands for the TDP. `None` when nobody has published either.
pub fn mean_power(
    device: &Device,
    mode: Option<&PowerMode>,
    ideal: Seconds,
    expected: Seconds,
) -> Option<Watts> {
    let budget = mode.and_then(|mode| mode.watts).or(device.tdp.map(|tdp| tdp.value))?;
    let idle = budget * idle_share(device.class);
    Some(idle + (budget - idle) * (ideal / expected))
}

/// Energy of a token while decoding.
///
/// ```text
/// J/token = P * TPOT / B
/// ```
fn decode_energy(request: &EstimateRequest<'_>, ideal: Seconds, tpot: Seconds) -> Option<Energy> {
    let power = mean_power(request.device, request.mode, ideal, tpot)?;
    Some(Energy { power, per_token: power * tpot / request.workload.batch as f64 })
}
