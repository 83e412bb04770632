//! Expected time of a record at a place of the page, and its basis in words.

use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::provenance::Provenance;
use calc_core::units::Seconds;
use protocol::bench::BenchRecord;
use report::input::timed_kernel::{self, TimedKernel, TimedPlace};
use report::output::verdict::{badge, badge_meaning};

use crate::state::place::Place;

pub use report::input::timed_kernel::ExpectedTime;

/// Relative error of an expectation; above 0 where it is too slow.
pub fn error(found: &ExpectedTime, record: &BenchRecord) -> f64 {
    found.error(Seconds::new(record.time_s.median))
}

/// Basis of an expectation, as a badge with its explanation.
pub fn basis(found: &ExpectedTime) -> (&'static str, &'static str) {
    match found.factors {
        Some(sure) => (badge(sure), badge_meaning(sure)),
        None => ("roof", "the roof of the chosen device, without any factor"),
    }
}

/// Expected time of a record at a place.
///
/// # Errors
/// Returns the reason as a sentence if there is no expectation, as beside the measurement that became the roof.
pub fn expected(record: &BenchRecord, place: Place<'_>) -> Result<ExpectedTime, String> {
    let formats = record.precision.as_ref();
    let kernel = TimedKernel {
        key: &record.kernel,
        shape: record.shape.map(|it| GemmShape { m: it.m, n: it.n, k: it.k }),
        sizes: &record.sizes,
        formats: formats.map(|it| (&*it.weights, &*it.activations)),
        bytes: record.bytes,
        flops: record.flops,
    };
    let (device, mode, calibration) = (place.device, place.mode, place.calibration());
    let found = timed_kernel::expected(&kernel, TimedPlace { device, mode, calibration })?;
    if found.factors.is_none() && error(&found, record).abs() < SAME && is_measured(device) {
        return Err("it equals the measured roof".to_owned());
    }
    Ok(found)
}

/// Largest relative difference of a rate and a roof that was made of it: a device file has four significant digits.
const SAME: f64 = 5e-4;

/// Whether the roofs of a device were measured on it.
fn is_measured(device: &Device) -> bool {
    device.bandwidth.provenance == Provenance::Measured
}

/// Expected time of a product with the published calibration, if the place has its own.
pub fn before(record: &BenchRecord, place: Place<'_>) -> Option<ExpectedTime> {
    place.own.filter(|_| record.shape.is_some())?;
    expected(record, Place { own: None, ..place }).ok()
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;
    use calc_core::quant_format::ComputeClass;

    use super::*;
    use crate::state::measure::answer::tests::{bare, layer_record, record};

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
                assert!((error(&found, &record) - (seconds / 0.5 - 1.0)).abs() < 1e-12);
                assert_eq!((found.range, basis(&found).0), (None, "roof"));
            }
        }
    }

    #[test]
    fn a_measurement_that_is_the_roof_is_not_compared_with_itself() {
        let mut device = place().device.clone();
        device.bandwidth.provenance = Provenance::Measured;
        let time = 1e9 / device.bandwidth.value.get();
        let of = |device: &Device, seconds| {
            expected(&bare("read", 1e9, 0.0, seconds), Place::of(device))
        };
        assert_eq!(of(&device, time), Err("it equals the measured roof".to_owned()));
        assert!(of(&device, time * 1.001).is_ok(), "another measurement");
        device.bandwidth.provenance = Provenance::Reported;
        assert!(of(&device, time).is_ok(), "a datasheet");
    }

    #[test]
    fn kernels_of_a_layer_stand_beside_their_formula() {
        let bandwidth = place().device.bandwidth.value.get();
        // Bytes as the record counts them: each array once.
        for (kernel, sizes, formats, bytes) in [
            (
                "attention",
                &[
                    ("batch", 2),
                    ("heads", 8),
                    ("kv_heads", 2),
                    ("head_dim", 64),
                    ("new", 1),
                    ("context", 100),
                ][..],
                ("fp16", "fp32"),
                102_400.0 + 8192.0,
            ),
            ("norm", &[("tokens", 3), ("width", 10)], ("fp16", "fp16"), 240.0),
            ("gate", &[("tokens", 3), ("width", 10)], ("fp16", "fp16"), 180.0),
            ("rope", &[("tokens", 3), ("heads", 5), ("head_dim", 4)], ("fp32", "fp32"), 480.0),
            ("embedding", &[("tokens", 3), ("width", 10), ("vocab", 100)], ("bf16", "fp32"), 180.0),
        ] {
            let mut record = layer_record(kernel, sizes, formats);
            let found = expected(&record, place()).expect(kernel);
            let ideal = bytes / bandwidth;
            assert!((found.ideal.get() / ideal - 1.0).abs() < 1e-9, "{kernel}: {found:?}");
            let (low, high) = found.range.expect("an interval");
            assert!(found.ideal <= low && low <= found.time && found.time <= high, "{kernel}");
            record.sizes.remove(sizes[0].0);
            let why = expected(&record, place()).expect_err("a size is missing");
            assert!(why.contains(sizes[0].0), "{why}");
        }
        let later = layer_record("sort", &[("rows", 1)], ("fp32", "fp32"));
        assert!(expected(&later, place()).expect_err("unknown").contains("no formula"));
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
