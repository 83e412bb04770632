//! Estimates a model on a device: prefill, decode, generation, memory, energy. The steps themselves are in `plan`.

use alloc::vec::Vec;

use crate::calibration::{Basis, Chunk};
use crate::energy::Energy;
use crate::error::Error;
use crate::expected::Expected;
use crate::footprint::MemoryFootprint;
use crate::lowering::Step;
use crate::plan::{CardLoad, Chunks, ImageEstimate, MeanToken, Paths, Plan};
use crate::precision::Precision;
use crate::tiers::Placement;
use crate::units::{BytesPerSec, Seconds, TokensPerSec};
use crate::workload::Workload;

pub use crate::plan::{Draft, EstimateRequest, PhaseEstimate};
pub use crate::weight_size::{PartBytes, WEIGHT_BITS, WEIGHT_GB, WeightSize};

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
    /// The step in the middle of the generation; of a single token, the step at the stated context.
    pub middle: PhaseEstimate,
    /// The engine, fit and ceilings behind the expected times.
    pub basis: Basis,
    /// The division of the prompt into steps.
    pub chunks: Chunks,
    /// The engine setting that determines `chunks`.
    pub chunk: Chunk,
    /// The images of a prompt.
    pub images: Option<ImageEstimate>,
    /// Time to first token of one request that joins a decoding batch; of a static batch, of all prompts together.
    pub ttft: Expected,
    /// Ideal time to first token.
    pub ttft_ideal: Seconds,
    /// Time per output token at the stated context.
    pub tpot: Expected,
    /// Ideal time per output token.
    pub token_ideal: Seconds,
    /// A token in the mean over the generation; of a single token, at the stated context.
    pub mean: MeanToken,
    /// Share of the bandwidth that weights and KV cache use in the mean over the generation.
    pub mean_mbu: f64,
    /// Time of all new tokens after the first.
    pub generation: Expected,
    /// Time from the request to its last token.
    pub end_to_end: Expected,
    /// Ideal time from the request to its last token.
    pub end_to_end_ideal: Seconds,
    /// Token rate over the batch at the stated context.
    pub throughput: TokensPerSec,
    /// Memory of the device that needs the most.
    pub memory: MemoryFootprint,
    /// Energy over all devices at the stated context; `None` if the power is unknown.
    pub energy: Option<Energy>,
    /// The devices exchange data over a link of unknown bandwidth: the expected times are unknown then, and the values here
    /// leave the link out.
    pub link_unknown: bool,
    /// Where the parts of the model lie; `None` without a host.
    pub placement: Option<Placement>,
    /// The layers, the memory and the time of each of several unlike cards; empty for equal devices.
    pub cards: Vec<CardLoad>,
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
    let middle = plan.phase(Step::decode(batch, request.workload.middle()));
    let first = plan.first_token();
    let ttft = first.expected;
    let token = plan.token(draft.as_ref(), context);
    let (token_ideal, tpot) = (token.ideal, token.expected);
    let generation = plan.generation(draft.as_ref());
    let mean = plan.mean_token(token, generation);
    Ok(Estimate {
        precision: plan.precision,
        paths: plan.paths,
        weight_scale: plan.weight_scale.whole,
        bandwidth: plan.roofs.bandwidth,
        basis: plan.tuned.basis,
        chunks: plan.chunks(),
        chunk: plan.chunk(),
        images: plan.images(),
        ttft,
        ttft_ideal: first.ideal,
        tpot,
        token_ideal,
        mean,
        mean_mbu: plan.mean_streamed(draft.as_ref()) / plan.roofs.bandwidth / mean.expected.time,
        generation: generation.expected,
        end_to_end: ttft.then(generation.expected),
        end_to_end_ideal: first.ideal + generation.ideal,
        throughput: TokensPerSec::new(batch as f64 / tpot.time.get()),
        memory: plan.footprint(),
        energy: plan.token_energy(token),
        link_unknown: plan.link_unknown(),
        placement: plan.placement(),
        cards: plan.card_loads(),
        prefill,
        decode,
        middle,
    })
}
