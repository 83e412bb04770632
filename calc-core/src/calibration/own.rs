//! Rows of own measurements, which go before the model.

use crate::op::OpKind;
use crate::provenance::Provenance;
use crate::text::Text;
use crate::units::Seconds;

use super::machine::{Kernel, Setting};
use super::{Engine, Factors, Interval, Tuned};

/// Own measurements of a part of the world; an open field matches everything, and what is not measured stays the model's.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRow {
    /// Key of the device.
    pub device: Option<Text>,
    /// Engine.
    pub engine: Option<Engine>,
    /// Key of the format that is streamed.
    pub format: Option<Text>,
    /// Operator; `gemm` means every matrix product.
    pub op: Option<OpKind>,
    /// Measured in the steps of a model; otherwise on kernels alone, whose floor is another.
    pub in_step: bool,
    /// Share of the bandwidth.
    pub eta_memory: Option<f64>,
    /// Share of the compute peak.
    pub eta_compute: Option<f64>,
    /// Time that every kernel costs.
    pub floor: Option<Seconds>,
    /// The interval.
    pub interval: Option<Interval>,
}

impl FactorRow {
    /// How specific a matching row is; `None` when it does not match. A device counts most, then the engine.
    pub(super) fn specificity(
        &self,
        tuned: &Tuned<'_>,
        op: OpKind,
        kernel: &Kernel<'_>,
    ) -> Option<u32> {
        let is_product = kernel.shape.product().is_some();
        let asked = [
            (16, self.device.as_ref().map(|device| *device == tuned.device.key)),
            (8, self.engine.map(|engine| engine == tuned.engine)),
            (4, self.format.as_ref().map(|format| format == kernel.format.key)),
            (2, self.op.map(|known| known == op || (known == OpKind::Gemm && is_product))),
            (1, self.is_about(kernel.setting).then_some(true)),
        ];
        let fits = asked.iter().all(|(_, matches)| *matches != Some(false));
        fits.then(|| {
            asked.iter().filter(|(_, matches)| matches.is_some()).map(|(weight, _)| weight).sum()
        })
    }

    const fn is_about(&self, setting: Setting) -> bool {
        self.in_step == matches!(setting, Setting::Step { .. })
    }

    /// What was measured, over what the model says.
    pub(super) fn over(&self, model: Factors, setting: Setting) -> Factors {
        let floor = self.floor.filter(|_| self.is_about(setting));
        let Interval { low, high } =
            self.interval.unwrap_or(Interval { low: model.low, high: model.high });
        Factors {
            eta_memory: self.eta_memory.unwrap_or(model.eta_memory),
            eta_compute: self.eta_compute.unwrap_or(model.eta_compute),
            floor: floor.unwrap_or(model.floor),
            low,
            high,
            provenance: Provenance::Measured,
        }
    }
}
