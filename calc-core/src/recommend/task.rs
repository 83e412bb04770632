//! The work to recommend for, a matrix multiplication or a whole model, and its outcome with a scheme.
//!
//! This file is longer than 400 lines because both kinds of work share every step.

use super::bounds::Drop;
use super::model_run::{probe_model, run_model};
use super::outcome::{Outcome, PhaseWork};
use super::standing::{Aim, Standing};
use crate::analysis::{Analysis, AnalyzeRequest, Operator, analyze};
use crate::calibration::{Calibration, Engine, PairRatios};
use crate::cost::gemm::GemmShape;
use crate::device::{Device, PowerMode};
use crate::energy::{Energy, Power, mean_power};
use crate::error::Error;
use crate::lowering::Phase;
use crate::op::OpKind;
use crate::parallel::Parallel;
use crate::plan::{EstimateRequest, Limit, MeanToken};
use crate::precision::PrecisionChoice;
use crate::quant_format::QuantFormat;
use crate::roofline::Roofs;
use crate::scheme::{BadShape, Scheme, SchemeWeights, usual_engine};
use crate::units::{Bytes, Seconds};
use crate::weight_size::{PartBytes, WeightSize};
use crate::workload::{MAX_BATCH, MAX_TOKENS};

/// Number of rows that represents the other phase of a single shape.
pub const PREFILL_ROWS: u64 = 2048;

/// A single matrix multiplication on a device.
#[derive(Debug, Clone, Copy)]
pub struct ShapeTask<'a> {
    pub device: &'a Device,
    /// `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Memory that may be used, if less than the device leaves to a model.
    pub memory_limit: Option<Bytes>,
    /// The shape in `phase`.
    pub shape: GemmShape,
    pub phase: Phase,
    /// Engine whose factors apply; `None` for the device's usual engine.
    pub engine: Option<Engine>,
    pub calibration: &'a Calibration,
    /// [`run_shape`]. A pointer, so that a program without such a task drops the operators that only it needs.
    pub run: RunShape,
}

