//! The formats that a model file or a published name states, and their effect on advice.

use calc_core::catalog;
use calc_core::precision::PrecisionChoice;
use calc_core::recommend::Recommendation;
use calc_core::scheme::SchemeWeights;
use report::input::model_file;
use report::input::request::{EstimateInputs, Fields, Files, Library, RecommendInputs};
use serde_json::{Value, json};

/// Llama-3.1-8B in a published quantization.
fn config(quantization: &Value) -> String {
    json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14_336, "vocab_size": 128_256, "tie_word_embeddings": false,
        "max_position_embeddings": 131_072, "torch_dtype": "bfloat16",
        "quantization_config": quantization
    })
    .to_string()
}

fn stored(quantization: &Value) -> PrecisionChoice {
    model_file::parse(&config(quantization)).expect("a model file").stored
}

fn recommend(quantization: &Value, more: &[(&str, &str)]) -> Recommendation {
    let read = |_: &str| Ok(config(quantization));
    let files = Files::new(&read);
    let own = [("hardware", "b200"), ("model", "config.json"), ("batch", "4"), ("prompt", "512")];
    let fields = Fields::from_texts(own.into_iter().chain(more.iter().copied()));
    let inputs = RecommendInputs::parse(fields, &Library::with_files(&files)).expect("a request");
    inputs.recommend().expect("a recommendation")
}

/// KV cache and embedding of a row.
fn roles(answer: &Recommendation, key: &str) -> [&'static str; 2] {
    let row = answer.ranked.iter().find(|row| row.scheme.key == key);
    let precision = row.unwrap_or_else(|| panic!("{key}: {:?}", answer.dropped)).outcome.precision;
    [precision.kv_cache.key, precision.embedding.key]
}

#[test]
fn stored_formats_belong_to_the_row_as_published_alone() {
    let stored = json!({"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"});
    let answer = recommend(&stored, &[]);
    assert_eq!(roles(&answer, "as_published"), ["fp8_e4m3", "bf16"]);
    assert_eq!(roles(&answer, "half"), ["fp16", "fp16"]);
    assert_eq!(roles(&answer, "gguf_q4_k"), ["fp16", "gguf_q4_k"]);
    // A role that the request names is kept in every row.
    let answer = recommend(&stored, &[("kv", "int8"), ("embedding", "fp8_e4m3")]);
    for key in ["as_published", "half", "gguf_q4_k"] {
        assert_eq!(roles(&answer, key), ["int8", "fp8_e4m3"], "{key}");
    }
}

#[test]
fn awq_is_one_format_by_alias_by_name_and_by_file() {
    let awq = catalog::format("awq").expect("an alias");
    assert!((awq.bits_per_element() - (4.0 + 20.0 / 128.0)).abs() < 1e-12, "{}", awq.key);
    let file = json!({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true});
    assert_eq!(stored(&file).weights.key, awq.key);
    let named = catalog::model_names::find("Qwen/Qwen2.5-7B-Instruct-AWQ").expect("a model");
    assert_eq!(named.stored().weights.key, awq.key);
    let scheme = catalog::schemes::scheme("int4_g128_awq").expect("a scheme");
    assert_eq!(scheme.weights, SchemeWeights::Format(awq));
}

#[test]
fn int4_in_symmetric_groups_of_32_is_no_gguf_format() {
    let weights = json!({"num_bits": 4, "type": "int", "symmetric": true, "group_size": 32});
    let group = json!({"weights": weights, "input_activations": null});
    let found = json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": group}});
    let weights = stored(&found).weights;
    assert_eq!((weights.key, weights.file), ("int4_g32_sym", None));
    assert_eq!(weights.bits_per_element().to_bits(), 4.5_f64.to_bits());
    // With vLLM, llama.cpp's rules for inputs and embedding do not apply.
    let read = |_: &str| Ok(config(&found));
    let files = Files::new(&read);
    let own = [("hardware", "b200"), ("model", "config.json"), ("engine", "vllm")];
    let inputs = EstimateInputs::parse(Fields::from_texts(own), &Library::with_files(&files))
        .expect("a request");
    let precision = inputs.estimate().expect("an estimate").precision;
    assert_eq!([precision.activations.key, precision.embedding.key], ["fp16", "bf16"]);
}

#[test]
fn modules_with_several_formats_count_in_the_largest() {
    let layer =
        |module: &str, algorithm: &str| (module.to_owned(), json!({"quant_algo": algorithm}));
    let mixed = |layers: Vec<(String, Value)>| {
        let layers: serde_json::Map<String, Value> = layers.into_iter().collect();
        json!({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers})
    };
    let file = mixed(vec![
        layer("model.layers.0.self_attn.q_proj", "FP8"),
        layer("model.layers.0.mlp.gate_proj", "W4A16_NVFP4"),
    ]);
    assert_eq!(stored(&file).weights.key, "fp8_e4m3");
    let model = model_file::parse(&config(&file)).expect("a model file");
    let said: Vec<String> = model.remarks.iter().map(model_file::remark_text).collect();
    assert!(said.iter().any(|text| text.contains("several formats")), "{said:?}");

    let experts = json!({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 128,
        "num_experts_per_tok": 8, "moe_intermediate_size": 768});
    let mut whole: Value = serde_json::from_str(&config(&mixed(vec![
        layer("model.layers.0.self_attn.q_proj", "FP8"),
        layer("model.layers.0.mlp.experts.0.up_proj", "NVFP4"),
    ])))
    .expect("JSON");
    for (key, value) in experts.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    let found = model_file::parse(&whole.to_string()).expect("a model file").stored;
    assert_eq!((found.weights.key, found.experts.map(|e| e.key)), ("fp8_e4m3", Some("nvfp4")));
}

#[test]
fn an_unknown_quantizer_is_not_named_among_the_known() {
    let unknown = json!({"quant_method": "modelopt", "quant_algo": "W3A3_NEW"});
    let said = model_file::parse(&config(&unknown)).expect_err("no format").to_string();
    assert!(said.contains("is modelopt W3A3_NEW, for which there is no format"), "{said}");
    assert_eq!(said.matches("modelopt").count(), 1, "{said}");
}
