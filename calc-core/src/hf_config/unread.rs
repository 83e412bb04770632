//! Keys that look like geometry and that no rule has read: refused by name, or taken as an upper bound.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::AssumedValue::{Count, Word};
use super::entry::Entry;
use super::fields::HfConfig;
use super::reader::Reader;
use super::refusal::ConfigError;
use super::stated::{Meaning, Stated, StatedKind, States, UnreadKey, meaning, words};
use super::{AssumedField, AssumedWhy};
use crate::error::Error;
use crate::model_arch::{Attention, DenseLayers, MAX_WIDTH, ModelArch, Moe};
use crate::text::Text;

/// Handling of keys that look like geometry and are not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unread {
    /// Refuse the file and name the keys.
    #[default]
    Refuse,
    /// Assume the largest model they may describe: full attention in all layers, the most and the widest heads that the file
    /// states, all experts in all layers.
    UpperBound,
}

/// Keys at the top of multimodal files that describe a tower or a projector.
const OF_TOWERS: [(&str, &[&str]); 1] = [("granite_speech", &["window_size"])];

/// The unread keys of the language model, and those beside it in a multimodal file.
pub(super) fn keys(reader: &Reader<'_>, arch: &ModelArch) -> Vec<UnreadKey> {
    let mut found = given(reader.text);
    if reader.is_nested() {
        let inner = names(reader.text);
        found.extend(given(reader.outer).into_iter().filter(|(name, _)| !inner.contains(name)));
    }
    let mut read = reader.text.read.borrow().clone();
    let outer = reader.outer.model_type.value().map(String::as_str);
    for (_, keys) in OF_TOWERS.iter().filter(|(model, _)| outer == Some(*model)) {
        read.extend_from_slice(keys);
    }
    found.retain(|(name, stated)| {
        !read.contains(&&**name) && !is_off(name, stated, arch, reader.text)
    });
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let known = |(name, stated): (String, Stated)| {
        let meaning = meaning(&name, stated.kind).or_else(|| of_object(&name))?;
        Some(UnreadKey { name, meaning, largest: stated.largest })
    };
    found.into_iter().filter_map(known).collect()
}

/// Keys of a file that are on and look like geometry, read or not.
fn given(config: &HfConfig) -> Vec<(String, Stated)> {
    let mut found = Vec::new();
    config.each_field(|name, stated| {
        if stated.on && (meaning(name, stated.kind).is_some() || of_object(name).is_some()) {
            found.push((name.into(), stated));
        }
    });
    for key in config.unknown.iter().filter(|key| key.stated.on) {
        if key.stated.inner.is_empty() {
            found.push((key.name.clone(), key.stated.clone()));
        }
        for inner in &key.stated.inner {
            let name = alloc::format!("{}.{inner}", key.name);
            found.push((name, key.stated.clone()));
        }
    }
    found
}

/// The aspect of geometry in an object of a family, whose name does not say it.
fn of_object(name: &str) -> Option<Meaning> {
    match name {
        "attn_config" => Some(Meaning::Heads),
        "ffn_config" => Some(Meaning::Experts),
        "compress_rates" => Some(Meaning::Window),
        _ => None,
    }
}

/// Names of all keys in a file, including those with `null`.
fn names(config: &HfConfig) -> Vec<String> {
    let mut found: Vec<String> = config.unknown.iter().map(|key| key.name.clone()).collect();
    config.each_field(|name, _| found.push(name.into()));
    found
}

