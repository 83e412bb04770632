//! The question about a model: device, model, formats, workload, engine.

use super::cards::Cards;
use super::tiers::Behind;
use crate::calibration::{Calibration, Engine};
use crate::catalog::formats::FP16;
use crate::device::{Device, PowerMode};
use crate::model_arch::ModelArch;
use crate::parallel::{Parallel, check_split};
use crate::precision::PrecisionChoice;
use crate::software::reads_cache;
use crate::units::Bytes;
use crate::weight_size::{PartBytes, WeightSize};
use crate::workload::Workload;

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
    /// Known size of the weights, which replaces the size computed from geometry and formats.
    pub weight_size: Option<WeightSize>,
    /// Draft model of speculative decoding; without one, drafts are free.
    pub draft: Option<Draft<'a>>,
    /// Engine whose factors apply; `None` for the device's usual engine.
    pub engine: Option<Engine>,
    pub calibration: &'a Calibration,
    /// The machine around the card, whose memory takes what the card does not hold; `None` for the card alone.
    pub host: Option<&'a Behind>,
    /// Further cards beside the device, each with layers of its own; `None` for equal devices.
    pub cards: Option<&'a Cards>,
}

/// A draft model.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    pub model: &'a ModelArch,
    /// Bytes of its weights, if they are known from its files.
    pub files: Option<&'a PartBytes>,
}

impl EstimateRequest<'_> {
    /// The request for the draft model alone on one device, if there is one.
    pub(crate) fn draft_alone(&self) -> Option<Self> {
        let Draft { model, files } = self.draft?;
        self.workload.speculation?;
        let weight_size = files.copied().map(WeightSize::Parts);
        Some(Self {
            model,
            workload: self.workload.alone(),
            draft: None,
            weight_size,
            host: None,
            cards: None,
            ..*self
        })
    }

    /// True if devices exchange data over a link of unknown bandwidth.
    pub const fn lacks_link(&self) -> bool {
        self.device.link.is_none() && self.workload.parallel.exchanges()
    }

    /// The engine of the request, or the one that serves it.
    pub fn engine(&self) -> Engine {
        let Self { device, model, workload, .. } = *self;
        let serving =
            || serving_engine(device, &self.precision.of_model(model), (model, &workload.parallel));
        // llama.cpp is the only engine here that computes on the card and on the host.
        let beside = self.host.map(|_| Engine::LlamaCpp);
        let choice = || self.precision.of_model(model);
        let serves = |engine: Engine, card: &Device| {
            runs_split(engine, device, &choice(), (model, &workload.parallel))
                && [device, card].into_iter().all(|on| has_kernels(engine, on, &choice()))
        };
        let open = || self.cards.map_or_else(serving, |cards| cards.engine(serving(), &serves));
        self.engine.or(beside).unwrap_or_else(open)
    }
}

/// The engine that serves a model in these formats if the user names none: the usual engine of the device for them, or another
/// one with kernels for them where that one cannot split the model as asked for or has no KV cache in the format.
pub fn serving_engine(
    device: &Device,
    choice: &PrecisionChoice,
    (model, parallel): (&ModelArch, &Parallel),
) -> Engine {
    let usual = choice.usual_engine(device);
    let runs = |engine: &Engine| runs_split(*engine, device, choice, (model, parallel));
    let serves = |engine: &Engine| has_kernels(*engine, device, choice);
    let others = [Engine::Vllm, Engine::LlamaCpp].into_iter().filter(serves);
    [usual].into_iter().chain(others).find(runs).unwrap_or(usual)
}

/// Whether an engine splits a model as asked for, and keeps the KV cache in the format.
fn runs_split(
    engine: Engine,
    device: &Device,
    choice: &PrecisionChoice,
    split: (&ModelArch, &Parallel),
) -> bool {
    let cache = choice.kv_cache.unwrap_or(&FP16);
    check_split(engine, device, split, cache).is_ok() && reads_cache(engine, cache)
}

/// Whether an engine has kernels for the formats on a device.
fn has_kernels(engine: Engine, device: &Device, choice: &PrecisionChoice) -> bool {
    choice.family().served_by(engine, device, choice.activations.is_some()).is_ok()
}
