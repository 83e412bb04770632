//! A key of a fixture that is removed, renamed or misspelt never lowers memory in silence, and no number is passed over.

use calc_core::footprint::cache_elements;
use calc_core::hf_config::{AssumedWhy, Imported};
use report::input::model_file::{self, first_notes};
use serde_json::{Value, json};

use super::{import, leaves_a_tower_out, table, text};

/// Memory that a model needs: parameters, those of towers, and elements kept for one sequence of that many tokens.
fn memory(model: &Imported, tokens: u64) -> [u64; 3] {
    let (arch, cache) = (&model.arch, cache_elements(&model.arch, tokens));
    let kept = cache.attention + cache.state + cache.convolution;
    [arch.n_params(), arch.n_tower_params(), kept]
}

/// Objects of a file: its own fields, the language model and the towers.
const OBJECTS: [&str; 7] = [
    "",
    "/thinker_config/text_config",
    "/text_config",
    "/llm_config",
    "/language_config",
    "/vision_config",
    "/audio_config",
];

/// The fields of an object of a file; the file itself has the empty name.
fn object<'a>(config: &'a Value, name: &str) -> Option<&'a serde_json::Map<String, Value>> {
    config.pointer(name).and_then(Value::as_object)
}

/// The fixture without a key of an object, or with the key under another name.
fn changed(config: &Value, (name, key): (&str, &str), rename: bool) -> Value {
    let mut config = config.clone();
    let object = config.pointer_mut(name).and_then(Value::as_object_mut).expect("an object");
    if let Some(value) = object.remove(key).filter(|_| rename) {
        object.insert(format!("{key}_of_later"), value);
    }
    config
}

#[test]
fn a_key_that_is_lost_never_lowers_memory_in_silence() {
    let mut silent = Vec::new();
    for row in table() {
        let Ok(whole) = import(&row["name"]) else { continue };
        let config: Value = serde_json::from_str(&text(&row["name"])).expect("JSON");
        let tokens = whole.arch.max_context.map_or(8192, |context| context.min(8192));
        for name in OBJECTS {
            for key in object(&config, name).into_iter().flat_map(|object| object.keys()) {
                // A key that the language model states, too, is lost there.
                let states =
                    |inner: &&str| object(&config, inner).is_some_and(|o| o.contains_key(key));
                if name.is_empty() && OBJECTS[1..5].iter().any(states) {
                    continue;
                }
                for rename in [false, true] {
                    let lost = changed(&config, (name, key), rename);
                    let Ok(model) = model_file::parse(&lost.to_string()) else { continue };
                    let (less, more) = (memory(&model, tokens), memory(&whole, tokens));
                    let is_lower = less.iter().zip(more).any(|(less, more)| *less < more);
                    let is_said = model.assumed.iter().any(|field| !whole.assumed.contains(field))
                        || leaves_a_tower_out(&model);
                    if is_lower && !is_said {
                        let row = &row["name"];
                        silent.push(format!("{row} {name} {key} {rename}: {less:?} < {more:?}"));
                    }
                }
            }
        }
    }
    assert!(silent.is_empty(), "{}\n{}", silent.len(), silent.join("\n"));
}

/// Keys of sizes that decide the memory.
const SIZES: [&str; 24] = [
    "hidden_size",
    "n_embd",
    "d_model",
    "num_hidden_layers",
    "n_layer",
    "vocab_size",
    "num_attention_heads",
    "n_head",
    "num_key_value_heads",
    "head_dim",
    "kv_lora_rank",
    "qk_rope_head_dim",
    "intermediate_size",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_shared_experts",
    "shared_expert_intermediate_size",
    "first_k_dense_replace",
    "sliding_window",
    "tie_word_embeddings",
    "layer_types",
];

/// True for a refusal that names the right key, or the misspelt one where the file states the size under another name, too.
fn names(refusal: &str, key: &str, name: &str) -> bool {
    refusal.contains(key) || refusal.contains(name)
}

