//! Fit: the same memory in every verb, with the numbers of answers that were wrong before.

use report::input::request::{
    CheckInputs, EstimateInputs, Fields, Library, RecommendInputs, SEARCHED, ScheduleInputs,
};
use report::output::json::check::CheckJson;
use report::output::json::estimate::EstimateJson;
use report::output::json::recommend as advice;
use report::output::summary;
use serde_json::{Value, json};

fn fields(request: &Value) -> Fields {
    Fields::from_line(&request.to_string()).expect("an object")
}

fn inputs(request: &Value) -> EstimateInputs {
    EstimateInputs::parse(fields(request), &Library::CATALOGS).expect("a request")
}

fn estimate(request: &Value) -> Value {
    let inputs = inputs(request);
    json!(EstimateJson::new(&inputs, &inputs.estimate().expect("an estimate")))
}

fn text(request: &Value) -> String {
    let inputs = inputs(request);
    summary::estimate(&inputs, &inputs.estimate().expect("an estimate")).to_text()
}

fn recommend(request: &Value) -> Value {
    let inputs = RecommendInputs::parse(fields(request), &Library::CATALOGS).expect("a request");
    let asked = inputs.request().expect("a request");
    let answer = inputs.recommend().expect("a recommendation");
    advice::recommendation(&inputs, &asked, &answer).expect("an answer")
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

const GIB: f64 = 1_073_741_824.0;

#[test]
fn macs_follow_the_limit_of_metal() {
    for (device, share) in
        [("apple_m2", 2.0 / 3.0), ("apple_m3_pro", 2.0 / 3.0), ("apple_m4_max", 0.75)]
    {
        let memory = &estimate(&on(device, "llama-3.2-1b"))["memory"];
        let installed = memory["installed"].as_f64().expect("a number");
        assert_eq!(memory["usable"], json!(installed * share), "{device}");
        assert_eq!(memory["platform"], "metal");
    }
    // 16 GB of weights fit 92.5 % of 24 GiB, and not the 17.2 GB that Metal grants with 16.9 GB needed.
    let request = with(&on("apple_m2", "llama-3.1-8b"), &[("prompt", json!(8192))]);
    assert_eq!(estimate(&request)["memory"]["fits"], false);
}

#[test]
fn installed_memory_and_a_limit_hold_in_every_verb() {
    let base = on("apple_m4_pro", "llama-3.1-8b");
    for (more, usable) in [
        (vec![("memory_gb", json!(24))], 16.0 * GIB),
        (vec![("memory_gb", json!(48))], 36.0 * GIB),
        (vec![("memory_limit_gb", json!(10))], 10e9),
        (vec![("memory_gb", json!(24)), ("memory_limit_gb", json!(100))], 16.0 * GIB),
        (vec![("memory_gb", json!(64))], 48.0 * GIB), // the catalog's own
        (vec![], 48.0 * GIB),
    ] {
        let request = with(&base, &more);
        let memory = &estimate(&request)["memory"];
        assert_eq!(memory["usable"], json!(usable), "{request}");
        let fits = memory["total"].as_f64() <= Some(usable);
        assert_eq!(memory["fits"], json!(fits), "{request}");

        let answer = recommend(&request);
        assert_eq!(answer["baseline"]["fits"], json!(fits), "{request}");
        let needs = |row: &Value| row["memory_bytes"].as_f64().expect("bytes");
        let ranked = answer["ranked"].as_array().expect("rows");
        assert!(ranked.iter().all(|row| needs(row) <= usable && row["fits"] == true), "{request}");

        let mut searched = request.clone();
        for key in SEARCHED {
            searched.as_object_mut().expect("an object").remove(key);
        }
        let schedule =
            ScheduleInputs::parse(fields(&searched), &Library::CATALOGS).expect("a request");
        let slots = schedule.schedule().expect("a schedule").ranked;
        assert!(
            slots.iter().all(|slot| slot.outcome.usable.bytes.get().to_bits() == usable.to_bits())
        );

        let claim = with(&request, &[("tokens_per_s", json!(5))]);
        let claim = CheckInputs::parse(fields(&claim), &Library::CATALOGS).expect("a request");
        let judged = json!(CheckJson::new(&claim, &claim.check().expect("a judgment")));
        assert_eq!(judged["fits"], json!(fits), "{request}");
    }
    let product = json!({"hardware": "t4", "m": 1, "n": 65536, "k": 65536, "memory_limit_gb": 1});
    let ranked = recommend(&product)["ranked"].as_array().expect("rows").clone();
    assert!(ranked.is_empty(), "the smallest, of 2 bits, needs 1.1 GB: {ranked:?}");
}

#[test]
fn impossible_memory_is_refused_with_its_range() {
    let refused = |request: Value| {
        let error = RecommendInputs::parse(fields(&request), &Library::CATALOGS);
        error.expect_err("refused").to_string()
    };
    let base = on("h100", "llama-3.1-8b");
    for (key, value, says) in [
        ("memory_gb", json!(0), "memory_gb must be from 0.001 to 1000000; got 0"),
        ("memory_limit_gb", json!(-1), "memory_limit_gb must be from"),
        ("memory_gb", json!("lots"), "memory_gb must be a number"),
    ] {
        let error = refused(with(&base, &[(key, value)]));
        assert!(error.contains(says), "{error}");
    }
    let any = with(&base, &[("hardware", json!("any")), ("memory_gb", json!(24))]);
    assert_eq!(refused(any), "memory_gb and hardware any exclude each other");
}

#[test]
fn a_processor_with_sockets_fits_nothing_until_its_memory_is_known() {
    let request = on("epyc_9654", "llama-3.1-8b");
    let memory = &estimate(&request)["memory"];
    assert_eq!((&memory["fits"], &memory["installed"]), (&Value::Null, &Value::Null));
    assert!(memory["total"].as_f64() > Some(16e9) && memory["usable"].as_f64() > Some(6e12));
    let shown = text(&request);
    assert!(shown.contains("the installed memory is unknown"), "{shown}");
    assert!(!shown.contains("Fits") && shown.contains("memory_gb"), "{shown}");
    let answer = recommend(&request);
    let ranked = answer["ranked"].as_array().expect("rows");
    assert!(!ranked.is_empty() && ranked.iter().all(|row| row["fits"].is_null()));
    assert!(answer["notes"].to_string().contains("memory_gb"), "{}", answer["notes"]);
    for (gb, fits) in [(16, false), (64, true)] {
        let told = with(&request, &[("memory_gb", json!(gb))]);
        assert_eq!(estimate(&told)["memory"]["fits"], json!(fits), "{gb} GB");
    }
    let limited = with(&request, &[("memory_limit_gb", json!(32))]);
    assert_eq!(estimate(&limited)["memory"]["fits"], true);
    // A model that exceeds the largest possible memory does not fit, whatever is installed.
    let huge = with(&request, &[("batch", json!(1000)), ("context", json!(131_072))]);
    assert_eq!(estimate(&huge)["memory"]["fits"], false);
    // The product name fixes the memory of a board.
    assert_eq!(estimate(&on("raspberry_pi_5", "llama-3.2-1b"))["memory"]["fits"], true);
}

#[test]
fn a_draft_model_takes_memory() {
    let request = with(
        &on("h100", "llama-3.1-8b"),
        &[
            ("draft_model", json!("llama-3.1-405b")),
            ("draft_tokens", json!(4)),
            ("acceptance", json!(0.7)),
        ],
    );
    let memory = &estimate(&request)["memory"];
    assert_eq!(memory["fits"], false, "{memory}");
    let part = |key: &str| memory[key].as_f64().expect("bytes");
    let draft = memory["draft"]["total"].as_f64().expect("bytes");
    assert!(draft > 811e9, "405.9 billion parameters of 2 bytes: {draft}");
    let own = part("weights") + part("kv_cache") + part("activations") + part("reserve");
    assert!((part("total") - own - draft).abs() < 1.0);
    assert!(text(&request).contains("draft model"));
    let ranked = recommend(&request)["ranked"].as_array().expect("rows").len();
    assert_eq!(ranked, 0, "the draft is too large in every format");
    let alone = &estimate(&on("h100", "llama-3.1-8b"))["memory"];
    assert_eq!(alone["draft"], Value::Null);
}

#[test]
fn a_model_that_does_not_fit_gets_no_speed() {
    let request = on("rtx_4090", "qwen2.5-32b");
    let shown = text(&request);
    let headline = shown.lines().nth(1).expect("a second line");
    assert!(
        headline.starts_with("Does not fit: ") && headline.contains(" short of "),
        "{headline}"
    );
    assert!(!headline.contains("token/s"), "{headline}");
    assert!(shown.contains("Time and energy, if it fitted"), "{shown}");
    let claim = with(&request, &[("tokens_per_s", json!(5))]);
    let claim = CheckInputs::parse(fields(&claim), &Library::CATALOGS).expect("a request");
    let judged = report::output::words::check::sentence(&claim.check().expect("a judgment"));
    assert!(judged.starts_with("Not possible: does not fit, "), "{judged}");
    let answer = recommend(&with(&request, &[("memory_limit_gb", json!(2))]));
    assert!(answer["notes"].to_string().contains("16 bits do not fit, "), "{}", answer["notes"]);
    let dropped = answer["dropped"].to_string();
    assert!(dropped.contains("short of"), "{dropped}");
}

#[test]
fn the_context_ends_where_the_model_does() {
    let request = on("h100", "qwen3-8b");
    let answer = recommend(&request);
    for row in answer["ranked"].as_array().expect("rows") {
        assert_eq!(row["largest"]["context"], 40_960, "{}", row["scheme"]["key"]);
        assert_eq!(row["largest"]["context_end"], "model");
        assert_eq!(row["largest"]["batch_end"], "memory");
    }
    let small = recommend(&on("jetson_orin_nano_8gb_super", "qwen3-8b"));
    assert_eq!(small["ranked"][0]["largest"]["context_end"], "memory");
    let beyond = with(&request, &[("context", json!(50_000))]);
    let note = "50000 tokens exceed the model's limit of 40960";
    assert!(estimate(&beyond)["notes"].to_string().contains(note));
    assert!(recommend(&beyond)["notes"].to_string().contains(note));
    let claim = with(&beyond, &[("tokens_per_s", json!(50))]);
    let claim = CheckInputs::parse(fields(&claim), &Library::CATALOGS).expect("a request");
    let judged = json!(CheckJson::new(&claim, &claim.check().expect("a judgment")));
    assert!(judged["notes"].to_string().contains(note));
}

#[test]
fn a_group_takes_the_memory_and_the_energy_of_all_its_devices() {
    let request = with(&on("h100", "llama-3.1-70b"), &[("tensor_parallel", json!(4))]);
    let answer = estimate(&request);
    let memory = &answer["memory"];
    assert_eq!(memory["group"]["devices"], 4);
    assert_eq!(memory["group"]["total"].as_f64(), memory["total"].as_f64().map(|one| 4.0 * one));
    let energy = &answer["energy"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let (watt, each) = (number(&energy["watt"]), number(&energy["watt_per_device"]));
    assert!(each > 140.0 && each < 700.0 && (watt / each - 4.0).abs() < 1e-12);
    let joule = number(&energy["joule_per_token"]);
    assert!((joule / (watt * number(&answer["tpot_s"])) - 1.0).abs() < 1e-12);
    let advised = recommend(&request)["notes"].to_string();
    assert!(advised.contains("memory are per device, 4 devices"), "{advised}");
    let row = &recommend(&with(&request, &[("memory_limit_gb", json!(80))]))["ranked"][0];
    let single = estimate(&with(&request, &[("weights", row["scheme"]["weights"].clone())]));
    assert!(number(&row["joule_per_token"]) > 0.5 * number(&single["energy"]["joule_per_token"]));
    let shown = text(&request);
    for part in
        ["on each of 4 devices", "Memory per device, 4 devices", "all devices", "over 4 devices"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_pipeline_waits_at_idle_power() {
    let watts = |pipeline: u64| {
        let more = [("pipeline_parallel", json!(pipeline))];
        let answer = estimate(&with(&on("h100", "llama-3.1-8b"), &more));
        answer["energy"]["watt_per_device"].as_f64().expect("a number")
    };
    // A stage works half of the time, less the time of the hand-over to the next one.
    let works = (watts(2) - 140.0) / (watts(1) - 140.0);
    assert!(works < 0.5 && works > 0.499, "{works}");
}

#[test]
fn a_draft_model_takes_the_memory_of_its_own_estimate() {
    for (weights, batch) in [("bf16", 1), ("gguf_q4_k", 1), ("fp8_e4m3", 16)] {
        let more = [
            ("weights", json!(weights)),
            ("batch", json!(batch)),
            ("prompt", json!(2048)),
            ("new_tokens", json!(300)),
        ];
        let request = with(&on("h100_sxm", "llama-3.1-8b"), &more);
        let drafted = with(
            &request,
            &[
                ("draft_model", json!("llama-3.2-1b")),
                ("draft_tokens", json!(4)),
                ("acceptance", json!(0.7)),
            ],
        );
        let draft = &estimate(&drafted)["memory"]["draft"];
        let own = estimate(&with(&on("h100_sxm", "llama-3.2-1b"), &more))["memory"].clone();
        for part in ["weights", "kv_cache", "activations"] {
            assert_eq!(draft[part], own[part], "{part} in {weights}, batch {batch}");
        }
    }
}

fn small() -> Value {
    json!({"hardware": "jetson_orin_nano_8gb_super", "model": "llama-3.1-8b", "weights": "int4_g128"})
}

#[test]
fn amounts_of_memory_may_have_their_unit() {
    let memory = |key: &str, value: Value| {
        let inputs = inputs(&with(&small(), &[(key, value)]));
        (inputs.device.memory.value, inputs.memory_limit, inputs.weight_size)
    };
    for (key, number, texts) in [
        ("memory_gb", json!(16), ["16GB", "16 GiB"]),
        ("memory_limit_gb", json!(4.294_967_296), ["4.294967296G", "4GiB"]),
        ("weight_gb", json!(4.294_967_296), ["4.294967296 GB", "4 gib"]),
    ] {
        for text in texts {
            assert_eq!(memory(key, number.clone()), memory(key, json!(text)), "{key} {text}");
        }
    }
}

#[test]
fn sizes_that_the_model_cannot_have_are_refused_with_the_limit() {
    let refused = |more: &[(&str, Value)]| {
        let parsed = EstimateInputs::parse(fields(&with(&small(), more)), &Library::CATALOGS);
        let answer = parsed.and_then(|inputs| inputs.estimate());
        answer.err().map_or_else(String::new, |error| error.to_string())
    };
    for (key, value, expected) in [
        ("weight_gb", json!(100), "weight_gb must be from 1e-6 to 64.2"),
        ("streamed_gb", json!(100), "streamed_gb must be from 1e-6 to 5.80964352; got 100"),
        ("memory_gb", json!("24 ms"), "such as 24, 24GB or 24GiB"),
    ] {
        let error = refused(&[(key, value)]);
        assert!(error.contains(expected), "{key}: {error}");
    }
    let prefix =
        |context: u64| refused(&[("cached_prefix", json!(4096)), ("context", json!(context))]);
    assert_eq!(prefix(4095), "cached_prefix must be from 0 to 4095; got 4096");
    assert_eq!(prefix(4096), "");
}

#[test]
fn an_unknown_memory_has_no_largest_batch() {
    let request = on("xeon_8592plus", "llama-3.1-8b");
    let largest = |request: &Value| recommend(request)["ranked"][0]["largest"].clone();
    let unknown = largest(&request);
    assert_eq!(
        (&unknown["batch"], &unknown["batch_end"]),
        (&Value::Null, &json!("memory_unknown"))
    );
    let known = largest(&with(&request, &[("memory_gb", json!(64))]));
    assert!(known["batch"].as_u64().is_some_and(|batch| batch > 100), "{known}");
}

/// Before, `estimate` said "fits" up to the last byte where `recommend` dropped the same scheme.
#[test]
fn what_an_engine_allots_at_most_counts_in_every_verb() {
    let base = with(
        &on("h100_sxm", "llama-3.1-70b"),
        &[
            ("weights", json!("fp8")),
            ("activations", json!("fp8")),
            ("batch", json!(8)),
            ("prompt", json!(4096)),
            ("new_tokens", json!(128)),
        ],
    );
    for (engine, fits) in [("vllm", false), ("sglang", false), ("tensorrt-llm", true)] {
        let request = with(&base, &[("engine", json!(engine))]);
        let answer = estimate(&request);
        let memory = &answer["memory"];
        assert_eq!(memory["fits"], json!(fits), "{engine}: {memory}");
        assert_eq!(memory["engine_usable"].is_null(), fits, "{engine}: {memory}");
        assert!(memory["total"].as_f64() < memory["usable"].as_f64(), "{engine}: {memory}");
        let said =
            "80\u{202f}GiB × 0.97, which vLLM and SGLang allot at most, + 600\u{202f}MB reserve";
        assert_eq!(text(&request).contains(said), !fits, "{}", text(&request));
        let check = with(&request, &[("tokens_per_s", json!(100))]);
        let inputs = CheckInputs::parse(fields(&check), &Library::CATALOGS).expect("a request");
        let answer = json!(CheckJson::new(&inputs, &inputs.check().expect("an answer")));
        assert_eq!(answer["fits"], json!(fits), "{engine}: {answer}");
    }
    let asked = json!({
        "hardware": "h100_sxm", "model": "llama-3.1-70b", "engine": "vllm",
        "batch": 8, "prompt": 4096, "new_tokens": 128,
    });
    let advice = recommend(&asked);
    let dropped = advice["dropped"].as_array().expect("a list");
    let row =
        dropped.iter().find(|row| row["scheme"]["key"] == json!("fp8_w8a8")).expect("dropped");
    assert_eq!(row["reason"]["kind"], json!("memory"), "{row}");
}

/// llama.cpp reserves the logits of a whole micro-batch. Published logs of Qwen3-30B-A3B: `CUDA0 compute buffer size = 300.75 MiB`.
#[test]
fn llama_cpp_reserves_the_logits_of_a_micro_batch() {
    let base = json!({
        "hardware": "rtx_4090", "model": "qwen3-30b-a3b", "weights": "q4_k_m", "prompt": 4096,
    });
    let activations = |more: &[(&str, Value)]| {
        estimate(&with(&base, more))["memory"]["activations"].as_f64().expect("bytes")
    };
    let logged = 300.75 * 1024.0 * 1024.0;
    assert!((activations(&[("engine", json!("llama.cpp"))]) - logged).abs() < 1.0);
    assert!(
        (activations(&[("engine", json!("ollama")), ("prompt", json!(65536))]) - logged).abs()
            < 1.0
    );
    assert!(activations(&[("weights", json!("int4_g128")), ("engine", json!("vllm"))]) < logged);
    // A context of 100 tokens has no more logits.
    assert!(activations(&[("engine", json!("llama.cpp")), ("prompt", json!(100))]) < logged / 5.0);
}
