//! Rows of the catalogs as JSON: every value with its provenance.

use calc_core::catalog::devices::measured::{measurements, other_figures};
use calc_core::catalog::models::CatalogModel;
use calc_core::catalog::{format_aliases, format_facts};
use calc_core::device::{Device, PowerMode};
use calc_core::model_arch::{
    Attention, AttentionBias, KvSource, MlpKind, ModelArch, Moe, NormKind, Projection, Recurrent,
};
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::{ComputeClass, QuantFormat};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{ProvenanceJson, SCHEMA, Sourced};
use crate::input::model_file::{assumed_text, remark_text};
use crate::input::named_model::NamedModel;
use crate::input::weight_file::WeightBytes;
use crate::output::words;

/// A JSON object whose values share a source.
struct CatalogRow<'a> {
    values: Map<String, Value>,
    source: &'a str,
}

impl<'a> CatalogRow<'a> {
    fn new(source: &'a str) -> Self {
        Self { values: Map::new(), source }
    }

    /// Adds a name or description, which has no provenance of its own.
    fn plain(mut self, key: &str, value: impl Serialize) -> Self {
        self.values.insert(key.into(), json!(value));
        self
    }

    /// Adds a value with its provenance.
    fn sourced(mut self, key: &str, value: impl Serialize, kind: Provenance) -> Self {
        self.values.insert(
            key.into(),
            json!(Sourced::new(json!(value), ProvenanceJson::in_row(kind, self.source))),
        );
        self
    }

    /// Adds a fact; unknown ones become null.
    fn fact<T: Copy>(
        mut self,
        key: &str,
        fact: Option<Fact<T>>,
        in_unit: impl Fn(T) -> f64,
    ) -> Self {
        let value = fact.map(|fact| (json!(in_unit(fact.value)), fact.provenance));
        self.values.insert(key.into(), json!(in_row(value, self.source)));
        self
    }

    fn done(self) -> Value {
        Value::Object(self.values)
    }
}

/// A value with the provenance and source of its row; `None` is unknown.
fn in_row<T>(value: Option<(T, Provenance)>, source: &str) -> Sourced<T> {
    value.map_or(Sourced::UNKNOWN, |(value, kind)| {
        Sourced::new(value, ProvenanceJson::in_row(kind, source))
    })
}

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

/// JSON of a model's geometry, with the names of its config.json where it has them. Names of attention are those of the group
/// with the most layers; `attention_groups` has all groups.
pub fn geometry(arch: &ModelArch, source: &str, kind: Provenance) -> Value {
    let main = arch.main_attention();
    let total = |layers: fn(&Attention) -> u64| arch.attention.iter().map(layers).sum::<u64>();
    let window = main.filter(|a| a.windowed_layers > 0).map(|a| a.window);
    let row = CatalogRow::new(source)
        .sourced("hidden_size", arch.hidden_size, kind)
        .sourced("num_hidden_layers", arch.n_layers, kind)
        .sourced("vocab_size", arch.vocab_size, kind)
        .sourced("tie_word_embeddings", arch.tied_embeddings, kind)
        .sourced("num_attention_heads", main.map(|a| a.n_heads), kind)
        .sourced("num_key_value_heads", main.map(|a| a.n_kv_heads), kind)
        .sourced("head_dim", main.map(|a| a.head_dim), kind)
        .sourced("full_attention_layers", total(|a| a.full_layers), kind)
        .sourced("windowed_attention_layers", total(|a| a.windowed_layers), kind)
        .sourced("sliding_window", window, kind)
        .sourced("attention_bias", main.map(|a| attention_bias(a.bias)), kind)
        .sourced("attention_sinks", main.is_some_and(|a| a.sinks), kind)
        .sourced("mlp", if arch.mlp == MlpKind::Gated { "gated" } else { "plain" }, kind)
        .sourced("mlp_bias", arch.mlp_bias, kind)
        .sourced("dense_layers", dense_layers(arch), kind)
        .sourced("norm", norm(arch.norm), kind)
        .sourced("norms", arch.add_norms + arch.post_norms + u64::from(arch.final_norm), kind)
        .sourced("learned_position_rows", arch.position_rows, kind)
        .sourced("max_position_embeddings", arch.max_context, kind);
    parts(row, arch, kind).done()
}

