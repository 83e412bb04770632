//! Weight files: their headers as a model with exact bytes, and one line for each mistake.

use std::fs::{self, OpenOptions};

use serde_json::{Value, json};

use crate::run::{Folder, answer, line};

#[path = "../../../calc-core/weights/tests/written/mod.rs"]
mod written;

use written::{Gguf, Key, Written, safetensors, small_llama};

/// Bytes of all tensors of `small_llama`: see the sums of the crate `weights`.
const SMALL_LLAMA: u64 = 34_816 + 65_536 + 14_336 + 5 * 256 + 2 * (2 * 9216 + 9216);

/// Writes a header, and as many zeros after it as it has data.
fn store(folder: &Folder, name: &str, written: &Written) -> String {
    folder.file(name, &written.start);
    let path = folder.path(name);
    let file = OpenOptions::new().write(true).open(&path).expect("the file");
    file.set_len(written.file_bytes).expect("zeros take no space");
    path
}

/// Writes a small GGUF file and returns its path.
pub(crate) fn small_gguf(folder: &Folder) -> String {
    store(folder, "small.gguf", &small_llama().write())
}

fn json_of(words: &str) -> Value {
    serde_json::from_str(&answer(&format!("{words} -o json"))).expect("JSON")
}

fn estimate(model: &str) -> String {
    format!("estimate --hardware l4 --model {model} --batch 1 --prompt 64")
}

fn refused(words: &str, expected: &str) {
    let ended = line(words);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}: {}", ended.stderr);
    let is_one_line = ended.stderr.lines().count() == 1;
    assert!(is_one_line && ended.stderr.contains(expected), "{words}: {}", ended.stderr);
}

/// Weights on the card, and the embedding that llama.cpp keeps beside it.
fn stored(memory: &Value) -> f64 {
    memory["weights"].as_f64().expect("a number") + memory["tables_on_host"].as_f64().unwrap_or(0.0)
}

#[test]
fn the_memory_of_a_gguf_file_is_that_of_its_tensors() {
    let folder = Folder::new();
    let path = store(&folder, "small.gguf", &small_llama().write());
    let found = json_of(&format!("inspect {path} --tensors"));
    assert_eq!(found["bytes"], SMALL_LLAMA);
    assert_eq!(found["geometry_parameters"], found["parameters"]);
    assert_eq!(found["tensor_list"].as_array().map(Vec::len), Some(21));
    let in_file = &json_of(&estimate(&path))["memory"];
    assert_eq!(stored(in_file).to_bits(), (SMALL_LLAMA as f64).to_bits(), "{in_file}");
    let other = &json_of(&format!("{} --weights fp16", estimate(&path)))["memory"];
    let halves = 2.0 * found["parameters"].as_f64().expect("a number");
    assert!(stored(other) >= halves, "{other}");
    let shown = answer(&format!("models {path}"));
    assert!(shown.contains("weights      171") && shown.contains("in the files"), "{shown}");
    let listed = answer(&format!("inspect {path} --tensors"));
    let down = listed.lines().find(|line| line.starts_with("blk.1.ffn_down.weight "));
    let has = |part: &str| down.is_some_and(|line| line.contains(part));
    assert!(has(" mlp ") && has(" 64 x 256 ") && has(" Q4_K "), "{listed}");
}

#[test]
fn every_verb_takes_the_bytes_of_the_parts_in_the_file() {
    let folder = Folder::new();
    let path = store(&folder, "small.gguf", &small_llama().write());
    let found = json_of(&format!("inspect {path}"));
    let of = |role: &str| {
        let roles = found["roles"].as_array().expect("a list");
        let row = roles.iter().find(|row| row["role"] == role);
        row.and_then(|row| row["bytes"].as_f64()).unwrap_or(0.0)
    };
    let step = json_of(&estimate(&path));
    // A step reads one of 512 rows of the embedding and all other matrices. Vectors have the factor of their layers, 1 % of so
    // small a model.
    let row = of("embedding") / 512.0;
    let read = step["decode"]["bytes_by_role"]["weights"].as_f64().expect("a number");
    let all = SMALL_LLAMA as f64 - of("embedding") - of("norms") + row;
    assert!((read / all - 1.0).abs() < 0.01, "{read} of {all}");
    let ranked = json_of(&format!(
        "recommend --hardware l4 --model {path} --batch 1 --prompt 64 --max-quality-loss 99"
    ));
    let rows = ranked["ranked"].as_array().expect("a list");
    let own = rows.iter().find(|row| row["scheme"]["key"] == "as_published").expect("the file");
    assert_eq!(own["memory_bytes"], step["memory"]["total"]);
    let drafted = json_of(&format!(
        "estimate --hardware l4 --model llama-3.1-8b --draft-model {path} --draft-tokens 3 --acceptance 0.5 --batch 1 --prompt 64"
    ));
    let without_table = SMALL_LLAMA as f64 - of("embedding");
    assert_eq!(drafted["memory"]["draft"]["weights"].as_f64(), Some(without_table));
}

