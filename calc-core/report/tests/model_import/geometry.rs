//! No key of geometry is ignored in silence: what the import does not understand is refused by name or taken as the upper
//! bound, and leaving out or renaming a key never makes a model smaller without a note.
//!
//! Files are made like those of `families`: defaults of the classes of transformers 5.23.0 (PyPI), and parameters counted by
//! torch 2.15.0 on the meta device. MiMo-V2-Flash is written by hand with the fields of its issue.

use calc_core::catalog;
use calc_core::hf_config::{AssumedWhy, Imported, Unread};
use calc_core::model_arch::{Attention, ModelArch};
use report::input::model_file::{parse, parse_with};
use serde_json::{Map, Value, json};

use super::{fixture, names};

/// Fields in which the hub's file differs from the class: windowed layers have other head counts than full ones.
fn mimo() -> Value {
    let every_sixth = |layer: u64| u64::from(layer != 0 && !(layer + 1).is_multiple_of(6));
    let pattern: Vec<u64> = (0..48).map(every_sixth).collect();
    let mut experts = vec![1; 48];
    experts[0] = 0;
    json!({
        "model_type": "sliding_heads", "architectures": ["SlidingHeadsForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 152_576, "hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 48,
        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128, "hidden_act": "silu",
        "max_position_embeddings": 262_144, "rms_norm_eps": 1e-5, "tie_word_embeddings": false, "attention_bias": false,
        "sliding_window": 128, "hybrid_layer_pattern": pattern, "swa_num_attention_heads": 64,
        "swa_num_key_value_heads": 8, "swa_head_dim": 192, "swa_v_head_dim": 128, "attention_chunk_size": 128,
        "moe_layer_freq": experts, "n_routed_experts": 256, "num_experts_per_tok": 8,
        "moe_intermediate_size": 2048, "n_shared_experts": null, "n_group": 1, "topk_group": 1,
    })
}

fn gpt_bigcode() -> Value {
    json!({
        "model_type": "gpt_bigcode", "architectures": ["GPTBigCodeForCausalLM"], "torch_dtype": "float32",
        "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": null,
        "activation_function": "gelu_pytorch_tanh", "layer_norm_epsilon": 1e-5, "multi_query": true,
        "add_cross_attention": false, "tie_word_embeddings": true,
    })
}

fn cohere() -> Value {
    json!({
        "model_type": "cohere", "architectures": ["CohereForCausalLM"], "torch_dtype": "float16",
        "vocab_size": 256_000, "hidden_size": 8192, "intermediate_size": 22528, "logit_scale": 0.0625,
        "num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 64, "hidden_act": "silu",
        "max_position_embeddings": 8192, "layer_norm_eps": 1e-5, "attention_bias": false, "use_qk_norm": false,
    })
}

fn cohere2() -> Value {
    let kind = |layer: u64| {
        if (layer + 1).is_multiple_of(4) { "full_attention" } else { "sliding_attention" }
    };
    let kinds: Vec<&str> = (0..40).map(kind).collect();
    json!({
        "model_type": "cohere2", "architectures": ["Cohere2ForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 256_000, "hidden_size": 8192, "intermediate_size": 22528, "logit_scale": 0.0625,
        "num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 64, "head_dim": 128,
        "hidden_act": "silu", "max_position_embeddings": 8192, "layer_norm_eps": 1e-5, "attention_bias": false,
        "sliding_window": 4096, "layer_types": kinds,
    })
}

fn ernie() -> Value {
    json!({
        "model_type": "ernie4_5", "architectures": ["Ernie4_5ForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 103_424, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 18,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 128, "hidden_act": "silu",
        "max_position_embeddings": 131_072, "rms_norm_eps": 1e-5, "tie_word_embeddings": true, "use_bias": false,
    })
}

fn ernie_moe() -> Value {
    json!({
        "model_type": "ernie4_5_moe", "architectures": ["Ernie4_5_MoeForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 103_424, "hidden_size": 2560, "intermediate_size": 12288, "num_hidden_layers": 28,
        "num_attention_heads": 20, "num_key_value_heads": 4, "hidden_act": "silu", "max_position_embeddings": 131_072,
        "rms_norm_eps": 1e-5, "tie_word_embeddings": true, "use_bias": false, "moe_intermediate_size": 1536,
        "moe_k": 6, "moe_num_experts": 64, "moe_num_shared_experts": 2, "moe_layer_start_index": 1,
        "moe_layer_end_index": -1, "moe_layer_interval": 1, "moe_norm_min": 1e-12, "moe_capacity": [64, 64, 64],
        "moe_gate": "topk", "moe_use_aux_free": true, "output_router_logits": false, "router_aux_loss_coef": 0.001,
    })
}

/// Known families with windows, with experts and with latent attention, and an unknown architecture.
fn others() -> Vec<Value> {
    let kinds: Vec<&str> = (0..24)
        .map(|layer| if layer % 2 == 0 { "sliding_attention" } else { "full_attention" })
        .collect();
    let oss = json!({
        "model_type": "gpt_oss", "torch_dtype": "bfloat16", "vocab_size": 201_088, "hidden_size": 2880,
        "intermediate_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 64, "sliding_window": 128, "layer_types": kinds, "num_local_experts": 32,
        "num_experts_per_tok": 4, "experts_per_token": 4, "max_position_embeddings": 131_072,
        "initial_context_length": 4096, "attention_bias": true, "tie_word_embeddings": false,
        "router_aux_loss_coef": 0.9, "output_router_logits": false, "swiglu_limit": 7.0,
    });
    let qwen = json!({
        "model_type": "qwen2", "torch_dtype": "bfloat16", "vocab_size": 151_936, "hidden_size": 4096,
        "intermediate_size": 22016, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "max_position_embeddings": 32768, "use_sliding_window": false, "sliding_window": 4096,
        "max_window_layers": 28, "tie_word_embeddings": false,
    });
    let moe = json!({
        "model_type": "qwen3_moe", "torch_dtype": "bfloat16", "vocab_size": 151_936, "hidden_size": 2048,
        "intermediate_size": 6144, "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 4,
        "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": false, "use_sliding_window": false,
        "sliding_window": null, "max_window_layers": 28, "tie_word_embeddings": false, "attention_bias": false,
        "max_position_embeddings": 32768,
    });
    let mla = json!({
        "model_type": "deepseek_v3", "torch_dtype": "bfloat16", "vocab_size": 129_280, "hidden_size": 7168,
        "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
        "num_attention_heads": 128, "num_key_value_heads": 128, "n_shared_experts": 1, "n_routed_experts": 256,
        "routed_scaling_factor": 2.5, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
        "v_head_dim": 128, "qk_nope_head_dim": 128, "n_group": 8, "topk_group": 4, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3, "moe_layer_freq": 1, "norm_topk_prob": true, "tie_word_embeddings": false,
        "attention_bias": false, "num_nextn_predict_layers": 1, "max_position_embeddings": 4096,
    });
    let novel = json!({
        "model_type": "novel", "torch_dtype": "bfloat16", "vocab_size": 32000, "hidden_size": 4096,
        "intermediate_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 160, "num_experts": 16, "num_experts_per_tok": 2, "moe_intermediate_size": 4096,
        "n_shared_experts": 1, "first_k_dense_replace": 1, "sliding_window": 1024, "layer_types": kinds,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    });
    vec![oss, qwen, moe, mla, novel]
}

/// A file of a dense catalog model of the Llama kind.
fn dense(key: &str) -> Value {
    let arch = &catalog::model(key).expect("catalog key").arch;
    let a = &arch.attention[0];
    json!({
        "model_type": "llama", "torch_dtype": "bfloat16", "vocab_size": arch.vocab_size, "hidden_size": arch.hidden_size,
        "intermediate_size": arch.dense[0].width, "num_hidden_layers": arch.n_layers,
        "num_attention_heads": a.n_heads, "num_key_value_heads": a.n_kv_heads, "head_dim": a.head_dim,
        "tie_word_embeddings": arch.tied_embeddings, "max_position_embeddings": arch.max_context,
    })
}

fn refused(config: &Value) -> String {
    match parse(&config.to_string()) {
        Err(error) => error.to_string(),
        Ok(model) => panic!("{config} must be refused, and is {:?}", model.arch),
    }
}

fn read(config: &Value) -> Imported {
    parse(&config.to_string()).unwrap_or_else(|error| panic!("{config}: {error}"))
}

fn bounded(config: &Value) -> Imported {
    parse_with(&config.to_string(), Unread::UpperBound)
        .unwrap_or_else(|error| panic!("{config}: {error}"))
}

fn with(file: &Value, changes: &Value) -> Value {
    let mut fields: Map<String, Value> = file.as_object().expect("an object").clone();
    fields.extend(changes.as_object().expect("an object").clone());
    Value::Object(fields)
}

/// Elements in the cache of one sequence.
fn cached(arch: &ModelArch, context: u64) -> u64 {
    let a: &Attention = &arch.attention[0];
    let element = match arch.attention[0].latent {
        Some(mla) => mla.kv_lora_rank + mla.rope_dim,
        None => 2 * a.n_kv_heads * a.head_dim,
    };
    element * (a.full_layers * context + a.windowed_layers * context.min(a.window))
}

/// Full layers have 4 heads of 192 + 128 elements, windowed ones 8, and there are 9 and 39 of them.
#[test]
fn mimo_is_refused_by_the_names_of_its_keys_or_bounded_from_above() {
    let message = refused(&mimo());
    for name in ["attention_chunk_size", "hybrid_layer_pattern", "moe_layer_freq", "sliding_window"]
    {
        assert!(message.contains(name), "{name} in {message}");
    }
    assert!(message.contains("--model-upper-bound"), "{message}");
    let model = bounded(&mimo());
    for context in [8192, 262_144] {
        let true_size = (4 * 9 * context + 8 * 39 * context.min(128)) * (192 + 128);
        assert!(cached(&model.arch, context) >= true_size, "{context}");
    }
    assert_eq!((model.arch.attention[0].n_kv_heads, model.arch.attention[0].full_layers), (8, 48));
    // 308,778,768,832 parameters of the class; here the first layer has experts, too.
    assert!(model.arch.n_params() > 308_778_768_832);
    let bounds = model.assumed.iter().filter(|field| field.why == AssumedWhy::UpperBound);
    assert!(bounds.count() > 8, "each assumption is listed: {:?}", model.assumed);
}

#[test]
fn parameters_of_the_newly_read_families_are_those_that_torch_counts() {
    for (file, changes, params) in [
        (gpt_bigcode(), json!({}), 111_446_784),
        (gpt_bigcode(), json!({"multi_query": false}), 124_439_808),
        (cohere(), json!({}), 34_980_831_232),
        (cohere(), json!({"use_qk_norm": true, "num_key_value_heads": 8}), 30_283_579_392),
        (cohere2(), json!({}), 34_980_831_232),
        (ernie(), json!({}), 360_748_032),
        (ernie(), json!({"use_bias": true}), 360_941_568),
        (ernie_moe(), json!({}), 21_825_437_888),
        (
            ernie_moe(),
            json!({"moe_layer_start_index": 2, "moe_layer_end_index": 20, "moe_layer_interval": 3}),
            8_138_243_008,
        ),
    ] {
        let model = read(&with(&file, &changes));
        assert_eq!(model.arch.n_params(), params, "{} {changes}", file["model_type"]);
        assert!(model.family.is_some(), "{}", file["model_type"]);
    }
}

#[test]
fn one_key_and_value_head_serves_all_query_heads_of_gpt_bigcode() {
    assert_eq!(read(&gpt_bigcode()).arch.attention[0].n_kv_heads, 1);
    assert_eq!(
        read(&with(&gpt_bigcode(), &json!({"multi_query": false}))).arch.attention[0].n_kv_heads,
        12
    );
    let unknown = with(
        &gpt_bigcode(),
        &json!({"model_type": "novel", "architectures": ["NovelForCausalLM"], "n_inner": 3072}),
    );
    assert_eq!(read(&unknown).arch.attention[0].n_kv_heads, 1);
}

#[test]
fn experts_of_ernie_are_read_under_its_own_names() {
    let moe = read(&ernie_moe()).arch.moe[0];
    assert_eq!((moe.layers, moe.n_experts, moe.experts_per_token), (27, 64, 6));
    assert_eq!((moe.expert_width, moe.shared_width), (1536, 3072));
    let unknown =
        with(&ernie_moe(), &json!({"model_type": "novel", "architectures": ["NovelForCausalLM"]}));
    assert_eq!(
        read(&unknown).arch.moe.first().map(|moe| (moe.layers, moe.n_experts)),
        Some((27, 64))
    );
}

#[test]
fn towers_and_encoders_are_refused() {
    let text = json!({
        "model_type": "clip_text_model", "vocab_size": 49408, "hidden_size": 512, "intermediate_size": 2048,
        "num_hidden_layers": 12, "num_attention_heads": 8, "max_position_embeddings": 77,
    });
    for (changes, words) in [
        (json!({"architectures": ["CLIPTextModel"]}), "text tower"),
        (json!({"model_type": "siglip_text_model"}), "text tower"),
        (json!({"model_type": "clip", "text_config": {"hidden_size": 512}}), "text tower"),
        (
            json!({"model_type": "novel", "architectures": ["NovelTextModelWithProjection"]}),
            "text tower",
        ),
        (json!({"model_type": "eurobert"}), "an encoder"),
        (json!({"model_type": "siglip_vision_model"}), "an image model"),
        (json!({"model_type": "qwen3_vl_vision"}), "an image model"),
        (
            json!({"model_type": "novel", "architectures": ["NovelForSequenceClassification"]}),
            "an encoder",
        ),
        (json!({"model_type": "novel", "architectures": ["NovelModel"]}), "ForCausalLM"),
    ] {
        let message = refused(&with(&text, &changes));
        assert!(
            message.contains(words) && message.contains("decoder-only"),
            "{changes}: {message}"
        );
    }
}

#[test]
fn embeddings_of_cohere_are_one_matrix_by_default() {
    for file in [cohere(), cohere2()] {
        assert!(read(&file).arch.tied_embeddings, "{}", file["model_type"]);
    }
    assert!(!read(&with(&cohere(), &json!({"tie_word_embeddings": false}))).arch.tied_embeddings);
}

#[test]
fn infinity_is_a_value_as_python_writes_it() {
    let text = dense("llama-3.1-8b").to_string().replacen(
        '{',
        "{\"time_step_limit\": [0.0, Infinity], \"a\": -Infinity, \"b\": NaN, \"sliding_window\": Infinity, ",
        1,
    );
    let model = parse(&text).expect("Python's JSON");
    assert_eq!(model.arch.n_params(), catalog::model("llama-3.1-8b").expect("key").arch.n_params());
}

#[test]
fn keys_that_are_off_or_about_something_else_do_not_refuse() {
    for changes in [
        json!({"sliding_window": null, "use_moe": false, "swa_layers": [], "num_moe_layers": 0, "num_experts": 0}),
        json!({"sliding_window": 131_072, "attention_window": 200_000}),
        json!({"layer_types": vec!["full_attention"; 32], "mlp_layer_types": vec!["dense"; 32]}),
        json!({"attention_dropout": 0.1, "initializer_range": 0.02, "pad_token_id": 0, "use_cache": true}),
        json!({"rope_scaling": {"factor": 8.0}, "layer_norm_eps": 1e-5, "num_labels": 2, "chunk_size_feed_forward": 0}),
        json!({"router_aux_loss_coef": 0.001, "expert_capacity_factor": 2, "no_rope_layers": [1, 0], "n_group": 8}),
        json!({"vision_feature_layer": -2, "head_bias": true, "lm_head_type": "x", "layerdrop": 0.0, "num_experts": 1,
               "num_experts_per_tok": 1}),
        json!({"use_sliding_window": false, "sliding_window": 4096, "swa_num_key_value_heads": 8}),
    ] {
        let model = read(&with(&dense("llama-3.1-8b"), &changes));
        assert_eq!(model.arch.attention[0].full_layers, 32, "{changes}");
        assert!(!model.arch.has_experts(), "{changes}");
    }
}

#[test]
fn geometry_beside_and_inside_a_known_family_is_refused_by_name() {
    for (changes, name) in [
        (json!({"num_experts": 8}), "num_experts"),
        (json!({"sliding_window": 1024}), "sliding_window"),
        (json!({"attention_chunk_size": 8192}), "attention_chunk_size"),
        (json!({"multi_query": true}), "multi_query"),
        (json!({"numKvHeads": 2}), "numKvHeads"),
        (json!({"attn_config": {"kv_n_heads": 2}}), "attn_config"),
        (json!({"extra": {"num_experts": 64}}), "extra.num_experts"),
        (json!({"num_kv_heads": 2}), "num_kv_heads"),
        (json!({"layer_pattern": "SSF"}), "layer_pattern"),
        (json!({"num_local_attention_groups": 4}), "num_local_attention_groups"),
        (json!({"attn_latent_width": 512}), "attn_latent_width"),
        (json!({"kv_lora_rank": 512}), "kv_lora_rank"),
    ] {
        let message = refused(&with(&dense("llama-3.1-8b"), &changes));
        assert!(message.contains(name) && message.contains("perhaps"), "{changes}: {message}");
        let nested = json!({"model_type": "novel_vl", "text_config": with(&dense("llama-3.1-8b"), &changes)});
        assert!(refused(&nested).contains(name), "{changes} in text_config");
    }
}

#[test]
fn groups_and_latent_vectors_are_bounded_by_the_keys_and_values_of_the_heads() {
    for (changes, heads) in [
        (json!({"num_local_attention_groups": 16}), 16),
        (json!({"attn_latent_width": 512}), 32),
        (json!({"kv_lora_rank": 512}), 32),
    ] {
        let model = bounded(&with(&dense("llama-3.1-8b"), &changes));
        assert_eq!(model.arch.attention[0].n_kv_heads, heads, "{changes}");
    }
}

/// Every file of this test, and every catalog model that can be written as one.
fn all() -> Vec<Value> {
    let written = [mimo(), gpt_bigcode(), cohere(), cohere2(), ernie(), ernie_moe()];
    let catalog =
        names().into_iter().map(|key| serde_json::from_str(&fixture(&key)).expect("JSON"));
    written.into_iter().chain(others()).chain(catalog).collect()
}

/// Keys that decide memory: all counts, lists, flags and words except those that name the kind of model.
fn geometry_keys(file: &Value) -> Vec<String> {
    let kept = ["model_type", "architectures", "torch_dtype"];
    let keys = file.as_object().expect("an object").iter();
    keys.filter(|(key, _)| !kept.contains(&key.as_str())).map(|(key, _)| key.clone()).collect()
}

/// Memory did not shrink silently: the file is refused, has one more assumption, or needs no less memory.
fn is_honest(before: &Imported, after: &Value, unread: Unread) -> bool {
    let Ok(model) = parse_with(&after.to_string(), unread) else { return true };
    let noted = model.assumed.iter().any(|field| {
        before.assumed.iter().all(|other| other.field != field.field || other.value != field.value)
    });
    let smaller = |context: u64| cached(&model.arch, context) < cached(&before.arch, context);
    let shrunk = model.arch.n_params() < before.arch.n_params()
        || [1, 8192, 262_144].into_iter().any(smaller);
    noted || !shrunk
}

#[test]
fn leaving_out_or_renaming_a_key_never_makes_a_model_smaller_in_silence() {
    let mut wrong = Vec::new();
    for file in all() {
        for unread in [Unread::Refuse, Unread::UpperBound] {
            let Ok(before) = parse_with(&file.to_string(), unread) else { continue };
            for key in geometry_keys(&file) {
                let mut without = file.clone();
                let value = without.as_object_mut().expect("an object").remove(&key);
                for name in [None, Some(format!("{key}_x")), Some(format!("new_{key}"))] {
                    let mut after = without.clone();
                    if let Some(name) = &name {
                        after[name] = value.clone().unwrap_or_default();
                    }
                    if !is_honest(&before, &after, unread) {
                        wrong.push(format!("{} {unread:?}: {key} -> {name:?}", file["model_type"]));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
