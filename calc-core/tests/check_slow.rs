//! A claim far slower than expected gets explanations, each with its numbers.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, formats};
use calc_core::check::{Check, CheckRequest, Claim, Explanation, Pace, Work, check};
use calc_core::device::Device;
use calc_core::estimate::{EstimateRequest, estimate};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::roofline::Bound;
use calc_core::text::Text;
use calc_core::workload::Workload;

#[test]
fn a_claim_far_slower_than_expected_is_explained() {
    for key in ["rtx_4090", "h100_sxm", "gb10", "jetson_orin_nano_8gb_super", "mi300x"] {
        let work = Work::Token(EstimateRequest {
            device: catalog::device(key).expect("catalog key"),
            mode: None,
            memory_limit: None,
            model: &catalog::model("llama-3.1-8b").expect("catalog key").arch,
            precision: PrecisionChoice::weights(&formats::GGUF_Q4_K),
            workload: Workload::new(1, 512),
            weight_size: None,
            draft: None,
            engine: None,
            calibration: &Calibration::FITTED,
            host: None,
            cards: None,
        });
        let own = work.span().expect("valid").expected.time;
        let claim = Claim::Time(own * 3.3);
        let answer = check(&CheckRequest { work, claim }).expect("valid");
        assert_eq!(answer.pace, Pace::Slow, "{key}");
        let computed = answer
            .explanations
            .iter()
            .filter(|found| !matches!(found, Explanation::DoesNotFit { .. }));
        assert!(computed.count() > 0, "{key}: {:?}", answer.explanations);
        for explanation in &answer.explanations {
            if let Explanation::Offload { share, span, .. } = explanation {
                let time = own + (span.expected.time - own) * *share;
                assert!((time / answer.time - 1.0).abs() < 1e-9 && (0.0..=1.0).contains(share));
            }
            if let Explanation::Bandwidth { expected, needed } = explanation {
                assert!(needed < expected, "{key}");
            }
        }
    }
}

fn request<'a>(
    device: &'a Device,
    weights: &'static QuantFormat,
    engine: Option<Engine>,
    batch: u64,
) -> EstimateRequest<'a> {
    EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model: &catalog::model("llama-3.1-8b").expect("catalog key").arch,
        precision: PrecisionChoice::weights(weights),
        workload: Workload::new(batch, 512),
        weight_size: None,
        draft: None,
        engine,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

/// The judgment of a token that takes a multiple of its expected time.
fn slower(request: EstimateRequest<'_>, factor: f64) -> Check {
    let work = Work::Token(request);
    let own = work.span().expect("valid").expected.time;
    check(&CheckRequest { work, claim: Claim::Time(own * factor) }).expect("valid")
}

const FACTORS: [f64; 8] = [1.3, 1.7, 2.3, 3.3, 5.0, 8.0, 20.0, 60.0];

#[test]
fn a_cpu_is_one_that_may_stand_beside_the_device_and_has_the_kernels() {
    let laptop = Device {
        form_factor: Text::Borrowed("laptop"),
        ..catalog::device("rtx_4090").expect("catalog key").clone()
    };
    let mut found = 0;
    for (device, hosted) in [
        (&laptop, false),
        (catalog::device("h100_sxm").expect("catalog key"), true),
        (catalog::device("rtx_4090").expect("catalog key"), true),
        (catalog::device("gh200_96gb").expect("catalog key"), false),
    ] {
        for weights in [&formats::GGUF_Q4_K, &formats::INT4_G128] {
            for factor in FACTORS {
                for explanation in slower(request(device, weights, None, 1), factor).explanations {
                    let (Explanation::Cpu { device: cpu, .. }
                    | Explanation::Offload { device: cpu, .. }) = explanation
                    else {
                        continue;
                    };
                    found += 1;
                    let is_possible = hosted && weights == &formats::GGUF_Q4_K;
                    assert!(is_possible, "{} beside {}", cpu.key, device.key);
                    let has_socket = cpu.form_factor.ends_with("CPU");
                    assert!(has_socket, "{} beside {}", cpu.key, device.key);
                }
            }
        }
    }
    assert!(found > 3, "{found}");
}

#[test]
fn engines_and_formats_are_those_that_run_there() {
    let gguf = |format: &QuantFormat| format.key.starts_with("gguf");
    for key in ["jetson_orin_nano_8gb_super", "h100_sxm", "apple_m4_max", "mi300x"] {
        let device = catalog::device(key).expect("catalog key");
        for (weights, engine) in [
            (&formats::GGUF_Q4_K, None),
            (&formats::GGUF_Q4_K, Some(Engine::LlamaCpp)),
            (&formats::INT4_G128, None),
            (&formats::INT4_G128, Some(Engine::Vllm)),
            (&formats::BF16, Some(Engine::Vllm)),
        ] {
            let is_file = gguf(weights);
            for factor in [0.2, 0.5].into_iter().chain(FACTORS) {
                let Ok(span) = Work::Token(request(device, weights, engine, 1)).span() else {
                    continue;
                };
                assert!(span.ideal > calc_core::units::Seconds::ZERO);
                for found in slower(request(device, weights, engine, 1), factor).explanations {
                    let what = format!("{} with {engine:?} on {key}: {found:?}", weights.key);
                    match found {
                        Explanation::Engine { engine: other, .. } => {
                            let of_files = matches!(other, Engine::LlamaCpp | Engine::Ollama);
                            assert!(of_files == is_file || weights == &formats::BF16, "{what}");
                            let is_cuda = key != "apple_m4_max" && key != "mi300x";
                            assert!(is_cuda || other != Engine::TensorRtLlm, "{what}");
                            let is_board = key == "jetson_orin_nano_8gb_super";
                            assert!(is_board || other != Engine::TensorRtEdgeLlm, "{what}");
                        }
                        Explanation::Format { format, .. } => {
                            let is_half = format == &formats::FP16 || format == &formats::BF16;
                            let is_named = engine.is_some() && !is_half;
                            assert!(!is_named || gguf(format) == is_file, "{what}");
                            let is_single = format == &formats::FP32;
                            assert!(!is_single || weights == &formats::BF16, "{what}");
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn what_slows_a_claim_is_told_of_the_expected_bound() {
    // At this batch DRAM limits the roof, and the rate of llama.cpp's integer kernels the expected time.
    let device = catalog::device("b300").expect("catalog key");
    let request = request(device, &formats::GGUF_Q4_K, Some(Engine::LlamaCpp), 4);
    let decode = estimate(request).expect("an estimate").decode;
    assert_eq!((decode.bound, decode.expected_bound), (Bound::Memory, Bound::Compute));
    let found = slower(request, 1.8).explanations;
    assert!(found.iter().any(|it| matches!(it, Explanation::Clock { .. })), "{found:?}");
    assert!(!found.iter().any(|it| matches!(it, Explanation::Bandwidth { .. })), "{found:?}");
}
