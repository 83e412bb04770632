//! A device of a plan, with its roofs and factors: the times of operators on it.

use super::totals::{HostTime, OpTimes, Unlike};
use super::{Paths, Plan};
use crate::calibration::Tuned;
use crate::calibration::machine::{Kernel, Setting};
use crate::device::Device;
use crate::expected::{Expected, reached};
use crate::lowering::OpInstances;
use crate::roofline::Roofline;
use crate::units::{Bytes, BytesPerSec, Seconds};

/// A device of a plan: its own one, or another card.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) device: &'p Device,
    pub(super) memory_limit: Option<Bytes>,
    pub(super) bandwidth: BytesPerSec,
    pub(super) paths: &'p Paths,
    pub(super) tuned: &'p Tuned<'p>,
}

impl Place<'_> {
    /// The times of an operator on this device, with a factor on its weight bytes.
    pub(super) fn times(&self, op: &OpInstances, setting: Setting, weight_scale: f64) -> OpTimes {
        let Self { bandwidth, paths, tuned, .. } = *self;
        let mut cost = op.cost;
        cost.traffic.weights = cost.traffic.weights * weight_scale;
        let path = paths.of_op(op.path);
        let roofline = Roofline { peak: path.peak, bandwidth };
        let time = roofline.op_time(&cost);
        let kernel =
            Kernel { shape: &op.shape, cost: &cost, path: &path, time, format: op.format, setting };
        let factors = tuned.factors(op.kind, &kernel);
        let floor = if time.memory > Seconds::ZERO { factors.floor } else { Seconds::ZERO };
        let expected = Expected::of(time, &factors);
        let (host, busy, unlike) = (HostTime::NONE, time.ideal(), Unlike::OWN);
        let reached = reached(time, &factors);
        OpTimes { cost, time, reached, expected, floor, host, busy, factors, unlike }
    }
}

impl Plan<'_> {
    /// The own device of the plan.
    pub(super) const fn own_place(&self) -> Place<'_> {
        Place {
            device: self.request.device,
            memory_limit: self.request.memory_limit,
            bandwidth: self.roofs.bandwidth,
            paths: &self.paths,
            tuned: &self.tuned,
        }
    }
}
