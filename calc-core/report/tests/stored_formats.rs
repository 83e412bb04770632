//! The formats that a model file or a published name states, and their effect on advice.

use calc_core::catalog;
use calc_core::footprint::weight_bytes;
use calc_core::hf_config::Imported;
use calc_core::precision::PrecisionChoice;
use calc_core::recommend::Recommendation;
use calc_core::roofline::Roofs;
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

/// Weights of attention and MLP in a layer of Llama-3.1-8B.
const ATTENTION: f64 = 4096.0 * (2.0 * 4096.0 + 2.0 * 1024.0);
const MLP: f64 = 3.0 * 4096.0 * 14_336.0;

/// Matrices of all layers as stored [GB].
fn layer_gb(quantization: &Value) -> f64 {
    let model = model_file::parse(&config(quantization)).expect("a model file");
    let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
    let all = weight_bytes(&model.arch, &model.stored.resolve_model(&model.arch, &roofs));
    let tables = 2.0 * 128_256.0 * 4096.0 * 2.0;
    let norms = 65.0 * 4096.0 * 2.0;
    (all.get() - tables - norms) / 1e9
}

fn said(quantization: &Value) -> Vec<String> {
    let model = model_file::parse(&config(quantization)).expect("a model file");
    model.remarks.iter().map(model_file::remark_text).collect()
}

/// Within the step of a ratio, and never too small.
fn assert_close(found: f64, expected: f64) {
    assert!(
        found >= expected * (1.0 - 1e-9) && found <= expected * (1.0 + 5e-5),
        "{found} {expected}"
    );
}

#[test]
fn layers_that_a_list_keeps_are_counted_one_by_one() {
    let mlps: Vec<String> = (0..15).map(|i| format!("model.layers.{}.mlp", 2 * i)).collect();
    let kept: Vec<String> = mlps
        .into_iter()
        .chain(
            ["lm_head", "merger", "model.layers.0.self_attn", "model.layers.1.self_attn"]
                .map(Into::into),
        )
        .collect();
    let bits = 2.0 * ATTENTION + 15.0 * MLP;
    let all = 32.0 * (ATTENTION + MLP);
    let gb = |bits_of: f64| (bits * 16.0 + (all - bits) * bits_of) / 8e9;
    let bnb = json!({"quant_method": "bitsandbytes", "load_in_4bit": true, "llm_int8_skip_modules": kept});
    assert_close(layer_gb(&bnb), gb(4.5));
    let said = said(&bnb);
    for text in [
        "attention in 2 of 32 layers is stored as bf16",
        "the MLP in 15 of 32 layers is stored as bf16",
    ] {
        assert!(said.iter().any(|said| said.starts_with(text)), "{said:?}");
    }
    let awq = json!({"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": kept});
    assert_close(layer_gb(&awq), gb(4.0 + 20.0 / 128.0));
    let fp8 = json!({"quant_method": "fp8", "fmt": "e4m3", "modules_to_not_convert": kept});
    assert_close(layer_gb(&fp8), gb(8.0));
    // Formats that the request names are not those of the file.
    let whole = json!({"quant_method": "bitsandbytes", "load_in_4bit": true});
    assert_close(layer_gb(&whole), all * 4.5 / 8e9);
}

