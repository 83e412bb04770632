//! Model types that only their own files define, and that no class of transformers can be built for: parameters worked by hand.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::estimate::{Estimate, estimate};
use calc_core::hf_config::Remark;
use calc_core::model_arch::ModelArch;
use calc_core::op::OpKind;
use calc_core::plan::{EstimateRequest, OpRow};
use calc_core::precision::PrecisionChoice;
use calc_core::workload::Workload;
use report::input::model_file::parse;
use serde_json::{Value, json};

use super::changed;

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

/// Files that describe towers in a form of their own, beside a language model that is known.
#[test]
fn towers_in_a_form_of_their_own_are_said_to_be_left_out() {
    let processor =
        json!({"name": "clip_vision_model", "image_dim_out": 1024, "num_img_tokens": 144});
    let tokenizer = json!({"model_type": "aimv2_visual_tokenizer", "backbone_config": {"num_hidden_layers": 24}});
    for (changes, left_out) in [
        (
            json!({"img_processor": processor, "embd_layer": {"embedding_cls": "image"}, "model_type": "phi3_v"}),
            true,
        ),
        (json!({"visual_tokenizer_config": tokenizer}), true),
        (json!({"vit_config": {"hidden_size": 1024}}), true),
        (json!({"mm_vision_tower": "openai/clip-vit-large-patch14-336"}), true),
        (json!({"model_type": "phi3"}), false),
    ] {
        let model = changed("phi-3-mini", &changes).expect("a model");
        assert_eq!(model.remarks.contains(&Remark::TowersNotCounted), left_out, "{changes}");
        assert_eq!(
            model.arch.n_params(),
            changed("phi-3-mini", &json!({})).expect("plain").arch.n_params()
        );
    }
}

/// The first Molmo: Qwen2-7B with the width of gate and up in one number, and 128 rows of the embedding apart.
#[test]
fn the_width_of_molmo_is_that_of_gate_and_up_together() {
    let file = json!({
        "model_type": "molmo", "architectures": ["MolmoForCausalLM"], "torch_dtype": "float32", "hidden_size": 3584,
        "intermediate_size": 37_888, "layer_norm_type": "rms", "max_position_embeddings": 4096, "num_attention_heads": 28,
        "num_hidden_layers": 28, "num_key_value_heads": 4, "qkv_bias": true, "tie_word_embeddings": false,
        "vocab_size": 152_064,
    });
    let attention = 3584 * (3584 + 2 * 512) + 3584 * 3584 + 3584 + 2 * 512;
    let layer = attention + 3 * 3584 * 18_944 + 2 * 3584;
    assert_eq!(params(&file), 28 * layer + 3584 + (2 * 152_064 + 128) * 3584);
}

/// MiniCPM-V 2.6 is Qwen2-7B, whose projections of queries, keys and values have biases.
#[test]
fn minicpm_v_on_qwen_has_its_biases() {
    let file = json!({
        "model_type": "minicpmv", "architectures": ["MiniCPMV"], "torch_dtype": "bfloat16", "hidden_size": 3584,
        "intermediate_size": 18_944, "max_position_embeddings": 32_768, "max_window_layers": 28, "num_attention_heads": 28,
        "num_hidden_layers": 28, "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "use_sliding_window": false,
        "tie_word_embeddings": false, "vocab_size": 151_666,
    });
    assert_eq!(params(&file), 7_612_763_648);
}

fn answered(model: &ModelArch, precision: PrecisionChoice) -> Estimate {
    estimate(EstimateRequest {
        device: catalog::device("rtx_4090").expect("catalog key"),
        mode: None,
        memory_limit: None,
        model,
        precision,
        workload: Workload::new(1, 512),
        weight_size: None,
        draft: None,
        engine: Some(Engine::LlamaCpp),
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    })
    .expect("an answer")
}

/// Classes of known families without a head for the next token.
#[test]
fn classes_with_another_head_have_its_parameters_alone() {
    let of = |class: &str, more: Value| {
        let mut changes = json!({"architectures": [class]});
        let object = changes.as_object_mut().expect("an object");
        object.extend(more.as_object().expect("an object").clone());
        changed("llama-3.1-8b", &changes).expect("a model")
    };
    let whole = of("LlamaForCausalLM", json!({})).arch.n_params();
    let bare = whole - 128_256 * 4096;
    for (class, more, scores) in [
        ("LlamaModel", json!({}), 0),
        ("LlamaForSequenceClassification", json!({}), 2),
        ("LlamaForSequenceClassification", json!({"id2label": {"0": "LABEL_0"}}), 1),
        ("LlamaForRewardModel", json!({}), 1),
        ("LlamaForTokenClassification", json!({"num_labels": 5}), 5),
    ] {
        let model = of(class, more);
        assert_eq!(model.arch.n_params(), bare + scores * 4096, "{class}");
        assert!(model.remarks.contains(&Remark::OtherHead { labels: scores }), "{class}");
        // Neither its times nor its memory have one: the same layers with a head take more of both.
        let headed = ModelArch { has_head: true, ..model.arch.clone() };
        let (own, other) = (answered(&model.arch, model.stored), answered(&headed, model.stored));
        assert!(own.prefill.totals.time.ideal() < other.prefill.totals.time.ideal(), "{class}");
        assert!(own.decode.totals.time.ideal() < other.decode.totals.time.ideal(), "{class}");
        assert!(own.memory.total() < other.memory.total(), "{class}");
        let has_head = |row: &OpRow| row.kind == OpKind::LmHead;
        assert!(!own.decode.operators.iter().any(has_head), "{class}");
        assert!(other.decode.operators.iter().any(has_head), "{class}");
    }
}

