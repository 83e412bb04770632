//! Dense MLPs and experts: the number of layers of each, and their widths.

use alloc::vec;
use alloc::vec::Vec;

use super::attention::Frame;
use super::entry::{Allowed, Entry, Found, PerLayer};
use super::fields::HfConfig;
use super::reader::{Reader, value};
use super::refusal::{ConfigError, Unsupported};
use super::rules::{DenseWhere, Experts, Rules, Shared};
use crate::error::in_range;
use crate::model_arch::{DenseLayers, MAX_COUNT, MAX_WIDTH, Moe};

/// The MLPs of a model.
#[derive(Debug, Clone)]
pub(super) struct FeedForward {
    pub(super) dense: Vec<DenseLayers>,
    pub(super) bias: bool,
    pub(super) moe: Vec<Moe>,
}

/// Reads the MLPs of all layers.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<FeedForward, ConfigError> {
    let moe = match &rules.experts {
        Some(experts) => mixture(reader, experts, frame.n_layers)?,
        None => None,
    };
    beside(reader, rules, frame, moe)
}

/// Adds the dense MLPs of the layers without experts.
pub(super) fn beside(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
    moe: Option<Moe>,
) -> Result<FeedForward, ConfigError> {
    let layers = frame.n_layers - moe.map_or(0, |moe| moe.layers);
    let moe = moe.into_iter().collect();
    if layers == 0 {
        return Ok(FeedForward { dense: Vec::new(), bias: false, moe });
    }
    let bias = reader.switch(rules.mlp_bias)?;
    let width = match Reader::count(&reader.text.width())? {
        None if rules.four_times => 4 * frame.hidden_size,
        Some(_) | None => reader.size(HfConfig::width, |sizes| sizes.ffn_size)?,
    };
    Ok(FeedForward { dense: vec![DenseLayers { layers, width }], bias, moe })
}

/// Reads the experts of all layers that have them.
pub(super) fn mixture(
    reader: &mut Reader<'_>,
    rules: &Experts,
    n_layers: u64,
) -> Result<Option<Moe>, ConfigError> {
    mixture_of(reader, rules, n_layers, None)
}

/// Reads experts whose width the family may read itself.
pub(super) fn mixture_of(
    reader: &mut Reader<'_>,
    rules: &Experts,
    n_layers: u64,
    width: Option<u64>,
) -> Result<Option<Moe>, ConfigError> {
    let count = reader.text.experts();
    let n_experts = reader.size_or(&count, rules.count)?;
    if n_experts == 0 {
        return Ok(None);
    }
    let sparse = sparse_layers(reader, rules.dense, n_layers)?;
    let layers = sparse.iter().filter(|has_experts| **has_experts).count() as u64;
    reader.order.experts = sparse;
    if layers == 0 {
        return Ok(None);
    }
    let used = reader.text.experts_used();
    let experts_per_token = match rules.per_token {
        Some(default) => reader.size_or(&used, default)?,
        None => reader.size(HfConfig::experts_used, |_| 0)?,
    };
    let expert_width = match (width, rules.width) {
        (Some(width), _) => width,
        (None, Some(default)) => expert_width(reader, default)?,
        (None, None) => width_of_dense(reader)?,
    };
    let shared_width = shared(reader, rules.shared, expert_width)?;
    Ok(Some(Moe {
        layers,
        n_experts,
        experts_per_token,
        expert_width,
        shared_width,
        shared_gate: rules.shared_gate && shared_width > 0,
        router_bias: rules.biases,
        correction_bias: rules.correction_bias && corrects(reader)?,
        expert_bias: rules.biases,
        ..Moe::PLAIN
    }))
}

/// The width of an expert: a number, or a list of equal ones.
fn expert_width(reader: &mut Reader<'_>, default: u64) -> Result<u64, ConfigError> {
    let text = reader.text;
    let field = text.named("moe_intermediate_size", &text.moe_intermediate_size);
    let width = match value(&field)? {
        Some(PerLayer::All(width)) => *width,
        Some(PerLayer::Each(widths)) => {
            let first = widths.first().filter(|first| widths.iter().all(|other| other == *first));
            *first.ok_or(ConfigError::WrongType {
                field: field.name,
                allowed: Allowed::Count,
                found: Found::List,
            })?
        }
        None => {
            reader.assume_size(field.name, default);
            default
        }
    };
    in_range(field.name, width, 0, MAX_WIDTH).map_err(ConfigError::Value)
}

