//! The import of config.json against transformers: parameters of the language model and elements of its cache.
//!
//! `truth/README.md` says how the table was made and with which versions of the packages.
//!
//! This file is longer than 400 lines because it names the models of the catalog that are compared with fixtures.

#[path = "truth/lost_keys.rs"]
mod lost_keys;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use calc_core::catalog;
use calc_core::footprint::cache_elements;
use calc_core::hf_config::{Imported, Remark};
use calc_core::image::{AskedImages, ImageSize, ImageWork};
use calc_core::model_arch::ModelArch;
use report::input::model_file;
use serde_json::Value;

/// A row of the table by column.
type Row = BTreeMap<String, String>;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/truth"))
}

fn table() -> Vec<Row> {
    rows("table.csv")
}

fn rows(file: &str) -> Vec<Row> {
    let text = fs::read_to_string(folder().join(file)).expect("the table");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        columns.iter().map(|c| (*c).to_owned()).zip(line.split(',').map(str::to_owned)).collect()
    };
    lines.map(row).collect()
}

fn count(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or(0)
}

fn text(name: &str) -> String {
    let path = folder().join("configs").join(format!("{name}.json"));
    fs::read_to_string(path).expect("a fixture")
}

fn import(name: &str) -> Result<Imported, String> {
    model_file::parse(&text(name)).map_err(|error| error.to_string())
}

/// Number of correction biases of routers.
fn corrections(arch: &ModelArch) -> u64 {
    arch.moe.iter().map(|m| if m.correction_bias { m.layers * m.choices() } else { 0 }).sum()
}

/// Differences between the import and transformers.
fn differences(row: &Row, model: &Imported) -> Vec<String> {
    let mut found = Vec::new();
    let arch = &model.arch;
    let expected = count(row, "language");
    let published = expected + count(row, "checkpoint_buffers");
    // Correction biases of routers are in the weights; the package counts them apart, or not at all.
    let without = arch.n_params() - corrections(arch);
    if ![arch.n_params(), without].contains(&expected) && arch.n_params() != published {
        let more = i128::from(arch.n_params()) - i128::from(expected);
        found.push(format!("{} parameters, {more:+} to {expected}", arch.n_params()));
    }
    let context = arch.max_context.unwrap_or(u64::MAX);
    for tokens in [512_u64, 8192].into_iter().filter(|tokens| *tokens <= context) {
        let of = |column: &str| count(row, &format!("{column}_{tokens}"));
        let cache = cache_elements(arch, tokens);
        let kept = of("kv_engine") + of("sliding_engine") + of("compressed") + of("indexer");
        // Packages count the window with or without the token that attends.
        let one_token: u64 = arch.attention.iter().map(|a| a.windowed_layers * a.cache_row()).sum();
        if cache.attention.abs_diff(kept) > one_token {
            found.push(format!("{} elements of {kept} after {tokens} tokens", cache.attention));
        }
        if cache.state != of("recurrent") {
            found.push(format!("{} elements of state, not {}", cache.state, of("recurrent")));
        }
        // The package keeps the whole kernel of a convolution; engines keep one input less.
        let one_input: u64 = arch.recurrent.iter().map(|r| r.layers() * r.conv_channels()).sum();
        if cache.convolution + one_input != of("convolution") {
            let kept = of("convolution");
            found.push(format!("{} + {one_input} inputs of {kept}", cache.convolution));
        }
    }
    found
}

/// Fixtures whose row is not what an engine holds: the parameters that are right, and the reason.
const OTHERWISE: [(&str, u64, &str); 5] = [
    (
        "deepseek-vl-hybrid-defaults",
        6_607_343_616,
        "the package counts parts of the vision tower with the language model",
    ),
    (
        "janus-defaults",
        6_607_343_616,
        "the package counts the head that generates images with the language model",
    ),
    (
        "mistral-small-3.2-24b-no-tie-key",
        23_572_403_200,
        "the package ties embedding and head by default; the published weights have both",
    ),
    (
        "longcat-flash",
        560_664_980_480,
        "the package allocates weights for the experts that do nothing",
    ),
    (
        "deepseek-v4-flash",
        284_334_567_511,
        "the package caches keys and values of its two layers without entries apart, though they are one vector",
    ),
];

/// Differences of a fixture from its row, or from what [`OTHERWISE`] states in its place.
fn mistakes(row: &Row, model: &Imported) -> Vec<String> {
    let found = differences(row, model);
    let Some((_, params, why)) = OTHERWISE.iter().find(|(name, ..)| *name == row["name"]) else {
        return found;
    };
    let mut mistakes = Vec::new();
    if found.is_empty() {
        mistakes.push(format!("equals the package now, so it is no exception: {why}"));
    }
    if model.arch.n_params() != *params {
        mistakes.push(format!("{} parameters, not {params}", model.arch.n_params()));
    }
    mistakes
}

