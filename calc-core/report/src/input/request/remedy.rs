//! Changes after which a model that does not fit does: its language model only, memory of a host behind the card, fewer bits, a
//! shorter context, more devices.

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::estimate::Estimate;
use calc_core::footprint::MemoryFootprint;
use calc_core::parallel::check_split;
use calc_core::plan::Plan;
use calc_core::quant_format::QuantFormat;
use calc_core::tiers::Host;
use calc_core::units::Bytes;
use calc_core::workload::Workload;
use serde_json::Value;

use super::estimate::WEIGHT_SIZES;
use super::host::{self, host_and_memory};
use super::{EstimateInputs, device_count};

/// Memory with which hosts are sold [GiB].
pub const HOST_MEMORY: [u32; 9] = [16, 32, 64, 96, 128, 192, 256, 512, 1024];
/// Formats that are tried, widest first: files of llama.cpp, and then those of engines that do not read these.
const FEWER_BITS: [&str; 8] = [
    "gguf_q8_0",
    "gguf_q6_k",
    "gguf_q5_k",
    "gguf_q4_k",
    "gguf_q3_k",
    "gguf_q2_k",
    "fp8_e4m3",
    "int4_g128",
];
/// Numbers of devices that are tried: those of one machine.
const DEVICES: [u64; 3] = [2, 4, 8];
/// Shortest context that is worth an offer [tokens].
const SHORTEST: u64 = 512;

