//! Tests of reading weight files, which are written here.

use super::*;
use crate::state::advice::question::with_model;
use crate::state::inputs::Inputs;
use crate::state::model::inputs::ModelInputs;
use crate::state::model::question::ModelQuestion;
use crate::state::model::roles::Role;
use crate::state::model::tensors::table;
use crate::state::model::url;
use calc_core::catalog;
use calc_core::recommend::recommend;
use written::{Gguf, Key, Written, safetensors, small_llama};

#[path = "../../../../calc-core/weights/tests/written/mod.rs"]
mod written;

/// Names, contents as far as they matter, and sizes of files.
struct Files(Vec<(&'static str, Vec<u8>, u64)>);

impl Files {
    fn weights(mut self, name: &'static str, written: &Written) -> Self {
        self.0.push((name, written.start.clone(), written.file_bytes));
        self
    }

    fn text(mut self, name: &'static str, text: &str) -> Self {
        self.0.push((name, text.as_bytes().to_vec(), text.len() as u64));
        self
    }

    /// Reads the model, and returns the number of bytes that were read.
    fn open(&self, unread: Unread) -> Result<(OpenedModel, u64), Refused> {
        let one = |(name, _, bytes): &(&'static str, Vec<u8>, u64)| ReadableFile {
            name: (*name).to_owned(),
            bytes: *bytes,
        };
        let reading = Reading::new("mine", self.0.iter().map(one).collect(), unread)?;
        let (mut step, mut all) = (Box::new(reading).advance(&[])?, 0);
        loop {
            match step {
                Advance::Opened(model) => return Ok((model, all)),
                Advance::Read(reading, Range { file, from, to }) => {
                    let (_, content, bytes) = &self.0[file];
                    assert!(from < to && to <= *bytes, "{from} to {to} of {bytes}");
                    let at = |place: u64| usize::try_from(place).expect("a short file");
                    let mut read = content.get(at(from)..).unwrap_or_default().to_vec();
                    read.resize(at(to - from), 0);
                    all += to - from;
                    step = reading.advance(&read)?;
                }
            }
        }
    }
}

fn none() -> Files {
    Files(Vec::new())
}

const CONFIG_TEXT: &str = r#"{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256, "vocab_size": 512,
    "tie_word_embeddings": true, "torch_dtype": "bfloat16"}"#;

fn shards() -> [Written; 2] {
    let first = safetensors(&[("model.embed_tokens.weight", "BF16", &[512, 64], 65_536)]);
    let second = safetensors(&[
        ("model.layers.0.self_attn.q_proj.weight", "BF16", &[64, 64], 8192),
        ("model.layers.0.mlp.up_proj.weight", "F8_E4M3", &[256, 64], 16_384),
    ]);
    [first, second]
}

const SHARDS: [&str; 2] = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];

fn index() -> String {
    let [first, second] = SHARDS;
    format!(
        r#"{{"weight_map": {{"model.embed_tokens.weight": "{first}",
        "model.layers.0.self_attn.q_proj.weight": "{second}",
        "model.layers.0.mlp.up_proj.weight": "{second}"}}}}"#
    )
}

#[test]
fn only_the_header_of_a_large_file_is_read() {
    let large = small_llama().tensor("blk.0.ffn_up_exps.weight", &[640, 4096, 2048], "Q8_0");
    let written = large.write();
    assert!(written.file_bytes > 5_000_000_000);
    let files = none().weights("large.gguf", &written);
    let (model, read) = files.open(Unread::Refuse).expect("a model");
    assert_eq!(read, FIRST_READ);
    let weights = model.model.weights.as_ref().expect("bytes");
    assert!(weights.bytes.experts.get() > 5e9);
    assert_eq!(model.model.name, "mine");
}

#[test]
fn a_long_header_is_read_on_from_where_the_first_read_ended() {
    let long = small_llama()
        .key("tokenizer.ggml.merges", Key::Texts(200_000))
        .key("tokenizer.ggml.token_type", Key::I32s(vec![1; 100]))
        .key("some.flags", Key::Flags(vec![true; 100]))
        .write();
    let header = long.start.len() as u64;
    assert!(header > 2 * FIRST_READ);
    let (_, read) = none().weights("long.gguf", &long).open(Unread::Refuse).expect("a model");
    assert!(read >= header.min(long.file_bytes) && read <= 2 * header, "{read} of {header}");
}

#[test]
fn shards_are_read_by_their_index_and_without_other_copies() {
    let [first, second] = shards();
    let files = none()
        .weights(SHARDS[1], &second)
        .text("tokenizer.json", "{}")
        .text("config.json", CONFIG_TEXT)
        .weights(SHARDS[0], &first)
        .text("model.safetensors.index.json", &index())
        .weights("copy.safetensors", &first);
    let (model, _) = files.open(Unread::Refuse).expect("a model");
    let weights = model.model.weights.as_ref().expect("bytes");
    assert_eq!(weights.bytes.embedding.get().to_bits(), 65_536.0_f64.to_bits());
    let notes = model.model.notes.join("\n");
    assert!(notes.contains("mlp: most bytes are F8_E4M3"), "{notes}");
}

