//! Nemotron-H and Nemotron 3: every layer is one part, by a pattern of letters.

use alloc::string::String;
use alloc::vec::Vec;

use super::super::attention::{self, Frame, unsupported};
use super::super::feed_forward::{self, FeedForward};
use super::super::fields::HfConfig;
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::super::rules::Rules;
use super::hybrid::{Mamba2Defaults, mamba2_sizes};
use super::{Layers, NormCount};
use crate::model_arch::{Attention, DenseLayers, LayerGroup, LayerPart, Moe, Recurrent};

/// Nemotron-H and Nemotron 3: a pattern of letters, one part per layer.
pub(super) fn nemotron_h(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let parts = pattern(reader, frame.n_layers)?;
    let of = |part: char| parts.iter().filter(|other| **other == part).count() as u64;
    let mut found = Vec::new();
    if of('*') > 0 {
        let heads = attention::heads(reader, rules, frame)?;
        found.push(Attention { full_layers: of('*'), ..heads });
    } else {
        text.settle(&[
            "num_attention_heads",
            "num_key_value_heads",
            "head_dim",
            "attention_head_dim",
        ]);
    }
    let defaults = Mamba2Defaults { heads: 128, state: 128, groups: 8, kernel: 4 };
    let mut group = mamba2_sizes(reader, defaults, None)?;
    group.layers = of('M');
    let part = |letter: &char| {
        Vec::from([LayerPart::of(match letter {
            'M' => LayerGroup::Recurrent(0),
            '*' => LayerGroup::Attention(0),
            'E' => LayerGroup::Experts(0),
            _ => LayerGroup::Dense(0),
        })])
    };
    reader.order.parts = parts.iter().map(part).collect();
    text.settle(&[
        "expand",
        "mamba_expand",
        "mtp_layers_block_type",
        "mtp_hybrid_override_pattern",
    ]);
    // The shared experts are one MLP of the stated width.
    text.settle(&["n_shared_experts"]);
    let mut moe = Vec::new();
    if of('E') == 0 {
        text.settle(&[
            "n_routed_experts",
            "num_experts_per_tok",
            "moe_intermediate_size",
            "moe_shared_expert_intermediate_size",
            "moe_latent_size",
        ]);
    } else {
        let Some(experts) = &rules.experts else {
            return Err(unsupported(reader, Unsupported::InterleavedExperts));
        };
        let latent = Reader::count(&named!(text, moe_latent_size))?;
        let read = feed_forward::mixture(reader, experts, of('E'))?;
        moe.extend(read.map(|one| Moe { latent: latent.filter(|&width| width > 0), ..one }));
    }
    let mut dense = Vec::new();
    if of('-') > 0 {
        let width = reader.size(HfConfig::width, |sizes| sizes.ffn_size)?;
        dense.push(DenseLayers { layers: of('-'), width });
    } else {
        text.settle(&["intermediate_size"]);
    }
    let recurrent =
        Some(Recurrent::Mamba2(group)).filter(|group| group.layers() > 0).into_iter().collect();
    let feed_forward = FeedForward { dense, bias: false, moe };
    let norms = NormCount::Total { add: frame.n_layers, post: 0 };
    Ok(Layers { recurrent, norms, ..Layers::of(found, feed_forward) })
}

/// The letter of each layer: M for Mamba-2, * for attention, - for an MLP, E for experts.
fn pattern(reader: &Reader<'_>, n_layers: u64) -> Result<Vec<char>, ConfigError> {
    let text = reader.text;
    let field = named!(text, hybrid_override_pattern);
    let list = named!(text, layers_block_type);
    let (name, letters): (_, Option<Vec<char>>) = match (Reader::text_of(&field)?, value(&list)?) {
        (Some(letters), _) => {
            text.settle(&["layers_block_type"]);
            (field.name, Some(letters.chars().filter(|letter| *letter != '|').collect()))
        }
        (None, Some(names)) => {
            let letter = |name: &String| match &**name {
                "mamba" | "linear_attention" => Some('M'),
                "attention" | "full_attention" => Some('*'),
                "mlp" => Some('-'),
                "moe" => Some('E'),
                _ => None,
            };
            (list.name, names.iter().map(letter).collect())
        }
        (None, None) => return Err(ConfigError::Missing { field: "hybrid_override_pattern" }),
    };
    let letters = letters.filter(|all| all.iter().all(|letter| "M*-E".contains(*letter)));
    let Some(letters) = letters else {
        return Err(unsupported(reader, Unsupported::HybridLayers));
    };
    let entries = letters.len() as u64;
    if entries == n_layers {
        Ok(letters)
    } else {
        Err(ConfigError::ListLength { field: name, entries, layers: n_layers })
    }
}
