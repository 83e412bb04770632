//! Heads, biases, windows and latent attention.

use super::AssumedValue;
use super::entry::Entry;
use super::fields::{HfConfig, Named};
use super::reader::{Reader, value};
use super::refusal::{ConfigError, Unsupported};
use super::rules::{KvHeads, Rules, Windows};
use crate::error::in_range;
use crate::model_arch::{Attention, AttentionBias, MAX_HEAD, Mla, QkNorm};

/// What attention needs to know of the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) hidden_size: u64,
    pub(super) n_layers: u64,
    pub(super) max_context: Option<u64>,
}

/// Layers with a window, and the window.
#[derive(Debug, Clone, Copy)]
struct Windowed {
    layers: u64,
    window: u64,
}

const NO_WINDOW: Windowed = Windowed { layers: 0, window: 0 };
/// Default of `max_window_layers` in all classes that have it.
const MAX_WINDOW_LAYERS: u64 = 28;
/// Default of `sliding_window_pattern`.
const WINDOW_PATTERN: u64 = 6;

/// Softmax attention of the model; with latent attention its heads only.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Attention, ConfigError> {
    let sizes = rules.sizes.filter(|_| reader.is_nested());
    let n_heads = reader.size(HfConfig::heads, sizes.map(|s| s.n_heads))?;
    let windowed = windows(reader, rules, frame)?;
    let biased = reader.switch(rules.attention_bias)?;
    let (n_kv_heads, head_dim) = if rules.latent {
        (n_heads, latent_head(reader)?)
    } else {
        (
            kv_heads(reader, rules.kv_heads, n_heads)?,
            head_dim(reader, rules, frame.hidden_size, n_heads)?,
        )
    };
    Ok(Attention {
        n_heads,
        n_kv_heads,
        head_dim,
        full_layers: frame.n_layers - windowed.layers,
        windowed_layers: windowed.layers,
        window: windowed.window,
        bias: if biased { rules.bias_kind } else { AttentionBias::None },
        qk_norm: qk_norm(reader, rules)?,
        sinks: rules.sinks,
    })
}

fn kv_heads(reader: &mut Reader<'_>, rule: KvHeads, n_heads: u64) -> Result<u64, ConfigError> {
    let field = reader.text.kv_heads();
    match rule {
        KvHeads::NotGrouped => Ok(n_heads),
        // `null` means as many as query heads, whatever the default of an absent field.
        KvHeads::Default(default) if matches!(field.entry, Entry::Absent) => {
            reader.count_or(&field, default)
        }
        KvHeads::AsHeads | KvHeads::Default(_) => reader.count_or(&field, n_heads),
        KvHeads::Falcon(new) => {
            if reader.falcon_is_new(new)? {
                return reader.count_or(&field, n_heads);
            }
            // `num_kv_heads` is ignored by the old architecture; falcon-7b says 71 and has 1.
            let entry = &reader.text.multi_query;
            let shared = reader.flag_or(&Named { name: "multi_query", entry }, true)?;
            Ok(if shared { 1 } else { n_heads })
        }
    }
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
        return reader.count_or(&field, default);
    }
    if !hidden.is_multiple_of(n_heads) {
        let by = reader.text.heads().name;
        let field = reader.text.hidden().name;
        return Err(ConfigError::NotDivisible { field, value: hidden, by, divisor: n_heads });
    }
    if reader.is_guess() {
        reader.assume("head_dim", AssumedValue::Count(hidden / n_heads));
    }
    Ok(hidden / n_heads)
}

fn qk_norm(reader: &Reader<'_>, rules: &Rules) -> Result<QkNorm, ConfigError> {
    let entry = &reader.text.qk_layernorm;
    if !Reader::flag(&Named { name: "qk_layernorm", entry })?.unwrap_or(false) {
        return Ok(rules.qk_norm);
    }
    rules.qk_layernorm.ok_or_else(|| unsupported(reader, Unsupported::QkLayerNorm))
}

fn unsupported(reader: &Reader<'_>, part: Unsupported) -> ConfigError {
    ConfigError::Unsupported {
        part,
        model: reader.text.model_type.value().cloned().unwrap_or_default(),
    }
}

/// Which layers have a window. A window that the context cannot leave is none.
fn windows(reader: &mut Reader<'_>, rules: &Rules, frame: &Frame) -> Result<Windowed, ConfigError> {
    let found = match rules.windows {
        Windows::Never => NO_WINDOW,
        Windows::Every(default) => every(reader, default, frame.n_layers)?,
        Windows::Even(default) => {
            ordered(reader, default, frame.n_layers, frame.n_layers.div_ceil(2))?
        }
        Windows::Pattern(default) => {
            let field = reader.text.window_pattern();
            let pattern = if reader.text.layer_types.is_given() {
                WINDOW_PATTERN
            } else {
                reader.count_or(&field, WINDOW_PATTERN)?
            };
            let pattern = in_range(field.name, pattern, 1, u64::MAX).map_err(ConfigError::Value)?;
            ordered(reader, default, frame.n_layers, frame.n_layers - frame.n_layers / pattern)?
        }
        Windows::Switched | Windows::SwitchedFrom | Windows::SwitchedEven => {
            switched(reader, rules.windows, frame.n_layers)?
        }
    };
    let endless = frame.max_context.is_some_and(|context| found.window >= context);
    Ok(if endless || found.layers == 0 { NO_WINDOW } else { found })
}

