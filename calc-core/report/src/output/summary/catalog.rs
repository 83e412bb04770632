//! Catalogs for people.

use calc_core::catalog::devices::measured::{measurements, other_figures};
use calc_core::catalog::models::CatalogModel;
use calc_core::catalog::{format_aliases, format_facts};
use calc_core::device::Device;
use calc_core::model_arch::{Attention, ModelArch};
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::FlopsPerSec;

use super::Document;
use crate::input::model_file;
use crate::input::named_model::NamedModel;
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::words::{catalog as words, towers, weights as weight_words};

const UNKNOWN: &str = "unknown";

/// Document of devices: key, name, memory, bandwidth, the peaks that matter, TDP.
pub fn devices<'a>(devices: impl Iterator<Item = &'a Device>) -> Document {
    let mut table = Table::new(&[
        ("key", Align::Left),
        ("name", Align::Left),
        ("memory", Align::Right),
        ("bandwidth", Align::Right),
        ("FP16", Align::Right),
        ("FP8", Align::Right),
        ("FP4", Align::Right),
        ("INT8", Align::Right),
        ("TDP", Align::Right),
        ("modes", Align::Right),
    ]);
    for device in devices {
        let peak = |class| {
            device
                .peaks
                .get(class)
                .map_or("–".into(), |fact| n::published_rate(fact.value, class))
        };
        table.push(vec![
            device.key.to_string(),
            device.name.to_string(),
            n::capacity(device.memory.value),
            n::published_bandwidth(device.bandwidth.value),
            peak(ComputeClass::Fp16),
            peak(ComputeClass::Fp8),
            peak(ComputeClass::Fp4),
            peak(ComputeClass::Int8),
            device.tdp.map_or(UNKNOWN.into(), |tdp| n::power(tdp.value)),
            device.power_modes.len().to_string(),
        ]);
    }
    let mut out = Document::default();
    out.table(table);
    out.line("Peaks are dense, floats with FP32 accumulation; – is no native support, or unknown.");
    out
}

/// Document of one device, every value with its provenance.
pub fn device(device: &Device) -> Document {
    let mut out = Document::default();
    out.heading(format!("{} ({})", device.name, device.key));
    out.line(format!("{} {}, {}", device.vendor, device.architecture, device.form_factor));
    out.table(facts(device));
    if !device.power_modes.is_empty() {
        out.heading("Power modes");
        out.table(power_modes(device));
    }
    out.table(published(device));
    out.line("");
    out.line(format!("source  {}", device.source));
    let mut notes: Vec<String> =
        (!device.notes.is_empty()).then(|| device.notes.to_string()).into_iter().collect();
    notes
        .extend(other_figures(&device.key).map(|row| {
            format!("differs: {} {}", words::other_figure(row), row.figure.published())
        }));
    out.notes(notes);
    out
}

fn facts(device: &Device) -> Table {
    let mut table =
        Table::new(&[("fact", Align::Left), ("value", Align::Right), ("origin", Align::Left)]);
    let mut row = |name: &str, value: Option<(String, &'static str)>| {
        let (value, origin) = value.unwrap_or((UNKNOWN.into(), ""));
        table.push(vec![name.into(), value, origin.into()]);
    };
    row("memory", Some((n::capacity(device.memory.value), device.memory.provenance.key())));
    let usable = device.usable_memory(None);
    let most = if usable.is_known { "" } else { "at most " };
    row("usable by a model", Some((format!("{most}{}", n::bytes(usable.bytes)), "derived")));
    row(
        "bandwidth",
        Some((n::published_bandwidth(device.bandwidth.value), device.bandwidth.provenance.key())),
    );
    for class in ComputeClass::ALL {
        let text =
            |fact: Fact<FlopsPerSec>| (n::published_rate(fact.value, class), fact.provenance.key());
        row(&format!("{} peak, dense", class.key()), device.peaks.get(class).map(text));
    }
    row(
        "SMs, CUs or cores",
        device.sm_count.map(|fact| (fact.value.to_string(), fact.provenance.key())),
    );
    row(
        "clock of the peaks",
        device.tensor_clock.map(|fact| (n::clock(fact.value), fact.provenance.key())),
    );
    row(
        "boost clock",
        device.boost_clock.map(|fact| (n::clock(fact.value), fact.provenance.key())),
    );
    row("L2", device.l2.map(|fact| (n::capacity(fact.value), fact.provenance.key())));
    let l2_bandwidth = device.measured.l2_bandwidth;
    row(
        "L2 read bandwidth",
        l2_bandwidth.map(|fact| (n::published_bandwidth(fact.value), fact.provenance.key())),
    );
    row(
        "shared memory per SM",
        device.shared_memory_per_sm.map(|fact| (n::capacity(fact.value), fact.provenance.key())),
    );
    row("TDP", device.tdp.map(|fact| (n::power(fact.value), fact.provenance.key())));
    row(
        "link, one direction",
        device.link.map(|fact| (n::bandwidth(fact.value.bandwidth), fact.provenance.key())),
    );
    table
}

