//! The other classes: only their parameters, because the catalog has most of these families with their geometry. The fields
//! that decide them were taken by script from the defaults that each class of transformers 5.23.0 (PyPI) reports itself.
//! `deepseek_v2` has no default for `num_experts_per_tok`; it is 6 here and decides no parameter.

use serde_json::{Value, json};

use super::{changed, fields};

/// Documented defaults, and the number of parameters counted by torch.
type Row = (Value, u64);

fn dense() -> Vec<Row> {
    vec![
        (
            json!({"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
                   "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
                   "head_dim": 128, "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false}),
            6_738_415_616,
        ),
        (
            json!({"model_type": "mistral", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
                   "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
                   "tie_word_embeddings": false}),
            7_241_732_096,
        ),
        (
            json!({"model_type": "qwen2", "vocab_size": 151_936, "hidden_size": 4096, "intermediate_size": 22016,
                   "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
                   "tie_word_embeddings": false}),
            12_049_846_272,
        ),
        (
            json!({"model_type": "qwen3", "vocab_size": 151_936, "hidden_size": 4096, "intermediate_size": 22016,
                   "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
                   "head_dim": 128, "tie_word_embeddings": false, "attention_bias": false}),
            12_049_461_248,
        ),
        (
            json!({"model_type": "gemma2", "vocab_size": 256_000, "hidden_size": 2304, "intermediate_size": 9216,
                   "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
                   "tie_word_embeddings": true, "attention_bias": false}),
            2_614_341_888,
        ),
        (
            json!({"model_type": "gemma3_text", "vocab_size": 262_208, "hidden_size": 2304,
                   "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
                   "num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": true,
                   "attention_bias": false}),
            2_628_658_432,
        ),
        (
            json!({"model_type": "phi3", "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
                   "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
                   "tie_word_embeddings": false}),
            3_821_079_552,
        ),
        (
            json!({"model_type": "smollm3", "vocab_size": 128_256, "hidden_size": 2048,
                   "intermediate_size": 11008, "num_hidden_layers": 36, "num_attention_heads": 16,
                   "num_key_value_heads": 4, "tie_word_embeddings": true, "attention_bias": false,
                   "mlp_bias": false}),
            3_075_098_624,
        ),
    ]
}

fn mixtures() -> Vec<Row> {
    vec![
        (
            json!({"model_type": "mixtral", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
                   "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
                   "tie_word_embeddings": false, "num_local_experts": 8, "num_experts_per_tok": 2}),
            46_702_792_704,
        ),
        (
            json!({"model_type": "qwen2_moe", "vocab_size": 151_936, "hidden_size": 2048,
                   "intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16,
                   "num_key_value_heads": 16, "tie_word_embeddings": false, "qkv_bias": true, "num_experts": 60,
                   "num_experts_per_tok": 4, "moe_intermediate_size": 1408,
                   "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1, "mlp_only_layers": []}),
            14_315_784_192,
        ),
        (
            json!({"model_type": "qwen3_moe", "vocab_size": 151_936, "hidden_size": 2048,
                   "intermediate_size": 6144, "num_hidden_layers": 24, "num_attention_heads": 32,
                   "num_key_value_heads": 4, "tie_word_embeddings": false, "attention_bias": false,
                   "num_local_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
                   "decoder_sparse_step": 1, "mlp_only_layers": []}),
            15_350_731_776,
        ),
        (
            json!({"model_type": "granitemoe", "vocab_size": 32000, "hidden_size": 4096,
                   "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
                   "num_key_value_heads": 32, "tie_word_embeddings": false, "attention_bias": false,
                   "num_local_experts": 8, "num_experts_per_tok": 2}),
            37_039_116_288,
        ),
        (
            json!({"model_type": "granitemoeshared", "vocab_size": 32000, "hidden_size": 4096,
                   "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
                   "num_key_value_heads": 32, "tie_word_embeddings": false, "attention_bias": false,
                   "num_local_experts": 8, "num_experts_per_tok": 2, "shared_intermediate_size": 0}),
            37_039_116_288,
        ),
        (
            json!({"model_type": "deepseek_v2", "vocab_size": 102_400, "hidden_size": 4096,
                   "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
                   "num_key_value_heads": 32, "tie_word_embeddings": false, "attention_bias": false,
                   "mlp_bias": false, "n_routed_experts": 64, "num_experts_per_tok": 6,
                   "moe_intermediate_size": 1407, "n_shared_experts": 2, "first_k_dense_replace": 0,
                   "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
                   "v_head_dim": 128}),
            38_612_307_968,
        ),
        (
            json!({"model_type": "deepseek_v3", "vocab_size": 129_280, "hidden_size": 7168,
                   "intermediate_size": 18432, "num_hidden_layers": 61, "num_attention_heads": 128,
                   "num_key_value_heads": 128, "tie_word_embeddings": false, "attention_bias": false,
                   "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
                   "n_shared_experts": 1, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536,
                   "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}),
            // The correction bias of 256 experts in 58 layers is no parameter there, and is in the checkpoints.
            671_026_404_352 + 58 * 256,
        ),
        (
            json!({"model_type": "gpt_oss", "vocab_size": 201_088, "hidden_size": 2880,
                   "intermediate_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64,
                   "num_key_value_heads": 8, "head_dim": 64, "tie_word_embeddings": false,
                   "attention_bias": true, "num_local_experts": 128, "num_experts_per_tok": 4}),
            116_829_156_672,
        ),
    ]
}

fn all() -> impl Iterator<Item = Row> {
    dense().into_iter().chain(mixtures())
}

fn default_of(model_type: &str) -> Value {
    let found = all().find(|(file, _)| file["model_type"] == model_type);
    found.expect("a class of the table").0
}

#[test]
fn every_other_class_has_the_parameters_that_torch_counts() {
    for (file, params) in all() {
        let model = changed(&file, &json!({})).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(model.arch.n_params(), params, "{file}");
    }
}

#[test]
fn switches_of_other_classes_count_as_torch_does() {
    for (model_type, changes, params) in [
        ("granitemoeshared", json!({"shared_intermediate_size": 1024}), 37_441_769_472),
        ("qwen2_moe", json!({"decoder_sparse_step": 2}), 8_085_743_616),
        ("qwen2_moe", json!({"mlp_only_layers": [0, 5]}), 13_277_444_096),
        ("qwen2_moe", json!({"qkv_bias": false}), 14_315_636_736),
        ("qwen3_moe", json!({"attention_bias": true}), 15_350_842_368),
        ("deepseek_v2", json!({"n_shared_experts": 1}), 38_059_053_056),
        ("deepseek_v2", json!({"first_k_dense_replace": 1, "q_lora_rank": null}), 37_908_164_608),
        ("smollm3", json!({"attention_bias": true, "mlp_bias": true}), 3_076_149_248_u64),
    ] {
        let file = default_of(model_type);
        assert!(fields(&changes).keys().all(|key| file.get(key).is_some()), "{changes} is new");
        let model = changed(&file, &changes).expect("a good file");
        assert_eq!(model.arch.n_params(), params, "{model_type} {changes}");
    }
}