/// Evaluates a product with a scheme.
pub type RunShape = fn(&ShapeTask<'_>, &Roofs, &Scheme) -> Result<Outcome, Error>;

/// The work to run.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "one per request")]
pub enum Task<'a> {
    Shape(ShapeTask<'a>),
    Model(ModelTask<'a>),
}

/// A model with its workload.
#[derive(Debug, Clone, Copy)]
pub struct ModelTask<'a> {
    pub request: EstimateRequest<'a>,
    /// Formats in which the model is published.
    pub published: PrecisionChoice,
    /// Bytes of the weights in these formats, if they are known from files; other schemes have the size of their formats.
    pub files: Option<&'a PartBytes>,
    /// Runs the task. A function pointer lets the linker drop the model's operators from a program that never creates such
    /// a task.
    run: fn(&EstimateRequest<'_>) -> Result<Outcome, Error>,
    /// Computes the standing; a pointer for the same reason.
    probe: fn(&EstimateRequest<'_>, &Aim, f64) -> Result<Standing, Drop>,
}

impl<'a> ModelTask<'a> {
    /// Creates a task. Of the request's formats only KV cache and embedding are kept: the others are what is searched for.
    pub fn new(request: EstimateRequest<'a>, published: PrecisionChoice) -> Self {
        let files = None;
        Self { request, published, files, run: run_model, probe: probe_model }
    }

    /// This task with the known bytes of the weights as published.
    #[must_use]
    pub const fn with_files(self, files: Option<&'a PartBytes>) -> Self {
        Self { files, ..self }
    }

    /// The request with the formats of a scheme, and the size of the files where the scheme is what they hold.
    fn with_scheme(&self, roofs: &Roofs, scheme: &Scheme) -> EstimateRequest<'a> {
        let precision = scheme.choice(roofs, &self.request.precision, &self.published);
        let is_published = match scheme.weights {
            SchemeWeights::Published => true,
            SchemeWeights::Half => has_half(&self.published),
            SchemeWeights::Format(_) => false,
        };
        let weight_size = self.files.filter(|_| is_published).copied().map(WeightSize::Parts);
        EstimateRequest { precision, weight_size, ..self.request }
    }
}

/// True for weights of 16 bits in all layers.
fn has_half(stored: &PrecisionChoice) -> bool {
    let is_half = |format: &QuantFormat| format.bits_per_element().to_bits() == 16.0_f64.to_bits();
    is_half(stored.weights) && stored.experts.is_none_or(is_half)
}

/// An input that is varied to find changes of the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Rows of a single shape.
    Rows,
    /// Number of sequences of a model.
    Batch,
    /// Prompt length per sequence, in tokens; a context that ends with the prompt moves with it.
    Prompt,
    /// Prompt length per sequence without the tokens of images, as a request names it.
    Text,
    /// Number of cached tokens.
    Context,
}

impl Axis {
    /// The largest value of the axis.
    pub const fn most(self) -> u64 {
        match self {
            Self::Rows | Self::Batch => MAX_BATCH,
            Self::Prompt | Self::Text | Self::Context => MAX_TOKENS,
        }
    }
}

impl<'a> Task<'a> {
    /// The engine that the request names.
    pub const fn engine(&self) -> Option<Engine> {
        match self {
            Self::Shape(task) => task.engine,
            Self::Model(task) => task.request.engine,
        }
    }

    /// True if a part of the model may lie on the host of a card.
    pub(super) const fn has_host(&self) -> bool {
        match self {
            Self::Shape(_) => false,
            Self::Model(task) => task.request.host.is_some(),
        }
    }

    /// Upper limit of the memory in use; `None` leaves the limit to the device.
    pub const fn memory_limit(&self) -> Option<Bytes> {
        match self {
            Self::Shape(task) => task.memory_limit,
            Self::Model(task) => task.request.memory_limit,
        }
    }

    /// Largest ratio of two times of any part that the prediction cannot tell from 1.
    pub(crate) fn widest_pair_ratio(&self) -> f64 {
        let pairs = |calibration: &Calibration| calibration.intervals.pairs;
        match self {
            Self::Shape(task) => pairs(task.calibration).alone,
            Self::Model(task) => {
                let PairRatios { decode, prefill, .. } = pairs(task.request.calibration);
                decode.max(prefill)
            }
        }
    }

    /// True if devices exchange data over a link of unknown bandwidth.
    pub const fn lacks_link(&self) -> bool {
        match self {
            Self::Shape(_) => false,
            Self::Model(task) => task.request.lacks_link(),
        }
    }

    /// The device of the task.
    pub const fn device(&self) -> &'a Device {
        match self {
            Self::Shape(task) => task.device,
            Self::Model(task) => task.request.device,
        }
    }

    /// The power mode of the task; `None` for the device's own peaks.
    pub const fn mode(&self) -> Option<&'a PowerMode> {
        match self {
            Self::Shape(task) => task.mode,
            Self::Model(task) => task.request.mode,
        }
    }

    /// This task on another device.
    #[must_use]
    pub const fn on(mut self, device: &'a Device, mode: Option<&'a PowerMode>) -> Self {
        match &mut self {
            Self::Shape(task) => {
                task.device = device;
                task.mode = mode;
            }
            Self::Model(task) => {
                task.request.device = device;
                task.request.mode = mode;
            }
        }
        self
    }

    /// The current value of an axis.
    pub fn get(&self, axis: Axis) -> u64 {
        match (self, axis) {
            (Self::Shape(task), _) => task.shape.m,
            (Self::Model(task), Axis::Batch | Axis::Rows) => task.request.workload.batch,
            (Self::Model(task), Axis::Prompt) => task.request.workload.prompt,
            (Self::Model(task), Axis::Text) => task.request.workload.text(),
            (Self::Model(task), Axis::Context) => task.request.workload.context,
        }
    }

    /// The largest value of an axis that the model supports; the axis' own maximum if that is unknown.
    pub fn most(&self, axis: Axis) -> u64 {
        let tokens = match (self, axis) {
            (Self::Model(task), Axis::Prompt | Axis::Context) => task.request.model.max_context,
            (Self::Model(task), Axis::Text) => {
                let in_images = task.request.workload.in_images();
                task.request.model.max_context.map(|most| most.saturating_sub(in_images))
            }
            (Self::Model(_) | Self::Shape(_), _) => None,
        };
        tokens.map_or(axis.most(), |tokens| tokens.clamp(1, axis.most()))
    }

    /// This task with another value of an axis.
    #[must_use]
    pub fn at(mut self, axis: Axis, value: u64) -> Self {
        match (&mut self, axis) {
            (Self::Shape(task), _) => task.shape.m = value,
            (Self::Model(task), Axis::Batch | Axis::Rows) => {
                task.request.workload.batch = value;
            }
            (Self::Model(task), Axis::Prompt) => {
                task.request.workload = task.request.workload.with_prompt(value);
            }
            (Self::Model(task), Axis::Text) => {
                let workload = task.request.workload;
                task.request.workload = workload.with_prompt(workload.in_images() + value);
            }
            (Self::Model(task), Axis::Context) => task.request.workload.context = value,
        }
        self
    }

    /// Checks that a scheme supports the shapes of the matrices.
    pub(super) fn shapes(&self, scheme: &Scheme) -> Result<(), BadShape> {
        match self {
            Self::Shape(task) => {
                let GemmShape { n, k, .. } = task.shape;
                scheme.takes(OpKind::Gemm, n, k)?;
                // In a model a GGUF file stores such rows in another format; here that is another scheme.
                match scheme.weights {
                    SchemeWeights::Format(format) if format.pads(k) => Err(BadShape {
                        kind: OpKind::Gemm,
                        inputs: true,
                        count: k,
                        multiple: format.block,
                    }),
                    _ => Ok(()),
                }
            }
            Self::Model(ModelTask { request, .. }) => {
                let ways = request.workload.parallel.tensor;
                if ways > 1 && request.workload.parallel.check(request.model).is_ok() {
                    scheme.takes_model(&request.model.shard(ways))
                } else {
                    scheme.takes_model(request.model)
                }
            }
        }
    }

    /// Evaluates the task with a scheme.
    ///
    /// # Errors
    /// Any variant of [`Error`]; a link of unknown bandwidth.
    pub fn run(&self, roofs: &Roofs, scheme: &Scheme) -> Result<Outcome, Error> {
        match self {
            Self::Shape(task) => (task.run)(task, roofs, scheme),
            Self::Model(task) => (task.run)(&task.with_scheme(roofs, scheme)),
        }
    }

    /// The standing of a scheme with a quality loss [%], if it meets the bounds on memory and times: that of [`Task::run`],
    /// without the parts that do not affect it. A generation is summed less finely, within 1e-7.
    pub(super) fn probe(
        &self,
        roofs: &Roofs,
        scheme: &Scheme,
        aim: &Aim,
        loss: f64,
    ) -> Result<Standing, Drop> {
        match self {
            Self::Shape(task) => {
                let outcome = (task.run)(task, roofs, scheme).map_err(Drop::Refused)?;
                aim.admit(task.shape.m, &outcome)?;
                let weights = outcome.precision.weights;
                let engine =
                    task.engine.unwrap_or_else(|| usual_engine(task.device, weights, weights));
                let pairs = &task.calibration.intervals.pairs;
                Ok(aim.standing(&outcome, loss, (engine, pairs)))
            }
            Self::Model(task) => (task.probe)(&task.with_scheme(roofs, scheme), aim, loss),
        }
    }

    /// The estimate request with a scheme; `None` for a single shape.
    pub(crate) fn estimate_request(
        &self,
        roofs: &Roofs,
        scheme: &Scheme,
    ) -> Option<EstimateRequest<'a>> {
        match self {
            Self::Shape(_) => None,
            Self::Model(task) => Some(task.with_scheme(roofs, scheme)),
        }
    }
}

