//! Explanations hold the values of a request.

use super::*;
use calc_core::analysis::{AnalyzeRequest, analyze};
use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::precision::PrecisionChoice;

fn int4() -> (Analysis, GemmShape) {
    let shape = GemmShape { m: 1, n: 4096, k: 4096 };
    let request = AnalyzeRequest {
        device: catalog::device("jetson_orin_nano_8gb_super").expect("catalog key"),
        mode: None,
        operator: Operator::Gemm(shape),
        precision: PrecisionChoice::weights(catalog::format("int4_g128").expect("catalog key")),
        engine: None,
        calibration: &Calibration::FITTED,
    };
    (analyze(&request).expect("a valid request"), shape)
}

fn check(explanation: &Explanation, expected: &str) {
    assert_eq!(explanation.values.replace(text::SPACE, " "), expected);
}

#[test]
fn explanations_hold_the_values_of_the_user() {
    let (answer, shape) = int4();
    check(&gemm_bytes(&answer, shape), "1 × 4 096 × 2 B + 8.91 MB + 1 × 4 096 × 2 B = 8.93 MB");
    check(&intensity(&answer, &Operator::Gemm(shape)), "33.6 MFLOP ÷ 8.93 MB = 3.76 FLOP/B");
    check(&memory_time(&answer), "8.93 MB ÷ 102.4 GB/s = 87.2 µs");
    check(&compute_time(&answer, &Operator::Gemm(shape)), "33.6 MFLOP ÷ 16.7 TFLOP/s = 2.01 µs");
    let said = expected(&answer).values.replace(text::SPACE, " ");
    assert!(said.starts_with("max(87.2 µs ÷ 0.") && said.contains(", 2.01 µs ÷ 0."), "{said}");
    let time = text::time(answer.expected.time).replace(text::SPACE, " ");
    assert!(said.contains(&format!(" = {time}; interval ")), "{said}");
}

#[test]
fn a_power_mode_explains_its_scaling() {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let mode = device.power_mode("7w").expect("a mode");
    let own = device.peaks.get(ComputeClass::Fp16).expect("a peak");
    let scaled = peak(device, Some(mode), ComputeClass::Fp16, own);
    check(&scaled, "16.7 TFLOP/s × (4 × 408 MHz) ÷ (8 × 1 020 MHz)");
    assert_eq!(peak(device, None, ComputeClass::Fp16, own).provenance, own.provenance);
}
