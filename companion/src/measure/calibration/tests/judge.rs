//! Errors of held-out points beside the expected times that follow from the written files.

use calc_core::units::Seconds;
use report::input::timed_kernel::{TimedPlace, expected};

use super::*;

/// The held-out points of a kernel: expected by the files over measured, minus 1, as page and command line compute it.
pub(super) fn errors_by_files(
    own: &OwnMeasurements,
    made: &serde_json::Value,
    records: &[BenchJson],
    kernels: fn(&str) -> bool,
) -> Vec<f64> {
    let written = report::input::calibration_file::write(own);
    let own = report::input::calibration_file::parse(&written).unwrap();
    let device = report::input::device_file::parse(&made.to_string()).unwrap();
    let calibration = own.calibration();
    let place = TimedPlace { device: &device, mode: None, calibration: &calibration };
    let held_out = records.iter().filter(|it| kernels(&it.kernel) && is_held_out(it));
    let error = |record: &BenchJson| {
        expected(&record.timed_kernel(), place).unwrap().error(Seconds::new(record.time_s.median))
    };
    held_out.map(error).collect()
}

/// Errors by the written files, for a processor that the catalog does not have.
fn errors_by_the_files(
    calibrated: &Calibrated,
    records: &[BenchJson],
    kernels: fn(&str) -> bool,
) -> Vec<f64> {
    let made = file(calibrated, records, None).unwrap();
    errors_by_files(&calibrated.own(), &made, records, kernels)
}

fn are_equal(found: &[f64], by_the_files: &[f64]) {
    assert_eq!(found.len(), by_the_files.len());
    assert!(!found.is_empty());
    for (found, of_files) in found.iter().zip(by_the_files) {
        // Shares and roofs have four digits in the files.
        assert!((found - of_files).abs() <= 2e-3, "{found} {of_files}");
    }
}

#[test]
fn errors_of_held_out_points_are_those_that_the_written_files_give() {
    let mut records = records(0.9, 50e9);
    for (index, record) in records.iter_mut().enumerate() {
        record.time_s.median *= 1.0 + 0.1 * (index % 7) as f64;
    }
    let calibrated = calibrate(&records);
    let HeldOut { vectors, packed, matrices, attention, norms } = &calibrated.held_out;
    let by_the_files = |kernels| errors_by_the_files(&calibrated, &records, kernels);
    are_equal(vectors, &by_the_files(|it| it == "gemv"));
    are_equal(packed, &by_the_files(|it| it == "gemm_packed"));
    are_equal(matrices, &by_the_files(|it| it.starts_with("gemm") && it != "gemm_packed"));
    are_equal(attention, &by_the_files(|it| it == "attention"));
    are_equal(norms, &by_the_files(|it| it == "norm"));
}

/// Kernels that unpack weights for 40 tokens whatever their number: slower than as many products of one token, which no expected time is.
#[test]
fn few_tokens_are_judged_with_the_limit_of_as_many_products_of_one_token() {
    let mut records = records(0.9, 50e9);
    for record in records.iter_mut().filter(|it| it.kernel == "gemm_packed") {
        record.time_s.median = 40.0 * record.bytes / 45e9;
    }
    let calibrated = calibrate(&records);
    let packed = &calibrated.held_out.packed;
    are_equal(packed, &errors_by_the_files(&calibrated, &records, |it| it == "gemm_packed"));
    for error in packed {
        // Nine tokens are expected to take nine times as long as one.
        assert!((error / (9.0 / 40.0 - 1.0) - 1.0).abs() < 0.02, "{error}");
    }
    let few = calibrated.rows.iter().filter(|row| row.factors.tokens == Some(Tokens::Few));
    for row in few {
        // Two tokens of the fit are expected to take twice as long.
        assert!(row.factors.interval.unwrap().high > 19.0, "{row:?}");
    }
}
