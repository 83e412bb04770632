//! Sentences about weight files: what their headers have, and where something else states another thing.

use calc_core::units::Bytes;

use crate::input::named_model::NamedModel;
use crate::input::weight_file::{RoleFormats, WeightBytes};
use crate::number_text as n;

/// Largest ratio of weights in the files to those of the geometry that passes without a note.
const SAME_WITHIN: f64 = 1.01;

/// Notes to an estimate whose weights have the size of their files.
pub fn estimate_notes(model: &NamedModel) -> Vec<String> {
    let Some(bytes) = &model.weight_bytes else { return Vec::new() };
    let of_files = format!(
        "weight bytes are those of the files: {}, {} of it embedding and LM head{}",
        n::bytes(bytes.language_model),
        n::bytes(bytes.embedding + bytes.lm_head),
        if bytes.experts > Bytes::ZERO {
            format!(", {} experts", n::bytes(bytes.experts))
        } else {
            String::new()
        }
    );
    std::iter::once(of_files).chain(model_notes(model)).collect()
}

/// Notes on what the files have and the geometry does not.
pub fn model_notes(model: &NamedModel) -> Vec<String> {
    let Some(bytes) = &model.weight_bytes else { return Vec::new() };
    let mut notes = Vec::new();
    if bytes.draft_layers > Bytes::ZERO {
        notes.push(format!(
            "the files also have {} of extra layers for multi-token prediction, which are not counted",
            n::bytes(bytes.draft_layers)
        ));
    }
    notes.extend(other_count(bytes, model.arch.n_params()));
    notes
}

/// The note on a number of weights in the files that is not that of the geometry.
fn other_count(bytes: &WeightBytes, computed: u64) -> Option<String> {
    let stored = bytes.parameters?;
    let ratio = stored as f64 / computed as f64;
    (ratio.max(1.0 / ratio) > SAME_WITHIN).then(|| {
        format!("the files have {stored} weights of the language model, and the geometry gives {computed}")
    })
}

/// The sentence for a role whose header and stated format differ; `None` if they agree.
pub fn disagreement(stated: &RoleFormats) -> Option<String> {
    if stated.agrees {
        return None;
    }
    let role = stated.role.key().replace('_', " ");
    let bits = |bits: Option<f64>| {
        bits.map(|bits| format!(" ({} bits per weight)", n::short(bits, 4))).unwrap_or_default()
    };
    let by = if stated.stated_bits.is_some() {
        "its config.json gives"
    } else {
        "general.file_type names"
    };
    Some(format!(
        "{role}: most bytes are {}{}, and {by} {}{}",
        stated.header,
        bits(stated.header_bits),
        stated.stated,
        bits(stated.stated_bits)
    ))
}