fn every(
    reader: &mut Reader<'_>,
    default: Option<u64>,
    n_layers: u64,
) -> Result<Windowed, ConfigError> {
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

/// Qwen and kin: a window counts only with `use_sliding_window`, which most files have off beside a window.
fn switched(
    reader: &mut Reader<'_>,
    rule: Windows,
    n_layers: u64,
) -> Result<Windowed, ConfigError> {
    let Some(window) = window(reader, None)? else { return Ok(NO_WINDOW) };
    let entry = &reader.text.use_sliding_window;
    if !reader.flag_or(&Named { name: "use_sliding_window", entry }, false)? {
        return Ok(NO_WINDOW);
    }
    if let Some(layers) = listed(reader, n_layers)? {
        return Ok(Windowed { layers, window });
    }
    let layers = match rule {
        Windows::SwitchedFrom => n_layers - max_window_layers(reader)?.min(n_layers),
        Windows::SwitchedEven => max_window_layers(reader)?.min(n_layers).div_ceil(2),
        Windows::Never
        | Windows::Every(_)
        | Windows::Switched
        | Windows::Even(_)
        | Windows::Pattern(_) => n_layers,
    };
    Ok(Windowed { layers, window })
}

fn max_window_layers(reader: &mut Reader<'_>) -> Result<u64, ConfigError> {
    let entry = &reader.text.max_window_layers;
    reader.count_or(&Named { name: "max_window_layers", entry }, MAX_WINDOW_LAYERS)
}

/// The window: `null` is none, absent is the default.
fn window(reader: &mut Reader<'_>, default: Option<u64>) -> Result<Option<u64>, ConfigError> {
    let field = Named { name: "sliding_window", entry: &reader.text.sliding_window };
    match (field.entry, default) {
        (Entry::Absent, Some(default)) => reader.count_or(&field, default).map(Some),
        (Entry::Absent | Entry::Null | Entry::Value(_) | Entry::Wrong(_), _) => {
            Reader::count(&field)
        }
    }
}

/// Windowed layers of `layer_types`, one entry per layer; `None` if the file has no such list.
fn listed(reader: &Reader<'_>, n_layers: u64) -> Result<Option<u64>, ConfigError> {
    let name = "layer_types";
    let Some(kinds) = value(&Named { name, entry: &reader.text.layer_types })? else {
        return Ok(None);
    };
    let entries = kinds.len() as u64;
    if entries != n_layers {
        return Err(ConfigError::ListLength { field: name, entries, layers: n_layers });
    }
    let is = |kind: &str| kinds.iter().filter(|entry| *entry == kind).count() as u64;
    let windowed = is("sliding_attention");
    if windowed + is("full_attention") < entries {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    }
    Ok(Some(windowed))
}

/// Latent attention, for the families that have it.
pub(super) fn latent(reader: &mut Reader<'_>, rules: &Rules) -> Result<Option<Mla>, ConfigError> {
    if !rules.latent {
        return Ok(None);
    }
    let text = reader.text;
    if Reader::flag(&Named { name: "attention_bias", entry: &text.attention_bias })? == Some(true) {
        return Err(unsupported(reader, Unsupported::LatentBias));
    }
    let rank = Named { name: "q_lora_rank", entry: &text.q_lora_rank };
    let q_lora_rank = match rank.entry {
        Entry::Absent => Some(reader.count_or(&rank, 1536)?),
        // `null` projects queries directly.
        Entry::Null | Entry::Value(_) | Entry::Wrong(_) => Reader::count(&rank)?,
    };
    Ok(Some(Mla {
        q_lora_rank,
        kv_lora_rank: reader
            .count_or(&Named { name: "kv_lora_rank", entry: &text.kv_lora_rank }, 512)?,
        rope_dim: head_part(reader, "qk_rope_head_dim", &text.qk_rope_head_dim, 64)?,
        nope_dim: head_part(reader, "qk_nope_head_dim", &text.qk_nope_head_dim, 128)?,
        v_head_dim: head_part(reader, "v_head_dim", &text.v_head_dim, 128)?,
    }))
}

fn head_part(
    reader: &mut Reader<'_>,
    name: &'static str,
    entry: &Entry<u64>,
    default: u64,
) -> Result<u64, ConfigError> {
    let size = reader.count_or(&Named { name, entry }, default)?;
    in_range(name, size, 0, MAX_HEAD).map_err(ConfigError::Value)
}

fn latent_head(reader: &mut Reader<'_>) -> Result<u64, ConfigError> {
    let text = reader.text;
    let rope = head_part(reader, "qk_rope_head_dim", &text.qk_rope_head_dim, 64)?;
    Ok(rope + head_part(reader, "qk_nope_head_dim", &text.qk_nope_head_dim, 128)?)
}