fn power_modes(device: &Device) -> Table {
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
        table.push(vec![
            mode.id.to_string(),
            mode.name.to_string(),
            mode.watts.map_or(UNKNOWN.into(), n::power),
            mode.gpu_clock.map_or(UNKNOWN.into(), n::clock),
            mode.active_sm.map_or(UNKNOWN.into(), |sm| sm.to_string()),
            mode.bandwidth.map_or(UNKNOWN.into(), n::published_bandwidth),
            mode.provenance.key().into(),
            [if mode.default { "default" } else { "" }, &mode.notes]
                .iter()
                .filter(|t| !t.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join("; "),
        ]);
    }
    table
}

fn published(device: &Device) -> Table {
    let mut table = Table::new(&[
        ("measured by others", Align::Left),
        ("value", Align::Right),
        ("condition", Align::Left),
        ("use", Align::Left),
        ("source", Align::Left),
    ]);
    for row in measurements(&device.key) {
        let (what, unit) = words::ceiling(row.ceiling);
        let value = format!("{} {unit}", row.ceiling.published());
        let usage = format!("{}: {}", row.usage.key(), row.usage.reason());
        table.push(vec![what, value, row.condition.into(), usage, row.source.into()]);
    }
    table
}

/// Document of models.
pub fn models<'a>(models: impl Iterator<Item = &'a CatalogModel>) -> Document {
    let mut table = Table::new(&[
        ("key", Align::Left),
        ("parameters", Align::Right),
        ("active", Align::Right),
        ("layers", Align::Right),
        ("hidden", Align::Right),
        ("heads", Align::Right),
        ("KV heads", Align::Right),
        ("context", Align::Right),
        ("Hugging Face", Align::Left),
    ]);
    for model in models {
        let arch = &model.arch;
        let heads = |count: fn(&Attention) -> u64| {
            arch.main_attention().map_or_else(|| "0".into(), |group| count(group).to_string())
        };
        table.push(vec![
            model.key.into(),
            n::count(arch.n_params()),
            n::count(arch.n_active_params()),
            arch.n_layers.to_string(),
            arch.hidden_size.to_string(),
            heads(|group| group.n_heads),
            heads(|group| group.n_kv_heads),
            arch.max_context.map_or(UNKNOWN.into(), |context| context.to_string()),
            model.hf_id.into(),
        ]);
    }
    let mut out = Document::default();
    out.table(table);
    out
}

/// Document of one model.
pub fn model(model: &CatalogModel) -> Document {
    let mut out = Document::default();
    out.heading(format!("{} ({})", model.name, model.key));
    let official = model.official_params.map_or(UNKNOWN.into(), |count| count.to_string());
    out.line(format!("parameters  {} computed from the geometry (derived)", model.arch.n_params()));
    out.line(format!("official    {official}  {}", model.official_source));
    out.line(format!("active      {}", model.arch.n_active_params()));
    for line in beside(&model.arch) {
        out.line(line);
    }
    out.table(geometry(&model.arch, model.provenance));
    out.line("");
    out.line(format!("source  {}", model.source));
    out.notes((!model.notes.is_empty()).then(|| model.notes.to_string()).into_iter().collect());
    out
}

/// Document of a model file: its geometry, and the fields that it left out.
pub fn named_model(model: &NamedModel) -> Document {
    let mut out = Document::default();
    out.heading(&model.name);
    out.line(format!("parameters  {} computed from the geometry (derived)", model.arch.n_params()));
    out.line(format!("active      {}", model.arch.n_active_params()));
    for line in beside(&model.arch) {
        out.line(line);
    }
    if let Some(bytes) = &model.weight_bytes {
        out.line(format!("weights     {} in the files", n::bytes(bytes.language_model)));
    }
    let experts =
        model.stored.experts.map_or(String::new(), |format| format!(", experts {}", format.key));
    out.line(format!("stored      {}{experts}", model.stored.weights.key));
    out.table(geometry(&model.arch, model.provenance));
    out.line("");
    out.line(format!("source  {}", model.source));
    let mut notes = model_file::first_notes(&model.source, &model.assumed);
    notes.extend(model.assumed.iter().map(model_file::assumed_text));
    notes.extend(model.remarks.iter().map(model_file::remark_text));
    notes.extend(weight_words::model_notes(model));
    out.notes(notes);
    out
}

