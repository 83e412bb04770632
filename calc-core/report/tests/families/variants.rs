//! Fields that change the built model, each against the parameter count of torch, and fields that change nothing.

use calc_core::model_arch::{AttentionBias, DenseLayers, GgufLayout, ModelArch, NormKind, QkNorm};
use serde_json::{Value, json};

use super::defaults::{self, Default};
use super::{changed, difference, gpt_like, llama_like, with_bias, with_kv_heads};

/// A default file with some fields replaced, the model built from it, and its parameters counted by torch.
struct Variant {
    of: Default,
    changes: Value,
    arch: ModelArch,
    params: u64,
}

/// A variant of a class whose default is `of`: `build` turns the default geometry into the expected one.
fn variant(of: Default, changes: Value, params: u64, build: fn(ModelArch) -> ModelArch) -> Variant {
    let arch = build(of.arch.clone());
    Variant { of, changes, arch, params }
}

fn check(variants: &[Variant]) {
    let wrong: Vec<String> = variants
        .iter()
        .filter_map(|case| {
            let found = difference(changed(&case.of.file, &case.changes), &case.arch, case.params);
            found.map(|text| format!("{} {}: {text}", case.of.file["model_type"], case.changes))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn gpt_neox_has_two_norms_in_a_layer_whether_or_not_its_branches_are_parallel() {
    let in_turn = json!({"use_parallel_residual": false});
    let without = json!({"attention_bias": false});
    check(&[
        variant(defaults::gpt_neox(), in_turn, 20_554_567_680, |arch| arch),
        variant(defaults::gpt_neox(), without, 20_553_486_336, |arch| {
            with_bias(AttentionBias::None, arch)
        }),
        variant(
            defaults::gpt_neox(),
            json!({"tie_word_embeddings": true}),
            20_244_713_472,
            |arch| ModelArch { tied_embeddings: true, ..arch },
        ),
    ]);
}

#[test]
fn stablelm_has_one_norm_in_a_parallel_layer_and_norms_every_head_apart() {
    let normed = |mut arch: ModelArch| {
        arch.attention.to_mut()[0].qk_norm = QkNorm::Projection;
        with_kv_heads(8, arch)
    };
    let bias = json!({"use_qkv_bias": true});
    let parallel = json!({"use_parallel_residual": true});
    let norms = json!({"qk_layernorm": true, "num_key_value_heads": 8});
    check(&[
        variant(defaults::stablelm(), bias, 2_795_688_960, |arch| {
            with_bias(AttentionBias::Qkv, arch)
        }),
        variant(defaults::stablelm(), parallel, 2_795_279_360, |arch| ModelArch {
            add_norms: 32,
            ..arch
        }),
        variant(defaults::stablelm(), norms, 2_480_972_800, normed),
    ]);
}

#[test]
fn starcoder2_has_its_window_in_every_layer() {
    let windowed = |mut arch: ModelArch| {
        arch.attention.to_mut()[0].full_layers = 0;
        arch.attention.to_mut()[0].windowed_layers = 30;
        arch.attention.to_mut()[0].window = 2048;
        arch
    };
    let bare = |arch| with_bias(AttentionBias::None, ModelArch { mlp_bias: false, ..arch });
    let untied = |arch| ModelArch { tied_embeddings: false, ..arch };
    check(&[
        variant(defaults::starcoder2(), json!({"sliding_window": 2048}), 3_030_371_328, windowed),
        variant(defaults::starcoder2(), json!({"use_bias": false}), 3_029_710_848, bare),
        variant(
            defaults::starcoder2(),
            json!({"tie_word_embeddings": false}),
            3_181_366_272,
            untied,
        ),
    ]);
}

#[test]
fn olmo_learns_no_norm_and_clips_without_parameters() {
    let clipped = json!({"num_key_value_heads": 8, "clip_qkv": 8.0});
    let biased = json!({"attention_bias": true});
    check(&[
        variant(defaults::olmo(), clipped, 6_082_789_376, |arch| with_kv_heads(8, arch)),
        variant(defaults::olmo(), biased, 6_888_620_032, |arch| {
            with_bias(AttentionBias::Qkvo, arch)
        }),
    ]);
}

/// Its two norms per layer stand after attention and MLP instead of before; their number is the same.
#[test]
fn olmo2_norms_the_whole_projections_of_queries_and_keys() {
    let grouped = json!({"num_key_value_heads": 8});
    let biased = json!({"attention_bias": true});
    check(&[
        variant(defaults::olmo2(), grouped, 6_083_219_456, |arch| with_kv_heads(8, arch)),
        variant(defaults::olmo2(), biased, 6_889_148_416, |arch| {
            with_bias(AttentionBias::Qkvo, arch)
        }),
    ]);
}

#[test]
fn granite_scales_by_numbers_that_are_no_parameters() {
    let scaled = json!({"embedding_multiplier": 12.0, "logits_scaling": 16.0, "residual_multiplier": 0.22,
                        "attention_multiplier": 0.007_812_5});
    let biased = json!({"attention_bias": true, "mlp_bias": true});
    let small = json!({"num_key_value_heads": 8, "tie_word_embeddings": true});
    check(&[
        variant(defaults::granite(), scaled, 6_738_415_616, |arch| arch),
        variant(defaults::granite(), biased, 6_739_775_488, |arch| {
            with_bias(AttentionBias::Qkvo, ModelArch { mlp_bias: true, ..arch })
        }),
        variant(defaults::granite(), small, 5_802_037_248, |arch| {
            with_kv_heads(8, ModelArch { tied_embeddings: true, ..arch })
        }),
    ]);
}

#[test]
fn gemma_keeps_heads_of_256_at_any_width() {
    let two_b = json!({"hidden_size": 2048, "num_attention_heads": 8, "num_key_value_heads": 1,
                       "intermediate_size": 16384, "num_hidden_layers": 18});
    let untied = json!({"tie_word_embeddings": false});
    let biased = json!({"attention_bias": true});
    check(&[
        variant(defaults::gemma(), two_b, 2_506_172_416, |_| ModelArch {
            tied_embeddings: true,
            ..llama_like([2048, 18, 256_000, 8, 1, 256, 16_384], 8192)
        }),
        variant(defaults::gemma(), untied, 9_324_112_896, |arch| ModelArch {
            tied_embeddings: false,
            ..arch
        }),
        variant(defaults::gemma(), biased, 8_538_110_976, |arch| {
            with_bias(AttentionBias::Qkvo, arch)
        }),
    ]);
}

#[test]
fn phi_rotates_part_of_a_head_without_parameters_and_biases_everything() {
    let rotated = json!({"partial_rotary_factor": 0.25});
    let grouped = json!({"num_key_value_heads": 8});
    check(&[
        variant(defaults::phi(), rotated, 1_418_270_720, |arch| arch),
        variant(defaults::phi(), grouped, 1_267_202_048, |arch| with_kv_heads(8, arch)),
    ]);
    let refused = changed(&defaults::phi().file, &json!({"qk_layernorm": true}));
    let message = refused.expect_err("weights and biases per head").to_string();
    assert!(message.contains("qk_layernorm"), "{message}");
}

/// The newer architecture at another size: heads in groups of eight, one norm per layer.
fn grouped_falcon() -> ModelArch {
    let arch = gpt_like([4096, 32, 65_024, 64, 8, 64, 16_384], 2048);
    let arch = ModelArch {
        gguf: GgufLayout::Falcon,
        add_norms: 32,
        mlp_bias: false,
        tied_embeddings: true,
        ..arch
    };
    with_bias(AttentionBias::None, arch)
}

#[test]
fn falcon_follows_its_switches() {
    let new = |norms: Value| {
        json!({"hidden_size": 4096, "num_attention_heads": 64, "num_kv_heads": 8, "ffn_hidden_size": 16384,
               "new_decoder_architecture": true, "num_ln_in_parallel_attn": norms})
    };
    let two_norms = |arch| ModelArch { add_norms: 64, ..arch };
    let narrow =
        |arch| ModelArch { dense: vec![DenseLayers { layers: 32, width: 8192 }].into(), ..arch };
    let biased = |arch| with_bias(AttentionBias::Qkvo, ModelArch { mlp_bias: true, ..arch });
    check(&[
        variant(defaults::falcon(), json!({"multi_query": false}), 8_224_576_384, |arch| {
            with_kv_heads(71, arch)
        }),
        variant(defaults::falcon(), json!({"parallel_attn": false}), 6_922_011_520, two_norms),
        variant(defaults::falcon(), json!({"bias": true}), 6_922_742_656, biased),
        variant(defaults::falcon(), json!({"ffn_hidden_size": 8192}), 4_018_213_760, narrow),
        variant(defaults::falcon(), new(Value::Null), 5_769_797_632, |_| ModelArch {
            add_norms: 64,
            ..grouped_falcon()
        }),
        variant(defaults::falcon(), new(json!(1)), 5_769_535_488, |_| grouped_falcon()),
    ]);
}

#[test]
fn opt_switches_biases_and_norms_off() {
    let bare = |arch| with_bias(AttentionBias::None, ModelArch { mlp_bias: false, ..arch });
    let unlearned = |arch| ModelArch { norm: NormKind::NoParameters, ..arch };
    let no_last = |arch| ModelArch { final_norm: false, ..arch };
    check(&[
        variant(defaults::opt(), json!({"enable_bias": false}), 125_156_352, bare),
        variant(
            defaults::opt(),
            json!({"layer_norm_elementwise_affine": false}),
            125_200_896,
            unlearned,
        ),
        variant(defaults::opt(), json!({"do_layer_norm_before": false}), 125_237_760, no_last),
        variant(defaults::opt(), json!({"_remove_final_layer_norm": true}), 125_237_760, no_last),
    ]);
}

#[test]
fn gpt2_takes_the_width_of_its_mlp_and_learns_every_position() {
    let narrow =
        |arch| ModelArch { dense: vec![DenseLayers { layers: 12, width: 2048 }].into(), ..arch };
    let short = |arch| ModelArch { position_rows: 512, max_context: Some(512), ..arch };
    check(&[
        variant(defaults::gpt2(), json!({"n_inner": 2048}), 105_553_152, narrow),
        variant(defaults::gpt2(), json!({"n_positions": 512}), 124_046_592, short),
    ]);
}

#[test]
fn nemotron_takes_heads_of_another_size() {
    let small = |mut arch: ModelArch| {
        let heads = &mut arch.attention.to_mut()[0];
        (heads.head_dim, heads.v_head_dim) = (64, 64);
        with_kv_heads(8, arch)
    };
    let biased = |arch| with_bias(AttentionBias::Qkvo, ModelArch { mlp_bias: true, ..arch });
    let both = json!({"attention_bias": true, "mlp_bias": true});
    check(&[
        variant(
            defaults::nemotron(),
            json!({"head_dim": 64, "num_key_value_heads": 8}),
            14_219_489_280,
            small,
        ),
        variant(defaults::nemotron(), both, 17_643_810_816, biased),
    ]);
}
