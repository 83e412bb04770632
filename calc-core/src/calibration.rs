//! Correction factors from roofline times to expected times: shares of the peaks that kernels reach, and a fixed time per
//! kernel. User measurements come first, row by row; elsewhere a model fitted on published measurements applies (`machine`).

pub mod coefficients;
mod engine;
pub mod fitted;
pub mod machine;
mod own;
mod waves;

use crate::catalog::devices::measured::{MeasuredShares, shares};
use crate::device::{Device, DeviceClass, MemoryKind, PowerMode};
use crate::op::OpKind;
use crate::provenance::Provenance;
use crate::quant_format::QuantFormat;
use crate::software::usual_engine;
use crate::text::{List, Text};
use crate::units::Seconds;

pub use engine::{Chunk, Engine};
pub use own::{FactorRow, Tokens};
pub use waves::WaveTile;

use coefficients::Coefficients;
use machine::{Kernel, Machine, Setting};

/// Shares of the peaks and a fixed time, with their interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Share of the bandwidth that is reached.
    pub eta_memory: f64,
    /// Share of the compute peak that is reached.
    pub eta_compute: f64,
    /// Fixed time per operator instance, even without work.
    pub floor: Seconds,
    /// Fast end of the interval, as a multiple of the expected time.
    pub low: f64,
    /// Slow end of the interval, as a multiple of the expected time.
    pub high: f64,
    pub provenance: Provenance,
}

impl Factors {
    /// Assumed factors for every device, format and operator: typical of good kernels, with a wide interval.
    pub const ASSUMED: Self = Self {
        eta_memory: 0.8,
        eta_compute: 0.6,
        floor: Seconds::new(3e-6),
        low: 0.6,
        high: 1.6,
        provenance: Provenance::Assumed,
    };

    /// Factors of the roof itself, without an interval.
    pub const IDEAL: Self = Self {
        eta_memory: 1.0,
        eta_compute: 1.0,
        floor: Seconds::ZERO,
        low: 1.0,
        high: 1.0,
        provenance: Provenance::Derived,
    };

    /// These factors with no share above 1: whatever a fit, a device scale or a measurement gives, no expected time is
    /// shorter than the roof's.
    #[must_use]
    pub const fn under_the_roof(self) -> Self {
        Self {
            eta_memory: self.eta_memory.min(1.0),
            eta_compute: self.eta_compute.min(1.0),
            ..self
        }
    }
}

/// Factors by which a device differs from its class.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceScale {
    pub device: Text,
    /// Factor on the reached bandwidth.
    pub memory: f64,
    /// Factor on the reached compute rate.
    pub compute: f64,
    /// Factor on the time that its host needs to launch a kernel.
    pub host: f64,
}

impl DeviceScale {
    /// A device that equals its class.
    pub const NONE: Self =
        Self { device: Text::Borrowed(""), memory: 1.0, compute: 1.0, host: 1.0 };
}

/// Number of published measurements in the fit, of a device with an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredRows {
    /// Catalog key of the device.
    pub device: &'static str,
    /// Its displayed name without the addition in parentheses: a program without the catalog has it, too.
    pub name: &'static str,
    /// Kind of its memory.
    pub kind: MemoryKind,
    /// `None` for programs without factors of their own, such as PyTorch.
    pub engine: Option<Engine>,
    /// Steps of a model, and operators timed alone.
    pub count: usize,
}

/// Interval around an expected time, as multiples of it, calibrated on held-out measurements: about 80 % of them are inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// Intervals by kind of work; the first is for devices of the fit, the second for others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// Decode of one sequence.
    pub decode: [Interval; 2],
    /// Decode of several sequences.
    pub batched: [Interval; 2],
    pub prefill: [Interval; 2],
    /// A kernel timed alone.
    pub alone: [Interval; 2],
    pub pairs: PairRatios,
}

/// 90th percentile of the error of a predicted ratio of two formats' times, the other inputs equal, as a factor: 9 of 10
/// measured pairs are off by no more. What the two share (device, bandwidth, engine) cancels, so it holds for devices without
/// measurements, too: each pair was predicted by a fit without its device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairRatios {
    /// Decode steps.
    pub decode: f64,
    /// Prefill steps, and products of more than 256 rows, of which prefill consists.
    pub prefill: f64,
    /// Operators timed alone.
    pub alone: f64,
}

/// All correction factors: user measurements, and the fitted model where there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// User measurements; if several match and have a factor, the most specific row supplies it.
    pub rows: List<FactorRow>,
    /// When, how and with what the user measured, in the user's words or those of the program that measured; empty without such rows.
    pub about: Text,
    /// Constants of the fitted model.
    pub constants: Coefficients,
    /// Devices of the fit.
    pub scales: List<DeviceScale>,
    pub intervals: Intervals,
}

