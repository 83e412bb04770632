//! The work behind a claim: one operator, one token of each sequence, or a whole answer; and the model's values for it.

mod sums;

use sums::{Sums, answer_sums, token_sums};

use crate::analysis::{AnalyzeRequest, analyze};
use crate::calibration::Engine;
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range};
use crate::estimate::{EstimateRequest, WeightSize};
use crate::footprint::MemoryFootprint;
use crate::op::OpCost;
use crate::plan::{Behind, Plan, Span};
use crate::precision::{Precision, PrecisionChoice};
use crate::roofline::{ComputePath, KernelTime, Roofs};
use crate::tiers::Placement;
use crate::units::{Bytes, Seconds};
use crate::workload::Speculation;

/// Largest number of new tokens of a whole answer: its steps are summed for every explanation that is tried.
pub const MAX_SUMMED: u64 = 1 << 17;

/// The work behind a claim.
#[derive(Debug, Clone, Copy)]
pub enum Work<'a> {
    Operator(AnalyzeRequest<'a>),
    /// One token of each sequence during decode, at the stated context.
    Token(EstimateRequest<'a>),
    /// A whole answer: prompt and all new tokens.
    Answer(EstimateRequest<'a>),
}

/// The model's values for some work.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) span: Span,
    pub(super) cost: OpCost,
    /// Ideal times of memory and arithmetic.
    pub(super) time: KernelTime,
    /// Times of memory and arithmetic at the shares that kernels reach.
    pub(super) reached: KernelTime,
    /// Peak of its matmuls.
    pub(super) path: ComputePath,
    pub(super) roofs: Roofs,
    pub(super) precision: Precision,
    /// Number of kernels that move bytes.
    pub(super) kernels: f64,
    /// Fixed times of the kernels, independent of their size.
    pub(super) floors: Seconds,
    /// Memory of one device; `None` for an operator.
    pub(super) memory: Option<MemoryFootprint>,
    /// The host, if the model has one.
    pub(super) host: Option<HostMeasure>,
}

/// A host with its part of some work.
#[derive(Debug, Clone)]
pub(super) struct HostMeasure {
    pub(super) placement: Placement,
    /// The host with the rates that programs sustain.
    pub(super) sustained: Behind,
    /// Traffic of the operators that it computes.
    pub(super) bytes: Bytes,
}

impl<'a> Work<'a> {
    /// The device.
    pub const fn device(&self) -> &'a Device {
        match self {
            Self::Operator(request) => request.device,
            Self::Token(request) | Self::Answer(request) => request.device,
        }
    }

    /// The power mode; `None` for the device's own peaks.
    pub const fn mode(&self) -> Option<&'a PowerMode> {
        match self {
            Self::Operator(request) => request.mode,
            Self::Token(request) | Self::Answer(request) => request.mode,
        }
    }

    /// The estimate request; `None` for an operator.
    pub const fn model(&self) -> Option<&EstimateRequest<'a>> {
        match self {
            Self::Operator(_) => None,
            Self::Token(request) | Self::Answer(request) => Some(request),
        }
    }

    /// The requested formats.
    pub(super) const fn precision(&self) -> PrecisionChoice {
        match self {
            Self::Operator(request) => request.precision,
            Self::Token(request) | Self::Answer(request) => request.precision,
        }
    }

    /// The formats as a plan or an analysis resolves them: with those that the engine sets where the request leaves them open.
    pub(super) fn resolved(&self, roofs: &Roofs) -> Precision {
        match self {
            Self::Operator(request) => request.precision.resolve(roofs),
            Self::Token(request) | Self::Answer(request) => {
                let EstimateRequest { device, engine, model, precision, .. } = *request;
                precision.filled(engine, device, model, roofs).resolve_model(model, roofs)
            }
        }
    }

    /// The engine that the request names.
    pub(super) const fn named_engine(&self) -> Option<Engine> {
        match self {
            Self::Operator(request) => request.engine,
            Self::Token(request) | Self::Answer(request) => request.engine,
        }
    }

    /// This work on another device, or in another power mode.
    pub(super) fn on<'b>(&self, device: &'b Device, mode: Option<&'b PowerMode>) -> Work<'b>
    where
        'a: 'b,
    {
        match *self {
            Self::Operator(request) => Work::Operator(AnalyzeRequest { device, mode, ..request }),
            Self::Token(request) => Work::Token(EstimateRequest { device, mode, ..request }),
            Self::Answer(request) => Work::Answer(EstimateRequest { device, mode, ..request }),
        }
    }

    /// This work in other formats.
    pub(super) const fn stored(
        &self,
        precision: PrecisionChoice,
        weight_size: Option<WeightSize>,
    ) -> Self {
        match *self {
            Self::Operator(request) => Self::Operator(AnalyzeRequest { precision, ..request }),
            Self::Token(request) => {
                Self::Token(EstimateRequest { precision, weight_size, ..request })
            }
            Self::Answer(request) => {
                Self::Answer(EstimateRequest { precision, weight_size, ..request })
            }
        }
    }

    /// This work with its formats fixed as resolved here, so that another device does not change them.
    pub(super) fn with_fixed(&self, precision: &Precision) -> Self {
        let choice = PrecisionChoice {
            weights: precision.weights,
            activations: Some(precision.activations),
            kv_cache: Some(precision.kv_cache),
            // The rules of a GGUF file give its embedding on any device.
            embedding: (!precision.is_file()).then_some(precision.embedding),
            experts: Some(precision.experts),
            ratios: self.model().and_then(|request| request.precision.ratios),
        };
        self.stored(choice, self.model().and_then(|request| request.weight_size))
    }

    /// The engine whose factors apply.
    pub(super) fn engine(&self) -> Engine {
        let usual = || {
            let choice = match self {
                Self::Operator(request) => request.precision,
                Self::Token(request) | Self::Answer(request) => {
                    request.precision.of_model(request.model)
                }
            };
            choice.usual_engine(self.device())
        };
        self.named_engine().unwrap_or_else(usual)
    }

    /// This work with another engine.
    pub(super) const fn with_engine(&self, engine: Engine) -> Self {
        let mut work = *self;
        match &mut work {
            Self::Operator(request) => request.engine = Some(engine),
            Self::Token(request) | Self::Answer(request) => request.engine = Some(engine),
        }
        work
    }

    /// This work with another batch; an operator is unchanged.
    pub(super) fn with_batch(&self, batch: u64) -> Self {
        let mut work = *self;
        if let Self::Token(request) | Self::Answer(request) = &mut work {
            request.workload.batch = batch;
        }
        work
    }

    /// This work with speculative decoding; an operator is unchanged.
    pub(super) fn with_drafts(&self, speculation: Speculation) -> Self {
        let mut work = *self;
        if let Self::Token(request) | Self::Answer(request) = &mut work {
            request.workload.speculation = Some(speculation);
        }
        work
    }

    /// False if it is known not to fit in memory; an operator always fits.
    pub(super) fn fits(&self) -> bool {
        let Some(request) = self.model() else { return true };
        let plan = Plan::new(*request);
        plan.is_ok_and(|plan| plan.footprint().verdict().may_fit())
    }

    /// Ideal and expected time.
    ///
    /// # Errors
    /// The errors of `analyze` and `estimate`, and a link of unknown bandwidth.
    pub fn span(&self) -> Result<Span, Error> {
        match self {
            Self::Operator(request) => analyze(request)
                .map(|answer| Span { ideal: answer.ideal, expected: answer.expected }),
            Self::Token(request) | Self::Answer(request) => {
                let (plan, draft) = plans(request)?;
                let own = self.span_of(&plan, draft.as_ref(), request);
                // A claim does not say what lies where.
                let ideal =
                    plan.fitting_placements().into_iter().fold(own.ideal, |least, other| {
                        let mut plan = plan.clone();
                        plan.put(other);
                        least.min(self.span_of(&plan, draft.as_ref(), request).ideal)
                    });
                Ok(Span { ideal, ..own })
            }
        }
    }

    fn span_of(
        &self,
        plan: &Plan<'_>,
        draft: Option<&Plan<'_>>,
        request: &EstimateRequest<'_>,
    ) -> Span {
        match self {
            Self::Answer(_) => plan.first_token().span().then(plan.generation(draft)),
            Self::Token(_) | Self::Operator(_) => plan.token(draft, request.workload.context),
        }
    }

    /// Ideal and expected time on another host with the same placement.
    ///
    /// # Errors
    /// Those of [`Work::span`].
    pub(super) fn span_behind(&self, host: &HostMeasure) -> Result<Span, Error> {
        let Some(request) = self.model() else { return self.span() };
        let request = EstimateRequest { host: Some(&host.sustained), ..*request };
        let (mut plan, draft) = plans(&request)?;
        plan.put(host.placement);
        Ok(self.span_of(&plan, draft.as_ref(), &request))
    }

    /// Evaluates all of the model's values for the work.
    pub(super) fn measure(&self) -> Result<Measure, Error> {
        match self {
            Self::Operator(request) => operator(request),
            Self::Token(request) | Self::Answer(request) => {
                let (plan, draft) = plans(request)?;
                let sums = match self {
                    Self::Answer(_) => answer_sums(&plan, draft.as_ref(), request),
                    Self::Token(_) | Self::Operator(_) => {
                        token_sums(&plan, draft.as_ref(), request, request.workload.context)
                    }
                };
                Ok(Measure {
                    span: self.span()?,
                    cost: sums.cost,
                    time: sums.time,
                    reached: sums.reached,
                    path: plan.paths.layer,
                    precision: plan.precision,
                    kernels: sums.kernels,
                    floors: sums.floors,
                    memory: Some(plan.footprint()),
                    host: plan.placement().zip(plan.sustained_host()).map(
                        |(placement, sustained)| HostMeasure {
                            placement,
                            sustained,
                            bytes: sums.there,
                        },
                    ),
                    roofs: roofs(&plan, request, &sums),
                })
            }
        }
    }
}

