//! Catalogs for people.

use calc_core::catalog::models::CatalogModel;
use calc_core::catalog::{format_aliases, format_facts};
use calc_core::device::Device;
use calc_core::model_arch::Attention;
use calc_core::quant_format::{ComputeClass, QuantFormat};

use super::Document;
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::words::catalog as words;

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