/// True for a value without effect: a window no shorter than the context, every single layer, experts of a model without, a
/// head size that another key also states.
fn is_off(name: &str, stated: &Stated, arch: &ModelArch, text: &HfConfig) -> bool {
    let words = words(name);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&&**word));
    let count = stated.largest.filter(|_| stated.kind == StatedKind::Count);
    let same_window = name != "sliding_window"
        && has(&["window"])
        && count.is_some()
        && count == text.sliding_window.value().copied();
    let switched_on = name == "use_sliding_window"
        && arch.attention.iter().any(|group| group.windowed_layers > 0);
    let same_groups =
        has(&["groups"]) && arch.attention.iter().all(|group| count == Some(group.n_kv_heads));
    // vLLM attends to all tokens, and all keys and values are kept in any case.
    let dual_chunks = name.starts_with("dual_chunk_attention_config.");
    let endless = has(&["window"]) && arch.max_context.is_some_and(|max| count >= Some(max));
    let every = has(&["freq", "frequency", "step", "interval", "period"]) && count == Some(1);
    let switched_off = text.use_sliding_window.value() == Some(&false);
    let windowless = switched_off && has(&["window", "swa", "sliding"]);
    let expertless =
        !arch.has_experts() && without_experts(text) && has(&["moe", "expert", "experts"]);
    let same_head = has(&["head"])
        && has(&["dim", "size"])
        && arch.attention.iter().any(|group| count == Some(group.head_dim));
    same_window
        || switched_on
        || same_groups
        || dual_chunks
        || endless
        || every
        || windowless
        || expertless
        || same_head
}

/// True if the file states that there are no experts, or one.
fn without_experts(text: &HfConfig) -> bool {
    let entry = text.experts().entry;
    matches!(entry, Entry::Null) || entry.value().is_some_and(|&count| count <= 1)
}

/// Refuses a file with unread keys.
pub(super) fn refuse(keys: Vec<UnreadKey>, model: &str) -> Result<(), ConfigError> {
    if keys.is_empty() { Ok(()) } else { Err(ConfigError::Unread { keys, model: model.into() }) }
}

/// Assumes the largest model that the unread keys may describe, and lists each assumption.
pub(super) fn upper_bound(
    arch: &mut ModelArch,
    keys: &[UnreadKey],
    text: &HfConfig,
) -> Result<Vec<AssumedField>, ConfigError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    for key in keys {
        if let Some(value) = key.largest.filter(|&value| value > MAX_WIDTH) {
            let (min, max) = (0.0, MAX_WIDTH as f64);
            let what = Text::Owned(key.name.clone());
            return Err(ConfigError::Value(Error::OutOfRange {
                what,
                value: value as f64,
                min,
                max,
            }));
        }
    }
    let mut assumed: Vec<AssumedField> = Vec::new();
    let mut assume = |field: Text, value| {
        assumed.push(AssumedField { field, value, why: AssumedWhy::UpperBound });
    };
    for key in keys {
        assume(Text::Owned(key.name.clone()), Word("not understood"));
    }
    for group in arch.attention.to_mut() {
        full_attention(group);
        assume(Text::Borrowed("layers with full attention"), Count(group.full_layers));
        if group.latent.is_none() {
            heads(group, keys);
            assume(Text::Borrowed("key and value heads"), Count(group.n_kv_heads));
            assume(Text::Borrowed("size of a head"), Count(group.head_dim));
        }
    }
    experts(arch, keys, text);
    for moe in arch.moe.iter() {
        assume(Text::Borrowed("layers with experts"), Count(moe.layers));
        assume(Text::Borrowed("experts"), Count(moe.n_experts));
        assume(Text::Borrowed("width of an expert"), Count(moe.expert_width));
    }
    Ok(assumed)
}

fn full_attention(group: &mut Attention) {
    group.full_layers = group.layers();
    group.windowed_layers = 0;
    group.window = 0;
    group.indexer = None;
}

