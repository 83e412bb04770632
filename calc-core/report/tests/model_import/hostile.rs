//! Text that is not a config.json, or a hostile one: refused with a sentence, without panic or hang.

use calc_core::hf_config::AssumedWhy;
use calc_core::provenance::Provenance;
use proptest::prelude::*;
use report::input::model_file::{MAX_BYTES, ModelFileError, parse};
use serde_json::{Map, Value, json};

use super::{fixture, names, refused};

#[test]
fn text_that_is_no_config_is_refused_with_its_place() {
    for (text, words) in [
        ("", "empty"),
        ("  \n", "empty"),
        ("[1, 2]", "begins with '['"),
        ("version https://git-lfs", "begins with 'v'"),
        ("{\"hidden_size\": 40", "line 1, column 18"),
        ("{\n \"hidden_size\": nan}", "line 2, column"),
        ("{\"hidden_size\": 1, \"hidden_size\": 2}", "duplicate field `hidden_size`"),
        ("{} {}", "trailing characters"),
        ("{}", "model_type"),
    ] {
        let message = refused(text);
        assert!(message.contains(words), "{text:?}: {message}");
    }
    assert!(
        parse(&format!("\u{feff}{}", fixture("gpt2"))).is_ok(),
        "a byte order mark is no error"
    );
}

#[test]
fn large_and_deep_input_is_refused_or_ignored_without_harm() {
    let large = "x".repeat(50_000_000);
    assert_eq!(parse(&large), Err(ModelFileError::TooLarge { bytes: 50_000_000 }));
    assert!(refused(&large).contains("at most 16 MB; this has 50 MB"));
    let lists = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects =
        |key: &str| format!("{}1{}", format!("{{\"{key}\":").repeat(100_000), "}".repeat(100_000));
    let gpt2 = fixture("gpt2");
    let beside = |key: &str, value: &str| gpt2.replacen('{', &format!("{{\"{key}\": {value},"), 1);
    for text in
        [lists(100_000), objects("a"), objects("text_config"), objects("quantization_config")]
    {
        refused(&text);
    }
    for (key, value) in [("hidden_size", lists(100_000)), ("text_config", objects("text_config"))] {
        refused(&beside(key, &value));
    }
    assert!(parse(&beside("unknown", &objects("a"))).is_ok(), "what nobody asks for is skipped");
    let many = format!("[{}0]", "0,".repeat(MAX_BYTES / 2 - 1000));
    refused(&beside(
        "architectures",
        &format!("{many}, \"quantization_config\": {{\"ignore\": 1, \"quant_method\": 2}}"),
    ));
}

#[test]
fn layers_that_draft_are_bounded_with_the_model() {
    // A layer of 65,536 experts of 3 × 65,536 × 65,536 weights is within the largest model; 65,536 more of them are not, and their
    // number does not fit into 64 bits.
    let config = |drafts: u64| {
        json!({
            "model_type": "deepseek_v3", "hidden_size": 65_536, "num_hidden_layers": 2, "first_k_dense_replace": 1,
            "intermediate_size": 65_536, "moe_intermediate_size": 65_536, "n_routed_experts": 65_536, "n_shared_experts": 1,
            "num_experts_per_tok": 8, "n_group": 8, "topk_group": 4, "num_attention_heads": 128, "num_key_value_heads": 128,
            "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
            "vocab_size": 1000, "max_position_embeddings": 4096, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
            "num_nextn_predict_layers": drafts,
        })
        .to_string()
    };
    let one = parse(&config(1)).expect("within the largest model").arch;
    assert!(one.n_draft_params().is_some_and(|params| params > 844_000_000_000_000));
    let message = refused(&config(65_536));
    assert!(message.contains("parameters"), "{message}");
}

#[test]
fn a_truncated_file_never_panics() {
    for name in names() {
        let text = fixture(&name);
        for end in (0..text.len()).step_by(97).filter(|&end| text.is_char_boundary(end)) {
            let message = refused(&text[..end]);
            assert!(
                end == 0 || message.contains("ends too early"),
                "{name} to byte {end}: {message}"
            );
        }
    }
}

/// Any JSON value, with numbers at the limits of parsers.
fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        Just(json!(0)),
        Just(json!(-1)),
        Just(json!(1)),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(1e300)),
        Just(json!(0.5)),
        Just(json!(65_536)),
        Just(json!(4_294_967_296_u64)),
        (0_u64..100_000).prop_map(|value| json!(value)),
    ];
    let leaf = prop_oneof![
        4 => number,
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => "[a-z0-9_]{0,12}".prop_map(Value::String),
        1 => Just(json!("sliding_attention")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((any_key(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Keys that the import reads.
const KEYS: [&str; 60] = [
    "hidden_size",
    "n_embd",
    "num_hidden_layers",
    "n_layer",
    "num_attention_heads",
    "n_head",
    "num_key_value_heads",
    "num_kv_heads",
    "head_dim",
    "kv_channels",
    "intermediate_size",
    "n_inner",
    "ffn_dim",
    "vocab_size",
    "max_position_embeddings",
    "n_positions",
    "tie_word_embeddings",
    "word_embed_proj_dim",
    "attention_bias",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "sliding_window_pattern",
    "layer_types",
    "qk_layernorm",
    "multi_query",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    "parallel_attn",
    "new_decoder_architecture",
    "num_ln_in_parallel_attn",
    "use_parallel_residual",
    "do_layer_norm_before",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "shared_expert_intermediate_size",
    "n_shared_experts",
    "first_k_dense_replace",
    "moe_layer_freq",
    "decoder_sparse_step",
    "mlp_only_layers",
    "topk_method",
    "torch_dtype",
    "quantization_config",
    "text_config",
    "quant_method",
    "bits",
    "group_size",
    "config_groups",
    "weights",
    "num_bits",
    "ignore",
    "architectures",
    "kv_cache_scheme",
];

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![9 => prop::sample::select(&KEYS[..]).prop_map(String::from), 1 => "[a-z_]{1,8}"]
}

fn any_fixture() -> impl Strategy<Value = String> {
    prop::sample::select(names())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn any_object_is_read_or_refused(entries in prop::collection::vec((any_key(), any_value()), 0..12)) {
        let config: Map<String, Value> = entries.into_iter().collect();
        check(&Value::Object(config).to_string())?;
    }

    #[test]
    fn any_change_to_a_good_file_is_read_or_refused(
        name in any_fixture(),
        entries in prop::collection::vec((any_key(), any_value()), 1..4),
    ) {
        let mut config: Map<String, Value> = serde_json::from_str(&fixture(&name)).expect("fixture");
        config.extend(entries);
        check(&Value::Object(config).to_string())?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        check(&text)?;
    }
}

/// A model that is read can be estimated; a refusal has a sentence.
fn check(text: &str) -> Result<(), TestCaseError> {
    match parse(text) {
        Ok(model) => {
            prop_assert_eq!(model.arch.check(), Ok(()));
            prop_assert!(model.arch.n_active_params() <= model.arch.n_params());
            let is_doubtful = |why| matches!(why, AssumedWhy::Guessed | AssumedWhy::NotRead);
            let guessed = model.assumed.iter().any(|field| is_doubtful(field.why));
            prop_assert_eq!(guessed, model.provenance == Provenance::Assumed);
        }
        Err(error) => prop_assert!(error.to_string().len() > 15),
    }
    Ok(())
}
