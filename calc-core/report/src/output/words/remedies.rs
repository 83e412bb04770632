//! Sentences on what would fit: changes of a request after which a model that does not fit does.

use calc_core::estimate::Estimate;
use calc_core::recommend::Outcome;
use calc_core::scheme::Scheme;
use serde_json::Value;

use super::advice;
use super::placement::places;
use crate::input::request::{
    EstimateInputs, FitChange, FitInputs, RecommendInputs, Remedy, remedies,
};
use crate::number_text as n;

/// Sentence on a model that no change tried here makes fit.
const NOTHING_HELPS: &str = "No change tried here makes it fit: the memory of a host, fewer bits, a shorter context, more devices.";

/// The way in which a reader writes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Flags of the command line.
    Flags,
    /// Fields of JSON, or arguments of a tool.
    Fields,
}

/// Sentences on the smallest changes after which a model that does not fit does; empty for one that fits.
pub fn what_would_fit(inputs: &EstimateInputs, answer: &Estimate, asked: Asked) -> Vec<String> {
    let found = remedies(inputs, answer);
    let is_one_kind = answer.cards.is_empty();
    if found.is_empty() && is_one_kind && !answer.memory.verdict().may_fit() {
        return vec![NOTHING_HELPS.to_owned()];
    }
    found.iter().map(|remedy| would_fit(inputs, remedy, asked)).collect()
}

/// Sentences on the changes after which a scheme meets the bounds of a ranking in which none does, or else on the smallest
/// device on which one does.
pub fn ways_out(inputs: &RecommendInputs, asked: Asked) -> Vec<String> {
    let Some(fit) = FitInputs::of(inputs.clone()) else { return Vec::new() };
    let Some(plan) = fit.ways_out() else { return Vec::new() };
    let changed = |change: &FitChange| {
        let (told, first) = (fields(&change.fields, asked), &change.first);
        let quality = advice::quality(&first.quality);
        format!("With {told}: {}, {quality}.", numbers(first.scheme, &first.outcome))
    };
    if !plan.changes.is_empty() {
        return plan.changes.iter().map(changed).collect();
    }
    let larger = plan.devices.first().map(|found| {
        let (name, numbers) = (&found.device.name, numbers(found.scheme, &found.outcome));
        format!("No change tried here helps; the smallest device on which a scheme does is {name}: {numbers}.")
    });
    vec![larger.unwrap_or_else(|| {
        "No change tried here helps, and on no device of the catalog a scheme does.".to_owned()
    })]
}

/// A scheme with its rate and memory: `GGUF Q4_K_M, 3.02 token/s expected (fitted), 410 GB`.
fn numbers(scheme: &Scheme, outcome: &Outcome) -> String {
    let token = &outcome.token;
    format!(
        "{}, {} expected ({}), {}",
        advice::scheme_name(scheme),
        n::token_rate(token.throughput()),
        token.expected.provenance.key(),
        n::bytes(outcome.memory)
    )
}

/// Fields of a request in the words of its reader: `--host ddr5 --host-memory-gb 64`, or `host ddr5, host_memory_gb 64`.
pub fn fields(changed: &[(&'static str, Value)], asked: Asked) -> String {
    let told = changed.iter().map(|(key, value)| {
        let key = match asked {
            Asked::Flags => format!("--{}", key.replace('_', "-")),
            Asked::Fields => (*key).to_owned(),
        };
        match value {
            Value::Null => format!("without {key}"),
            Value::Bool(true) if asked == Asked::Flags => key,
            Value::String(text) if asked == Asked::Flags && text.contains(' ') => {
                format!("{key} \"{text}\"")
            }
            Value::String(text) => format!("{key} {text}"),
            value => format!("{key} {value}"),
        }
    });
    let between = match asked {
        Asked::Flags => " ",
        Asked::Fields => ", ",
    };
    told.collect::<Vec<_>>().join(between)
}

/// A change with its answer: `It fits with --host ddr5 --host-memory-gb 64: 36.4 token/s expected (…); the experts of ….`
fn would_fit(inputs: &EstimateInputs, remedy: &Remedy, asked: Asked) -> String {
    let told = fields(&remedy.fields, asked);
    let places = match &remedy.answer.placement {
        Some(placement) => format!("; {}", places(placement, &inputs.model.arch)),
        None => String::new(),
    };
    let rate = n::token_rate(remedy.answer.mean.throughput());
    format!(
        "It fits with {told}: {rate} expected ({}){places}.",
        remedy.answer.mean.expected.provenance.key()
    )
}