/// The name without its first letter, one in the middle, or the last.
fn misspelt(key: &str) -> [String; 3] {
    [0, key.len() / 2, key.len() - 1].map(|place| {
        let mut name = key.to_owned();
        name.remove(place);
        name
    })
}

#[test]
fn a_misspelt_size_is_refused_with_the_name_that_is_meant_or_changes_nothing() {
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for row in table() {
        let Ok(whole) = import(&row["name"]) else { continue };
        let config: Value = serde_json::from_str(&text(&row["name"])).expect("JSON");
        for part in &OBJECTS[..5] {
            let Some(own) = object(&config, part) else { continue };
            for key in SIZES.into_iter().filter(|key| own.contains_key(*key)) {
                for name in misspelt(key).into_iter().filter(|name| !own.contains_key(name)) {
                    let mut file = config.clone();
                    let fields = file.pointer_mut(part).and_then(Value::as_object_mut);
                    let fields = fields.expect("an object");
                    let value = fields.remove(key).expect("a key");
                    fields.insert(name.clone(), value);
                    match model_file::parse(&file.to_string()) {
                        Err(error) if names(&error.to_string(), key, &name) => refused += 1,
                        Ok(model) if memory(&model, 8192) == memory(&whole, 8192) => {}
                        other => {
                            let other = other.map(|model| memory(&model, 8192));
                            wrong.push(format!("{} {part} {name}: {other:?}", row["name"]));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 5000, "{refused} misspelt keys are refused");
}

/// Names of sizes as code of models writes them, with a random word so that no list can know them.
fn size_name(random: &mut u64) -> String {
    const STEMS: [&str; 8] =
        ["d_kv", "qk_dim", "attn_dim", "headsize", "hd", "n_kv", "ff", "inner"];
    let mut next = |below: u64| {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*random >> 33) % below
    };
    let stem = STEMS[usize::try_from(next(STEMS.len() as u64)).expect("small")];
    let letters = |next: &mut dyn FnMut(u64) -> u64| -> String {
        (0..3).map(|_| char::from(b'a' + u8::try_from(next(26)).expect("a letter"))).collect()
    };
    match next(4) {
        0 => stem.into(),
        1 => format!("{stem}_{}", letters(&mut next)),
        2 => format!("{}_{stem}", letters(&mut next)),
        _ => letters(&mut next),
    }
}

#[test]
fn a_number_under_an_unknown_name_is_refused_or_named_by_the_first_note() {
    let (mut silent, mut noted, mut random) = (Vec::new(), 0, 20_261_124);
    for row in table() {
        let Ok(whole) = import(&row["name"]) else { continue };
        let not_read = |why| why == AssumedWhy::NotRead;
        let noise = whole.assumed.iter().find(|field| not_read(field.why));
        assert_eq!(noise, None, "{}", row["name"]);
        let config: Value = serde_json::from_str(&text(&row["name"])).expect("JSON");
        for part in &OBJECTS[..5] {
            let Some(own) = object(&config, part) else { continue };
            for value in [json!(256), json!([64, 256])] {
                let name = size_name(&mut random);
                if own.contains_key(&name) {
                    continue;
                }
                let mut file = config.clone();
                let fields = file.pointer_mut(part).and_then(Value::as_object_mut);
                fields.expect("an object").insert(name.clone(), value);
                let Ok(model) = model_file::parse(&file.to_string()) else { continue };
                let first = first_notes("", &model.assumed).into_iter().next();
                if first.is_some_and(|note| note.contains(&format!("{name} = 256"))) {
                    noted += 1;
                } else {
                    silent.push(format!("{} {part} {name}", row["name"]));
                }
            }
        }
    }
    assert!(silent.is_empty(), "{}\n{}", silent.len(), silent.join("\n"));
    assert!(noted > 400, "{noted} numbers are noted");
}
