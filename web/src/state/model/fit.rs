//! Changes that make a model fit, found by computing its memory again; memory only grows with batch and context.

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::plan::Plan;
use calc_core::quant_format::QuantFormat;
use calc_core::workload::{MAX_BATCH, MAX_TOKENS, Workload};
use report::number_text as text;

use super::fields::Field;
use super::inputs::ModelInputs;
use super::question::ModelQuestion;
use super::roles::Role;
use crate::state::place::Place;

/// Weight formats that are tried, widest first.
const NARROWER: [&str; 4] = ["fp8_e4m3", "int4_g128", "int3_g128", "int2_g64"];
/// KV cache formats that are tried.
const NARROWER_KV: [&str; 2] = ["fp8_e4m3", "int4_g32"];
/// Numbers of devices that are tried.
const DEVICES: [u64; 4] = [2, 4, 8, 16];

/// A change of the inputs that makes the model fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FitChange {
    /// Number of sequences.
    Batch(u64),
    /// Tokens per sequence.
    Context(u64),
    Format(Role, &'static QuantFormat),
    /// Number of tensor-parallel devices.
    Devices(u64),
}

/// Largest workloads that fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargestFit {
    /// Largest batch that fits at the present length; 0 if none does.
    pub batch: u64,
    /// Longest sequence that fits at the present batch, in tokens; 0 if none does.
    pub tokens: u64,
}

impl FitChange {
    /// Label of the change.
    pub fn text(&self) -> String {
        match self {
            Self::Batch(batch) => format!("batch {}", text::count(*batch)),
            Self::Context(tokens) => format!("{} tokens", text::count(*tokens)),
            Self::Format(role, format) => format!("{} in {}", role.name(), format.short_name),
            Self::Devices(devices) => format!("{devices} devices, tensor-parallel"),
        }
    }

    /// Applies the change to the inputs.
    pub fn apply(&self, inputs: &mut ModelInputs, workload: &Workload) {
        match *self {
            Self::Batch(batch) => inputs.set_text(Field::Batch, batch.to_string()),
            Self::Context(tokens) => {
                let shorter = with_tokens(workload, tokens);
                // The field has the tokens of text alone.
                let text = shorter.prompt.saturating_sub(image_tokens(workload));
                inputs.set_text(Field::Prompt, text.to_string());
                inputs.set_text(Field::Generate, shorter.new_tokens.to_string());
                let context = if shorter.context == shorter.prompt {
                    String::new()
                } else {
                    shorter.context.to_string()
                };
                inputs.set_text(Field::Context, context);
            }
            Self::Format(role, format) => inputs.set_format(role, Some(format)),
            Self::Devices(devices) => inputs.set_text(Field::Tensor, devices.to_string()),
        }
    }
}

/// Tokens of the images in a prompt.
pub fn image_tokens(workload: &Workload) -> u64 {
    workload.images.map_or(0, |images| images.tokens())
}

/// The workload with sequences of at most this many tokens.
fn with_tokens(workload: &Workload, tokens: u64) -> Workload {
    let prompt = workload.prompt.min(tokens);
    let new_tokens = workload.new_tokens.min(tokens - prompt + 1);
    Workload { prompt, new_tokens, context: workload.context.min(tokens), ..*workload }
}

/// The largest batch and the longest sequence that fit.
pub fn room(question: &ModelQuestion<'_>, plan: &Plan<'_>) -> LargestFit {
    let w = question.workload;
    let holds = |workload: Workload| fits(plan, &workload);
    LargestFit {
        batch: largest(MAX_BATCH, |batch| holds(Workload { batch, ..w })),
        tokens: largest(MAX_TOKENS, |tokens| {
            holds(Workload { context: tokens, ..with_tokens(&w, tokens) })
        }),
    }
}

/// Changes that each make the model fit on their own; empty if it fits or none helps.
pub fn changes(question: &ModelQuestion<'_>, plan: &Plan<'_>, room: LargestFit) -> Vec<FitChange> {
    if fits(plan, &question.workload) {
        return Vec::new();
    }
    let mut changes = Vec::new();
    changes.extend(narrower(question, plan, Role::Weights, &NARROWER));
    changes.extend(narrower(question, plan, Role::KvCache, &NARROWER_KV));
    if room.batch > 0 {
        changes.push(FitChange::Batch(room.batch));
    }
    if room.tokens > image_tokens(&question.workload) {
        changes.push(FitChange::Context(room.tokens));
    }
    changes.extend(devices(question));
    changes
}

/// Whether a workload fits in memory.
pub fn fits(plan: &Plan<'_>, workload: &Workload) -> bool {
    plan.footprint_of(workload).verdict().may_fit()
}

