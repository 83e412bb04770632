//! A plan: everything that is constant over the steps of a model on a device, and the sums over the operators of a step.
//! A sweep prepares a [`Plan`] once and evaluates steps with it; evaluating a step does not allocate.

mod first_token;
mod series;
mod totals;

pub use first_token::Chunks;
pub use totals::{Span, StepTotals};

use alloc::vec::Vec;

use crate::calibration::Tuned;
use crate::calibration::machine::{Kernel, Setting};
use crate::device::Link;
use crate::error::{Error, real_in_range};
use crate::estimate::{EstimateRequest, PhaseEstimate, WEIGHT_BITS, WEIGHT_GB, WeightSize};
use crate::expected::{Expected, reached};
use crate::footprint::{
    DraftMemory, MemoryFootprint, footprint, kv_cache_bytes, stage_share, weight_bytes,
};
use crate::lowering::{Lowering, OpInstances, Step};
use crate::model_arch::ModelArch;
use crate::op::{OpKind, Path};
use crate::parallel::{Parallel, link_time};
use crate::precision::Precision;
use crate::roofline::{ComputePath, KernelTime, Roofline, Roofs};
use crate::units::{Bytes, Flops, FlopsPerSec, Seconds};
use crate::workload::Workload;

use series::{AGREED, AGREED_QUICKLY, DIRECT, KINKED, SMOOTH, Series};
use totals::OpTimes;

/// The peak that each group of matmuls runs on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paths {
    pub layer: ComputePath,
    pub expert: ComputePath,
    pub lm_head: ComputePath,
    /// Everything without quantized weights.
    pub carrier: ComputePath,
}

/// Operators of one name, summed over their instances; or the time of a step outside its kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpRow {
    pub kind: OpKind,
    /// Number of instances.
    pub count: u64,
    /// Sums over the instances.
    pub totals: StepTotals,
    /// The peak they run on.
    pub path: ComputePath,
}

/// Everything that is constant over the steps of one request.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    request: EstimateRequest<'a>,
    /// The roofs of the device in its power mode.
    pub roofs: Roofs,
    /// Storage format of every role.
    pub precision: Precision,
    pub paths: Paths,
    /// Factor on all weight bytes, see [`WeightSize`].
    pub weight_scale: f64,
    part: Option<ModelArch>,
    link: Option<Link>,
    /// The factors of the device with the selected engine.
    pub tuned: Tuned<'a>,
}

impl<'a> Plan<'a> {
    /// Checks the request and fixes formats, peaks and the model's shard on one device.
    ///
    /// # Errors
    /// Any variant of [`Error`].
    pub fn new(request: EstimateRequest<'a>) -> Result<Self, Error> {
        let EstimateRequest { device, mode, model, workload, .. } = request;
        workload.check()?;
        model.check()?;
        workload.parallel.check(model)?;
        let roofs = Roofs::new(device, mode)?;
        let precision = request.precision.of_engine(request.engine, model, &roofs).resolve(&roofs);
        let carrier = roofs.compute_path(precision.carrier, precision.carrier)?;
        let paths = Paths {
            layer: roofs.compute_path(precision.weights, precision.activations)?,
            expert: roofs.compute_path(precision.experts, precision.activations)?,
            lm_head: roofs.compute_path(precision.embedding, precision.carrier)?,
            carrier,
        };
        let link = device.link.filter(|_| workload.parallel.exchanges()).map(|link| link.value);
        let part = (workload.parallel.tensor > 1).then(|| model.shard(workload.parallel.tensor));
        let weight_scale = weight_scale(model, &precision, request.size())?;
        let tuned = request.calibration.tuned(device, mode, request.engine);
        let mut plan = Self { request, roofs, precision, paths, weight_scale, part, link, tuned };
        if let Some(WeightSize::Streamed(bytes)) = request.weight_size {
            let gb = real_in_range("streamed_gb", bytes.get() / 1e9, 1e-6, 1e6)?;
            plan.weight_scale = Bytes::from_gb(gb) / plan.streamed();
        }
        Ok(plan)
    }

    /// Bytes of weights that the decode step of the request reads; rows of the embedding table are not counted.
    fn streamed(&self) -> Bytes {
        let Workload { batch, context, .. } = self.request.workload;
        let mut read = Bytes::ZERO;
        self.lowering().step(Step::decode(batch, context), &mut |op| {
            if op.kind != OpKind::Embedding {
                read += op.cost.traffic.weights * op.count as f64;
            }
        });
        read
    }

    /// The model's shard on one device.
    pub fn model(&self) -> &ModelArch {
        self.part.as_ref().unwrap_or(self.request.model)
    }

