//! Lists of the wrong length, sizes that a file leaves out, and guesses: refused, or said before all else.

use calc_core::hf_config::{AssumedWhy, Remark, Unread};
use report::input::model_file::{first_notes, parse};
use report::input::named_model::NamedModel;
use serde_json::{Value, json};

use super::{changed, fixture};

fn refused_by(changes: &Value) -> String {
    changed("qwen3-8b", changes).expect_err("refused").to_string()
}

#[test]
fn a_list_of_kinds_has_an_entry_for_each_layer() {
    for (key, list) in [
        ("layer_types", json!(["full_attention", "full_attention", "full_attention"])),
        ("mlp_layer_types", json!(["sparse"])),
        ("attn_type_list", json!([1, 1])),
    ] {
        let message = refused_by(&json!({ key: list }));
        let entries = list.as_array().map_or(0, Vec::len);
        let expected = format!("{key} must have one entry for each of 36 layers; got {entries}");
        assert_eq!(message, expected);
    }
    let kinds = vec!["linear_attention"; 36];
    let message = refused_by(&json!({ "layer_types": kinds }));
    assert!(message.contains("of a kind that is not modeled"), "{message}");
}

#[test]
fn sizes_that_are_left_out_and_guesses_come_first_and_by_name() {
    let whole = json!({"model_type": "qwen3_moe", "num_hidden_layers": 48, "num_attention_heads": 32,
                       "torch_dtype": "bfloat16"});
    let model = parse(&whole.to_string()).expect("the defaults of the class");
    let sizes = model.assumed.iter().take_while(|field| field.why == AssumedWhy::ClassSize);
    let names: Vec<&str> = sizes.map(|field| &*field.field).collect();
    assert_eq!(names[..3], ["hidden_size", "vocab_size", "num_key_value_heads"]);
    let notes = first_notes("config.json (qwen3_moe)", &model.assumed);
    assert!(
        notes[0].contains("does not state hidden_size (2048), vocab_size (151936)"),
        "{notes:?}"
    );

    let novel = json!({"model_type": "novel", "architectures": ["NovelForCausalLM"], "hyper_sparse_ratio": 4, "temperature": 1.0});
    let model = changed("llama-3.1-8b", &novel).expect("a guess");
    let notes = first_notes("config.json (novel)", &model.assumed);
    assert!(notes[0].contains("(novel) is of no family"), "{notes:?}");
    assert!(notes[0].ends_with("not read: hyper_sparse_ratio = 4"), "{notes:?}");
    assert_eq!(
        first_notes("", &changed("llama-3.1-8b", &json!({})).expect("known").assumed),
        [""; 0]
    );
}

#[test]
fn a_name_that_says_a_format_which_the_file_does_not_is_a_remark() {
    let said = |path: &str, changes: &Value| {
        let mut file: Value = serde_json::from_str(&fixture("llama-3.1-8b")).expect("JSON");
        file["quantization_config"] = changes.clone();
        let model = NamedModel::from_file(path, &file.to_string(), Unread::Refuse).expect(path);
        model.remarks.iter().find_map(|remark| match remark {
            Remark::NameSaysFormat { said, taken } => Some((said.key, taken.key)),
            _ => None,
        })
    };
    for (path, format) in [
        ("DeepSeek-V3.1-NVFP4/config.json", Some("nvfp4")),
        ("nvidia--DeepSeek-V3.1-NVFP4_config.json", Some("nvfp4")),
        ("Llama-3.1-70B-Instruct-FP8/config.json", Some("fp8_e4m3")),
        ("Qwen3-8B-AWQ/config.json", Some("int4_gptq_g128")),
        ("Qwen2.5-7B-Instruct-GPTQ-Int4/config.json", Some("int4_gptq_g128")),
        ("Nemotron-3-Nano-30B-A3B-BF16/config.json", None),
        ("NVFP4/of/another/config.json", None),
        ("config.json", None),
    ] {
        let expected = format.map(|format| (format, "bf16"));
        assert_eq!(said(path, &Value::Null), expected, "{path}");
        let quantized = json!({"quant_method": "gptq", "bits": 4, "group_size": 128});
        assert_eq!(said(path, &quantized), None, "{path}");
    }
}
