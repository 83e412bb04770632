//! A request without an engine is answered as one that names the usual engine: on every device, for every format.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, devices, formats};
use calc_core::check::{CheckRequest, Claim, ClaimVerdict, Work, check};
use calc_core::device::Device;
use calc_core::estimate::{Estimate, EstimateRequest, estimate};
use calc_core::precision::PrecisionChoice;
use calc_core::units::TokensPerSec;
use calc_core::workload::Workload;

fn request<'a>(
    device: &'a Device,
    model: &str,
    choice: Option<PrecisionChoice>,
    workload: Workload,
) -> EstimateRequest<'a> {
    let model = catalog::model(model).expect("catalog key");
    EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model: &model.arch,
        precision: choice.unwrap_or_else(|| model.stored.choice()),
        workload,
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

/// An answer without the flag `is_named`, in which requests with and without a named engine differ.
fn unnamed(answer: Estimate) -> Estimate {
    let mut answer = answer;
    answer.basis.is_named = false;
    answer
}

#[test]
fn naming_the_usual_engine_changes_nothing() {
    let models = ["llama-3.1-8b", "qwen3-30b-a3b", "gpt-oss-20b", "deepseek-v2-lite", "phi-2"];
    let mut answered = 0;
    for (place, device) in devices::all().enumerate() {
        // Two or three of the models for each device, in turn.
        for model in models.into_iter().skip(place % 2).step_by(2) {
            let of_weights = formats::FORMATS.into_iter().map(|format| {
                let stored = catalog::model(model).expect("catalog key").stored.choice();
                Some(PrecisionChoice::of_weights(format, &stored))
            });
            for choice in of_weights.chain([None]) {
                let open = request(device, model, choice, Workload::new(2, 300));
                let Ok(found) = estimate(open) else { continue };
                let engine = found.basis.engine;
                let named = estimate(EstimateRequest { engine: Some(engine), ..open });
                let named = unnamed(named.expect("the same request"));
                let key = open.precision.weights.key;
                assert!(named == found, "{} {model} {key}: {}", device.key, engine.key());
                answered += 1;
            }
        }
    }
    assert!(answered > 10_000, "{answered}");
}

#[test]
fn a_gguf_file_is_multiplied_as_its_kernels_do_without_an_engine() {
    let device = catalog::device("rtx_4090").expect("catalog key");
    let weights = PrecisionChoice::weights(catalog::format("q4_k_m").expect("an alias"));
    let workload = Workload::new(1, 4096);
    let open = estimate(request(device, "llama-3.1-8b", Some(weights), workload)).expect("valid");
    let ms = |time: f64| (time * 1e3).round();
    let ideal = ms(open.prefill.totals.ideal.get());
    let expected = ms(open.prefill.totals.expected.time.get());
    let found = [ideal - 134.0, expected - 362.0];
    assert!(found.iter().all(|off| off.abs() < 0.5), "{ideal} and {expected} ms, not 394 and 419");
    let half = PrecisionChoice { activations: Some(&formats::FP16), ..weights };
    let half = estimate(request(device, "llama-3.1-8b", Some(half), workload)).expect("valid");
    let stated = ms(half.prefill.totals.ideal.get());
    assert!((stated - 394.0).abs() < 0.5, "what is stated is obeyed: {stated} ms");
}

#[test]
fn gpt_oss_in_llama_cpp_is_its_published_file() {
    let device = catalog::device("gb10").expect("catalog key");
    for engine in [None, Some(Engine::LlamaCpp), Some(Engine::Ollama)] {
        let open = request(device, "gpt-oss-120b", None, Workload::new(1, 512));
        let request = EstimateRequest { engine, ..open };
        let gb = estimate(request).expect("valid").memory.weights.get() / 1e9;
        // ggml-org/gpt-oss-120b-GGUF is listed with 63.4 GB (recalled).
        assert!((gb - 63.4).abs() < 0.4, "{engine:?}: {gb} GB");
        let claim = Claim::Rate { rate: TokensPerSec::new(55.0), per_user: false };
        let found = check(&CheckRequest { work: Work::Token(request), claim }).expect("valid");
        assert_ne!(found.verdict, ClaimVerdict::AboveTheRoof, "{engine:?}: published by users");
    }
}
