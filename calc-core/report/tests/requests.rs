//! Invalid requests: each gets one line that names the value and the allowed values, and none panics.

use calc_core::hf_config::Unread;
use proptest::prelude::*;
use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Files, Library};
use serde_json::{Map, Value, json};

fn analyze(request: &Value) -> Result<f64, String> {
    let run = || {
        let fields = Fields::from_line(&request.to_string())?;
        let inputs = AnalyzeInputs::parse(fields, &Library::CATALOGS)?;
        inputs.analyze().map(|answer| answer.time.ideal().get())
    };
    run().map_err(|error: report::input::request::RequestError| error.to_string())
}

fn estimate(request: &Value) -> Result<f64, String> {
    let run = || {
        let fields = Fields::from_line(&request.to_string())?;
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS)?;
        inputs.estimate().map(|answer| answer.tpot.time.get())
    };
    run().map_err(|error: report::input::request::RequestError| error.to_string())
}

/// A valid request with one field replaced.
fn with(mut base: Value, key: &str, value: Value) -> Value {
    base[key] = value;
    base
}

fn gemm() -> Value {
    json!({"hardware": "h100", "m": 1, "n": 4096, "k": 4096, "weights": "fp16"})
}

fn model() -> Value {
    json!({"hardware": "jetson_orin_nano_8gb_super", "model": "llama-3.1-8b", "weights": "int4_g128", "batch": 1, "prompt": 512})
}

