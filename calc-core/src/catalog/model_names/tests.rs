//! Tests of names that people write for models: each means one row, with the format that the name says.

use super::*;

#[test]
fn every_name_means_one_row() {
    for model in models::all() {
        for name in published_as(model) {
            let found = find(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((found.model.key, found.exact), (model.key, true), "{name}");
        }
        let words = Name::of(model.key).words;
        for other in models::all().filter(|other| other.key != model.key) {
            assert!(published_as(other).all(|name| Name::of(name).words != words), "{}", model.key);
        }
    }
}

#[test]
fn published_names_resolve_to_their_row_and_format() {
    for (name, key, format) in [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", None),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b", None),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3", None),
        ("openai/gpt-oss-120b", "gpt-oss-120b", None),
        ("google/gemma-2-9b-it", "gemma-2-9b", None),
        ("microsoft/phi-4", "phi-4", None),
        ("deepseek-ai/DeepSeek-V3", "deepseek-v3", None),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3", None),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70b", None),
        ("https://huggingface.co/Qwen/Qwen3-8B", "qwen3-8b", None),
        ("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b", Some("int4_gptq_g128")),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "qwen2.5-7b", Some("int4_gptq_g128")),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "qwen2.5-7b", Some("int8_g128")),
        ("Qwen/Qwen3-8B-FP8", "qwen3-8b", Some("fp8_block128")),
        ("qwen3-8b-fp8", "qwen3-8b", Some("fp8_block128")),
        ("RedHatAI/Qwen3-8B-FP8-dynamic", "qwen3-8b", Some("fp8_e4m3")),
        ("neuralmagic/Meta-Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b", Some("fp8_e4m3")),
        (
            "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16",
            "llama-3.1-8b",
            Some("int4_g128_sym"),
        ),
        ("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b", Some("nf4")),
        ("unsloth/Qwen3-30B-A3B-GGUF", "qwen3-30b-a3b", Some("gguf_q4_k")),
        ("unsloth/gpt-oss-20b-GGUF", "gpt-oss-20b", Some("gguf_mxfp4")),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q6_K_L", "llama-3.2-3b", Some("gguf_q6_k")),
        ("bartowski/Qwen_Qwen3-8B-GGUF:IQ4_XS", "qwen3-8b", Some("gguf_iq4_xs")),
        ("llama3.1:8b", "llama-3.1-8b", Some("gguf_q4_k")),
        ("llama3.1:8b-instruct-q8_0", "llama-3.1-8b", Some("gguf_q8_0")),
        ("gemma2:9b", "gemma-2-9b", Some("gguf_q4_k")),
        ("gpt-oss:20b", "gpt-oss-20b", Some("gguf_mxfp4")),
        ("unsloth/gpt-oss-20b-GGUF:Q8_0", "gpt-oss-20b", Some("gguf_mxfp4")),
        ("phi4", "phi-4", None),
        ("llama3.1:8b-instruct-fp16", "llama-3.1-8b", Some("fp16")),
        ("unsloth/Qwen3-8B-GGUF:BF16", "qwen3-8b", Some("bf16")),
        ("bartowski/Qwen_Qwen3-8B-GGUF:Q4_K_L", "qwen3-8b", Some("gguf_q4_k")),
        ("bartowski/Qwen_Qwen3-8B-GGUF:Q3_K_L", "qwen3-8b", Some("gguf_q3_k_l")),
        ("gemma3:27b-it-qat", "gemma-3-27b", Some("gguf_q4_0")),
        ("nvidia/Llama-3.1-8B-Instruct-NVFP4", "llama-3.1-8b", Some("nvfp4")),
        ("nvidia/Llama-3.1-8B-Instruct-FP4", "llama-3.1-8b", Some("nvfp4")),
        ("amd/Llama-3.1-8B-Instruct-MXFP4", "llama-3.1-8b", Some("mxfp4")),
    ] {
        let found = find(name).unwrap_or_else(|| panic!("{name}"));
        let weights = found.format.map(|choice| choice.weights.key);
        assert_eq!((found.model.key, weights), (key, format), "{name}");
    }
}

