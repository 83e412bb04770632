//! What practice sustains of the roofs: measured where somebody published it of this device, otherwise what the factors of
//! the expected times leave of a large stream and of a large product.

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

use super::work::Work;

/// A matrix so large that what every kernel costs does not count: its stream is 2 GB in 16 bits.
const STREAM: GemmShape = GemmShape { m: 1, n: 32_768, k: 32_768 };
/// A product that arithmetic limits on every device.
const PRODUCT: GemmShape = GemmShape { m: 16_384, n: 16_384, k: 16_384 };

/// What practice sustains of the roofs of a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// Of the bandwidth.
    pub bandwidth: Fact<BytesPerSec>,
    /// Of every peak that the device has.
    pub peaks: Peaks,
}

/// Where something runs, and by which factors.
struct Place<'a> {
    device: &'a Device,
    mode: Option<&'a PowerMode>,
    engine: Option<Engine>,
    calibration: &'a Calibration,
}

impl Ceilings {
    /// The ceilings of the device and power mode of some work: measured, or what expected times leave.
    pub(super) fn sustained(work: &Work<'_>) -> Result<Self, Error> {
        let (device, mode) = (work.device(), work.mode());
        let (engine, calibration) = match work {
            Work::Operator(request) => (request.engine, request.calibration),
            Work::Token(request) | Work::Answer(request) => (request.engine, request.calibration),
        };
        let place = Place { device, mode, engine, calibration };
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

    /// The time of some work at these ceilings instead of the datasheet's.
    pub(super) fn time(&self, work: &Work<'_>) -> Result<Seconds, Error> {
        let precision = work.precision().resolve(&Roofs::new(work.device(), work.mode())?);
        let device = Device {
            bandwidth: self.bandwidth,
            peaks: self.peaks,
            power_modes: List::Borrowed(&[]),
            ..work.device().clone()
        };
        work.with_fixed(&precision).on(&device, None).span().map(|span| span.ideal)
    }
}

const fn measured_fact<T: Copy>(value: T) -> Fact<T> {
    Fact { value, provenance: Provenance::Measured }
}

impl Place<'_> {
    /// The bandwidth that a large stream is expected to reach.
    fn bandwidth(&self, half: &'static QuantFormat) -> Result<Fact<BytesPerSec>, Error> {
        let answer = self.product(STREAM, PrecisionChoice::weights(half))?;
        let value = answer.cost.traffic.total() / answer.expected.time;
        Ok(Fact { value, provenance: answer.expected.provenance })
    }

    /// The rate that a large product is expected to reach on the peak of a class; `None` where the device has none.
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
