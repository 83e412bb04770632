//! Rates of long answers: means over the generation, in every verb, where they were those of the first token.

use report::input::request::{EstimateInputs, Fields, Library, RecommendInputs, ScheduleInputs};
use report::number_text as n;
use report::output::json::estimate::EstimateJson;
use report::output::json::{recommend as advice, schedule as slots};
use report::output::summary;
use serde_json::{Value, json};

const NEW_TOKENS: f64 = 131_072.0;

fn fields(model: &str) -> Fields {
    let request = json!({
        "hardware": "h100_sxm", "model": model, "weights": "fp8_e4m3", "prompt": 512, "batch": 1,
        "new_tokens": NEW_TOKENS,
    });
    Fields::from_line(&request.to_string()).expect("an object")
}

fn estimate(model: &str) -> (String, Value) {
    let inputs = EstimateInputs::parse(fields(model), &Library::CATALOGS).expect("a request");
    let answer = inputs.estimate().expect("an estimate");
    let text = summary::estimate(&inputs, &answer).to_text();
    (text, json!(EstimateJson::new(&inputs, &answer)))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Asserts that `mean` is the mean of `generation_s`, far from the step at the start.
fn assert_is_mean(mean: &Value, first: f64, generation: f64) {
    let tpot = number(&mean["tpot"]["time_s"]);
    assert!((tpot * (NEW_TOKENS - 1.0) / generation - 1.0).abs() < 1e-9, "{mean}");
    assert!(tpot > 1.5 * first, "{tpot} s in the mean, {first} s at the start");
    let rate = number(&mean["throughput_token_per_s"]);
    assert!((rate * tpot - 1.0).abs() < 1e-12, "{mean}");
    let joule = number(&mean["watt"]) * tpot;
    assert!((number(&mean["joule_per_token"]) / joule - 1.0).abs() < 1e-12, "{mean}");
}

#[test]
fn the_headline_of_a_long_answer_is_its_mean_rate() {
    let (text, json) = estimate("llama-3.1-8b");
    let mean = &json["mean"];
    assert_is_mean(mean, number(&json["tpot_s"]), number(&json["generation_s"]));
    let rate =
        n::token_rate(calc_core::units::TokensPerSec::new(number(&mean["throughput_token_per_s"])));
    let count = n::count(131_072);
    // The model serves one token less than these, and the line above the verdict says so.
    let headline = text.lines().nth(2).expect("a verdict");
    assert!(headline.contains(&format!("{rate} expected over {count} new tokens")), "{headline}");
    assert!(text.contains(&format!("mean rate   {rate} = batch 1 / mean TPOT")), "{text}");
    let energy = n::energy(calc_core::units::Joules::new(number(&mean["joule_per_token"])));
    assert!(text.contains(&format!("energy      {energy} per token")), "{text}");
    assert!(text.contains("decode step at context 512"), "the step is named: {text}");
}

#[test]
fn the_keys_of_the_step_keep_their_meaning() {
    let one = |new_tokens: u64| {
        let mut fields = fields("llama-3.1-8b");
        fields.replace_text("new_tokens", &new_tokens.to_string());
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        json!(EstimateJson::new(&inputs, &inputs.estimate().expect("an estimate")))
    };
    let (single, long) = (one(1), one(131_072));
    for key in ["tpot_s", "throughput_token_per_s", "energy", "decode"] {
        assert_eq!(single[key], long[key], "{key}");
    }
    assert_eq!(single["mean"]["tpot"], single["expected"]["tpot"], "one token is its own mean");
    assert_eq!(single["mean"]["mbu"], single["decode"]["mbu"]);
    assert_eq!(single["mean"]["joule_per_token"], single["energy"]["joule_per_token"]);
}

#[test]
fn recommend_ranks_and_shows_the_same_request() {
    let inputs = RecommendInputs::parse(fields("llama-3.1-8b"), &Library::CATALOGS);
    let inputs = inputs.expect("a request");
    let request = inputs.request().expect("a request");
    let answer = inputs.recommend().expect("a recommendation");
    let json = advice::recommendation(&inputs, &request, &answer).expect("an answer");
    let (_, estimated) = estimate("llama-3.1-8b");
    let row = json["ranked"].as_array().expect("a list").iter();
    let row = row.clone().find(|row| row["scheme"]["key"] == "fp8_w8a16").expect("ranked");
    assert_is_mean(
        &row["mean"],
        number(&row["tpot"]["time_s"]),
        number(&estimated["generation_s"]),
    );
    let text = summary::recommendation(&inputs, &request, &answer, &[]).to_text();
    let shown = n::time(calc_core::units::Seconds::new(number(&row["mean"]["tpot"]["time_s"])));
    let line = text.lines().find(|line| line.contains("FP8 weights  ")).expect("a row");
    assert!(line.contains(&shown), "{shown} is not in {line}");
    assert!(text.contains("mean TPOT") && text.contains("new tokens 131072"), "{text}");
    let reason = row["reason"]["text"].as_str().expect("a sentence");
    assert!(reason.contains("KV cache"), "at 66 thousand tokens: {reason}");
}

#[test]
fn the_columns_of_a_schedule_are_means_and_it_says_what_is_uncertain() {
    let request = json!({
        "hardware": "h100_sxm", "model": "llama-3.1-8b", "prompt": 512, "new_tokens": NEW_TOKENS,
    });
    let fields = Fields::from_line(&request.to_string()).expect("an object");
    let inputs = ScheduleInputs::parse(fields, &Library::CATALOGS);
    let inputs = inputs.expect("a request");
    let answer = inputs.schedule().expect("a schedule");
    let json = slots::schedule(&inputs, &answer);
    let text = summary::schedule(&inputs, &answer).to_text();
    let best = &json["ranked"][0];
    let tpot = number(&best["mean"]["tpot"]["time_s"]);
    assert!(tpot > 1.5 * number(&best["tpot_s"]), "{best}");
    let row = text.lines().find(|line| line.starts_with("datasheet peaks")).expect("a row");
    let rate = number(&best["mean"]["throughput_token_per_s"]);
    for cell in [
        n::time(calc_core::units::Seconds::new(tpot)),
        n::token_rate(calc_core::units::TokensPerSec::new(rate)),
        n::energy(calc_core::units::Joules::new(number(&best["mean"]["joule_per_token"]))),
    ] {
        assert!(row.contains(&cell), "{cell} is not in {row}");
    }
    let sentence = "so the smaller loss of quality decides.";
    assert_eq!(json["first_by"] == "less_loss", text.contains(sentence), "{text}");
    let ranked = advice_of("llama-3.1-8b");
    assert!(ranked.contains(sentence) && text.contains(sentence), "{ranked}\n{text}");
}

fn advice_of(model: &str) -> String {
    let inputs = RecommendInputs::parse(fields(model), &Library::CATALOGS).expect("a request");
    let request = inputs.request().expect("a request");
    let answer = inputs.recommend().expect("a recommendation");
    summary::recommendation(&inputs, &request, &answer, &[]).to_text()
}

#[test]
fn a_ranking_of_several_engines_names_them() {
    let table = |engine: Option<&str>| {
        let mut request = json!({ "hardware": "gb10", "model": "qwen3-30b-a3b", "prompt": 512 });
        if let Some(engine) = engine {
            request["engine"] = json!(engine);
        }
        let fields = Fields::from_line(&request.to_string()).expect("an object");
        let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let request = inputs.request().expect("a request");
        let answer = inputs.recommend().expect("a recommendation");
        let text = summary::recommendation(&inputs, &request, &answer, &[]).to_text();
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let head = text.lines().find(|line| line.contains("vs 16 bit")).map(cells).expect("a head");
        let names = |name: &str| text.lines().any(|line| line.contains(name) && line.contains("×"));
        (head, names("llama.cpp") && names("vLLM"))
    };
    let (head, is_named) = table(None);
    assert!(head[1] == "engine" && is_named, "{head:?}");
    assert!(table(Some("llama.cpp")).0.iter().all(|cell| cell != "engine"), "one engine");
}

#[test]
fn a_bound_on_the_time_per_token_holds_for_what_is_shown() {
    let (_, json) = estimate("llama-3.1-8b");
    let (first, mean) = (number(&json["tpot_s"]), number(&json["mean"]["tpot"]["time_s"]));
    let mut fields = fields("llama-3.1-8b");
    fields.replace_text("max_tpot_ms", &(f64::midpoint(first, mean) * 1e3).to_string());
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
    let answer = inputs.recommend().expect("a recommendation");
    let is_same = |key: &str| key == "fp8_w8a16";
    assert!(answer.ranked.iter().all(|row| !is_same(row.scheme.key)));
    let dropped = answer.dropped.iter().find(|row| is_same(row.scheme.key)).expect("dropped");
    assert_eq!(dropped.reason.key(), "tpot");
}

/// The only rate shown was that of decode, in another order than the rows.
#[test]
fn a_schedule_by_throughput_shows_the_rate_that_ranks() {
    let at_context = format!("rate at context {}", n::count(4096));
    for (phase, tokens, name) in [
        ("whole", 64.0, "rate with prompts"),
        ("prefill", 4096.0, "prompt rate"),
        ("decode", 1.0, &at_context),
    ] {
        let request = json!({
            "hardware": "h100_sxm", "model": "llama-3.1-8b", "prompt": 4096, "new_tokens": 64,
            "objective": "throughput", "phase": phase, "max_batch": 16,
        });
        let fields = Fields::from_line(&request.to_string()).expect("an object");
        let inputs = ScheduleInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.schedule().expect("a schedule");
        let json = slots::schedule(&inputs, &answer);
        let text = summary::schedule(&inputs, &answer).to_text();
        assert!(text.contains(name) && text.contains("decode rate"), "{text}");
        for (slot, row) in answer.ranked.iter().zip(json["ranked"].as_array().expect("rows")) {
            let rate = number(&row["ranked_token_per_s"]);
            let outcome = &slot.outcome;
            let time = match phase {
                "whole" => outcome.batch_whole.time,
                "prefill" => outcome.prefill.expected.time,
                _ => outcome.decode.expected.time,
            };
            let expected = tokens * slot.batch as f64 / time.get();
            assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} {expected}");
            assert!(text.contains(&n::token_rate(calc_core::units::TokensPerSec::new(rate))));
        }
    }
    let columns = |objective: &str, new_tokens: u64| {
        let request = json!({
            "hardware": "h100_sxm", "model": "llama-3.1-8b", "prompt": 4096, "max_batch": 4,
            "objective": objective, "new_tokens": new_tokens,
        });
        let fields = Fields::from_line(&request.to_string()).expect("an object");
        let inputs = ScheduleInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.schedule().expect("a schedule");
        assert!(slots::schedule(&inputs, &answer)["ranked"][0]["ranked_token_per_s"].is_null());
        summary::schedule(&inputs, &answer).to_text()
    };
    assert!(!columns("latency", 64).contains("decode rate"));
    assert!(!columns("throughput", 1).contains("decode rate"), "one rate is both");
}

