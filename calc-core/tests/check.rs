//! Laws of `check`: a claim is judged by the roofs, and the model confirms every explanation. It is longer than 400 lines because
//! all laws share the same claims.

use calc_core::analysis::{AnalyzeRequest, Operator};
use calc_core::calibration::Calibration;
use calc_core::catalog::{self, devices, formats, models};
use calc_core::check::{Check, CheckRequest, Claim, ClaimVerdict, Explanation, Pace, Work, check};
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::estimate::EstimateRequest;
use calc_core::lowering::Step;
use calc_core::model_arch::ModelArch;
use calc_core::plan::Plan;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::units::{Seconds, TokensPerSec};
use calc_core::workload::{Speculation, Workload};
use proptest::prelude::*;

fn device(key: &str) -> &'static Device {
    catalog::device(key).expect("catalog key")
}

fn model(key: &str) -> &'static ModelArch {
    &catalog::model(key).expect("catalog key").arch
}

fn product(device: &'static Device, (m, n, k): (u64, u64, u64), weights: &str) -> Work<'static> {
    Work::Operator(AnalyzeRequest {
        device,
        mode: None,
        operator: Operator::Gemm(GemmShape { m, n, k }),
        precision: PrecisionChoice::weights(catalog::format(weights).expect("catalog key")),
        engine: None,
        calibration: &Calibration::FITTED,
    })
}

fn asked(
    device: &'static Device,
    model: &'static ModelArch,
    weights: &'static QuantFormat,
    workload: Workload,
) -> EstimateRequest<'static> {
    EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(weights),
        workload,
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

fn judge(work: Work<'_>, claim: Claim) -> Check {
    check(&CheckRequest { work, claim }).expect("valid")
}

fn at(work: Work<'_>, seconds: f64) -> Check {
    judge(work, Claim::Time(Seconds::new(seconds)))
}

/// A claim of a total rate over the batch.
fn rate(token_per_s: f64) -> Claim {
    Claim::Rate { rate: TokensPerSec::new(token_per_s), per_user: false }
}

fn any_device() -> impl Strategy<Value = &'static Device> {
    proptest::sample::select(devices::all().collect::<Vec<_>>())
}

fn any_model() -> impl Strategy<Value = &'static ModelArch> {
    proptest::sample::select(models::all().map(|model| &model.arch).collect::<Vec<_>>())
}

fn any_format() -> impl Strategy<Value = &'static QuantFormat> {
    proptest::sample::select(formats::FORMATS.to_vec())
}

