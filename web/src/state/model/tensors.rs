//! The tensors of a model's weight files by role, for the memory of a model.

use calc_core::units::Bytes;
use report::number_text as text;
use report::output::words::weights::{RoleText, roles};

use super::inputs::ModelInputs;

/// Roles of tensors with their sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorTable {
    /// The sum, and what the estimate takes from it.
    pub caption: String,
    pub rows: Vec<RoleText>,
}

/// The tensors of the model's files; `None` for a model that was not read from weight files.
pub fn table(inputs: &ModelInputs) -> Option<TensorTable> {
    let weights = inputs.base.weights()?;
    let groups = weights.groups();
    let bytes: u64 = groups.iter().map(|group| group.sum.bytes).sum();
    let tensors: u64 = groups.iter().map(|group| group.sum.tensors).sum();
    let is_taken =
        inputs.file_parts().is_some() && !inputs.formats.changes_weights(&inputs.base.stored());
    let taken = if is_taken {
        "the memory and the steps of the estimate have these bytes, towers and draft layers apart"
    } else {
        "the estimate is of another geometry or other formats"
    };
    let (tensors, bytes) = (text::count(tensors), text::bytes(Bytes::new(bytes as f64)));
    let caption = format!("{bytes} in {tensors} tensors, by their headers; {taken}");
    Some(TensorTable { caption, rows: roles(weights) })
}
