//! The tools that look models and devices up.

use calc_core::catalog::{self, devices, models};
use calc_core::device::Device;
use calc_core::hf_config::Unread;
use report::input::request::{Fields, Library, MODEL_UPPER_BOUND};
use report::output::address::{self, PageAddress};
use report::output::brief;
use report::output::json::catalog as json;
use serde_json::{Map, Value, json};

use super::{Told, ToolAnswer, keep, limit};
use crate::failure::Failure;
use crate::verbs::api::Given;

/// Devices of a list where the request has no limit.
pub(in crate::mcp) const USUAL_DEVICES: u64 = 20;

/// Values of a row in a list of several devices; a single one has all values.
const SHORT: [&str; 9] = [
    "key",
    "name",
    "vendor",
    "class",
    "memory_bytes",
    "usable_memory_bytes",
    "bandwidth_byte_per_s",
    "tdp_w",
    "source",
];

/// The model that a name means.
pub(in crate::mcp) fn resolve_model(given: Given, library: &Library<'_>) -> Told {
    let mut fields = Fields::new(given);
    let name = fields.required_text("name")?;
    let bound = fields.flag(MODEL_UPPER_BOUND)?;
    fields.finish()?;
    let unread = if bound { Unread::UpperBound } else { Unread::Refuse };
    let model = library.model(&name, unread)?;
    let row = models::all().find(|row| row.key == model.key);
    let mut data = row.map_or_else(|| json::named_model(&model), json::model);
    data["stored_as"] = json!(model.stored.weights.key);
    let address = row.map(|row| PageAddress { query: address::model(row.key), lacks: Vec::new() });
    Ok(ToolAnswer::new(data, brief::catalog::model(&model), address))
}

/// The devices of the catalog, or those that a name means or that contain a text.
pub(in crate::mcp) fn list_devices(mut given: Given, library: &Library<'_>) -> Told {
    let limit = limit(&mut given, USUAL_DEVICES)?;
    let mut fields = Fields::new(given);
    let filter = fields.text("filter")?;
    fields.finish()?;
    let found = admitted(filter.as_deref(), library);
    if let (Some(filter), true) = (&filter, found.is_empty()) {
        let near = catalog::nearest(filter, devices::all().map(|device| &*device.key));
        let near = report::output::words::nearest_text(&near);
        return Err(Failure::bad(format!(
            "no key or name contains `{filter}`; leave out filter to list all{near}"
        )));
    }
    let told = brief::catalog::devices(&found, devices::all().count(), filter.as_deref());
    let rows: Vec<Value> = match found.as_slice() {
        [only] => vec![json::device(only)],
        several => several.iter().copied().map(short).collect(),
    };
    let mut data = json!({ "schema": report::output::json::SCHEMA, "devices": rows });
    keep(&mut data, "devices", limit);
    let query = match found.as_slice() {
        [only] => address::device(&only.key),
        _ => address::devices(),
    };
    Ok(ToolAnswer::new(data, told, Some(PageAddress { query, lacks: Vec::new() })))
}

/// The device that a text names, or all whose names contain it.
fn admitted(filter: Option<&str>, library: &Library<'_>) -> Vec<&'static Device> {
    let Some(filter) = filter else { return devices::all().collect() };
    let wanted = filter.to_lowercase();
    let contains = |device: &&'static Device| {
        [&device.key, &device.name].iter().any(|name| name.to_lowercase().contains(&wanted))
    };
    let mut found: Vec<&'static Device> = devices::all().filter(contains).collect();
    let named = library.device(filter).ok().map(|device| device.key.clone());
    let named = devices::all().find(|device| Some(&device.key) == named.as_ref());
    found.extend(named.filter(|named| !found.iter().any(|device| device.key == named.key)));
    found
}

/// A row with the values that matter; the source stands once.
fn short(device: &Device) -> Value {
    let Value::Object(row) = json::device(device) else { return Value::Null };
    let origin = |value: Value| match value {
        Value::Object(fields) if fields.contains_key("provenance") => {
            json!({ "value": fields["value"], "origin": fields["provenance"]["kind"] })
        }
        other => other,
    };
    let short = row.into_iter().filter(|(key, _)| SHORT.contains(&key.as_str()));
    Value::Object(short.map(|(key, value)| (key, origin(value))).collect::<Map<_, _>>())
}
