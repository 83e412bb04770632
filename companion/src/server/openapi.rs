//! The OpenAPI document, written from the table of routes, the flags of the command line and the tables of answers.

use serde_json::{Map, Value, json};

use super::reply::JSON;
use super::table::{ROUTES, Reply, Route};
use crate::verbs::answer_keys as keys;
use crate::verbs::api;

/// Builds the OpenAPI document.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for route in &ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ridgepoint companion",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Answers are those of the command line with `-o json`. Jobs and live telemetry go over the socket."
        },
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas(),
        },
        "paths": paths,
    })
}

/// The schemas of the answers by name.
fn schemas() -> Value {
    json!({
        "Analyze": keys::ANALYZE.schema(),
        "Estimate": keys::ESTIMATE.schema(),
        "Recommend": keys::RECOMMEND.schema(),
        "SweepRow": sweep_row(),
        "Tiling": keys::TILING.schema(),
        "Device": keys::DEVICE.schema(),
        "Model": keys::MODEL.schema(),
        "Format": keys::FORMAT.schema(),
        "Telemetry": keys::TELEMETRY.schema(),
        "Health": keys::HEALTH.schema(),
        "Error": keys::ERROR.schema(),
    })
}

/// A row of a sweep: its position, the fields of its request, and its figures.
fn sweep_row() -> Value {
    let mut row = keys::SWEEP_ROW.schema();
    for field in api::fields("sweep") {
        row["properties"][field.key] = json!({ "description": field.help });
    }
    for key in api::sweep_figures() {
        let types = ["number", "string", "boolean", "null"];
        row["properties"][key] = keys::typed(&types, "As in the answer for this point");
    }
    row
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schema of the answer of a route.
fn answer(route: &Route) -> Value {
    let list = |name| json!({ "type": "array", "items": reference(name) });
    match route.reply {
        Reply::Compute("sweep", _) | Reply::Prototype("sweep", _) => list("SweepRow"),
        Reply::Compute(verb, _) | Reply::Prototype(verb, _) => reference(match verb {
            "analyze" => "Analyze",
            "estimate" => "Estimate",
            "recommend" => "Recommend",
            _ => "Tiling",
        }),
        Reply::Catalog(catalog) => {
            let row = match catalog {
                "hardware" => "Device",
                "models" => "Model",
                _ => "Format",
            };
            if route.path.ends_with("{key}") { reference(row) } else { list(row) }
        }
        Reply::Telemetry => reference("Telemetry"),
        Reply::Health => reference("Health"),
        Reply::Metrics => json!({ "type": "string" }),
        // A document, messages of another protocol.
        Reply::OpenApi | Reply::Mcp | Reply::Socket => json!({ "type": "object" }),
    }
}

/// An answer with its description.
fn response(description: &str, media: &str, schema: &Value) -> Value {
    json!({ "description": description, "content": { media: { "schema": schema } } })
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "summary": route.summary,
        "responses": {
            "200": response("The answer", media(route.reply), &answer(route)),
            "403": { "description": "A name or an origin that is not allowed" }
        }
    });
    let error = |description| response(description, JSON, &reference("Error"));
    match route.reply {
        Reply::Socket => {
            let upgraded = json!({ "description": "The connection becomes the socket" });
            operation["responses"]["101"] = upgraded;
            operation["responses"].as_object_mut().expect("an object").remove("200");
        }
        Reply::Health => {
            let failing = response("Why no job is started", JSON, &reference("Health"));
            operation["responses"]["503"] = failing;
        }
        _ => {}
    }
    if let Reply::Compute(verb, _) | Reply::Prototype(verb, _) = route.reply {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema(verb) } }
        });
        operation["responses"]["400"] = error("Bad input");
    }
    if matches!(route.reply, Reply::Prototype(..)) {
        operation["parameters"] = json!([
            { "name": "hardware_key", "in": "query", "schema": { "type": "string" } }
        ]);
    }
    if route.path.ends_with("{key}") {
        operation["parameters"] = json!([
            { "name": "key", "in": "path", "required": true, "schema": { "type": "string" } }
        ]);
        operation["responses"]["404"] = error("Not in the catalog");
    }
    if matches!(route.reply, Reply::Mcp) {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": { "type": "object" } } }
        });
        operation["security"] = json!([{ "token": [] }]);
    } else if !matches!(route.reply, Reply::Health | Reply::Socket) {
        // Requests without a token are answered on this machine only.
        operation["security"] = json!([{}, { "token": [] }]);
    }
    operation
}

fn media(reply: Reply) -> &'static str {
    if matches!(reply, Reply::Metrics) { "text/plain" } else { JSON }
}

fn schema(verb: &str) -> Value {
    let mut properties = Map::new();
    for field in api::fields(verb) {
        let mut kind = json!({ "description": field.help });
        if let Some(name) = field.json_type {
            kind["type"] = json!(name);
        }
        properties.insert(field.key.into(), kind);
    }
    json!({ "type": "object", "properties": properties })
}
