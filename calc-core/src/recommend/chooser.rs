//! The schemes of a request: which are candidates, which meet the bounds, and which is first.

use alloc::vec::Vec;

use super::bounds::{Bounds, Drop};
use super::outcome::Outcome;
use super::standing::{Aim, Standing, order};
use super::task::{Axis, Task};
use super::{Ranked, RecommendRequest, regime};
use crate::calibration::Engine;
use crate::catalog::quality::FP8_AGAIN;
use crate::catalog::schemes::{AS_PUBLISHED, SCHEMES};
use crate::error::Error;
use crate::parallel::check_split;
use crate::plan::EstimateRequest;
use crate::precision::{Precision, PrecisionChoice};
use crate::quality::QualityLoss;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;
use crate::scheme::{FormatFamily, Method, NoKernel, Scheme, SchemeWeights, reads_cache};
use crate::units::Bytes;

/// A request with the values that are constant while it is answered.
#[derive(Clone)]
pub(crate) struct Chooser<'a> {
    pub(super) task: Task<'a>,
    pub(super) aim: Aim,
    pub(super) roofs: Roofs,
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

    /// All candidate schemes; the published formats only if they differ from 16 bits, and no other name of the same formats.
    pub(super) fn candidates(&self) -> impl Iterator<Item = &'static Scheme> {
        SCHEMES.into_iter().filter(|scheme| self.considers(scheme))
    }

    /// Whether a scheme is a candidate for the task.
    fn considers(&self, scheme: &Scheme) -> bool {
        match (scheme.weights, &self.task) {
            (SchemeWeights::Half, _) | (SchemeWeights::Format(_), Task::Shape(_)) => true,
            (SchemeWeights::Published, Task::Shape(_)) => false,
            (SchemeWeights::Published, Task::Model(task)) => is_quantized(&task.published),
            // A GGUF file of the published formats is another way to serve them; other formats are the published files.
            (SchemeWeights::Format(_), Task::Model(_)) => {
                let own = self.engine_as_published(scheme);
                let is_file = scheme.family() == FormatFamily::Gguf;
                own.is_none() || is_file && own != self.engine_as_published(&AS_PUBLISHED)
            }
        }
    }

    /// The engine of a scheme, if the model as published is in the same formats there: a GGUF file of gpt-oss keeps the
    /// experts, and Q8_0 is the format of the rest in its published one.
    fn engine_as_published(&self, scheme: &Scheme) -> Option<Engine> {
        let Task::Model(task) = &self.task else { return None };
        if !is_quantized(&task.published) {
            return None;
        }
        let mut own = self.task.estimate_request(&self.roofs, scheme)?;
        let engine = own.engine();
        // Inputs that neither states are the engine's.
        if scheme.activations.is_none() && task.published.activations.is_none() {
            own.precision.activations = None;
        }
        let (_, formats) = self.formats(&EstimateRequest { engine: Some(engine), ..own });
        let published = self.task.estimate_request(&self.roofs, &AS_PUBLISHED)?;
        let (_, same) = self.formats(&EstimateRequest { engine: Some(engine), ..published });
        (formats == same).then_some(engine)
    }

    /// Engine and formats of a request, as `Plan` resolves them.
    fn formats(&self, request: &EstimateRequest<'_>) -> (Engine, Precision) {
        let EstimateRequest { device, model, precision, .. } = *request;
        let engine = request.engine();
        let filled = precision.filled(Some(engine), device, model, &self.roofs);
        (engine, filled.resolve_model(model, &self.roofs))
    }

    /// Loss against the model as its makers publish it. Formats that only quantizers write lose what their scheme loses.
    pub(crate) fn quality(&self, scheme: &Scheme) -> QualityLoss {
        match &self.task {
            Task::Shape(_) => scheme.quality,
            Task::Model(task) => {
                let is_published = self.engine_as_published(scheme).is_some();
                let scheme = if is_published { &AS_PUBLISHED } else { scheme };
                loss_from(&task.published, scheme).at_size(task.request.model.n_params())
            }
        }
    }

    pub(super) fn row(
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
            speedup_token: baseline.token.expected.time / outcome.token.expected.time,
            speedup_ttft: baseline.ttft.time / outcome.ttft.time,
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

    /// The family of a scheme's formats in the table of kernels.
    fn family(&self, scheme: &Scheme) -> FormatFamily {
        match (scheme.weights, &self.task) {
            (SchemeWeights::Published, Task::Model(task)) => task.published.family(),
            _ => scheme.family(),
        }
    }

    fn admit_matrices(&self, scheme: &Scheme) -> Result<(), Drop> {
        scheme.runs_on(self.task.device(), &self.roofs).map_err(Drop::Kernel)?;
        let (device, family) = (self.task.device(), self.family(scheme));
        let quantized = match (scheme.weights, &self.task) {
            (SchemeWeights::Published, Task::Model(task)) => task.published.activations.is_some(),
            _ => scheme.activations.is_some(),
        };
        family.check(device, quantized).map_err(Drop::Kernel)?;
        let request = self.task.estimate_request(&self.roofs, scheme);
        if let Some(engine) = request.map(|request| request.engine()).or(self.task.engine()) {
            let served = family.served_by(engine, device, quantized);
            served.map_err(|reason| Drop::Kernel(self.of_all_engines(reason)))?;
        }
        self.admit_engine(scheme)?;
        self.task.shapes(scheme).map_err(Drop::Shape)?;
        self.admit_source(scheme)
    }

    /// The reason of every engine that was tried: where the request names none, it is of both usual ones. With a host there is
    /// one.
    const fn of_all_engines(&self, reason: NoKernel) -> NoKernel {
        let is_of_both = self.task.engine().is_none() && !self.task.has_host();
        match reason {
            NoKernel::OtherEngine(_) | NoKernel::NoBuild(_) if is_of_both => {
                NoKernel::NoUsualEngine
            }
            reason => reason,
        }
    }

    /// Checks that the engine of a scheme has the KV cache of the request, and splits the model in its way.
    fn admit_engine(&self, scheme: &Scheme) -> Result<(), Drop> {
        let Some(request) = self.task.estimate_request(&self.roofs, scheme) else { return Ok(()) };
        let (engine, formats) = self.formats(&request);
        // Where neither of the usual engines has such a cache, or the request names one, the times stand for it, and no command.
        let is_of_another = request.engine.is_none()
            && [Engine::Vllm, Engine::LlamaCpp].iter().any(|it| reads_cache(*it, formats.kv_cache));
        if is_of_another && !reads_cache(engine, formats.kv_cache) {
            return Err(Drop::Cache(engine, formats.kv_cache));
        }
        let split = (request.model, &request.workload.parallel);
        check_split(engine, request.device, split, formats.kv_cache)
            .map_err(|reason| Drop::Split(engine, reason))
    }

    /// Checks that the scheme can be made: a model that is published with experts in MXFP4 has no weights in 16 bits of its
    /// makers, and llama.cpp's tools keep the published experts.
    fn admit_source(&self, scheme: &Scheme) -> Result<(), Drop> {
        let Task::Model(task) = &self.task else { return Ok(()) };
        let Some(experts) = task.published.experts else { return Ok(()) };
        let is_mixed = has_mxfp4_experts(&task.published);
        let is_read = match scheme.weights {
            SchemeWeights::Published => true,
            SchemeWeights::Format(_) => scheme.family() == FormatFamily::Gguf,
            SchemeWeights::Half => false,
        };
        if is_read || !is_mixed { Ok(()) } else { Err(Drop::Source(experts)) }
    }

    /// Checks kernels, shapes and quality, which do not depend on the number of tokens.
    fn admit_at_all(&self, scheme: &Scheme) -> Result<(), Drop> {
        self.admit_matrices(scheme)?;
        self.aim.bounds.admit_quality(&self.quality(scheme))
    }

    /// The bound on memory or time that a scheme violates, if any.
    pub(super) fn limits(&self, task: &Task<'_>, scheme: &Scheme) -> Option<Drop> {
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
    pub(crate) fn admit(&self, task: &Task<'_>, scheme: &'static Scheme) -> Result<Outcome, Drop> {
        self.admit_at_all(scheme)?;
        let outcome = task.run(&self.roofs, scheme).map_err(Drop::Refused)?;
        self.aim.admit(task.get(Axis::Batch), &outcome)?;
        Ok(outcome)
    }

    /// The standing of an allowed scheme for a task, if it meets the bounds.
    pub(crate) fn probe(&self, task: &Task<'_>, scheme: &Scheme) -> Result<Standing, Drop> {
        let standing = task.probe(&self.roofs, scheme, &self.aim, self.quality(scheme).high)?;
        let is_published = matches!(scheme.weights, SchemeWeights::Published);
        Ok(Standing { is_published, ..standing })
    }

    /// The outcome of a scheme for a task.
    pub(crate) fn run(&self, task: &Task<'_>, scheme: &Scheme) -> Result<Outcome, Error> {
        task.run(&self.roofs, scheme)
    }

    /// The first-ranked of the given allowed schemes for a task.
    pub(super) fn winner(
        &self,
        task: &Task<'_>,
        among: &[&'static Scheme],
    ) -> Option<&'static Scheme> {
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
    pub(super) fn allowed(&self) -> Vec<&'static Scheme> {
        self.candidates().filter(|scheme| self.admit_at_all(scheme).is_ok()).collect()
    }

    /// The first-ranked scheme with another bound on the quality loss [%].
    pub(super) fn winner_at_quality(&self, quality: f64) -> Option<&'static Scheme> {
        let mut other = self.clone();
        other.aim.bounds.quality = quality;
        other.winner(&self.task, &other.allowed())
    }

    /// The first-ranked scheme with the given usable memory.
    pub(super) fn winner_with_memory(&self, memory: Bytes) -> Option<&'static Scheme> {
        let mut other = self.clone();
        other.aim.granted = Some(memory);
        other.winner(&self.task, &other.allowed())
    }
}

