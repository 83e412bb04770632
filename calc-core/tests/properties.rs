//! Laws of the model that hold for every input; and no input panics.

use calc_core::analysis::{AnalyzeRequest, Operator, analyze};
use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, devices, formats, models};
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::estimate::{Draft, Estimate, EstimateRequest, WeightSize, estimate};
use calc_core::model_arch::{Decay, DeltaNet, Indexer, ModelArch, Reach, Recurrent};
use calc_core::parallel::Parallel;
use calc_core::plan::Plan;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::units::Bytes;
use calc_core::workload::{Speculation, Workload};
use proptest::prelude::*;

fn any_device() -> impl Strategy<Value = &'static Device> {
    let all: Vec<&'static Device> = devices::all().collect();
    proptest::sample::select(all)
}

fn any_model() -> impl Strategy<Value = &'static ModelArch> {
    let all: Vec<&'static ModelArch> = models::all().map(|model| &model.arch).collect();
    proptest::sample::select(all)
}

fn any_format() -> impl Strategy<Value = &'static QuantFormat> {
    proptest::sample::select(formats::FORMATS.to_vec())
}

/// Counts at boundaries: zero, one, around powers of two, the largest.
fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        1..5000_u64,
        (0..64_u32).prop_map(|shift| 1_u64 << shift),
        (1..64_u32).prop_map(|shift| (1_u64 << shift) - 1),
        Just(u64::MAX),
    ]
}

fn any_real() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(-1.0),
        Just(0.0),
        0.0..1.0_f64,
        any::<f64>()
    ]
}

fn on(
    device: &Device,
    operator: Operator,
    weights: &'static QuantFormat,
) -> Result<calc_core::analysis::Analysis, Error> {
    let calibration = &Calibration::FITTED;
    let precision = PrecisionChoice::weights(weights);
    analyze(&AnalyzeRequest { device, mode: None, operator, precision, engine: None, calibration })
}

fn of(
    device: &Device,
    model: &ModelArch,
    weights: &'static QuantFormat,
    workload: Workload,
) -> Result<Estimate, Error> {
    estimate(asked(device, model, weights, workload))
}

fn asked<'a>(
    device: &'a Device,
    model: &'a ModelArch,
    weights: &'static QuantFormat,
    workload: Workload,
) -> EstimateRequest<'a> {
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

