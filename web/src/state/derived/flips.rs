//! Changes that would turn the verdict, found by analyzing changed inputs.

use calc_core::analysis::{Analysis, FeedForwardShape, MAX_DIMENSION, MoeShape, Operator};
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::gemm::GemmShape;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Bound;
use calc_core::workload::MAX_TOKENS;
use report::output::verdict::Flips;

use super::OperatorQuestion;

pub(super) fn flips(question: &OperatorQuestion<'_>, answer: &Analysis) -> Flips {
    let first_compute = first_compute_bound(question);
    Flips {
        size: size_name(&question.operator),
        other_bound_at: match answer.time.bound() {
            Bound::Memory => first_compute,
            Bound::Compute => first_compute.and_then(|m| m.checked_sub(1)).filter(|m| *m > 0),
        },
        faster: faster_class(question, answer),
    }
}

/// Binary search for the smallest size that is compute-bound with these formats; intensity only grows with size.
fn first_compute_bound(question: &OperatorQuestion<'_>) -> Option<u64> {
    let choice = question.inputs.precision(question.inputs.format());
    let is_compute_bound = |size: u64| {
        let answer = question.analyze_operator(resized(question.operator, size), choice);
        answer.is_ok_and(|answer| answer.time.bound() == Bound::Compute)
    };
    let most = largest(&question.operator);
    if !is_compute_bound(most) {
        return None;
    }
    let (mut below, mut at) = (0, most);
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if is_compute_bound(middle) { at = middle } else { below = middle }
    }
    Some(at)
}

/// The operator with another number of tokens.
const fn resized(operator: Operator, size: u64) -> Operator {
    match operator {
        Operator::Gemm(shape) => Operator::Gemm(GemmShape { m: size, ..shape }),
        Operator::Attention { shape, fused } => {
            Operator::Attention { shape: AttentionShape { new: size, ..shape }, fused }
        }
        Operator::KvAppend { elements, .. } => Operator::KvAppend { elements, tokens: size },
        Operator::AddNorm { hidden, .. } => Operator::AddNorm { tokens: size, hidden },
        Operator::Norm { hidden, .. } => Operator::Norm { tokens: size, hidden },
        Operator::Activation { width, gated, .. } => {
            Operator::Activation { tokens: size, width, gated }
        }
        Operator::FeedForward(shape) => {
            Operator::FeedForward(FeedForwardShape { tokens: size, ..shape })
        }
        Operator::MixtureOfExperts(shape) => {
            Operator::MixtureOfExperts(MoeShape { tokens: size, ..shape })
        }
    }
}

const fn largest(operator: &Operator) -> u64 {
    match operator {
        Operator::Attention { .. } => MAX_TOKENS,
        Operator::Gemm(_)
        | Operator::KvAppend { .. }
        | Operator::AddNorm { .. }
        | Operator::Norm { .. }
        | Operator::Activation { .. }
        | Operator::FeedForward(_)
        | Operator::MixtureOfExperts(_) => MAX_DIMENSION,
    }
}

/// Name of the size that is searched.
const fn size_name(operator: &Operator) -> &'static str {
    match operator {
        Operator::Gemm(_) => "M",
        Operator::Attention { .. } => "new tokens",
        Operator::KvAppend { .. }
        | Operator::AddNorm { .. }
        | Operator::Norm { .. }
        | Operator::Activation { .. }
        | Operator::FeedForward(_)
        | Operator::MixtureOfExperts(_) => "tokens",
    }
}

/// The fastest narrow compute class of the device, if its peak is above the one in use.
fn faster_class(
    question: &OperatorQuestion<'_>,
    answer: &Analysis,
) -> Option<(ComputeClass, calc_core::units::FlopsPerSec)> {
    const NARROW: [ComputeClass; 4] =
        [ComputeClass::Fp8, ComputeClass::Int8, ComputeClass::Fp4, ComputeClass::Int4];
    let roofs = question.roofs().ok()?;
    NARROW
        .into_iter()
        .filter_map(|class| Some((class, roofs.peak(class)?)))
        .filter(|(_, peak)| peak.get() > answer.roofline.peak.get() * 1.01)
        .reduce(|best, next| if next.1.get() > best.1.get() { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::super::{Inputs, OperatorQuestion};
    use super::*;
    use crate::state::operator::{Field, Op};
    use calc_core::catalog;

    fn found(m: &str, weights: &str) -> Flips {
        let weights = catalog::format(weights).expect("catalog key");
        let mut inputs = Inputs { weights, ..Inputs::default() };
        inputs.typed.set(Field::M, m.to_owned());
        asked(&inputs)
    }

    fn asked(inputs: &Inputs) -> Flips {
        let operator = inputs.operator().expect("valid");
        let question =
            OperatorQuestion { inputs, operator, calibration: inputs.place().calibration() };
        let answer = question.analyze(inputs.format()).expect("it runs");
        flips(&question, &answer)
    }

    #[test]
    fn the_other_bound_begins_where_the_model_says() {
        // FP16: 2 M N K / (2 (M K + N K + M N)) = 16.7 / 0.1024 at M = 177.2 for N = K = 4096.
        assert_eq!(found("1", "fp16").other_bound_at, Some(178));
        assert_eq!(found("2048", "fp16").other_bound_at, Some(177));
    }

    #[test]
    fn attention_flips_with_its_new_tokens_and_a_norm_never_does() {
        let attention = asked(&Inputs { op: Op::Attention, ..Inputs::default() });
        // Eight groups of four heads share keys: decode has an intensity near 4, so about 163 / 4 tokens reach the ridge.
        let at = attention.other_bound_at.expect("it flips");
        assert!((38..45).contains(&at), "{at}");
        assert_eq!(asked(&Inputs { op: Op::Norm, ..Inputs::default() }).other_bound_at, None);
    }

    #[test]
    fn the_fastest_narrow_class_is_named() {
        assert_eq!(found("1", "fp16").faster.map(|(class, _)| class), Some(ComputeClass::Int8));
    }
}