/// Loss of a scheme for a model of 8 billion parameters that is published in the given formats.
fn loss_from(published: &PrecisionChoice, scheme: &Scheme) -> QualityLoss {
    let is_fp8 = |format: &QuantFormat| format.class == Some(ComputeClass::Fp8);
    match scheme.weights {
        SchemeWeights::Published => quantizer_of(published.weights).unwrap_or(scheme).quality,
        SchemeWeights::Format(format) if is_fp8(format) && is_fp8(published.weights) => FP8_AGAIN,
        // A GGUF file keeps experts in MXFP4: it loses at most what the file of a model in 16 bits does.
        SchemeWeights::Format(_) if has_mxfp4_experts(published) => {
            QualityLoss { low: 0.0, ..scheme.quality }
        }
        SchemeWeights::Half | SchemeWeights::Format(_) => scheme.quality,
    }
}

/// True for a model that is published with experts in MXFP4 and layers in another format.
fn has_mxfp4_experts(published: &PrecisionChoice) -> bool {
    published.experts.is_some_and(|experts| {
        FormatFamily::of_format(experts) == FormatFamily::Mxfp4 && experts != published.weights
    })
}

/// The scheme whose quantizer writes a format: AWQ, GPTQ, bitsandbytes or llama.cpp. The makers of models train in the
/// other formats, or publish them.
fn quantizer_of(format: &QuantFormat) -> Option<&'static Scheme> {
    SCHEMES.into_iter().find(|scheme| {
        let is_written =
            matches!(scheme.weights, SchemeWeights::Format(own) if own.key == format.key);
        let is_quantizer = match scheme.method {
            Method::Awq | Method::Gptq | Method::LlamaQuantize => true,
            Method::Rtn => format.key.starts_with("nf4"),
            Method::None | Method::NativeFp8 | Method::NativeFp4 => false,
        };
        is_written && is_quantizer
    })
}

fn is_quantized(published: &PrecisionChoice) -> bool {
    let narrow = |bits: f64| bits < 16.0;
    narrow(published.weights.bits_per_element())
        || published.experts.is_some_and(|format| narrow(format.bits_per_element()))
}
