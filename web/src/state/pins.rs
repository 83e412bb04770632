//! A scenario as one value of the address: `model:llama-3.1-8b,d:h100_sxm,prompt:4096`. A query of the Plan view is read, too.

use super::inputs::Inputs;
use super::model::inputs::ModelSource;
use super::model::url::{self, Pair};
use report::output::address::{self, key};
use report::percent;

/// Keys of a query that are no part of a scenario.
const BESIDE: [&str; 5] = [key::VIEW, "tab", key::VERSION, key::SCENARIO, "rows"];

/// Device and power mode, where they differ from the default.
pub fn place(inputs: &Inputs) -> Vec<Pair> {
    let mut pairs = Vec::new();
    if inputs.device != Inputs::default().device {
        pairs.push((key::DEVICE, inputs.device.key.to_string()));
    }
    pairs.extend(inputs.mode.as_ref().map(|mode| (key::POWER_MODE, mode.to_string())));
    pairs
}

/// Goal, model and workload, where they differ from the default. What belongs into the fragment is left out.
pub fn question(inputs: &Inputs) -> Vec<Pair> {
    let mut pairs = Vec::new();
    inputs.goal.write(&mut pairs);
    let of_model = url::pairs(&inputs.model).into_iter();
    pairs.extend(of_model.filter(|(key, _)| !url::is_in_fragment(key)));
    pairs
}

/// The scenario of the inputs. It names model and device in any case, so that it reads well and keeps its meaning if a default
/// changes; a model of the user's own has no key.
pub fn text(inputs: &Inputs) -> String {
    let mut scenario = inputs.clone();
    scenario.model.claim = Default::default();
    scenario.model.filter = Default::default();
    let mut pairs: Vec<Pair> = Vec::new();
    if let ModelSource::Catalog(model) = &scenario.model.base {
        pairs.push((key::MODEL, model.key.to_owned()));
    }
    pairs.push((key::DEVICE, scenario.device.key.to_string()));
    let others = place(&scenario).into_iter().chain(question(&scenario));
    pairs.extend(others.filter(|(key, _)| ![key::MODEL, key::DEVICE].contains(key)));
    address::scenario(&pairs)
}

/// The pairs of a scenario's text; the error says which part has no value.
///
/// # Errors
/// Returns the part that is no pair, as a sentence.
pub fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let query = if text.contains('=') {
        text.to_owned()
    } else {
        let parts = text.split(',').filter(|part| !part.is_empty());
        let pair = |part: &str| match part.split_once(':') {
            Some((key, value)) => Ok(format!("{key}={value}")),
            None => Err(format!("“{}” is no part of a scenario, such as d:h100_sxm.", brief(part))),
        };
        parts.map(pair).collect::<Result<Vec<_>, _>>()?.join("&")
    };
    let mut pairs = percent::pairs(&query);
    pairs.retain(|(key, _)| !BESIDE.contains(&key.as_str()));
    Ok(pairs)
}

/// The start of a text that may be long.
fn brief(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::fields::Field;

    #[test]
    fn a_scenario_reads_well_and_names_its_model_and_device() {
        let mut inputs = Inputs { mode: Some("7W".into()), ..Inputs::default() };
        inputs.model.set_text(Field::Prompt, "4 k".into());
        let text = text(&inputs);
        assert_eq!(text, "model:llama-3.1-8b,d:jetson_orin_nano_8gb_super,pm:7W,prompt:4%20k");
        let pairs = pairs(&text).expect("pairs");
        assert_eq!(pairs[3], ("prompt".to_owned(), "4 k".to_owned()));
    }

    #[test]
    fn a_query_of_the_plan_view_is_a_scenario_too() {
        let pairs = pairs("?view=plan&d=t4&tab=memory&prompt=4%20096&c=d:t4&v=1").expect("pairs");
        let read: Vec<_> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(read, [("d", "t4"), ("prompt", "4 096")]);
        assert!(super::pairs("model:x,garbage").is_err_and(|error| error.contains("garbage")));
    }
}