/// The widest format narrower than the present one with which the model fits.
fn narrower(
    question: &ModelQuestion<'_>,
    plan: &Plan<'_>,
    role: Role,
    keys: &[&str],
) -> Option<FitChange> {
    let bits = role.of(&plan.precision).bits_per_element();
    let fits = |format: &&'static QuantFormat| {
        let mut other = question.clone();
        other.choose(role, format);
        Plan::new(other.request(other.workload)).is_ok_and(|plan| fits(&plan, &other.workload))
    };
    keys.iter()
        .filter_map(|key| catalog::format(key).ok())
        .filter(|format| format.bits_per_element() < bits)
        .find(fits)
        .map(|format| FitChange::Format(role, format))
}

/// The fewest tensor-parallel devices with which the model fits.
fn devices(question: &ModelQuestion<'_>) -> Option<FitChange> {
    let fits = |ways: &u64| {
        let mut other = question.clone();
        other.workload.parallel.tensor = *ways;
        Plan::new(other.request(other.workload)).is_ok_and(|plan| fits(&plan, &other.workload))
    };
    let mut more = more_of(&question.device, question.workload.parallel.tensor);
    more.find(fits).map(FitChange::Devices)
}

/// Larger numbers of devices over which matrices can be split; none of a device whose link to others nobody published.
pub fn more_devices(place: Place<'_>, tensor: u64) -> impl Iterator<Item = u64> {
    more_of(place.device, tensor)
}

fn more_of(device: &Device, tensor: u64) -> impl Iterator<Item = u64> + use<> {
    let is_linked = device.link.is_some();
    DEVICES.into_iter().filter(move |ways| is_linked && *ways > tensor)
}

/// Binary search for the largest number up to `most` for which `holds` is true; 0 if there is none. `holds` must be true up to
/// some number and false from there on.
pub fn largest(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut at, mut beyond) = (0, 1);
    while beyond <= most && holds(beyond) {
        (at, beyond) = (beyond, beyond * 2);
    }
    beyond = beyond.min(most + 1);
    while beyond - at > 1 {
        let middle = at + (beyond - at) / 2;
        if holds(middle) { at = middle } else { beyond = middle }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::inputs::ModelSource;

    #[test]
    fn the_largest_is_found_wherever_it_lies() {
        for most in [1_u64, 2, 7, 1000] {
            for limit in 0..=most {
                assert_eq!(largest(most, |value| value <= limit), limit, "{limit} of {most}");
            }
            assert_eq!(largest(most, |_| true), most);
        }
    }

    fn inputs(model: &str, texts: &[(Field, &str)]) -> ModelInputs {
        let mut inputs = ModelInputs::default();
        inputs.set_base(ModelSource::Catalog(catalog::model(model).expect("catalog key")));
        for (field, text) in texts {
            inputs.set_text(*field, (*text).to_owned());
        }
        inputs
    }

    #[test]
    fn one_more_does_not_fit() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        for model in ["llama-3.1-8b", "gemma-2-9b", "qwen3-30b-a3b"] {
            let inputs = inputs(model, &[]);
            let question = ModelQuestion::read(&inputs, Place::of(device)).expect("valid");
            let plan = Plan::new(question.request(question.workload)).expect("valid");
            let LargestFit { batch, tokens } = room(&question, &plan);
            let w = question.workload;
            for (workload, expected) in [
                (Workload { batch, ..w }, true),
                (Workload { batch: batch + 1, ..w }, false),
                (Workload { context: tokens, ..w }, true),
                (Workload { context: tokens + 1, ..w }, false),
            ] {
                assert_eq!(fits(&plan, &workload), expected, "{model} {workload:?}");
            }
        }
    }

    #[test]
    fn every_change_that_is_offered_makes_it_fit() {
        for (device, model, texts) in [
            ("jetson_orin_nano_8gb_super", "llama-3.1-8b", vec![]),
            ("h100_sxm", "llama-3.1-8b", vec![(Field::Batch, "400")]),
            ("h100_sxm", "llama-3.1-70b", vec![]),
            ("h100_sxm", "llama-3.1-8b", vec![(Field::Prompt, "900000"), (Field::Memory, "30")]),
        ] {
            let device = catalog::device(device).expect("catalog key");
            let inputs = inputs(model, &texts);
            let question = ModelQuestion::read(&inputs, Place::of(device)).expect("valid");
            let plan = Plan::new(question.request(question.workload)).expect("valid");
            let offered = changes(&question, &plan, room(&question, &plan));
            assert!(!offered.is_empty(), "{model}");
            for change in offered {
                let mut changed = inputs.clone();
                change.apply(&mut changed, &question.workload);
                let question = ModelQuestion::read(&changed, Place::of(device)).expect("valid");
                let plan = Plan::new(question.request(question.workload)).expect("valid");
                assert!(fits(&plan, &question.workload), "{model}: {}", change.text());
            }
        }
    }
}
