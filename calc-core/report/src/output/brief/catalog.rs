//! Models and devices in a sentence.

use calc_core::device::Device;
use calc_core::quant_format::ComputeClass;

use super::Brief;
use crate::input::model_file::{assumed_text, first_notes, remark_text};
use crate::input::named_model::NamedModel;
use crate::number_text as n;

/// Devices that are named in the text; the others are in the data.
const NAMED: usize = 12;

/// A model: its key, its parameters, its formats and where they come from.
pub fn model(model: &NamedModel) -> Brief {
    let (all, active) = (model.arch.n_params(), model.arch.n_active_params());
    let active = if active == all {
        String::new()
    } else {
        format!(", {} of them active", n::count(active))
    };
    let experts = model.stored.experts;
    let experts =
        experts.map_or(String::new(), |format| format!(" with experts in {}", format.short_name));
    let sentence = format!(
        "{} ({}) has {} parameters{active} (derived from its geometry, which is {}), stored in {}{experts}.",
        model.name,
        model.key,
        n::count(all),
        model.provenance.key(),
        model.stored.weights.short_name
    );
    let mut lines = vec![format!("Source: {}.", model.source)];
    let first = first_notes(&model.source, &model.assumed).into_iter();
    let notes = first.chain(model.assumed.iter().map(assumed_text));
    let notes = notes.chain(model.remarks.iter().map(remark_text));
    lines.extend(notes.map(|note| format!("Note: {note}.")));
    Brief { sentence, lines }
}

/// A list of devices that a filter admits.
pub fn devices(found: &[&Device], all: usize, filter: Option<&str>) -> Brief {
    let sentence = match (filter, found.len()) {
        (Some(filter), 1) => format!("One of {all} devices has `{filter}` in its name."),
        (Some(filter), count) => {
            format!("{count} of {all} devices have `{filter}` in their names.")
        }
        (None, _) => format!("The catalog has {all} devices."),
    };
    let mut lines: Vec<String> = found.iter().take(NAMED).map(|device| line(device)).collect();
    if found.len() > NAMED {
        lines.push(format!("And {} more, see the data.", found.len() - NAMED));
    }
    Brief { sentence, lines }
}

/// A device with the facts that matter, each with its origin.
fn line(device: &Device) -> String {
    let peak = device.peaks.get(ComputeClass::Fp16);
    let peak = peak.map_or(String::new(), |peak| {
        let rate = n::published_rate(peak.value, ComputeClass::Fp16);
        format!(", {rate} FP16 dense ({})", peak.provenance.key())
    });
    format!(
        "{} ({}): {} memory ({}), {} ({}){peak}.",
        device.name,
        device.key,
        n::capacity(device.memory.value),
        device.memory.provenance.key(),
        n::published_bandwidth(device.bandwidth.value),
        device.bandwidth.provenance.key()
    )
}