/// The width of a dense MLP as that of an expert; a file may state it twice.
fn width_of_dense(reader: &mut Reader<'_>) -> Result<u64, ConfigError> {
    let width = reader.size(HfConfig::width, |sizes| sizes.ffn_size)?;
    let is_same = match reader.text.moe_intermediate_size.value() {
        Some(PerLayer::All(other)) => *other == width,
        Some(PerLayer::Each(widths)) => widths.iter().all(|other| *other == width),
        None => false,
    };
    if is_same {
        reader.text.settle(&["moe_intermediate_size"]);
    }
    Ok(width)
}

/// Total width of the shared experts.
fn shared(reader: &mut Reader<'_>, rule: Shared, expert_width: u64) -> Result<u64, ConfigError> {
    match rule {
        Shared::Nothing => Ok(0),
        Shared::Width(default) => {
            let field = reader.text.shared_width();
            reader.count_or(&field, default)
        }
        Shared::Count(default) => {
            let field = reader.text.shared_experts();
            let experts = match field.entry {
                Entry::Absent => reader.count_or(&field, default)?,
                Entry::Null | Entry::Value(_) | Entry::Wrong(_) => {
                    Reader::count(&field)?.unwrap_or(0)
                }
            };
            in_range(field.name, experts, 0, MAX_COUNT).map_err(ConfigError::Value)?;
            Ok(experts * expert_width)
        }
    }
}

/// A correction bias belongs to one routing method, which is also the default.
fn corrects(reader: &Reader<'_>) -> Result<bool, ConfigError> {
    let method = reader.text.named("topk_method", &reader.text.topk_method);
    Ok(Reader::text_of(&method)?.is_none_or(|method| method == "noaux_tc"))
}

/// Whether each layer has experts.
fn sparse_layers(
    reader: &mut Reader<'_>,
    rule: DenseWhere,
    n_layers: u64,
) -> Result<Vec<bool>, ConfigError> {
    let text = reader.text;
    if let Some(listed) = listed(reader, n_layers)? {
        return Ok(listed);
    }
    match rule {
        DenseWhere::Nowhere => Ok(each(n_layers, |_| true)),
        DenseWhere::Outside(start) => between(reader, start, n_layers),
        DenseWhere::First(default) => {
            let frequency = text.named("moe_layer_freq", &text.moe_layer_freq);
            match value(&frequency)? {
                None | Some(PerLayer::All(1)) => {}
                Some(PerLayer::Each(flags)) => return flagged(frequency.name, flags, n_layers),
                Some(PerLayer::All(_)) => {
                    let model = text.model_type.value().cloned().unwrap_or_default();
                    let part = Unsupported::InterleavedExperts;
                    return Err(ConfigError::Unsupported { part, model });
                }
            }
            if let Some(listed) =
                Reader::text_of(&text.named("moe_layers_enum", &text.moe_layers_enum))?
            {
                return Ok(enumerated(listed, n_layers));
            }
            let field = text.dense_first();
            let first = reader.count_or(&field, default)?;
            let first = in_range(field.name, first, 0, n_layers).map_err(ConfigError::Value)?;
            Ok(each(n_layers, |layer| layer >= first))
        }
        DenseWhere::Listed => {
            let field = text.named("decoder_sparse_step", &text.decoder_sparse_step);
            let step = in_range(field.name, reader.count_or(&field, 1)?, 1, MAX_COUNT)
                .map_err(ConfigError::Value)?;
            let listed = value(&text.named("mlp_only_layers", &text.mlp_only_layers))?;
            let dense = listed.map_or(&[][..], Vec::as_slice);
            Ok(stepped(dense, step, n_layers))
        }
    }
}

/// A flag per layer.
pub(super) fn each(n_layers: u64, has_experts: impl Fn(u64) -> bool) -> Vec<bool> {
    (0..n_layers).map(has_experts).collect()
}