#[test]
fn dynamic_rules_of_gptqmodel_are_read() {
    let gptq = |dynamic: Value| json!({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": dynamic});
    let int4 = 4.0 + 20.0 / 128.0;
    let of_layers =
        |parts: &[(f64, f64)]| parts.iter().map(|(n, bits)| n * bits).sum::<f64>() / 8e9;
    // Layers from the second on are left out; the one before has 8 bits in groups of 32.
    let file = gptq(json!({
        r"-:model\.layers\.([2-9]\d*|[1-9]\d+)\..*": {},
        r".*\.1\..*": {"bits": 8, "group_size": 32}
    }));
    let layer = ATTENTION + MLP;
    let expected = of_layers(&[(layer, int4), (layer, 8.0 + 24.0 / 32.0), (30.0 * layer, 16.0)]);
    assert_close(layer_gb(&file), expected);
    let file = gptq(json!({"-:.*self_attn.*": {}}));
    assert_close(layer_gb(&file), of_layers(&[(32.0 * ATTENTION, 16.0), (32.0 * MLP, int4)]));
    // An expression that cannot be read is taken as an upper bound, and a note says so.
    let file = gptq(json!({"-:(?!model).*": {}}));
    assert_close(layer_gb(&file), of_layers(&[(32.0 * layer, 16.0)]));
    assert!(said(&file).iter().any(|text| text.contains("upper bound")), "{:?}", said(&file));
}

#[test]
fn mixers_of_nemotron_are_counted_by_their_matrices() {
    let config = json!({
        "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 2688,
        "hybrid_override_pattern": "MEM*E", "num_hidden_layers": 5, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 128, "mamba_num_heads": 64, "mamba_head_dim": 64,
        "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4, "expand": 2, "intermediate_size": 1856,
        "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "n_routed_experts": 8,
        "n_shared_experts": 1, "num_experts_per_tok": 6, "vocab_size": 131_072, "torch_dtype": "bfloat16",
        "tie_word_embeddings": false, "max_position_embeddings": 262_144, "time_step_limit": [0.0, 7]
    });
    let text = config.to_string().replace("7]", "Infinity]");
    let layer = |names: &[&str], i: u64| -> Vec<String> {
        names.iter().map(|name| format!("backbone.layers.{i}.mixer.{name}")).collect()
    };
    let mut kept = layer(&["q_proj", "k_proj", "v_proj", "o_proj"], 3);
    kept.extend(layer(&["in_proj", "out_proj", "conv1d"], 2));
    let beside = |kept: &[String]| {
        json!({"quantization": {"quant_algo": "NVFP4", "exclude_modules": kept}}).to_string()
    };
    let gb = |kept: &[String]| {
        let joined = model_file::with_quantization(&text, &beside(kept));
        let model = model_file::parse(&joined).expect("a model file");
        let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
        weight_bytes(&model.arch, &model.stored.resolve_model(&model.arch, &roofs)).get() / 1e9
    };
    let attention = 2688.0 * (2.0 * 4096.0 + 2.0 * 256.0);
    let mamba = 2688.0 * (2.0 * 4096.0 + 2.0 * 8.0 * 128.0 + 64.0) + 4096.0 * 2688.0;
    assert_close(gb(&kept) - gb(&[]), (attention + mamba) * 11.5 / 8e9);
}

#[test]
fn settings_of_mlx_are_read() {
    let plain = |quantization: Value, key: &str| {
        let mut whole: Value = serde_json::from_str(&config(&json!(null))).expect("JSON");
        whole.as_object_mut().expect("an object").remove("quantization_config");
        whole[key] = quantization;
        model_file::parse(&whole.to_string()).expect("a model file")
    };
    let gb = |model: &Imported| {
        let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
        weight_bytes(&model.arch, &model.stored.resolve_model(&model.arch, &roofs)).get() / 1e9
    };
    let matrices = 32.0 * (ATTENTION + MLP);
    let (tables, norms) = (2.0 * 128_256.0 * 4096.0, 65.0 * 4096.0 * 16.0);
    for key in ["quantization", "quantization_config"] {
        let four = plain(json!({"bits": 4, "group_size": 64}), key);
        assert_close(gb(&four), ((matrices + tables) * 4.5 + norms) / 8e9);
        let mixed = json!({"bits": 4, "group_size": 64, "mode": "affine",
            "model.layers.1.mlp": {"bits": 8, "group_size": 64}, "model.layers.0.self_attn": false});
        let more = (MLP * 4.0 + ATTENTION * 11.5) / 8e9;
        assert_close(gb(&plain(mixed, key)), gb(&four) + more);
    }
    let mxfp4 = plain(json!({"bits": 4, "group_size": 32, "mode": "mxfp4"}), "quantization");
    assert_eq!(mxfp4.stored.weights.key, "mxfp4");
    // A table is never smaller than its bits.
    let six = plain(json!({"bits": 6, "group_size": 64}), "quantization");
    assert!(gb(&six) >= ((matrices + tables) * 6.5 + norms) / 8e9, "{}", gb(&six));
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
fn modules_with_several_formats_count_in_their_own() {
    let layer =
        |module: &str, algorithm: &str| (module.to_owned(), json!({"quant_algo": algorithm}));
    let mixed = |layers: Vec<(String, Value)>| {
        let layers: serde_json::Map<String, Value> = layers.into_iter().collect();
        json!({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers})
    };
    let mut listed = Vec::new();
    for i in 0..32 {
        listed.push(layer(&format!("model.layers.{i}.self_attn"), "FP8"));
        listed.push(layer(&format!("model.layers.{i}.mlp"), "W4A16_NVFP4"));
    }
    let file = mixed(listed);
    assert_eq!(stored(&file).weights.key, "nvfp4", "most weights");
    assert_close(layer_gb(&file), (ATTENTION * 8.0 + MLP * 4.5) * 32.0 / 8e9);
    let said = said(&file);
    let attention = "attention in all 32 layers is stored as fp8_e4m3, as the file lists it";
    assert!(said.iter().any(|text| text.starts_with(attention)), "{said:?}");
    // Modules that such a file does not list are not quantized.
    let file = mixed(vec![layer("model.layers.0.mlp", "FP8")]);
    assert_eq!(stored(&file).weights.key, "bf16");

    let experts = json!({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 128,
        "num_experts_per_tok": 8, "moe_intermediate_size": 768});
    let mut whole: Value = serde_json::from_str(&config(&mixed(vec![
        layer("*.self_attn", "FP8"),
        layer("*.mlp.experts.0.up_proj", "NVFP4"),
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

/// Qwen3-30B-A3B in a published quantization.
fn experts_config(quantization: &Value) -> String {
    let more = json!({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 128,
        "num_experts_per_tok": 8, "moe_intermediate_size": 768, "num_hidden_layers": 4});
    let mut whole: Value = serde_json::from_str(&config(quantization)).expect("JSON");
    for (key, value) in more.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    whole.to_string()
}

/// Formats of layers and experts.
fn of_experts(quantization: &Value) -> [&'static str; 2] {
    let found = model_file::parse(&experts_config(quantization)).expect("a model file").stored;
    [found.weights.key, found.experts.unwrap_or(found.weights).key]
}

#[test]
fn modules_that_a_file_leaves_out_are_told_by_their_whole_name() {
    let nvfp4 = |ignore: &[String]| json!({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ignore});
    let layers =
        |text: &str| -> Vec<String> { (0..4).map(|i| text.replace('N', &i.to_string())).collect() };
    for (entry, expected) in [
        ("model.layers.N.self_attn*", ["bf16", "nvfp4"]),
        ("model.layers.N.self_attn.q_proj", ["nvfp4", "nvfp4"]),
        ("re:.*self_attn.*", ["bf16", "nvfp4"]),
        ("model.layers.N.mlp.shared_expert*", ["nvfp4", "nvfp4"]),
        ("model.layers.N.self_attn.k_norm", ["nvfp4", "nvfp4"]),
        ("model.layers.N.self_attn.indexer.weights_proj", ["nvfp4", "nvfp4"]),
        ("model.vision_tower.layers.N.self_attn", ["nvfp4", "nvfp4"]),
    ] {
        assert_eq!(of_experts(&nvfp4(&layers(entry))), expected, "{entry}");
    }
    let most: Vec<String> = layers("model.layers.N.self_attn*").into_iter().take(3).collect();
    assert_eq!(of_experts(&nvfp4(&most)), ["bf16", "nvfp4"]);
    // The layers of a dense model have the format of most of their weights.
    let file = nvfp4(&["re:.*self_attn.*".into()]);
    assert_eq!(stored(&file).weights.key, "nvfp4");
    assert_close(layer_gb(&file), (ATTENTION * 16.0 + MLP * 4.5) * 32.0 / 8e9);
}

#[test]
fn groups_of_compressed_tensors_are_for_their_targets() {
    let group = |bits: u64, kind: &str, targets: &[&str]| {
        json!({"weights": {"num_bits": bits, "type": kind,
        "group_size": if bits == 4 { 16 } else { 0 }}, "input_activations": null, "targets": targets})
    };
    let file = |groups: &[Value]| {
        let named: serde_json::Map<String, Value> =
            groups.iter().enumerate().map(|(i, g)| (format!("group_{i}"), g.clone())).collect();
        json!({"quant_method": "compressed-tensors", "config_groups": named})
    };
    let (fp8, fp4) = (|targets| group(8, "float", targets), |targets| group(4, "float", targets));
    for (groups, expected) in [
        (vec![fp8(&["Linear"]), fp4(&["re:.*mlp.experts.*"])], ["fp8_e4m3", "nvfp4"]),
        (vec![fp4(&["re:.*experts.*"]), fp8(&["re:.*self_attn.*"])], ["fp8_e4m3", "nvfp4"]),
        (vec![fp4(&["Linear"]), fp8(&["re:.*down_proj"])], ["nvfp4", "nvfp4"]),
        (vec![fp4(&["Linear"])], ["nvfp4", "nvfp4"]),
        (
            // Attention is in no group, so it is not quantized.
            vec![fp8(&["re:.*shared_expert.*"]), fp4(&["lm_head", "FusedMoE"])],
            ["bf16", "nvfp4"],
        ),
    ] {
        assert_eq!(of_experts(&file(&groups)), expected, "{groups:?}");
    }
}

#[test]
fn the_file_of_modelopt_states_the_formats_of_the_config_beside_it() {
    let plain = |quantization: &Value| {
        let mut whole: Value = serde_json::from_str(&experts_config(quantization)).expect("JSON");
        whole.as_object_mut().expect("an object").remove("quantization_config");
        whole.to_string()
    };
    let beside = json!({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4",
        "kv_cache_quant_algo": "FP8", "group_size": 16, "exclude_modules": ["lm_head", "model.layers.*.self_attn*"]}});
    let config = plain(&json!(null));
    let joined = model_file::with_quantization(&config, &beside.to_string());
    let found = model_file::parse(&joined).expect("a model file").stored;
    assert_eq!([found.weights.key, found.experts.expect("experts").key], ["bf16", "nvfp4"]);
    assert_eq!(found.kv_cache.map(|format| format.key), Some("fp8_e4m3"));
    // A config.json that states its formats is right; other files beside it change nothing.
    let stated = experts_config(&json!({"quant_method": "fp8"}));
    assert_eq!(model_file::with_quantization(&stated, &beside.to_string()), stated);
    for other in ["", "[]", "{}", r#"{"quantization": {"quant_algo": null}}"#] {
        assert_eq!(model_file::with_quantization(&config, other), config, "{other}");
    }
    let alone = model_file::parse(&beside.to_string()).expect_err("no model").to_string();
    assert!(alone.contains("hf_quant_config.json of ModelOpt"), "{alone}");
}

#[test]
fn experts_of_deepseek_v4_have_a_format_of_their_own() {
    let fp8 = json!({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]});
    let mut file: Value = serde_json::from_str(&experts_config(&fp8)).expect("JSON");
    assert_eq!(of_experts(&fp8), ["fp8_block128", "fp8_block128"]);
    file["expert_dtype"] = json!("fp4");
    let found = model_file::parse(&file.to_string()).expect("a model file").stored;
    assert_eq!((found.weights.key, found.experts.expect("experts").key), ("fp8_block128", "mxfp4"));
    // Quantized again: what the list keeps stays in FP8.
    let layer = json!({"model.layers.0.ffn.experts": {"quant_algo": "NVFP4"}});
    let again = json!({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128],
        "quant_algo": "MIXED_PRECISION", "quantized_layers": layer, "ignore": ["*.self_attn.*"]});
    assert_eq!(of_experts(&again), ["fp8_block128", "nvfp4"]);
}
