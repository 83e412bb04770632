//! A model on a device: prefill, decode, generation, memory, energy. What is not here: the steps themselves (`plan`).

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

/// Smallest and largest size of all weights [GB].
pub const WEIGHT_GB: (f64, f64) = (1e-6, 1e6);
/// Smallest and largest mean of bits per weight.
pub const WEIGHT_BITS: (f64, f64) = (0.1, 64.0);

/// The size of the weights when it is known better than from the formats alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightSize {
    /// All weights, embeddings included; the size of a file.
    Total(Bytes),
    /// Mean bits per weight over all parameters.
    BitsPerWeight(f64),
    /// Weights that the decode step of the request reads, as a source states them; all weights are scaled alike.
    Streamed(Bytes),
}

/// What to estimate.
#[derive(Debug, Clone, Copy)]
pub struct EstimateRequest<'a> {
    /// Device.
    pub device: &'a Device,
    /// Its power mode; `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Memory that may be used, if less than the device leaves to a model.
    pub memory_limit: Option<Bytes>,
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
    /// What limits at the shares that kernels reach.
    pub expected_bound: Bound,
    /// Expected time of the phase with half of the bytes in each operator.
    pub half_bytes: Seconds,
    /// Where the roofs of the layers' matmuls meet.
    pub ridge: FlopsPerByte,
    /// Share of the compute peak that the expected time uses: the peak of the layers' matmuls, or of an operator on a faster one.
    pub mfu: f64,
    /// Share of the bandwidth that weights and KV cache use in the expected time.
    pub mbu: f64,
    /// Rows by name, in the order of a layer; what a step takes outside its kernels, and on links, comes last.
    pub operators: Vec<OpRow>,
}

impl PhaseEstimate {
    /// Share of the expected time that half of the bytes would save.
    pub fn half_bytes_save(&self) -> f64 {
        1.0 - self.half_bytes / self.totals.expected.time
    }
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
    /// How the prompt of a request is computed.
    pub chunks: Chunks,
    /// The engine's setting behind it.
    pub chunk: Chunk,
    /// Time to first token of one request that joins the others, which are decoding; of a static batch, of all prompts together.
    pub ttft: Expected,
    /// Time to first token at the roof.
    pub ttft_ideal: Seconds,
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
    /// Memory of one device, that with the most.
    pub memory: MemoryFootprint,
    /// Energy over all devices; `None` when the power is unknown.
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

/// Energy of a token while decoding.
///
/// ```text
/// J/token = devices * P * TPOT / B
/// ```
fn decode_energy(request: &EstimateRequest<'_>, ideal: Seconds, tpot: Seconds) -> Option<Energy> {
    let EstimateRequest { device, mode, workload, .. } = request;
    let power = mean_power((device, *mode), &workload.parallel, ideal, tpot)?;
    Some(Energy { power, per_token: power.all * tpot / workload.batch as f64 })
}
