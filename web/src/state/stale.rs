//! Why the answer on the page is not of what the reader entered.

use super::goal::Bound;
use super::inputs::Inputs;
use super::model::fields::{ModelFault, count, real};

/// Whether the answer is not of the inputs: a field or a bound is wrong, or a file was refused.
pub fn is_stale(inputs: &Inputs, faults: &[ModelFault]) -> bool {
    !faults.is_empty() || inputs.goal.bounds().is_none() || inputs.model.refused.is_some()
}

/// Why the answer is not of the inputs; empty if it is. `answered` has the inputs of the answer; `None` if none is shown.
pub fn why_stale(inputs: &Inputs, faults: &[ModelFault], answered: Option<&Inputs>) -> String {
    let bounds = Bound::ALL.into_iter().filter_map(|bound| inputs.goal.value(bound).err());
    let said: Vec<String> = faults.iter().map(|fault| fault.text.clone()).chain(bounds).collect();
    if !said.is_empty() {
        let until = match answered.map(|answered| former(inputs, faults, answered)) {
            None => "There is no answer before this is right.".to_owned(),
            Some(former) => {
                format!(
                    "What is below is of another input{former} and stays until this one is right."
                )
            }
        };
        return format!("{} {until}", said.join(" "));
    }
    inputs.model.refused.as_ref().map_or_else(String::new, |refused| {
        let (file, model) = (&refused.name, inputs.model.name());
        let model = if *file == model { "the one before".to_owned() } else { model };
        format!("{file} was not taken. What is below is still of {model}.")
    })
}

/// The values that wrong fields had when the answer was computed, in brackets: ` (Prompt 10 tokens)`. Empty if none is known.
fn former(inputs: &Inputs, faults: &[ModelFault], answered: &Inputs) -> String {
    let value = |fault: &ModelFault| {
        let field = fault.field?;
        let (typed, before) = (inputs.model.text(field), answered.model.text(field).trim());
        let spec = field.spec();
        let is_right =
            if spec.real { real(field, before).is_ok() } else { count(field, before).is_ok() };
        let is_former = before != typed.trim() && !before.is_empty() && is_right;
        is_former.then(|| format!("{} {before} {}", spec.name, spec.unit).trim().to_owned())
    };
    let values: Vec<String> = faults.iter().filter_map(value).collect();
    if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::fields::Field;
    use crate::state::model::inputs::ModelSource;
    use crate::state::model::refused::RefusedFile;
    use calc_core::catalog;

    #[test]
    fn an_answer_is_stale_while_a_field_or_a_bound_is_wrong() {
        let mut inputs = Inputs::default();
        assert!(!is_stale(&inputs, &[]) && why_stale(&inputs, &[], Some(&inputs)).is_empty());
        for field in [Some(Field::Batch), None] {
            let fault = [ModelFault { field, text: "Batch must be a whole number.".to_owned() }];
            let said = why_stale(&inputs, &fault, Some(&inputs));
            assert!(said.starts_with("Batch must be") && said.contains("another input"), "{said}");
            assert!(is_stale(&inputs, &fault));
        }
        inputs.goal.set_text(Bound::Loss, "much".to_owned());
        let said = why_stale(&inputs, &[], Some(&inputs));
        assert!(is_stale(&inputs, &[]) && said.starts_with("Quality loss must"), "{said}");
    }

    #[test]
    fn a_stale_answer_says_which_value_it_is_of_and_none_is_claimed_where_there_is_none() {
        let (mut answered, mut inputs) = (Inputs::default(), Inputs::default());
        answered.model.set_text(Field::Prompt, "1e1".to_owned());
        inputs.model.set_text(Field::Prompt, "1e12".to_owned());
        let fault = [ModelFault::of(Field::Prompt, "Prompt must be less.".to_owned())];
        assert_eq!(
            why_stale(&inputs, &fault, Some(&answered)),
            "Prompt must be less. What is below is of another input (Prompt 1e1 tokens) and stays until this one is right."
        );
        assert_eq!(
            why_stale(&inputs, &fault, None),
            "Prompt must be less. There is no answer before this is right."
        );
    }

    #[test]
    fn an_answer_is_stale_after_a_refused_file_until_a_model_is_chosen() {
        for key in ["llama-3.1-8b", "gemma-2-9b"] {
            let mut inputs = Inputs::default();
            inputs.model.refused = Some(RefusedFile {
                name: "config.json".to_owned(),
                reason: "it is empty".to_owned(),
                bounded: None,
            });
            assert!(is_stale(&inputs, &[]));
            let said = why_stale(&inputs, &[], Some(&inputs));
            assert_eq!(said, "config.json was not taken. What is below is still of Llama-3.1 8B.");
            inputs.model.set_base(ModelSource::Catalog(catalog::model(key).expect("catalog key")));
            assert!(!is_stale(&inputs, &[]), "{key}");
        }
    }
}
