//! Sustained ceilings of the roofs: measured if published for the device, otherwise computed from the factors of the
//! expected times for a large stream and a large matmul.

use crate::analysis::{AnalyzeRequest, Operator, analyze};
use crate::calibration::{Calibration, Engine};
use crate::catalog::devices::measured;
use crate::catalog::formats::FORMATS;
use crate::cost::gemm::GemmShape;
use crate::device::{Device, Peaks, PowerMode};
use crate::error::Error;
use crate::precision::PrecisionChoice;
use crate::provenance::{Fact, Provenance};
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::roofline::Roofs;
use crate::text::List;
use crate::units::{BytesPerSec, FlopsPerSec, Seconds};

use super::work::{Measure, Work};

/// A matrix so large that fixed times are negligible: its stream is 2 GB in 16 bits.
const STREAM: GemmShape = GemmShape { m: 1, n: 32_768, k: 32_768 };
/// A matmul that is compute-bound on every device.
const PRODUCT: GemmShape = GemmShape { m: 16_384, n: 16_384, k: 16_384 };

/// Sustained ceilings of a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// Sustained bandwidth.
    pub bandwidth: Fact<BytesPerSec>,
    /// Sustained rate for every peak that the device has.
    pub peaks: Peaks,
}

/// A device, power mode and engine with the correction factors.
struct Target<'a> {
    device: &'a Device,
    mode: Option<&'a PowerMode>,
    engine: Option<Engine>,
    calibration: &'a Calibration,
}

impl Ceilings {
    /// The ceilings for some work's device and power mode: measured, else those of the expected times.
    pub(super) fn sustained(work: &Work<'_>) -> Result<Self, Error> {
        let (device, mode) = (work.device(), work.mode());
        let (engine, calibration) = match work {
            Work::Operator(request) => (request.engine, request.calibration),
            Work::Token(request) | Work::Answer(request) => (request.engine, request.calibration),
        };
        let place = Target { device, mode, engine, calibration };
        let roofs = Roofs::new(device, mode)?;
        let mut peaks = Peaks::NONE;
        for class in ComputeClass::ALL {
            let known = measured::peak(device, mode, class).map(measured_fact);
            if let Some(peak) = known.or_else(|| place.peak(class)) {
                peaks = peaks.with(class, peak);
            }
        }
        let bandwidth = match measured::bandwidth(device, mode).map(measured_fact) {
            Some(bandwidth) => bandwidth,
            None => place.bandwidth(roofs.half())?,
        };
        Ok(Self { bandwidth, peaks })
    }

    /// The sustained bandwidth of some work. Of unlike cards the first one's share of its roof applies to all.
    pub(super) fn bandwidth_of(&self, work: &Work<'_>, own: &Measure) -> Fact<BytesPerSec> {
        let roof = work.device().bandwidth.value;
        match work.model().and_then(|model| model.cards) {
            None => self.bandwidth,
            Some(_) => Fact {
                value: own.roofs.bandwidth * (self.bandwidth.value / roof),
                provenance: self.bandwidth.provenance,
            },
        }
    }

    /// The time of some work at these ceilings instead of the datasheet's.
    pub(super) fn time(&self, work: &Work<'_>, own: &Measure) -> Result<Seconds, Error> {
        let device = Device {
            bandwidth: self.bandwidth,
            peaks: self.peaks,
            power_modes: List::Borrowed(&[]),
            ..work.device().clone()
        };
        if work.model().is_some_and(|model| model.cards.is_some()) {
            let sustained = self.bandwidth_of(work, own).value;
            return Ok(own.span.ideal * (own.roofs.bandwidth / sustained).max(1.0));
        }
        let work = work.with_fixed(&own.precision);
        let work = work.on(&device, None);
        let span = own.host.as_ref().map_or_else(|| work.span(), |host| work.span_behind(host));
        span.map(|span| span.ideal)
    }
}

const fn measured_fact<T: Copy>(value: T) -> Fact<T> {
    Fact { value, provenance: Provenance::Measured }
}

impl Target<'_> {
    /// The expected bandwidth of a large stream.
    fn bandwidth(&self, half: &'static QuantFormat) -> Result<Fact<BytesPerSec>, Error> {
        let answer = self.product(STREAM, PrecisionChoice::weights(half))?;
        let value = answer.cost.traffic.total() / answer.expected.time;
        Ok(Fact { value, provenance: answer.expected.provenance })
    }

    /// The expected rate of a large matmul on the peak of a class; `None` if the device has no such peak.
    fn peak(&self, class: ComputeClass) -> Option<Fact<FlopsPerSec>> {
        let format = FORMATS.iter().find(|format| format.class == Some(class))?;
        let precision =
            PrecisionChoice { activations: Some(format), ..PrecisionChoice::weights(format) };
        let answer = self.product(PRODUCT, precision).ok()?;
        let value = answer.cost.flops / answer.expected.time;
        let provenance = answer.expected.provenance;
        (answer.path.class == class).then_some(Fact { value, provenance })
    }

    fn product(
        &self,
        shape: GemmShape,
        precision: PrecisionChoice,
    ) -> Result<crate::analysis::Analysis, Error> {
        analyze(&AnalyzeRequest {
            device: self.device,
            mode: self.mode,
            operator: Operator::Gemm(shape),
            precision,
            engine: self.engine,
            calibration: self.calibration,
        })
    }
}
