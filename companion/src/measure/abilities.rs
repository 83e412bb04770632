//! The abilities of this daemon, as its hello tells them.

use kernels::backend::GemvShape;
use kernels::cpu::gemm::ELEMENTS;
use protocol::ability::{Abilities, DeviceAbility, KernelAbility};
use protocol::bench::BenchKind;

use super::layers;
use crate::scopes::{GRANTED, Restriction};

/// The abilities of a daemon with this restriction of its scopes.
pub(crate) fn abilities(restriction: Restriction) -> Abilities {
    Abilities {
        devices: vec![processor()],
        jobs: ["bench", "calibrate"].map(str::to_owned).into(),
        off: restriction.all_off(),
        grants: GRANTED.to_vec(),
    }
}

fn processor() -> DeviceAbility {
    let kernel = |kind: BenchKind| KernelAbility {
        kernel: kind.key().to_owned(),
        formats: match kind {
            BenchKind::Gemv => {
                kernels::pack::formats().map(|format| format.key.to_owned()).collect()
            }
            BenchKind::Gemm => ELEMENTS.iter().map(|element| element.key().to_owned()).collect(),
            BenchKind::Bandwidth | BenchKind::Flops | BenchKind::Roofs => Vec::new(),
            BenchKind::Attention
            | BenchKind::Norm
            | BenchKind::Rope
            | BenchKind::Gate
            | BenchKind::Embedding => {
                layers::formats(kind).iter().map(|float| float.key().to_owned()).collect()
            }
        },
        most_tokens: (kind == BenchKind::Gemv).then_some(GemvShape::MAX_TOKENS),
    };
    let kernels = BenchKind::ALL.into_iter().map(kernel).collect();
    DeviceAbility { backend: "cpu".to_owned(), index: 0, kernels }
}

#[cfg(test)]
mod tests {
    use protocol::job::{CalibrateSpec, JobSpec};

    use super::*;

    #[test]
    fn every_format_that_is_told_has_a_kernel() {
        let told = abilities(Restriction::default());
        for (kind, products) in [(BenchKind::Gemv, 1), (BenchKind::Gemm, 17)] {
            let formats = told.formats(kind);
            assert!(!formats.is_empty());
            for format in formats {
                assert!(
                    crate::measure::products::kernel(products, 64, 64, format).is_ok(),
                    "{format}"
                );
            }
        }
        for kind in BenchKind::ALL.into_iter().filter(|kind| kind.has_sizes()) {
            assert!(!told.formats(kind).is_empty(), "{kind:?}");
            for format in told.formats(kind) {
                assert!(layers::format(kind, format).is_ok(), "{kind:?} {format}");
            }
        }
        assert_eq!(told.formats(BenchKind::Flops), [] as [String; 0]);
    }

    #[test]
    fn every_kind_of_job_is_told() {
        let told = abilities(Restriction::default()).jobs;
        for spec in [
            JobSpec::Calibrate(CalibrateSpec { backend: None }),
            serde_json::from_str(r#"{"kind":"bench","what":"flops"}"#).unwrap(),
        ] {
            let kind = match &spec {
                JobSpec::Bench(_) => "bench",
                JobSpec::Calibrate(_) => "calibrate",
            };
            assert_eq!(serde_json::to_value(&spec).unwrap()["kind"], kind);
            assert!(told.iter().any(|told| told == kind));
        }
    }
}
