//! The import of config.json: catalog models written as such a file are read back unchanged, and unsupported files are refused.
//! The numbers are those of the catalog, with its sources; the files are written here. Hostile text is in `hostile`, keys that
//! are not understood in `geometry`, what a file lacks in `left_out`.

#[path = "model_import/geometry.rs"]
mod geometry;
#[path = "model_import/hostile.rs"]
mod hostile;
#[path = "model_import/left_out.rs"]
mod left_out;
#[path = "model_import/own_files.rs"]
mod own_files;

use calc_core::catalog;
use calc_core::catalog::models::{self, CatalogModel};
use calc_core::hf_config::{AssumedWhy, Imported};
use calc_core::model_arch::{AttentionBias, ModelArch};
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;
use report::input::model_file::{ModelFileError, assumed_text, parse};
use serde_json::{Map, Value, json};

/// `architectures` of a catalog model and the matching `model_type`.
const TYPES: [(&str, &str); 17] = [
    ("LlamaForCausalLM", "llama"),
    ("MistralForCausalLM", "mistral"),
    ("MixtralForCausalLM", "mixtral"),
    ("Qwen2ForCausalLM", "qwen2"),
    ("Qwen3ForCausalLM", "qwen3"),
    ("Qwen3MoeForCausalLM", "qwen3_moe"),
    ("Gemma2ForCausalLM", "gemma2"),
    ("Gemma3ForCausalLM", "gemma3_text"),
    ("PhiForCausalLM", "phi"),
    ("Phi3ForCausalLM", "phi3"),
    ("DeepseekV2ForCausalLM", "deepseek_v2"),
    ("DeepseekV3ForCausalLM", "deepseek_v3"),
    ("GptOssForCausalLM", "gpt_oss"),
    ("GPT2LMHeadModel", "gpt2"),
    ("OPTForCausalLM", "opt"),
    ("FalconForCausalLM", "falcon"),
    ("NemotronForCausalLM", "nemotron"),
];

fn model_type(model: &CatalogModel) -> Option<&'static str> {
    TYPES.iter().find(|(name, _)| *name == model.architecture).map(|(_, kind)| *kind)
}

/// Keys of the models that can be written: all but the two irregular ones.
fn names() -> Vec<String> {
    models::all()
        .filter(|model| model_type(model).is_some())
        .map(|model| model.key.into())
        .collect()
}

/// A catalog model as a file of its family.
fn fixture(key: &str) -> String {
    let model = catalog::model(key).expect("catalog key");
    let kind = model_type(model).expect("a regular model");
    let arch = &model.arch;
    let mut config = match kind {
        "gpt2" => gpt2(arch),
        "opt" => opt(arch),
        _ => usual(arch),
    };
    config["model_type"] = json!(kind);
    config["architectures"] = json!([model.architecture]);
    config["vocab_size"] = json!(arch.vocab_size);
    config["torch_dtype"] = json!("bfloat16");
    config["tie_word_embeddings"] = json!(arch.tied_embeddings);
    if kind == "falcon" {
        config["multi_query"] = json!(true);
        config["parallel_attn"] = json!(true);
        config["bias"] = json!(false);
    }
    config.to_string()
}

fn usual(arch: &ModelArch) -> Value {
    let a = &arch.attention[0];
    let mut config = json!({
        "hidden_size": arch.hidden_size,
        "num_hidden_layers": arch.n_layers,
        "num_attention_heads": a.n_heads,
        "num_key_value_heads": a.n_kv_heads,
        "max_position_embeddings": arch.max_context,
        "attention_bias": a.bias != AttentionBias::None,
    });
    if arch.attention[0].latent.is_none() {
        config["head_dim"] = json!(a.head_dim);
    }
    if let Some(dense) = arch.dense.first() {
        config["intermediate_size"] = json!(dense.width);
    }
    config["sliding_window"] = if a.windowed_layers > 0 { json!(a.window) } else { Value::Null };
    if let Some(moe) = arch.moe.first() {
        config["num_experts"] = json!(moe.n_experts);
        config["num_local_experts"] = json!(moe.n_experts);
        config["n_routed_experts"] = json!(moe.n_experts);
        config["num_experts_per_tok"] = json!(moe.experts_per_token);
        config["moe_intermediate_size"] = json!(moe.expert_width);
        config["n_shared_experts"] = json!(moe.shared_width / moe.expert_width);
        config["first_k_dense_replace"] = json!(arch.n_layers - moe.layers);
        if arch.dense.is_empty() {
            config["intermediate_size"] = json!(moe.expert_width);
        }
    }
    if let Some(mla) = arch.attention[0].latent {
        config["q_lora_rank"] = json!(mla.q_lora_rank);
        config["kv_lora_rank"] = json!(mla.kv_lora_rank);
        config["qk_rope_head_dim"] = json!(mla.rope_dim);
        config["qk_nope_head_dim"] = json!(mla.nope_dim);
        config["v_head_dim"] = json!(arch.attention[0].v_head_dim);
    }
    config
}