/// Equal within the rounding of sums in another order.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #[test]
    fn no_shape_panics_and_every_answer_is_finite(
        device in any_device(), weights in any_format(), m in any_count(), n in any_count(), k in any_count(),
    ) {
        match on(device, Operator::Gemm(GemmShape { m, n, k }), weights) {
            Ok(answer) => {
                prop_assert!(answer.expected.high.get().is_finite() && answer.expected.low.get() > 0.0);
                prop_assert!(answer.time.ideal() <= answer.expected.time);
                prop_assert!(answer.attainable <= answer.roofline.peak);
            }
            Err(Error::OutOfRange { min, max, .. }) => prop_assert!(min <= max),
            Err(_) => {}
        }
    }

    #[test]
    fn no_attention_panics(
        device in any_device(), kv in any_format(), counts in proptest::array::uniform7(any_count()),
        width in any_count(), reach in 0_usize..3, fused in any::<bool>(),
    ) {
        let [batch, heads, kv_heads, qk_dim, v_dim, new, cached] = counts;
        let reach = [Reach::All, Reach::Window(width), Reach::Chunk(width)][reach];
        let shape = AttentionShape { batch, heads, kv_heads, qk_dim, v_dim, new, cached, reach };
        if let Ok(answer) = on(device, Operator::Attention { shape, fused }, kv) {
            prop_assert!(answer.expected.time.get().is_finite());
        }
    }

    #[test]
    fn no_workload_panics(
        device in any_device(), model in any_model(), weights in any_format(),
        counts in proptest::array::uniform4(any_count()), split in proptest::array::uniform3(any_count()),
        draft_tokens in any_count(), acceptance in any_real(), speculate in any::<bool>(), size in any_real(),
    ) {
        let [batch, prompt, context, new_tokens] = counts;
        let [tensor, pipeline, expert] = split.map(|ways| if ways % 3 == 0 { 1 } else { ways });
        let workload = Workload {
            context, cached_prefix: expert % 1000, inner_chunk: speculate,
            // Ten million decode steps take long; the largest count has its own test below.
            new_tokens: new_tokens.min(5000),
            parallel: Parallel { tensor, pipeline, expert },
            speculation: speculate.then_some(Speculation { draft_tokens, acceptance, own_layers: false }),
            static_batch: batch % 2 == 0, ..Workload::new(batch, prompt)
        };
        let answer = estimate(EstimateRequest {
            device, mode: None, memory_limit: None, model, precision: PrecisionChoice::weights(weights), workload,
            weight_size: Some(WeightSize::Total(Bytes::new(size))),
            draft: Some(Draft { model, files: None }), engine: None, calibration: &Calibration::FITTED, host: None, cards: None,
        });
        if let Ok(answer) = answer {
            prop_assert!(answer.end_to_end.high.get().is_finite() && answer.memory.total().get().is_finite());
        }
    }

    #[test]
    fn no_geometry_panics(numbers in proptest::collection::vec(any_count(), 40), device in any_device()) {
        let mut model = catalog::model("deepseek-v3").expect("catalog key").arch.clone();
        let mut next = numbers.into_iter();
        let mut count = || next.next().unwrap_or(1);
        (model.hidden_size, model.n_layers, model.vocab_size) = (count(), count(), count());
        let a = &mut model.attention.to_mut()[0];
        (a.n_heads, a.n_kv_heads, a.head_dim) = (count(), count(), count());
        (a.full_layers, a.windowed_layers, a.window) = (count(), count(), count());
        (a.v_head_dim, a.gate_outputs, a.chunked) = (count(), count(), count() % 2 == 0);
        if let Some(mla) = &mut a.latent {
            (mla.kv_lora_rank, mla.rope_dim, mla.nope_dim) = (count(), count(), count());
        }
        let [layers, n_heads, head_dim, query_inputs, top_k] = core::array::from_fn(|_| count());
        a.indexer = Some(Indexer { layers, n_heads, head_dim, query_inputs, top_k, weighs_heads: top_k % 2 == 0, compression: None });
        for moe in model.moe.to_mut() {
            (moe.n_experts, moe.experts_per_token, moe.expert_width) = (count(), count(), count());
            (moe.layers, moe.shared_width, moe.latent) = (count(), count(), Some(count()));
        }
        let [layers, key_heads, value_heads, key_dim, value_dim, conv_kernel] = core::array::from_fn(|_| count());
        let decay = Decay::PerChannel { rank: count(), full_gate: head_dim % 2 == 0 };
        let net = DeltaNet { layers, key_heads, value_heads, key_dim, value_dim, conv_kernel, decay };
        model.recurrent = vec![Recurrent::DeltaNet(net)].into();
        (model.add_norms, model.post_norms) = (count(), count());
        model.dense.to_mut()[0].width = count();
        if let Ok(answer) = of(device, &model, &formats::BF16, Workload::new(3, 100)) {
            prop_assert!(answer.tpot.time.get().is_finite());
        }
    }

    #[test]
    fn more_work_never_takes_less_time(
        device in any_device(), model in any_model(), weights in any_format(),
        batch in 1..64_u64, prompt in 1..4000_u64, more in 1..64_u64,
    ) {
        let small = of(device, model, weights, Workload::new(batch, prompt));
        let large = of(device, model, weights, Workload::new(batch + more, prompt));
        let long = of(device, model, weights, Workload::new(batch, prompt + more));
        if let (Ok(small), Ok(large), Ok(long)) = (small, large, long) {
            for other in [&large, &long] {
                prop_assert!(small.ttft.time <= other.ttft.time);
                prop_assert!(small.tpot.time <= other.tpot.time);
                prop_assert!(small.memory.total() <= other.memory.total());
            }
        }
    }

    #[test]
    fn rows_add_up_to_the_phase(
        device in any_device(), model in any_model(), weights in any_format(), batch in 1..64_u64, prompt in 1..4000_u64,
        tensor in proptest::sample::select(vec![1_u64, 2, 4]),
    ) {
        let parallel = Parallel { tensor, ..Parallel::default() };
        let workload = Workload { parallel, ..Workload::new(batch, prompt) };
        let Ok(answer) = of(device, model, weights, workload) else { return Ok(()) };
        for phase in [&answer.prefill, &answer.decode] {
            let sum = |of: &dyn Fn(&calc_core::plan::OpRow) -> f64| phase.operators.iter().map(of).sum::<f64>();
            prop_assert!(close(sum(&|row| row.totals.cost.flops.get()), phase.totals.cost.flops.get()));
            prop_assert!(close(sum(&|row| row.totals.ideal.get()), phase.totals.ideal.get()));
            prop_assert!(close(sum(&|row| row.totals.expected.time.get()), phase.totals.expected.time.get()));
            prop_assert!(close(sum(&|row| row.totals.expected.low.get()), phase.totals.expected.low.get()));
            prop_assert!(close(sum(&|row| row.totals.floors.get()), phase.totals.floors.get()));
            prop_assert!(close(sum(&|row| row.totals.cost.traffic.total().get()), phase.totals.cost.traffic.total().get()));
            let parts = |of: &dyn Fn(&calc_core::plan::LayerRow) -> f64| phase.layers.iter().map(of).sum::<f64>();
            prop_assert!(close(parts(&|row| row.totals.ideal.get()), phase.totals.ideal.get()));
            prop_assert!(close(parts(&|row| row.totals.expected.time.get()), phase.totals.expected.time.get()));
            prop_assert!(close(parts(&|row| row.totals.cost.traffic.total().get()), phase.totals.cost.traffic.total().get()));
            for row in &phase.operators {
                let count: u64 = phase.layers.iter().flat_map(|part| &part.operators).filter(|other| other.kind == row.kind).map(|other| other.count).sum();
                prop_assert_eq!(count, row.count);
            }
        }
    }

    #[test]
    fn generation_is_the_sum_of_its_decode_steps(
        device in any_device(), model in any_model(), weights in any_format(),
        batch in 1..16_u64, prompt in 1..3000_u64, new_tokens in 1..40_u64,
    ) {
        let workload = Workload { new_tokens, ..Workload::new(batch, prompt) };
        let Ok(whole) = of(device, model, weights, workload) else { return Ok(()) };
        let step = |i| {
            let workload = Workload { context: prompt + i, ..Workload::new(batch, prompt) };
            of(device, model, weights, workload).expect("as above")
        };
        let steps: Vec<_> = (0..new_tokens - 1).map(step).collect();
        let sum: f64 = steps.iter().map(|step| step.tpot.time.get()).sum();
        prop_assert!(close(whole.generation.time.get(), sum), "{} and {sum}", whole.generation.time.get());
        let ideal: f64 = steps.iter().map(|step| step.token_ideal.get()).sum();
        let first = whole.ttft_ideal.get();
        prop_assert!(close(whole.end_to_end_ideal.get(), first + ideal), "{}", whole.end_to_end_ideal.get());
    }

    #[test]
    fn tensor_parallel_divides_the_work(device in any_device(), prompt in 1..2000_u64, batch in 1..8_u64) {
        let model = &catalog::model("llama-3.1-70b").expect("catalog key").arch;
        let split = Workload { parallel: Parallel { tensor: 8, ..Parallel::default() }, ..Workload::new(batch, prompt) };
        let (Ok(one), Ok(eight)) = (
            of(device, model, &formats::FP16, Workload::new(batch, prompt)),
            of(device, model, &formats::FP16, split),
        ) else { return Ok(()) };
        let ratio = one.prefill.totals.cost.flops / eight.prefill.totals.cost.flops;
        // Norms are not divided, everything else is.
        prop_assert!(ratio <= 8.0 && ratio > 7.5, "{ratio}");
        prop_assert!(eight.memory.weights < one.memory.weights / 7.0);
    }
}

