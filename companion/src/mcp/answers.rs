//! The answers of the tools: the JSON of the command line, the same in a few lines, and the address that opens the page with it.

mod catalog;

use report::input::request::{
    AnalyzeInputs, CheckInputs, EstimateInputs, Fields, FitInputs, Library, RecommendInputs,
    RequestError, ScenariosInputs,
};
use report::output::address::{self, PageAddress};
use report::output::brief::{self, Brief};
use report::output::json::analyze::AnalyzeJson;
use report::output::json::check::CheckJson;
use report::output::json::estimate::EstimateJson;
use report::output::json::recommend::{notes, usual_notes};
use report::output::json::{SCHEMA, fit, formulas as formulas_json, recommend, scenarios};
use report::output::{formulas, json as published};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::verbs::api::Given;

pub(super) use catalog::{list_devices, resolve_model};

/// Rows of a list where the request has no limit.
pub(super) const USUAL_ROWS: u64 = 5;
/// Most rows of a list.
const MOST_ROWS: u64 = 1000;

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(super) data: Map<String, Value>,
    pub(super) brief: Brief,
    /// `None` if the page cannot be opened with the question.
    pub(super) address: Option<PageAddress>,
}

impl ToolAnswer {
    fn new(data: Value, brief: Brief, address: Option<PageAddress>) -> Self {
        let data = match data {
            Value::Object(data) => data,
            other => Map::from_iter([("answer".to_owned(), other)]),
        };
        Self { data, brief, address }
    }
}

type Told = Result<ToolAnswer, Failure>;

/// A model on a device. The operators are left out, of parts of the layers, too: `explain` has them.
pub(super) fn estimate(given: Given, library: &Library<'_>) -> Told {
    let inputs = EstimateInputs::parse(Fields::new(given), library)?;
    let answer = inputs.estimate()?;
    let mut data = json!(EstimateJson::new(&inputs, &answer));
    for phase in ["prefill", "decode"] {
        if let Some(phase) = data[phase].as_object_mut() {
            phase.remove("operators");
            let layers =
                phase.get_mut("layers").and_then(Value::as_array_mut).into_iter().flatten();
            layers.filter_map(Value::as_object_mut).for_each(|part| {
                part.remove("operators");
            });
        }
    }
    let told = brief::estimate(&inputs, &answer);
    Ok(ToolAnswer::new(data, told, address::estimate(&inputs)))
}

/// Schemes ranked for a goal, or the devices that meet it.
pub(super) fn recommend(mut given: Given, library: &Library<'_>) -> Told {
    let limit = limit(&mut given, USUAL_ROWS)?;
    let inputs = RecommendInputs::parse(Fields::new(given), library)?;
    let request = inputs.request()?;
    let address = address::recommend(&inputs);
    if inputs.any_device {
        let found = calc_core::recommend::devices(&request);
        let mut data = recommend::devices(&inputs, &found);
        keep(&mut data, "devices", limit);
        let told = brief::devices(&inputs, &found, usual_notes(&inputs));
        return Ok(ToolAnswer::new(data, told, address));
    }
    let answer = inputs.recommend()?;
    let mut data =
        recommend::recommendation(&inputs, &request, &answer).map_err(RequestError::from)?;
    keep(&mut data, "ranked", limit);
    let told = brief::recommend(&inputs, &answer, notes(&inputs, &answer));
    Ok(ToolAnswer::new(data, told, address))
}

/// A judged claim.
pub(super) fn check(given: Given, library: &Library<'_>) -> Told {
    let inputs = CheckInputs::parse(Fields::new(given), library)?;
    let answer = inputs.check()?;
    let told = brief::check(&inputs, &answer);
    let data = json!(CheckJson::new(&inputs, &answer));
    Ok(ToolAnswer::new(data, told, address::check(&inputs)))
}