fn gpt2(arch: &ModelArch) -> Value {
    let heads = arch.attention[0].n_heads;
    json!({"n_embd": arch.hidden_size, "n_layer": arch.n_layers, "n_head": heads, "n_positions": arch.position_rows})
}

fn opt(arch: &ModelArch) -> Value {
    json!({
        "hidden_size": arch.hidden_size,
        "num_hidden_layers": arch.n_layers,
        "num_attention_heads": arch.attention[0].n_heads,
        "ffn_dim": arch.dense[0].width,
        "max_position_embeddings": arch.position_rows - 2,
        "word_embed_proj_dim": arch.hidden_size,
        "do_layer_norm_before": true,
    })
}

fn refused(text: &str) -> String {
    parse(text).expect_err("must be refused").to_string()
}

/// A written model with some fields replaced.
fn changed(key: &str, changes: &Value) -> Result<Imported, ModelFileError> {
    let mut config: Map<String, Value> = serde_json::from_str(&fixture(key)).expect("an object");
    config.extend(changes.as_object().expect("changes are an object").clone());
    parse(&Value::Object(config).to_string())
}

#[test]
fn every_regular_catalog_model_is_read_back_from_its_file() {
    assert_eq!(names().len(), 67);
    let mut wrong = Vec::new();
    for key in names() {
        let known = &catalog::model(&key).expect("catalog key").arch;
        match parse(&fixture(&key)) {
            Ok(mut imported) => {
                imported.arch.max_context = known.max_context;
                // The written files describe the layers of the language model only.
                imported.arch.towers = known.towers.clone();
                imported.arch.draft_layers = known.draft_layers;
                if imported.arch != *known {
                    wrong.push(format!("{key}: {:?}\n   not {known:?}", imported.arch));
                }
            }
            Err(error) => wrong.push(format!("{key}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_nested_language_model_is_read_and_the_vision_tower_is_not() {
    let text: Value = serde_json::from_str(&fixture("gemma-3-4b")).expect("JSON");
    let nested = json!({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
                        "text_config": text, "vision_config": {"hidden_size": 1152}});
    let imported = parse(&nested.to_string()).expect("a language model inside");
    assert_eq!(
        imported.arch.n_params(),
        catalog::model("gemma-3-4b").expect("key").arch.n_params()
    );
}

#[test]
fn an_unknown_architecture_is_a_guess_with_a_list() {
    let unknown = json!({"model_type": "novel", "architectures": ["NovelForCausalLM"]});
    let model = changed("llama-3.1-8b", &unknown).expect("best effort");
    assert_eq!(model.provenance, Provenance::Assumed);
    let guesses: Vec<String> = model
        .assumed
        .iter()
        .filter(|field| field.why == AssumedWhy::Guessed)
        .map(assumed_text)
        .collect();
    assert!(!guesses.is_empty(), "a guess is listed");
}

#[test]
fn writers_of_quantized_files_name_these_formats() {
    let float8 = json!({"num_bits": 8, "type": "float", "strategy": "tensor"});
    let int8 = json!({"num_bits": 8, "type": "int", "strategy": "channel"});
    let int4 = json!({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128});
    let groups = |weights: &Value, inputs: &Value| {
        json!({"quant_method": "compressed-tensors",
               "config_groups": {"group_0": {"weights": weights, "input_activations": inputs}}})
    };
    let torchao =
        |kind: &str| json!({"quant_method": "torchao", "quant_type": {"default": {"_type": kind}}});
    let cases = [
        (json!({"quant_method": "gptq", "bits": 8, "group_size": -1}), ["int8", "-", "-"]),
        (json!({"quant_method": "gptq", "bits": 3, "group_size": 128}), ["int3_g128", "-", "-"]),
        (json!({"quant_method": "awq", "w_bit": 4, "q_group_size": 32}), ["int4_g32", "-", "-"]),
        (json!({"quant_method": "bitsandbytes", "load_in_8bit": true}), ["int8", "int8", "-"]),
        (json!({"quant_method": "bitsandbytes", "load_in_4bit": true}), ["nf4", "-", "-"]),
        (json!({"quant_method": "fbgemm_fp8"}), ["fp8_e4m3", "fp8_e4m3", "-"]),
        (groups(&float8, &float8), ["fp8_e4m3", "fp8_e4m3", "-"]),
        (groups(&int8, &int8), ["int8", "int8", "-"]),
        (groups(&int8, &Value::Null), ["int8", "-", "-"]),
        (groups(&int4, &Value::Null), ["int4_g128_sym", "-", "-"]),
        (torchao("Int4WeightOnlyConfig"), ["int4_g128", "-", "-"]),
        (torchao("Float8DynamicActivationFloat8WeightConfig"), ["fp8_e4m3", "fp8_e4m3", "-"]),
        (json!({"quant_method": "modelopt", "quant_algo": "W4A16_AWQ"}), ["int4_g128", "-", "-"]),
        (
            json!({"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}),
            ["nvfp4", "nvfp4", "fp8_e4m3"],
        ),
    ];
    for (config, expected) in cases {
        let model = changed("llama-3.1-8b", &json!({"quantization_config": config}));
        let stored = model.unwrap_or_else(|error| panic!("{config}: {error}")).stored;
        let key = |format: Option<&'static QuantFormat>| format.map_or("-", |format| format.key);
        assert_eq!(
            [Some(stored.weights), stored.activations, stored.kv_cache].map(key),
            expected,
            "{config}"
        );
        assert_eq!(stored.embedding.map(|format| format.key), Some("bf16"), "{config}");
    }
}

#[test]
fn a_window_counts_only_where_it_is_switched_on() {
    let windowed = |changes: Value| {
        let attention = changed("qwen2.5-7b", &changes).expect("valid").arch.attention[0];
        (attention.windowed_layers, attention.full_layers, attention.window)
    };
    assert_eq!(windowed(json!({})), (0, 28, 0));
    let on = |more: Value| {
        let mut all =
            json!({"use_sliding_window": true, "sliding_window": 4096, "max_window_layers": 20});
        all.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
        windowed(all)
    };
    assert_eq!(on(json!({})), (8, 20, 4096));
    assert_eq!(on(json!({"max_window_layers": 99})), (0, 28, 0));
    assert_eq!(on(json!({"sliding_window": 131_072})), (0, 28, 0));
    let kinds: Vec<&str> = (0..28)
        .map(|layer| if layer % 4 == 3 { "full_attention" } else { "sliding_attention" })
        .collect();
    assert_eq!(on(json!({"layer_types": kinds})), (21, 7, 4096));
}

/// Refused files, and the words that the message must contain.
#[test]
fn refusals_name_the_mistake_and_the_allowed_values() {
    for (kind, class, word) in [
        ("vit", "ViTForImageClassification", "`vit` is an image model"),
        ("bert", "BertModel", "`bert` is an encoder"),
        ("whisper", "WhisperForConditionalGeneration", "`whisper` is an encoder with a decoder"),
    ] {
        let message = refused(
            &json!({"model_type": kind, "architectures": [class], "hidden_size": 64}).to_string(),
        );
        assert!(message.contains(word) && message.contains("decoder-only"), "{kind}: {message}");
    }
    for (changes, words) in [
        (json!({"hidden_size": null}), ["hidden_size is missing", "text_config"]),
        (
            json!({"hidden_size": "4096"}),
            ["hidden_size must be a whole number", "the text \"4096\""],
        ),
        (json!({"hidden_size": 4096.5}), ["hidden_size must be a whole number", "4096.5"]),
        (json!({"hidden_size": -1}), ["hidden_size must be from", "got -1"]),
        (json!({"hidden_size": 1e30}), ["hidden_size must be from", "got 1e30"]),
        (json!({"hidden_size": 0}), ["hidden_size must be from 1", "got 0"]),
        (
            json!({"hidden_size": 4097, "head_dim": null}),
            ["not a multiple of num_attention_heads (32)", "head_dim"],
        ),
        (
            json!({"num_hidden_layers": 4_000_000_000_u64}),
            ["num_hidden_layers must be from 1 to 65536", "4000000000"],
        ),
        (
            json!({"num_key_value_heads": 64}),
            ["num_key_value_heads must be from 1 to 32", "got 64"],
        ),
        (json!({"tie_word_embeddings": 1}), ["tie_word_embeddings must be true or false", "got 1"]),
        (json!({"text_config": []}), ["text_config must be an object", "list"]),
        (json!({"torch_dtype": "int3"}), ["bfloat16", "`int3`"]),
        (json!({"model_type": null, "architectures": null}), ["model_type", "architectures"]),
        (json!({"quantization_config": {"quant_method": "aqlm"}}), ["aqlm", "gptq"]),
        (
            json!({"quantization_config": {"quant_method": "gptq", "bits": 5}}),
            ["gptq with 5 bits", "awq"],
        ),
        (
            json!({"quantization_config": "yes"}),
            ["quantization_config must be an object", "\"yes\""],
        ),
    ] {
        let message = changed("llama-3.1-8b", &changes).expect_err("must be refused").to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{changes}: {message}");
    }
}
