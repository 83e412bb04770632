//! Models that are named with a format: `Qwen3.5-35B-A3B Q4_K_M`, `llama3.1:8b-q8_0`. The format is what the command line reads.

use calc_core::catalog;
use calc_core::catalog::model_names::{find, is_tag};
use calc_core::catalog::models::CatalogModel;
use calc_core::catalog::schemes::SCHEMES;
use calc_core::precision::PrecisionChoice;
use calc_core::scheme::{Scheme, SchemeWeights};

use super::OptionGroup;
use crate::state::inputs::{Inputs, View};
use crate::state::model::roles::Role;

/// Separator of a model's key and the name that states a format.
const NAMED: char = '\t';

/// Gives the option of the model that a name means the format that the name states.
pub(super) fn with_format(found: &mut [OptionGroup], typed: &str) {
    let Some((CatalogModel { key, .. }, format)) = stated(typed) else { return };
    let mut choices = found.iter_mut().flat_map(|group| &mut group.choices);
    if let Some(choice) = choices.find(|choice| choice.key == *key) {
        choice.name = format!("{} in {}", choice.name, format.weights.short_name);
        choice.key = format!("{key}{NAMED}{}", typed.trim());
    }
}

/// The key of a model in the key of an option, and the name that states a format.
pub fn split_format(key: &str) -> (&str, Option<&str>) {
    key.split_once(NAMED).map_or((key, None), |(key, named)| (key, Some(named)))
}

/// Takes the format that a name states: in Plan as the scheme, elsewhere as the formats of the model. Returns why it is not
/// taken.
pub fn take_format(inputs: &mut Inputs, named: &str) -> Option<String> {
    let (model, format) = stated(named)?;
    if inputs.view == View::Plan {
        let scheme = scheme_of(model, &format, named);
        if scheme.is_none() {
            return Some(format!(
                "{named} names {}, which is none of Plan's schemes, so the scheme was not changed; Model takes it.",
                format.weights.short_name
            ));
        }
        inputs.model.scheme = scheme;
        return None;
    }
    inputs.model.set_format(Role::Weights, Some(format.weights));
    for (role, format) in [
        (Role::Experts, format.experts),
        (Role::Activations, format.activations),
        (Role::Embedding, format.embedding),
    ] {
        inputs.model.set_format(role, format);
    }
    None
}

/// The model that a name means, and the formats that it states; the format that every tag of Ollama has is none.
fn stated(named: &str) -> Option<(&'static CatalogModel, PrecisionChoice)> {
    let found = find(named)?;
    let format = found.format?;
    let is_type = |word: &str| {
        let rest = word.strip_prefix('i').unwrap_or(word).strip_prefix('q');
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    let lower = named.to_ascii_lowercase();
    let mut words = lower.split([':', '-', ' ']);
    let is_stated = !is_tag(named)
        || words.any(|word| word == "qat" || is_type(word) || catalog::format(word).is_ok());
    is_stated.then_some((found.model, format))
}

/// The scheme with these weights; of several the one whose method the name states. Experts that are published in MXFP4 stay as
/// published.
fn scheme_of(
    model: &CatalogModel,
    format: &PrecisionChoice,
    named: &str,
) -> Option<&'static Scheme> {
    let stored = model.stored.choice();
    let has_mxfp4 = stored.experts.unwrap_or(stored.weights).key == "mxfp4";
    let lower = named.to_ascii_lowercase();
    let is_of = |scheme: &&Scheme| match scheme.weights {
        SchemeWeights::Format(weights) => {
            weights.key == format.weights.key
                && scheme.activations.map(|own| own.key) == format.activations.map(|own| own.key)
        }
        SchemeWeights::Half => matches!(format.weights.key, "fp16" | "bf16"),
        SchemeWeights::Published => has_mxfp4 && format.weights.key == "gguf_mxfp4",
    };
    let says = |scheme: &&Scheme| {
        scheme.key.rsplit('_').next().is_some_and(|method| lower.contains(method))
    };
    let mut all = SCHEMES.iter().copied().filter(is_of);
    all.clone().find(says).or_else(|| all.next())
}

#[cfg(test)]
mod tests {
    use calc_core::catalog::models;

    use super::*;
    use crate::state::model::inputs::ModelSource;
    use crate::state::picker::{PickerCatalog, choice_at, found, model_groups};

    /// The inputs after the first option for a name was taken in a view, its name, and the note.
    fn taken(view: View, typed: &str) -> (Inputs, String, Option<String>) {
        let models = model_groups(&ModelSource::Catalog(models::all().next().expect("a model")));
        let choice = choice_at(&found(&models, typed, PickerCatalog::Models), 0).expect(typed);
        let (key, named) = split_format(&choice.key);
        let mut inputs = Inputs { view, ..Inputs::default() };
        inputs.model.set_base(ModelSource::Catalog(catalog::model(key).expect(typed)));
        let note = named.and_then(|named| take_format(&mut inputs, named));
        (inputs, choice.name, note)
    }

    #[test]
    fn a_format_in_the_name_of_a_model_is_taken_or_said_to_be_none() {
        for (typed, name, scheme) in [
            ("Qwen3.5-35B-A3B Q4_K_M", "Qwen3.5 35B-A3B in GGUF Q4_K", "gguf_q4_k"),
            ("unsloth/Qwen3.5-35B-A3B-GGUF:Q4_K_M", "Qwen3.5 35B-A3B in GGUF Q4_K", "gguf_q4_k"),
            ("llama3.1:8b-instruct-q8_0", "Llama-3.1 8B in GGUF Q8_0", "gguf_q8_0"),
            ("Qwen/Qwen2.5-7B-Instruct-AWQ", "Qwen2.5 7B in AWQ/GPTQ INT4 g128", "int4_g128_awq"),
            ("gpt-oss:20b-q4", "gpt-oss-20b (21B-A3.6B) in GGUF MXFP4", "as_published"),
            ("llama3.1:8b-instruct-q5_1", "Llama-3.1 8B in GGUF Q5_1", ""),
            ("gemma3:27b-it-qat", "Gemma-3 27B (text) in GGUF Q4_0", "gguf_q4_0"),
            ("llama3.1:8b", "Llama-3.1 8B", ""),
        ] {
            let (inputs, shown, note) = taken(View::Plan, typed);
            let key = inputs.model.scheme.map_or("", |scheme| scheme.key);
            assert_eq!((&*shown, key), (name, scheme), "{typed}");
            let is_left = scheme.is_empty() && name.contains(" in ");
            assert_eq!(
                note.is_some_and(|note| note.contains("was not changed")),
                is_left,
                "{typed}"
            );
        }
        let (inputs, _, note) = taken(View::Model, "gpt-oss:20b-q4");
        let weights = inputs.model.formats.get(Role::Weights).map(|format| format.key);
        assert_eq!((weights, note), (Some("gguf_mxfp4"), None));
    }
}
