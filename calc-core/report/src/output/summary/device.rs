//! One device for people: every value with its origin, power modes, and what others measured.

use calc_core::catalog::devices::measured::{measurements, other_figures};
use calc_core::device::Device;
use calc_core::provenance::Fact;
use calc_core::quant_format::ComputeClass;

use super::{Document, LINE, folded, folded_note, labeled, push_folded};
use crate::input::request::link;
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::verdict::class_name;
use crate::output::words::{catalog as words, roofs};

const UNKNOWN: &str = "unknown";

/// Document of one device, every value with its provenance.
pub fn device(device: &Device) -> Document {
    let mut out = Document::default();
    out.heading(format!("{} ({})", device.name, device.key));
    out.line(format!("{} {}, {}", device.vendor, device.architecture, device.form_factor));
    out.table(facts(device));
    out.line("");
    out.line(folded(&without_peak(device), LINE).join("\n"));
    out.line(labeled("links", &links(device)));
    if !device.power_modes.is_empty() {
        out.heading("Power modes");
        out.table(power_modes(device));
    }
    out.table(published(device));
    out.line("");
    out.line(labeled("source", &device.source));
    let own = (!device.notes.is_empty()).then(|| device.notes.to_string());
    let disturbed = roofs::disturbed(device);
    let others = other_figures(&device.key).map(words::other_figure_text);
    out.notes(
        own.into_iter().chain(disturbed).chain(others).map(|note| folded_note(&note)).collect(),
    );
    out
}

fn facts(device: &Device) -> Table {
    let mut table =
        Table::new(&[("fact", Align::Left), ("value", Align::Right), ("origin", Align::Left)]);
    let mut row = |name: &str, value: Option<(String, &'static str)>| {
        let (value, origin) = value.unwrap_or((UNKNOWN.into(), ""));
        table.push(vec![name.into(), value, origin.into()]);
    };
    row("memory", Some(shown(&device.memory, n::capacity)));
    let usable = device.usable_memory(None);
    let most = if usable.is_known { "" } else { "at most " };
    row("usable by a model", Some((format!("{most}{}", n::bytes(usable.bytes)), "derived")));
    row("bandwidth", Some(shown(&device.bandwidth, n::published_bandwidth)));
    for class in ComputeClass::ALL {
        if let Some(fact) = device.peaks.get(class) {
            let value = shown(&fact, |rate| n::published_rate(rate, class));
            row(&format!("{} peak", class_name(class)), Some(value));
        }
    }
    let count = |fact: Fact<u32>| (fact.value.to_string(), fact.provenance.key());
    row(words::units(device), device.sm_count.map(count));
    let clock = |fact: Fact<_>| shown(&fact, n::clock);
    row("boost clock", device.boost_clock.map(clock));
    let own = device
        .tensor_clock
        .filter(|own| device.boost_clock.is_none_or(|boost| boost.value != own.value));
    if own.is_some() {
        row("clock of the peaks", own.map(clock));
    }
    row("L2", device.l2.map(|fact| shown(&fact, n::capacity)));
    let l2_bandwidth = device.measured.l2_bandwidth;
    if l2_bandwidth.is_some() {
        row("L2 read bandwidth", l2_bandwidth.map(|fact| shown(&fact, n::published_bandwidth)));
    }
    if let Some(fact) = device.shared_memory_per_sm {
        row("shared memory per SM", Some(shown(&fact, n::capacity)));
    }
    row("TDP", device.tdp.map(|fact| shown(&fact, n::power)));
    table
}

/// A fact as text, with its origin.
fn shown<T: Copy>(fact: &Fact<T>, text: impl Fn(T) -> String) -> (String, &'static str) {
    (text(fact.value), fact.provenance.key())
}

/// A line about what the peaks mean, and which there are not.
fn without_peak(device: &Device) -> String {
    let none: Vec<String> = ComputeClass::ALL
        .into_iter()
        .filter(|class| device.peaks.get(*class).is_none())
        .map(class_name)
        .collect();
    let missing = if none.is_empty() {
        String::new()
    } else {
        format!(" No native support, or unknown: {}.", none.join(", "))
    };
    format!("Peaks are dense, floats with FP32 accumulation.{missing}")
}

/// How the device is connected to others of its kind, and how fast.
fn links(device: &Device) -> String {
    let rate = device.link.map(|fact| link::rate(&device.interconnect, &fact));
    let named = (!device.interconnect.is_empty()).then(|| device.interconnect.to_string());
    let known: Vec<String> = [named, rate].into_iter().flatten().collect();
    if known.is_empty() { "none is known; --link names one".into() } else { known.join(": ") }
}

fn power_modes(device: &Device) -> Table {
    const NOTE: usize = 38;
    let mut table = Table::new(&[
        ("id", Align::Right),
        ("mode", Align::Left),
        ("budget", Align::Right),
        ("GPU clock", Align::Right),
        ("SMs", Align::Right),
        ("bandwidth", Align::Right),
        ("origin", Align::Left),
        ("", Align::Left),
    ]);
    for mode in device.power_modes.iter() {
        let default = if mode.default { "default" } else { "" };
        let notes: Vec<&str> =
            [default, &mode.notes].into_iter().filter(|text| !text.is_empty()).collect();
        let row = vec![
            mode.id.to_string(),
            mode.name.to_string(),
            mode.watts.map_or(UNKNOWN.into(), n::power),
            mode.gpu_clock.map_or(UNKNOWN.into(), n::clock),
            mode.active_sm.map_or(UNKNOWN.into(), |sm| sm.to_string()),
            mode.bandwidth.map_or(UNKNOWN.into(), n::published_bandwidth),
            mode.provenance.key().into(),
        ];
        push_folded(&mut table, row, &notes.join("; "), NOTE);
    }
    table
}

fn published(device: &Device) -> Table {
    const LAST: usize = LINE - 54;
    let mut table = Table::new(&[
        ("measured by others", Align::Left),
        ("value", Align::Right),
        ("use", Align::Left),
        ("why, condition, source", Align::Left),
    ]);
    for row in measurements(&device.key) {
        let (what, unit) = words::ceiling(row.ceiling);
        let value = format!("{} {unit}", row.ceiling.published());
        let text = format!("{}; {}; {}", row.usage.reason(), row.condition, row.source);
        push_folded(&mut table, vec![what, value, row.usage.key().into()], &text, LAST);
    }
    table
}

#[cfg(test)]
mod tests {
    use calc_core::catalog::devices;

    use super::*;

    #[test]
    fn no_line_is_longer_than_a_terminal_is_wide() {
        for row in devices::all() {
            for line in device(row).to_text().lines() {
                assert!(line.chars().count() < 120, "{}: {line}", row.key);
            }
        }
    }

    #[test]
    fn no_reader_sees_names_of_the_program() {
        for row in devices::all() {
            let text = device(row).to_text();
            for word in ["sm_count", "differs:", "fp16acc", "_ratio", "null"] {
                assert!(!text.contains(word), "{}: {word}", row.key);
            }
        }
    }
}
