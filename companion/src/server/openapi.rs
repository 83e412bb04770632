//! The OpenAPI document, written from the table of routes and the flags of the command line.

use serde_json::{Map, Value, json};

use super::table::{ROUTES, Reply, Route};
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
        "components": { "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
        "paths": paths,
    })
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "summary": route.summary,
        "responses": {
            "200": { "description": "The answer", "content": { media(route.reply): {} } },
            "403": { "description": "A name or an origin that is not allowed" }
        }
    });
    if let Reply::Compute(verb, _) | Reply::Prototype(verb, _) = route.reply {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema(verb) } }
        });
        operation["responses"]["400"] =
            json!({ "description": "Bad input, as one line in `error`" });
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
        operation["responses"]["404"] = json!({ "description": "Not in the catalog" });
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
    if matches!(reply, Reply::Metrics) { "text/plain" } else { "application/json" }
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
