//! Composite operators: sums over their kernels, as the lowering of a whole model counts them, and by hand.

use calc_core::analysis::{
    Analysis, AnalyzeRequest, FeedForwardShape, MoeShape, Operator, OperatorPart, analyze,
};
use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::error::Error;
use calc_core::precision::PrecisionChoice;

fn on(device: &str, operator: Operator, weights: &str) -> Result<Analysis, Error> {
    analyze(&AnalyzeRequest {
        device: catalog::device(device).expect("catalog key"),
        mode: None,
        operator,
        precision: PrecisionChoice::weights(catalog::format(weights).expect("catalog key")),
        engine: None,
        calibration: &Calibration::FITTED,
    })
}

fn check(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{what}: {found}, by hand {expected}");
}

const LLAMA: FeedForwardShape =
    FeedForwardShape { tokens: 1, hidden: 4096, intermediate: 14_336, gated: true };

#[test]
fn the_feed_forward_part_of_llama_by_hand() {
    let answer =
        on("jetson_orin_nano_8gb_super", Operator::FeedForward(LLAMA), "int4_g128").expect("valid");
    // Gate and up: 28672 rows of 32 blocks of 68 bytes; down: 4096 rows of 112 blocks.
    let (gate_up, down) = (28_672.0 * 32.0 * 68.0, 4096.0 * 112.0 * 68.0);
    let between = [2.0 * (4096.0 + 28_672.0), 2.0 * 3.0 * 14_336.0, 2.0 * (14_336.0 + 4096.0)];
    let bytes = gate_up + down + between.iter().sum::<f64>();
    let flops = 2.0 * 28_672.0 * 4096.0 + 5.0 * 14_336.0 + 2.0 * 4096.0 * 14_336.0;
    check(answer.cost.flops.get(), flops, "FLOP");
    check(answer.cost.traffic.total().get(), bytes, "bytes");
    // Every kernel is memory-bound, so the sum of the maxima is bytes over bandwidth.
    check(answer.ideal.get(), bytes / 102.4e9, "ideal");
    let by_part = |part: &OperatorPart| {
        let slow = part.time.memory / part.factors.eta_memory;
        let busy = part.time.compute / part.factors.eta_compute;
        slow.max(busy).get() + part.factors.floor.get()
    };
    check(answer.expected.time.get(), answer.parts.iter().map(by_part).sum(), "expected");
    assert_eq!(answer.parts.len(), 3);
}

#[test]
fn the_ideal_is_a_sum_of_maxima_not_the_maximum_of_sums() {
    let many = FeedForwardShape { tokens: 2048, ..LLAMA };
    let answer = on("h100_sxm", Operator::FeedForward(many), "fp16").expect("valid");
    let [gate_up, activation, down] = &answer.parts[..] else { panic!("three parts") };
    assert!(
        gate_up.time.compute > gate_up.time.memory
            && activation.time.memory > activation.time.compute
    );
    let by_hand =
        gate_up.time.compute.get() + activation.time.memory.get() + down.time.compute.get();
    check(answer.ideal.get(), by_hand, "ideal");
    assert!(answer.ideal > answer.time.ideal());
    assert!(answer.ideal_rate().get() < answer.attainable.get());
}

#[test]
fn a_mixture_of_experts_by_hand() {
    // The example of docs/theory/moe.md: E = 128, k = 8, H = 2048, I_e = 768, four tokens.
    let shape = MoeShape {
        tokens: 4,
        hidden: 2048,
        expert_width: 768,
        experts: 128,
        per_token: 8,
        gated: true,
        shared_width: 0,
    };
    let answer = on("b200", Operator::MixtureOfExperts(shape), "nvfp4").expect("valid");
    let [router, gate_up, activation, down] = &answer.parts[..] else { panic!("four parts") };
    let missed = 120.0 / 128.0;
    let distinct = 128.0 * (1.0 - missed * missed * missed * missed);
    let bytes = 32.0 * 2048.0 * 2.0 + distinct * 1_769_476.0 + 32.0 * 1536.0 * 2.0;
    check(gate_up.cost.traffic.total().get(), bytes, "gate and up");
    check(router.cost.flops.get(), 2.0 * 4.0 * 128.0 * 2048.0, "router");
    check(activation.cost.flops.get(), 5.0 * 32.0 * 768.0, "activation");
    check(down.cost.flops.get(), 2.0 * 32.0 * 2048.0 * 768.0, "down");
    let with_shared = MoeShape { shared_width: 768, ..shape };
    let shared = on("b200", Operator::MixtureOfExperts(with_shared), "nvfp4").expect("valid");
    let alone = FeedForwardShape { tokens: 4, hidden: 2048, intermediate: 768, gated: true };
    let alone = on("b200", Operator::FeedForward(alone), "nvfp4").expect("valid");
    check(shared.cost.flops.get(), answer.cost.flops.get() + alone.cost.flops.get(), "shared");
    check(shared.ideal.get(), (answer.ideal + alone.ideal).get(), "shared ideal");
}

#[test]
fn impossible_shapes_are_refused_by_name() {
    let moe = MoeShape {
        tokens: 1,
        hidden: 1,
        expert_width: 1,
        experts: 8,
        per_token: 9,
        gated: true,
        shared_width: 0,
    };
    for (operator, name) in [
        (Operator::FeedForward(FeedForwardShape { tokens: 0, ..LLAMA }), "tokens"),
        (Operator::FeedForward(FeedForwardShape { hidden: 2_000_000_000, ..LLAMA }), "hidden"),
        (Operator::MixtureOfExperts(moe), "per_token"),
        (Operator::MixtureOfExperts(MoeShape { experts: 70_000, ..moe }), "n_experts"),
    ] {
        let error = on("t4", operator, "fp16").expect_err(name);
        assert!(matches!(&error, Error::OutOfRange { what, .. } if what == name), "{error:?}");
    }
}