/// The largest count among the keys whose words match.
fn largest(keys: &[UnreadKey], fits: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Option<u64> {
    let found = keys.iter().filter(|key| {
        let words = words(&key.name);
        fits(&|word| words.iter().any(|other| other == word))
    });
    found.filter_map(|key| key.largest).max()
}

fn heads(a: &mut Attention, keys: &[UnreadKey]) {
    let is_head = |has: &dyn Fn(&str) -> bool| has("head") || has("heads");
    let is_size = |has: &dyn Fn(&str) -> bool| has("dim") || has("size") || has("channels");
    let is_kv = |has: &dyn Fn(&str) -> bool| has("kv") || has("key") || has("value");
    let size = largest(keys, |has| is_head(has) && is_size(has));
    let groups = largest(keys, |has| has("groups"));
    let kv = largest(keys, |has| is_head(has) && !is_size(has) && is_kv(has)).max(groups);
    let queries =
        largest(keys, |has| is_head(has) && !is_size(has) && !is_kv(has) && has("attention"));
    a.head_dim = a.head_dim.max(size.unwrap_or(0));
    a.v_head_dim = a.v_head_dim.max(size.unwrap_or(0));
    a.n_heads = a.n_heads.max(queries.unwrap_or(0));
    // A latent vector is no longer than the keys and values of all heads that are computed from it.
    let all = keys.iter().any(|key| key.meaning == Meaning::Latent);
    let kv = if all { a.n_heads } else { a.n_kv_heads.max(kv.unwrap_or(0)).min(a.n_heads) };
    // The number of query heads must be a multiple of the number of key and value heads.
    a.n_kv_heads = (kv..a.n_heads).find(|&kv| a.n_heads.is_multiple_of(kv)).unwrap_or(a.n_heads);
}

fn experts(arch: &mut ModelArch, keys: &[UnreadKey], text: &HfConfig) {
    let is_expert = |has: &dyn Fn(&str) -> bool| has("expert") || has("experts") || has("moe");
    let is_width = |has: &dyn Fn(&str) -> bool| has("size") || has("dim") || has("width");
    let is_used = |has: &dyn Fn(&str) -> bool| {
        has("per") || has("k") || has("topk") || has("tok") || has("active") || has("top")
    };
    let is_shared = |has: &dyn Fn(&str) -> bool| has("shared") || has("share");
    let is_place = |has: &dyn Fn(&str) -> bool| has("layer") || has("layers") || has("index");
    let count = largest(keys, |has| {
        (has("expert") || has("experts"))
            && !is_width(has)
            && !is_used(has)
            && !is_shared(has)
            && !is_place(has)
    });
    if !arch.has_experts() && count.is_none() {
        return;
    }
    let dense = arch.dense.iter().map(|group: &DenseLayers| group.width).max().unwrap_or(0);
    let width = largest(keys, |has| is_expert(has) && is_width(has) && !is_shared(has))
        .or(text.moe_intermediate_size.states().largest);
    let used = largest(keys, |has| is_expert(has) && is_used(has));
    let shared = largest(keys, |has| is_expert(has) && is_shared(has));
    let known = arch.moe.iter().max_by_key(|moe| moe.layers).copied();
    let n_experts = known.map_or(0, |moe| moe.n_experts).max(count.unwrap_or(0)).max(1);
    let expert_width = known
        .map_or(0, |moe| moe.expert_width)
        .max(width.unwrap_or(if known.is_some() { 0 } else { dense }));
    // A number of shared experts or their width: a width is larger than any number of shared experts.
    let shared =
        shared.map_or(0, |shared| if shared < 64 { shared * expert_width } else { shared });
    let replaced = if n_experts.saturating_mul(expert_width) < dense { dense } else { 0 };
    let all = Moe {
        layers: arch.n_layers,
        n_experts,
        experts_per_token: used
            .or(known.map(|moe| moe.experts_per_token))
            .unwrap_or(n_experts)
            .clamp(1, n_experts),
        expert_width: expert_width.max(1),
        shared_width: known.map_or(0, |moe| moe.shared_width).max(shared).max(replaced),
        shared_gate: known.is_some_and(|moe| moe.shared_gate),
        router_bias: known.is_some_and(|moe| moe.router_bias),
        correction_bias: known.is_none_or(|moe| moe.correction_bias),
        expert_bias: known.is_some_and(|moe| moe.expert_bias),
        ..Moe::PLAIN
    };
    arch.moe = vec![all].into();
    arch.dense = vec![].into();
}
