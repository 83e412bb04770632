//! The default configuration of each class, field by field, and the model built from it.

use calc_core::model_arch::{AttentionBias, GgufLayout, ModelArch, NormKind, QkNorm};
use serde_json::{Value, json};

use super::{difference, fields, gpt_like, llama_like, parse};

/// Documented defaults of a class as a file, the model built from it, and its parameters counted by torch.
pub(super) struct Default {
    pub(super) file: Value,
    pub(super) arch: ModelArch,
    pub(super) params: u64,
}

fn all() -> [Default; 12] {
    [
        gpt_neox(),
        stablelm(),
        starcoder2(),
        olmo(),
        olmo2(),
        granite(),
        gemma(),
        phi(),
        falcon(),
        opt(),
        gpt2(),
        nemotron(),
    ]
}

pub(super) fn gpt_neox() -> Default {
    let file = json!({
        "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "torch_dtype": "float16",
        "vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
        "intermediate_size": 24576, "hidden_act": "gelu", "max_position_embeddings": 2048, "layer_norm_eps": 1e-5,
        "rotary_pct": 0.25, "tie_word_embeddings": false, "use_parallel_residual": true, "attention_bias": true,
    });
    let arch = ModelArch {
        gguf: GgufLayout::FusedQkv,
        ..gpt_like([6144, 44, 50_432, 64, 64, 96, 24_576], 2048)
    };
    Default { file, arch, params: 20_554_567_680 }
}

