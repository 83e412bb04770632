//! Kinds of exports and their file names. The contents are made in `export`, which is not part of the initial page.

use super::inputs::{Inputs, View};

/// All kinds: file extension, and label in the menu. The last is available for models only.
const KINDS: [(&str, &str); 6] = [
    ("png", "PNG"),
    ("svg", "SVG"),
    ("csv", "CSV"),
    ("md", "Markdown"),
    ("json", "JSON"),
    ("advice.json", "JSON of the advice"),
];

/// The kinds that a view offers.
pub fn kinds(view: View) -> &'static [(&'static str, &'static str)] {
    match view {
        View::Kernel => &KINDS[..KINDS.len() - 1],
        View::Plan | View::Model => &KINDS,
        View::Compare | View::Explore | View::Trust | View::Measure => &KINDS[..1],
    }
}

/// File name of an export.
pub fn file_name(inputs: &Inputs, kind: &str) -> String {
    let what = match inputs.view {
        View::Kernel => inputs.op.key(),
        View::Plan | View::Model => inputs.model.base.key(),
        View::Compare | View::Explore | View::Trust | View::Measure => inputs.view.key(),
    };
    // A model from a file has no key.
    let what = if what.is_empty() { "model" } else { what };
    format!("ridgepoint-{}-{what}.{kind}", inputs.device.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_device_and_operator_or_model() {
        let mut inputs = Inputs { view: View::Kernel, ..Inputs::default() };
        assert_eq!(file_name(&inputs, "csv"), "ridgepoint-jetson_orin_nano_8gb_super-gemm.csv");
        inputs.view = View::Model;
        let name = file_name(&inputs, "advice.json");
        assert_eq!(name, "ridgepoint-jetson_orin_nano_8gb_super-llama-3.1-8b.advice.json");
    }
}