#[test]
fn a_header_of_a_large_file_is_enough() {
    let folder = Folder::new();
    let large = small_llama().tensor("blk.0.ffn_up_exps.weight", &[640, 4096, 2048], "Q8_0");
    let path = store(&folder, "large.gguf", &large.write());
    assert!(fs::metadata(&path).expect("the file").len() > 5_000_000_000);
    let found = json_of(&format!("inspect {path}"));
    assert!(
        found["notes"]
            .to_string()
            .contains("weights of the language model, and the geometry gives")
    );
}

#[test]
fn any_part_stands_for_a_split_file_and_a_tower_has_the_bytes_of_its_file() {
    let folder = Folder::new();
    let whole = small_llama();
    for place in 0..2_usize {
        let keys = if place == 0 { whole.keys.clone() } else { Vec::new() };
        let tensors = whole.tensors.iter().skip(place * 11).take(11).cloned().collect();
        let part = Gguf { keys, tensors, ..whole.clone() };
        let number = u32::try_from(place).expect("a small number");
        let part = part.counts(&[("split.no", number), ("split.count", 2)]);
        store(&folder, &format!("both/m-0000{}-of-00002.gguf", place + 1), &part.write());
    }
    let towers = Gguf::new("clip").tensor("v.blk.0.attn_q.weight", &[64, 64], "F16");
    store(&folder, "both/mmproj-f16.gguf", &towers.write());
    let of_part = json_of(&format!("inspect {}", folder.path("both/m-00002-of-00002.gguf")));
    assert_eq!(of_part["bytes"], SMALL_LLAMA);
    let of_folder = json_of(&format!("models {}", folder.path("both")));
    assert_eq!(of_folder["weight_bytes"]["language_model"].as_f64(), Some(SMALL_LLAMA as f64));
    assert_eq!(of_folder["weight_bytes"]["towers"], 8192.0);
    let memory = |more: &str| {
        json_of(&format!("{}{more}", estimate(&folder.path("both"))))["memory"].clone()
    };
    assert_eq!(memory("")["towers"], 8192.0);
    assert_eq!(memory(" --language-model-only")["towers"], serde_json::Value::Null);
    let unknown = format!("{} --image 64x64", estimate(&folder.path("both")));
    refused(&unknown, "image needs image_tokens");
    fs::remove_file(folder.path("both/m-00001-of-00002.gguf")).expect("removed");
    let lacks = "m-00001-of-00002.gguf: no such file";
    refused(&estimate(&folder.path("both/m-00002-of-00002.gguf")), lacks);
    store(&folder, "both/other.gguf", &whole.write());
    refused(&format!("inspect {}", folder.path("both")), "a folder with several GGUF models");
}

/// Tensors of a Llama with one layer of width 64 and without an LM head, in BF16.
fn tiny(up: &'static str) -> Written {
    const LAYER: &str = "model.layers.0.";
    let names = |part: &str| -> &'static str { format!("{LAYER}{part}.weight").leak() };
    let up_bytes = if up == "BF16" { 256 * 64 * 2 } else { 256 * 64 };
    safetensors(&[
        ("model.embed_tokens.weight", "BF16", &[512, 64], 512 * 64 * 2),
        ("model.norm.weight", "BF16", &[64], 128),
        (names("input_layernorm"), "BF16", &[64], 128),
        (names("post_attention_layernorm"), "BF16", &[64], 128),
        (names("self_attn.q_proj"), "BF16", &[64, 64], 8192),
        (names("self_attn.k_proj"), "BF16", &[32, 64], 4096),
        (names("self_attn.v_proj"), "BF16", &[32, 64], 4096),
        (names("self_attn.o_proj"), "BF16", &[64, 64], 8192),
        (names("mlp.gate_proj"), up, &[256, 64], up_bytes),
        (names("mlp.up_proj"), up, &[256, 64], up_bytes),
        (names("mlp.down_proj"), up, &[64, 256], up_bytes),
    ])
}

