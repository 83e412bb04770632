//! Dense MLPs and experts: how many layers of each, and how wide.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::Entry;
use super::fields::{HfConfig, Named};
use super::reader::{Reader, value};
use super::refusal::{ConfigError, Unsupported};
use super::rules::{DenseWhere, Experts, Rules, Shared};
use crate::error::in_range;
use crate::model_arch::{DenseLayers, MAX_COUNT, Moe};

/// MLPs of a model.
#[derive(Debug, Clone)]
pub(super) struct FeedForward {
    pub(super) dense: Vec<DenseLayers>,
    pub(super) bias: bool,
    pub(super) moe: Option<Moe>,
}

/// MLPs by layer.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rules: &Rules,
    hidden: u64,
    n_layers: u64,
) -> Result<FeedForward, ConfigError> {
    let moe = match &rules.experts {
        Some(experts) => mixture(reader, experts, n_layers)?,
        None => None,
    };
    let layers = n_layers - moe.map_or(0, |moe| moe.layers);
    if layers == 0 {
        return Ok(FeedForward { dense: Vec::new(), bias: false, moe });
    }
    let bias = reader.switch(rules.mlp_bias)?;
    let nested = rules.sizes.filter(|_| reader.is_nested()).map(|sizes| sizes.ffn_size);
    let width = match (Reader::count(&reader.text.width())?, nested) {
        (None, None) if rules.four_times => 4 * hidden,
        _ => reader.size(HfConfig::width, nested)?,
    };
    Ok(FeedForward { dense: vec![DenseLayers { layers, width }], bias, moe })
}

fn mixture(
    reader: &mut Reader<'_>,
    rules: &Experts,
    n_layers: u64,
) -> Result<Option<Moe>, ConfigError> {
    let count = reader.text.experts();
    let n_experts = reader.count_or(&count, rules.count)?;
    let layers =
        if n_experts == 0 { 0 } else { n_layers - dense_layers(reader, rules.dense, n_layers)? };
    if layers == 0 {
        return Ok(None);
    }
    let used = reader.text.experts_used();
    let experts_per_token = match rules.per_token {
        Some(default) => reader.count_or(&used, default)?,
        None => reader.size(HfConfig::experts_used, None)?,
    };
    let expert_width = match rules.width {
        Some(default) => {
            let entry = &reader.text.moe_intermediate_size;
            reader.count_or(&Named { name: "moe_intermediate_size", entry }, default)?
        }
        None => reader.size(HfConfig::width, None)?,
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
    }))
}

/// Width of the shared experts together.
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

/// A correction bias belongs to one way of choosing experts, which is also the default.
fn corrects(reader: &Reader<'_>) -> Result<bool, ConfigError> {
    let method = Named { name: "topk_method", entry: &reader.text.topk_method };
    Ok(Reader::text_of(&method)?.is_none_or(|method| method == "noaux_tc"))
}

/// Layers without experts.
fn dense_layers(
    reader: &mut Reader<'_>,
    rule: DenseWhere,
    n_layers: u64,
) -> Result<u64, ConfigError> {
    let text = reader.text;
    match rule {
        DenseWhere::Nowhere => Ok(0),
        DenseWhere::First(default) => {
            let frequency = Named { name: "moe_layer_freq", entry: &text.moe_layer_freq };
            if Reader::count(&frequency)?.is_some_and(|every| every != 1) {
                let model = text.model_type.value().cloned().unwrap_or_default();
                return Err(ConfigError::Unsupported {
                    part: Unsupported::InterleavedExperts,
                    model,
                });
            }
            let field = Named { name: "first_k_dense_replace", entry: &text.first_k_dense_replace };
            let first = reader.count_or(&field, default)?;
            in_range(field.name, first, 0, n_layers).map_err(ConfigError::Value)
        }
        DenseWhere::Listed => {
            let field = Named { name: "decoder_sparse_step", entry: &text.decoder_sparse_step };
            let step = in_range(field.name, reader.count_or(&field, 1)?, 1, MAX_COUNT)
                .map_err(ConfigError::Value)?;
            let listed = value(&Named { name: "mlp_only_layers", entry: &text.mlp_only_layers })?;
            Ok(n_layers - sparse_layers(listed.map_or(&[], Vec::as_slice), step, n_layers))
        }
    }
}

/// Layers i with (i + 1) % step = 0 that are not in the list.
fn sparse_layers(listed: &[u64], step: u64, n_layers: u64) -> u64 {
    let mut dense: Vec<u64> = listed
        .iter()
        .copied()
        .filter(|&layer| layer < n_layers && (layer + 1).is_multiple_of(step))
        .collect();
    dense.sort_unstable();
    dense.dedup();
    n_layers / step - dense.len() as u64
}

#[cfg(test)]
mod tests {
    use super::sparse_layers;

    #[test]
    fn listed_layers_are_dense_once() {
        assert_eq!(sparse_layers(&[], 1, 24), 24);
        assert_eq!(sparse_layers(&[], 2, 24), 12);
        assert_eq!(sparse_layers(&[0, 1, 1, 99, u64::MAX], 2, 24), 11);
    }
}