/// Scenarios side by side.
pub(super) fn compare(given: Given, library: &Library<'_>) -> Told {
    let answers = ScenariosInputs::parse(Fields::new(given), library)?.answers()?;
    let columns: Vec<_> = answers.iter().map(|row| (&row.inputs, row.scheme)).collect();
    let address = address::compare(&columns);
    let data = json!({ "schema": SCHEMA, "scenarios": scenarios::scenarios(&answers) });
    Ok(ToolAnswer::new(data, brief::scenarios::scenarios(&answers), address))
}

/// The schemes that fit, or the changes after which one does.
pub(super) fn fit_plan(mut given: Given, library: &Library<'_>) -> Told {
    let limit = limit(&mut given, USUAL_ROWS)?;
    let inputs = FitInputs::parse(Fields::new(given), library)?;
    let plan = inputs.plan(library)?;
    let mut data = fit::plan(&inputs, &plan);
    keep(&mut data, "fits", limit);
    let told = brief::fit::plan(&inputs, &plan);
    Ok(ToolAnswer::new(data, told, address::recommend(&inputs.recommend)))
}

/// The formulas behind an estimate, or behind one operator.
pub(super) fn explain(given: Given, library: &Library<'_>) -> Told {
    let has_model = given.get("model").is_some_and(|model| !model.is_null());
    let fields = Fields::new(given);
    let (steps, operators, told, address, mut data) = if has_model {
        let inputs = EstimateInputs::parse(fields, library)?;
        let answer = inputs.estimate()?;
        let data = part_of(json!(EstimateJson::new(&inputs, &answer)), &["hardware", "cards"]);
        let told = brief::estimate(&inputs, &answer);
        let steps = formulas::estimate(&inputs, &answer);
        let operators = formulas::operators(&answer);
        (steps, operators, told, address::estimate(&inputs), data)
    } else {
        let inputs = AnalyzeInputs::parse(fields, library)?;
        let answer = inputs.analyze()?;
        let data = part_of(json!(AnalyzeJson::new(&inputs, &answer)), &["hardware"]);
        let told = brief::operator(&inputs, &answer);
        let steps = formulas::operator(&inputs, &answer);
        (steps, Vec::new(), told, address::operator(&inputs), data)
    };
    let line = |step: &report::output::verdict::explain::Explanation| {
        let origin = step.provenance.key();
        format!(
            "{}: {} = {} ({origin}: {}).",
            step.title,
            step.formula,
            step.values,
            step.source.text()
        )
    };
    let mut lines: Vec<String> = steps.iter().map(line).collect();
    if !operators.is_empty() {
        lines.push(format!("The data has the formulas of {} operators, too.", operators.len()));
    }
    let told = Brief { lines, ..told };
    let formulas = formulas_json::formulas(&[steps, operators].concat());
    data.insert("formulas".to_owned(), json!(formulas));
    Ok(ToolAnswer::new(Value::Object(data), told, address))
}

/// The published version and some keys of an answer.
fn part_of(mut answer: Value, keys: &[&str]) -> Map<String, Value> {
    let mut part = Map::from_iter([("schema".to_owned(), json!(published::SCHEMA))]);
    let own = keys.iter().filter_map(|key| Some(((*key).to_owned(), answer.get_mut(*key)?.take())));
    part.extend(own);
    part
}

/// Removes and returns the limit on rows.
fn limit(given: &mut Given, usual: u64) -> Result<usize, RequestError> {
    let own = given.remove("limit").map(|limit| ("limit".to_owned(), limit));
    let limit = Fields::new(own.into_iter().collect()).count("limit")?.unwrap_or(usual);
    calc_core::error::in_range("limit", limit, 1, MOST_ROWS)?;
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Keeps the first rows of a list, and says how many were left out.
fn keep(data: &mut Value, key: &str, limit: usize) {
    let Some(rows) = data[key].as_array_mut() else { return };
    let left_out = rows.len().saturating_sub(limit);
    rows.truncate(limit);
    data["left_out"] = json!(left_out);
}
