//! Kinds of exports, their file names, and the scenario that they carry. The contents are made in `export` and by the charts.

use super::derived::inputs_summary;
use super::inputs::{Inputs, View};
use super::model::roles::Role;
use super::scenario::{ScenarioPart, parts};

/// Kinds of a view's answer: file extension, and label in the menu. The last is available for models only.
const KINDS: [(&str, &str); 4] =
    [("csv", "CSV"), ("md", "Markdown"), ("json", "JSON"), ("advice.json", "JSON of the advice")];
/// Kinds of a chart.
pub const PICTURES: [(&str, &str); 2] = [("png", "PNG"), ("svg", "SVG")];

/// A text that is generated from the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// The answer as a file, by its kind: `csv`, `json`.
    Answer(&'static str),
    /// The formulas behind the answer, as HTML.
    Work,
    /// The tiles of a matrix product, as HTML.
    Tiles,
    /// The device, in the format of device files.
    DeviceFile,
}

/// The kinds of the answer that a view offers.
pub fn kinds(view: View) -> &'static [(&'static str, &'static str)] {
    match view {
        View::Kernel | View::Compare => &KINDS[..KINDS.len() - 1],
        View::Plan | View::Model => &KINDS,
        View::Explore | View::Trust | View::Measure => &[],
    }
}

/// File name of an export.
pub fn file_name(inputs: &Inputs, kind: &str) -> String {
    let what = match inputs.view {
        View::Kernel => inputs.op.key(),
        View::Plan | View::Model => inputs.model.base.key(),
        // They are about several devices.
        View::Compare | View::Explore | View::Trust => {
            return format!("ridgepoint-{}.{kind}", inputs.view.key());
        }
        View::Measure => inputs.view.key(),
    };
    // A model from a file has no key.
    let what = if what.is_empty() { "model" } else { what };
    format!("ridgepoint-{}-{what}.{kind}", inputs.device.key)
}

/// Kind of a picture in a file name: of one chart among several, with its title.
pub fn picture_kind(title: &str, is_one_of_several: bool, kind: &str) -> String {
    if is_one_of_several {
        format!("{}.{kind}", title.to_lowercase().replace(' ', "-"))
    } else {
        kind.to_owned()
    }
}

/// The scenario of the address in one line.
pub fn scenario_line(inputs: &Inputs) -> String {
    match inputs.view {
        View::Kernel => inputs_summary(inputs),
        View::Measure => inputs.device.name.to_string(),
        View::Trust => String::new(),
        View::Plan | View::Compare | View::Explore => {
            parts(inputs).iter().map(|(_, before, said)| format!("{before}{said}")).collect()
        }
        // No scheme is chosen there, and no goal: the formats are.
        View::Model => {
            let weights = inputs.model.formats.get(Role::Weights);
            let weights = weights.map_or("the stored format", |format| format.short_name);
            let said = |(piece, before, said): &(ScenarioPart, &str, String)| match piece {
                ScenarioPart::Goal => String::new(),
                ScenarioPart::Scheme => format!("{before}{weights}"),
                _ => format!("{before}{said}"),
            };
            parts(inputs).iter().map(said).collect()
        }
    }
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
        inputs.view = View::Compare;
        assert_eq!(file_name(&inputs, "svg"), "ridgepoint-compare.svg");
        assert_eq!(picture_kind("Against batch", true, "svg"), "against-batch.svg");
        assert_eq!(picture_kind("Against batch", false, "svg"), "svg");
    }

    #[test]
    fn every_view_says_its_scenario() {
        let line = |view| scenario_line(&Inputs { view, ..Inputs::default() });
        assert!(line(View::Plan).ends_with('%'), "{}", line(View::Plan));
        assert!(line(View::Kernel).contains("4096"));
        assert!(
            line(View::Model).contains("in the stored format · 1 user"),
            "{}",
            line(View::Model)
        );
        assert!(line(View::Measure).starts_with("Jetson Orin Nano"));
    }
}