/// A change after which the model fits.
#[derive(Debug, Clone)]
pub struct Remedy {
    /// Fields of the request with their new values.
    pub fields: Vec<(&'static str, Value)>,
    /// The answer after the change.
    pub answer: Estimate,
}

/// The smallest changes of one kind each, after which a model fits; none if it fits already, and for inputs that no request
/// gave.
pub fn remedies(inputs: &EstimateInputs, answer: &Estimate) -> Vec<Remedy> {
    if answer.memory.verdict().may_fit() {
        return Vec::new();
    }
    [
        without_towers(inputs),
        with_host(inputs),
        with_fewer_bits(inputs, answer),
        with_shorter_context(inputs),
        with_more_devices(inputs),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The fields of the usual host with an amount of memory.
pub(super) fn host_fields(memory: u32) -> Vec<(&'static str, Value)> {
    vec![("host", Value::from("ddr5")), ("host_memory_gb", Value::from(memory))]
}

/// The change, if the model fits after it: what is promised is the answer to the changed request.
fn tried(inputs: &EstimateInputs, fields: Vec<(&'static str, Value)>) -> Option<Remedy> {
    let changed = inputs.with_fields(&fields)?;
    let answer = changed.estimate().ok()?;
    let (engine, cache) = (answer.basis.engine, answer.precision.kv_cache);
    let split = (&*changed.model.arch, &changed.workload.parallel);
    let works = answer.memory.verdict().may_fit()
        && changed.served(&answer).is_ok()
        && check_split(engine, &changed.device, split, cache).is_ok();
    works.then_some(Remedy { fields, answer })
}

/// The language model only, for a prompt without images.
fn without_towers(inputs: &EstimateInputs) -> Option<Remedy> {
    if inputs.asked_images.is_some() || inputs.model.arch.towers.is_empty() {
        return None;
    }
    tried(inputs, vec![("language_model_only", Value::from(true))])
}

fn with_host(inputs: &EstimateInputs) -> Option<Remedy> {
    if Host::impossible(&inputs.device).is_some() || inputs.workload.parallel.devices() > 1 {
        return None;
    }
    let known = inputs.host.as_ref().map_or(Bytes::ZERO, |host| host.host.installed);
    let larger = HOST_MEMORY.into_iter().filter(|gib| Bytes::from_gib(f64::from(*gib)) > known);
    // A host whose words name its memory is named without it, and so is a card whose name has the host.
    let told = inputs.told.iter().find(|(key, _)| *key == "host");
    let words = told.and_then(|(_, text)| host_and_memory(text)).map(|(host, _)| host);
    let changes = larger.map(|memory| match (&inputs.host, &words) {
        (Some(_), None) => vec![("host_memory_gb", Value::from(memory))],
        (Some(_), Some(host)) => {
            let host = ("host", Value::from(host.as_str()));
            let memory = ("host_memory_gb", Value::from(memory));
            bare_name(inputs).into_iter().chain([host, memory]).collect()
        }
        (None, _) => host_fields(memory),
    });
    changes.into_iter().find_map(|change| tried(inputs, change))
}

/// The field `hardware` with the device alone, where the request names a host or a number of devices there, too.
pub(super) fn bare_name(inputs: &EstimateInputs) -> Option<(&'static str, Value)> {
    let mut fields = inputs.fields.clone()?;
    let asked = fields.peek_text("hardware")?.to_owned();
    host::from_device_name(&mut fields).ok()?;
    device_count::from_device_name(&mut fields);
    let bare = fields.peek_text("hardware").filter(|name| *name != asked)?;
    Some(("hardware", Value::from(bare)))
}

/// The widest format with kernels in the engine of the request. A stated size is that of the weights before.
fn with_fewer_bits(inputs: &EstimateInputs, answer: &Estimate) -> Option<Remedy> {
    let bits = |format: &QuantFormat| format.bits_per_element();
    let own = bits(answer.precision.weights);
    let formats = FEWER_BITS.into_iter().filter_map(|key| catalog::format(key).ok());
    let sizes = WEIGHT_SIZES.into_iter().filter(|key| inputs.has_field(key));
    let sizes: Vec<_> = sizes.map(|key| (key, Value::Null)).collect();
    formats.filter(|format| bits(format) < own).find_map(|format| {
        let weights = ("weights", Value::from(format.key));
        tried(inputs, [weights].into_iter().chain(sizes.iter().cloned()).collect())
    })
}

/// The smallest number of devices, where a link between them is known.
fn with_more_devices(inputs: &EstimateInputs) -> Option<Remedy> {
    let tensor = inputs.workload.parallel.tensor;
    let more = more_devices(&inputs.device, tensor);
    let mut changes = more.map(|ways| split(inputs, ways));
    changes.find_map(|change| tried(inputs, change))
}

/// The fields that split matrices over a number of devices.
pub(super) fn split(inputs: &EstimateInputs, ways: u64) -> Vec<(&'static str, Value)> {
    bare_name(inputs).into_iter().chain([("tensor_parallel", Value::from(ways))]).collect()
}

/// Larger numbers of devices over which matrices can be split; none of a device whose link to others nobody published.
pub(super) fn more_devices(device: &Device, tensor: u64) -> impl Iterator<Item = u64> + use<> {
    let is_linked = device.link.is_some();
    DEVICES.into_iter().filter(move |ways| is_linked && *ways > tensor)
}

/// The longest context, among those whose prompt is as much shorter.
fn with_shorter_context(inputs: &EstimateInputs) -> Option<Remedy> {
    let request = inputs.request().ok()?;
    let plan = Plan::new(request).ok()?;
    let fits = |tokens: u64| {
        let workload = shortened(&inputs.workload, tokens);
        let memory: MemoryFootprint = plan.footprint_of(&workload);
        memory.verdict().may_fit()
    };
    let (mut least, mut most) = (SHORTEST, inputs.workload.longest());
    if most <= least || !fits(least) {
        return None;
    }
    while most - least > 1 {
        let middle = least.midpoint(most);
        if fits(middle) { least = middle } else { most = middle }
    }
    let fields = shorter(inputs, &shortened(&inputs.workload, least));
    (!fields.is_empty()).then(|| tried(inputs, fields)).flatten()
}

/// The fields of a shorter workload; none if its prompt is too short for the images of the request.
pub(super) fn shorter(inputs: &EstimateInputs, workload: &Workload) -> Vec<(&'static str, Value)> {
    let text = workload.text();
    if text == 0 {
        return Vec::new();
    }
    let mut fields = vec![
        ("prompt", Value::from(text)),
        ("context", Value::from(workload.context)),
        ("new_tokens", Value::from(workload.new_tokens)),
    ];
    if inputs.workload.cached_prefix != workload.cached_prefix {
        fields.push(("cached_prefix", Value::from(workload.cached_prefix)));
    }
    fields
}

/// A workload whose longest sequence has a number of tokens.
fn shortened(workload: &Workload, tokens: u64) -> Workload {
    let new_tokens = workload.new_tokens.min(tokens / 2 + 1);
    let prompt = workload.prompt.min(tokens + 1 - new_tokens);
    let context = workload.context.min(tokens);
    Workload { prompt, context, new_tokens, cached_prefix: 0, ..*workload }
}
