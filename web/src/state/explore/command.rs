//! The command that gives the numbers of a row again, at every batch and prompt of the ranges.

use calc_core::roofline::Roofs;
use calc_core::scheme::SchemeWeights;

use super::row::ExploreRow;
use super::shown::opened;
use super::{ExploreField, asked};
use crate::state::inputs::Inputs;
use crate::state::model::beside::told;
use crate::state::model::fields;
use crate::state::model::inputs::ModelSource;
use crate::state::model::question::ModelQuestion;

/// Names that stand for the files of a device and of a model of the user's own.
pub const DEVICE_FILE: &str = "device.json";
const MODEL_FILE: &str = "config.json";

/// The command line of `ridgepoint sweep` for the device, power mode, model and formats of a row.
pub fn sweep(inputs: &Inputs, row: &ExploreRow) -> String {
    let scenario = opened(inputs, row);
    let mut words = vec!["ridgepoint sweep".to_owned()];
    for (flag, value) in flags(&scenario) {
        words.push(format!("--{flag} {}", quoted(&value)));
    }
    words.extend(beside(&scenario));
    let ranges = [
        ("batch", ExploreField::Batches, asked::usual_batches(inputs).to_owned()),
        ("prompt", ExploreField::Prompts, row.prompt.to_string()),
    ];
    for (flag, field, usual) in ranges {
        let typed = inputs.explore.get(field);
        let value = if typed.is_empty() { usual } else { typed.to_owned() };
        words.push(format!("--{flag} {}", quoted(&value)));
    }
    words.join(" ")
}

/// Flags with their values, except batch and prompt.
pub fn flags(scenario: &Inputs) -> Vec<(&'static str, String)> {
    let device = if scenario.has_own_device() { DEVICE_FILE } else { &*scenario.device.key };
    let model = match &scenario.model.base {
        ModelSource::Catalog(model) => model.key,
        ModelSource::File(_) => MODEL_FILE,
    };
    let mut flags = vec![("hardware", device.to_owned())];
    flags.extend(scenario.mode.as_ref().map(|mode| ("power-mode", mode.to_string())));
    flags.push(("model", model.to_owned()));
    flags.extend(formats(scenario).into_iter().map(|(flag, key)| (flag, key.to_owned())));
    let model = &scenario.model;
    let texts = [
        ("memory-limit-gb", fields::Field::Memory),
        ("context", fields::Field::Context),
        ("new-tokens", fields::Field::Generate),
        ("tensor-parallel", fields::Field::Tensor),
        ("pipeline-parallel", fields::Field::Pipeline),
        ("expert-parallel", fields::Field::Expert),
        ("draft-tokens", fields::Field::Draft),
    ];
    for (flag, field) in texts {
        let (text, usual) = (model.text(field).trim(), field.spec().usual);
        // The answer's length is always said: the command line generates one token where nothing is said.
        if !text.is_empty() && (text != usual || flag == "new-tokens") {
            flags.push((flag, text.to_owned()));
        }
    }
    if !model.text(fields::Field::Draft).trim().is_empty() {
        flags.push(("acceptance", model.text(fields::Field::Acceptance).trim().to_owned()));
        flags.extend(model.drafter.map(|draft| ("draft-model", draft.key.to_owned())));
    }
    flags.extend(model.engine.map(|engine| ("engine", engine.key().to_owned())));
    flags
}

/// Flags of host, other programs and images, as words.
fn beside(scenario: &Inputs) -> Vec<String> {
    let word = |(field, text): (&str, String)| {
        let flag = field.replace('_', "-");
        // The switch needs no value.
        if text == "true" { format!("--{flag}") } else { format!("--{flag} {}", quoted(&text)) }
    };
    scenario.model.beside.as_deref().map_or_else(Vec::new, told).into_iter().map(word).collect()
}

/// Formats of the scheme on the device; those that the model is published in are left out.
fn formats(scenario: &Inputs) -> Vec<(&'static str, &'static str)> {
    let place = scenario.place();
    let (Ok(roofs), Ok(question), Some(scheme)) = (
        Roofs::new(place.device, place.mode),
        ModelQuestion::read(&scenario.model, place),
        scenario.model.scheme,
    ) else {
        return Vec::new();
    };
    let named = question.named();
    let choice = scheme.choice(&roofs, &named, &scenario.model.base.stored());
    let is_published = matches!(scheme.weights, SchemeWeights::Published);
    let weights = (!is_published).then_some(choice.weights);
    let roles = if is_published {
        // The published formats of open roles come with the model.
        [None, named.kv_cache, named.embedding, None]
    } else {
        let experts = choice.experts.filter(|_| question.arch.has_experts());
        [choice.activations, choice.kv_cache, choice.embedding, experts]
    };
    let names = ["activations", "kv", "embedding", "experts"];
    let weights = weights.map(|format| ("weights", format.key));
    let others = names.into_iter().zip(roles);
    weights
        .into_iter()
        .chain(others.filter_map(|(name, format)| Some((name, format?.key))))
        .collect()
}

/// A value as one word of a shell.
fn quoted(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.,+:/@".contains(&byte);
    if !value.is_empty() && value.bytes().all(is_plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::url::read;

    #[test]
    fn the_command_has_host_other_programs_and_images() {
        let query = "?view=explore&d=rtx_4090&model=gpt-oss-120b&host=ryzen%209%207950x&hostgb=96&reserve=desktop&textonly=1";
        let (inputs, notes) = read(query);
        assert!(notes.is_empty(), "{notes:?}");
        let words = beside(&inputs).join(" ");
        let host = "--host 'ryzen 9 7950x' --host-memory-gb 96";
        assert_eq!(words, format!("{host} --reserve-gb desktop --language-model-only"));
    }
}
