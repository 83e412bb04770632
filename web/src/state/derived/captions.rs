//! Short texts around the answer: the chart and its points in words, the inputs in a line, names in lists.

use calc_core::device::PowerMode;
use calc_core::precision::PrecisionChoice;
use calc_core::roofline::Roofs;
use calc_core::units::Watts;
use report::number_text;

use super::{KernelAnswer, KernelShown, RowState};
use crate::state::inputs::Inputs;
use crate::state::operator::{Op, OperatorFault};

/// Text alternative of the roofline chart; the numbers are in the table.
pub fn chart_summary(inputs: &Inputs, kernel: &KernelAnswer) -> String {
    let roofs: Vec<&str> = kernel.chart.roofs.iter().map(|roof| roof.label.as_str()).collect();
    let l2 =
        kernel.chart.l2.as_ref().map_or(String::new(), |l2| format!("; {} measured", l2.label));
    format!(
        "Roofline of {}: {}{l2}; roofs {}. {} {} The table below has the numbers.",
        inputs.device.name,
        kernel.chart.bandwidth.label,
        roofs.join(", "),
        kernel.sentence,
        kernel.line
    )
}

/// The format that the default rule chooses for activations.
pub fn rule_name(inputs: &Inputs) -> String {
    let roofs = Roofs::new(&inputs.device, inputs.power_mode());
    let chosen =
        roofs.map(|roofs| PrecisionChoice::weights(inputs.weights).resolve(&roofs).activations);
    chosen.map_or("FP16", |format| format.short_name).to_owned()
}

/// A power mode in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeChoice {
    /// Empty for the device's own peaks.
    pub name: String,
    /// Label in the list.
    pub text: String,
    /// Its clocks are unpublished, so it has no roofs.
    pub unknown: bool,
    pub chosen: bool,
}

/// The power modes of the device by their power, those without a limit at the end; its own peaks first.
pub fn mode_choices(inputs: &Inputs) -> Vec<ModeChoice> {
    let device = &inputs.device;
    let own = ModeChoice {
        name: String::new(),
        text: "peaks of the datasheet".to_owned(),
        unknown: false,
        chosen: inputs.mode.is_none(),
    };
    let mut modes: Vec<&PowerMode> = device.power_modes.iter().collect();
    let watts = |mode: &PowerMode| mode.watts.map_or(f64::INFINITY, Watts::get);
    modes.sort_by(|a, b| watts(a).total_cmp(&watts(b)));
    let modes = modes.into_iter().map(|mode| {
        let unknown = Roofs::new(device, Some(mode)).is_err();
        let watts = watts_beside(mode);
        let remark = if unknown { " · clocks not published" } else { "" };
        ModeChoice {
            name: mode.name.to_string(),
            text: format!("{}{watts}{remark}", mode.name),
            unknown,
            chosen: inputs.mode.as_ref() == Some(&mode.name),
        }
    });
    core::iter::once(own).chain(modes).collect()
}

/// The power of a mode behind its name; empty where the name says it or none is published.
fn watts_beside(mode: &PowerMode) -> String {
    let watts = mode.watts.map(number_text::power).unwrap_or_default();
    let said = watts.replace(number_text::SPACE, "");
    if said.is_empty() || said == *mode.name { String::new() } else { format!(" · {watts}") }
}

/// Key of the highlighted point: the pointed one, else the chosen one.
pub fn focus_key(kernel: &KernelAnswer, pointed: Option<&str>) -> Option<String> {
    let chosen = || kernel.rows.iter().find(|row| row.chosen).map(|row| row.key.clone());
    pointed.map(str::to_owned).or_else(chosen)
}

/// Keys of the points, in the order of the table.
pub fn point_keys(kernel: &KernelAnswer) -> Vec<String> {
    kernel.chart.points.iter().map(|point| point.key.clone()).collect()
}

/// The point under the keyboard focus, in words.
pub fn point_text(kernel: &KernelAnswer, pointed: Option<&str>) -> String {
    let own = kernel.own_points.iter().find(|own| pointed == Some(own.key.as_str()));
    if let Some(own) = own {
        return format!("{}: {}. {}", own.name, own.numbers, own.warning);
    }
    let row = pointed.and_then(|key| kernel.row(key));
    match row.map(|row| (&row.name, &row.state)) {
        Some((name, RowState::Runs { cells, interval, .. })) => {
            let [bytes, intensity, ideal, expected, speedup] = &**cells;
            format!(
                "{name}: {}, {} FLOP/B, ideal {}, expected {}, interval {interval}, {} the 16-bit speed",
                bytes.text, intensity.text, ideal.text, expected.text, speedup.text
            )
        }
        Some((name, RowState::Refused { reason })) => format!("{name}: {reason}"),
        None => String::new(),
    }
}

