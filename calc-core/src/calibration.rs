//! What lies between the roofline and a clock: shares of the peaks that kernels reach, and a fixed time per kernel.
//! Own measurements come first, row by row; under them lies a model fitted on published ones (`machine`).

pub mod coefficients;
mod engine;
pub mod fitted;
pub mod machine;
pub mod sustained;

use crate::device::{Device, DeviceClass, PowerMode};
use crate::op::OpKind;
use crate::provenance::Provenance;
use crate::text::{List, Text};
use crate::units::Seconds;

pub use engine::{Engine, usual_engine};

use coefficients::Coefficients;
use machine::{Kernel, Machine, MemoryKind, Setting};
use sustained::{Sustained, sustained};

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
}

/// Factors for part of the world; an open field matches everything.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRow {
    /// Key of the device.
    pub device: Option<Text>,
    /// Kind of device.
    pub class: Option<DeviceClass>,
    /// Key of the format.
    pub format: Option<Text>,
    /// Operator.
    pub op: Option<OpKind>,
    /// Engine.
    pub engine: Option<Engine>,
    /// The factors.
    pub factors: Factors,
}

impl FactorRow {
    /// How specific a matching row is; `None` when it does not match. A device counts most, then the engine.
    fn specificity(&self, tuned: &Tuned<'_>, format: &str, op: OpKind) -> Option<u32> {
        let mut score = 0;
        let mut require = |asked: Option<bool>, weight: u32| match asked {
            None => true,
            Some(matches) => {
                score += weight;
                matches
            }
        };
        let matches = require(self.device.as_ref().map(|device| *device == tuned.device.key), 16)
            && require(self.engine.map(|engine| engine == tuned.engine), 8)
            && require(self.format.as_ref().map(|known| known == format), 4)
            && require(self.op.map(|known| known == op), 2)
            && require(self.class.map(|class| class == tuned.device.class), 1);
        matches.then_some(score)
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
    /// Rows of own measurements; of several that match, the most specific counts.
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
        let scale = self.scales.iter().find(|scale| scale.device == device.key);
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
            ceilings: sustained(&device.key),
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
    /// What others measured as its ceilings.
    pub ceilings: Sustained,
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
        let rows = self.calibration.rows.iter();
        let own = rows
            .filter_map(|row| {
                row.specificity(self, kernel.format.key, op).map(|score| (score, row.factors))
            })
            .max_by_key(|(score, _)| *score);
        if let Some((_, own)) = own {
            return own;
        }
        if self.engine == Engine::IdealKernels {
            return Factors::IDEAL;
        }
        let Interval { low, high } = self.interval(kernel.setting);
        let provenance = self.provenance();
        Factors { low, high, provenance, ..self.machine.factors(kernel) }
    }

    /// Least time between kernels that the host cannot launch faster.
    pub fn least(&self, kernel: &Kernel<'_>) -> Seconds {
        self.machine.least(kernel)
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
            Setting::Alone { .. } => all.alone,
            Setting::Step { prefill: true, .. } => all.prefill,
            Setting::Step { batch, .. } if batch > 1.0 => all.batched,
            Setting::Step { .. } => all.decode,
        };
        pair[usize::from(!self.basis.in_fit)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{self, formats};
    use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
    use crate::op::{Product, Shape};
    use crate::roofline::{Roofline, Roofs};
    use alloc::vec;

    fn eta(calibration: &Calibration, device: &str, op: OpKind) -> f64 {
        let device = catalog::device(device).expect("catalog key");
        let product =
            Product { rows: 1.0, outputs: 4096.0, inputs: 4096.0, weights: &formats::FP16 };
        let roofs = Roofs::new(device, None).expect("no mode");
        let path = roofs.compute_path(&formats::FP16, &formats::FP16).expect("a path");
        let roofline = Roofline { peak: path.peak, bandwidth: roofs.bandwidth };
        let shape = GemmShape { m: 1, n: 4096, k: 4096 };
        let half = &formats::FP16;
        let cost = gemm(shape, GemmFormats { weights: half, input: half, output: half });
        let kernel = Kernel {
            shape: &Shape::Product(product),
            cost: &cost,
            path: &path,
            time: roofline.op_time(&cost),
            format: half,
            setting: Setting::Alone { block_scaled: false },
        };
        calibration.tuned(device, None, None).factors(op, &kernel).eta_memory
    }

    #[test]
    fn the_most_specific_row_wins_and_a_row_of_another_device_never_does() {
        let row = |device: Option<&'static str>, op, eta_memory| FactorRow {
            device: device.map(Text::Borrowed),
            class: None,
            format: None,
            op,
            engine: None,
            factors: Factors { eta_memory, provenance: Provenance::Measured, ..Factors::ASSUMED },
        };
        let calibration = Calibration {
            rows: List::Owned(vec![
                row(None, Some(OpKind::Gemm), 0.7),
                row(Some("gb10"), None, 0.85),
                row(Some("t4"), Some(OpKind::Gemm), 0.1),
            ]),
            ..Calibration::FITTED
        };
        let fitted = eta(&Calibration::FITTED, "l4", OpKind::Norm);
        for (device, op, expected) in
            [("gb10", OpKind::Gemm, 0.85), ("l4", OpKind::Gemm, 0.7), ("l4", OpKind::Norm, fitted)]
        {
            let eta = eta(&calibration, device, op);
            assert!((eta - expected).abs() < 1e-15, "{device} {op:?}: {eta}");
        }
    }

    #[test]
    fn a_measured_ceiling_of_the_device_stands_in_for_its_class() {
        let known = sustained("jetson_orin_nano_8gb_super").read.expect("measured");
        let scale = Calibration::FITTED.scales.iter();
        let scale = scale.clone().find(|scale| scale.device == "jetson_orin_nano_8gb_super");
        let reached = eta(&Calibration::FITTED, "jetson_orin_nano_8gb_super", OpKind::Gemm);
        let expected = known * scale.expect("in the fit").memory;
        assert!((reached / expected - 1.0).abs() < 0.02, "{reached} and {expected}");
    }

    #[test]
    fn every_measured_ceiling_is_one_of_the_catalog() {
        for (device, measured) in sustained::measured() {
            let published = catalog::devices::measured::MEASURED.iter();
            let found = published
                .clone()
                .any(|row| row.device == device && (row.value - measured).abs() < 1e-9)
                || catalog::devices::measured::ALTERNATES
                    .iter()
                    .any(|row| row.device == device && (row.value - measured).abs() < 1e-9);
            assert!(found, "{device}: {measured}");
        }
    }
}
