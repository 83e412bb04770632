//! Places of memory: which of several devices, or the host, has towers and tables, and which card the sentences are about.

use report::input::request::{EstimateInputs, Fields, Library};
use report::output::json::estimate::EstimateJson;
use report::output::summary;
use serde_json::{Value, json};

fn inputs(request: &Value) -> EstimateInputs {
    let fields = Fields::from_line(&request.to_string()).expect("an object");
    EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request")
}

fn estimate(request: &Value) -> Value {
    let inputs = inputs(request);
    json!(EstimateJson::new(&inputs, &inputs.estimate().expect("an estimate")))
}

fn text(request: &Value) -> String {
    let inputs = inputs(request);
    summary::estimate(&inputs, &inputs.estimate().expect("an estimate")).to_text()
}

fn with(base: &Value, more: &[(&str, Value)]) -> Value {
    let mut request = base.clone();
    for (key, value) in more {
        request[*key] = value.clone();
    }
    request
}

fn on(hardware: &str, model: &str) -> Value {
    json!({"hardware": hardware, "model": model, "weights": "bf16", "batch": 1, "prompt": 512})
}

#[test]
fn towers_are_counted_on_the_cards_that_have_them() {
    for (engine, towers, said) in [
        (
            "llama.cpp",
            1.0,
            "the device with the first layers has the towers, as llama.cpp loads them",
        ),
        ("ollama", 1.0, "the device with the LM head has the towers, as Ollama loads them"),
        (
            "vllm",
            2.0,
            "each device with layers has the towers, and that with the first ones runs them, as vLLM",
        ),
    ] {
        // 27 to 29 GB, more than either card holds.
        let format = if engine == "vllm" { "fp8_e4m3" } else { "q8_0" };
        let base = with(
            &on("rtx 4090 + rtx 3090", "gemma-3-27b"),
            &[("weights", json!(format)), ("engine", json!(engine))],
        );
        let [all, text] = [false, true].map(|text| {
            let answer = estimate(&with(&base, &[("language_model_only", json!(text))]));
            let total = answer["memory"]["group"]["total"].as_f64().expect("a number");
            (total, answer["notes"].to_string())
        });
        let tower = inputs(&base).model.arch.tower_bytes().get();
        // Another cut may have other activations on a card.
        let counted = (all.0 - text.0) / tower;
        assert!((counted - towers).abs() < 0.1, "{engine}: {counted}");
        assert!(all.1.contains(said), "{engine}: {}", all.1);
        assert!(!text.1.contains("has the towers"), "{}", text.1);
    }
}

#[test]
fn the_usable_memory_is_that_of_the_fullest_card() {
    // 29.5 GB on two cards with a limit each: one is full but for a part of a layer (0.55 GB), and the other one takes the rest.
    // The card that lacks less memory changes with each layer that the limit admits.
    let mut names = Vec::new();
    for limit in (0..13_u32).map(|step| 9.0 + f64::from(step) * 0.05) {
        let request =
            with(&on("rtx 4090 + rtx 3060", "qwen2.5-14b"), &[("memory_limit_gb", json!(limit))]);
        let answer = estimate(&request);
        let cards = answer["cards"].as_array().expect("a list");
        let of = |card: &Value, key: &str| card["memory"][key].as_f64().expect("a number");
        let lacking = |card: &&Value| of(card, "total") - of(card, "usable");
        let fullest = cards.iter().max_by(|a, b| lacking(a).total_cmp(&lacking(b)));
        let name = fullest.expect("two cards")["key"].as_str().expect("a text");
        let installed = if name == "rtx_4090" { 24 } else { 12 };
        let shown = text(&request);
        let says = format!("the given limit; without it {installed}\u{202f}GiB");
        assert!(shown.contains(&says), "{limit}: {shown}");
        names.push(name.to_owned());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 2, "each is the fullest once: {names:?}");
}

#[test]
fn the_note_on_tables_names_all_of_them() {
    let on_card = |model: &str, engine: &str, more: &[(&str, Value)]| {
        let request = with(
            &on("rtx_4090", model),
            &[("weights", json!("q4_k_m")), ("engine", json!(engine))],
        );
        estimate(&with(&request, more))["notes"].to_string()
    };
    let drafts = [
        ("draft_model", json!("llama-3.2-1b")),
        ("draft_tokens", json!(4)),
        ("acceptance", json!(0.7)),
    ];
    for (model, engine, more, said) in [
        (
            "gemma-3n-e4b",
            "llama.cpp",
            &[][..],
            "the input embedding and the embeddings per layer, ",
        ),
        ("gemma-3n-e4b", "ollama", &[], "keeps the input embedding, "),
        ("llama-3.1-8b", "llama.cpp", &[], "keeps the input embedding, "),
        (
            "llama-3.1-8b",
            "llama.cpp",
            &drafts,
            "keeps the input embedding, with the tables of the draft model ",
        ),
    ] {
        let notes = on_card(model, engine, more);
        assert!(notes.contains(said), "{model} {engine}: {notes}");
        assert_eq!(notes.contains("of the draft model"), !more.is_empty(), "{notes}");
    }
}

#[test]
fn figures_of_stages_are_those_of_all() {
    let shown = |split: &str| text(&with(&on("h100", "llama-3.1-8b"), &[(split, json!(2))]));
    let of_one = "figures are those of one device";
    let (stages, shards) = (shown("pipeline_parallel"), shown("tensor_parallel"));
    assert!(stages.contains("fullest of 2 stages") && !stages.contains(of_one), "{stages}");
    assert!(shards.contains(of_one), "{shards}");
}
