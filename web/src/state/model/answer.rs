//! Results of the Model view, derived from the inputs.

use std::sync::Arc;

use calc_core::device::Device;
use calc_core::estimate::Estimate;
use calc_core::plan::Plan;
use calc_core::workload::Workload;
use chart::scene::OperatorPanel;
use report::input::request::EstimateInputs;
use report::number_text as text;
use report::output::verdict::model as say;
use report::output::words;

use super::beside::{Erased, told};
use super::fields::{Field, ModelFault};
use super::figures::{Figure, figures};
use super::fit;
use super::geometry::value;
use super::inputs::{ModelInputs, ModelSource};
use super::memory::{MemoryBar, bar};
use super::operators::chart;
use super::question::{ModelQuestion, fault};
use super::roles::Role;
use crate::state::place::Place;

/// All results of the Model view for valid inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// Memory of one device.
    pub memory: MemoryBar,
    /// The roofline with a point for each operator, and the operators' shares of the time.
    pub chart: Option<[OperatorPanel; 2]>,
    /// The core's answer.
    pub estimate: Estimate,
    /// Short name of the weights' format.
    pub weights: String,
}

/// The last valid answer, and the faults of the current inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelShown {
    /// The last valid answer; it belongs to earlier inputs while there are faults.
    pub answer: Arc<ModelAnswer>,
    /// Invalid fields, and errors of the core.
    pub faults: Vec<ModelFault>,
}

impl ModelShown {
    /// Whether the answer belongs to earlier inputs.
    pub fn is_stale(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Error of a field, as a sentence.
    pub fn fault_of(&self, field: Field) -> Option<String> {
        let found = self.faults.iter().find(|fault| fault.field == Some(field));
        found.map(|fault| fault.text.clone())
    }
}

/// The next state to show: invalid inputs keep the last valid answer.
#[expect(clippy::missing_panics_doc, reason = "the default inputs are valid, as a test shows")]
pub fn next(before: Option<&ModelShown>, inputs: &ModelInputs, place: Place<'_>) -> ModelShown {
    match (derive(inputs, place), before) {
        (Ok(answer), _) => ModelShown { answer: Arc::new(answer), faults: Vec::new() },
        (Err(faults), Some(before)) => ModelShown { answer: before.answer.clone(), faults },
        (Err(faults), None) => {
            let usual = crate::state::inputs::Inputs::default();
            let answer = derive(&usual.model, usual.place()).expect("the defaults are valid");
            ModelShown { answer: Arc::new(answer), faults }
        }
    }
}

/// Computes all results for the inputs.
///
/// # Errors
/// Returns all invalid fields, or the error of the core.
pub fn derive(inputs: &ModelInputs, place: Place<'_>) -> Result<ModelAnswer, Vec<ModelFault>> {
    let question = ModelQuestion::read(inputs, place)?;
    let refused = |error| {
        let mut fault = fault(&error);
        fault.field = fault.field.filter(|field| is_shown(inputs, *field));
        vec![fault]
    };
    let answer = question.estimate().map_err(refused)?;
    let plan = Plan::new(question.request(question.workload)).map_err(refused)?;
    let room = fit::room(&question, &plan);
    Ok(ModelAnswer {
        memory: bar(&question, &plan, &answer.memory, room),
        chart: chart(&question, &answer),
        weights: answer.precision.weights.short_name.to_owned(),
        estimate: answer,
    })
}

/// The verdict of the Model view. Plan has its own, so this is no part of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelVerdict {
    /// Whether the model fits, the limiting resource, the speed.
    pub sentence: String,
    /// The numbers behind it, and what lies where.
    pub line: String,
}

/// The verdict on an answer.
pub fn verdict(inputs: &ModelInputs, place: Place<'_>, shown: &ModelShown) -> ModelVerdict {
    let (answer, workload) = (&shown.answer.estimate, &shown.answer.memory.workload);
    let mut line = say::line(answer);
    if let Some(beside) = inputs.beside.as_ref().filter(|_| !shown.is_stale())
        && let Ok(question) = ModelQuestion::read(inputs, place)
    {
        beside.say(answer, &question.arch, &mut line);
    }
    ModelVerdict { sentence: say::sentence(answer, workload), line }
}

/// Whether the form has this field for this model.
fn is_shown(inputs: &ModelInputs, field: Field) -> bool {
    Field::geometry().all(|other| other != field) || value(inputs.base.arch(), field).is_some()
}