#[test]
fn models_of_2025_and_2026_are_found_as_people_write_them() {
    let q4 = Some("gguf_q4_k");
    for (name, key, format) in [
        ("qwen3 coder 30b", "qwen3-coder-30b-a3b", None),
        ("qwen3-coder", "qwen3-coder-30b-a3b", None),
        ("qwen3-coder:30b", "qwen3-coder-30b-a3b", q4),
        ("qwen3-coder:480b", "qwen3-coder-480b-a35b", q4),
        ("unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF", "qwen3-coder-30b-a3b", q4),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8", "qwen3-coder-30b-a3b", Some("fp8_block128")),
        ("Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b-2507", None),
        ("unsloth/Qwen3-4B-Thinking-2507-GGUF:Q8_0", "qwen3-4b-2507", Some("gguf_q8_0")),
        ("qwen3 next 80b", "qwen3-next-80b-a3b", None),
        ("qwen3-coder-next", "qwen3-next-80b-a3b", None),
        ("qwen3-vl:8b", "qwen3-vl-8b", q4),
        ("qwen2.5vl:7b", "qwen2.5-vl-7b", q4),
        ("qwen3.5 9b", "qwen3.5-9b", None),
        ("qwen3.6 27b", "qwen3.5-27b", None),
        ("glm 4.5 air", "glm-4.5-air", None),
        ("GLM-4.5-Air-106B", "glm-4.5-air", None),
        ("unsloth/GLM-4.5-Air-GGUF:Q4_K_M", "glm-4.5-air", q4),
        ("zai-org/GLM-4.5-Air-FP8", "glm-4.5-air", Some("fp8_e4m3")),
        ("glm 4.7 flash", "glm-4.7-flash", None),
        ("glm 4.6", "glm-4.7", None),
        ("devstral:24b", "devstral-small-24b", q4),
        ("devstral", "devstral-small-24b", None),
        ("devstral small", "devstral-small-24b", None),
        ("devstral-small-2:24b", "devstral-small-2-24b", q4),
        ("devstral-2:123b", "devstral-2-123b", q4),
        ("mistral small 3.2", "mistral-small-3.2-24b", None),
        ("mistral-small3.2:24b", "mistral-small-3.2-24b", q4),
        ("magistral:24b", "magistral-small-24b", q4),
        ("mistral-nemo:12b", "mistral-nemo-12b", q4),
        ("ministral-3:8b", "ministral-3-8b", q4),
        ("gemma3n:e4b", "gemma-3n-e4b", q4),
        ("gemma 4 e4b", "gemma-4-e4b", None),
        ("gemma3:270m", "gemma-3-270m", q4),
        ("smollm3", "smollm3-3b", None),
        ("granite4:small-h", "granite-4.0-h-small", q4),
        ("kimi k2", "kimi-k2", None),
        ("kimi k2.5", "kimi-k2.5", None),
        ("minimax m2", "minimax-m2", None),
        ("step 3.5 flash", "step-3.5-flash", None),
        ("nemotron nano 9b v2", "nemotron-nano-9b-v2", None),
        ("seed-oss-36b", "seed-oss-36b", None),
        ("lfm2:8b-a1b", "lfm2-8b-a1b", q4),
    ] {
        let found = find(name).unwrap_or_else(|| panic!("{name}"));
        let weights = found.format.map(|choice| choice.weights.key);
        assert_eq!((found.model.key, weights), (key, format), "{name}");
    }
}

#[test]
fn active_parameters_may_be_left_out() {
    let q4 = Some("gguf_q4_k");
    for (name, key, format) in [
        ("gemma 4 26b", "gemma-4-26b-a4b", None),
        ("gemma4:26b", "gemma-4-26b-a4b", q4),
        ("Qwen3.5-35B", "qwen3.5-35b-a3b", None),
        ("qwen3.5:35b", "qwen3.5-35b-a3b", q4),
        ("Qwen/Qwen3-235B-GGUF:Q4_K_M", "qwen3-235b-a22b", q4),
    ] {
        let found = find(name).unwrap_or_else(|| panic!("{name}"));
        let weights = found.format.map(|choice| choice.weights.key);
        assert_eq!((found.model.key, weights), (key, format), "{name}");
    }
    for name in ["qwen3.5", "qwen3.5 36b", "gemma 4 a4b"] {
        assert!(find(name).is_none(), "{name}");
    }
}

#[test]
fn models_of_another_geometry_or_of_unknown_size_are_not_taken_for_their_relatives() {
    for name in [
        "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
        "Qwen/Qwen2.5-7B-Instruct-1M",
        "Qwen/Qwen2.5-VL-9B-Instruct",
        "qwen3-coder:31b",
        "mistralai/Mistral-7B-Instruct-v0.2",
        "meta-llama/Llama-3.1-9B",
        "mine/Llama-3.1-8B-pruned",
        "GGUF",
        "",
        "/",
        "a/b/Llama-3.1-8B",
        "bartowski/Llama-3.2-3B-Instruct-GGUF:IQ3_M",
        "unsloth/Qwen3-8B-GGUF:UD-Q2_K_XL",
    ] {
        assert_eq!(find(name).map(|found| found.model.key), None, "{name}");
    }
}

#[test]
fn a_name_means_weights_of_its_own_variant() {
    for (name, original_id) in [
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("llama3.1:8b", "meta-llama/Llama-3.1-8B-Instruct"),
        ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q6_K", "meta-llama/Llama-3.1-8B-Instruct"),
        ("TheBloke/Llama-2-13B-chat-AWQ", "meta-llama/Llama-2-13b-chat-hf"),
        ("deepseek-r1", "deepseek-ai/DeepSeek-R1"),
        ("deepseek-r1:671b", "deepseek-ai/DeepSeek-R1"),
        ("deepseek-v3", "deepseek-ai/DeepSeek-V3"),
        ("gemma3:12b", "google/gemma-3-12b-it"),
        ("openai/gpt-oss-20b", "openai/gpt-oss-20b"),
    ] {
        let found = find(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(original(name, found.model), original_id, "{name}");
    }
    for model in models::all() {
        assert_eq!(original(model.key, model), model.hf_id);
        assert_eq!(original(model.hf_id, model), model.hf_id);
    }
}
