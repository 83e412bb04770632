//! What would turn the verdict, found by asking the model again.

use calc_core::analysis::{Analysis, MAX_DIMENSION};
use calc_core::cost::gemm::GemmShape;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Bound;
use report::verdict::Flips;

use super::Model;

pub(super) fn flips(model: &Model<'_>, answer: &Analysis) -> Flips {
    let first_compute = first_compute_bound(model);
    Flips {
        other_bound_at: match answer.time.bound() {
            Bound::Memory => first_compute,
            Bound::Compute => first_compute.and_then(|m| m.checked_sub(1)).filter(|m| *m > 0),
        },
        faster: faster_class(model, answer),
    }
}

/// The smallest M that is compute-bound with these N, K and formats; intensity only grows with M.
fn first_compute_bound(model: &Model<'_>) -> Option<u64> {
    let choice = model.inputs.precision(model.inputs.weights);
    let is_compute_bound = |m: u64| {
        let shape = GemmShape { m, ..model.shape };
        model.analyze_shape(shape, choice).is_ok_and(|answer| answer.time.bound() == Bound::Compute)
    };
    if !is_compute_bound(MAX_DIMENSION) {
        return None;
    }
    let (mut below, mut at) = (0, MAX_DIMENSION);
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if is_compute_bound(middle) { at = middle } else { below = middle }
    }
    Some(at)
}

/// The fastest narrow class of the device, if it beats the one in use.
fn faster_class(
    model: &Model<'_>,
    answer: &Analysis,
) -> Option<(ComputeClass, calc_core::units::FlopsPerSec)> {
    const NARROW: [ComputeClass; 4] =
        [ComputeClass::Fp8, ComputeClass::Int8, ComputeClass::Fp4, ComputeClass::Int4];
    let roofs = model.roofs().ok()?;
    NARROW
        .into_iter()
        .filter_map(|class| Some((class, roofs.peak(class)?)))
        .filter(|(_, peak)| peak.get() > answer.roofline.peak.get() * 1.01)
        .reduce(|best, next| if next.1.get() > best.1.get() { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::super::{Inputs, Model};
    use super::*;
    use calc_core::calibration::Calibration;
    use calc_core::catalog;

    fn found(m: &str, weights: &str) -> Flips {
        let weights = catalog::format(weights).expect("catalog key");
        let inputs = Inputs { m: m.to_owned(), weights, ..Inputs::default() };
        let shape = inputs.shape().expect("valid");
        let model = Model { inputs: &inputs, shape, calibration: &Calibration::ASSUMED };
        let answer = model.analyze(weights).expect("it runs");
        flips(&model, &answer)
    }

    #[test]
    fn the_other_bound_begins_where_the_model_says() {
        // FP16: 2 M N K / (2 (M K + N K + M N)) = 16.7 / 0.1024 at M = 177.2 for N = K = 4096.
        assert_eq!(found("1", "fp16").other_bound_at, Some(178));
        assert_eq!(found("2048", "fp16").other_bound_at, Some(177));
    }

    #[test]
    fn the_fastest_narrow_class_is_named() {
        assert_eq!(found("1", "fp16").faster.map(|(class, _)| class), Some(ComputeClass::Int8));
    }
}
