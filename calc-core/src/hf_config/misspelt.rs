//! Keys whose name is nearly that of a key which the file lacks: a misspelt size must not become the default of its class.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::fields::HfConfig;
use super::refusal::ConfigError;
use super::stated::{StatedKind, words};

/// Keys of a whole file that every family looks for.
const OF_A_FILE: [&str; 11] = [
    "model_type",
    "architectures",
    "text_config",
    "llm_config",
    "language_config",
    "thinker_config",
    "vision_config",
    "audio_config",
    "quantization_config",
    "torch_dtype",
    "tie_word_embeddings",
];
/// Keys of published files that are near others and mean something else.
const OTHER_KEYS: [&str; 6] = [
    "qk_layer_norms",
    "n_group",
    "d_inner",
    "mtp_layer_types",
    "multi_modal_projector_bias",
    "projectors_bias",
];
/// Number of letters of a name from which an edit in each of two words is near.
const LONG: usize = 10;
/// Shortest name that another one can be near to.
const SHORT: usize = 4;

/// Refuses a file with a key that nobody reads and whose name is nearly that of a key which the rules looked for in vain.
pub(super) fn refuse(outer: &HfConfig, text: &HfConfig) -> Result<(), ConfigError> {
    let top = find(outer, &OF_A_FILE);
    let nested = || if core::ptr::eq(outer, text) { None } else { find(text, &[]) };
    match top.or_else(nested) {
        Some((found, meant)) => Err(ConfigError::Misspelt { found, meant }),
        None => Ok(()),
    }
}

/// The unread key of an object that is nearest to a wanted one, and that one.
fn find(config: &HfConfig, always: &[&'static str]) -> Option<(String, &'static str)> {
    let read = config.read.borrow();
    let mut wanted: Vec<&'static str> = Vec::new();
    config.each_field(|name, stated| {
        let is_looked_for = read.contains(&name) || always.contains(&name);
        if is_looked_for && stated.kind == StatedKind::Nothing {
            wanted.push(name);
        }
    });
    let unread = config.unknown.iter().chain(&config.others).map(|key| &key.name);
    let pairs = unread
        .filter(|key| !read.contains(&&***key) && !OTHER_KEYS.contains(&&***key))
        .flat_map(|key| {
            wanted.iter().filter_map(move |name| {
                // Of equally near names the one with a letter more or less, and then the longest.
                let is_replaced = key.len() == name.len();
                Some((edits(key, name)?, is_replaced, Reverse(key.len()), key, *name))
            })
        });
    pairs.min().map(|(.., found, meant)| (found.clone(), meant))
}

/// Letters and digits of a name in lower case: `hiddenSize` has those of `hidden_size`.
fn letters(name: &str) -> Vec<char> {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Number of edits between two names that are near each other: one in all, or one in each of two words of a long name.
fn edits(own: &str, other: &str) -> Option<usize> {
    let (a, b) = (letters(own), letters(other));
    let shorter = a.len().min(b.len());
    if shorter < SHORT || a.len().abs_diff(b.len()) > 2 {
        return None;
    }
    let whole = distance(&a, &b);
    let (own, other) = (words(own), words(other));
    let in_words: Vec<usize> =
        own.iter().zip(&other).map(|(a, b)| distance(&letters(a), &letters(b))).collect();
    let in_two = shorter >= LONG
        && own.len() == other.len()
        && in_words.iter().all(|edits| *edits <= 1)
        && in_words.iter().sum::<usize>() <= 2;
    (whole <= 1 || in_two).then_some(whole)
}

/// Number of letters added, lost, replaced, or swapped with the next.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut next = alloc::vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = row[j] + usize::from(letter != other);
            let mut least = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = core::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_one_or_two_edits_are_near() {
        for (found, meant, expected) in [
            ("hiden_size", "hidden_size", Some(1)),
            ("hiddenSize", "hidden_size", Some(0)),
            ("hidden_szie", "hidden_size", Some(1)),
            ("num_hiden_layer", "num_hidden_layers", Some(2)),
            ("n_embed", "n_embd", Some(1)),
            ("head_dims", "head_dim", Some(1)),
            ("num_hidden_layers_of_later", "num_hidden_layers", None),
            ("num_moe_layers", "num_mtp_layers", None),
            ("mode", "d_model", None),
            ("num_beams", "num_heads", None),
        ] {
            assert_eq!(edits(found, meant), expected, "{found}");
        }
    }
}
