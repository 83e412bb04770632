//! Sentences about weight files: what their headers have, and where something else states another thing.

use calc_core::units::Bytes;
use weights::files::Sum;
use weights::role::Role;

use crate::input::model_file::word::FileWeights;
use crate::input::named_model::NamedModel;
use crate::input::request::EstimateInputs;
use crate::input::weight_file::{RoleFormats, WeightBytes};
use crate::number_text as n;

/// Largest ratio of weights in the files to those of the geometry that passes without a note.
const SAME_WITHIN: f64 = 1.01;

/// The tensors of a role in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleText {
    pub role: String,
    pub tensors: String,
    /// Number of weights.
    pub parameters: String,
    /// The number with its digits in groups.
    pub count: String,
    /// Exact size [byte].
    pub bytes: String,
    /// The size with a prefix.
    pub size: String,
    /// Mean bits per weight.
    pub bits: String,
    /// Each type with its size.
    pub types: String,
}

/// Text for a number that packed elements do not give.
const UNKNOWN: &str = "unknown";

/// Every role that the files have, in the order of roles.
pub fn roles(weights: &FileWeights) -> Vec<RoleText> {
    let size = |bytes: u64| n::bytes(Bytes::new(bytes as f64));
    let groups = weights.groups();
    let one = |role: Role| {
        let own = || groups.iter().filter(|group| group.role == role);
        let all = own().fold(Sum::EMPTY, |all, group| all.and(&group.sum));
        let types = own().map(|group| format!("{} {}", group.kind, size(group.sum.bytes)));
        (all.tensors > 0).then(|| RoleText {
            role: role.key().replace('_', " "),
            tensors: all.tensors.to_string(),
            parameters: parameters(&all),
            count: parameter_count(&all),
            bytes: all.bytes.to_string(),
            size: size(all.bytes),
            bits: bits(&all),
            types: types.collect::<Vec<_>>().join(", "),
        })
    };
    Role::ALL.into_iter().filter_map(one).collect()
}

/// The number of weights in a sum, with its digits in groups.
pub fn parameter_count(sum: &Sum) -> String {
    sum.parameters.map_or_else(|| UNKNOWN.into(), n::count)
}

/// The number of weights in a sum, for programs.
pub fn parameters(sum: &Sum) -> String {
    sum.parameters.map_or_else(|| UNKNOWN.into(), |parameters| parameters.to_string())
}

fn bits(sum: &Sum) -> String {
    let parameters = sum.parameters.filter(|&parameters| parameters > 0);
    let bits = |parameters| n::short(8.0 * sum.bytes as f64 / parameters as f64, 4);
    parameters.map_or_else(|| UNKNOWN.into(), bits)
}

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

/// The note to a ranking whose request states the size of the weights, or names weight files.
pub fn size_in_ranking(inputs: &EstimateInputs) -> &'static str {
    if inputs.model.weight_bytes.is_some() {
        "the formats of the files have the size of the files; every other scheme has the size of its own formats"
    } else {
        "the given size of the weights is that of one file; every ranked scheme has the size of its own formats"
    }
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
        let (stored, computed) = (n::count(stored), n::count(computed));
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