#[test]
fn wrong_shapes_are_refused_with_the_allowed_range() {
    for (key, value, expected) in [
        ("m", json!(0), "m must be from 1 to 1000000000; got 0"),
        ("m", json!(-4), "m must be from 1 to 1000000000; got -4"),
        ("n", json!(1.5), "n must be a whole number; got 1.5"),
        ("k", json!(1e30), "got 1e30"),
        ("k", json!("many"), "k must be a number; got `many`"),
        ("k", json!([1]), "k must be a number; got `[1]`"),
        ("k", json!(null), "k is missing"),
        ("weights", json!("int5"), "unknown format `int5`; did you mean int"),
        ("weights", json!("fp16\n\u{1b}[31m"), "unknown format `fp16\\n\\u{1b}[31m`"),
        ("weights", json!(4), "weights must be a name in quotes; got 4"),
        ("activations", json!("gguf_q4_0"), "nothing computes in gguf_q4_0"),
        ("hardware", json!("h10"), "unknown hardware `h10`; did you mean h100_sxm"),
        ("power_mode", json!("15W"), "this device has none"),
        ("wieghts", json!("fp16"), "unknown field `wieghts`; did you mean weights"),
        ("op", json!("conv"), "op must be one of gemm, gemv, attention"),
        ("engine", json!("llamacpp"), "engine must be one of llama.cpp"),
    ] {
        let error = analyze(&with(gemm(), key, value)).expect_err(key);
        assert!(error.contains(expected), "{key}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(analyze(&gemm()).is_ok());
    let capital = json!({"hardware": "h100", "M": 1, "n": 1, "k": 1, "weights": "fp16"});
    assert_eq!(analyze(&capital), Err("unknown field `M`; did you mean m?".into()));
}

#[test]
fn rows_are_tokens_of_every_operator_that_has_rows() {
    for base in [
        json!({"op": "norm", "hidden": 4096}),
        json!({"op": "add_norm", "hidden": 4096}),
        json!({"op": "activation", "width": 4096}),
        json!({"op": "kv_append", "kv_heads": 8, "head_dim": 128}),
        json!({"op": "ffn", "hidden": 4096, "width": 14336, "weights": "fp16"}),
        json!({"op": "moe", "hidden": 4096, "width": 14336, "n_experts": 8, "per_token": 2, "weights": "fp16"}),
    ] {
        let base = with(base, "hardware", json!("h100"));
        let by_tokens = analyze(&with(base.clone(), "tokens", json!(8)));
        let by_rows = with(base.clone(), "m", json!(8));
        assert!(by_tokens.is_ok() && by_tokens == analyze(&by_rows), "{base}: {by_tokens:?}");
        let both = analyze(&with(by_rows, "tokens", json!(8))).expect_err("both");
        assert_eq!(both, "tokens and m exclude each other");
        assert_eq!(analyze(&base).expect_err("neither"), "tokens is missing");
    }
    let attention =
        json!({"hardware": "h100", "op": "attention", "heads": 8, "head_dim": 64, "m": 4});
    assert_eq!(
        analyze(&attention).expect_err("no rows"),
        "unknown field `m` of attention, which takes batch, cached, head_dim, heads, kv_heads, new, unfused, v_dim, window"
    );
    assert_eq!(
        analyze(&with(gemm(), "tokens", json!(4))).expect_err("rows"),
        "unknown field `tokens` of gemm, which takes k, m, n"
    );
}

#[test]
fn wrong_workloads_are_refused_with_the_allowed_range() {
    for (key, value, expected) in [
        ("batch", json!(0), "batch must be from 1 to 1000000; got 0"),
        ("new_tokens", json!(0), "new_tokens must be from 1"),
        ("tensor_parallel", json!(3), "tensor_parallel 3 does not divide attention heads (32)"),
        ("expert_parallel", json!(2), "does not apply to a model without experts"),
        ("experts", json!("int4"), "experts does not apply to a model without experts"),
        ("draft_tokens", json!(4), "draft_tokens needs acceptance"),
        ("acceptance", json!(0.5), "acceptance needs draft_tokens"),
        ("draft_model", json!("llama-3.2-1b"), "draft_model needs draft_tokens"),
        ("power_mode", json!("30W"), "this device has 15W, 25W, MAXN_SUPER, 7W"),
        ("model", json!("llama-3.1-9b"), "unknown model `llama-3.1-9b`; did you mean llama-3.1-8b"),
        ("weight_gb", json!("big"), "weight_gb must be a number"),
        ("weight_gb", json!(0), "weight_gb must be from"),
        ("model", json!("there/is/none.json"), "unknown model"),
    ] {
        let error = estimate(&with(model(), key, value)).expect_err(key);
        assert!(error.contains(expected), "{key}: {error}");
    }
    let both = with(with(model(), "weight_gb", json!(4)), "weight_bits", json!(4));
    assert!(estimate(&both).expect_err("both").contains("exclude each other"));
    assert!(estimate(&model()).is_ok());
}

#[test]
fn a_mode_with_unknown_clocks_is_refused_and_the_device_itself_is_not() {
    let thor = with(model(), "hardware", json!("jetson_t5000"));
    assert!(estimate(&thor).is_ok());
    let error = estimate(&with(thor, "power_mode", json!("120W"))).expect_err("no clocks");
    assert!(error.contains("are unknown; leave the power mode out"), "{error}");
}

/// Formats that the operator ignores, and the formats in which it runs; `None` for operators that read all formats.
#[test]
fn a_format_that_an_operator_does_not_read_is_named() {
    let norm = json!({"hardware": "h100", "op": "norm", "tokens": 8, "hidden": 64});
    let append =
        json!({"hardware": "h100", "op": "kv_append", "tokens": 8, "kv_heads": 8, "head_dim": 64});
    let attention = json!({"hardware": "h100", "op": "attention", "heads": 8, "head_dim": 64});
    let int4 = "weights int4_g128: it runs in fp16";
    for (base, formats, expected) in [
        (&norm, json!({}), ""),
        (&norm, json!({"weights": "int4_g128"}), int4),
        (&norm, json!({"weights": "fp32"}), ""),
        (&norm, json!({"activations": "bf16"}), ""),
        (&norm, json!({"activations": "fp8_e4m3"}), "activations fp8_e4m3: it runs in fp16"),
        (&norm, json!({"weights": "fp16", "activations": "bf16"}), "weights fp16: it runs in bf16"),
        (&norm, json!({"kv": "int8"}), "kv int8: it runs in fp16"),
        (&attention, json!({"kv": "int8", "activations": "fp16"}), ""),
        (&attention, json!({"kv": "int8", "weights": "int4_g128"}), int4),
        (&append, json!({"activations": "fp16"}), ""),
        (
            &append,
            json!({"kv": "int8", "activations": "fp16"}),
            "activations fp16: it runs in int8",
        ),
        (&gemm(), json!({"kv": "int8", "activations": "fp8_e4m3"}), "kv int8"),
        (&gemm(), json!({"weights": "int4_g128", "activations": "fp16"}), ""),
        (&gemm(), json!({"embedding": "fp16", "experts": "int8"}), "embedding fp16, experts int8"),
    ] {
        let mut request = base.clone();
        request
            .as_object_mut()
            .expect("an object")
            .extend(formats.as_object().expect("too").clone());
        let fields = Fields::from_line(&request.to_string()).expect("an object");
        let inputs = AnalyzeInputs::parse(fields, &Library::CATALOGS).expect("a good request");
        let answer = inputs.analyze().expect("an answer");
        let notes = report::output::words::request_notes(&inputs, &answer);
        let rest = notes.iter().find_map(|note| note.split_once(" does not read "));
        assert_eq!(rest.map_or("", |(_, rest)| rest), expected, "{request}: {notes:?}");
    }
}

#[test]
fn lines_that_are_not_objects_are_refused() {
    for line in ["", "[]", "1", "{\"a\":", "null", "\"x\"", "{\"m\": 1e999}"] {
        let error = Fields::from_line(line).expect_err(line).to_string();
        assert!(error.starts_with("not a JSON object"), "{line}: {error}");
    }
    assert!(Fields::from_line(&"[".repeat(100_000)).is_err());
}

/// Values at the limits of parsers.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..5000_u64).prop_map(Value::from),
        "(?s).{0,20}".prop_map(Value::from),
        "[\\x00-\\x1f]{1,5}".prop_map(Value::from),
        Just(json!({"deep": [1, {"er": []}]})),
        proptest::sample::select(vec![
            "h100",
            "gb10",
            "fp16",
            "nvfp4",
            "gguf_q4_k",
            "llama-2-7b",
            "attention",
            "norm",
            "15W"
        ])
        .prop_map(Value::from),
    ]
}

