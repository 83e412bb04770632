//! Exports of the Model view's answer: operators as CSV, everything as Markdown, the published JSON of `estimate` and of
//! `recommend`.

use calc_core::estimate::Estimate;
use calc_core::model_arch::ModelArch;
use calc_core::plan::OpRow;
use report::input::request::{EstimateInputs, Fields, RecommendInputs, Subject};
use report::output::json;
use report::output::summary;
use report::output::words;

use crate::state::advice::question::counted;
use crate::state::explore::command::flags;
use crate::state::inputs::Inputs;
use crate::state::model::answer::estimate_inputs;
use crate::state::model::question::ModelQuestion;

/// Content of an export; `None` for an unknown kind or while an input is invalid.
pub(super) fn export(inputs: &Inputs, kind: &str) -> Option<String> {
    let question = ModelQuestion::read(&inputs.model, inputs.place()).ok()?;
    match kind {
        "advice.json" => advice(inputs, &question),
        "json" => Some(json::estimate::pretty(&asked(inputs, &question))),
        _ => {
            let request = asked(inputs, &question);
            let answer = request.estimate().ok()?;
            match kind {
                "csv" => Some(csv(&question.arch, &answer)),
                "md" => Some(summary::estimate(&request, &answer).to_markdown()),
                _ => None,
            }
        }
    }
}

/// The question as the command line reads it, with the fields that it has there.
fn asked(inputs: &Inputs, question: &ModelQuestion<'_>) -> EstimateInputs {
    let request = estimate_inputs(&inputs.model, question, question.workload);
    let mut texts = flags(inputs);
    let formats = ["weights", "activations", "kv", "embedding", "experts"];
    texts.retain(|(flag, _)| !formats.contains(flag));
    let named = &request.named;
    let stored = request.model.stored.weights;
    let weights = Some(request.precision.weights).filter(|format| *format != stored);
    let roles = [weights, named.activations, named.kv_cache, named.embedding, named.experts];
    texts.extend(
        formats
            .into_iter()
            .zip(roles)
            .filter_map(|(role, format)| Some((role, format?.key.to_owned()))),
    );
    texts.extend([
        ("batch", request.workload.batch.to_string()),
        ("prompt", request.text_tokens().to_string()),
    ]);
    texts.extend(request.told.iter().cloned());
    let keys: Vec<(String, String)> =
        texts.into_iter().map(|(flag, text)| (flag.replace('-', "_"), text)).collect();
    let fields = Fields::from_texts(keys.iter().map(|(key, text)| (&**key, &**text)));
    request.asked_by(fields)
}

/// CSV of the operators of both phases by the part of the layers that they belong to: totals over their instances, in base units.
fn csv(model: &ModelArch, answer: &Estimate) -> String {
    let mut text = String::from(
        "phase,operator,count,compute,flop,weight_bytes,kv_cache_bytes,activation_bytes,flop_per_byte,ideal_s,expected_s,low_s,high_s,bound,layers\n",
    );
    for (phase, answer) in [("prefill", &answer.prefill), ("decode", &answer.decode)] {
        for layers in &answer.layers {
            let part = words::layers::part(model, layers.part).replace(',', ";");
            for row in &layers.operators {
                text += &line(phase, row, &part);
            }
        }
    }
    text
}

fn line(phase: &str, row: &OpRow, part: &str) -> String {
    let (totals, traffic) = (&row.totals, &row.totals.cost.traffic);
    let kernel = |shown: String| if row.kind.is_kernel() { shown } else { String::new() };
    format!(
        "{phase},{},{},{},{},{},{},{},{},{},{},{},{},{},{part}\n",
        row.kind.key(),
        row.count,
        kernel(row.path.class.key().to_owned()),
        totals.cost.flops.get(),
        traffic.weights.get(),
        traffic.kv_cache.get(),
        traffic.activations.get(),
        kernel(totals.cost.intensity().get().to_string()),
        totals.ideal.get(),
        totals.expected.time.get(),
        totals.expected.low.get(),
        totals.expected.high.get(),
        kernel(words::bound(totals.time.bound()).to_owned())
    )
}