/// The inputs in one line, for small screens.
pub fn inputs_summary(inputs: &Inputs) -> String {
    let numbers: Vec<&str> =
        inputs.op.fields().iter().map(|field| inputs.typed.text(*field).trim()).collect();
    let shape = numbers.join("\u{a0}×\u{a0}");
    let op = if inputs.op == Op::Gemm { String::new() } else { format!("{} ", inputs.op.name()) };
    let mode = inputs.mode.as_ref().map_or(String::new(), |mode| format!(" · {mode}"));
    format!("{}{mode} · {op}{shape} · {}", inputs.device.name, inputs.format().short_name)
}

/// Why the answer belongs to earlier inputs, and the values of the wrong fields there; empty if it does not.
pub fn why_stale(shown: &KernelShown) -> String {
    if !shown.is_stale() {
        return String::new();
    }
    let (mut said, mut former) = (String::new(), Vec::new());
    for OperatorFault { field, text } in &shown.faults {
        said = said + text + " ";
        former.push(format!("{} {}", field.name(), shown.typed.text(*field)));
    }
    format!("{said}What is below is still of {}.", former.join(", "))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::state::derived::derive;
    use calc_core::catalog::devices;
    use calc_core::provenance::Fact;
    use calc_core::units::BytesPerSec;

    #[test]
    fn the_points_are_named_in_words() {
        let kernel = derive(&Inputs::default()).expect("valid");
        assert_eq!(focus_key(&kernel, None).as_deref(), Some("int4_g128"));
        assert_eq!(focus_key(&kernel, Some("fp16")).as_deref(), Some("fp16"));
        let keys = point_keys(&kernel);
        assert_eq!(keys.len(), kernel.rows.len());
        for key in keys {
            assert!(point_text(&kernel, Some(&key)).contains("ideal"), "{key}");
        }
        assert_eq!(point_text(&kernel, None), "");
    }

    #[test]
    fn modes_without_published_clocks_cannot_be_chosen() {
        let mut unknown = 0;
        for device in devices::all() {
            let mut inputs = Inputs::default();
            inputs.set_device(Cow::Borrowed(device));
            let choices = mode_choices(&inputs);
            assert_eq!(choices.len(), device.power_modes.len() + 1);
            for choice in choices.iter().filter(|choice| !choice.unknown && !choice.name.is_empty())
            {
                let inputs = Inputs { mode: Some(choice.name.clone().into()), ..inputs.clone() };
                assert!(derive(&inputs).is_ok_and(|kernel| kernel.runs), "{choice:?}");
            }
            unknown += choices.iter().filter(|choice| choice.unknown).count();
        }
        assert!(unknown > 0, "the catalog has such modes");
    }

    #[test]
    fn modes_stand_by_their_power_and_say_it_once() {
        let texts: Vec<String> =
            mode_choices(&Inputs::default()).into_iter().map(|choice| choice.text).collect();
        let said = texts.join(", ").replace(number_text::SPACE, " ");
        assert_eq!(said, "peaks of the datasheet, 7W, 15W, 25W, MAXN_SUPER · 25 W");
    }

    #[test]
    fn summaries_name_the_choice() {
        let inputs = Inputs::default();
        let kernel = derive(&inputs).expect("valid");
        assert!(chart_summary(&inputs, &kernel).contains("DRAM 102.4"));
        let mut own = inputs.clone();
        own.device.to_mut().measured.l2_bandwidth =
            Some(Fact::assumed(BytesPerSec::from_gb(300.0)));
        let kernel = derive(&own).expect("valid");
        let said = chart_summary(&own, &kernel).replace('\u{202f}', " ");
        assert!(said.contains("; L2 300 GB/s measured; roofs FP16"), "{said}");
        let summary = inputs_summary(&inputs).replace('\u{a0}', " ");
        assert!(summary.ends_with(" · 1 × 4096 × 4096 · INT4 g128"), "{summary}");
        assert!(summary.starts_with("Jetson Orin Nano 8GB Super"), "{summary}");
    }
}