/// Evaluates a single product with a scheme, beside one row or [`PREFILL_ROWS`] of them as the other phase.
///
/// # Errors
/// Errors of [`analyze`].
pub fn run_shape(task: &ShapeTask<'_>, roofs: &Roofs, scheme: &Scheme) -> Result<Outcome, Error> {
    let half = PrecisionChoice::weights(roofs.half());
    let precision = scheme.choice(roofs, &half, &half);
    let at = |rows| {
        analyze(&AnalyzeRequest {
            device: task.device,
            mode: task.mode,
            operator: Operator::Gemm(GemmShape { m: rows, ..task.shape }),
            precision,
            engine: task.engine,
            calibration: task.calibration,
        })
    };
    let own = at(task.shape.m)?;
    let work = |answer: &Analysis| product_work(task, answer);
    let (prefill, decode) = match task.phase {
        Phase::Prefill => (work(&own), work(&at(1)?)),
        Phase::Decode => (work(&at(PREFILL_ROWS)?), work(&own)),
    };
    let energy = work(&own).energy;
    let token = MeanToken {
        batch: 1,
        ideal: decode.ideal,
        expected: decode.expected,
        energy: product_power(task, decode.ideal, decode.expected.time)
            .map(|power| Energy::of_token(power, decode.expected.time, 1)),
    };
    Ok(Outcome {
        precision: own.precision,
        prefill,
        decode,
        middle: decode,
        token,
        ttft: prefill.expected,
        whole: own.expected,
        batch_whole: own.expected,
        whole_energy: energy,
        memory: own.cost.traffic.total(),
        host: None,
        usable: task.device.usable_memory(task.memory_limit),
        placement: None,
    })
}