#[test]
fn parameters_and_caches_are_those_of_transformers() {
    let (mut refused, mut wrong) = (String::new(), Vec::new());
    for row in table() {
        let name = &row["name"];
        match import(name) {
            Err(_) => refused += &format!("{name}\n"),
            Ok(model) => {
                let found = mistakes(&row, &model);
                if !found.is_empty() {
                    wrong.push(format!("{name} as {:?}: {}", model.family, found.join("; ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = fs::read_to_string(folder().join("refused.txt")).expect("the list");
    assert_eq!(refused, listed, "truth/refused.txt names the fixtures that are refused");
}

/// True if the import says that it leaves a tower out.
fn leaves_a_tower_out(model: &Imported) -> bool {
    model.remarks.contains(&Remark::TowersNotCounted)
}

#[test]
fn towers_are_those_of_transformers_or_said_to_be_left_out() {
    let (mut wrong, mut left_out, mut counted) = (Vec::new(), String::new(), 0);
    for row in table() {
        let Ok(model) = import(&row["name"]) else { continue };
        let name = &row["name"];
        let expected: u64 =
            ["vision", "audio", "projector"].map(|part| count(&row, part)).iter().sum();
        if leaves_a_tower_out(&model) {
            left_out += &format!("{name}\n");
        } else if model.arch.n_tower_params() == expected {
            counted += u64::from(expected > 0);
        } else {
            let own = model.arch.n_tower_params();
            let more = i128::from(own) - i128::from(expected);
            wrong.push(format!("{name}: {own}, {more:+} to {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = fs::read_to_string(folder().join("towers-left-out.txt")).expect("the list");
    assert_eq!(left_out, listed, "truth/towers-left-out.txt names the fixtures with such a tower");
    assert!(counted >= 94, "{counted} fixtures with a tower that is counted");
}

#[test]
fn tokens_of_images_are_those_of_the_processors() {
    let mut wrong = Vec::new();
    let rows = rows("images.csv");
    for row in &rows {
        let model = import(&row["name"]).expect("a fixture");
        let rule = model.arch.vision_tower().expect("a tower").images;
        let side = |column: &str| u32::try_from(count(row, column)).expect("a side");
        let size = ImageSize { width: side("width"), height: side("height") };
        let own = rule.work(&AskedImages { count: 1, size, stated_tokens: None });
        let (tiles, positions) = (count(row, "tiles"), count(row, "positions"));
        let expected = ImageWork { tiles, positions, tokens: count(row, "tokens") };
        if own != Ok(expected) {
            wrong.push(format!("{} {size:?}: {own:?}, not {expected:?}", row["name"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn layers_for_multi_token_prediction_are_those_of_transformers() {
    let (mut wrong, mut counted) = (Vec::new(), 0);
    for row in table().iter().filter(|row| !row["mtp"].is_empty()) {
        let Ok(model) = import(&row["name"]) else { continue };
        let own_size = count(row, "mtp");
        let is_said = |remark: &Remark, size: u64| match remark {
            Remark::DraftLayersNotCounted { parameters, .. } => {
                parameters.is_none_or(|own| own == size)
            }
            _ => false,
        };
        // The correction bias of the router is in the weights; the package does not count it.
        let draft = model.arch.own_draft();
        let corrections = draft.map_or(0, |draft| corrections(&draft));
        let states = |word: &str| text(&row["name"]).contains(word);
        match model.arch.n_draft_params().map(|params| params - corrections) {
            None if !states("nextn") && !states("mtp") => {}
            None if model.remarks.iter().any(|remark| is_said(remark, own_size)) => {}
            Some(own) if own == count(row, "mtp") => counted += 1,
            own => wrong.push(format!("{}: {own:?}, not {}", row["name"], row["mtp"])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counted >= 5, "{counted} fixtures with such a layer");
}

#[test]
fn models_of_the_catalog_are_the_fixtures_of_the_same_name() {
    for key in [
        "gemma-3-4b",
        "gemma-3-12b",
        "gemma-3-27b",
        "qwen3.5-27b",
        "qwen3.5-35b-a3b",
        "qwen3.5-122b-a10b",
        "gemma-4-26b-a4b",
        "gemma-4-31b",
        "deepseek-v3.2",
        "glm-5.2",
        "llama-4-scout",
        "nemotron-3-super-120b-a12b",
        "deepseek-v4-flash",
        "deepseek-v4-pro",
        "kimi-k3",
        "qwen3-coder-480b-a35b",
        "qwen3-vl-4b",
        "qwen3-vl-8b",
        "qwen3-vl-30b-a3b",
        "qwen3-vl-32b",
        "qwen3-vl-235b-a22b",
        "qwen2.5-vl-7b",
        "qwen2.5-vl-72b",
        "qwen3-next-80b-a3b",
        "qwen3.5-0.8b",
        "qwen3.5-2b",
        "qwen3.5-4b",
        "qwen3.5-9b",
        "qwen3.5-397b-a17b",
        "kimi-linear-48b-a3b",
        "nemotron-nano-9b-v2",
        "nemotron-nano-12b-v2",
        "granite-4.0-h-small",
        "granite-4.0-h-tiny",
        "granite-4.0-h-micro",
        "lfm2-1.2b",
        "lfm2-8b-a1b",
        "glm-4.5-air",
        "glm-4.5",
        "glm-4.7",
        "glm-4.7-flash",
        "glm-5",
        "kimi-k2",
        "kimi-k2-thinking",
        "kimi-k2.5",
        "minimax-m2",
        "minimax-m3",
        "step-3.5-flash",
        "mimo-v2-flash",
        "llama-4-maverick",
        "ernie-4.5-21b-a3b",
        "mistral-small-3.2-24b",
        "devstral-small-2-24b",
        "devstral-2-123b",
        "mistral-nemo-12b",
        "ministral-3-3b",
        "ministral-3-8b",
        "ministral-3-14b",
        "gemma-3-270m",
        "gemma-3n-e2b",
        "gemma-3n-e4b",
        "gemma-4-e2b",
        "gemma-4-e4b",
        "smollm3-3b",
        "granite-3.3-8b",
        "seed-oss-36b",
        "olmo-3-7b",
        "olmo-3-32b",
    ] {
        is_the_fixture(key, key);
    }
    for (key, fixture) in [
        ("qwen3-4b-2507", "qwen3-4b"),
        ("qwen3-30b-a3b-2507", "qwen3-30b-a3b-instruct-2507"),
        ("qwen3-235b-a22b-2507", "qwen3-235b-a22b"),
        ("qwen3-coder-30b-a3b", "qwen3-30b-a3b-instruct-2507"),
        ("mistral-small-3-24b", "mistral-small-24b"),
        ("magistral-small-24b", "magistral-small-2506"),
        ("devstral-small-24b", "devstral-small-2505"),
        ("qwen3.6-27b", "qwen3.6-27b"),
        ("qwen3-coder-next", "qwen3-coder-next"),
        ("glm-4.6", "glm-4.6"),
    ] {
        is_the_fixture(key, fixture);
    }
}

/// Compares a model of the catalog with a fixture: parameters, cache, towers and layers that draft.
fn is_the_fixture(key: &str, fixture: &str) {
    let model = catalog::model(key).unwrap_or_else(|_| panic!("{key}"));
    let fixture = import(fixture).unwrap_or_else(|_| panic!("{fixture}"));
    let memory = |arch: &ModelArch| (arch.n_params(), cache_elements(arch, 8192));
    assert_eq!(memory(&model.arch), memory(&fixture.arch), "{key}");
    assert_eq!(model.arch.n_active_params(), fixture.arch.n_active_params(), "{key}");
    assert_eq!(model.arch.towers, fixture.arch.towers, "{key}");
    assert_eq!(model.arch.draft_layers, fixture.arch.draft_layers, "{key}");
}

/// A change of a file.
type Change = fn(&mut Value);

#[test]
fn sizes_of_single_layers_are_those_of_a_kind_of_layer_or_refused() {
    let config: Value = serde_json::from_str(&text("gemma-4-e2b-full")).expect("JSON");
    let sizes = "/text_config/per_layer_config";
    let changes: [(&str, Change); 4] = [
        ("a layer is missing", |sizes| drop(sizes.as_object_mut().expect("sizes").remove("04"))),
        ("a layer differs", |sizes| sizes["04"]["head_dim"] = 256.into()),
        ("a size is unknown", |sizes| {
            for layer in sizes.as_object_mut().expect("sizes").values_mut() {
                layer["intermediate_size"] = 4096.into();
            }
        }),
        ("a layer is no object", |sizes| sizes["04"] = 512.into()),
    ];
    for (case, change) in changes {
        let mut changed = config.clone();
        change(changed.pointer_mut(sizes).expect("sizes"));
        let refusal = model_file::parse(&changed.to_string()).err().map(|error| error.to_string());
        assert!(refusal.is_some_and(|text| text.contains("gemma4_text")), "{case}");
    }
}