#[test]
fn an_answer_says_what_its_losses_are_relative_to() {
    let notes = |model: &str| {
        let inputs = RecommendInputs::parse(fields(model), &Library::CATALOGS).expect("a request");
        let request = inputs.request().expect("a request");
        let answer = inputs.recommend().expect("a recommendation");
        advice::recommendation(&inputs, &request, &answer).expect("an answer")["notes"].to_string()
    };
    let note = "losses are relative to the model as published, in ";
    assert!(notes("gpt-oss-20b").contains(&format!("{note}bf16, experts in mxfp4")));
    assert!(notes("deepseek-v3").contains(&format!("{note}fp8_block128")));
    assert!(!notes("llama-3.1-8b").contains(note));
}

#[test]
fn the_headline_has_the_rate_at_the_context_that_a_request_names() {
    let line = |more: &str| {
        format!(
            r#"{{"hardware":"rtx_4090","model":"qwen3.5-35b-a3b","weights":"q4_k_m","new_tokens":128{more}}}"#
        )
    };
    for (more, is_said) in
        [(r#","context":"64k""#, true), (r#","context":600"#, false), ("", false)]
    {
        let fields = Fields::from_line(&line(more)).expect("JSON");
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.estimate().expect("an estimate");
        let text = report::output::summary::estimate(&inputs, &answer).to_text();
        let brief = report::output::brief::estimate(&inputs, &answer).sentence;
        let view = report::output::verdict::model::sentence(&answer, &inputs.workload);
        let step = report::number_text::token_rate(answer.throughput);
        let said = format!("{step} at context 65\u{202f}536");
        for told in [text.lines().nth(1).expect("a verdict"), &brief, &view] {
            assert_eq!(told.contains(&said), is_said, "{told}");
        }
        // The text has the two rates under two names, and the name that JSON has too is of the same number.
        assert!(text.contains(&format!("\nthroughput  {step} = ")), "{text}");
        assert!(text.contains("\nmean rate   "), "{text}");
    }
}
