//! Long answers: the sum by blocks compared with the sum over all steps; short answers are bit-identical.

mod random;

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::estimate::{Draft, EstimateRequest, estimate};
use calc_core::lowering::Step;
use calc_core::plan::{Plan, Span};
use calc_core::precision::PrecisionChoice;
use calc_core::units::{Joules, Seconds};
use calc_core::workload::{Speculation, Workload};
use random::Random;

fn random_request(random: &mut Random) -> EstimateRequest<'static> {
    let devices: Vec<_> = catalog::devices::all().collect();
    let models: Vec<_> = catalog::models::all().collect();
    let drafts =
        ["llama-3.2-1b", "gemma-3-1b"].map(|key| catalog::model(key).expect("catalog key"));
    let new_tokens = 514 + random.below(12_000);
    let mut workload = Workload { new_tokens, ..Workload::new(1, 1 + random.below(6_000)) };
    workload.batch = random.pick(&[1, 2, 7, 64]);
    let mut draft = None;
    if random.below(3) == 0 {
        let speculation =
            Speculation { draft_tokens: 1 + random.below(8), acceptance: 0.7, own_layers: false };
        workload.speculation = Some(speculation);
        draft = (random.below(2) == 0)
            .then(|| Draft { model: &random.pick(&drafts).arch, files: None });
    }
    let kv = random.pick(&[None, Some(&catalog::formats::FP8_E4M3), Some(&catalog::formats::INT8)]);
    let weights = random.pick(&catalog::formats::FORMATS);
    let (all, engine) = (Engine::ALL, random.below(20));
    EstimateRequest {
        device: random.pick(&devices),
        mode: None,
        memory_limit: None,
        model: &random.pick(&models).arch,
        precision: PrecisionChoice { kv_cache: kv, ..PrecisionChoice::weights(weights) },
        workload,
        weight_size: None,
        draft,
        engine: usize::try_from(engine).ok().and_then(|n| all.get(n)).map(|(_, engine)| *engine),
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

#[test]
fn a_long_answer_is_the_sum_of_its_steps() {
    let mut random = Random(5);
    let mut cases = 0;
    while cases < 120 {
        let request = random_request(&mut random);
        let Ok(plan) = Plan::new(request) else { continue };
        let Ok(draft) = plan.draft() else { continue };
        cases += 1;
        let found = plan.generation(draft.as_ref());
        let (mut ideal, mut time, mut low, mut high) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..request.workload.new_tokens - 1 {
            let cached = request.workload.prompt + i;
            let Span { ideal: roof, expected: step } = plan.token(draft.as_ref(), cached);
            ideal += roof.get();
            time += step.time.get();
            low += step.low.get();
            high += step.high.get();
        }
        for (name, found, sum) in [
            ("ideal", found.ideal, ideal),
            ("time", found.expected.time, time),
            ("low", found.expected.low, low),
            ("high", found.expected.high, high),
        ] {
            let error = (found / Seconds::new(sum) - 1.0).abs();
            assert!(error <= 1e-9, "case {cases}, {name}: off by {error:e}: {request:?}");
        }
    }
}

#[test]
fn the_mean_token_is_the_mean_of_all_steps() {
    let mut random = Random(9);
    let mut cases = 0;
    while cases < 60 {
        let request = random_request(&mut random);
        let Ok(answer) = estimate(request) else { continue };
        let plan = Plan::new(request).expect("estimated");
        let draft = plan.draft().expect("estimated");
        cases += 1;
        let (mut time, mut energy, mut bytes) = (0.0, 0.0, 0.0);
        let steps = request.workload.new_tokens - 1;
        for i in 0..steps {
            let cached = request.workload.prompt + i;
            let token = plan.token(draft.as_ref(), cached);
            time += token.expected.time.get();
            let joule = plan.token_energy(token).map(|energy| energy.per_token);
            energy += joule.map_or(f64::NAN, Joules::get);
            bytes += streamed(&plan, draft.as_ref(), &request.workload, cached);
        }
        let count = steps as f64;
        let close = |found: f64, mean: f64, what: &str| {
            assert!((found / mean - 1.0).abs() < 1e-9, "case {cases}, {what}: {found}, {mean}");
        };
        close(answer.mean.expected.time.get(), time / count, "time");
        let rate = answer.mean.throughput().get();
        close(rate, request.workload.batch as f64 * count / time, "rate");
        close(answer.mean_mbu, bytes / time / answer.bandwidth.get(), "MBU");
        if let Some(mean) = answer.mean.energy {
            close(mean.per_token.get(), energy / count, "energy");
        }
    }
}

/// Bytes of weights and KV cache per token at a context.
fn streamed(plan: &Plan<'_>, draft: Option<&Plan<'_>>, workload: &Workload, cached: u64) -> f64 {
    let read = |plan: &Plan<'_>, step| {
        let traffic = plan.step(step).cost.traffic;
        (traffic.weights + traffic.kv_cache).get()
    };
    let Some(speculation) = workload.speculation else {
        return read(plan, Step::decode(workload.batch, cached));
    };
    let n = speculation.draft_tokens;
    let drafted = draft.map_or(0.0, |plan| read(plan, Step::decode(workload.batch, cached)));
    let own = read(plan, Step::verify(workload.batch, n + 1, cached));
    (own + n as f64 * drafted) / speculation.tokens_per_round()
}
