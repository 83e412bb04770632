//! A plan: everything that is constant over the steps of a model on a device, and the sums over the operators of a step.
//! A sweep prepares a [`Plan`] once and evaluates steps with it; evaluating a step does not allocate.

mod cards;
mod first_token;
mod generation;
mod images;
mod memory;
mod phase;
mod place;
mod request;
mod series;
mod tiers;
mod totals;

pub use cards::{Card, CardLoad, Cards};
pub use first_token::Chunks;
pub use generation::MeanToken;
pub use images::ImageEstimate;
pub use phase::{LayerRow, OpRow, PhaseEstimate};
pub use request::{Draft, EstimateRequest, serving_engine};
pub use tiers::Behind;
pub use totals::{Limit, Resource, Span, StepTotals};

use alloc::vec::Vec;

use crate::calibration::machine::Setting;
use crate::calibration::{Engine, Tuned};
use crate::device::Link;
use crate::error::{Error, real_in_range};
use crate::expected::Expected;
use crate::footprint::weight_bytes;
use crate::lowering::{Lowering, OpInstances, Step};
use crate::model_arch::ModelArch;
use crate::op::{OpKind, Path};
use crate::parallel::{Stage, link_time};
use crate::precision::Precision;
use crate::roofline::{ComputePath, KernelTime, Roofline, Roofs};
use crate::units::Bytes;
use crate::weight_size::{WEIGHT_GB, WeightScale, WeightSize};
use crate::workload::Workload;

use cards::{Asked, Seats};
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

impl Paths {
    /// The peaks of a device for some formats.
    fn of(roofs: &Roofs, precision: &Precision) -> Result<Self, Error> {
        let carrier = roofs.compute_path(precision.carrier, precision.carrier)?;
        Ok(Self {
            layer: roofs.compute_path(precision.weights, precision.layer_inputs())?,
            expert: roofs.compute_path(precision.experts, precision.activations)?,
            lm_head: roofs.compute_path(precision.lm_head, precision.carrier)?,
            carrier,
        })
    }

    /// The peak that an operator runs on.
    const fn of_op(&self, path: Path) -> ComputePath {
        match path {
            Path::Layer => self.layer,
            Path::Expert => self.expert,
            Path::LmHead => self.lm_head,
            Path::Carrier => self.carrier,
        }
    }
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
    /// Unlike cards after the own device, where `stages` are those of the cards.
    seats: Option<Seats<'a>>,
}

/// A request, as far as several cards depend on it.
const fn asked<'a>(request: &EstimateRequest<'a>, engine: Engine) -> Asked<'a> {
    Asked {
        first: request.device,
        engine,
        calibration: request.calibration,
        parallel: request.workload.parallel,
        others: [
            ("host", request.host.is_some()),
            ("power_mode", request.mode.is_some()),
            ("draft_model", request.draft.is_some()),
        ],
    }
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
        // A card may have no layers, a stage of equal devices has some.
        match request.cards {
            None => workload.parallel.check(model)?,
            Some(_) => workload.parallel.check_layers(model)?,
        }
        let roofs = Roofs::new(device, mode)?;
        let engine = request.engine();
        let mut precision = request
            .precision
            .filled(Some(engine), device, model, &roofs)
            .resolve_model(model, &roofs);
        let part = (workload.parallel.tensor > 1).then(|| model.shard(workload.parallel.tensor));
        if let Some(part) = &part {
            let (stored, models) = (precision.stored(), (model, part));
            precision.mixture =
                precision.mixture.of_shard(stored, models, workload.parallel.tensor);
        }
        let paths = Paths::of(&roofs, &precision)?;
        let link = device.link.filter(|_| workload.parallel.devices() > 1).map(|link| link.value);
        let stages = workload.parallel.pipeline.cut(part.as_ref().unwrap_or(model), engine);
        let weight_scale = weight_scale(model, &precision, request.weight_size)?;
        let mut tuned = request.calibration.tuned(device, mode, Some(engine), precision.stored());
        tuned.basis.is_named = request.engine.is_some();
        tuned.basis.exchanges = workload.parallel.devices() > 1;
        let draft = memory::stored_draft(&request, &roofs)?;
        let place = (device, &workload);
        let stored = (part.as_ref().unwrap_or(model), &precision);
        let tiers = request.host.map(|host| Tiers::of(host, place, stored, tuned.engine));
        let tiers = tiers.transpose()?;
        let asked = asked(&request, engine);
        let seats = request.cards.map(|cards| Seats::of(cards, &asked, (model, &precision)));
        let seats = seats.transpose()?;
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
            seats,
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
        self.paths.of_op(path)
    }

    fn times(&self, op: &OpInstances, setting: Setting) -> OpTimes {
        self.times_scaled(op, setting, self.weight_scale.of(op.kind, op.path))
    }

    fn times_scaled(&self, op: &OpInstances, setting: Setting, weight_scale: f64) -> OpTimes {
        self.own_place().times(op, setting, weight_scale)
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
        self.lowering().step(step, &mut |mut op| {
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
        if let Some(seats) = &self.seats {
            return self.link_on_seats(seats, step);
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