fn any_request() -> impl Strategy<Value = Value> {
    let keys = vec![
        "hardware",
        "power_mode",
        "m",
        "n",
        "k",
        "weights",
        "activations",
        "kv",
        "embedding",
        "experts",
        "op",
        "heads",
        "kv_heads",
        "head_dim",
        "new",
        "cached",
        "window",
        "tokens",
        "hidden",
        "width",
        "model",
        "batch",
        "prompt",
        "context",
        "new_tokens",
        "tensor_parallel",
        "pipeline_parallel",
        "expert_parallel",
        "link",
        "draft_tokens",
        "acceptance",
        "weight_gb",
        "weight_bits",
        "engine",
        "draft_model",
        "unfused",
        "plain",
        "",
    ];
    proptest::collection::vec((proptest::sample::select(keys), any_value()), 0..12).prop_map(
        |fields| {
            Value::Object(
                fields
                    .into_iter()
                    .map(|(key, value)| (key.to_string(), value))
                    .collect::<Map<_, _>>(),
            )
        },
    )
}

proptest! {
    #[test]
    fn no_request_panics(changes in any_request()) {
        for base in [json!({}), gemm(), model()] {
            let mut request = base;
            for (key, value) in changes.as_object().expect("an object") {
                // Ten million decode steps are slow, and this test only looks for panics.
                if key != "new_tokens" || value.as_f64().is_none_or(|count| count < 5000.0) {
                    request[key] = value.clone();
                }
            }
            for answer in [analyze(&request), estimate(&request)] {
                match answer {
                    Ok(time) => prop_assert!(time.is_finite() && time > 0.0),
                    Err(error) => prop_assert!(!error.is_empty() && error.len() < 2000 && !error.contains(char::is_control)),
                }
            }
        }
    }

    #[test]
    fn no_line_panics(line in "(?s).{0,200}") {
        let _ignored_on_purpose = Fields::from_line(&line).is_ok();
    }
}

#[test]
fn a_model_file_that_is_not_understood_is_estimated_as_its_upper_bound_on_request() {
    let file = json!({
        "model_type": "novel", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 4, "swa_num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128_256,
        "torch_dtype": "bfloat16", "sliding_window": 128, "max_position_embeddings": 131_072, "head_dim": 128,
    });
    let read = |_: &str| Ok(file.to_string());
    let files = Files::new(&read);
    let request = with(with(model(), "hardware", json!("h100_sxm")), "model", json!("novel.json"));
    let parse = |request: &Value| {
        let fields = Fields::from_line(&request.to_string())?;
        EstimateInputs::parse(fields, &Library::with_files(&files))
    };
    let error = parse(&request).expect_err("keys that are not understood").to_string();
    assert!(error.contains("novel.json: ") && error.contains("swa_num_key_value_heads"), "{error}");
    let bounded = with(request.clone(), "model_upper_bound", json!(true));
    let inputs = parse(&bounded).expect("the upper bound");
    assert_eq!(inputs.model.arch.attention[0].n_kv_heads, 8);
    let answer = inputs.estimate().expect("in range");
    let notes = report::output::words::estimate_notes(&inputs, &answer).join("\n");
    assert!(notes.contains("layers with full attention = 32 (upper bound)"), "{notes}");
    assert!(parse(&request).is_err(), "one request does not answer for another");
}

