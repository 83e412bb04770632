//! What lies between the roofline and a clock: shares of the peaks that kernels reach, and a fixed time per kernel.
//! Own measurements come first, row by row; under them lies a model fitted on published ones (`machine`).

pub mod coefficients;
mod engine;
pub mod fitted;
pub mod machine;
mod own;

use crate::catalog::devices::measured::{MeasuredShares, shares};
use crate::device::{Device, DeviceClass, MemoryKind, PowerMode};
use crate::op::OpKind;
use crate::provenance::Provenance;
use crate::text::{List, Text};
use crate::units::Seconds;

pub use engine::{Chunk, Engine, usual_engine};
pub use own::{FactorRow, Tokens};

use coefficients::Coefficients;
use machine::{Kernel, Machine, Setting};

/// Shares of the peaks and a fixed time, with their interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Share of the bandwidth that is reached.
    pub eta_memory: f64,
    /// Share of the compute peak that is reached.
    pub eta_compute: f64,
    /// Time that every operator instance costs, however small.
    pub floor: Seconds,
    /// The fast end of the interval, as a multiple of the expected time.
    pub low: f64,
    /// The slow end.
    pub high: f64,
    /// Where the factors come from.
    pub provenance: Provenance,
}

impl Factors {
    /// Assumed, for every device, format and operator: typical of good kernels, with a wide interval.
    pub const ASSUMED: Self = Self {
        eta_memory: 0.8,
        eta_compute: 0.6,
        floor: Seconds::new(3e-6),
        low: 0.6,
        high: 1.6,
        provenance: Provenance::Assumed,
    };

    /// At the roof, without an interval.
    pub const IDEAL: Self = Self {
        eta_memory: 1.0,
        eta_compute: 1.0,
        floor: Seconds::ZERO,
        low: 1.0,
        high: 1.0,
        provenance: Provenance::Derived,
    };

    /// The factors with no share above 1: whatever a fit, a device's own number or a measurement says, nobody is expected to be
    /// faster than the roof.
    #[must_use]
    pub const fn under_the_roof(self) -> Self {
        Self {
            eta_memory: self.eta_memory.min(1.0),
            eta_compute: self.eta_compute.min(1.0),
            ..self
        }
    }
}

/// By how much a device reaches more than its class.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceScale {
    /// Key of the device.
    pub device: Text,
    /// Of its bandwidth.
    pub memory: f64,
    /// Of its arithmetic.
    pub compute: f64,
    /// By how much longer its host takes to launch a kernel.
    pub host: f64,
}

impl DeviceScale {
    /// A device of which nothing more is known.
    pub const NONE: Self =
        Self { device: Text::Borrowed(""), memory: 1.0, compute: 1.0, host: 1.0 };
}

/// The interval around a best guess, as multiples of it: where about 80 % of left-out measurements lay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Fast end.
    pub low: f64,
    /// Slow end.
    pub high: f64,
}

/// Intervals of what is told apart: on devices of the fit, and on others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// Decode with one sequence.
    pub decode: [Interval; 2],
    /// Decode with more.
    pub batched: [Interval; 2],
    /// Prefill.
    pub prefill: [Interval; 2],
    /// A kernel that is timed alone.
    pub alone: [Interval; 2],
}

/// The factors in force: own measurements, and the fitted model under them.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Rows of own measurements; of several that match and have a factor, the most specific gives it.
    pub rows: List<FactorRow>,
    /// Constants of the model.
    pub constants: Coefficients,
    /// Devices of the fit.
    pub scales: List<DeviceScale>,
    /// Intervals.
    pub intervals: Intervals,
}

impl Calibration {
    /// No row of one's own: the model that was fitted on published measurements.
    pub const FITTED: Self = Self {
        rows: List::Borrowed(&[]),
        constants: fitted::CONSTANTS,
        scales: List::Borrowed(&fitted::DEVICES),
        intervals: fitted::INTERVALS,
    };

    /// The factors for a device in a power mode with an engine; without one, with the one that is usual there.
    pub fn tuned<'a>(
        &'a self,
        device: &'a Device,
        mode: Option<&PowerMode>,
        engine: Option<Engine>,
    ) -> Tuned<'a> {
        let known = device.measured.copy_of.unwrap_or(&device.key);
        let scale = self.scales.iter().find(|scale| scale.device == known);
        let is_named = engine.is_some();
        let engine = engine.unwrap_or_else(|| usual_engine(device));
        let machine = Machine::new(
            &self.constants,
            device,
            mode,
            engine,
            scale.unwrap_or(&DeviceScale::NONE),
        );
        let basis = Basis {
            engine,
            is_named,
            kind: MemoryKind::of(device),
            in_fit: scale.is_some(),
            ceilings: shares(device),
        };
        Tuned { calibration: self, device, engine, basis, machine }
    }
}

/// What expected times rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Basis {
    /// The engine whose profile counts.
    pub engine: Engine,
    /// The user named it; otherwise it is the one that is usual on such devices.
    pub is_named: bool,
    /// The kind of memory that the device is compared with.
    pub kind: MemoryKind,
    /// Measurements of this very device were in the fit.
    pub in_fit: bool,
    /// Ceilings of the device that others measured.
    pub ceilings: MeasuredShares,
}

/// The maker of all devices of the fit.
const COVERED: &str = "NVIDIA";

/// The factors of a device with an engine.
#[derive(Debug, Clone, Copy)]
pub struct Tuned<'a> {
    calibration: &'a Calibration,
    device: &'a Device,
    /// The engine.
    pub engine: Engine,
    /// What the factors rest on.
    pub basis: Basis,
    machine: Machine<'a>,
}

impl Tuned<'_> {
    /// The factors of a kernel. A row of own measurements counts before the model.
    pub fn factors(&self, op: OpKind, kernel: &Kernel<'_>) -> Factors {
        if self.engine == Engine::IdealKernels {
            return Factors::IDEAL;
        }
        let Interval { low, high } = self.interval(kernel.setting);
        let provenance = self.provenance();
        let model = Factors { low, high, provenance, ..self.machine.factors(kernel) };
        own::over(self, op, kernel, model).unwrap_or(model).under_the_roof()
    }

    /// What a step costs outside its kernels; it is in every step once.
    pub fn step(&self, batch: f64, prefill: bool) -> Factors {
        if self.engine == Engine::IdealKernels {
            return Factors::IDEAL;
        }
        let Interval { low, high } = self.interval(Setting::Step { batch, prefill });
        let floor = self.machine.step(batch, prefill);
        Factors { floor, low, high, provenance: self.provenance(), ..Factors::IDEAL }
    }

    fn provenance(&self) -> Provenance {
        if self.is_covered() { Provenance::Fitted } else { Provenance::Assumed }
    }

    /// Devices like it are in the fit: GPUs of NVIDIA. For others the constants are carried over further than data reach.
    fn is_covered(&self) -> bool {
        self.basis.in_fit
            || (self.device.vendor.eq_ignore_ascii_case(COVERED)
                && self.device.class != DeviceClass::Cpu)
    }

    fn interval(&self, setting: Setting) -> Interval {
        if !self.is_covered() {
            let Factors { low, high, .. } = Factors::ASSUMED;
            return Interval { low, high };
        }
        let all = &self.calibration.intervals;
        let pair = match setting {
            Setting::Alone => all.alone,
            Setting::Step { prefill: true, .. } => all.prefill,
            Setting::Step { batch, .. } if batch > 1.0 => all.batched,
            Setting::Step { .. } => all.decode,
        };
        pair[usize::from(!self.basis.in_fit)]
    }
}

#[cfg(test)]
mod tests;