fn config() -> Value {
    json!({
        "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 256, "vocab_size": 512, "tie_word_embeddings": true,
        "torch_dtype": "bfloat16",
    })
}

#[test]
fn safetensors_take_the_geometry_of_their_config_and_the_bytes_of_their_headers() {
    let folder = Folder::new();
    let path = store(&folder, "tiny/model.safetensors", &tiny("F8_E4M3"));
    refused(&estimate(&path), "there is no config.json beside them");
    folder.file("tiny/config.json", config().to_string());
    let found = json_of(&format!("inspect {}", folder.path("tiny")));
    assert_eq!(found["geometry_parameters"], found["parameters"], "{found}");
    let notes = found["notes"].to_string();
    let differs = "mlp: most bytes are F8_E4M3 (8 bits per weight), and its config.json gives bf16";
    assert!(notes.contains(differs) && !notes.contains("attention"), "{notes}");
    let memory = &json_of(&estimate(&folder.path("tiny")))["memory"];
    assert_eq!(memory["weights"], found["bytes"].as_f64().expect("a number"));
    store(&folder, "tiny/model.safetensors", &tiny("BF16"));
    assert_eq!(json_of(&format!("inspect {path}"))["notes"], json!([]));
    folder.file(
        "tiny/model.safetensors.index.json",
        r#"{"weight_map": {"lm_head.weight": "model.safetensors"}}"#,
    );
    refused(&format!("inspect {}", folder.path("tiny")), "does not have it");
    folder.file("tiny/model.safetensors.index.json", r#"{"weight_map": {"a": "absent"}}"#);
    assert!(answer(&estimate(&folder.path("tiny"))).contains("token/s"), "its config.json is left");
    folder.file("tiny/model.safetensors.index.json", r#"{"weight_map": {"a": "../x"}}"#);
    refused(&format!("inspect {}", folder.path("tiny")), "not a file of its folder");
    folder.file("clone/config.json", config().to_string());
    folder.file("clone/model.safetensors", "version https://git-lfs.github.com/spec/v1\nsize 9\n");
    assert!(answer(&estimate(&folder.path("clone"))).contains("token/s"), "a pointer is no file");
    refused(&format!("inspect {}", folder.path("clone")), "no weight files");
}

#[test]
fn a_geometry_that_is_not_understood_is_refused_by_its_key() {
    let folder = Folder::new();
    let mut lists = small_llama();
    lists.keys.retain(|(key, _)| key != "llama.attention.head_count_kv");
    let lists = lists.key("llama.attention.head_count_kv", Key::I32s(vec![2, 4]));
    let path = store(&folder, "lists.gguf", &lists.write());
    refused(&estimate(&path), "num_key_value_heads");
    let found = json_of(&format!("inspect {path}"));
    assert_eq!(
        (&found["bytes"], &found["geometry_parameters"]),
        (&json!(SMALL_LLAMA), &Value::Null)
    );
    let odd = small_llama().key("llama.attention.chunk_layers", Key::Flags(vec![true, false]));
    let odd = store(&folder, "odd.gguf", &odd.write());
    refused(&estimate(&odd), "attention.chunk_layers");
    assert!(answer(&format!("{} --model-upper-bound", estimate(&odd))).contains("upper bound"));
}

#[test]
fn files_that_are_no_weights_are_refused_in_one_line() {
    let folder = Folder::new();
    let good = small_llama().write();
    folder.file("cut.gguf", &good.start[..300]);
    folder.file("short.gguf", &good.start);
    folder.file("text.gguf", "hello world");
    folder.file("empty.safetensors", "");
    let towers = Gguf::new("clip").tensor("v.blk.0.attn_q.weight", &[64, 64], "F16");
    store(&folder, "towers.gguf", &towers.write());
    let lines = small_llama().tensor("two\nlines\u{1b}[2J", &[48], "Q4_0");
    store(&folder, "lines.gguf", &lines.write());
    refused(&format!("inspect {}", folder.path("lines.gguf")), "in blocks of 32");
    for (name, expected) in [
        ("cut.gguf", "ends inside its header"),
        ("short.gguf", "and the file has"),
        ("text.gguf", "it begins with \"hello wo\""),
        ("empty.safetensors", "the file is empty"),
        ("missing.gguf", "no such file"),
        ("towers.gguf", "no language model"),
    ] {
        refused(&estimate(&folder.path(name)), expected);
    }
    refused(&format!("inspect {}", folder.path("nothing")), "no weight files");
}
