//! Tests: the published schemas are those of the code, and the answers of the tools are those of the schemas.

use report::input::request::Library;
use serde_json::{Value, json};

use super::super::tools::TOOLS;
use super::*;

/// The published schemas: the definitions of `tools/list`.
const PUBLISHED: &str = include_str!("../../../../docs/schema/mcp.schema.json");

/// A question for each tool, and for each form of its answer.
fn questions() -> Vec<(&'static str, Value)> {
    vec![
        ("resolve_model", json!({"name": "meta-llama/Llama-3.1-8B-Instruct"})),
        ("list_devices", json!({})),
        ("list_devices", json!({"filter": "gb10"})),
        ("estimate", json!({"hardware": "h100", "model": "llama-3.1-8b", "new_tokens": 1024})),
        ("estimate", json!({"hardware": "rtx_4090", "model": "llama-3.1-70b"})),
        ("estimate", json!({"hardware": "rtx 4090 with 96 GB of DDR5", "model": "gpt-oss-120b"})),
        ("recommend", json!({"hardware": "h100", "model": "llama-3.1-8b", "limit": 2})),
        ("recommend", json!({"hardware": "any", "model": "qwen3-8b", "max_tpot_ms": 50})),
        ("recommend", json!({"hardware": "h100", "m": 1, "n": 4096, "k": 4096})),
        ("check", json!({"hardware": "h100", "model": "llama-3.1-8b", "tokens_per_s": 500})),
        (
            "check",
            json!({"hardware": "h100", "m": 1, "n": 4096, "k": 4096, "weights": "fp8_e4m3", "time_us": 20}),
        ),
        (
            "compare",
            json!({"model": "llama-3.1-8b", "scenarios": [{"hardware": "h100"}, {"hardware": "gb10"}]}),
        ),
        ("fit_plan", json!({"hardware": "rtx_4090", "model": "llama-3.1-8b"})),
        ("fit_plan", json!({"hardware": "rtx_4090", "model": "llama-3.1-70b"})),
        ("explain", json!({"hardware": "h100", "model": "mixtral-8x7b"})),
        (
            "explain",
            json!({"hardware": "h100", "m": 1, "n": 4096, "k": 4096, "weights": "fp8_e4m3"}),
        ),
    ]
}

fn is_of(value: &Value, types: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() && types == "integer" => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    types == name || types.as_array().is_some_and(|types| types.contains(&json!(name)))
}

#[test]
fn every_answer_has_the_keys_and_types_of_its_schema() {
    for (name, given) in questions() {
        let tool = TOOLS.iter().find(|tool| tool.name == name).expect("a tool");
        let given = given.as_object().expect("an object").clone();
        let input = input(tool);
        for (key, value) in &given {
            assert!(is_of(value, &input["properties"][key]["type"]), "{name} {key}");
        }
        let answer = (tool.answer)(given, &Library::CATALOGS).expect(name);
        let output = output(tool);
        for (key, value) in &answer.data {
            let types = &output["properties"][key]["type"];
            assert!(is_of(value, types), "{name}: {key} is no {types}: {value:.80}");
        }
        let required = output["required"].as_array().expect("a list");
        for key in required.iter().filter_map(Value::as_str) {
            let is_common = COMMON.iter().any(|(common, ..)| *common == key);
            assert!(is_common || answer.data.contains_key(key), "{name} lacks {key}");
        }
    }
}

#[test]
fn the_published_schemas_are_those_of_the_tools() {
    let tools: Vec<Value> = TOOLS.iter().map(definition).collect();
    let written = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ridgepoint tools of the Model Context Protocol",
        "description": "The answer of tools/list: for each tool the schemas of its arguments and of its answer.",
        "tools": tools,
    });
    let written = format!("{written:#}\n");
    if written != PUBLISHED {
        let path = std::env::temp_dir().join("ridgepoint-mcp.schema.json");
        std::fs::write(&path, &written).expect("a temporary file");
        panic!("docs/schema/mcp.schema.json is not what the tools say; {} is", path.display());
    }
}

#[test]
fn the_guide_and_the_description_for_models_name_every_tool() {
    let guide = include_str!("../../../../docs/guides/programs.md");
    let description = include_str!("../../../../docs/llms.txt");
    for tool in &TOOLS {
        assert!(guide.contains(&format!("| `{}` |", tool.name)), "{}", tool.name);
        assert!(description.contains(tool.name), "{}", tool.name);
    }
}

#[test]
fn required_arguments_are_arguments_and_unknown_ones_are_refused_by_name() {
    for tool in &TOOLS {
        let input = input(tool);
        for key in tool.required {
            assert!(input["properties"][key].is_object(), "{} {key}", tool.name);
        }
        let mut given =
            questions().into_iter().find(|(name, _)| *name == tool.name).expect("one").1;
        given["devce"] = json!("x");
        let given = given.as_object().expect("an object").clone();
        let refused = (tool.answer)(given, &Library::CATALOGS).expect_err(tool.name);
        assert!(
            format!("{refused:?}").contains("unknown field `devce`"),
            "{}: {refused:?}",
            tool.name
        );
    }
}
