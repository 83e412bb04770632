//! Heads, biases, windows and latent attention.

use alloc::vec::Vec;

use super::AssumedValue;
use super::entry::Entry;
use super::fields::HfConfig;
use super::order::Kind;
use super::reader::Reader;
use super::refusal::{ConfigError, Unsupported};
use super::rules::{KvHeads, Rules, Windows};
use crate::error::in_range;
use crate::model_arch::{Attention, AttentionBias, MAX_HEAD, Mla, QkNorm};

/// Properties of the model that attention depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) hidden_size: u64,
    pub(super) n_layers: u64,
    pub(super) vocab_size: u64,
    pub(super) max_context: Option<u64>,
}

/// Number of windowed layers, and their window in tokens.
#[derive(Debug, Clone, Copy)]
struct Windowed {
    layers: u64,
    window: u64,
}

const NO_WINDOW: Windowed = Windowed { layers: 0, window: 0 };
/// Default of `max_window_layers` in all classes that have it.
const MAX_WINDOW_LAYERS: u64 = 28;
/// Fields from which `layer_types` was derived; they have no effect beside it or without a window.
const WINDOW_FIELDS: [&str; 5] = [
    "sliding_window",
    "max_window_layers",
    "layer_types",
    "sliding_window_pattern",
    "hidden_sliding_window_pattern",
];

/// Sizes of latent attention.
const LATENT_FIELDS: [&str; 5] =
    ["q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"];

/// Reads the softmax attention of the model.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Attention, ConfigError> {
    let windowed = windows(reader, rules, frame)?;
    reader.order.mixers = windowed_layers(reader, rules.windows, frame.n_layers, windowed.layers);
    let mut attention = heads(reader, rules, frame)?;
    attention.full_layers = frame.n_layers - windowed.layers;
    attention.windowed_layers = windowed.layers;
    attention.window = windowed.window;
    Ok(attention)
}