fn product_work(task: &ShapeTask<'_>, answer: &Analysis) -> PhaseWork {
    let (ideal, expected) = (answer.time.ideal(), answer.expected);
    let apart = [
        (Limit::Launch, answer.factors.floor),
        (Limit::Links, Seconds::ZERO),
        (Limit::Host, Seconds::ZERO),
    ];
    PhaseWork {
        expected,
        ideal,
        floors: answer.factors.floor,
        links: Seconds::ZERO,
        host: Seconds::ZERO,
        limit: Limit::of(expected.time, apart, answer.reached().bound()),
        compute: answer.time.compute,
        traffic: answer.cost.traffic,
        energy: product_power(task, ideal, expected.time).map(|power| power.all * expected.time),
    }
}

fn product_power(task: &ShapeTask<'_>, ideal: Seconds, expected: Seconds) -> Option<Power> {
    mean_power((task.device, task.mode), &Parallel::default(), ideal, expected)
}

/// A task that counts the standings it computes.
#[cfg(test)]
pub(crate) mod counted {
    extern crate std;

    use core::cell::Cell;

    use super::{Aim, Drop, EstimateRequest, ModelTask, Standing, probe_model};

    std::thread_local! {
        static STANDINGS: Cell<usize> = const { Cell::new(0) };
    }

    fn probe(request: &EstimateRequest<'_>, aim: &Aim, loss: f64) -> Result<Standing, Drop> {
        if !aim.only_limits {
            STANDINGS.set(STANDINGS.get() + 1);
        }
        probe_model(request, aim, loss)
    }

    pub(crate) fn counted<'a>(task: &ModelTask<'a>) -> ModelTask<'a> {
        ModelTask { probe, ..*task }
    }

    /// The standings computed on this thread since the last call.
    pub(crate) fn taken() -> usize {
        STANDINGS.take()
    }
}
