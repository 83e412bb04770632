//! The import of config.json files: published files by exact parameter count, and models that must be refused.
//! Broken and hostile text is in `hostile`.

#[path = "model_import/hostile.rs"]
mod hostile;

use std::path::PathBuf;

use calc_core::catalog;
use calc_core::hf_config::{AssumedWhy, Imported, Remark};
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;
use report::model_file::{ModelFileError, assumed_text, parse, remark_text};
use serde_json::{Map, Value, json};

fn fixture(name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "configs", name].iter().collect();
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources() -> Vec<(String, Value)> {
    let sources: Map<String, Value> =
        serde_json::from_str(&fixture("SOURCES.json")).expect("SOURCES.json is an object");
    sources.into_iter().collect()
}

fn names() -> Vec<String> {
    sources().into_iter().map(|(name, _)| name).collect()
}

fn imported(name: &str) -> Imported {
    parse(&fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn refused(text: &str) -> String {
    parse(text).expect_err("must be refused").to_string()
}

/// A fixture with some fields set anew, for rules that no fixture shows.
fn changed(name: &str, changes: &Value) -> Result<Imported, ModelFileError> {
    let mut config: Map<String, Value> =
        serde_json::from_str(&fixture(name)).expect("fixture is an object");
    config.extend(changes.as_object().expect("changes are an object").clone());
    parse(&Value::Object(config).to_string())
}

#[test]
fn every_fixture_has_a_source_and_every_source_a_fixture() {
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "configs"].iter().collect();
    let found = std::fs::read_dir(folder)
        .expect("folder of fixtures")
        .map(|entry| entry.expect("entry").file_name());
    let mut files: Vec<String> =
        found.map(|name| name.into_string().expect("plain name")).collect();
    files.retain(|name| name != "SOURCES.json");
    files.sort();
    assert_eq!(files, names());
    let named = |entry: &Value| entry["source"].as_str().is_some_and(|source| source.len() > 20);
    assert!(sources().iter().all(|(_, entry)| named(entry)));
}

#[test]
fn parameters_are_exactly_those_of_the_source() {
    for (name, source) in sources() {
        let Some(parameters) = source["parameters"].as_u64() else { continue };
        let model = imported(&name);
        assert_eq!(model.arch.n_params(), parameters, "{name}");
        assert_eq!(model.provenance, Provenance::Read, "{name}");
        assert!(model.assumed.iter().all(|field| field.why == AssumedWhy::FamilyDefault), "{name}");
    }
}

/// Files of a derived model (instruct, quantized) beside the catalog model of the same geometry.
const SAME_GEOMETRY: [(&str, &str); 26] = [
    ("DeepSeek-V2-Lite-Chat.json", "deepseek-v2-lite"),
    ("DeepSeek-V3.json", "deepseek-v3"),
    ("Llama-3.2-1B.json", "llama-3.2-1b"),
    ("Meta-Llama-3-8B-Instruct-bnb-nf4.json", "llama-3-8b"),
    ("Meta-Llama-3.1-8B.json", "llama-3.1-8b"),
    ("Mistral-7B-v0.1.json", "mistral-7b-v0.1"),
    ("Mistral-7B-v0.3.json", "mistral-7b-v0.3"),
    ("Mixtral-8x7B-v0.1.json", "mixtral-8x7b"),
    ("Nemotron-Mini-4B-Instruct.json", "nemotron-mini-4b"),
    ("Phi-3-mini-4k-instruct.json", "phi-3-mini-4k"),
    ("Phi-4-mini-instruct.json", "phi-4-mini"),
    ("Qwen2.5-7B-Instruct-GPTQ-Int4.json", "qwen2.5-7b"),
    ("Qwen2.5-7B-Instruct.json", "qwen2.5-7b"),
    ("Qwen3-0.6B.json", "qwen3-0.6b"),
    ("Qwen3-30B-A3B.json", "qwen3-30b-a3b"),
    ("Qwen3-32B-FP8.json", "qwen3-32b"),
    ("Qwen3-VL-4B-Instruct.json", "qwen3-4b"),
    ("SmolLM2-360M-Instruct.json", "smollm2-360m"),
    ("falcon-7b-instruct.json", "falcon-7b"),
    ("gemma-2-27b-it.json", "gemma-2-27b"),
    ("gemma-3-1b-it.json", "gemma-3-1b"),
    ("gemma-3-4b-it.json", "gemma-3-4b"),
    ("gpt-oss-20b.json", "gpt-oss-20b"),
    ("gpt2.json", "gpt2"),
    ("opt-125m.json", "opt-125m"),
    ("phi-2.json", "phi-2"),
];

#[test]
fn a_catalog_model_and_its_file_have_the_same_geometry() {
    for (name, key) in SAME_GEOMETRY {
        let mut arch = imported(name).arch;
        let known = &catalog::model(key).expect("catalog key").arch;
        // Fine-tuned and repacked files may state another context than the model card.
        arch.max_context = known.max_context;
        assert_eq!(&arch, known, "{name}");
    }
}

#[test]
fn a_fixture_of_a_catalog_model_has_its_context_and_formats() {
    for (name, source) in sources() {
        let hf_id = source["hf_id"].as_str().expect("hf_id");
        let (Ok(known), Some(_)) = (catalog::model(hf_id), source["parameters"].as_u64()) else {
            continue;
        };
        let mut model = imported(&name);
        if name == "Llama-2-7b-hf.json" {
            // An early revision, of when the context was thought to be half as long.
            assert_eq!(model.arch.max_context.replace(4096), Some(2048));
        }
        assert_eq!(model.arch, known.arch, "{name}");
        let quantized = name.ends_with("-Int4.json");
        assert!(quantized || model.stored.weights.key == known.stored.weights.key, "{name}");
        assert_eq!(model.stored.experts, known.stored.experts, "{name}");
    }
}

/// File, weights, experts, activations, KV cache, embedding; `-` is left to the rule.
const FORMATS: [(&str, [&str; 5]); 15] = [
    ("Meta-Llama-3.1-8B.json", ["bf16", "-", "-", "-", "-"]),
    ("Llama-2-7b-hf.json", ["fp16", "-", "-", "-", "-"]),
    ("gpt2.json", ["fp32", "-", "-", "-", "-"]),
    ("OLMo-2-1124-7B.json", ["fp32", "-", "-", "-", "-"]),
    ("gemma-3-4b-it.json", ["bf16", "-", "-", "-", "-"]),
    ("Qwen3-VL-4B-Instruct.json", ["bf16", "-", "-", "-", "-"]),
    ("Qwen2.5-7B-Instruct-GPTQ-Int4.json", ["int4_gptq_g128", "-", "-", "-", "fp16"]),
    ("Qwen2.5-72B-Instruct-AWQ.json", ["int4_gptq_g128", "-", "-", "-", "fp16"]),
    ("Meta-Llama-3-8B-Instruct-bnb-nf4.json", ["nf4_dq", "-", "-", "-", "bf16"]),
    ("Qwen3-32B-FP8.json", ["fp8_e4m3", "-", "fp8_e4m3", "-", "bf16"]),
    ("Qwen3-32B-FP8-Static-PerTensor.json", ["fp8_e4m3", "-", "fp8_e4m3", "fp8_e4m3", "bf16"]),
    ("DeepSeek-V3.json", ["fp8_e4m3", "-", "fp8_e4m3", "-", "bf16"]),
    ("gpt-oss-20b.json", ["bf16", "mxfp4", "-", "-", "bf16"]),
    ("Kimi-K2.5.json", ["bf16", "gguf_q4_0", "-", "-", "bf16"]),
    ("Kimi-K2.5-NVFP4.json", ["bf16", "nvfp4", "nvfp4", "fp8_e4m3", "bf16"]),
];

#[test]
fn weights_are_in_the_format_of_the_quantizer_and_the_rest_in_torch_dtype() {
    for (name, expected) in FORMATS {
        let stored = imported(name).stored;
        let key = |format: Option<&'static QuantFormat>| format.map_or("-", |f| f.key);
        let roles = [
            Some(stored.weights),
            stored.experts,
            stored.activations,
            stored.kv_cache,
            stored.embedding,
        ];
        assert_eq!(roles.map(key), expected, "{name}");
    }
}

/// A `quantization_config` on a BF16 file: weights, activations, KV cache.
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
        let model = changed("Meta-Llama-3.1-8B.json", &json!({"quantization_config": config}));
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
fn what_an_import_leaves_out_is_said() {
    let kimi = imported("Kimi-K2.5.json");
    let rounded = kimi.remarks.iter().find(|remark| matches!(remark, Remark::FormatRounded { .. }));
    let text = remark_text(rounded.expect("no format has groups of 32 with 16-bit scales"));
    assert_eq!(
        text,
        "4 bits with groups of 32 have no format of their own; gguf_q4_0 stands for them"
    );
    assert!(imported("Kimi-K2.5-NVFP4.json").remarks.contains(&Remark::SharedMlpQuantized));
    assert!(imported("gemma-3-4b-it.json").remarks.contains(&Remark::TowersNotCounted));
    assert!(
        imported("DeepSeek-V3.json").remarks.contains(&Remark::DraftLayersNotCounted { layers: 1 })
    );
    assert_eq!(imported("Qwen3-0.6B.json").remarks, []);
}

#[test]
fn absent_fields_take_the_default_of_the_family_and_are_listed() {
    let mistral = imported("Mistral-7B-v0.1.json");
    assert_eq!((mistral.arch.attention.window, mistral.arch.attention.windowed_layers), (4096, 32));
    let listed: Vec<String> = mistral.assumed.iter().map(assumed_text).collect();
    assert_eq!(listed, ["sliding_window = 4096 (default of the family)"]);
    let gemma = imported("gemma-3-4b-it.json");
    let listed: Vec<&str> = gemma.assumed.iter().map(|field| field.field).collect();
    for field in [
        "vocab_size",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "tie_word_embeddings",
    ] {
        assert!(listed.contains(&field), "{field} is not in {listed:?}");
    }
    assert_eq!(imported("falcon-7b-instruct.json").arch.attention.n_kv_heads, 1);
}

#[test]
fn an_unknown_architecture_is_a_guess_with_a_list() {
    for name in ["aya-23-8B.json", "chatglm3-6b.json"] {
        let model = imported(name);
        assert_eq!((model.provenance, model.family), (Provenance::Assumed, None), "{name}");
        assert!(model.assumed.iter().all(|field| field.why == AssumedWhy::Guessed), "{name}");
        let listed: Vec<&str> = model.assumed.iter().map(|field| field.field).collect();
        for field in ["kind of MLP", "kind of norm", "order of a layer", "tie_word_embeddings"] {
            let given = field == "tie_word_embeddings" && name.starts_with("chatglm");
            assert!(given || listed.contains(&field), "{name}: {field} is not in {listed:?}");
        }
    }
    // ChatGLM3-6B really has 6 243 584 000; Aya 23 8B ties its embeddings, which its file leaves out.
    assert_eq!(imported("chatglm3-6b.json").arch.n_params(), 6_243_584_000);
    assert_eq!(imported("aya-23-8B.json").arch.n_params(), 9_076_740_096);
}

/// Rules that no fixture shows: changes to a fixture that give another published model, and its parameter count.
#[test]
fn family_rules_give_the_counts_of_other_published_models() {
    let cases = [
        // Falcon-40B: the new architecture has two norms per layer and its own count of KV heads.
        (
            "falcon-7b-instruct.json",
            json!({"hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8,
                   "new_decoder_architecture": true}),
            41_303_293_952_u64,
        ),
        // The same by its first name, which has no such field.
        (
            "falcon-7b-instruct.json",
            json!({"hidden_size": 8192, "num_attention_heads": null, "n_head": 128, "num_hidden_layers": null,
                   "n_layer": 60, "num_kv_heads": null, "n_head_kv": 8, "new_decoder_architecture": null,
                   "model_type": "RefinedWeb"}),
            41_303_293_952,
        ),
        // Falcon-RW-1B: biases, no shared keys and values, attention before MLP.
        (
            "falcon-7b-instruct.json",
            json!({"hidden_size": 2048, "num_attention_heads": 32, "num_hidden_layers": 24, "vocab_size": 50304,
                   "multi_query": false, "parallel_attn": false, "bias": true}),
            1_311_625_216,
        ),
        // Pythia-6.9B.
        (
            "RedPajama-INCITE-Base-3B-v1.json",
            json!({"hidden_size": 4096, "intermediate_size": 16384}),
            6_857_302_016,
        ),
        // Phi-1 and Phi-1.5.
        (
            "phi-2.json",
            json!({"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24,
                   "num_key_value_heads": null}),
            1_418_270_720,
        ),
        // SmolLM3-3B: tied unless the file says otherwise.
        (
            "SmolLM2-360M-Instruct.json",
            json!({"model_type": "smollm3", "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
                   "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 128_256,
                   "tie_word_embeddings": null}),
            3_075_098_624,
        ),
    ];
    for (name, changes, parameters) in cases {
        let model = changed(name, &changes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(model.arch.n_params(), parameters, "{name} with {changes}");
    }
}

#[test]
fn a_window_counts_only_where_it_is_switched_on() {
    let windowed = |changes: Value| {
        let attention =
            changed("Qwen2.5-7B-Instruct.json", &changes).expect("valid").arch.attention;
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

/// What a file must say to be refused, and what the message must hold.
#[test]
fn refusals_say_what_is_wrong_and_what_is_allowed() {
    for (name, words) in [
        ("tiny-random-ViTForImageClassification.json", ["`vit` is an image model", "decoder-only"]),
        ("snowflake-arctic-embed-m.json", ["`bert` is an encoder", "decoder-only"]),
        ("whisper-tiny.json", ["`whisper` is an encoder with a decoder", "decoder-only"]),
        ("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.json", ["nemotron_h", "nemotron-3-nano-30b-a3b"]),
        ("DeepSeek-V3.2.json", ["deepseek_v32", "deepseek-v3"]),
    ] {
        let message = refused(&fixture(name));
        assert!(words.iter().all(|word| message.contains(word)), "{name}: {message}");
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
        (json!({"hidden_size": 4097}), ["not a multiple of num_attention_heads (32)", "head_dim"]),
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
        let message =
            changed("Meta-Llama-3.1-8B.json", &changes).expect_err("must be refused").to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{changes}: {message}");
    }
}
