//! The example of `docs/theory/expected.md`, computed step by step from its equations, compared with the model and the page.

use calc_core::analysis::{AnalyzeRequest, Operator, analyze};
use calc_core::calibration::fitted::{CONSTANTS, DEVICES};
use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::catalog::devices::measured;
use calc_core::cost::gemm::GemmShape;
use calc_core::math::pow;
use calc_core::precision::PrecisionChoice;
use calc_core::roofline::Bound;

const DEVICE: &str = "a100_80gb_sxm";
const DOCS: &str = include_str!("../../docs/theory/expected.md");

/// The lines of the table for one format; times in µs.
struct ByHand {
    ideal: f64,
    memory: f64,
    compute: f64,
    both: f64,
    longer: f64,
    expected: f64,
}

/// From the bits per weight, its share of the read rate and of the matmul rate, and its kernel's addition to the fixed time.
fn by_hand(bits: f64, w: f64, k: f64, more: f64) -> ByHand {
    let c = CONSTANTS;
    let own = DEVICES.iter().find(|scale| scale.device == DEVICE).expect("in the fit");
    let (m, n): (f64, f64) = (64.0, 4096.0);
    let (weights, activations) = (n * n * bits / 8.0, m * 2.0 * n * 2.0);
    let us = |bytes: f64| bytes / 2039e9 * 1e6;
    let memory = us(weights / w + activations) / (c.read_hbm * own.memory);
    let q: f64 = (32.0_f64 / 108.0).ceil() * 108.0 / 32.0;
    let s = measured::shares(catalog::device(DEVICE).expect("catalog key")).half.expect("measured")
        * own.compute;
    let compute = 2.0 * m * n * n / 312e12 * 1e6 * q.sqrt() / (s * k);
    let (long, short) = if memory > compute { (memory, compute) } else { (compute, memory) };
    let both = pow(1.0 + pow(short / long, 4.0), 0.25);
    ByHand {
        ideal: us(weights + activations),
        memory,
        compute,
        both,
        longer: long * both,
        expected: long * both + c.alone_product + more,
    }
}

fn columns() -> [(&'static str, ByHand); 2] {
    let c = CONSTANTS;
    [
        ("bf16", by_hand(16.0, 1.0, 1.0, 0.0)),
        ("int4_g128_sym", by_hand(4.125, c.weights_int4, c.unpacking, c.alone_unpacking)),
    ]
}

#[test]
fn the_example_of_the_docs_comes_out() {
    for (format, hand) in columns() {
        let request = AnalyzeRequest {
            device: catalog::device(DEVICE).expect("catalog key"),
            mode: None,
            operator: Operator::Gemm(GemmShape { m: 64, n: 4096, k: 4096 }),
            precision: PrecisionChoice::weights(catalog::format(format).expect("catalog key")),
            engine: Some(Engine::TensorRtLlm),
            calibration: &Calibration::FITTED,
        };
        let expected = analyze(&request).expect("valid").expected.time.get() * 1e6;
        assert!(
            (expected / hand.expected - 1.0).abs() < 1e-6,
            "{format}: {expected}, {}",
            hand.expected
        );
    }
}

#[test]
fn the_docs_have_the_figures_of_the_example() {
    let [(_, wide), (_, narrow)] = columns();
    for (start, a, b) in [
        ("| t_mem [µs]", wide.ideal, narrow.ideal),
        ("| T_m [µs]", wide.memory, narrow.memory),
        ("| T_c [µs]", wide.compute, narrow.compute),
        ("| o |", wide.both, narrow.both),
        ("| long · o [µs]", wide.longer, narrow.longer),
        ("| t_expected [µs]", wide.expected, narrow.expected),
    ] {
        let line = DOCS.lines().find(|line| line.starts_with(start)).expect("a line of the table");
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        for (cell, value) in [(cells[2], a), (cells[3], b)] {
            let number = cell.split([' ', ',']).next().unwrap_or_default();
            let written: f64 = number.parse().unwrap_or_else(|_| panic!("{line}"));
            // The tolerance is half of the last digit that the page prints.
            let half =
                0.51 / pow(10.0, number.split_once('.').map_or(0, |(_, rest)| rest.len()) as f64);
            assert!((written - value).abs() <= half, "{start}: {written}, and {value} by hand");
        }
    }
}

#[test]
fn vectors_on_vector_units_wait_for_their_bytes() {
    // FP32, and INT8 where its peak is cut, run on vector units: one row is not padded to the tile of a tensor unit.
    for (device, key) in [("h200_sxm", "fp32"), ("b300", "int8"), ("gb300", "int8")] {
        let format = catalog::format(key).expect("catalog key");
        let choice =
            PrecisionChoice { activations: Some(format), ..PrecisionChoice::weights(format) };
        let request = AnalyzeRequest {
            device: catalog::device(device).expect("catalog key"),
            mode: None,
            operator: Operator::Gemm(GemmShape { m: 1, n: 14_336, k: 4096 }),
            precision: choice,
            engine: None,
            calibration: &Calibration::FITTED,
        };
        let answer = analyze(&request).expect("valid");
        assert_eq!(answer.reached().bound(), Bound::Memory, "{device} {key}");
    }
}
