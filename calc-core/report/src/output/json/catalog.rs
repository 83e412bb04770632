//! Rows of the catalogs as JSON: every value with its provenance.

use calc_core::catalog::devices::measured::{measurements, other_figures};
use calc_core::catalog::models::CatalogModel;
use calc_core::catalog::{format_aliases, format_facts};
use calc_core::device::{Device, PowerMode};
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use serde_json::{Map, Value, json};

use super::geometry::geometry;
use super::row::{CatalogRow, in_row};
use super::{ProvenanceJson, SCHEMA, Sourced};
use crate::input::model_file::{assumed_text, remark_text};
use crate::input::named_model::NamedModel;
use crate::input::weight_file::WeightBytes;
use crate::output::words;

/// A value with its own source; `None` is unknown.
fn with_source<T>(value: Option<(T, Provenance)>, source: &str) -> Sourced<T> {
    value.map_or(Sourced::UNKNOWN, |(value, kind)| {
        Sourced::new(value, ProvenanceJson::new(kind, source))
    })
}

/// JSON of a device.
pub fn device(device: &Device) -> Value {
    let measured: Vec<Value> = measurements(&device.key)
        .map(|row| {
            let (what, unit) = words::catalog::ceiling(row.ceiling);
            json!({
                "what": what, "value": row.ceiling.published(), "unit": unit, "condition": row.condition,
                "provenance": ProvenanceJson::new(Provenance::Read, row.source),
                "ceiling": row.ceiling.key(), "compute_class": row.ceiling.class().map(ComputeClass::key),
                "use": row.usage.key(), "reason": row.usage.reason(),
            })
        })
        .collect();
    let alternates: Vec<Value> = other_figures(&device.key)
        .map(|row| json!({"what": words::catalog::other_figure(row), "value": row.figure.published()}))
        .collect();
    let peaks: Map<String, Value> = ComputeClass::ALL
        .iter()
        .map(|class| {
            let peak = device.peaks.get(*class).map(|fact| (fact.value.get(), fact.provenance));
            (class.key().into(), json!(in_row(peak, &device.source)))
        })
        .collect();
    let link = device.link.map(|fact| {
        let value = json!({"bandwidth_byte_per_s": fact.value.bandwidth.get(), "latency_s": fact.value.latency.get()});
        (value, fact.provenance)
    });
    let usable = device.usable_memory(None);
    CatalogRow::new(&device.source)
        .plain("schema", SCHEMA)
        .plain("key", &device.key)
        .plain("name", &device.name)
        .plain("aliases", &*device.aliases)
        .plain("vendor", &device.vendor)
        .plain("architecture", &device.architecture)
        .plain("compute_capability", &device.compute_capability)
        .plain("form_factor", &device.form_factor)
        .plain("class", device.class)
        .plain("release_year", device.release_year)
        .fact("memory_bytes", Some(device.memory), calc_core::units::Bytes::get)
        .plain("memory_type", &device.memory_type)
        .plain("unified_memory", device.memory_platform.is_shared())
        .plain("memory_platform", device.memory_platform.key())
        .sourced("usable_memory_bytes", usable.bytes.get(), Provenance::Derived)
        .fact("bandwidth_byte_per_s", Some(device.bandwidth), calc_core::units::BytesPerSec::get)
        .plain("dense_peaks_flop_per_s", peaks)
        .fact(
            "fp16_accumulate_fp16_flop_per_s",
            device.fp16_accumulate_fp16,
            calc_core::units::FlopsPerSec::get,
        )
        .fact(
            "fp8_accumulate_fp16_flop_per_s",
            device.fp8_accumulate_fp16,
            calc_core::units::FlopsPerSec::get,
        )
        .sourced("sparse_multiplier", device.sparse_multiplier, Provenance::Recalled)
        .fact("sm_count", device.sm_count, f64::from)
        .fact("boost_clock_hz", device.boost_clock, calc_core::units::Hertz::get)
        .fact("tensor_clock_hz", device.tensor_clock, calc_core::units::Hertz::get)
        .fact("l2_bytes", device.l2, calc_core::units::Bytes::get)
        .fact(
            "l2_bandwidth_byte_per_s",
            device.measured.l2_bandwidth,
            calc_core::units::BytesPerSec::get,
        )
        .fact(
            "shared_memory_per_sm_bytes",
            device.shared_memory_per_sm,
            calc_core::units::Bytes::get,
        )
        .fact("registers_per_sm", device.registers_per_sm, f64::from)
        .fact("tdp_w", device.tdp, calc_core::units::Watts::get)
        .plain("interconnect", &device.interconnect)
        .plain("link", in_row(link, &device.source))
        .plain(
            "power_modes",
            device.power_modes.iter().map(|mode| power_mode(mode, device)).collect::<Vec<_>>(),
        )
        .plain("measured", measured)
        .plain("alternates", alternates)
        .plain("source", &device.source)
        .plain("notes", &device.notes)
        .done()
}

