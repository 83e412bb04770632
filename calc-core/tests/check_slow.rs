//! A claim far slower than expected gets explanations, each with its numbers.

use calc_core::calibration::Calibration;
use calc_core::catalog::{self, formats};
use calc_core::check::{CheckRequest, Claim, Explanation, Pace, Work, check};
use calc_core::estimate::EstimateRequest;
use calc_core::precision::PrecisionChoice;
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
