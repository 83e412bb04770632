//! Residual streams (hyper-connections): what a step reads and writes of them.

use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::estimate::{EstimateRequest, estimate};
use calc_core::model_arch::ModelArch;
use calc_core::op::OpKind;
use calc_core::precision::PrecisionChoice;
use calc_core::workload::Workload;

/// Bytes of activations of a decode step in operators of a kind.
fn activations(model: &ModelArch, kind: OpKind) -> f64 {
    let answer = estimate(EstimateRequest {
        device: catalog::device("h200_sxm").expect("catalog key"),
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(catalog::format("bf16").expect("catalog key")),
        workload: Workload::new(1, 64),
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    })
    .expect("a valid request");
    let rows = answer.decode.operators.iter().filter(|row| row.kind == kind);
    rows.map(|row| row.totals.cost.traffic.activations.get()).sum()
}

#[test]
fn streams_are_read_and_written_after_every_block() {
    let model = &catalog::model("deepseek-v4-flash").expect("catalog key").arch;
    // 43 layers with two blocks, H = 4096, 2 bytes: a block has the first stream, its input and output in add and norm, and the
    // three other streams twice; the final norm has one stream.
    let hidden = 4096.0 * 2.0;
    let expected = (87.0 * 4.0 + 86.0 * 6.0) * hidden;
    assert!((activations(model, OpKind::AddNorm) - expected).abs() < 0.5);
    // The coefficients come from all four streams.
    let read = (86.0 * (4.0 * 4096.0 + 24.0) + 4.0 * 4096.0 + 4.0) * 2.0;
    assert!((activations(model, OpKind::Projection) - read).abs() < 0.5);

    let mut plain = model.clone();
    for matrix in plain.projections.to_mut() {
        matrix.streams = 0;
    }
    assert!((activations(&plain, OpKind::AddNorm) - 87.0 * 4.0 * hidden).abs() < 0.5);
    assert_eq!(plain.n_params(), model.n_params(), "streams have no weights");
}