    fn lowering(&self) -> Lowering<'_> {
        let expert_parallel = self.request.workload.parallel.expert;
        Lowering { model: self.model(), precision: &self.precision, expert_parallel }
    }

    fn path(&self, path: Path) -> ComputePath {
        match path {
            Path::Layer => self.paths.layer,
            Path::Expert => self.paths.expert,
            Path::LmHead => self.paths.lm_head,
            Path::Carrier => self.paths.carrier,
        }
    }

    fn times(&self, op: &OpInstances, setting: Setting) -> OpTimes {
        let mut cost = op.cost;
        cost.traffic.weights = cost.traffic.weights * self.weight_scale;
        let path = self.path(op.path);
        let roofline = Roofline { peak: path.peak, bandwidth: self.roofs.bandwidth };
        let time = roofline.op_time(&cost);
        let kernel =
            Kernel { shape: &op.shape, cost: &cost, path: &path, time, format: op.format, setting };
        let factors = self.tuned.factors(op.kind, &kernel);
        let floor = if time.memory > Seconds::ZERO { factors.floor } else { Seconds::ZERO };
        OpTimes { cost, time, expected: Expected::of(time, &factors), floor, factors }
    }

    /// Sums over the operators of a step, without the time on links. Does not allocate.
    pub fn step(&self, step: Step) -> StepTotals {
        let mut totals = StepTotals::nothing();
        let setting = step.setting();
        self.lowering()
            .step(step, &mut |op| totals.add(&self.times(&op, setting), op.count as f64));
        self.add_overhead(&mut totals, setting);
        totals
    }

    /// Visits the kernels of a step with their peaks and ideal times.
    pub fn kernels(
        &self,
        step: Step,
        visit: &mut impl FnMut(OpInstances, ComputePath, KernelTime),
    ) {
        self.lowering().step(step, &mut |mut op| {
            op.cost.traffic.weights = op.cost.traffic.weights * self.weight_scale;
            let path = self.path(op.path);
            let roofline = Roofline { peak: path.peak, bandwidth: self.roofs.bandwidth };
            let time = roofline.op_time(&op.cost);
            visit(op, path, time);
        });
    }

    /// Adds the overhead of a step outside its kernels.
    fn add_overhead(&self, totals: &mut StepTotals, setting: Setting) {
        *totals = totals.then(&StepTotals::outside_kernels(self.overhead(setting)));
    }

    fn overhead(&self, setting: Setting) -> Expected {
        let Setting::Step { batch, prefill } = setting else { return Expected::ZERO };
        Expected::fixed(&self.tuned.step(batch, prefill))
    }

    /// Sums over the operators of a step, with the time on links. Does not allocate.
    pub fn timed_step(&self, step: Step) -> StepTotals {
        let mut totals = self.step(step);
        totals.expected = totals.expected.then(self.link_expected(step));
        totals
    }

    /// Memory of one device of the group.
    pub fn footprint(&self) -> MemoryFootprint {
        self.footprint_of(&self.request.workload)
    }

    /// Memory of one device of the group for another workload with the same split.
    pub fn footprint_of(&self, workload: &Workload) -> MemoryFootprint {
        let EstimateRequest { device, memory_limit, .. } = self.request;
        let (model, precision) = (self.model(), &self.precision);
        let place = (device, memory_limit);
        let largest = (self.largest_step(workload), self.weight_scale);
        let own = footprint(place, model, precision, workload, largest);
        let draft = self.draft_request().map(|draft| {
            let precision = draft.precision.resolve(&self.roofs);
            let workload = alone(*workload);
            let largest = (self.largest_step(&workload), 1.0);
            let MemoryFootprint { weights, kv_cache, activations, .. } =
                footprint(place, draft.model, &precision, &workload, largest);
            DraftMemory { weights, kv_cache, activations }
        });
        MemoryFootprint { draft, ..own }
    }

    /// KV cache bytes of one device, including the draft model's, at a context, or at the end of the generation where that is
    /// longer.
    pub fn kv_caches_at(&self, context: u64) -> Bytes {
        let workload = Workload { context, ..self.request.workload };
        let (batch, tokens) = (workload.batch, workload.longest());
        let share = stage_share(self.model(), &workload.parallel);
        let own = kv_cache_bytes(self.model(), &self.precision, batch, tokens) * share;
        let draft = self.draft_request().map_or(Bytes::ZERO, |draft| {
            kv_cache_bytes(draft.model, &draft.precision.resolve(&self.roofs), batch, tokens)
        });
        own + draft
    }

    /// The time of a step on the links.
    fn link_expected(&self, step: Step) -> Expected {
        self.link.map_or(Expected::ZERO, |link| {
            let Workload { parallel, .. } = &self.request.workload;
            Expected::assumed(link_time(
                self.request.model,
                parallel,
                step,
                self.precision.carrier,
                &link,
            ))
        })
    }

    /// True if devices exchange data over a link of unknown bandwidth.
    pub fn link_unknown(&self) -> bool {
        self.link.is_none() && self.request.workload.parallel.exchanges()
    }

    /// The full estimate of a step.
    pub fn phase(&self, step: Step) -> PhaseEstimate {
        let mut operators: Vec<OpRow> = Vec::with_capacity(24);
        let mut totals = StepTotals::nothing();
        let mut kernels = KernelTime::ZERO;
        let mut half_bytes = Seconds::ZERO;
        let setting = step.setting();
        self.lowering().step(step, &mut |op| {
            let (times, count) = (self.times(&op, setting), op.count as f64);
            totals.add(&times, count);
            kernels = kernels.plus(reached(times.time, &times.factors).times(count));
            half_bytes += Expected::with_half_the_bytes(times.time, &times.factors) * count;
            let row = operators.iter_mut().find(|row| row.kind == op.kind);
            if let Some(row) = row {
                row.count += op.count;
                row.totals.add(&times, count);
            } else {
                let mut row = OpRow {
                    kind: op.kind,
                    count: op.count,
                    totals: StepTotals::nothing(),
                    path: self.path(op.path),
                };
                row.totals.add(&times, count);
                operators.push(row);
            }
        });
        let overhead = StepTotals::outside_kernels(self.overhead(setting));
        let links = StepTotals {
            floors: Seconds::ZERO,
            ..StepTotals::outside_kernels(self.link_expected(step))
        };
        for (kind, outside) in [(OpKind::Step, overhead), (OpKind::Links, links)] {
            totals = totals.then(&outside);
            half_bytes += outside.expected.time;
            if outside.expected.time > Seconds::ZERO {
                operators.push(OpRow { kind, count: 1, totals: outside, path: self.paths.carrier });
            }
        }
        let roofline = Roofline { peak: self.paths.layer.peak, bandwidth: self.roofs.bandwidth };
        let peak = fastest_peak(roofline.peak, &operators);
        let streamed = totals.cost.traffic.weights + totals.cost.traffic.kv_cache;
        PhaseEstimate {
            bound: totals.time.bound(),
            expected_bound: kernels.bound(),
            half_bytes,
            ridge: roofline.ridge(),
            mfu: (totals.cost.flops / peak) / totals.expected.time,
            mbu: (streamed / roofline.bandwidth) / totals.expected.time,
            totals,
            operators,
        }
    }

    /// Time per output token at a context, ideal and expected.
    ///
    /// ```text
    /// TPOT = decode                                                         without speculation
    /// TPOT = (n decode steps of the draft + a step with q = n + 1) / tokens per round
    /// ```
    pub fn token(&self, draft: Option<&Self>, cached: u64) -> Span {
        let Workload { batch, speculation, .. } = self.request.workload;
        if speculation.is_none() {
            return self.timed_step(Step::decode(batch, cached)).span();
        }
        let fixed = self.round_part(draft, cached, Part::Fixed);
        fixed.then(self.round_part(draft, cached, Part::Attention))
    }

    /// The decode steps at i = 0, 1, …, `new_tokens` - 2 tokens after the prompt, each at its own context.
    ///
    /// Only attention depends on the context, so everything else is computed once. The sum is exact up to 512 steps; longer
    /// sums are computed by blocks, within 1e-9 of the exact sum.
    pub fn generation(&self, draft: Option<&Self>) -> Span {
        let Workload { new_tokens, .. } = self.request.workload;
        let (prompt, count) = (self.request.workload.filled(), new_tokens - 1);
        if count <= DIRECT {
            let fixed = self.round_part(draft, prompt, Part::Fixed).times(count as f64);
            let attention = |i| self.round_part(draft, prompt + i, Part::Attention);
            return (0..count).fold(fixed, |sum, i| sum.then(attention(i)));
        }
        let smooth = self.generation_by_blocks(draft, SMOOTH, AGREED);
        let kinked = self.generation_by_blocks(draft, KINKED, AGREED);
        let provenance = smooth.then(kinked).expected.provenance;
        let expected = Expected { low: kinked.expected.low, provenance, ..smooth.expected };
        Span { ideal: kinked.ideal, expected }
    }

    /// The expected time of [`Plan::generation`] and its slow end within 1e-9, for searches. The fast end, which has a kink
    /// where it meets the roof, is less exact.
    pub(crate) fn quick_generation(&self, draft: Option<&Self>) -> Expected {
        self.generation_by_blocks(draft, SMOOTH, AGREED_QUICKLY).expected
    }

    fn generation_by_blocks(
        &self,
        draft: Option<&Self>,
        watched: [fn(&Span) -> Seconds; 2],
        agreed: f64,
    ) -> Span {
        let Workload { new_tokens, .. } = self.request.workload;
        let (prompt, count) = (self.request.workload.filled(), new_tokens - 1);
        let fixed = self.round_part(draft, prompt, Part::Fixed).times(count as f64);
        let attention = |cached| self.round_part(draft, cached, Part::Attention);
        let kinks = &self.windows_full(draft);
        let series = Series { from: prompt, count, kinks, watched, agreed };
        fixed.then(series.sum(&attention))
    }

    /// The contexts at which a step starts and ends filling the windows, of the model and of its draft model.
    fn windows_full(&self, draft: Option<&Self>) -> [u64; 8] {
        let drafted = self.request.workload.speculation.map_or(0, |drafted| drafted.draft_tokens);
        let mut kinks = [0; 8];
        let mut place = kinks.iter_mut();
        for (plan, new) in [(Some(self), drafted + 1), (draft, 1)] {
            for (_, window) in plan.iter().flat_map(|plan| plan.model().attention_kinds()) {
                let window = window.unwrap_or(0);
                for (place, kink) in place.by_ref().zip([window.saturating_sub(new), window]) {
                    *place = kink;
                }
            }
        }
        kinks
    }

    /// The plan of the draft model, alone on one device, if there is one.
    ///
    /// # Errors
    /// The errors of the draft model's own estimate.
    pub fn draft(&self) -> Result<Option<Self>, Error> {
        self.draft_request().map(Self::new).transpose()
    }

    /// The request for the draft model, if there is one.
    fn draft_request(&self) -> Option<EstimateRequest<'a>> {
        let model = self.request.draft?;
        self.request.workload.speculation?;
        let workload = alone(self.request.workload);
        Some(EstimateRequest { model, workload, draft: None, weight_size: None, ..self.request })
    }

    fn round_part(&self, draft: Option<&Self>, cached: u64, part: Part) -> Span {
        let batch = self.request.workload.batch;
        let Some(speculation) = self.request.workload.speculation else {
            return self.step_part(Step::decode(batch, cached), part);
        };
        let n = speculation.draft_tokens;
        let verify = Step::verify(batch, n + 1, cached);
        let own = self.step_part(verify, part);
        let drafts =
            draft.map_or(Span::ZERO, |draft| draft.step_part(Step::decode(batch, cached), part));
        own.then(drafts.times(n as f64)).times(1.0 / speculation.tokens_per_round())
    }

    /// The part of a step that depends on the context, or the rest with the time on links.
    fn step_part(&self, step: Step, part: Part) -> Span {
        let mut sum = Span::ZERO;
        let setting = step.setting();
        let mut add = |op: OpInstances| {
            let times = self.times(&op, setting);
            let one = Span { ideal: times.time.ideal(), expected: times.expected };
            sum = sum.then(one.times(op.count as f64));
        };
        match part {
            Part::Attention => self.lowering().attention(step, &mut add),
            Part::Fixed => {
                self.lowering().step(step, &mut |op| {
                    if op.kind != OpKind::Attention {
                        add(op);
                    }
                });
                let overhead = self.overhead(setting).then(self.link_expected(step));
                sum.expected = sum.expected.then(overhead);
            }
        }
        sum
    }
}

