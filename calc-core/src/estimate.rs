//! Estimates a model on a device: prefill, decode, generation, memory, energy. The steps themselves are in `plan`.

use alloc::vec::Vec;

use crate::calibration::{Basis, Calibration, Chunk, Engine};
use crate::device::{Device, PowerMode};
use crate::energy::{Energy, mean_power};
use crate::error::Error;
use crate::expected::Expected;
use crate::footprint::MemoryFootprint;
use crate::lowering::Step;
use crate::model_arch::ModelArch;
use crate::plan::{Chunks, OpRow, Paths, Plan, StepTotals};
use crate::precision::{Precision, PrecisionChoice};
use crate::roofline::Bound;
use crate::units::{Bytes, BytesPerSec, FlopsPerByte, Seconds, TokensPerSec};
use crate::workload::Workload;

/// Allowed range of the size of all weights [GB].
pub const WEIGHT_GB: (f64, f64) = (1e-6, 1e6);
/// Allowed range of the mean bits per weight.
pub const WEIGHT_BITS: (f64, f64) = (0.1, 64.0);

/// Size of the weights, when it is known better than from the formats alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightSize {
    /// All weights including embeddings; the size of a file.
    Total(Bytes),
    /// Mean bits per weight over all parameters.
    BitsPerWeight(f64),
    /// Weights that the decode step of the request reads, as stated by a source; all weights are scaled alike.
    Streamed(Bytes),
}

/// The inputs of an estimate.
#[derive(Debug, Clone, Copy)]
pub struct EstimateRequest<'a> {
    pub device: &'a Device,
    /// `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Memory that may be used, if less than the device leaves to a model.
    pub memory_limit: Option<Bytes>,
    pub model: &'a ModelArch,
    pub precision: PrecisionChoice,
    pub workload: Workload,
    /// Known size of the weights; by default the size of the file that the formats name, if they name one.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding; without one, drafts are free.
    pub draft: Option<&'a ModelArch>,
    /// Engine whose factors apply; `None` for the device's usual engine.
    pub engine: Option<Engine>,
    /// Correction factors from ideal to expected times.
    pub calibration: &'a Calibration,
}

impl EstimateRequest<'_> {
    /// The given size of the weights, else that of the file which the formats name, if they name one.
    pub fn size(&self) -> Option<WeightSize> {
        self.weight_size.or_else(|| self.precision.file_size())
    }
}

/// The full estimate of one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseEstimate {
    /// Sums over the operators; `expected` includes the time on links.
    pub totals: StepTotals,
    /// The limiting resource at the roof.
    pub bound: Bound,
    /// The limiting resource at the shares that kernels reach.
    pub expected_bound: Bound,
    /// Expected time of the phase if each operator moved half of its bytes.
    pub half_bytes: Seconds,
    /// Ridge of the layers' matmuls.
    pub ridge: FlopsPerByte,
    /// Model FLOP utilization: share of the compute peak used in the expected time. The peak is that of the layers' matmuls,
    /// or of an operator on a faster one.
    pub mfu: f64,
    /// Model bandwidth utilization: share of the bandwidth that weights and KV cache use in the expected time.
    pub mbu: f64,
    /// Rows by name, in the order of a layer; the time of a step outside its kernels, and on links, comes last.
    pub operators: Vec<OpRow>,
}

impl PhaseEstimate {
    /// Fraction of the expected time saved by halving the bytes.
    pub fn half_bytes_save(&self) -> f64 {
        1.0 - self.half_bytes / self.totals.expected.time
    }
}

/// The estimate of a model on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub precision: Precision,
    pub paths: Paths,
    /// Factor on the weight bytes that the formats give; 1 if no size is known.
    pub weight_scale: f64,
    /// DRAM bandwidth in the power mode.
    pub bandwidth: BytesPerSec,
    /// The step that computes the whole prompt.
    pub prefill: PhaseEstimate,
    /// The step at the stated context.
    pub decode: PhaseEstimate,
    /// The engine, fit and ceilings behind the expected times.
    pub basis: Basis,
    /// The division of the prompt into steps.
    pub chunks: Chunks,
    /// The engine setting that determines `chunks`.
    pub chunk: Chunk,
    /// Time to first token of one request that joins a decoding batch; of a static batch, of all prompts together.
    pub ttft: Expected,
    /// Ideal time to first token.
    pub ttft_ideal: Seconds,
    /// Time per output token at the stated context.
    pub tpot: Expected,
    /// Ideal time per output token.
    pub token_ideal: Seconds,
    /// Time of all new tokens after the first.
    pub generation: Expected,
    /// Time from the request to its last token.
    pub end_to_end: Expected,
    /// Ideal time from the request to its last token.
    pub end_to_end_ideal: Seconds,
    /// Token rate over the batch.
    pub throughput: TokensPerSec,
    /// Memory of the device that needs the most.
    pub memory: MemoryFootprint,
    /// Energy over all devices; `None` if the power is unknown.
    pub energy: Option<Energy>,
    /// The devices exchange data over a link of unknown bandwidth: the expected times are unknown then, and the values here
    /// leave the link out.
    pub link_unknown: bool,
}

impl Estimate {
    /// Token rate over the batch if every operator ran at its roof.
    pub fn ideal_throughput(&self) -> TokensPerSec {
        self.throughput * (self.tpot.time / self.token_ideal)
    }
}

/// Estimates a model on a device.
///
/// # Errors
/// Any variant of [`Error`].
pub fn estimate(request: EstimateRequest<'_>) -> Result<Estimate, Error> {
    let plan = Plan::new(request)?;
    let draft = plan.draft()?;
    let Workload { batch, context, .. } = request.workload;
    let prefill = plan.phase(request.workload.prefill_step());
    let decode = plan.phase(Step::decode(batch, context));
    let first = plan.first_token();
    let ttft = first.expected;
    let token = plan.token(draft.as_ref(), context);
    let (token_ideal, tpot) = (token.ideal, token.expected);
    let generation = plan.generation(draft.as_ref());
    Ok(Estimate {
        precision: plan.precision,
        paths: plan.paths,
        weight_scale: plan.weight_scale,
        bandwidth: plan.roofs.bandwidth,
        basis: plan.tuned.basis,
        chunks: plan.chunks(),
        chunk: plan.chunk(),
        ttft,
        ttft_ideal: first.ideal,
        tpot,
        token_ideal,
        generation: generation.expected,
        end_to_end: ttft.then(generation.expected),
        end_to_end_ideal: first.ideal + generation.ideal,
        throughput: TokensPerSec::new(batch as f64 / tpot.time.get()),
        memory: plan.footprint(),
        energy: decode_energy(&request, token_ideal, tpot.time),
        link_unknown: plan.link_unknown(),
        prefill,
        decode,
    })
}

/// Energy per token during decode.
///
/// ```text
/// J/token = devices * P * TPOT / B
/// ```
fn decode_energy(request: &EstimateRequest<'_>, ideal: Seconds, tpot: Seconds) -> Option<Energy> {
    let EstimateRequest { device, mode, workload, .. } = request;
    let power = mean_power((device, *mode), &workload.parallel, ideal, tpot)?;
    Some(Energy { power, per_token: power.all * tpot / workload.batch as f64 })
}