/// Adds experts, latent attention, recurrent layers and other parts that only some models have.
fn parts<'a>(mut row: CatalogRow<'a>, arch: &ModelArch, kind: Provenance) -> CatalogRow<'a> {
    let moe: Vec<Value> = arch.moe.iter().map(experts).collect();
    if let Some(first) = moe.first() {
        row = row.sourced("moe", first.clone(), kind);
    }
    if let Some((a, mla)) = arch.attention.iter().find_map(|a| Some((a, a.latent?))) {
        let value = json!({
            "q_lora_rank": mla.q_lora_rank, "kv_lora_rank": mla.kv_lora_rank, "qk_rope_head_dim": mla.rope_dim,
            "qk_nope_head_dim": mla.nope_dim, "v_head_dim": a.v_head_dim,
        });
        row = row.sourced("mla", value, kind);
    }
    let recurrent: Vec<Value> = arch.recurrent.iter().map(recurrent).collect();
    if let Some(Recurrent::Mamba2(mamba)) = arch.recurrent.first() {
        let value = json!({
            "layers": mamba.layers, "mamba_num_heads": mamba.n_heads, "mamba_head_dim": mamba.head_dim,
            "ssm_state_size": mamba.state, "n_groups": mamba.n_groups, "conv_kernel": mamba.conv_kernel,
        });
        row = row.sourced("mamba", value, kind);
    }
    let attention: Vec<Value> =
        arch.attention.iter().filter(|group| group.layers() > 0).map(attention_group).collect();
    let lists = [
        ("attention_groups", attention),
        ("recurrent_groups", recurrent),
        ("expert_groups", moe),
        ("projections", arch.projections.iter().map(projection).collect()),
        (
            "tables",
            arch.tables.iter().map(|t| json!({"rows": t.rows, "columns": t.cols})).collect(),
        ),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        row = row.sourced(key, list, kind);
    }
    row
}

fn experts(moe: &Moe) -> Value {
    json!({
        "layers": moe.layers, "num_experts": moe.n_experts, "num_experts_per_tok": moe.experts_per_token,
        "moe_intermediate_size": moe.expert_width, "shared_expert_intermediate_size": moe.shared_width,
        "moe_latent_size": moe.latent, "zero_expert_num": moe.idle_choices,
    })
}

fn attention_group(a: &Attention) -> Value {
    let indexer = a.indexer.map(|index| {
        json!({
            "layers": index.layers, "index_n_heads": index.n_heads, "index_head_dim": index.head_dim,
            "index_topk": index.top_k,
        })
    });
    let keys = match a.kv_source {
        KvSource::Own => "own",
        KvSource::KeysAreValues => "keys are values",
        KvSource::EarlierLayer => "of an earlier layer",
    };
    json!({
        "full_layers": a.full_layers, "windowed_layers": a.windowed_layers,
        "window": (a.windowed_layers > 0).then_some(a.window), "chunked": a.chunked,
        "num_attention_heads": a.n_heads, "num_key_value_heads": a.n_kv_heads, "head_dim": a.head_dim,
        "v_head_dim": a.v_head_dim, "gate_outputs": a.gate_outputs, "keys_and_values": keys,
        "kv_lora_rank": a.latent.map(|mla| mla.kv_lora_rank), "indexer": indexer,
        "cache_elements_per_token": a.cache_row(),
    })
}

fn recurrent(group: &Recurrent) -> Value {
    json!({
        "kind": words::catalog::recurrence(group.kind()), "layers": group.layers(), "inner": group.inner(),
        "state_elements": group.state_elements(), "conv_elements": group.conv_elements(),
    })
}

fn projection(matrix: &Projection) -> Value {
    json!({"count": matrix.count, "rows": matrix.rows, "columns": matrix.cols})
}

fn dense_layers(arch: &ModelArch) -> Vec<Value> {
    arch.dense
        .iter()
        .map(|group| json!({"layers": group.layers, "intermediate_size": group.width}))
        .collect()
}

const fn attention_bias(bias: AttentionBias) -> &'static str {
    match bias {
        AttentionBias::None => "none",
        AttentionBias::Qkv => "qkv",
        AttentionBias::Qkvo => "qkvo",
    }
}

const fn norm(norm: NormKind) -> &'static str {
    match norm {
        NormKind::RmsNorm => "rmsnorm",
        NormKind::LayerNorm => "layernorm",
        NormKind::NoParameters => "layernorm without parameters",
    }
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
