//! Changes after which a model that does not fit does: its language model only, memory of a host behind the card, fewer bits, a
//! shorter context.

use calc_core::catalog;
use calc_core::estimate::Estimate;
use calc_core::footprint::MemoryFootprint;
use calc_core::plan::{Behind, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::tiers::Host;
use calc_core::workload::Workload;
use serde_json::Value;

use super::{EstimateInputs, host};

/// Memory with which hosts are sold [GiB].
pub const HOST_MEMORY: [u32; 9] = [16, 32, 64, 96, 128, 192, 256, 512, 1024];
/// Formats that are tried, widest first: files of llama.cpp.
const FEWER_BITS: [&str; 6] =
    ["gguf_q8_0", "gguf_q6_k", "gguf_q5_k", "gguf_q4_k", "gguf_q3_k", "gguf_q2_k"];
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

/// The smallest changes of one kind each, after which a model fits; none if it fits already.
pub fn remedies(inputs: &EstimateInputs, answer: &Estimate) -> Vec<Remedy> {
    if answer.memory.verdict().may_fit() || inputs.workload.parallel.devices() > 1 {
        return Vec::new();
    }
    [
        without_towers(inputs),
        with_host(inputs),
        with_fewer_bits(inputs, answer),
        with_shorter_context(inputs),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The fields of the usual host with an amount of memory.
pub(super) fn host_fields(memory: u32) -> Vec<(&'static str, Value)> {
    vec![("host", Value::from("ddr5")), ("host_memory_gb", Value::from(memory))]
}

fn fitting(inputs: &EstimateInputs) -> Option<Estimate> {
    inputs.estimate().ok().filter(|answer| answer.memory.verdict().may_fit())
}

/// The language model only, for a prompt without images.
fn without_towers(inputs: &EstimateInputs) -> Option<Remedy> {
    if inputs.asked_images.is_some() || inputs.model.arch.towers.is_empty() {
        return None;
    }
    let mut changed = EstimateInputs { language_model_only: true, ..inputs.clone() };
    changed.model.leave_towers_out();
    let fields = vec![("language_model_only", Value::from(true))];
    fitting(&changed).map(|answer| Remedy { fields, answer })
}

fn with_host(inputs: &EstimateInputs) -> Option<Remedy> {
    let larger = |memory: &u32| {
        let known = inputs.host.as_ref().map_or(0.0, |host| host.host.installed.get());
        f64::from(*memory) * 1_073_741_824.0 > known
    };
    if !Host::is_possible(&inputs.device) {
        return None;
    }
    HOST_MEMORY.into_iter().filter(larger).find_map(|memory| {
        let host = match &inputs.host {
            Some(host) => host::with_memory(&host.host, f64::from(memory)),
            None => host::usual(&inputs.device, f64::from(memory)),
        };
        let changed = EstimateInputs { host: Some(Behind::new(host)), ..inputs.clone() };
        let answer = fitting(&changed)?;
        let fields = match &inputs.host {
            Some(_) => vec![("host_memory_gb", Value::from(memory))],
            None => host_fields(memory),
        };
        Some(Remedy { fields, answer })
    })
}

fn with_fewer_bits(inputs: &EstimateInputs, answer: &Estimate) -> Option<Remedy> {
    let bits = |format: &QuantFormat| format.bits_per_element();
    let own = bits(answer.precision.weights);
    let formats = FEWER_BITS.into_iter().filter_map(|key| catalog::format(key).ok());
    formats.filter(|format| bits(format) < own).find_map(|format| {
        let precision = PrecisionChoice::of_weights(format, &inputs.model.stored);
        let (weight_size, engine) = (None, None);
        let changed = EstimateInputs { precision, weight_size, engine, ..inputs.clone() };
        let answer = fitting(&changed)?;
        Some(Remedy { fields: vec![("weights", Value::from(format.key))], answer })
    })
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
    let workload = shortened(&inputs.workload, least);
    let text = text_tokens(&workload)?;
    let answer = fitting(&EstimateInputs { workload, ..inputs.clone() })?;
    let fields = vec![
        ("prompt", Value::from(text)),
        ("context", Value::from(workload.context)),
        ("new_tokens", Value::from(workload.new_tokens)),
    ];
    Some(Remedy { fields, answer })
}

/// Tokens of text in the prompt of a workload; `None` if its images leave none.
pub(super) fn text_tokens(workload: &Workload) -> Option<u64> {
    let images = workload.images.map_or(0, |images| images.tokens());
    workload.prompt.checked_sub(images).filter(|tokens| *tokens > 0)
}

/// A workload whose longest sequence has a number of tokens.
fn shortened(workload: &Workload, tokens: u64) -> Workload {
    let new_tokens = workload.new_tokens.min(tokens / 2 + 1);
    let prompt = workload.prompt.min(tokens + 1 - new_tokens);
    let context = workload.context.min(tokens);
    Workload { prompt, context, new_tokens, cached_prefix: 0, ..*workload }
}
