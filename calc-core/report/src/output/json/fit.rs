//! JSON of a plan of what fits on a device.

use calc_core::recommend::{DeviceChoice, Outcome, Ranked};
use serde_json::{Map, Value, json};

use super::recommend::{mean, quality, room_json, scheme_precision};
use super::{ExpectedJson, HardwareJson, SCHEMA, host};
use crate::input::request::{EstimateInputs, FitChange, FitInputs, FitPlan};

/// JSON of a plan.
pub fn plan(inputs: &FitInputs, plan: &FitPlan) -> Value {
    let memory = &plan.asked.memory;
    let first = plan.ranking.ranked.first();
    let mut asked = json!({
        "weights": plan.asked.precision.weights.key,
        "memory_bytes": memory.total().get(),
        "usable_bytes": memory.usable.bytes.get(),
        "fits": memory.verdict().fits(),
    });
    if let Some(host) = memory.host {
        asked["host_memory_bytes"] = json!(host.in_memory().get());
        asked["host_usable_bytes"] = json!(host.usable.get());
    }
    json!({
        "schema": SCHEMA,
        "hardware": HardwareJson::new(&inputs.recommend.device, inputs.recommend.power_mode.as_deref()),
        "model": inputs.asked.model.key,
        "asked": asked,
        "largest": first.map(|first| room_json(plan.room, first.outcome.usable.is_known)),
        "fits": plan.ranking.ranked.iter().map(|row| ranked(&inputs.asked, row)).collect::<Vec<_>>(),
        "changes": plan.changes.iter().map(|one| change(&inputs.asked, one)).collect::<Vec<_>>(),
        "devices": plan.devices.iter().map(device).collect::<Vec<_>>(),
        "least_memory_bytes": plan.least.map(calc_core::units::Bytes::get),
    })
}

fn ranked(inputs: &EstimateInputs, row: &Ranked) -> Value {
    let mut value = outcome(&row.outcome);
    host::add_places(&mut value, inputs, &row.outcome);
    value["scheme"] = scheme_precision(row.scheme, &row.outcome.precision);
    value["quality"] = quality(&row.quality);
    value
}

fn outcome(outcome: &Outcome) -> Value {
    json!({
        "scheme": null,
        "memory_bytes": outcome.memory.get(),
        "fits": outcome.verdict().fits(),
        "ttft": ExpectedJson::from(outcome.ttft),
        "mean": mean(outcome),
    })
}

fn change(inputs: &EstimateInputs, change: &FitChange) -> Value {
    let fields = change.fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    json!({
        "set": fields.collect::<Map<String, Value>>(),
        "then": ranked(inputs, &change.first),
    })
}

fn device(choice: &DeviceChoice) -> Value {
    let mut value = outcome(&choice.outcome);
    value["scheme"] = scheme_precision(choice.scheme, &choice.outcome.precision);
    value["key"] = json!(choice.device.key);
    value["name"] = json!(choice.device.name);
    value["device_memory_bytes"] = json!(choice.device.memory.value.get());
    value
}