/// Qwen3-ASR as published: the part that listens holds the language model, whose text part says that the head is tied.
#[test]
fn the_language_model_of_qwen3_asr_is_qwen3() {
    let file = json!({
        "model_type": "qwen3_asr", "architectures": ["Qwen3ASRForConditionalGeneration"],
        "thinker_config": {"model_type": "qwen3_asr_thinker", "dtype": "bfloat16", "text_config": {
            "model_type": "qwen3_asr_text", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151_936,
            "max_position_embeddings": 65_536, "tie_word_embeddings": true
        }}
    });
    let model = parse(&file.to_string()).expect("a model");
    assert_eq!((model.arch.n_params(), model.stored.weights.key), (596_049_920, "bf16"));
}

/// Keys of published files that repeat what another key states, or describe another part.
#[test]
fn keys_that_repeat_or_describe_other_parts_are_no_reason_to_refuse() {
    for (model, keys) in [
        ("gemma-2-9b", json!({"sliding_window": 4096, "sliding_window_size": 4096})),
        (
            "qwen2.5-7b",
            json!({"dual_chunk_attention_config": {"chunk_size": 262_144, "local_size": 8192}}),
        ),
        (
            "qwen2.5-7b",
            json!({"num_segm_layers": 3, "mlp_connector_layers": 2, "gen_head_config": {"params": {"n_embed": 2048}}}),
        ),
        ("qwen2.5-7b", json!({"num_query_groups": 4})),
        ("qwen2.5-7b", json!({"num_nextn_predict_layers": 1, "_num_mtp_layers": 1})),
    ] {
        let same = changed(model, &json!({})).expect("a model").arch;
        let found = changed(model, &keys).unwrap_or_else(|error| panic!("{model} {keys}: {error}"));
        assert_eq!(found.arch, same, "{keys}");
    }
    for keys in [
        json!({"sliding_window_size": 2048}),
        json!({"other_chunk_attention_config": {"chunk_size": 2048}}),
        json!({"num_query_groups": 2}),
    ] {
        assert!(changed("llama-3.1-8b", &keys).is_err(), "{keys}");
    }
    let decoder = json!({"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000});
    let speaks = json!({"model_type": "vibevoice", "decoder_config": decoder, "acoustic_tokenizer_config": {"vae_dim": 64}});
    let model = parse(&speaks.to_string()).expect("a model");
    assert_eq!(model.arch.hidden_size, 64);
    assert!(model.remarks.contains(&Remark::TowersNotCounted));
}

/// The heads of DBRX and of the blocks of Nemotron-NAS are in the file, so none is listed as assumed; numbers of processors are
/// no sizes.
#[test]
fn what_a_file_states_elsewhere_is_not_listed_as_assumed() {
    let dbrx = json!({
        "model_type": "dbrx", "architectures": ["DbrxForCausalLM"], "d_model": 6144, "n_heads": 48, "n_layers": 2,
        "max_seq_len": 32_768, "vocab_size": 100_352, "torch_dtype": "bfloat16",
        "attn_config": {"kv_n_heads": 8, "clip_qkv": 8},
        "ffn_config": {"ffn_hidden_size": 10_752, "moe_num_experts": 16, "moe_top_k": 4}
    });
    let model = parse(&dbrx.to_string()).expect("a model");
    assert_eq!(model.arch.attention[0].n_kv_heads, 8);
    let numbers = json!({"tile_size": 448, "max_dynamic_patch": 12, "mup_denominator": 32, "org_vocab_size": 5});
    let harmless = changed("llama-3.1-8b", &numbers).expect("a model");
    for model in [model, harmless] {
        let named: Vec<&str> = model.assumed.iter().map(|field| &*field.field).collect();
        let is_wrong = |name: &&str| *name == "num_key_value_heads" || numbers.get(*name).is_some();
        assert!(!named.iter().any(is_wrong), "{named:?}");
    }
}

/// A projector for each index of Qwen3-VL, also where a reduced file has fewer layers.
#[test]
fn each_index_of_the_tower_of_qwen3_vl_has_its_projector() {
    let file = |indexes: Value| {
        let vision = json!({"model_type": "qwen3_vl", "depth": 2, "hidden_size": 64, "intermediate_size": 128,
            "num_heads": 4, "num_position_embeddings": 16, "out_hidden_size": 64, "patch_size": 16,
            "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3, "deepstack_visual_indexes": indexes});
        let text = json!({"model_type": "qwen3_vl_text", "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100});
        let file = json!({"model_type": "qwen3_vl", "text_config": text, "vision_config": vision});
        parse(&file.to_string()).expect("a model").arch.towers[0].n_params()
    };
    // Norm of the merged patch, and two matrices with biases.
    let one = 2 * 256 + 256 * 257 + 64 * 257;
    assert_eq!(file(json!([5, 11, 17])) - file(json!([])), 3 * one);
}