pub(super) fn stablelm() -> Default {
    let file = json!({
        "model_type": "stablelm", "architectures": ["StableLmForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 50304, "intermediate_size": 6912, "hidden_size": 2560, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_act": "silu", "max_position_embeddings": 4096,
        "layer_norm_eps": 1e-5, "tie_word_embeddings": false, "use_qkv_bias": false, "qk_layernorm": false,
        "use_parallel_residual": false, "partial_rotary_factor": 0.25,
    });
    let mut arch = llama_like([2560, 32, 50_304, 32, 32, 80, 6912], 4096);
    arch.norm = NormKind::LayerNorm;
    Default { file, arch, params: 2_795_443_200 }
}

pub(super) fn starcoder2() -> Default {
    let file = json!({
        "model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 49152, "hidden_size": 3072, "intermediate_size": 12288, "num_hidden_layers": 30,
        "num_attention_heads": 24, "num_key_value_heads": 2, "hidden_act": "gelu_pytorch_tanh",
        "max_position_embeddings": 4096, "norm_epsilon": 1e-5, "sliding_window": null, "use_bias": true,
        "tie_word_embeddings": true,
    });
    let mut arch = gpt_like([3072, 30, 49_152, 24, 2, 128, 12_288], 4096);
    arch.tied_embeddings = true;
    Default { file, arch, params: 3_030_371_328 }
}

pub(super) fn olmo() -> Default {
    let file = json!({
        "model_type": "olmo", "architectures": ["OlmoForCausalLM"], "torch_dtype": "float32",
        "vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": null, "hidden_act": "silu",
        "max_position_embeddings": 2048, "tie_word_embeddings": false, "attention_bias": false, "clip_qkv": null,
    });
    let mut arch = llama_like([4096, 32, 50_304, 32, 32, 128, 11_008], 2048);
    arch.norm = NormKind::NoParameters;
    Default { file, arch, params: 6_888_095_744 }
}

pub(super) fn olmo2() -> Default {
    let file = json!({
        "model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": null, "hidden_act": "silu",
        "max_position_embeddings": 2048, "tie_word_embeddings": false, "attention_bias": false, "rms_norm_eps": 1e-5,
    });
    let mut arch = llama_like([4096, 32, 50_304, 32, 32, 128, 11_008], 2048);
    arch.attention.to_mut()[0].qk_norm = QkNorm::Projection;
    Default { file, arch, params: 6_888_624_128 }
}

pub(super) fn granite() -> Default {
    let file = json!({
        "model_type": "granite", "architectures": ["GraniteForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": null, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "tie_word_embeddings": false, "attention_bias": false,
        "mlp_bias": false, "embedding_multiplier": 1.0, "logits_scaling": 1.0, "residual_multiplier": 1.0,
        "attention_multiplier": 1.0,
    });
    let arch = llama_like([4096, 32, 32_000, 32, 32, 128, 11_008], 2048);
    Default { file, arch, params: 6_738_415_616 }
}

/// Sixteen heads of 256 are wider than the hidden size of 3072.
pub(super) fn gemma() -> Default {
    let file = json!({
        "model_type": "gemma", "architectures": ["GemmaForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 256_000, "hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "tie_word_embeddings": true, "attention_bias": false,
    });
    let mut arch = llama_like([3072, 28, 256_000, 16, 16, 256, 24_576], 8192);
    arch.tied_embeddings = true;
    Default { file, arch, params: 8_537_680_896 }
}

pub(super) fn phi() -> Default {
    let file = json!({
        "model_type": "phi", "architectures": ["PhiForCausalLM"], "torch_dtype": "float16",
        "vocab_size": 51200, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24,
        "num_attention_heads": 32, "num_key_value_heads": null, "hidden_act": "gelu_new",
        "max_position_embeddings": 2048, "layer_norm_eps": 1e-5, "tie_word_embeddings": false, "qk_layernorm": false,
        "partial_rotary_factor": 0.5,
    });
    let arch = ModelArch {
        gguf: GgufLayout::FusedQkv,
        ..gpt_like([2048, 24, 51_200, 32, 32, 64, 8192], 2048)
    };
    let arch = ModelArch { add_norms: 24, lm_head_bias: true, ..arch };
    Default { file, arch, params: 1_418_270_720 }
}

/// Queries share one key and one value head, and attention and MLP one norm.
pub(super) fn falcon() -> Default {
    let file = json!({
        "model_type": "falcon", "architectures": ["FalconForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 65024, "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
        "num_ln_in_parallel_attn": null, "layer_norm_epsilon": 1e-5, "num_kv_heads": 71, "alibi": false,
        "new_decoder_architecture": false, "multi_query": true, "parallel_attn": true, "bias": false,
        "max_position_embeddings": 2048, "ffn_hidden_size": 18176, "activation": "gelu", "tie_word_embeddings": true,
    });
    let mut arch = ModelArch {
        gguf: GgufLayout::Falcon,
        ..gpt_like([4544, 32, 65_024, 71, 1, 64, 18_176], 2048)
    };
    arch.attention.to_mut()[0].bias = AttentionBias::None;
    let arch = ModelArch { add_norms: 32, mlp_bias: false, tied_embeddings: true, ..arch };
    Default { file, arch, params: 6_921_720_704 }
}

/// Positions are numbered from 2.
pub(super) fn opt() -> Default {
    let file = json!({
        "model_type": "opt", "architectures": ["OPTForCausalLM"], "torch_dtype": "float16",
        "vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
        "max_position_embeddings": 2048, "do_layer_norm_before": true, "_remove_final_layer_norm": false,
        "word_embed_proj_dim": 768, "num_attention_heads": 12, "activation_function": "relu", "enable_bias": true,
        "layer_norm_elementwise_affine": true, "tie_word_embeddings": true,
    });
    let arch = gpt_like([768, 12, 50_272, 12, 12, 64, 3072], 2048);
    let arch = ModelArch { tied_embeddings: true, position_rows: 2050, ..arch };
    Default { file, arch, params: 125_239_296 }
}

pub(super) fn gpt2() -> Default {
    let file = json!({
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "torch_dtype": "float32",
        "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": null,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": true,
    });
    let arch = ModelArch {
        gguf: GgufLayout::FusedQkv,
        ..gpt_like([768, 12, 50_257, 12, 12, 64, 3072], 1024)
    };
    let arch = ModelArch { tied_embeddings: true, position_rows: 1024, ..arch };
    Default { file, arch, params: 124_439_808 }
}

/// The class cannot be built with its own default of `num_key_value_heads`, null; here it equals the number of heads.
pub(super) fn nemotron() -> Default {
    let file = json!({
        "model_type": "nemotron", "architectures": ["NemotronForCausalLM"], "torch_dtype": "bfloat16",
        "vocab_size": 256_000, "hidden_size": 6144, "intermediate_size": 24576, "num_hidden_layers": 32,
        "num_attention_heads": 48, "head_dim": null, "num_key_value_heads": 48, "hidden_act": "relu2",
        "max_position_embeddings": 4096, "norm_eps": 1e-5, "tie_word_embeddings": false, "attention_bias": false,
        "mlp_bias": false, "partial_rotary_factor": 0.5,
    });
    let mut arch = gpt_like([6144, 32, 256_000, 48, 48, 128, 24_576], 4096);
    arch.attention.to_mut()[0].bias = AttentionBias::None;
    Default { file, arch: ModelArch { mlp_bias: false, ..arch }, params: 17_642_041_344 }
}

#[test]
fn the_default_of_each_class_has_its_geometry_and_its_parameters() {
    let wrong: Vec<String> = all()
        .iter()
        .filter_map(|case| {
            let found = difference(parse(&case.file.to_string()), &case.arch, case.params);
            found.map(|text| format!("{}: {text}", case.file["model_type"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Required sizes; every other field may be left out.
const NEEDED: [&str; 9] = [
    "vocab_size",
    "hidden_size",
    "n_embd",
    "num_hidden_layers",
    "n_layer",
    "num_attention_heads",
    "n_head",
    "intermediate_size",
    "ffn_dim",
];

#[test]
fn a_field_left_out_is_the_default_of_its_class_or_asked_for() {
    let mut wrong = Vec::new();
    for case in all() {
        for field in fields(&case.file).keys() {
            let mut config = fields(&case.file);
            config.remove(field);
            let found = match parse(&Value::Object(config).to_string()) {
                Err(error) if NEEDED.contains(&&**field) => {
                    assert!(error.to_string().contains("is missing"), "{error}");
                    continue;
                }
                // Classes without a limit of their own leave the context unknown.
                Ok(mut model) if field.ends_with("positions") || field.starts_with("max_pos") => {
                    model.arch.max_context = case.arch.max_context;
                    Ok(model)
                }
                other => other,
            };
            let found = difference(found, &case.arch, case.params);
            wrong.extend(
                found.map(|text| format!("{} without {field}: {text}", case.file["model_type"])),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