impl Calibration {
    /// The model fitted on published measurements, without user measurements.
    pub const FITTED: Self = Self {
        rows: List::Borrowed(&[]),
        about: Text::Borrowed(""),
        constants: fitted::CONSTANTS,
        scales: List::Borrowed(&fitted::DEVICES),
        intervals: fitted::INTERVALS,
    };

    /// The factors of a device in a power mode with an engine; without one, with the usual engine for weights and experts in
    /// these formats.
    pub fn tuned<'a>(
        &'a self,
        device: &'a Device,
        mode: Option<&PowerMode>,
        engine: Option<Engine>,
        (weights, experts): (&QuantFormat, &QuantFormat),
    ) -> Tuned<'a> {
        let known = device.catalog_key();
        let scale = self.scales.iter().find(|scale| scale.device == known);
        let is_named = engine.is_some();
        let engine = engine.unwrap_or_else(|| usual_engine(device, weights, experts));
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
            exchanges: false,
            kind: MemoryKind::of(device),
            in_fit: match scale {
                Some(_) => InFit::Device,
                None if is_covered(device) => InFit::Vendor,
                None => InFit::Nothing,
            },
            has_own: self.rows.iter().any(|row| row.is_of(device)),
            device: fitted::MEASURED.iter().map(|rows| rows.device).find(|key| *key == known),
            ceilings: shares(device),
        };
        Tuned { calibration: self, device, engine, basis, machine }
    }
}

/// The devices in the fit that are nearest to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFit {
    /// The device itself.
    Device,
    /// Devices like it: NVIDIA GPUs.
    Vendor,
    /// None: the constants are extrapolated.
    Nothing,
}

/// The basis of expected times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Basis {
    /// The engine whose factors apply.
    pub engine: Engine,
    /// True if the user named the engine; otherwise it is the usual one of such devices.
    pub is_named: bool,
    /// True if several devices exchange data over links.
    pub exchanges: bool,
    /// Kind of memory, which selects the class that the device is compared with.
    pub kind: MemoryKind,
    /// The devices in the fit that are nearest to this one.
    pub in_fit: InFit,
    /// True if the user measured this device.
    pub has_own: bool,
    /// Catalog key of the device in [`fitted::MEASURED`].
    pub device: Option<&'static str>,
    /// Ceilings of the device measured by others.
    pub ceilings: MeasuredShares,
}

/// The vendor of all devices in the fit.
const COVERED: &str = "NVIDIA";

/// True for GPUs of the vendor whose GPUs are in the fit.
fn is_covered(device: &Device) -> bool {
    device.vendor.eq_ignore_ascii_case(COVERED) && device.class != DeviceClass::Cpu
}

/// The factors of a device with an engine.
#[derive(Debug, Clone, Copy)]
pub struct Tuned<'a> {
    calibration: &'a Calibration,
    device: &'a Device,
    pub engine: Engine,
    pub basis: Basis,
    machine: Machine<'a>,
}

impl Tuned<'_> {
    /// The factors of a kernel. A matching user measurement takes precedence over the model.
    pub fn factors(&self, op: OpKind, kernel: &Kernel<'_>) -> Factors {
        if self.engine == Engine::IdealKernels {
            return Factors::IDEAL;
        }
        let Interval { low, high } = self.interval(kernel.setting);
        let provenance = self.provenance();
        let model = Factors { low, high, provenance, ..self.machine.factors(kernel) };
        own::over(self, op, kernel, model).unwrap_or(model).under_the_roof()
    }

    /// The overhead of a step outside its kernels, once per step.
    pub fn step(&self, batch: f64, prefill: bool) -> Factors {
        if self.engine == Engine::IdealKernels {
            return Factors::IDEAL;
        }
        let Interval { low, high } = self.interval(Setting::Step { batch, prefill });
        let floor = self.machine.step(batch, prefill);
        Factors { floor, low, high, provenance: self.provenance(), ..Factors::IDEAL }
    }

    fn provenance(&self) -> Provenance {
        if self.basis.in_fit == InFit::Nothing { Provenance::Assumed } else { Provenance::Fitted }
    }

    fn interval(&self, setting: Setting) -> Interval {
        if self.basis.in_fit == InFit::Nothing {
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
        pair[usize::from(self.basis.in_fit != InFit::Device)]
    }
}

#[cfg(test)]
mod tests;
