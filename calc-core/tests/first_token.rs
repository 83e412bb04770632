//! Time to first token of one request that joins a running batch, in the engine's chunks. `docs/theory/first-token.md`.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, devices, formats};
use calc_core::device::Device;
use calc_core::estimate::{Estimate, EstimateRequest, estimate};
use calc_core::lowering::{Riders, Step};
use calc_core::parallel::Parallel;
use calc_core::plan::{Plan, Span};
use calc_core::precision::PrecisionChoice;
use calc_core::units::Seconds;
use calc_core::workload::{MAX_TOKENS, Workload};

const DOCS: &str = include_str!("../../docs/theory/first-token.md");

fn request<'a>(device: &'a Device, model: &str, workload: Workload) -> EstimateRequest<'a> {
    EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model: &catalog::model(model).expect("catalog key").arch,
        precision: PrecisionChoice::weights(&formats::FP16),
        workload,
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

fn of(device: &str, model: &str, workload: Workload) -> Estimate {
    let device = catalog::device(device).expect("catalog key");
    estimate(request(device, model, workload)).expect("valid")
}

#[test]
fn one_prompt_in_one_chunk_is_the_prefill_to_the_bit() {
    for device in devices::all() {
        for model in ["llama-3.1-8b", "deepseek-v3", "nemotron-3-nano-30b-a3b"] {
            let Ok(answer) = estimate(request(device, model, Workload::new(1, 512))) else {
                continue;
            };
            let all = Workload { static_batch: true, ..Workload::new(7, 512) };
            let together = estimate(request(device, model, all)).expect("as above");
            for answer in [answer, together] {
                assert_eq!(answer.ttft, answer.prefill.totals.expected, "{}", device.key);
                assert_eq!(answer.ttft_ideal, answer.prefill.totals.ideal, "{}", device.key);
            }
        }
    }
}

#[test]
fn a_request_does_not_wait_for_the_prompts_of_the_others() {
    let parallel = Parallel { tensor: 4, ..Parallel::default() };
    let joined = Workload { parallel, ..Workload::new(32, 2048) };
    let together = Workload { static_batch: true, ..joined };
    let (joined, together) =
        (of("h100_sxm", "llama-3.1-70b", joined), of("h100_sxm", "llama-3.1-70b", together));
    assert!(together.ttft.time > Seconds::new(5.0), "{:?}", together.ttft);
    assert!(joined.ttft.time < Seconds::new(0.5), "{:?}", joined.ttft);
    // The prefill phase still covers all prompts, and everything else is unchanged.
    assert_eq!(joined.prefill, together.prefill);
    assert_eq!(joined.tpot, together.tpot);
    assert!(joined.memory.activations < together.memory.activations);
}

#[test]
fn sequences_that_decode_meanwhile_count() {
    let alone = of("h100_sxm", "llama-3.1-8b", Workload::new(1, 512));
    let mut before = alone.ttft.time;
    for batch in [2, 8, 64, 256] {
        let joined =
            of("h100_sxm", "llama-3.1-8b", Workload { context: 4096, ..Workload::new(batch, 512) });
        assert!(joined.ttft.time > before, "{batch}: {:?}", joined.ttft);
        assert_eq!(joined.chunks.riders, batch - 1);
        before = joined.ttft.time;
    }
}

/// The steps of a prompt, summed one by one.
fn one_by_one(request: EstimateRequest<'_>) -> Span {
    let plan = Plan::new(request).expect("valid");
    let Workload { batch, prompt, context, .. } = request.workload;
    let chunk = plan.chunks().tokens;
    let mut sum = Span::ZERO;
    for cached in (0..prompt).step_by(usize::try_from(chunk).expect("small")) {
        let step = Step {
            cached,
            riders: Riders { sequences: batch - 1, cached: context },
            has_logits: prompt - cached <= chunk,
            ..Step::prefill(1, chunk.min(prompt - cached))
        };
        sum = sum.then(plan.timed_step(step).span());
    }
    sum
}

#[test]
fn chunks_are_the_sum_of_their_steps() {
    for (model, prompt, tolerance) in [
        ("llama-3.1-8b", 5000, 1e-12),
        ("deepseek-v3", 3 * 512 + 1, 1e-12),
        ("gemma-3-12b", 40 * 512, 1e-3),
        ("deepseek-v3", 64 * 512, 1e-3),
    ] {
        let device = catalog::device("rtx_4090").expect("catalog key");
        let asked = request(device, model, Workload::new(3, prompt));
        let (found, steps) = (estimate(asked).expect("valid"), one_by_one(asked));
        for (a, b) in [(found.ttft.time, steps.expected.time), (found.ttft_ideal, steps.ideal)] {
            assert!((a / b - 1.0).abs() <= tolerance, "{model}, {prompt}: {a:?}, {b:?}");
        }
    }
}

#[test]
fn the_longest_prompt_is_answered() {
    let answer = of("rtx_4090", "llama-3.1-8b", Workload::new(4, MAX_TOKENS));
    assert!(answer.ttft.time.get().is_finite() && answer.ttft_ideal <= answer.ttft.low);
    assert_eq!(answer.chunks.steps, MAX_TOKENS.div_ceil(512));
}

#[test]
fn chunks_follow_engine_and_memory() {
    let device = |key| catalog::device(key).expect("catalog key");
    for (engine, key, tokens) in [
        (Engine::Vllm, "h100_sxm", Some(8192)),
        (Engine::Vllm, "a100_80gb_sxm", Some(2048)),
        (Engine::Vllm, "l4", Some(2048)),
        (Engine::Sglang, "rtx_4090", Some(2048)),
        (Engine::Sglang, "b200", Some(16_384)),
        (Engine::LlamaCpp, "h100_sxm", Some(512)),
        (Engine::IdealKernels, "h100_sxm", None),
    ] {
        assert_eq!(engine.chunk(device(key)).tokens, tokens, "{engine:?} on {key}");
    }
}

#[test]
fn the_docs_have_the_example() {
    let workload = Workload { context: 1000, ..Workload::new(9, 1000) };
    let device = catalog::device("rtx_4090").expect("catalog key");
    let plan = Plan::new(request(device, "llama-3.1-8b", workload)).expect("valid");
    let totals = plan.first_token();
    let alone = plan.timed_step(Step::prefill(1, 1000));
    let rows = [
        ("| FLOP, in chunks |", totals.cost.flops.get() / 1e12),
        ("| FLOP, whole and alone |", alone.cost.flops.get() / 1e12),
        ("| bytes of weights, in chunks |", totals.cost.traffic.weights.get() / 1e9),
        ("| TTFT at the roof, in chunks |", totals.ideal.get() * 1e3),
        ("| TTFT at the roof, whole and alone |", alone.ideal.get() * 1e3),
    ];
    for (start, value) in rows {
        let line = DOCS.lines().find(|line| line.starts_with(start)).expect("a line of the table");
        let number: f64 = line[start.len()..]
            .split_whitespace()
            .next()
            .and_then(|it| it.parse().ok())
            .expect("a number");
        assert!((number / value - 1.0).abs() < 2e-3, "{start} {number}, computed {value}");
    }
}