/// Work of every kind.
fn any_work() -> impl Strategy<Value = Work<'static>> {
    let shape = (1..3000_u64, 1..200_u64, 1..200_u64);
    let workload = (1..40_u64, 1..4000_u64, 1..60_u64);
    (any_device(), any_model(), any_format(), shape, workload, 0..3_u8).prop_map(
        |(device, model, weights, (m, n, k), (batch, prompt, new_tokens), kind)| {
            let workload = Workload { new_tokens, ..Workload::new(batch, prompt) };
            let request = asked(device, model, weights, workload);
            match kind {
                0 => product(device, (m, n * 64, k * 64), weights.key),
                1 => Work::Token(request),
                _ => Work::Answer(request),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_ideal_time_has_all_of_the_datasheet(work in any_work()) {
        let Ok(span) = work.span() else { return Ok(()) };
        let answer = at(work, span.ideal.get());
        prop_assert!((answer.share.of_datasheet - 1.0).abs() < 1e-12);
        prop_assert_eq!(answer.verdict, ClaimVerdict::NearTheRoof);
        let implied = answer.implied;
        prop_assert!(implied.bandwidth.get() <= answer.datasheet.bandwidth.get() * (1.0 + 1e-9));
        prop_assert_eq!(implied.bandwidth, answer.cost.traffic.total() / answer.time);
    }

    #[test]
    fn a_slower_claim_has_a_smaller_share_and_no_stricter_verdict(
        work in any_work(), factor in 0.05..20.0_f64, slower in 1.0..5.0_f64,
    ) {
        let Ok(span) = work.span() else { return Ok(()) };
        let (fast, slow) =
            (at(work, span.ideal.get() * factor), at(work, span.ideal.get() * factor * slower));
        prop_assert!(slow.share.of_datasheet <= fast.share.of_datasheet);
        prop_assert!(slow.share.of_sustained <= fast.share.of_sustained);
        prop_assert!(slow.verdict <= fast.verdict);
    }

    #[test]
    fn above_the_roof_is_faster_than_ideal_and_nothing_else(work in any_work(), factor in 0.3..30.0_f64) {
        let Ok(span) = work.span() else { return Ok(()) };
        let answer = at(work, span.expected.time.get() * factor);
        let faster = answer.time * (1.0 + 1e-9) < span.ideal;
        prop_assert_eq!(answer.verdict == ClaimVerdict::AboveTheRoof, faster);
        prop_assert_eq!(answer.pace == Pace::AboveTheRoof, faster);
        let inside = span.expected.low <= answer.time && answer.time <= span.expected.high;
        prop_assert_eq!(answer.pace == Pace::AsExpected, inside && !faster);
        prop_assert_eq!(answer.explanations.contains(&Explanation::AsExpected), inside && !faster);
    }

    #[test]
    fn explanations_hold_when_the_model_is_asked_again(work in any_work(), factor in 0.02..50.0_f64) {
        let Ok(span) = work.span() else { return Ok(()) };
        let answer = at(work, span.expected.time.get() * factor);
        let time = answer.time;
        for explanation in &answer.explanations {
            match explanation {
                Explanation::Format { span, .. }
                | Explanation::Mode { span, .. }
                | Explanation::Units { span, .. }
                | Explanation::Cpu { span, .. }
                | Explanation::Engine { span, .. }
                | Explanation::Prompt { rest: span, .. } => prop_assert!(explains(&answer, span), "{explanation:?}"),
                Explanation::OneOf { batch, span } => {
                    prop_assert!(explains(&answer, span) && *batch > 1, "{explanation:?}");
                }
                Explanation::Drafts { shortest, easiest } => {
                    for drafts in [Some(*shortest), *easiest].into_iter().flatten() {
                        let again = with_drafts(&work, Speculation {
                            draft_tokens: drafts.draft_tokens, acceptance: drafts.acceptance,
                            own_layers: false,
                        });
                        let counted = if answer.pace == Pace::AboveTheRoof { again.ideal } else { again.expected.time };
                        prop_assert!((counted / time - 1.0).abs() < 1e-6, "{drafts:?}");
                    }
                }
                Explanation::Cache { l2, resident, left } => {
                    prop_assert!(resident <= l2 && *left <= time && answer.pace != Pace::Slow);
                }
                Explanation::Overhead { kernels, floor, needed } => {
                    let again = answer.expected.time + (*needed - *floor) * *kernels;
                    prop_assert!((again / time - 1.0).abs() < 1e-9);
                }
                Explanation::Clock { full, needed } => prop_assert!(needed < full),
                Explanation::DoesNotFit { needs, usable } => prop_assert!(needs > usable),
                Explanation::AsExpected | Explanation::Batch { .. } | Explanation::Offload { .. } | Explanation::Bandwidth { .. } => {}
            }
        }
    }

    #[test]
    fn a_batch_makes_the_rate_attainable_and_one_sequence_less_does_not(
        device in any_device(), model in any_model(), weights in any_format(), batch in 1..20_u64, factor in 1.01..40.0_f64,
    ) {
        let request = asked(device, model, weights, Workload::new(batch, 300));
        let roof = |batch: u64| {
            let mut request = request;
            request.workload.batch = batch;
            Work::Token(request).span().map(|span| batch as f64 / span.ideal.get())
        };
        let Ok(own) = roof(batch) else { return Ok(()) };
        let claimed = own * factor;
        for explanation in judge(Work::Token(request), rate(claimed)).explanations {
            if let Explanation::Batch { batch: found, .. } = explanation {
                prop_assert!(found > batch);
                prop_assert!(roof(found).expect("valid") >= claimed);
                prop_assert!(roof(found - 1).expect("valid") < claimed);
            }
        }
    }

    #[test]
    fn a_whole_answer_is_the_sum_of_its_steps(
        device in any_device(), model in any_model(), prompt in 1..6000_u64, new_tokens in 2..300_u64,
    ) {
        let workload = Workload { new_tokens, ..Workload::new(2, prompt) };
        let request = asked(device, model, &formats::INT8, workload);
        let Ok(plan) = Plan::new(request) else { return Ok(()) };
        let mut cost = plan.first_token().cost;
        for i in 0..new_tokens - 1 {
            cost = cost.plus(&plan.step(Step::decode(2, prompt + i)).cost);
        }
        let found = at(Work::Answer(request), 1.0).cost;
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-7;
        prop_assert!(near(found.flops.get(), cost.flops.get()));
        prop_assert!(near(found.traffic.total().get(), cost.traffic.total().get()));
    }
}

fn explains(answer: &Check, span: &calc_core::plan::Span) -> bool {
    let (time, expected) = (answer.time, span.expected);
    span.ideal <= time
        && (answer.pace == Pace::AboveTheRoof || expected.low <= time && time <= expected.high)
}

fn with_drafts(work: &Work<'_>, speculation: Speculation) -> calc_core::plan::Span {
    let mut work = *work;
    if let Work::Token(request) | Work::Answer(request) = &mut work {
        request.workload.speculation = Some(speculation);
    }
    work.span().expect("valid")
}

fn kinds(answer: &Check) -> Vec<&'static str> {
    let kind = |explanation: &Explanation| match explanation {
        Explanation::AsExpected => "as expected",
        Explanation::DoesNotFit { .. } => "memory",
        Explanation::Format { .. } => "format",
        Explanation::Drafts { .. } => "drafts",
        Explanation::Batch { .. } => "batch",
        Explanation::OneOf { .. } => "one of",
        Explanation::Mode { .. } => "mode",
        Explanation::Cache { .. } => "cache",
        Explanation::Prompt { .. } => "prompt",
        Explanation::Units { .. } => "units",
        Explanation::Cpu { .. } => "cpu",
        Explanation::Overhead { .. } => "overhead",
        Explanation::Clock { .. } => "clock",
        Explanation::Engine { .. } => "engine",
        Explanation::Offload { .. } | Explanation::Bandwidth { .. } => "computed",
    };
    answer.explanations.iter().map(kind).collect()
}

fn llama(device_key: &str, weights: &'static QuantFormat) -> Work<'static> {
    let workload = Workload::new(1, 512);
    Work::Token(asked(device(device_key), model("llama-3.1-8b"), weights, workload))
}

#[test]
fn claims_from_life_get_the_explanations_that_they_deserve() {
    let orin = device("jetson_orin_nano_8gb_super");
    for (what, answer, verdict, wanted, unwanted) in [
        (
            "16-bit weights cannot stream at 500 token/s; 4 bits, drafts or a batch can",
            judge(llama("h100_sxm", &formats::BF16), rate(500.0)),
            ClaimVerdict::AboveTheRoof,
            vec!["format", "batch", "drafts"],
            vec!["cache", "one of", "mode"],
        ),
        (
            "an H100 at 15 token/s does what the CPU of a server does",
            judge(llama("h100_sxm", &formats::BF16), rate(15.0)),
            ClaimVerdict::Possible,
            vec!["cpu"],
            vec!["batch", "drafts", "mode"],
        ),
        (
            "what four users get in all was said of one",
            {
                let workload = Workload::new(4, 512);
                let request =
                    asked(device("rtx_4090"), model("llama-3.1-8b"), &formats::BF16, workload);
                judge(Work::Token(request), rate(55.0))
            },
            ClaimVerdict::Possible,
            vec!["one of"],
            vec!["batch", "drafts", "mode", "format"],
        ),
        (
            "16 bits do not fit on an Orin Nano",
            judge(llama("jetson_orin_nano_8gb_super", &formats::FP16), rate(20.0)),
            ClaimVerdict::AboveTheRoof,
            vec!["memory", "format"],
            vec!["as expected", "drafts", "batch"],
        ),
        (
            "9 MB of weights do not fit into 2 MB of L2",
            at(product(orin, (1, 4096, 4096), "int4_g128"), 60e-6),
            ClaimVerdict::AboveTheRoof,
            vec!["format"],
            vec!["cache", "batch", "drafts"],
        ),
        (
            "but into the 50 MB of an H100",
            at(product(device("h100_sxm"), (1, 4096, 4096), "int4_g128"), 2e-6),
            ClaimVerdict::AboveTheRoof,
            vec!["cache"],
            vec!["batch", "drafts", "mode"],
        ),
        (
            "a product on FP32 units",
            at(product(device("a100_80gb_sxm"), (4096, 4096, 4096), "fp16"), 8.3e-3),
            ClaimVerdict::Possible,
            vec!["units"],
            vec!["cache"],
        ),
        (
            "a small model on a large GPU waits for its kernels",
            judge(
                Work::Token(asked(
                    device("h100_sxm"),
                    model("qwen3-0.6b"),
                    &formats::BF16,
                    Workload::new(1, 64),
                )),
                rate(150.0),
            ),
            ClaimVerdict::Possible,
            vec!["overhead"],
            vec!["clock", "drafts"],
        ),
    ] {
        assert_eq!(answer.verdict, verdict, "{what}: {answer:?}");
        let found = kinds(&answer);
        for kind in wanted {
            assert!(found.contains(&kind), "{what}: {kind} is not among {found:?}: {answer:?}");
        }
        for kind in unwanted {
            assert!(!found.contains(&kind), "{what}: {kind} is among {found:?}");
        }
    }
}

#[test]
fn a_slow_claim_on_a_board_finds_its_power_mode() {
    let orin = device("jetson_orin_nano_8gb_super");
    let mode = orin.power_mode("7W").expect("a mode");
    let request = asked(orin, model("llama-3.2-3b"), &formats::INT4_G128, Workload::new(1, 512));
    let in_mode = Work::Token(EstimateRequest { mode: Some(mode), ..request }).span();
    let slow = Work::Token(request).span().expect("valid").expected.high * 1.01;
    let answer = at(Work::Token(request), slow.get());
    assert!(slow <= in_mode.expect("known clocks").expected.high);
    assert_eq!(answer.pace, Pace::Slow);
    assert!(kinds(&answer).contains(&"mode"), "{answer:?}");
}

#[test]
fn the_widest_format_that_makes_a_claim_possible_is_of_any_software() {
    let request =
        |weights| asked(device("h100_sxm"), model("llama-3.1-70b"), weights, Workload::new(1, 512));
    for (weights, token_per_s) in [
        (&formats::FP8_E4M3, 60.0),
        (&formats::FP8_E4M3, 80.0),
        (&formats::GGUF_Q8_0, 60.0),
        (&formats::GGUF_Q8_0, 100.0),
    ] {
        let answer = judge(Work::Token(request(weights)), rate(token_per_s));
        assert_eq!(answer.verdict, ClaimVerdict::AboveTheRoof, "{} {token_per_s}", weights.key);
        let widest = answer.explanations.iter().find_map(|found| match found {
            Explanation::Format { bits, .. } => Some(*bits),
            _ => None,
        });
        let widest = widest.expect("a narrower format makes it possible");
        for other in
            [&formats::GGUF_Q6_K, &formats::GGUF_Q5_K, &formats::GGUF_Q4_K, &formats::INT4_G32]
        {
            let again = judge(Work::Token(request(other)), rate(token_per_s));
            let is_wider = other.bits_per_element() > widest;
            assert!(
                !is_wider || again.verdict == ClaimVerdict::AboveTheRoof,
                "{} makes {token_per_s} token/s possible and is wider than {widest} bits",
                other.key
            );
        }
    }
}

#[test]
fn ceilings_are_measured_where_somebody_measured_them() {
    use calc_core::provenance::Provenance::{Fitted, Measured};
    let orin = device("jetson_orin_nano_8gb_super");
    let work = product(orin, (1, 4096, 4096), "fp16");
    let own = at(work, 1e-3).sustained;
    assert_eq!((own.bandwidth.provenance, own.peak.provenance), (Measured, Measured));
    assert!((own.bandwidth.value.get() - 99.2e9).abs() < 1.0);
    let Work::Operator(request) = work else { unreachable!("an operator") };
    let mode = orin.power_mode("15W").expect("a mode");
    let in_mode =
        at(Work::Operator(AnalyzeRequest { mode: Some(mode), ..request }), 1e-3).sustained;
    assert_eq!(in_mode.bandwidth.provenance, Fitted, "nobody measured in this mode");
    let share = in_mode.bandwidth.value / mode.bandwidth.expect("published");
    assert!((0.85..1.0).contains(&share), "{share}");
}

#[test]
fn rates_are_of_the_batch_or_of_one_user() {
    let request =
        asked(device("h100_sxm"), model("llama-3.1-8b"), &formats::BF16, Workload::new(8, 512));
    let work = Work::Token(request);
    let total = judge(work, rate(800.0)).time;
    let user = Claim::Rate { rate: TokensPerSec::new(100.0), per_user: true };
    assert_eq!((total, judge(work, user).time), (Seconds::new(0.01), Seconds::new(0.01)));
}

#[test]
fn what_is_no_claim_is_refused() {
    let orin = device("jetson_orin_nano_8gb_super");
    let work = product(orin, (1, 64, 64), "fp16");
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let claim = Claim::Time(Seconds::new(time));
        let refused = check(&CheckRequest { work, claim });
        assert!(matches!(refused, Err(Error::OutOfRange { .. })), "{time}");
    }
    let refused = check(&CheckRequest { work, claim: rate(10.0) });
    assert!(matches!(refused, Err(Error::Conflict { needs: true, .. })));
    let zero = check(&CheckRequest { work: llama("t4", &formats::FP16), claim: rate(0.0) });
    assert!(matches!(zero, Err(Error::OutOfRange { .. })));
    let long = Workload { new_tokens: 1_000_000, ..Workload::new(1, 1) };
    let request = asked(orin, model("llama-3.2-3b"), &formats::INT8, long);
    let claim = Claim::Time(Seconds::new(1.0));
    let refused = check(&CheckRequest { work: Work::Answer(request), claim });
    assert!(matches!(refused, Err(Error::OutOfRange { .. })));
}