/// A list with a flag per layer, 1 for experts.
fn flagged(field: &'static str, flags: &[u64], n_layers: u64) -> Result<Vec<bool>, ConfigError> {
    let entries = flags.len() as u64;
    if entries != n_layers {
        return Err(ConfigError::ListLength { field, entries, layers: n_layers });
    }
    Ok(flags.iter().map(|flag| *flag != 0).collect())
}

/// The layers with experts in a text such as `3,4,5`.
fn enumerated(listed: &str, n_layers: u64) -> Vec<bool> {
    let layers: Vec<u64> =
        listed.split(',').filter_map(|layer| layer.trim().parse().ok()).collect();
    each(n_layers, |layer| layers.contains(&layer))
}

/// The layers with experts in `is_moe_layer` or `mlp_layer_types`, one entry per layer; `None` if the file has no such list.
fn listed(reader: &Reader<'_>, n_layers: u64) -> Result<Option<Vec<bool>>, ConfigError> {
    let text = reader.text;
    let flags = text.named("is_moe_layer", &text.is_moe_layer);
    if let Some(flags) = value(&flags)? {
        text.settle(&["first_k_dense_replace", "mlp_layer_types"]);
        let flags: Vec<u64> = flags.iter().map(|&flag| u64::from(flag)).collect();
        return flagged("is_moe_layer", &flags, n_layers).map(Some);
    }
    let field = text.named("mlp_layer_types", &text.mlp_layer_types);
    let Some(kinds) = Reader::per_layer(&field, n_layers)? else { return Ok(None) };
    if kinds.iter().any(|kind| !["dense", "sparse", "moe", "hash_moe"].contains(&&**kind)) {
        let model = reader.text.model_type.value().cloned().unwrap_or_default();
        return Err(ConfigError::Unsupported { part: Unsupported::InterleavedExperts, model });
    }
    reader.text.settle(&["first_k_dense_replace", "moe_layer_freq"]);
    Ok(Some(kinds.iter().map(|kind| kind != "dense").collect()))
}

/// The layers i with experts: from start to end, where (i + 1) % interval = 0. An end of -1 is the last layer.
fn between(reader: &mut Reader<'_>, first: u64, n_layers: u64) -> Result<Vec<bool>, ConfigError> {
    let text = reader.text;
    let start = text.named("moe_layer_start_index", &text.moe_layer_start_index);
    let start = in_range(start.name, reader.count_or(&start, first)?, 0, n_layers)
        .map_err(ConfigError::Value)?;
    let end = text.named("moe_layer_end_index", &text.moe_layer_end_index);
    let end = match end.entry {
        Entry::Wrong(Found::Number(number)) if *number < 0.0 => None,
        Entry::Absent | Entry::Null | Entry::Value(_) | Entry::Wrong(_) => match value(&end)? {
            // Experts for text and for images end at layers of their own.
            Some(PerLayer::Each(ends)) => ends.iter().max().copied(),
            Some(PerLayer::All(end)) => Some(*end),
            None => None,
        },
    };
    let end = end.map_or(n_layers, |last| last.saturating_add(1));
    let every = text.named("moe_layer_interval", &text.moe_layer_interval);
    let every = in_range(every.name, reader.count_or(&every, 1)?, 1, MAX_COUNT)
        .map_err(ConfigError::Value)?;
    Ok(each(n_layers, |i| i >= start && i < end && (i + 1).is_multiple_of(every)))
}

/// The layers i with (i + 1) % step = 0 that are not in the list.
fn stepped(dense: &[u64], step: u64, n_layers: u64) -> Vec<bool> {
    each(n_layers, |i| (i + 1).is_multiple_of(step) && !dense.contains(&i))
}

#[cfg(test)]
mod tests {
    use super::stepped;

    #[test]
    fn listed_layers_are_dense_once() {
        let sparse = |dense: &[u64], step| {
            stepped(dense, step, 24).iter().filter(|has_experts| **has_experts).count()
        };
        assert_eq!(sparse(&[], 1), 24);
        assert_eq!(sparse(&[], 2), 12);
        assert_eq!(sparse(&[0, 1, 1, 99, u64::MAX], 2), 11);
    }
}
