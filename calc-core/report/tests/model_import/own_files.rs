//! Model types that only their own files define, and that no class of transformers can be built for: parameters worked by hand.

use report::input::model_file::parse;
use serde_json::{Value, json};

fn params(file: &Value) -> u64 {
    parse(&file.to_string()).expect("a model").arch.n_params()
}

/// Snowflake Arctic: 128 experts in all layers, and beside them a dense MLP of the hidden size with a norm of its own.
#[test]
fn arctic_has_a_dense_mlp_beside_its_experts() {
    let file = json!({
        "model_type": "arctic", "architectures": ["ArcticForCausalLM"], "torch_dtype": "bfloat16", "hidden_act": "silu",
        "hidden_size": 7168, "intermediate_size": 4864, "max_position_embeddings": 4096, "moe_layer_frequency": 1,
        "num_attention_heads": 56, "num_key_value_heads": 8, "num_hidden_layers": 35, "num_local_experts": 128,
        "num_experts_per_tok": 2, "parallel_attn_mlp_res": true, "rms_norm_eps": 1e-5, "tie_word_embeddings": false,
        "use_residual": true, "vocab_size": 32000,
    });
    let attention = 2 * 7168 * 7168 + 2 * 7168 * 1024;
    let experts = 128 * 3 * 7168 * 4864 + 128 * 7168;
    let layer = attention + experts + 3 * 7168 * 7168 + 3 * 7168;
    assert_eq!(params(&file), 35 * layer + 7168 + 2 * 32000 * 7168);
    let mut every_other = file;
    every_other["moe_layer_frequency"] = json!(2);
    let refusal = parse(&every_other.to_string()).expect_err("experts in some layers").to_string();
    assert!(refusal.contains("moe_layer_frequency"), "{refusal}");
}

/// Step3: queries through a vector of 2048 numbers that is normed, one head of keys and values, experts from layer 4 to 59.
#[test]
fn step3_has_low_rank_queries() {
    let layers: Vec<String> = (4..60).map(|layer| layer.to_string()).collect();
    let file = json!({
        "model_type": "step3_vl", "architectures": ["Step3VLForConditionalGeneration"], "torch_dtype": "bfloat16",
        "text_config": {
            "model_type": "step3_text", "hidden_size": 7168, "intermediate_size": 18432, "num_attention_heads": 64,
            "num_attention_groups": 1, "head_dim": 256, "share_q_dim": 2048, "num_hidden_layers": 61, "vocab_size": 128_815,
            "max_seq_len": 65536, "rms_norm_eps": 1e-5, "moe_intermediate_size": 5120, "moe_num_experts": 48, "moe_top_k": 3,
            "share_expert_dim": 5120, "moe_layers_enum": layers.join(","), "torch_dtype": "bfloat16",
        },
    });
    let heads = 64 * 256;
    let attention = 7168 * 2048 + 2048 + 2048 * heads + 2 * 7168 * 256 + heads * 7168;
    let experts = 49 * 3 * 7168 * 5120 + 48 * 7168;
    let all = 61 * (attention + 2 * 7168) + 56 * experts + 5 * 3 * 7168 * 18432;
    assert_eq!(params(&file), all + 7168 + 2 * 128_815 * 7168);
}

/// DeepSeek-OCR states the model type of DeepSeek V2 and plain heads.
#[test]
fn deepseek_ocr_has_plain_heads() {
    let file = json!({
        "model_type": "deepseek_vl_v2", "architectures": ["DeepseekOCRForCausalLM"], "torch_dtype": "bfloat16",
        "language_config": {
            "model_type": "deepseek_v2", "hidden_size": 1280, "intermediate_size": 6848, "num_attention_heads": 10,
            "num_key_value_heads": 10, "num_hidden_layers": 12, "vocab_size": 129_280, "use_mla": false,
            "kv_lora_rank": null, "q_lora_rank": null, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0,
            "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 896,
            "first_k_dense_replace": 1, "max_position_embeddings": 8192, "topk_method": "greedy", "torch_dtype": "bfloat16",
        },
    });
    let layers = 12 * (4 * 1280 * 1280 + 2 * 1280) + 3 * 1280 * 6848;
    let experts = 66 * 3 * 1280 * 896 + 64 * 1280;
    assert_eq!(params(&file), layers + 11 * experts + 1280 + 2 * 129_280 * 1280);
}

/// ERNIE 4.5 VL as published: two experts' widths, starts and ends, of text and of images.
#[test]
fn ernie_vl_as_published_is_that_of_transformers() {
    let file = json!({
        "model_type": "ernie4_5_moe_vl", "architectures": ["Ernie4_5_VLMoeForConditionalGeneration"],
        "torch_dtype": "bfloat16", "hidden_act": "silu", "hidden_size": 2560, "intermediate_size": 12288,
        "max_position_embeddings": 131_072, "moe_intermediate_size": [1536, 512], "moe_k": 6,
        "moe_layer_start_index": [1, 1], "moe_layer_end_index": [29, 28], "moe_layer_interval": 1,
        "moe_num_experts": [64, 64], "moe_num_shared_experts": 2, "moe_use_aux_free": true, "num_attention_heads": 20,
        "num_key_value_heads": 4, "num_hidden_layers": 28, "rms_norm_eps": 1e-5, "tie_word_embeddings": true,
        "use_bias": false, "vocab_size": 103_424,
    });
    let fixture = include_str!("../truth/configs/ernie-4.5-vl-28b.json");
    assert_eq!(params(&file), parse(fixture).expect("a model").arch.n_params());
}
