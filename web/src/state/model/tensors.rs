//! The weights of a model by role: the tensors of its files, or what follows from geometry and formats.

use calc_core::plan::Plan;
use calc_core::units::Bytes;
use report::number_text as text;
use report::output::words::memory;
use report::output::words::weights::{RoleText, roles};

use super::inputs::ModelInputs;
use super::question::ModelQuestion;
use crate::state::place::Place;

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

/// A role of weights that follows from geometry and formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSize {
    pub role: &'static str,
    pub size: String,
    /// Share of all weights of the device.
    pub share: String,
}

/// The weights of one device by role, the largest first; `None` for a model of weight files or an invalid field.
pub fn computed(inputs: &ModelInputs, place: Place<'_>) -> Option<Vec<RoleSize>> {
    if inputs.base.weights().is_some() {
        return None;
    }
    let question = ModelQuestion::read(inputs, place).ok()?;
    let plan = Plan::new(question.request(question.workload)).ok()?;
    let roles = memory::largest_first(&plan.weight_roles());
    let all: Bytes = roles.iter().map(|(_, bytes)| *bytes).sum();
    let row = |(role, bytes)| RoleSize {
        role: memory::role(role),
        size: text::bytes(bytes),
        share: text::percent(bytes / all),
    };
    Some(roles.into_iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::inputs::Inputs;

    #[test]
    fn the_weights_of_a_catalog_model_are_listed_by_role() {
        let inputs = Inputs::default();
        let rows = computed(&inputs.model, inputs.place()).expect("valid");
        let names: Vec<_> = rows.iter().map(|row| row.role).collect();
        assert_eq!(
            names,
            ["MLP", "attention", "embedding", "LM head", "routers, norms and biases"]
        );
        assert_eq!(rows[0].share, "70\u{202f}%");
    }
}
