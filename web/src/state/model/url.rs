//! The Model view's keys in the address.

use super::inputs::ModelInputs;

/// Adds what differs from the default.
pub fn write(inputs: &ModelInputs, pairs: &mut Vec<(&'static str, String)>) {
    if *inputs != ModelInputs::default() {
        pairs.push(("model", inputs.model.clone()));
    }
}

/// Takes a value over; false for a key that this view does not have.
pub fn read(inputs: &mut ModelInputs, key: &str, value: &str) -> bool {
    let known = key == "model";
    if known {
        value.clone_into(&mut inputs.model);
    }
    known
}
