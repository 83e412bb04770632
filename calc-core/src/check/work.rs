//! The work behind a claim: one operator, one token of each sequence, or a whole answer; and the model's values for it.

use core::ops::Add;

use crate::analysis::{AnalyzeRequest, analyze};
use crate::calibration::Engine;
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range};
use crate::estimate::{EstimateRequest, WeightSize};
use crate::footprint::MemoryFootprint;
use crate::lowering::Step;
use crate::op::OpCost;
use crate::plan::{Plan, Span, StepTotals};
use crate::precision::{Precision, PrecisionChoice};
use crate::roofline::{ComputePath, KernelTime, Roofs};
use crate::units::Seconds;
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
            Self::Token(request) => {
                let (plan, draft) = plans(request)?;
                Ok(plan.token(draft.as_ref(), request.workload.context))
            }
            Self::Answer(request) => {
                let (plan, draft) = plans(request)?;
                Ok(plan.first_token().span().then(plan.generation(draft.as_ref())))
            }
        }
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
                    roofs: plan.roofs,
                })
            }
        }
    }
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
    })
}

/// Sums over steps, which are interpolated between contexts.
#[derive(Debug, Clone, Copy)]
struct Sums {
    cost: OpCost,
    time: KernelTime,
    reached: KernelTime,
    kernels: f64,
    floors: Seconds,
}

impl Sums {
    fn of(totals: &StepTotals) -> Self {
        let StepTotals { cost, time, reached, kernels, floors, .. } = *totals;
        Self { cost, time, reached, kernels, floors }
    }

    fn of_step(plan: &Plan<'_>, step: Step) -> Self {
        Self::of(&plan.step(step))
    }

    fn times(&self, count: f64) -> Self {
        Self {
            cost: self.cost.times(count),
            time: self.time.times(count),
            reached: self.reached.times(count),
            kernels: self.kernels * count,
            floors: self.floors * count,
        }
    }

    /// Interpolates from these sums to others, by a share from 0 to 1.
    fn towards(&self, other: &Self, share: f64) -> Self {
        self.times(1.0 - share) + other.times(share)
    }

    fn is_near(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        near(self.cost.flops.get(), other.cost.flops.get())
            && near(self.cost.traffic.total().get(), other.cost.traffic.total().get())
    }
}

impl Add for Sums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cost: self.cost.plus(&other.cost),
            time: self.time.plus(other.time),
            reached: self.reached.plus(other.reached),
            kernels: self.kernels + other.kernels,
            floors: self.floors + other.floors,
        }
    }
}

/// One token of each sequence at a context; with drafts, a round divided by its tokens.
fn token_sums(
    plan: &Plan<'_>,
    draft: Option<&Plan<'_>>,
    request: &EstimateRequest<'_>,
    cached: u64,
) -> Sums {
    let batch = request.workload.batch;
    let Some(speculation) = request.workload.speculation else {
        return Sums::of_step(plan, Step::decode(batch, cached));
    };
    let n = speculation.draft_tokens;
    let verify = Step::verify(batch, n + 1, cached);
    let own = Sums::of_step(plan, verify);
    let drafts = draft.map(|draft| Sums::of_step(draft, Step::decode(batch, cached)));
    let round = drafts.map_or(own, |drafts| own + drafts.times(n as f64));
    round.times(1.0 / speculation.tokens_per_round())
}

/// The prompt and every token after the first, each at its own context.
fn answer_sums(plan: &Plan<'_>, draft: Option<&Plan<'_>>, request: &EstimateRequest<'_>) -> Sums {
    let workload = &request.workload;
    let prompt = Sums::of(&plan.first_token());
    if workload.new_tokens == 1 {
        return prompt;
    }
    let at = |cached| token_sums(plan, draft, request, cached);
    let first = workload.filled();
    let last = first + workload.new_tokens - 2;
    prompt + series(first, last, (at(first), at(last)), &at)
}

/// The sum over all contexts from `first` to `last`, given the two ends.
///
/// Costs are linear in the context, with a smaller slope once a window is full. Where the middle lies on the line
/// between the ends, all values do; elsewhere the halves are summed separately.
fn series(first: u64, last: u64, (a, b): (Sums, Sums), at: &impl Fn(u64) -> Sums) -> Sums {
    let count = last - first + 1;
    if count == 1 {
        return a;
    }
    let middle = first + (last - first) / 2;
    let share = (middle - first) as f64 / (last - first) as f64;
    let found = at(middle);
    if count == 2 || found.is_near(&a.towards(&b, share)) {
        return (a + b).times(count as f64 / 2.0);
    }
    series(first, middle, (a, found), at) + series(middle + 1, last, (at(middle + 1), b), at)
}
