//! Rows of small matrices that files and engines keep in 16 bits beside quantized layers.

use calc_core::catalog;
use calc_core::footprint::weight_bytes;
use calc_core::mixture::Mixture;
use calc_core::precision::{Precision, PrecisionChoice};
use calc_core::roofline::Roofs;
use report::input::model_file;
use serde_json::{Value, json};

/// Bytes of all weights of a catalog model as stored.
fn whole_bytes(model: &str, stored: &PrecisionChoice) -> f64 {
    let arch = &catalog::model(model).expect("catalog key").arch;
    let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
    weight_bytes(arch, &stored.resolve_model(arch, &roofs)).get()
}

#[test]
fn small_rows_that_published_files_keep_are_counted_in_16_bits() {
    let f8 = catalog::format("fp8_block128").expect("catalog key");
    let one = |rows: u64, cols: u64| f8.stored_bytes(rows, cols).get();
    // Each row of 16 bits beside rows with a scale per block: the format of a catalog row has no list.
    for (model, layers, all, kept, hidden) in [
        // DeepSeek V3.2: 61 indexers with a key of 128 and 64 heads, which weights_proj weighs.
        ("deepseek-v3.2", 61, 128 + 64, 64, 7168),
        // Qwen3-Next: 36 delta nets; q k v z are 12288 rows, b and a 64.
        ("qwen3-next-80b-a3b", 36, 12_288 + 64, 64, 2048),
    ] {
        let uniform = PrecisionChoice {
            ratios: None,
            embedding: Some(&catalog::formats::BF16),
            ..PrecisionChoice::weights(f8)
        };
        let arch = &catalog::model(model).expect("catalog key").arch;
        let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
        let mut plain = uniform.resolve_model(arch, &roofs);
        plain.mixture = Mixture::UNIFORM;
        let more = whole_bytes(model, &uniform) - weight_bytes(arch, &plain).get();
        let by_hand = f64::from(layers)
            * (one(all - kept, hidden) + (kept * hidden * 2) as f64 - one(all, hidden));
        assert!((more / by_hand - 1.0).abs() < 1e-6, "{model}: {more} {by_hand}");
    }
}

#[test]
fn gates_of_delta_nets_have_the_format_that_a_file_gives_them() {
    // Four delta nets of 16 key and 32 value heads of 128: q k v z are 12 288 rows, b and a 64.
    let bytes = |quantization: &Value| {
        let file = json!({
            "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 4,
            "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 151_936,
            "intermediate_size": 5120, "moe_intermediate_size": 512, "num_experts": 4, "num_experts_per_tok": 2,
            "shared_expert_intermediate_size": 512, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
            "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
            "full_attention_interval": 4, "torch_dtype": "bfloat16", "quantization_config": quantization
        });
        let model = model_file::parse(&file.to_string()).expect("a model file");
        let roofs = Roofs::new(catalog::device("b200").expect("catalog key"), None).expect("roofs");
        let found = model.stored.resolve_model(&model.arch, &roofs);
        let uniform = Precision { mixture: Mixture::UNIFORM, ..found };
        let [all, one] = [found, uniform].map(|found| weight_bytes(&model.arch, &found).get());
        (all - one, model.remarks.len())
    };
    let nf4 = |list: &[&str]| {
        let bnb = "bitsandbytes";
        bytes(&json!({"quant_method": bnb, "load_in_4bit": true, "llm_int8_skip_modules": list}))
    };
    let (_, remarks) = nf4(&["lm_head"]);
    let (more, said) = nf4(&["lm_head", "in_proj_a", "in_proj_b"]);
    let by_hand = f64::from(3 * 64 * 2048) * (16.0 - 4.5) / 8.0;
    // Ratios are steps of 1/65 536, rounded up.
    let step = f64::from(3 * 12_352 * 2048) / 65_536.0;
    assert!(more >= by_hand - 1.0 && more <= by_hand + step, "{more} {by_hand}");
    assert_eq!(said, remarks, "small rows are no part of a layer with a format of its own");
}
