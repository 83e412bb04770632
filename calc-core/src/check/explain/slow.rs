//! Explanations of a claim that is slower than expected: another engine or unit, a CPU, overhead, a lower clock or bandwidth.

use crate::calibration::Engine;
use crate::catalog::devices;
use crate::device::Device;
use crate::plan::Span;
use crate::roofline::Bound;
use crate::scheme::is_host;

use super::super::explanation::Explanation;
use super::super::variants::without_units;
use super::{Case, DOMINATES, LEAST_CLOCK};

impl Case<'_, '_> {
    pub(super) fn units(&self) -> Option<Explanation> {
        let own = self.own.path.class;
        let work = self.work().with_fixed(&self.own.precision);
        let mut best: Option<(Explanation, Span)> = None;
        for device in &without_units(work.device(), own) {
            let other = work.on(device, work.mode());
            let Ok(found) = other.measure() else { continue };
            let nearer = best
                .as_ref()
                .is_none_or(|(_, old)| self.distance(&found.span) < self.distance(old));
            let explains = self.explains(&found.span) && work.fits();
            if found.path.class != own && nearer && explains {
                let (class, peak, span) = (found.path.class, found.path.peak, found.span);
                best = Some((Explanation::Units { class, peak, span }, span));
            }
        }
        best.map(|(found, _)| found)
    }

    pub(super) fn cpu(&self) -> Option<Explanation> {
        let work = self.work().with_fixed(&self.own.precision);
        let mut best: Option<(&'static Device, Span)> = None;
        for device in self.hosts() {
            let Ok(span) = work.on(device, None).span() else { continue };
            let nearer =
                best.as_ref().is_none_or(|(_, old)| self.distance(&span) < self.distance(old));
            if self.explains(&span) && nearer {
                best = Some((device, span));
            }
        }
        best.map(|(device, span)| Explanation::Cpu { device, span })
    }

    /// The CPUs of the catalog that may stand beside the device and have kernels for its formats. A CPU that shares the memory
    /// has no row of its own.
    fn hosts(&self) -> impl Iterator<Item = &'static Device> {
        let beside = self.work().device();
        let family = self.work().precision().family();
        devices::all().filter(move |device| is_host(device, beside) && family.runs_on(device))
    }

    /// The engine, except ideal kernels, whose expected time matches the claim, of those that run the formats on the device.
    pub(super) fn engine(&self) -> Option<Explanation> {
        let (precision, device) = (self.work().precision(), self.work().device());
        let (family, quantized) = (precision.family(), precision.activations.is_some());
        let mut best: Option<(Engine, Span)> = None;
        for (_, engine) in Engine::ALL {
            let is_other = engine != Engine::IdealKernels && engine != self.work().engine();
            if !is_other || family.served_by(engine, device, quantized).is_err() {
                continue;
            }
            let Ok(span) = self.work().with_engine(engine).span() else { continue };
            let nearer =
                best.as_ref().is_none_or(|(_, old)| self.distance(&span) < self.distance(old));
            if self.explains(&span) && nearer {
                best = Some((engine, span));
            }
        }
        best.map(|(engine, span)| Explanation::Engine { engine, span })
    }

    /// The share of layers on a CPU that matches the claim, for the fastest CPU of the catalog with which a share matches.
    ///
    /// ```text
    /// t = (1 - share) t_device + share t_cpu
    /// ```
    pub(super) fn offload(&self) -> Option<Explanation> {
        self.work().model()?;
        let work = self.work().with_fixed(&self.own.precision);
        let mut fastest: Option<(&'static Device, Span)> = None;
        for device in self.hosts() {
            let Ok(span) = work.on(device, None).span() else { continue };
            let is_faster = |other: &Span| span.expected.time < other.expected.time;
            if span.expected.time > self.time && fastest.as_ref().is_none_or(|it| is_faster(&it.1))
            {
                fastest = Some((device, span));
            }
        }
        let (device, span) = fastest?;
        let own = self.own.span.expected.time;
        let share = (self.time - own) / (span.expected.time - own);
        Some(Explanation::Offload { device, share, span })
    }

    pub(super) fn overhead(&self) -> Option<Explanation> {
        let (kernels, expected) = (self.own.kernels, self.own.span.expected.time);
        let floor = self.own.floors / kernels;
        let needed = floor + (self.time - expected) / kernels;
        (self.own.floors >= expected * DOMINATES).then_some(Explanation::Overhead {
            kernels,
            floor,
            needed,
        })
    }

    pub(super) fn clock(&self) -> Option<Explanation> {
        let work = self.work();
        let full = match work.mode() {
            Some(mode) => mode.gpu_clock?,
            None => work.device().tensor_clock?.value,
        };
        let share = self.own.span.expected.time / self.time;
        let computes = self.own.reached.bound() == Bound::Compute;
        (computes && share >= LEAST_CLOCK)
            .then(|| Explanation::Clock { full, needed: full * share })
    }

    /// The bandwidth that matches the claim, if DRAM is the limit and kernels do not mostly wait for their launch.
    pub(super) fn bandwidth(&self) -> Option<Explanation> {
        let (own, bytes) = (self.own, self.own.cost.traffic.total());
        let (expected, fixed) = (own.span.expected.time, own.floors);
        let streams = own.reached.bound() == Bound::Memory && fixed < expected * DOMINATES;
        let share = (expected - fixed) / (self.time - fixed);
        (streams && share >= LEAST_CLOCK).then(|| Explanation::Bandwidth {
            expected: bytes / (expected - fixed),
            needed: bytes / (self.time - fixed),
        })
    }
}