fn power_mode(mode: &PowerMode, device: &Device) -> Value {
    let source = if mode.notes.is_empty() { &device.source } else { &mode.notes };
    json!({
        "id": mode.id,
        "name": mode.name,
        "watt": mode.watts.map(calc_core::units::Watts::get),
        "gpu_clock_hz": mode.gpu_clock.map(calc_core::units::Hertz::get),
        "active_sm": mode.active_sm,
        "memory_clock_hz": mode.memory_clock.map(calc_core::units::Hertz::get),
        "bandwidth_byte_per_s": mode.bandwidth.map(calc_core::units::BytesPerSec::get),
        "cpu_cores": mode.cpu_cores,
        "cpu_clock_hz": mode.cpu_clock.map(calc_core::units::Hertz::get),
        "default": mode.default,
        "provenance": ProvenanceJson::new(mode.provenance, source),
        "notes": mode.notes,
    })
}

/// JSON of a catalog model.
pub fn model(model: &CatalogModel) -> Value {
    let official = model.official_params.map(|count| (count, Provenance::Recalled));
    CatalogRow::new(model.source)
        .plain("schema", SCHEMA)
        .plain("key", model.key)
        .plain("name", model.name)
        .plain("hf_id", model.hf_id)
        .plain("other_names", model.other_names)
        .plain("family", model.family)
        .plain("architecture", model.architecture)
        .sourced("release_year", model.release_year, Provenance::Recalled)
        .sourced("parameters", model.arch.n_params(), Provenance::Derived)
        .sourced("active_parameters", model.arch.n_active_params(), Provenance::Derived)
        .plain("official_parameters", with_source(official, model.official_source))
        .plain("geometry", geometry(&model.arch, model.source, model.provenance))
        .sourced("stored_weights", model.stored.weights.key, Provenance::Recalled)
        .sourced(
            "stored_experts",
            model.stored.experts.map(|format| format.key),
            Provenance::Recalled,
        )
        .plain("source", model.source)
        .plain("notes", model.notes)
        .done()
}

/// JSON of a model file.
pub fn named_model(model: &NamedModel) -> Value {
    let (arch, kind) = (&*model.arch, model.provenance);
    CatalogRow::new(&model.source)
        .plain("schema", SCHEMA)
        .plain("key", &model.key)
        .plain("name", &model.name)
        .sourced("parameters", arch.n_params(), Provenance::Derived)
        .sourced("active_parameters", arch.n_active_params(), Provenance::Derived)
        .plain("geometry", geometry(arch, &model.source, kind))
        .sourced("stored_weights", model.stored.weights.key, kind)
        .sourced("stored_experts", model.stored.experts.map(|format| format.key), kind)
        .plain("assumed", model.assumed.iter().map(assumed_text).collect::<Vec<_>>())
        .plain("remarks", model.remarks.iter().map(remark_text).collect::<Vec<_>>())
        .plain("weight_bytes", model.weight_bytes.as_ref().map(weight_bytes))
        .plain("source", &model.source)
        .done()
}

/// JSON of the exact bytes by role.
fn weight_bytes(bytes: &WeightBytes) -> Value {
    json!({
        "language_model": bytes.language_model.get(),
        "embedding": bytes.embedding.get(),
        "lm_head": bytes.lm_head.get(),
        "layers": bytes.layers.get(),
        "experts": bytes.experts.get(),
        "rest": bytes.rest.get(),
        "towers": bytes.towers.get(),
        "draft_layers": bytes.draft_layers.get(),
        "parameters": bytes.parameters,
    })
}

/// JSON of a format.
pub fn format(format: &'static QuantFormat) -> Value {
    let facts = format_facts::facts(format);
    let kind = facts.provenance;
    let accuracy_kind = if facts.accuracy_source.contains("read") {
        Provenance::Read
    } else {
        Provenance::Recalled
    };
    let accuracy = (!facts.accuracy.is_empty()).then_some((facts.accuracy, accuracy_kind));
    let tile =
        format.tile.map(|tile| json!({"rows": tile.rows, "cols": tile.cols, "bits": tile.bits}));
    let file = words::catalog::file_bits(format);
    CatalogRow::new(facts.source)
        .plain("schema", SCHEMA)
        .plain("key", format.key)
        .plain("name", format.name)
        .plain("aliases", format_aliases::names(format).collect::<Vec<_>>())
        .plain("encoding", format.encoding)
        .sourced("bits_per_element", format.bits_per_element(), Provenance::Derived)
        .sourced("block", format.block, kind)
        .sourced("block_bits", format.block_bits, kind)
        .sourced("channel_bits", format.channel_bits, kind)
        .sourced("tensor_bits", format.tensor_bits, kind)
        .sourced("tile", tile, kind)
        .sourced("compute_class", format.class.map(ComputeClass::key), kind)
        .sourced("layout", facts.layout, kind)
        .sourced("scale", facts.scale, kind)
        .sourced("method", facts.method, kind)
        .plain("accuracy", with_source(accuracy, facts.accuracy_source))
        .sourced("nvidia_compute_capabilities", facts.nvidia, kind)
        .sourced("other_native", facts.other_native, kind)
        .sourced("torchao", facts.torchao, kind)
        .sourced(
            "file_bits_per_weight",
            file,
            if file.is_some() { Provenance::Derived } else { kind },
        )
        .plain("source", facts.source)
        .plain("notes", facts.notes)
        .done()
}
