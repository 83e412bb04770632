//! JSON of the machine around a card, and of what lies there.

use calc_core::footprint::HostMemory;
use calc_core::recommend::Outcome;
use calc_core::tiers::{Host, Placement};
use calc_core::units::BytesPerSec;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ExpectedJson;
use crate::input::request::{EstimateInputs, Remedy};
use crate::output::words;

/// The machine around a card; memory is in bytes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct HostJson {
    name: String,
    bandwidth_byte_per_s: f64,
    bandwidth_basis: &'static str,
    installed: f64,
    usable: f64,
    link: String,
    link_byte_per_s: f64,
    link_basis: &'static str,
    ssd_byte_per_s: Option<f64>,
}

impl From<&Host> for HostJson {
    fn from(host: &Host) -> Self {
        Self {
            name: host.name.to_string(),
            bandwidth_byte_per_s: host.bandwidth.value.get(),
            bandwidth_basis: host.bandwidth.provenance.key(),
            installed: host.installed.get(),
            usable: host.usable.get(),
            link: host.link_name.to_string(),
            link_byte_per_s: host.link.value.bandwidth.get(),
            link_basis: host.link.provenance.key(),
            ssd_byte_per_s: host.ssd.map(BytesPerSec::get),
        }
    }
}

/// Parts of a model that lie on the host, and the options of llama.cpp that put them there.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PlacementJson {
    layers_on_host: u64,
    /// Layers whose experts, or MLPs in a model without experts, lie on the host.
    feed_forward_on_host: u64,
    cache_on_host: bool,
    /// Steps of a prompt copy weights of the host to the card.
    copies_to_card: bool,
    sentence: String,
    llama_cpp: Vec<String>,
}

impl PlacementJson {
    pub(super) fn new(inputs: &EstimateInputs, placement: &Placement) -> Self {
        let arch = &inputs.model.arch;
        Self {
            layers_on_host: placement.layers,
            feed_forward_on_host: placement.feed_forward,
            cache_on_host: placement.cache,
            copies_to_card: placement.copies,
            sentence: words::placement::places(placement, arch),
            llama_cpp: words::placement::options(placement, arch, &inputs.workload),
        }
    }
}

/// Adds where the memory of an outcome lies, if it has a host: `memory_bytes` is that of card and host together.
pub(super) fn add_places(row: &mut Value, inputs: &EstimateInputs, outcome: &Outcome) {
    let (Some(host), Some(placement)) = (outcome.host, outcome.placement) else { return };
    row["card_memory_bytes"] = json!(outcome.on_card().get());
    row["host_memory_bytes"] = json!(host.in_memory().get());
    row["placement"] = json!(PlacementJson::new(inputs, &placement));
}

/// Bytes on the host of the card.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct HostMemoryJson {
    weights: f64,
    kv_cache: f64,
    on_ssd: f64,
    in_memory: f64,
    usable: f64,
}

impl From<HostMemory> for HostMemoryJson {
    fn from(host: HostMemory) -> Self {
        Self {
            weights: host.weights.get(),
            kv_cache: host.kv_cache.get(),
            on_ssd: host.on_ssd.get(),
            in_memory: host.in_memory().get(),
            usable: host.usable.get(),
        }
    }
}

/// A change of a request after which the model fits, and the rate then.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RemedyJson {
    set: Map<String, Value>,
    tpot: ExpectedJson,
    throughput_token_per_s: f64,
}

impl From<&Remedy> for RemedyJson {
    fn from(remedy: &Remedy) -> Self {
        let set = remedy.fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        Self {
            set: set.collect(),
            tpot: remedy.answer.mean.expected.into(),
            throughput_token_per_s: remedy.answer.mean.throughput().get(),
        }
    }
}
