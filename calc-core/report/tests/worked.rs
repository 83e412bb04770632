//! The worked examples: 15 requests, one per family, whose answers were computed by hand-checked scripts apart from this
//! code. Every number agrees to 1e-9; so does every word.

use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Library};
use report::output::json::analyze::AnalyzeJson;
use report::output::json::estimate::EstimateJson;
use serde_json::Value;

/// Sums are added in another order here; larger differences are errors.
const TOLERANCE: f64 = 1e-9;

fn answer(verb: &str, request: &Value) -> Value {
    if verb == "analyze" {
        let fields = Fields::from_line(&request.to_string()).expect("an object");
        let inputs = AnalyzeInputs::parse(fields, &Library::CATALOGS).expect("a good request");
        let answer = inputs.analyze().expect("an answer");
        return serde_json::to_value(AnalyzeJson::new(&inputs, &answer)).expect("JSON");
    }
    // The examples prefill all prompts together: first token and activations belong to that step.
    let mut request = request.clone();
    request["static_batch"] = Value::Bool(true);
    let fields = Fields::from_line(&request.to_string()).expect("an object");
    let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a good request");
    let answer = inputs.estimate().expect("an answer");
    let mut said = serde_json::to_value(EstimateJson::new(&inputs, &answer)).expect("JSON");
    // The examples count kernels only; the time of a step outside kernels and on links is part of expected times alone.
    for phase in ["prefill", "decode"] {
        let rows = said[phase]["operators"].as_array_mut().expect("rows");
        rows.retain(|row| row["name"] != "step" && row["name"] != "links");
    }
    said
}

/// Every value of the expected answer must be present and equal; our answer may have more keys.
fn differences(path: &str, expected: &Value, ours: &Value, out: &mut Vec<String>) {
    match (expected, ours) {
        (Value::Object(expected), Value::Object(ours)) => {
            for (key, value) in expected {
                differences(
                    &format!("{path}.{key}"),
                    value,
                    ours.get(key).unwrap_or(&Value::Null),
                    out,
                );
            }
        }
        (Value::Array(expected), Value::Array(ours)) if expected.len() == ours.len() => {
            for (i, (a, b)) in expected.iter().zip(ours).enumerate() {
                differences(&format!("{path}[{i}]"), a, b, out);
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            let agrees = (a - b).abs() <= TOLERANCE * a.abs();
            if !agrees {
                out.push(format!("{path}: {b}, expected {a}"));
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: {b}, expected {a}")),
    }
}

fn check(example: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let verb = example["verb"].as_str().expect("a verb");
    differences(verb, &example["answer"], &answer(verb, &example["request"]), &mut out);
    out
}

fn examples() -> Vec<Value> {
    serde_json::from_str(include_str!("worked.json")).expect("JSON")
}

#[test]
fn all_worked_examples_agree() {
    let examples = examples();
    assert_eq!(examples.len(), 15);
    for example in examples {
        let out = check(&example);
        assert!(out.is_empty(), "{}\n{}", example["request"], out.join("\n"));
    }
}

#[test]
fn the_check_rejects_a_wrong_number_a_missing_key_and_a_lost_row() {
    for pointer in ["/answer/ideal_s", "/answer/bytes_by_role/weights"] {
        let mut example = examples().swap_remove(0);
        let value = example.pointer_mut(pointer).expect("a number");
        *value = Value::from(value.as_f64().expect("a number") * (1.0 + 1e-8));
        assert_eq!(check(&example).len(), 1, "{pointer}");
    }
    let mut example = examples().pop().expect("an estimate");
    example["answer"]["decode"]["operators"].as_array_mut().expect("rows").pop();
    assert_eq!(check(&example).len(), 1);
    example["answer"]["nonsense"] = Value::from(1);
    assert_eq!(check(&example).len(), 2);
}
