//! Expected time of a record: for matrix products from the core with the place's calibration, for kernels without a shape from
//! the roof that bounds them.

use calc_core::analysis::{Analysis, AnalyzeRequest, Operator, analyze};
use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::cost::gemm::GemmShape;
use calc_core::error::Error;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::Roofs;
use calc_core::units::{Flops, FlopsPerSec, Seconds};
use chart::roofline::class_name;
use protocol::bench::{BenchRecord, Precision, Shape};
use report::output::verdict::{badge, badge_meaning};

use crate::state::derived::refusal;
use crate::state::place::Place;

/// Expected time of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedTime {
    pub time: Seconds,
    /// Interval of the time; `None` for a roof.
    pub range: Option<(Seconds, Seconds)>,
    /// Time at the roof.
    pub ideal: Seconds,
    /// Work of the kernel.
    pub flops: Flops,
    /// Source of the calibration factors; `None` for a roof.
    pub factors: Option<Provenance>,
}

impl ExpectedTime {
    fn of(found: &Analysis) -> Self {
        Self {
            time: found.expected.time,
            range: Some((found.expected.low, found.expected.high)),
            ideal: found.ideal,
            flops: found.cost.flops,
            factors: Some(found.expected.provenance),
        }
    }

    /// The expected rate.
    pub fn rate(&self) -> FlopsPerSec {
        self.flops / self.time
    }

    /// Relative error; above 0 where the expectation is too slow.
    pub fn error(&self, record: &BenchRecord) -> f64 {
        self.time.get() / record.time_s.median - 1.0
    }

    /// Basis of the expectation, as a badge with its explanation.
    pub fn badge(&self) -> (&'static str, &'static str) {
        match self.factors {
            Some(sure) => (badge(sure), badge_meaning(sure)),
            None => ("roof", "the roof of the chosen device, without any factor"),
        }
    }
}

/// Expected time of a record at a place.
///
/// # Errors
/// Returns the reason as a sentence if there is no expectation.
pub fn expected(record: &BenchRecord, place: Place<'_>) -> Result<ExpectedTime, String> {
    match (&record.shape, &record.precision) {
        (Some(shape), Some(precision)) => product(*shape, precision, place),
        (Some(_), None) => Err("it has no formats".to_owned()),
        (None, _) => roof(record, place),
    }
}

/// Expected time with the published calibration, if the place has its own.
pub fn before(record: &BenchRecord, place: Place<'_>) -> Option<ExpectedTime> {
    place.own?;
    let shape = record.shape?;
    product(shape, record.precision.as_ref()?, Place { own: None, ..place }).ok()
}

fn product(shape: Shape, precision: &Precision, place: Place<'_>) -> Result<ExpectedTime, String> {
    let format = |key: &str| catalog::format(key).map_err(|error: Error| refusal(&error));
    let weights = format(&precision.weights)?;
    let activations: &'static QuantFormat = format(&precision.activations)?;
    let calibration: &Calibration = place.calibration();
    let found = analyze(&AnalyzeRequest {
        device: place.device,
        mode: place.mode,
        operator: Operator::Gemm(GemmShape { m: shape.m, n: shape.n, k: shape.k }),
        precision: PrecisionChoice {
            activations: Some(activations),
            ..PrecisionChoice::weights(weights)
        },
        engine: None,
        calibration,
    });
    found.map(|found| ExpectedTime::of(&found)).map_err(|error| refusal(&error))
}

/// Time at the roof of the device: bytes over bandwidth, or FLOP over the peak of the kernel's arithmetic.
fn roof(record: &BenchRecord, place: Place<'_>) -> Result<ExpectedTime, String> {
    let class = match record.kernel.as_str() {
        "read" | "copy" | "triad" => None,
        "fma_fp32" => Some(ComputeClass::Fp32),
        "dot_int8" => Some(ComputeClass::Int8),
        _ => return Err("it has no shape".to_owned()),
    };
    let roofs = Roofs::new(place.device, place.mode).map_err(|error| refusal(&error))?;
    let seconds = match class {
        None => record.bytes / roofs.bandwidth.get(),
        Some(class) => {
            let peak = roofs.peak(class);
            let missing = || format!("no {} peak of this device is known", class_name(class));
            record.flops / peak.ok_or_else(missing)?.get()
        }
    };
    let time = Seconds::new(seconds);
    Ok(ExpectedTime {
        time,
        range: None,
        ideal: time,
        flops: Flops::new(record.flops),
        factors: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::measure::answer::tests::{bare, record};

    fn place() -> Place<'static> {
        Place::of(catalog::device("epyc_9654").expect("catalog key"))
    }

    #[test]
    fn kernels_without_a_shape_stand_beside_their_roof() {
        let device = place().device;
        let bandwidth = device.bandwidth.value.get();
        let peak = |class| device.peaks.get(class).map(|fact| fact.value.get());
        for (kernel, bytes, flops, seconds) in [
            ("read", 1e9, 0.0, Some(1e9 / bandwidth)),
            ("triad", 3e9, 1e9, Some(3e9 / bandwidth)),
            ("fma_fp32", 0.0, 1e9, peak(ComputeClass::Fp32).map(|peak| 1e9 / peak)),
            ("dot_int8", 0.0, 1e9, peak(ComputeClass::Int8).map(|peak| 1e9 / peak)),
            ("sort", 1.0, 1.0, None),
        ] {
            let record = bare(kernel, bytes, flops, 0.5);
            let found = expected(&record, place());
            assert_eq!(found.as_ref().ok().map(|it| it.time.get()), seconds, "{kernel}: {found:?}");
            if let (Ok(found), Some(seconds)) = (found, seconds) {
                assert!((found.error(&record) - (seconds / 0.5 - 1.0)).abs() < 1e-12);
                assert_eq!((found.range, found.badge().0), (None, "roof"));
            }
        }
    }

    #[test]
    fn a_peak_that_nobody_knows_is_no_roof() {
        let device = catalog::device("t4").expect("catalog key");
        let without =
            calc_core::device::Device { peaks: calc_core::device::Peaks::NONE, ..device.clone() };
        let found = expected(&bare("dot_int8", 0.0, 1.0, 1.0), Place::of(&without));
        assert!(found.is_err_and(|why| why.contains("no INT8 peak")));
    }

    #[test]
    fn before_a_calibration_there_is_no_before() {
        assert_eq!(before(&record("int8", 0.001), place()), None);
        let without = BenchRecord { precision: None, ..record("int8", 0.001) };
        assert!(expected(&without, place()).is_err());
    }
}
