//! The OpenAPI document has a schema for every answer in JSON, and real answers are held against it.

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::harness::{Daemon, scripting};

/// The schema of an answer with this status, as a document of its own; `None` where the route has no such answer.
fn schema(document: &Value, method: &str, path: &str, status: u16) -> Option<Value> {
    let responses = &document["paths"][path][method]["responses"];
    let answer = &responses[status.to_string()]["content"]["application/json"]["schema"];
    let mut schema = answer.as_object()?.clone();
    schema.insert("components".into(), document["components"].clone());
    Some(Value::Object(schema))
}

fn fits(schema: &Value, answer: &Value) -> Result<(), String> {
    let mut compiler = Compiler::new();
    compiler.add_resource("http://localhost/answer.json", schema.clone()).expect("a document");
    let mut schemas = Schemas::new();
    let compiled = compiler.compile("http://localhost/answer.json", &mut schemas);
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}: {schema}"));
    schemas.validate(answer, compiled).map_err(|error| error.to_string())
}

/// The keys of an object that its schema does not have.
fn unknown(document: &Value, schema: &Value, answer: &Value) -> Vec<String> {
    let item = |schema: &Value| match schema["$ref"].as_str() {
        Some(name) => document.pointer(&name[1..]).cloned().expect("a schema"),
        None => schema.clone(),
    };
    let known = match schema["type"].as_str() {
        Some("array") => item(&schema["items"]),
        _ => item(schema),
    };
    let rows = answer.as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
    let keys = rows.iter().filter_map(Value::as_object).flat_map(|row| row.keys());
    keys.filter(|key| known["properties"].get(key.as_str()).is_none()).cloned().collect()
}

/// Requests with which each calculation is asked, in each of its forms.
fn bodies(path: &str) -> Vec<Value> {
    let product = json!({"hardware": "h100", "m": 1, "n": 4096, "k": 4096, "weights": "int4_g128"});
    let model = json!({"hardware": "h100", "model": "llama-3.1-8b", "batch": 2});
    match path.rsplit('/').next().unwrap_or_default() {
        "analyze" => vec![
            product,
            json!({"hardware": "gb10", "op": "attention", "heads": 32, "kv_heads": 8, "head_dim": 128, "cached": 4096, "unfused": true}),
            json!({"hardware": "t4", "op": "norm", "tokens": 4, "hidden": 4096}),
        ],
        "estimate" => vec![
            model,
            json!({"hardware": "rtx_4090", "model": "llama-3.1-70b"}),
            json!({"hardware": "t4", "model": "llama-3.1-8b", "tensor_parallel": 2}),
            json!({"hardware": "h100", "model": "qwen3-vl-8b", "image": "1x1024x768"}),
            json!({"hardware": "rtx 4090 with 96 GB of DDR5", "model": "gpt-oss-120b"}),
            json!({"hardware": "rtx 4090 + rtx 3090", "model": "llama-3.1-70b", "weights": "int4_g128"}),
        ],
        "recommend" => vec![
            model,
            json!({"hardware": "h100", "m": 1, "n": 4096, "k": 4096}),
            json!({"hardware": "any", "model": "qwen3-8b", "max_tpot_ms": 50}),
        ],
        "tiling" => {
            vec![json!({"hardware": "t4", "m": 4096, "n": 4096, "k": 4096, "weights": "fp16"})]
        }
        "sweep" => vec![
            json!({"hardware": "t4,h100", "m": [1, 2], "n": 64, "k": 64, "weights": "fp16"}),
            json!({"hardware": "h100,rtx_4090", "model": "llama-3.1-8b", "batch": "1,2"}),
            // One point of it is refused.
            json!({"hardware": "h100", "model": "llama-3.1-8b", "tensor_parallel": "1,3"}),
        ],
        other => panic!("no request for {other}"),
    }
}

#[test]
fn every_answer_is_as_its_schema_says() {
    let daemon = Daemon::start(&scripting());
    let document = daemon.get("/api/openapi.json").json();
    let mut checked = 0;
    let mut check = |method: &str, path: &str, answer: &crate::harness::Answer| {
        let found = schema(&document, method, path, answer.status);
        let schema = found.unwrap_or_else(|| panic!("{method} {path} {}", answer.status));
        let value = answer.json();
        fits(&schema, &value).unwrap_or_else(|why| panic!("{method} {path}: {why}"));
        let said = document["paths"][path][method]["responses"][answer.status.to_string()]["content"]
            ["application/json"]["schema"]
            .clone();
        if said["type"] != "object" {
            assert_eq!(
                unknown(&document, &said, &value),
                [""; 0],
                "{method} {path}: without a schema"
            );
        }
        checked += 1;
    };
    for (path, operations) in document["paths"].as_object().expect("paths") {
        if ["/mcp", "/ws", "/metrics"].contains(&path.as_str()) {
            continue;
        }
        for method in operations.as_object().expect("operations").keys() {
            if method == "post" {
                for body in bodies(path) {
                    let answer = daemon.post(path, &body.to_string());
                    assert_eq!(answer.status, 200, "{path} {body}: {}", answer.body);
                    check(method, path, &answer);
                }
                check(method, path, &daemon.post(path, r#"{"hardware":"no_device"}"#));
                continue;
            }
            let Some(folder) = path.strip_suffix("{key}") else {
                check(method, path, &daemon.get(path));
                continue;
            };
            for key in ["b10", "rtx_4090", "llama-3.1-8b", "mixtral-8x7b", "nvfp4", "no_key"] {
                check(method, path, &daemon.get(&format!("{folder}{key}")));
            }
        }
    }
    assert!(checked > 50, "{checked} answers");
}

/// A schema that accepts everything would pass above.
#[test]
fn a_wrong_answer_does_not_fit() {
    let daemon = Daemon::start(&scripting());
    let document = daemon.get("/api/openapi.json").json();
    let path = "/api/v1/analyze";
    let body = bodies(path).remove(0).to_string();
    let schema = schema(&document, "post", path, 200).expect("a schema");
    let right = daemon.post(path, &body).json();
    assert_eq!(fits(&schema, &right), Ok(()));
    let mut wrong = right.clone();
    wrong["bytes"] = json!("many");
    assert!(fits(&schema, &wrong).is_err());
    let mut lacks = right;
    lacks.as_object_mut().expect("an object").remove("ideal_s");
    assert!(fits(&schema, &lacks).is_err());
}
