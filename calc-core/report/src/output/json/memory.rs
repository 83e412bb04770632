//! Memory of one device in JSON.

use calc_core::estimate::Estimate;
use calc_core::footprint::{DraftMemory, WeightRole};
use calc_core::units::Bytes;
use serde::Serialize;

use super::host::HostMemoryJson;
use crate::input::request::EstimateInputs;
use crate::output::words::cards;

/// Memory of one device [byte].
#[derive(Debug, Clone, Serialize)]
pub(super) struct MemoryJson {
    weights: f64,
    /// The weights by role, those on a host included.
    weights_by_role: WeightRolesJson,
    /// Tables of the input that the engine keeps beside the card; in no sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    tables_on_host: Option<f64>,
    /// Weights of the towers for images and sound on this device.
    #[serde(skip_serializing_if = "Option::is_none")]
    towers: Option<f64>,
    kv_cache: f64,
    /// Bytes that the engine allots beside `kv_cache`, which the model has to keep.
    kv_cache_rounding: f64,
    activations: f64,
    reserve: f64,
    draft: Option<DraftJson>,
    total: f64,
    /// Usable part of the largest possible memory where the installed memory is unknown; `fits` is null then.
    usable: f64,
    /// The part of `usable` that the engine allots at most; null if it may use all.
    engine_usable: Option<f64>,
    fits: Option<bool>,
    installed: Option<f64>,
    platform: &'static str,
    group: GroupJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostMemoryJson>,
}

/// Memory of the draft model, whole on one device.
#[derive(Debug, Clone, Copy, Serialize)]
struct DraftJson {
    weights: f64,
    kv_cache: f64,
    kv_cache_rounding: f64,
    activations: f64,
    total: f64,
}

impl From<DraftMemory> for DraftJson {
    fn from(draft: DraftMemory) -> Self {
        Self {
            weights: draft.weights.get(),
            kv_cache: draft.kv_cache.get(),
            kv_cache_rounding: draft.cache_rounding.get(),
            activations: draft.activations.get(),
            total: draft.total().get(),
        }
    }
}

/// Memory of all devices, each counted as large as the fullest one.
#[derive(Debug, Clone, Copy, Serialize)]
struct GroupJson {
    devices: u64,
    total: f64,
}

/// Bytes of weights by role; a role that the model lacks is absent.
#[derive(Debug, Clone, Default, Serialize)]
struct WeightRolesJson(serde_json::Map<String, serde_json::Value>);

impl WeightRolesJson {
    fn new(roles: &[(WeightRole, Bytes)]) -> Self {
        let pair =
            |(role, bytes): &(WeightRole, Bytes)| (role.key().to_owned(), bytes.get().into());
        Self(roles.iter().map(pair).collect())
    }
}

impl MemoryJson {
    /// Converts the memory of an answer.
    pub(super) fn new(inputs: &EstimateInputs, answer: &Estimate) -> Self {
        let (device, devices) = (&*inputs.device, inputs.workload.parallel.devices());
        let memory = &answer.memory;
        let all = match &answer.cards[..] {
            [] => memory.group_total(devices),
            _ => cards::total(answer),
        };
        Self {
            weights: memory.weights.get(),
            weights_by_role: WeightRolesJson::new(&inputs.weight_roles()),
            tables_on_host: Some(memory.tables_on_host.get()).filter(|bytes| *bytes > 0.0),
            towers: Some(memory.towers.get()).filter(|bytes| *bytes > 0.0),
            kv_cache: memory.kv_cache.get(),
            kv_cache_rounding: memory.cache_rounding.get(),
            activations: memory.activations.get(),
            reserve: memory.reserve.get(),
            draft: memory.draft.map(DraftJson::from),
            total: memory.total().get(),
            usable: memory.usable.on_device.get(),
            engine_usable: memory.usable.engine_share.map(|_| memory.usable.bytes.get()),
            fits: memory.verdict().fits(),
            installed: device.installed_memory().map(Bytes::get),
            platform: device.memory_platform.key(),
            group: GroupJson { devices, total: all.get() },
            host: memory.host.map(HostMemoryJson::from),
        }
    }
}