#[test]
fn what_is_not_one_model_is_refused_by_name() {
    let [first, second] = shards();
    let llama = small_llama().write();
    let towers = Gguf::new("clip").tensor("v.blk.0.attn_q.weight", &[64, 64], "F16").write();
    let both = || none().weights(SHARDS[0], &first).weights(SHARDS[1], &second);
    for (files, says) in [
        (
            none().weights("a.gguf", &llama).weights("b.gguf", &llama),
            "several GGUF models: a.gguf, b.gguf",
        ),
        (none().weights("m-00001-of-00002.gguf", &llama), "m-00002-of-00002.gguf is missing"),
        (
            none().weights(SHARDS[0], &first),
            "model-00002-of-00002.safetensors is missing; open all 2 files",
        ),
        (both(), "there is no config.json"),
        (none().weights("mmproj.gguf", &towers), "no language model"),
        (none().text("model.safetensors.index.json", &index()), "which is not here"),
        (none().text("x.gguf", "hello, this is no file of weights"), "x.gguf: neither GGUF nor"),
        (none().text("x.gguf", ""), "the file is empty"),
        (both().text("config.json", "{"), "its config.json: the JSON ends"),
    ] {
        let said = files.open(Unread::Refuse).expect_err(says).reason;
        assert!(said.contains(says), "{said} lacks {says}");
    }
}

#[test]
fn a_file_that_ends_early_is_said() {
    let listed = ReadableFile { name: "x.gguf".into(), bytes: 5_000_000 };
    let reading = Reading::new("x.gguf", vec![listed], Unread::Refuse).expect("one file");
    let Ok(Advance::Read(reading, _)) = Box::new(reading).advance(&[]) else { panic!("a range") };
    let said = reading.advance(&[]).expect_err("no bytes").reason;
    assert_eq!(said, "x.gguf: it could not be read to the end of its header");
}

#[test]
fn a_geometry_that_is_not_understood_has_an_upper_bound() {
    let odd = small_llama().counts(&[("llama.attention.strange_head_count", 64)]).write();
    let files = none().weights("odd.gguf", &odd);
    let refused = files.open(Unread::Refuse).expect_err("an unread key");
    assert_eq!(refused.bounded.as_deref(), Some(""), "{refused:?}");
    assert!(!refused.reason.contains("--"), "{refused:?}");
    let (model, _) = files.open(Unread::UpperBound).expect("an upper bound");
    assert_eq!(model.model.name, "mine, upper bound");
}

/// Inputs with the model of a small GGUF file, and the bytes of its tensors.
fn of_small_llama() -> (Inputs, f64) {
    let (opened, _) =
        none().weights("small.gguf", &small_llama().write()).open(Unread::Refuse).expect("a model");
    let bytes = opened.model.weights.as_ref().expect("bytes").bytes.language_model;
    let mut inputs = Inputs::default();
    (opened.take)(&opened, &mut inputs);
    (inputs, bytes.get())
}

#[test]
fn memory_and_ranking_have_the_bytes_of_the_file() {
    let (mut inputs, bytes) = of_small_llama();
    inputs.goal.set_text(crate::state::goal::Bound::Loss, "99".to_owned());
    let weights = |inputs: &Inputs| {
        let question = ModelQuestion::read(&inputs.model, inputs.place()).expect("valid");
        let memory = question.estimate().expect("valid").memory;
        (memory.weights.get(), memory.total())
    };
    let (of_file, total) = weights(&inputs);
    assert_eq!(of_file.to_bits(), bytes.to_bits());
    let published = with_model(&inputs, |request| {
        let found = recommend(request).expect("valid").ranked.into_iter();
        found.filter(|row| row.scheme.key == "as_published").map(|row| row.outcome.memory).next()
    });
    assert_eq!(published, Some(Some(total)));
    let shown = table(&inputs.model).expect("a table");
    assert!(shown.caption.contains("have these bytes") && shown.rows.len() == 5, "{shown:?}");
    inputs.model.set_format(Role::Weights, catalog::format("fp16").ok());
    assert!(weights(&inputs).0 > bytes);
    assert!(table(&inputs.model).expect("a table").caption.contains("other formats"));
}

#[test]
fn a_link_keeps_the_bytes_of_the_file() {
    let (inputs, _) = of_small_llama();
    let mut back = ModelInputs::default();
    for (key, value) in url::pairs(&inputs.model) {
        assert_eq!(url::read(&mut back, key, &value), Some(Ok(())), "{key}={value}");
    }
    assert_eq!(back.file_parts(), inputs.model.file_parts());
    assert_eq!(table(&back), table(&inputs.model));
    back.set_text(crate::state::model::fields::Field::Layers, "3".to_owned());
    assert_eq!(back.file_parts(), None, "another geometry has other weights");
}
