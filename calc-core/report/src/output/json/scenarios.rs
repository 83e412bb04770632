//! JSON of a comparison of scenarios.

use serde_json::{Value, json};

use super::estimate::EstimateJson;
use crate::input::request::Scenario;

/// Parts of an estimate that a comparison leaves out, because they are long.
const LONG: [&str; 2] = ["prefill", "decode"];

/// The scenarios in the order of the request: each as `estimate` answers, without the operators.
pub fn scenarios(scenarios: &[Scenario]) -> Value {
    let row = |scenario: &Scenario| {
        let mut row = json!(EstimateJson::new(&scenario.inputs, &scenario.answer));
        if let Some(fields) = row.as_object_mut() {
            fields.retain(|key, _| !LONG.contains(&key.as_str()));
        }
        row["scheme"] = json!(scenario.scheme.map(|scheme| scheme.key));
        row
    };
    scenarios.iter().map(row).collect()
}