/// Lines about what a model has beside its decoder.
fn beside(arch: &ModelArch) -> Vec<String> {
    let counted =
        (!arch.towers.is_empty()).then(|| format!("towers      {}", towers::counted(arch)));
    let draft = arch.n_draft_params().map(|params| {
        format!("draft layer {params} parameters, which engines load only to draft with it")
    });
    counted.into_iter().chain(draft).collect()
}

fn geometry(arch: &ModelArch, kind: Provenance) -> Table {
    let mut table =
        Table::new(&[("field", Align::Left), ("value", Align::Right), ("origin", Align::Left)]);
    if let serde_json::Value::Object(fields) =
        crate::output::json::geometry::geometry(arch, "", kind)
    {
        for (name, field) in fields {
            table.push(vec![name, field["value"].to_string().replace('"', ""), kind.key().into()]);
        }
    }
    table
}

/// Document of formats.
pub fn formats<'a>(formats: impl Iterator<Item = &'a QuantFormat>) -> Document {
    let mut table = Table::new(&[
        ("key", Align::Left),
        ("name", Align::Left),
        ("bits", Align::Right),
        ("block", Align::Right),
        ("computes as", Align::Left),
        ("known loss", Align::Left),
        ("also called", Align::Left),
    ]);
    for format in formats {
        table.push(vec![
            format.key.into(),
            format.name.into(),
            n::short(format.bits_per_element(), 6),
            block(format),
            format.class.map_or("weights only", ComputeClass::key).into(),
            format_facts::facts(format).accuracy.into(),
            also_called(format),
        ]);
    }
    let mut out = Document::default();
    out.table(table);
    out
}

/// Text for the elements that share a scale.
fn block(format: &QuantFormat) -> String {
    format.tile.map_or(format.block.to_string(), |tile| format!("{} x {}", tile.rows, tile.cols))
}

fn also_called(format: &QuantFormat) -> String {
    format_aliases::names(format).collect::<Vec<_>>().join(", ")
}

/// Document of one format.
pub fn format(format: &'static QuantFormat) -> Document {
    let facts = format_facts::facts(format);
    let mut out = Document::default();
    out.heading(format!("{} ({})", format.name, format.key));
    let mut table =
        Table::new(&[("fact", Align::Left), ("value", Align::Left), ("origin", Align::Left)]);
    let kind = facts.provenance.key();
    let block = format!(
        "{} elements in {} bits, scales included",
        format.block,
        n::short(format.block_bits, 7)
    );
    let tile = format.tile.map_or(String::new(), |tile| {
        format!(", {} per tile of {} x {}", tile.bits, tile.rows, tile.cols)
    });
    let extra = format!(
        "{} bits per output channel, {} per tensor{tile}",
        format.channel_bits, format.tensor_bits
    );
    let class = format.class.map_or("storage only: weights are dequantized", ComputeClass::key);
    let nvidia = if facts.nvidia.is_empty() { "none".into() } else { facts.nvidia.join(", ") };
    let file = words::file_bits(format)
        .map_or_else(String::new, |bits| format!("{} of {}", n::short(bits, 5), words::FILE_MODEL));
    for (name, value, origin) in [
        ("also called", also_called(format), ""),
        ("bits per element", n::short(format.bits_per_element(), 6), "derived"),
        ("bits per weight of a file", file, "derived"),
        ("block", block, kind),
        ("further scales", extra, kind),
        ("computes as", class.into(), kind),
        ("layout", facts.layout.into(), kind),
        ("scale", facts.scale.into(), kind),
        ("made by", facts.method.into(), kind),
        ("NVIDIA tensor cores", nvidia, kind),
        ("other hardware", facts.other_native.join(", "), kind),
        ("torchao", facts.torchao.into(), kind),
        ("known loss", facts.accuracy.into(), facts.accuracy_source),
    ] {
        if !value.is_empty() {
            table.push(vec![name.into(), value, origin.into()]);
        }
    }
    out.table(table);
    out.line("");
    out.line(format!("source  {}", facts.source));
    out.notes((!facts.notes.is_empty()).then(|| facts.notes.to_string()).into_iter().collect());
    out
}