/// The command line's request for the same question, with a workload.
pub fn estimate_inputs(
    inputs: &ModelInputs,
    question: &ModelQuestion<'_>,
    workload: Workload,
) -> EstimateInputs {
    let beside = question.beside.as_ref().and_then(Erased::get);
    EstimateInputs {
        taken: inputs
            .link
            .iter()
            .filter(|_| workload.parallel.devices() > 1)
            .map(|link| link.said())
            .chain(beside.map_or_else(Vec::new, |beside| beside.machine.said.clone()))
            .collect(),
        link: inputs.link.as_deref().cloned(),
        device: std::borrow::Cow::Owned(question.device.clone().into_owned()),
        power_mode: question.place.mode.map(|mode| mode.name.to_string()),
        memory_limit: question.limit,
        model: inputs.base.named(question.arch.clone()),
        asked_images: beside.and_then(|beside| beside.pictures.asked),
        language_model_only: beside.is_some_and(|beside| beside.pictures.language_model_only),
        precision: question.precision,
        named: question.named(),
        workload,
        weight_size: question.weight_size,
        draft: question.drafter.map(|model| ModelSource::Catalog(model).named(model.arch.clone())),
        engine: question.engine,
        calibration: question.place.own.map(|own| own.calibration.clone()),
        host: beside.and_then(|beside| beside.machine.host.clone()),
        cards: None,
        listed: Vec::new(),
        reserve: beside.and_then(|beside| beside.machine.reserve),
        told: inputs.beside.as_deref().map_or_else(Vec::new, told),
        usual: Vec::new(),
        fields: None,
    }
}

/// Latencies, rates, energy of the answer; `None` where it belongs to earlier inputs. Few see them at first, so they are no
/// part of the answer.
pub fn figures_of(
    inputs: &ModelInputs,
    place: Place<'_>,
    shown: &ModelShown,
) -> Option<Vec<Figure>> {
    let question = ModelQuestion::read(inputs, place).ok().filter(|_| !shown.is_stale())?;
    Some(figures(&question, &shown.answer.estimate))
}

/// The format that a role has where none is chosen; `None` where a field is invalid.
pub fn rule(inputs: &ModelInputs, place: Place<'_>, role: Role) -> Option<String> {
    let question = ModelQuestion::read(inputs, place).ok()?;
    let plan = Plan::new(question.request(question.workload)).ok()?;
    let (device, without) = (question.place.device, question.without(role));
    let open = without.filled(question.engine, device, &question.arch, &plan.roofs);
    let format = role.of(&open.resolve_model(&question.arch, &plan.roofs));
    Some(format.short_name.to_owned())
}

/// Caveats of the answer; `None` where it belongs to earlier inputs. Their words are no part of the first program.
pub fn notes(inputs: &ModelInputs, place: Place<'_>, shown: &ModelShown) -> Option<Vec<String>> {
    let question = ModelQuestion::read(inputs, place).ok().filter(|_| !shown.is_stale())?;
    let mut notes = said_by_command_line(inputs, &question, &shown.answer.estimate);
    notes.extend(inputs.base.notes().iter().cloned());
    Some(notes)
}

/// The command line's notes on the same question.
fn said_by_command_line(
    inputs: &ModelInputs,
    question: &ModelQuestion<'_>,
    answer: &Estimate,
) -> Vec<String> {
    let request = estimate_inputs(inputs, question, question.workload);
    let mut notes = words::estimate_notes(&request, answer);
    if question.workload.speculation.is_some() && question.drafter.is_none() {
        notes.push("the time of the draft model is not counted: none is chosen".to_owned());
    }
    notes
}

/// The inputs in one line, for small screens.
pub fn summary(
    inputs: &ModelInputs,
    device: &Device,
    mode: Option<&str>,
    answer: &ModelAnswer,
) -> String {
    let mode = mode.map_or(String::new(), |mode| format!(" · {mode}"));
    let weights = &answer.weights;
    format!(
        "{} on {}{mode} · {weights} · batch {} · {} tokens",
        inputs.name(),
        device.name,
        inputs.text(Field::Batch).trim(),
        inputs.text(Field::Prompt).trim()
    )
}

