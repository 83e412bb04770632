//! Notes on what a request leaves open or says by mistake.

use calc_core::hf_config::Remark;

use crate::input::model_file::{first_notes, remark_text};
use crate::input::request::{EstimateInputs, UsualValue};
use crate::number_text;
use crate::output::words::towers;

/// Largest difference of two vocabularies that llama.cpp accepts for a draft model, recalled; padding alone makes Qwen's differ.
const VOCABULARY_PADDING: u64 = 128;

/// Notes on what may make the memory of a model file wrong, on defaults and names, and on combinations that no engine runs.
pub fn notes(inputs: &EstimateInputs) -> Vec<String> {
    let mut notes = first_notes(&inputs.model.source, &inputs.model.assumed);
    notes.extend(name_says_format(inputs));
    let usual = usual_values(&inputs.usual).into_iter();
    let taken = inputs.taken.iter().cloned();
    let towers = towers::notes(inputs);
    notes
        .extend(usual.chain(taken).chain(towers).chain(short_context(inputs)).chain(draft(inputs)));
    notes
}

/// Note on a file whose name says a format that it does not state, where the request names none either.
fn name_says_format(inputs: &EstimateInputs) -> Option<String> {
    let says = |remark: &&Remark| matches!(remark, Remark::NameSaysFormat { .. });
    let remark = inputs.model.remarks.iter().find(says)?;
    (inputs.precision.weights == inputs.model.stored.weights).then(|| remark_text(remark))
}

/// Defaults that were used: "defaults for fields that the request leaves out: batch 1, prompt 512".
fn usual_values(usual: &[UsualValue]) -> Option<String> {
    let taken: Vec<String> =
        usual.iter().map(|UsualValue { key, value }| format!("{key} {value}")).collect();
    let taken = taken.join(", ");
    let sentence = format!("defaults for fields that the request leaves out: {taken}");
    (!usual.is_empty()).then_some(sentence)
}

/// Note on a decode step with fewer cached tokens than the prompt leaves.
fn short_context(inputs: &EstimateInputs) -> Option<String> {
    let (context, filled) = (inputs.workload.context, inputs.workload.filled());
    (context < filled).then(|| {
        let (context, filled) = (number_text::count(context), number_text::count(filled));
        format!("the decode step at context {context} is of another request: after this prompt {filled} tokens are cached")
    })
}

/// Note on a draft model that no engine pairs with the model, or that costs more than it saves.
fn draft(inputs: &EstimateInputs) -> Option<String> {
    let (draft, model) = (&inputs.draft.as_ref()?.arch, &inputs.model.arch);
    let count = number_text::count;
    if draft.vocab_size.abs_diff(model.vocab_size) > VOCABULARY_PADDING {
        return Some(format!(
            "the draft model has {} tokens in its vocabulary and the model {}: engines pair only models with the same vocabulary",
            count(draft.vocab_size),
            count(model.vocab_size)
        ));
    }
    (draft.n_active_params() >= model.n_active_params()).then(|| {
        "a step of the draft model is no cheaper than one of the model, so drafting slows it down".to_owned()
    })
}