/// Reads the heads of softmax attention, without layers.
pub(super) fn heads(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Attention, ConfigError> {
    let heads = heads_without_norm(reader, rules, frame)?;
    Ok(Attention { qk_norm: qk_norm(reader, rules)?, ..heads })
}

/// Reads the heads where the family counts the norms of queries and keys itself.
pub(super) fn heads_without_norm(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Attention, ConfigError> {
    let n_heads = reader.size(HfConfig::heads, |sizes| sizes.n_heads)?;
    let biased = reader.switch(rules.attention_bias)?;
    let latent = latent(reader, rules)?;
    let (n_kv_heads, head_dim, v_head_dim) = if let Some((mla, v_head_dim)) = latent {
        reader.text.settle(&["num_key_value_heads", "num_kv_heads", "head_dim"]);
        (n_heads, mla.rope_dim + mla.nope_dim, v_head_dim)
    } else {
        let size = head_dim(reader, rules, frame.hidden_size, n_heads)?;
        (kv_heads(reader, rules.kv_heads, n_heads)?, size, size)
    };
    Ok(Attention {
        n_heads,
        n_kv_heads,
        head_dim,
        v_head_dim,
        bias: if biased { rules.bias_kind } else { AttentionBias::None },
        sinks: rules.sinks,
        latent: latent.map(|(mla, _)| mla),
        ..Attention::PLAIN
    })
}

fn kv_heads(reader: &mut Reader<'_>, rule: KvHeads, n_heads: u64) -> Result<u64, ConfigError> {
    let field = reader.text.kv_heads();
    match rule {
        KvHeads::NotGrouped => Ok(n_heads),
        // `null` means as many as query heads, whatever the default for an absent field.
        KvHeads::Default(default) if matches!(field.entry, Entry::Absent) => {
            reader.size_or(&field, default)
        }
        KvHeads::AsHeads | KvHeads::Default(_) => reader.count_or(&field, n_heads),
        KvHeads::Falcon(new) => {
            if reader.falcon_is_new(new)? {
                reader.text.settle(&["multi_query"]);
                return reader.count_or(&field, n_heads);
            }
            // The old architecture ignores `num_kv_heads`; falcon-7b states 71 and has 1.
            multi_query(reader, true, n_heads)
        }
        KvHeads::Switched => {
            let flag = reader.text.multi_query_flag();
            if reader.flag_or(&flag, false)? { reader.size_or(&field, 2) } else { Ok(n_heads) }
        }
        KvHeads::MultiQuery(default) => multi_query(reader, default, n_heads),
    }
}

/// Number of key and value heads: one for all query heads, or one for each.
fn multi_query(reader: &mut Reader<'_>, default: bool, n_heads: u64) -> Result<u64, ConfigError> {
    let field = reader.text.multi_query_flag();
    Ok(if reader.flag_or(&field, default)? { 1 } else { n_heads })
}

fn head_dim(
    reader: &mut Reader<'_>,
    rules: &Rules,
    hidden: u64,
    n_heads: u64,
) -> Result<u64, ConfigError> {
    let field = reader.text.head_size();
    if let Some(size) = Reader::count(&field)? {
        return Ok(size);
    }
    if let Some(default) = rules.head_dim {
        return reader.size_or(&field, default);
    }
    if !hidden.is_multiple_of(n_heads) {
        let by = reader.text.heads().name;
        let field = reader.text.hidden().name;
        return Err(ConfigError::NotDivisible { field, value: hidden, by, divisor: n_heads });
    }
    if matches!(field.entry, Entry::Absent) {
        reader.assume("head_dim", AssumedValue::Count(hidden / n_heads));
    }
    Ok(hidden / n_heads)
}

fn qk_norm(reader: &mut Reader<'_>, rules: &Rules) -> Result<QkNorm, ConfigError> {
    let text = reader.text;
    let is_stated = text.qk_layernorm.is_given() || text.use_qk_norm.is_given();
    if rules.qk_layernorm.is_some_and(|norm| norm != rules.qk_norm) && !is_stated {
        reader.assume("use_qk_norm", AssumedValue::Flag(false));
    }
    let named = Reader::flag(&text.named("qk_layernorm", &text.qk_layernorm))?.unwrap_or(false);
    let used = Reader::flag(&text.named("use_qk_norm", &text.use_qk_norm))?.unwrap_or(false);
    match rules.qk_layernorm {
        Some(norm) if named || used => Ok(norm),
        None if named => Err(unsupported(reader, Unsupported::QkLayerNorm)),
        Some(_) | None => Ok(rules.qk_norm),
    }
}

pub(super) fn unsupported(reader: &Reader<'_>, part: Unsupported) -> ConfigError {
    ConfigError::Unsupported {
        part,
        model: reader.text.model_type.value().cloned().unwrap_or_default(),
    }
}

/// The layers with a window. A window at least as long as the context is ignored.
fn windows(reader: &mut Reader<'_>, rules: &Rules, frame: &Frame) -> Result<Windowed, ConfigError> {
    let found = match rules.windows {
        Windows::Never => NO_WINDOW,
        Windows::Every(default) => every(reader, default, frame.n_layers)?,
        Windows::Listed => only_listed(reader, frame.n_layers)?,
        Windows::Even(default) => {
            if matches!(reader.text.layer_types, Entry::Absent) {
                reader.assume("layer_types", AssumedValue::Word("a window in every other layer"));
            }
            ordered(reader, default, frame.n_layers, frame.n_layers.div_ceil(2))?
        }
        Windows::Pattern { window, every } => {
            let field = reader.text.window_pattern();
            let pattern = if reader.text.layer_types.is_given() {
                every
            } else {
                reader.count_or(&field, every)?
            };
            let pattern = in_range(field.name, pattern, 1, u64::MAX).map_err(ConfigError::Value)?;
            ordered(reader, window, frame.n_layers, frame.n_layers - frame.n_layers / pattern)?
        }
        Windows::Switched | Windows::SwitchedFrom | Windows::SwitchedEven => {
            switched(reader, rules.windows, frame.n_layers)?
        }
    };
    let endless = frame.max_context.is_some_and(|context| found.window >= context);
    Ok(if endless || found.layers == 0 { NO_WINDOW } else { found })
}

/// The kind of each layer by the rule of the family, where it agrees with the number of windowed layers; else nothing.
fn windowed_layers(reader: &Reader<'_>, rule: Windows, n_layers: u64, windowed: u64) -> Vec<Kind> {
    let text = reader.text;
    let listed = text.layer_types.value();
    let before = text.max_window_layers.value().copied().unwrap_or(MAX_WINDOW_LAYERS);
    let period = text.window_pattern().entry.value().copied();
    let is_windowed = |layer: u64| match (listed, rule) {
        (Some(list), _) => usize::try_from(layer)
            .ok()
            .and_then(|layer| list.get(layer))
            .is_some_and(|kind| kind == "sliding_attention"),
        (None, Windows::Even(_)) => layer.is_multiple_of(2),
        (None, Windows::SwitchedEven) => layer < before && layer.is_multiple_of(2),
        (None, Windows::SwitchedFrom) => layer >= before,
        (None, Windows::Pattern { every, .. }) => {
            !(layer + 1).is_multiple_of(period.unwrap_or(every))
        }
        (None, Windows::Every(_) | Windows::Switched) => true,
        (None, Windows::Never | Windows::Listed) => false,
    };
    let kind = |layer| if is_windowed(layer) { Kind::Sliding } else { Kind::Full };
    let kinds: Vec<Kind> = (0..n_layers).map(kind).collect();
    let found = kinds.iter().filter(|kind| **kind == Kind::Sliding).count() as u64;
    if found == windowed { kinds } else { Vec::new() }
}

/// For an unknown architecture, a window counts only if the file lists the layers that have it. A window without such a list
/// stays unread, and `unread` refuses it.
fn only_listed(reader: &mut Reader<'_>, n_layers: u64) -> Result<Windowed, ConfigError> {
    let text = reader.text;
    if Reader::flag(&text.named("use_sliding_window", &text.use_sliding_window))? == Some(false) {
        text.settle(&WINDOW_FIELDS);
        return Ok(NO_WINDOW);
    }
    if !text.sliding_window.is_given() {
        text.settle(&["max_window_layers"]);
    }
    let Some(layers) = listed(reader, n_layers)?.filter(|&layers| layers > 0) else {
        return Ok(NO_WINDOW);
    };
    text.settle(&WINDOW_FIELDS);
    let window = window(reader, None)?.ok_or(ConfigError::Missing { field: "sliding_window" })?;
    Ok(Windowed { layers, window })
}

fn every(
    reader: &mut Reader<'_>,
    default: Option<u64>,
    n_layers: u64,
) -> Result<Windowed, ConfigError> {
    reader.text.settle(&["use_sliding_window"]);
    let layers = listed(reader, n_layers)?.unwrap_or(n_layers);
    Ok(window(reader, default)?.map_or(NO_WINDOW, |window| Windowed { layers, window }))
}

fn ordered(
    reader: &mut Reader<'_>,
    default: u64,
    n_layers: u64,
    layers: u64,
) -> Result<Windowed, ConfigError> {
    let layers = listed(reader, n_layers)?.unwrap_or(layers);
    Ok(window(reader, Some(default))?.map_or(NO_WINDOW, |window| Windowed { layers, window }))
}

/// Qwen and similar: a window counts only with `use_sliding_window`, which most files with a window set to false.
fn switched(
    reader: &mut Reader<'_>,
    rule: Windows,
    n_layers: u64,
) -> Result<Windowed, ConfigError> {
    reader.text.settle(&WINDOW_FIELDS);
    // A list of kinds must hold even where no layer has a window.
    let listed = listed(reader, n_layers)?;
    let Some(window) = window(reader, None)? else { return Ok(NO_WINDOW) };
    let field = reader.text.named("use_sliding_window", &reader.text.use_sliding_window);
    if !reader.flag_or(&field, false)? {
        return Ok(NO_WINDOW);
    }
    if let Some(layers) = listed {
        return Ok(Windowed { layers, window });
    }
    let layers = match rule {
        Windows::SwitchedFrom => n_layers - max_window_layers(reader)?.min(n_layers),
        Windows::SwitchedEven => max_window_layers(reader)?.min(n_layers).div_ceil(2),
        Windows::Never
        | Windows::Every(_)
        | Windows::Switched
        | Windows::Listed
        | Windows::Even(_)
        | Windows::Pattern { .. } => n_layers,
    };
    Ok(Windowed { layers, window })
}

fn max_window_layers(reader: &mut Reader<'_>) -> Result<u64, ConfigError> {
    let field = reader.text.named("max_window_layers", &reader.text.max_window_layers);
    reader.count_or(&field, MAX_WINDOW_LAYERS)
}

/// The window: `null` means none, an absent field the default.
pub(super) fn window(
    reader: &mut Reader<'_>,
    default: Option<u64>,
) -> Result<Option<u64>, ConfigError> {
    let field = reader.text.named("sliding_window", &reader.text.sliding_window);
    match (field.entry, default) {
        (Entry::Absent, Some(default)) => reader.count_or(&field, default).map(Some),
        (Entry::Absent | Entry::Null | Entry::Value(_) | Entry::Wrong(_), _) => {
            Reader::count(&field)
        }
    }
}

/// Number of windowed layers in `layer_types`, one entry per layer; `None` if the file has no such list.
fn listed(reader: &Reader<'_>, n_layers: u64) -> Result<Option<u64>, ConfigError> {
    let field = reader.text.named("layer_types", &reader.text.layer_types);
    let Some(kinds) = Reader::per_layer(&field, n_layers)? else { return Ok(None) };
    let is = |kind: &str| kinds.iter().filter(|entry| *entry == kind).count() as u64;
    let windowed = is("sliding_attention");
    if windowed + is("full_attention") < n_layers {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    }
    Ok(Some(windowed))
}

/// Reads the latent attention of the families that have it, and the width of a value head.
fn latent(reader: &mut Reader<'_>, rules: &Rules) -> Result<Option<(Mla, u64)>, ConfigError> {
    let Some(defaults) = &rules.latent else { return Ok(None) };
    let text = reader.text;
    // DeepSeek-OCR has plain heads under the model type of DeepSeek V2.
    if Reader::flag(&text.named("use_mla", &text.use_mla))? == Some(false) {
        text.settle(&LATENT_FIELDS);
        return Ok(None);
    }
    let rank = text.named("q_lora_rank", &text.q_lora_rank);
    let q_lora_rank = match (rank.entry, defaults.query_rank) {
        (Entry::Absent, Some(default)) => Some(reader.count_or(&rank, default)?),
        // `null` means that queries are projected directly.
        (Entry::Absent | Entry::Null | Entry::Value(_) | Entry::Wrong(_), _) => {
            Reader::count(&rank)?
        }
    };
    let mla = Mla {
        q_lora_rank,
        kv_lora_rank: reader
            .size_or(&text.named("kv_lora_rank", &text.kv_lora_rank), defaults.rank)?,
        rope_dim: head_part(reader, "qk_rope_head_dim", &text.qk_rope_head_dim, defaults.rope)?,
        nope_dim: head_part(reader, "qk_nope_head_dim", &text.qk_nope_head_dim, defaults.nope)?,
    };
    Ok(Some((mla, head_part(reader, "v_head_dim", &text.v_head_dim, defaults.value)?)))
}

fn head_part(
    reader: &mut Reader<'_>,
    name: &'static str,
    entry: &Entry<u64>,
    default: u64,
) -> Result<u64, ConfigError> {
    let size = reader.count_or(&reader.text.named(name, entry), default)?;
    in_range(name, size, 0, MAX_HEAD).map_err(ConfigError::Value)
}
