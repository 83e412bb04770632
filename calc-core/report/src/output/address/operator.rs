//! The address of one operator in the Kernel place.

use calc_core::analysis::Operator;
use calc_core::model_arch::Reach;
use calc_core::precision::PrecisionChoice;

use super::{KERNEL, KeyedValue, PageAddress, key, opened, place};
use crate::input::request::AnalyzeInputs;

/// Element size of a head that stands for an append of keys and values, which counts elements only.
const HEAD_SIZE: u64 = 128;

/// The Kernel place with an operator; `None` if the page does not have the operator or the device.
pub fn operator(inputs: &AnalyzeInputs) -> Option<PageAddress> {
    let (pairs, lacks) = question(inputs)?;
    Some(opened(KERNEL, pairs, lacks))
}

/// Place, operator and formats of a request, and its fields that the page does not have.
pub(super) fn question(inputs: &AnalyzeInputs) -> Option<(Vec<KeyedValue>, Vec<&'static str>)> {
    let mut lacks = Vec::new();
    let mut pairs = place(&inputs.device, inputs.power_mode.as_deref(), &mut lacks)?;
    let (name, numbers) = dimensions(&inputs.operator, &mut lacks)?;
    pairs.push((key::OPERATOR, name.to_owned()));
    pairs.extend(numbers.into_iter().map(|(key, value)| (key, value.to_string())));
    pairs.extend(switches(&inputs.operator));
    pairs.extend(formats(&inputs.operator, &inputs.precision, &mut lacks));
    lacks.extend(inputs.engine.map(|_| "engine"));
    lacks.extend(inputs.calibration.as_ref().map(|_| "calibration"));
    Some((pairs, lacks))
}

type Dimensions = (&'static str, Vec<(&'static str, u64)>);

fn dimensions(operator: &Operator, lacks: &mut Vec<&'static str>) -> Option<Dimensions> {
    Some(match operator {
        Operator::Gemm(s) => ("gemm", vec![(key::M, s.m), (key::N, s.n), (key::K, s.k)]),
        Operator::Attention { shape: s, .. } => {
            lacks.extend((s.v_dim != s.qk_dim).then_some("v_dim"));
            lacks.extend((s.reach != Reach::All).then_some("window"));
            let numbers = vec![
                (key::ATTENTION_BATCH, s.batch),
                (key::ATTENTION_NEW, s.new),
                (key::ATTENTION_CACHED, s.cached),
                (key::HEADS, s.heads),
                (key::KV_HEADS, s.kv_heads),
                (key::HEAD_SIZE, s.qk_dim),
            ];
            ("attention", numbers)
        }
        Operator::FeedForward(s) => (
            "ffn",
            vec![(key::TOKENS, s.tokens), (key::HIDDEN, s.hidden), (key::WIDTH, s.intermediate)],
        ),
        Operator::MixtureOfExperts(s) => {
            let numbers = vec![
                (key::TOKENS, s.tokens),
                (key::HIDDEN, s.hidden),
                (key::OPERATOR_EXPERTS, s.experts),
                (key::PER_TOKEN, s.per_token),
                (key::EXPERT_WIDTH, s.expert_width),
                (key::SHARED_WIDTH, s.shared_width),
            ];
            ("moe", numbers)
        }
        Operator::KvAppend { elements, tokens } if elements.is_multiple_of(2 * HEAD_SIZE) => {
            let heads = elements / (2 * HEAD_SIZE);
            (
                "kv_append",
                vec![(key::TOKENS, *tokens), (key::KV_HEADS, heads), (key::HEAD_SIZE, HEAD_SIZE)],
            )
        }
        Operator::Norm { tokens, hidden } => {
            ("norm", vec![(key::TOKENS, *tokens), (key::HIDDEN, *hidden)])
        }
        Operator::KvAppend { .. } | Operator::AddNorm { .. } | Operator::Activation { .. } => {
            return None;
        }
    })
}

fn switches(operator: &Operator) -> Option<KeyedValue> {
    let key = match operator {
        Operator::Attention { fused: false, .. } => key::UNFUSED,
        Operator::FeedForward(shape) if !shape.gated => key::PLAIN,
        Operator::MixtureOfExperts(shape) if !shape.gated => key::PLAIN,
        _ => return None,
    };
    Some((key, "1".to_owned()))
}

fn formats(
    operator: &Operator,
    precision: &PrecisionChoice,
    lacks: &mut Vec<&'static str>,
) -> Vec<KeyedValue> {
    let weights = operator.has_weights().then_some((key::OPERATOR_WEIGHTS, precision.weights));
    let activations = precision.activations.map(|format| (key::OPERATOR_ACTIVATIONS, format));
    let kv = precision.kv_cache.map(|format| (key::OPERATOR_KV_CACHE, format));
    lacks.extend(precision.experts.map(|_| "experts"));
    let pairs = weights.into_iter().chain(activations).chain(kv);
    pairs.map(|(key, format)| (key, format.key.to_owned())).collect()
}