/// The roofs of the device. Those of several unlike cards have the bandwidth of one device that takes the same ideal time.
fn roofs(plan: &Plan<'_>, request: &EstimateRequest<'_>, sums: &Sums) -> Roofs {
    let mut roofs = plan.roofs.clone();
    if request.cards.is_some() {
        roofs.bandwidth = sums.cost.traffic.total() / sums.time.memory;
    }
    roofs
}

/// The plans of a model and its draft model.
pub(super) fn plans<'a>(
    request: &EstimateRequest<'a>,
) -> Result<(Plan<'a>, Option<Plan<'a>>), Error> {
    in_range("new_tokens", request.workload.new_tokens, 1, MAX_SUMMED)?;
    let plan = Plan::new(*request)?;
    if plan.link_unknown() {
        return Err(Error::UnknownFact { device: request.device.key.clone(), fact: "link" });
    }
    let draft = plan.draft()?;
    Ok((plan, draft))
}

fn operator(request: &AnalyzeRequest<'_>) -> Result<Measure, Error> {
    let answer = analyze(request)?;
    let kernels = answer.parts.len().max(1) as f64;
    let floors = match &answer.parts[..] {
        [] => answer.factors.floor,
        parts => parts.iter().map(|part| part.factors.floor).sum(),
    };
    Ok(Measure {
        span: Span { ideal: answer.ideal, expected: answer.expected },
        cost: answer.cost,
        time: answer.time,
        reached: answer.reached(),
        path: answer.path,
        roofs: Roofs::new(request.device, request.mode)?,
        precision: answer.precision,
        kernels,
        floors,
        memory: None,
        host: None,
    })
}