/// Published JSON of the adviser's answer to the page's request.
fn advice(inputs: &Inputs, question: &ModelQuestion<'_>) -> Option<String> {
    let part = counted(inputs, question);
    let request = RecommendInputs {
        fields: None,
        device: inputs.device.clone(),
        any_device: false,
        power_mode: inputs.mode.as_ref().map(ToString::to_string),
        subject: Subject::Model(Box::new(estimate_inputs(
            &inputs.model,
            question,
            question.workload,
        ))),
        objective: inputs.goal.objective,
        part,
        bounds: inputs.goal.bounds()?,
        asked_weights: None,
    };
    Some(json::recommend::pretty(&request))
}

#[cfg(test)]
mod tests {
    use report::input::request::{EstimateInputs, Fields, Library};
    use report::output::json::estimate::EstimateJson;
    use report::output::json::recommend::recommendation;
    use serde_json::{Value, json};

    use super::*;
    use crate::state::export::tests::export;

    const QUERY: &str =
        "?view=model&d=h100_sxm&batch=8&prompt=512&context=2048&generate=16&weights=fp8_e4m3&v=1";

    fn fields(more: &Value) -> Fields {
        let mut request = json!({
            "hardware": "h100_sxm", "model": "llama-3.1-8b", "batch": 8, "prompt": 512,
            "context": 2048, "new_tokens": 16, "weights": "fp8_e4m3",
        });
        for (key, value) in more.as_object().expect("an object") {
            request[key] = value.clone();
        }
        Fields::from_line(&request.to_string()).expect("an object")
    }

    fn written(value: &impl serde::Serialize) -> String {
        serde_json::to_string_pretty(value).expect("JSON") + "\n"
    }

    #[test]
    fn the_estimate_is_that_of_the_command_line() {
        let inputs =
            EstimateInputs::parse(fields(&json!({})), &Library::CATALOGS).expect("a request");
        let answer = inputs.estimate().expect("an answer");
        assert_eq!(export("json", QUERY), written(&EstimateJson::new(&inputs, &answer)));
        assert_eq!(export("md", QUERY), summary::estimate(&inputs, &answer).to_markdown());
    }

    #[test]
    fn a_model_that_does_not_fit_is_exported_with_what_would() {
        let query = "?view=model&d=rtx_4090&model=gpt-oss-120b&batch=1&prompt=512&generate=16&v=1";
        let found: Value = serde_json::from_str(&export("json", query)).expect("JSON");
        let line = r#"{"hardware":"rtx_4090","model":"gpt-oss-120b","prompt":512,"new_tokens":16}"#;
        let asked = Fields::from_line(line).expect("JSON");
        let asked = EstimateInputs::parse(asked, &Library::CATALOGS).expect("a request");
        let told = json!(EstimateJson::new(&asked, &asked.estimate().expect("an answer")));
        assert_eq!(found["fits_with"], told["fits_with"]);
        assert_eq!(found["fits_with"][0]["set"]["host"], "ddr5");
    }

    #[test]
    fn the_advice_is_that_of_the_command_line() {
        let inputs = RecommendInputs::parse(fields(&json!({})), &Library::CATALOGS);
        let inputs = RecommendInputs { asked_weights: None, ..inputs.expect("a request") };
        let asked = inputs.request().expect("a question");
        let answer = inputs.recommend().expect("an answer");
        assert_eq!(
            export("advice.json", QUERY),
            written(&recommendation(&inputs, &asked, &answer).expect("JSON"))
        );
    }

    #[test]
    fn csv_has_the_operators_of_both_phases_and_adds_up_to_the_estimate() {
        let csv = export("csv", QUERY);
        let json: Value = serde_json::from_str(&export("json", QUERY)).expect("JSON");
        let columns = csv.lines().next().map(|head| head.split(',').count());
        for phase in ["prefill", "decode"] {
            let rows: Vec<Vec<&str>> = csv
                .lines()
                .filter(|line| line.starts_with(phase))
                .map(|line| line.split(',').collect())
                .collect();
            assert!(rows.len() > 5 && rows.iter().all(|row| Some(row.len()) == columns));
            let ideal: f64 = rows.iter().map(|row| row[9].parse::<f64>().expect("a number")).sum();
            let said = json[phase]["ideal_s"].as_f64().expect("a number");
            assert!((ideal / said - 1.0).abs() < 1e-9, "{ideal} {said}");
        }
        assert!(export("csv", "?view=model&batch=x").is_empty());
    }
}
