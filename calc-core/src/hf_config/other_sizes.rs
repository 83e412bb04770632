//! Whole numbers that no rule has read and whose names say nothing of geometry: each may still be a size, so each is listed,
//! except those that are known to change neither weights nor cache.

use alloc::string::String;
use alloc::vec::Vec;

use super::fields::HfConfig;
use super::reader::Reader;
use super::stated::{Stated, StatedKind, meaning, words};
use super::{AssumedField, AssumedValue, AssumedWhy};
use crate::text::Text;

/// Words of names that are never a size of weights or cache: tokens, training, numerics, positions, limits, towers.
const HARMLESS_WORDS: [&str; 35] = [
    "audio",
    "beam",
    "beams",
    "clip",
    "dropout",
    "epoch",
    "epochs",
    "eps",
    "epsilon",
    "factor",
    "id",
    "ids",
    "image",
    "images",
    "iters",
    "length",
    "limit",
    "multiplier",
    "position",
    "positions",
    "projector",
    "rotary",
    "scalar",
    "scaling",
    "seed",
    "softcap",
    "softcapping",
    "speech",
    "theta",
    "token",
    "version",
    "video",
    "vision",
    "vit",
    "warmup",
];

/// Names of whole numbers in published files and in the classes of transformers that change neither weights nor cache.
const HARMLESS: [&str; 48] = [
    "activation_situ_beta",
    "activation_situ_linear_beta",
    "centroid_intermediate_top_k",
    "dense_list",
    "dim_model_base",
    "downsample_rate",
    "encoder_no_repeat_ngram_size",
    "encoder_patch_size",
    "ep_size",
    "floor_scale",
    "hc_magnitude",
    "max_dynamic_patch",
    "max_pixels_tolerance",
    "max_seq_len",
    "max_tiles",
    "max_tokenizer_truncation",
    "merge_size",
    "min_dynamic_patch",
    "min_tiles",
    "moe_capacity",
    "multiple_of",
    "mup_denominator",
    "n_ctx",
    "n_group",
    "no_repeat_ngram_size",
    "no_rope_layer_interval",
    "num_centroids",
    "num_channels",
    "num_labels",
    "num_return_sequences",
    "org_vocab_size",
    "original_seq_len",
    "pad_vocab_size_multiple",
    "pad_vocab_size_multiple_of",
    "patch_size",
    "pretraining_tp",
    "projection_dim",
    "projection_hidden_size",
    "rope_local_base_freq",
    "rope_ratio",
    "scale_emb",
    "spatial_merge_size",
    "spatial_pool_stride",
    "temporal_patch_size",
    "tile_size",
    "top_k",
    "topk_group",
    "tp_size",
];

/// The unread numbers of the language model, and those beside it in a multimodal file.
pub(super) fn unread(reader: &Reader<'_>) -> Vec<AssumedField> {
    let mut found = counts(reader.text);
    if reader.is_nested() {
        let inner = names(reader.text);
        found.extend(counts(reader.outer).into_iter().filter(|(name, _)| !inner.contains(name)));
    }
    let read = reader.text.read.borrow();
    // `conv_L_cache` and names that begin with `_` have fields with other letters.
    let same = |name: &str, read: &str| read.trim_start_matches('_').eq_ignore_ascii_case(name);
    found.retain(|(name, _)| !read.iter().any(|read| same(name, read)));
    found.sort();
    let field = |(name, count)| AssumedField {
        field: Text::Owned(name),
        value: AssumedValue::Count(count),
        why: AssumedWhy::NotRead,
    };
    found.into_iter().map(field).collect()
}

/// Numbers of a file that may be sizes, with the largest entry of a list.
fn counts(config: &HfConfig) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut visit = |name: &str, stated: &Stated| {
        let is_number = matches!(stated.kind, StatedKind::Count | StatedKind::List);
        let count = stated.largest.filter(|&count| is_number && count > 1);
        // A name that looks like geometry is refused, or means something else in this file.
        let count = count.filter(|_| meaning(name, stated.kind).is_none() && !is_harmless(name));
        found.extend(count.map(|count| (name.into(), count)));
    };
    config.each_field(|name, stated| visit(name, &stated));
    for key in &config.others {
        visit(&key.name, &key.stated);
    }
    found
}

fn names(config: &HfConfig) -> Vec<String> {
    let mut found: Vec<String> =
        config.unknown.iter().chain(&config.others).map(|key| key.name.clone()).collect();
    config.each_field(|name, _| found.push(name.into()));
    found
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || words(name).iter().any(|word| HARMLESS_WORDS.contains(&&**word))
}