/// Number of parameters, for the model list: `8.03 B`.
pub fn parameters(arch: &calc_core::model_arch::ModelArch) -> String {
    let billions = |count: u64| text::short(count as f64 / 1e9, 3);
    let (all, active) = (arch.n_params(), arch.n_active_params());
    let unit = format!("{}B", text::SPACE);
    if all == active {
        format!("{}{unit}", billions(all))
    } else {
        format!("{}{unit}, active {}{unit}", billions(all), billions(active))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::{self, devices, models};

    #[test]
    fn every_model_answers_on_every_device_with_numbers_or_a_reason() {
        for device in devices::all() {
            for model in models::all() {
                let mut inputs = ModelInputs::default();
                inputs.set_base(ModelSource::Catalog(model));
                match derive(&inputs, Place::of(device)) {
                    Ok(answer) => {
                        let workload = &answer.memory.workload;
                        assert!(!say::sentence(&answer.estimate, workload).is_empty());
                        assert!(answer.estimate.decode.operators.len() > 5);
                        let percent: f64 =
                            answer.memory.parts.iter().map(|part| part.percent).sum();
                        assert!(percent <= 100.0 + 1e-6 && answer.memory.capacity <= 100.0 + 1e-6);
                    }
                    Err(faults) => {
                        assert!(faults.iter().all(|fault| fault.text.len() > 20), "{faults:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_wrong_field_keeps_the_last_good_answer() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let with = |field, text: &str| {
            let mut inputs = ModelInputs::default();
            inputs.set_text(field, text.into());
            inputs
        };
        let good = next(None, &with(Field::Batch, "8"), Place::of(device));
        for (field, text, says) in [
            (Field::Batch, "many", "whole number"),
            (Field::Tensor, "3", "does not divide"),
            (Field::Expert, "2", "without experts"),
            (Field::Pipeline, "99", "from 1 to 32"),
            (Field::KvHeads, "5", "does not divide"),
            (Field::Memory, "-1", "a number from 0"),
            (Field::Acceptance, "2", "from 0 to 1"),
        ] {
            let wrong = next(Some(&good), &with(field, text), Place::of(device));
            assert_eq!(wrong.answer, good.answer);
            let said =
                wrong.fault_of(field).unwrap_or_else(|| panic!("{field:?}: {:?}", wrong.faults));
            assert!(said.contains(says), "{said}");
            let inputs = with(field, text);
            assert_eq!(notes(&inputs, Place::of(device), &wrong), None, "the last ones stay");
            assert_eq!(figures_of(&inputs, Place::of(device), &wrong), None);
        }
    }

    #[test]
    fn what_goes_wrong_between_fields_is_said_too() {
        let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        let mut inputs = ModelInputs::default();
        inputs.formats.set(Role::Weights, catalog::format("fp64").ok());
        let shown = next(None, &inputs, Place::of(device));
        assert!(shown.is_stale());
        let [fault] = &shown.faults[..] else { panic!("{:?}", shown.faults) };
        assert!(fault.field.is_none() && fault.text.contains("fp64"), "{fault:?}");
    }

    #[test]
    fn a_role_left_open_says_what_it_would_be() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let mut inputs = ModelInputs::default();
        for role in Role::ALL {
            inputs.formats.set(role, catalog::format("fp8_e4m3").ok());
        }
        let answer = derive(&inputs, Place::of(device)).expect("valid");
        assert_eq!(answer.weights, "FP8 E4M3");
        let rules = Role::ALL.map(|role| rule(&inputs, Place::of(device), role));
        let rules = rules.each_ref().map(Option::as_deref);
        assert_eq!(rules, ["BF16", "FP8 E4M3", "FP16", "FP16", "FP16"].map(Some));
    }

    #[test]
    fn the_default_page_answers_the_first_question_of_the_issue() {
        let orin = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        let mut inputs = ModelInputs::default();
        let stored = derive(&inputs, Place::of(orin)).expect("valid");
        let said = |inputs: &ModelInputs| {
            verdict(inputs, Place::of(orin), &next(None, inputs, Place::of(orin))).sentence
        };
        assert!(said(&inputs).starts_with("Does not fit in BF16: "), "{}", said(&inputs));
        let Some(change) = stored.memory.changes.first() else { panic!("weights in fewer bits") };
        change.apply(&mut inputs, &stored.memory.workload);
        let fitted = derive(&inputs, Place::of(orin)).expect("valid");
        assert!(said(&inputs).starts_with("Fits, and DRAM limits decode"), "{}", said(&inputs));
        assert!(fitted.memory.fits && fitted.memory.changes.is_empty());
    }

    #[test]
    fn a_draft_model_costs_time_and_known_bits_count() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let mut inputs = ModelInputs::default();
        inputs.set_text(Field::Draft, "4".into());
        let time = |inputs: &ModelInputs| {
            derive(inputs, Place::of(device)).expect("valid").estimate.tpot.time
        };
        let free = time(&inputs);
        inputs.drafter = catalog::model("llama-3.2-1b").ok();
        let answer = derive(&inputs, Place::of(device)).expect("valid");
        assert!(answer.estimate.tpot.time > free);
        let shown = next(None, &inputs, Place::of(device));
        let notes = notes(&inputs, Place::of(device), &shown).expect("valid");
        assert!(notes.iter().all(|note| !note.contains("draft model")), "{notes:?}");
        inputs.drafter = None;
        inputs.set_text(Field::WeightBits, "8".into());
        assert!(time(&inputs) < free);
        inputs.set_text(Field::WeightBits, "0".into());
        let faults = derive(&inputs, Place::of(device)).expect_err("no bits");
        assert_eq!(faults[0].field, Some(Field::WeightBits), "{faults:?}");
    }

    #[test]
    fn the_whole_answer_is_the_first_token_and_the_steps_after_it() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let mut inputs = ModelInputs::default();
        inputs.set_text(Field::Generate, "1".into());
        let figure = |inputs: &ModelInputs, index: usize| {
            let shown = next(None, inputs, Place::of(device));
            let mut figures = figures_of(inputs, Place::of(device), &shown).expect("valid");
            assert!(figures.len() >= 6);
            figures.swap_remove(index)
        };
        let (first, one) = (figure(&inputs, 0), figure(&inputs, 2));
        assert_eq!(
            (&one.ideal.text, &one.expected.text),
            (&first.ideal.text, &first.expected.text)
        );
        inputs.set_text(Field::Generate, "100000".into());
        let long = figure(&inputs, 2).expected;
        assert!(long.explanation.values.contains(&text::count(99_999)), "{long:?}");
    }
}
