//! One record per measured ceiling: `check` and the expected times use the same one.

use calc_core::analysis::{AnalyzeRequest, Operator};
use calc_core::calibration::Calibration;
use calc_core::catalog::devices::{self, measured};
use calc_core::catalog::{self, formats};
use calc_core::check::{CheckRequest, Claim, Sustained, Work, check};
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance::Measured;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::Seconds;

use measured::{Ceiling, MEASURED, Use};

fn stated(device: &Device, format: &'static QuantFormat) -> Option<(Sustained, ComputeClass)> {
    let precision =
        PrecisionChoice { activations: Some(format), ..PrecisionChoice::weights(format) };
    let work = Work::Operator(AnalyzeRequest {
        device,
        mode: None,
        operator: Operator::Gemm(GemmShape { m: 1, n: 4096, k: 4096 }),
        precision,
        engine: None,
        calibration: &Calibration::FITTED,
    });
    let answer = check(&CheckRequest { work, claim: Claim::Time(Seconds::new(1.0)) }).ok()?;
    Some((answer.sustained, answer.class))
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-12
}

#[test]
fn check_states_the_ceiling_that_expected_times_use() {
    for device in devices::all() {
        let used = Calibration::FITTED
            .tuned(device, None, None, (&formats::FP16, &formats::FP16))
            .basis
            .ceilings;
        for format in [&formats::FP16, &formats::BF16, &formats::FP8_E4M3, &formats::NVFP4] {
            let Some((stated, class)) = stated(device, format) else { continue };
            let of_datasheet = stated.bandwidth.value / device.bandwidth.value;
            match used.read {
                Some(share) => assert!(close(of_datasheet, share), "{}", device.key),
                None => assert_ne!(stated.bandwidth.provenance, Measured, "{}", device.key),
            }
            let used = match class.width() {
                0..=4 => used.four,
                5..=8 => used.eight,
                _ => used.half,
            };
            if stated.peak.provenance == Measured {
                let peak = device.peaks.get(class).expect("it runs on it").value;
                let used = used.expect("expected times use what check states");
                assert!(close(stated.peak.value / peak, used), "{} {class:?}", device.key);
            } else {
                let is_other = |row: &measured::PublishedMeasurement| !matches!((row.usage, row.ceiling), (Use::Chosen(_), Ceiling::Gemm(own, _)) if own == class);
                assert!(
                    measured::measurements(&device.key).all(is_other),
                    "{} {class:?}",
                    device.key
                );
            }
        }
    }
}

#[test]
fn the_ceilings_of_known_devices_are_those_of_expected_times() {
    for (key, read, half) in
        [("gb10", 232.5, 92.0), ("jetson_orin_nano_8gb", 62.26, 0.0), ("a100_80gb_sxm", 0.0, 271.2)]
    {
        let device = catalog::device(key).expect("catalog key");
        let (stated, _) = stated(device, &formats::FP16).expect("it multiplies FP16");
        for (fact, known) in [
            ((stated.bandwidth.value.get() / 1e9, stated.bandwidth.provenance), read),
            ((stated.peak.value.get() / 1e12, stated.peak.provenance), half),
        ] {
            let (value, provenance) = fact;
            assert_eq!(provenance == Measured, known > 0.0, "{key}: {value}");
            assert!(known <= 0.0 || close(value, known), "{key}: {value}, {known} are used");
        }
    }
}

#[test]
fn a_device_has_one_chosen_measurement_per_ceiling_and_none_above_its_datasheet() {
    for (at, row) in MEASURED.iter().enumerate() {
        let device = catalog::device(row.device).expect("a row is about a device of the catalog");
        let kind = |row: &measured::PublishedMeasurement| {
            (row.ceiling.key(), row.ceiling.class().map(ComputeClass::width))
        };
        let datasheet = match row.ceiling.class() {
            None => device.bandwidth.value.get() / 1e9,
            Some(class) => device.peaks.get(class).expect("a peak").value.get() / 1e12,
        };
        let is_above = row.ceiling.published() > datasheet;
        match row.usage {
            Use::Chosen(_) => {
                let twin = MEASURED[at + 1..].iter().find(|other| {
                    other.device == row.device
                        && matches!(other.usage, Use::Chosen(_))
                        && kind(other) == kind(row)
                });
                assert!(twin.is_none(), "{twin:?} and {row:?}");
                assert!(!is_above, "{row:?}");
                assert!(matches!(row.ceiling, Ceiling::Read(_) | Ceiling::Gemm(..)), "{row:?}");
            }
            Use::Listed(reason) => {
                assert_eq!(is_above, reason.starts_with("above the datasheet"), "{row:?}");
            }
        }
        assert!(!row.usage.reason().is_empty() && !row.source.is_empty());
    }
}