/// The peak of the layers' matmuls, or a higher one that other operators use: experts in a narrower format, attention beside
/// FP32 weights.
fn fastest_peak(layers: FlopsPerSec, operators: &[OpRow]) -> FlopsPerSec {
    let computes = |row: &&OpRow| row.totals.cost.flops > Flops::ZERO;
    operators.iter().filter(computes).fold(layers, |peak, row| peak.max(row.path.peak))
}

/// The two parts of a decode step.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Depends on the number of cached tokens.
    Attention,
    /// Independent of the number of cached tokens.
    Fixed,
}

/// The workload on one device and without drafts.
fn alone(workload: Workload) -> Workload {
    Workload { parallel: Parallel::default(), speculation: None, ..workload }
}

/// Ratio of the known weight bytes to those computed from the formats.
fn weight_scale(
    model: &ModelArch,
    precision: &Precision,
    size: Option<WeightSize>,
) -> Result<f64, Error> {
    let computed = weight_bytes(model, precision);
    let known = match size {
        // `Plan::new` scales by the streamed bytes, because that needs the kernels of a step.
        None | Some(WeightSize::Streamed(_)) => return Ok(1.0),
        Some(WeightSize::Total(bytes)) => {
            Bytes::from_gb(real_in_range("weight_gb", bytes.get() / 1e9, WEIGHT_GB.0, WEIGHT_GB.1)?)
        }
        Some(WeightSize::BitsPerWeight(bits)) => Bytes::from_bits(
            real_in_range("weight_bits", bits, WEIGHT_BITS.0, WEIGHT_BITS.1)?
                * model.n_params() as f64,
        ),
    };
    Ok(known / computed)
}