#[test]
fn ten_million_new_tokens_are_answered() {
    let device = catalog::device("h100").expect("alias");
    let model = &catalog::model("llama-3.2-1b").expect("catalog key").arch;
    let workload =
        Workload { new_tokens: calc_core::workload::MAX_NEW_TOKENS, ..Workload::new(1, 1) };
    let answer = of(device, model, &formats::BF16, workload).expect("an answer");
    assert!(answer.generation.time.get() > 0.0);
}

#[test]
fn speculation_without_a_draft_model_at_full_acceptance_gives_its_length_plus_one() {
    let device = catalog::device("h100").expect("alias");
    let model = &catalog::model("llama-3.1-8b").expect("catalog key").arch;
    let plain = of(device, model, &formats::BF16, Workload::new(1, 1000)).expect("an answer");
    let speculation = Some(Speculation { draft_tokens: 3, acceptance: 1.0, own_layers: false });
    let fast =
        of(device, model, &formats::BF16, Workload { speculation, ..Workload::new(1, 1000) })
            .expect("an answer");
    let speedup = plain.tpot.time / fast.tpot.time;
    assert!(
        speedup > 3.9 && speedup < 4.0,
        "memory-bound: four tokens for the traffic of one, nearly; got {speedup}"
    );
}

#[test]
fn impossible_splits_are_refused_with_what_does_not_divide() {
    let device = catalog::device("h100").expect("alias");
    let split = |key, parallel| {
        let model = &catalog::model(key).expect("catalog key").arch;
        of(device, model, &formats::BF16, Workload { parallel, ..Workload::new(1, 10) })
    };
    let tensor = |ways| Parallel { tensor: ways, ..Parallel::default() };
    assert!(matches!(split("llama-3.1-8b", tensor(3)), Err(Error::UnevenSplit { count: 32, .. })));
    assert!(split("nemotron-3-nano-30b-a3b", tensor(2)).is_ok());
    let uneven = split("nemotron-3-nano-30b-a3b", tensor(64));
    assert!(matches!(uneven, Err(Error::UnevenSplit { count: 32, .. })));
    let expert = Parallel { expert: 2, ..Parallel::default() };
    assert!(matches!(split("llama-3.1-8b", expert), Err(Error::Inapplicable { .. })));
    assert!(split("mixtral-8x7b", expert).is_ok());
}