#[test]
fn repositories_of_the_hub_resolve_with_and_without_a_file_system() {
    let no_file = |_: &str| Err("no such file".to_owned());
    let nothing = Files::new(&no_file);
    for library in [Library::CATALOGS, Library::with_files(&nothing)] {
        let find = |name: &str| library.model(name, Unread::Refuse);
        for (name, key, weights) in [
            ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", "bf16"),
            ("unsloth/Llama-3.2-3B-Instruct-GGUF", "llama-3.2-3b", "gguf_q4_k"),
            ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b", "bf16"),
            ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3", "bf16"),
            ("openai/gpt-oss-120b", "gpt-oss-120b", "bf16"),
            ("google/gemma-2-9b-it", "gemma-2-9b", "bf16"),
            ("microsoft/phi-4", "phi-4", "bf16"),
            ("deepseek-ai/DeepSeek-V3", "deepseek-v3", "fp8_block128"),
            ("llama3.1:8b", "llama-3.1-8b", "gguf_q4_k"),
            ("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b", "int4_gptq_g128"),
        ] {
            let model = find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((&*model.key, model.stored.weights.key), (key, weights), "{name}");
            let noted = !model.remarks.is_empty();
            assert_eq!(
                noted,
                name.contains(':') || name.contains("GGUF") || name.contains("AWQ"),
                "{name}"
            );
        }
        let error = find("mistralai/Mistral-Large-2411").expect_err("not here").to_string();
        assert!(
            error.contains("is not in the catalog") && error.contains("config.json"),
            "{error}"
        );
        assert!(!error.contains("no such file"), "{error}");
        let error = find("meta-llama/Llama-3.1-9B").expect_err("not here").to_string();
        assert!(error.contains("nearest: llama-3.1-8b"), "{error}");
    }
    let error = Library::with_files(&nothing).model("models/mine.json", Unread::Refuse);
    assert!(error.expect_err("no file").to_string().contains("no such file"));
    // A folder of that name takes precedence over a copy of a catalog model.
    let own = json!({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                     "intermediate_size": 128, "vocab_size": 100});
    let read = |name: &str| {
        if name == "mine/Llama-3.1-8B" { Ok(own.to_string()) } else { Err("no such file".into()) }
    };
    let files = Files::new(&read);
    let model = Library::with_files(&files).model("mine/Llama-3.1-8B", Unread::Refuse);
    assert_eq!(model.expect("the folder").arch.hidden_size, 64);
}

fn estimated(line: &str) -> (Vec<String>, serde_json::Value) {
    let fields = Fields::from_line(line).expect("an object");
    let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a good request");
    let answer = inputs.estimate().expect("an answer");
    let said = report::output::json::estimate::EstimateJson::new(&inputs, &answer);
    (
        report::output::words::estimate_notes(&inputs, &answer),
        serde_json::to_value(said).expect("JSON"),
    )
}

#[test]
fn an_engine_with_constants_of_its_own_is_not_called_unknown() {
    let (notes, _) = estimated(
        r#"{"hardware":"mi300x","model":"llama-3.1-8b","batch":1,"prompt":64,"engine":"vllm"}"#,
    );
    let all = notes.join(" ");
    assert!(!all.contains("no factors are known") && all.contains("NVIDIA"), "{all}");
}

#[test]
fn the_chunk_of_the_first_token_is_said() {
    let asked = |more: &str| {
        estimated(&format!(
            r#"{{"hardware":"rtx_4090","model":"llama-3.1-8b","batch":4,"prompt":2000{more}}}"#
        ))
    };
    let (notes, said) = asked("");
    let all = notes.join(" ");
    assert!(all.contains("in 4 chunks of 512 tokens, while 3 sequences decode"), "{all}");
    assert_eq!(said["first_token"]["chunk_tokens"], 512);
    assert_eq!(said["workload"]["static_batch"], false);
    let (notes, whole) = asked(r#","static_batch":true"#);
    assert!(notes.join(" ").contains("4 prompts computed together"), "{notes:?}");
    assert_eq!(whole["ttft_s"], whole["prefill"]["expected"]["time_s"]);
    assert!(whole["ttft_s"].as_f64() > said["ttft_s"].as_f64());
    assert_eq!(whole["prefill"]["expected"], said["prefill"]["expected"]);
}
