//! A plan: everything that is constant over the steps of a model on a device, and the sums over the operators of a step.
//! A sweep prepares a [`Plan`] once and evaluates steps with it; evaluating a step does not allocate.

mod first_token;
mod generation;
mod images;
mod memory;
mod phase;
mod request;
mod series;
mod tiers;
mod totals;

pub use first_token::Chunks;
pub use generation::MeanToken;
pub use images::ImageEstimate;
pub use phase::{LayerRow, OpRow, PhaseEstimate};
pub use request::{Draft, EstimateRequest, serving_engine};
pub use tiers::Behind;
pub use totals::{Limit, Span, StepTotals};

use alloc::vec::Vec;

use crate::calibration::Tuned;
use crate::calibration::machine::{Kernel, Setting};
use crate::device::Link;
use crate::error::{Error, real_in_range};
use crate::expected::Expected;
use crate::footprint::weight_bytes;
use crate::lowering::{Lowering, OpInstances, Step};
use crate::model_arch::ModelArch;
use crate::op::{OpKind, Path};
use crate::parallel::{Stage, link_time, stage_layers};
use crate::precision::Precision;
use crate::roofline::{ComputePath, KernelTime, Roofline, Roofs};
use crate::units::{Bytes, Seconds};
use crate::weight_size::{WEIGHT_GB, WeightScale, WeightSize};
use crate::workload::Workload;

use memory::{StoredDraft, weight_scale};
use tiers::Tiers;
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

/// Everything that is constant over the steps of one request.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    request: EstimateRequest<'a>,
    /// The roofs of the device in its power mode.
    pub roofs: Roofs,
    /// Storage format of every role.
    pub precision: Precision,
    pub paths: Paths,
    /// Factors on the weight bytes, see [`WeightSize`].
    pub weight_scale: WeightScale,
    draft: Option<StoredDraft<'a>>,
    part: Option<ModelArch>,
    /// The stages of a pipeline; none without one.
    stages: Vec<Stage>,
    link: Option<Link>,
    /// The factors of the device with the selected engine.
    pub tuned: Tuned<'a>,
    /// The host, and what lies there.
    tiers: Option<Tiers<'a>>,
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
        let engine = request.engine();
        let precision = request
            .precision
            .filled(Some(engine), device, model, &roofs)
            .resolve_model(model, &roofs);
        let carrier = roofs.compute_path(precision.carrier, precision.carrier)?;
        let paths = Paths {
            layer: roofs.compute_path(precision.weights, precision.layer_inputs())?,
            expert: roofs.compute_path(precision.experts, precision.activations)?,
            lm_head: roofs.compute_path(precision.lm_head, precision.carrier)?,
            carrier,
        };
        let link = device.link.filter(|_| workload.parallel.devices() > 1).map(|link| link.value);
        let part = (workload.parallel.tensor > 1).then(|| model.shard(workload.parallel.tensor));
        let stages = match workload.parallel.pipeline {
            1 => Vec::new(),
            stages => Stage::of_counts(
                part.as_ref().unwrap_or(model),
                &stage_layers(engine, model.n_layers, stages),
            ),
        };
        let weight_scale = weight_scale(model, &precision, request.weight_size)?;
        let mut tuned = request.calibration.tuned(device, mode, Some(engine), precision.stored());
        tuned.basis.is_named = request.engine.is_some();
        tuned.basis.exchanges = workload.parallel.devices() > 1;
        let draft = memory::stored_draft(&request, &roofs)?;
        let place = (device, &workload);
        let tiers = request.host.map(|host| Tiers::of(host, place, tuned.engine)).transpose()?;
        let mut plan = Self {
            request,
            roofs,
            precision,
            paths,
            weight_scale,
            draft,
            part,
            stages,
            link,
            tuned,
            tiers,
        };
        if let Some(WeightSize::Streamed(bytes)) = request.weight_size {
            let all = weight_bytes(plan.model(), &plan.precision).get() / 1e9;
            let gb = real_in_range("streamed_gb", bytes.get() / 1e9, WEIGHT_GB.0, all)?;
            plan.weight_scale = WeightScale::alike(Bytes::from_gb(gb) / plan.streamed());
        }
        plan.place();
        Ok(plan)
    }

    /// Bytes of weights that the decode step of the request reads; rows of the embedding table are not counted.
    fn streamed(&self) -> Bytes {
        let Workload { batch, context, .. } = self.request.workload;
        let mut read = Bytes::ZERO;
        self.lowering().each(Step::decode(batch, context), &mut |op| {
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

    /// Replaces the workload by another one with the same split and drafts, which are all that the plan depends on.
    pub(crate) fn set_workload(&mut self, workload: Workload) {
        self.request.workload = workload;
        self.place();
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
        self.times_scaled(op, setting, self.weight_scale.of(op.kind, op.path))
    }

    fn times_scaled(&self, op: &OpInstances, setting: Setting, weight_scale: f64) -> OpTimes {
        let mut cost = op.cost;
        cost.traffic.weights = cost.traffic.weights * weight_scale;
        let path = self.path(op.path);
        let roofline = Roofline { peak: path.peak, bandwidth: self.roofs.bandwidth };
        let time = roofline.op_time(&cost);
        let kernel =
            Kernel { shape: &op.shape, cost: &cost, path: &path, time, format: op.format, setting };
        let factors = self.tuned.factors(op.kind, &kernel);
        let floor = if time.memory > Seconds::ZERO { factors.floor } else { Seconds::ZERO };
        let expected = Expected::of(time, &factors);
        OpTimes { cost, time, expected, floor, host: Seconds::ZERO, busy: time.ideal(), factors }
    }

    /// Sums over the operators of a step, without the time on links. Does not allocate.
    pub fn step(&self, step: Step) -> StepTotals {
        let mut totals = StepTotals::nothing();
        self.lowering().step(step, &mut |op| {
            self.placed(&op, step, &mut |times, count| totals.add(times, count));
        });
        self.add_overhead(&mut totals, step.setting());
        totals
    }

    /// Visits the kernels of a step with their peaks and ideal times.
    pub fn kernels(
        &self,
        step: Step,
        visit: &mut impl FnMut(OpInstances, ComputePath, KernelTime),
    ) {
        self.lowering().each(step, &mut |mut op| {
            let scale = self.weight_scale.of(op.kind, op.path);
            op.cost.traffic.weights = op.cost.traffic.weights * scale;
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
        self.step(step).then(&StepTotals::on_links(self.link_expected(step)))
    }

    /// The time of a step on the links: between devices, and between card and host.
    fn link_expected(&self, step: Step) -> Expected {
        if let Some(tiers) = &self.tiers {
            return tiers.crossings(self.model(), step);
        }
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
    pub const fn link_unknown(&self) -> bool {
        self.request.lacks_link()
    }

    /// The plan of the draft model, alone on one device, if there is one.
    ///
    /// # Errors
    /// The errors of the draft model's own estimate.
    pub fn draft(&self) -> Result<Option<Self>, Error> {
        self.request.draft_alone().map(Self::new).transpose()
    }
}