#[test]
fn ideal_kernels_are_at_the_roof_and_drafts_pay_for_their_rows() {
    let device = catalog::device("rtx_4090").expect("catalog key");
    let model = &catalog::model("llama-3.1-8b").expect("catalog key").arch;
    let request = |engine, speculation| EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(&formats::GGUF_Q4_K),
        workload: Workload { speculation, ..Workload::new(1, 512) },
        weight_size: None,
        draft: None,
        engine: Some(engine),
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    };
    let ideal = estimate(request(Engine::IdealKernels, None)).expect("valid");
    let (time, roof) = (ideal.decode.totals.expected, ideal.decode.totals.ideal);
    assert!(close(time.time.get(), roof.get()) && time.low == time.high, "{time:?}");
    // Verifying four drafts is one step of five rows, whose launches cost as much as those of a batch.
    let plain = estimate(request(Engine::LlamaCpp, None)).expect("valid").tpot.time;
    let all = Speculation { draft_tokens: 4, acceptance: 1.0, own_layers: false };
    let drafted = estimate(request(Engine::LlamaCpp, Some(all))).expect("valid").tpot.time;
    assert!(drafted > plain / 5.0 * 1.05, "{drafted:?} of {plain:?}");
}

#[test]
fn weights_by_role_add_up_to_the_weights_of_the_footprint() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    let mut checked = 0;
    for model in models::all() {
        for format in ["bf16", "gguf_q4_k", "fp8_e4m3"] {
            for (tensor, pipeline, expert) in [(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 2)] {
                let parallel = Parallel { tensor, pipeline, expert };
                let workload = Workload { parallel, ..Workload::new(1, 1024) };
                let weights = catalog::format(format).expect("catalog key");
                let request = asked(device, &model.arch, weights, workload);
                let Ok(plan) = Plan::new(request) else { continue };
                let sum: f64 = plan.weight_roles().iter().map(|(_, bytes)| bytes.get()).sum();
                let all = plan.footprint().weights.get();
                assert!(close(sum, all), "{} {format} {parallel:?}: {sum} {all}", model.key);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
}
