//! The query of the page's address that opens it with a request of the command line. Model, device and workload are written in any
//! case, so that a link keeps its meaning if a default of the page changes.

pub mod key;
mod operator;

use calc_core::catalog;
use calc_core::check::Claim;
use calc_core::device::Device;
use calc_core::precision::PrecisionChoice;
use calc_core::recommend::{Objective, RankedPart, USUAL_QUALITY};
use calc_core::scheme::Scheme;
use calc_core::weight_size::WeightSize;

use crate::input::request::beside::{OF_MACHINE, is_of_catalogs};
use crate::input::request::{CheckInputs, Done, EstimateInputs, RecommendInputs, Subject};
use crate::percent::encoded_but;

pub use operator::operator;

/// A key of the address with its value.
pub type KeyedValue = (&'static str, String);

/// An address of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAddress {
    /// The query with its question mark.
    pub query: String,
    /// Fields of the request that the page does not have, so that it opens without them.
    pub lacks: Vec<&'static str>,
}

/// Places of the page, as the key [`key::VIEW`] names them.
const PLAN: &str = "plan";
const MODEL_VIEW: &str = "model";
const COMPARE: &str = "compare";
const EXPLORE: &str = "explore";
const KERNEL: &str = "kernel";

/// Joins pairs to a query with its question mark, the version of the catalogs last; empty without pairs.
pub fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut text = String::new();
    for (key, value) in pairs {
        // The separators of a scenario and of several cards stay legible.
        let kept: &[u8] = match key {
            key::SCENARIO => b"-_.~:,",
            key::DEVICE => b"-_.~,",
            _ => b"-_.~",
        };
        text += if text.is_empty() { "?" } else { "&" };
        text += &format!("{key}={}", encoded_but(&value, kept));
    }
    if text.is_empty() { text } else { format!("{text}&{}={}", key::VERSION, catalog::VERSION) }
}

/// Joins pairs to a scenario of a comparison: `model:llama-3.1-8b,d:h100_sxm`.
pub fn scenario(pairs: &[KeyedValue]) -> String {
    let texts: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{key}:{}", encoded_but(value, b"-_.~"))).collect();
    texts.join(",")
}

/// The page with a device of the catalog.
pub fn device(key: &str) -> String {
    query([(key::VIEW, PLAN.to_owned()), (key::DEVICE, key.to_owned())])
}

/// The place that lists all devices.
pub fn devices() -> String {
    query([(key::VIEW, EXPLORE.to_owned())])
}

/// The page with a model of the catalog.
pub fn model(key: &str) -> String {
    query([(key::VIEW, PLAN.to_owned()), (key::MODEL, key.to_owned())])
}

/// The Model place with an estimate; `None` if a device or model is in no catalog.
pub fn estimate(inputs: &EstimateInputs) -> Option<PageAddress> {
    let (pairs, lacks) = question(inputs)?;
    Some(opened(MODEL_VIEW, pairs, lacks))
}

/// The Plan place with a recommendation, or the Explore place for a recommendation of devices; `None` if a device or model is in no
/// catalog.
pub fn recommend(inputs: &RecommendInputs) -> Option<PageAddress> {
    let Subject::Model(model) = &inputs.subject else { return shape(inputs) };
    let (mut pairs, lacks) = question(model)?;
    if inputs.any_device {
        pairs.retain(|(key, _)| *key != key::DEVICE);
    }
    pairs.extend(goal(inputs, RankedPart::usual(&model.workload)));
    Some(opened(if inputs.any_device { EXPLORE } else { PLAN }, pairs, lacks))
}

/// The place of a claim; `None` if the page does not have its subject.
pub fn check(inputs: &CheckInputs) -> Option<PageAddress> {
    let (model, unit) = match (&inputs.done, inputs.claim) {
        (Done::Operator(asked), Claim::Time(time)) => {
            let (mut pairs, lacks) = operator::question(asked)?;
            pairs.push((key::CLAIMED_TIME, number(time.get() * 1e6)));
            return Some(opened(KERNEL, pairs, lacks));
        }
        (Done::Operator(_), Claim::Rate { .. }) => return None,
        (Done::Token(model), Claim::Rate { per_user: true, .. }) => (model, Some(key::UNIT_USER)),
        (Done::Answer(model), Claim::Time(_)) => (model, Some(key::UNIT_SECONDS)),
        (Done::Token(model) | Done::Answer(model), _) => (model, None),
    };
    let (mut pairs, mut lacks) = question(model)?;
    match inputs.claim {
        Claim::Rate { rate, .. } => pairs.push((key::CLAIMED_AMOUNT, number(rate.get()))),
        Claim::Time(time) if unit.is_some() => {
            pairs.push((key::CLAIMED_AMOUNT, number(time.get())));
        }
        Claim::Time(_) => lacks.push("time_us"),
    }
    pairs.extend(unit.map(|unit| (key::CLAIMED_UNIT, unit.to_owned())));
    Some(opened(MODEL_VIEW, pairs, lacks))
}

/// The Compare place with these estimates, each with the scheme that has its formats; `None` if a device or model is in no catalog.
pub fn compare(scenarios: &[(&EstimateInputs, Option<&'static Scheme>)]) -> Option<PageAddress> {
    let mut lacks: Vec<&'static str> = Vec::new();
    let mut columns: Vec<KeyedValue> = Vec::new();
    for (inputs, scheme) in scenarios {
        let (mut pairs, lacking) = question(inputs)?;
        lacks.extend(lacking);
        // The place takes a scheme and no formats, except those of KV cache and embedding.
        let formats = [key::WEIGHTS, key::ACTIVATIONS, key::EXPERTS];
        pairs.retain(|(key, _)| !formats.contains(key));
        match scheme {
            Some(scheme) => pairs.push((key::SCHEME, scheme.key.to_owned())),
            None => lacks.push("weights"),
        }
        columns.push((key::SCENARIO, scenario(&pairs)));
    }
    lacks.sort_unstable();
    lacks.dedup();
    Some(opened(COMPARE, columns, lacks))
}

fn opened(view: &str, pairs: Vec<KeyedValue>, lacks: Vec<&'static str>) -> PageAddress {
    let view = [(key::VIEW, view.to_owned())];
    PageAddress { query: query(view.into_iter().chain(pairs)), lacks }
}

/// The Kernel place with the product of a recommendation.
fn shape(inputs: &RecommendInputs) -> Option<PageAddress> {
    let Subject::Shape { shape, phase, memory_limit, engine, calibration } = &inputs.subject else {
        return None;
    };
    let mut lacks = Vec::new();
    let mut pairs = place(&inputs.device, inputs.power_mode.as_deref(), &mut lacks)?;
    let sides = [(key::M, shape.m), (key::N, shape.n), (key::K, shape.k)];
    pairs.extend(sides.map(|(key, side)| (key, side.to_string())));
    pairs.extend(goal(inputs, phase_of(*phase)));
    pairs.push((key::PHASE, inputs.part.key().to_owned()));
    pairs.extend(memory_limit.map(|limit| (key::MEMORY_LIMIT, number(limit.get() / 1e9))));
    lacks.extend(engine.map(|_| "engine"));
    lacks.extend(calibration.as_ref().map(|_| "calibration"));
    Some(opened(KERNEL, pairs, lacks))
}

/// The part of a request that a phase stands for.
const fn phase_of(phase: calc_core::lowering::Phase) -> RankedPart {
    match phase {
        calc_core::lowering::Phase::Prefill => RankedPart::Prefill,
        calc_core::lowering::Phase::Decode => RankedPart::Decode,
    }
}

/// Device and power mode; `None` if the device is in no catalog.
fn place(
    device: &Device,
    power_mode: Option<&str>,
    lacks: &mut Vec<&'static str>,
) -> Option<Vec<KeyedValue>> {
    let own = catalog::device(device.catalog_key()).ok()?;
    if own != device {
        let mut same = own.clone();
        if own.memory.value != device.memory.value {
            same = same.with_memory(device.memory.value);
            lacks.push("memory_gb");
        }
        same.link = device.link;
        same.interconnect.clone_from(&device.interconnect);
        if same != *device {
            return None;
        }
    }
    let mut pairs = vec![(key::DEVICE, own.key.to_string())];
    pairs.extend(power_mode.map(|mode| (key::POWER_MODE, mode.to_owned())));
    Some(pairs)
}

/// Place, model, workload and formats of a request, and its fields that the page does not have.
fn question(inputs: &EstimateInputs) -> Option<(Vec<KeyedValue>, Vec<&'static str>)> {
    let model = catalog::models::all().find(|model| model.key == inputs.model.key)?;
    let mut lacks = Vec::new();
    let mut pairs = vec![(key::MODEL, model.key.to_owned())];
    let mut place = place(&inputs.device, inputs.power_mode.as_deref(), &mut lacks)?;
    for card in inputs.cards.iter().flat_map(|cards| &cards.others) {
        let own =
            catalog::device(card.device.catalog_key()).ok().filter(|own| **own == *card.device)?;
        place[0].1 += &format!(",{}", own.key);
    }
    pairs.extend(place);
    pairs.extend(workload(inputs, &mut lacks));
    pairs.extend(inputs.link.as_ref().map(|link| (key::LINK, link.key.to_string())));
    pairs.extend(inputs.engine.map(|engine| (key::ENGINE, engine.key().to_owned())));
    if inputs.workload.speculation.is_some_and(|speculation| speculation.own_layers) {
        lacks.push("draft_model");
    } else if let Some(draft) = &inputs.draft {
        let draft = catalog::models::all().find(|model| model.key == draft.key)?;
        pairs.push((key::DRAFT_MODEL, draft.key.to_owned()));
    }
    pairs.extend(formats(inputs, &model.stored.choice(), &mut lacks));
    lacks.extend(inputs.calibration.as_ref().map(|_| "calibration"));
    pairs.extend(beside(inputs, &mut lacks));
    Some((pairs, lacks))
}

/// Host, memory of other programs and images, as the request has them. A processor from a file of the user is not on the page.
fn beside(inputs: &EstimateInputs, lacks: &mut Vec<&'static str>) -> Vec<KeyedValue> {
    let told = &inputs.told;
    let is_known = is_of_catalogs(told, &inputs.device);
    if !is_known {
        lacks.push("host");
    }
    let is_kept = |field: &str| is_known || !OF_MACHINE.contains(&field);
    let value = |field: &str| told.iter().find(|(key, _)| *key == field && is_kept(key));
    let pairs = key::BESIDE.into_iter().filter_map(|(field, key)| Some((key, &value(field)?.1)));
    // Switches are 1 in an address, or left out.
    let plain = pairs.filter(|(_, text)| *text != "false");
    plain.map(|(key, text)| (key, if text == "true" { "1" } else { text }.to_owned())).collect()
}

fn workload(inputs: &EstimateInputs, lacks: &mut Vec<&'static str>) -> Vec<KeyedValue> {
    let w = &inputs.workload;
    let text = inputs.text_tokens();
    let mut pairs = vec![(key::BATCH, w.batch.to_string()), (key::PROMPT, text.to_string())];
    if w.context != w.prompt {
        pairs.push((key::CONTEXT, w.context.to_string()));
    }
    pairs.push((key::NEW_TOKENS, w.new_tokens.to_string()));
    let split = [
        (key::TENSOR_PARALLEL, w.parallel.tensor),
        (key::PIPELINE_PARALLEL, w.parallel.pipeline.stages()),
        (key::EXPERT_PARALLEL, w.parallel.expert),
    ];
    // The stages of unlike cards are their number.
    if inputs.cards.is_none() {
        let split = split.into_iter().filter(|(_, ways)| *ways > 1);
        pairs.extend(split.map(|(key, ways)| (key, ways.to_string())));
    }
    let limit = inputs.stated_limit();
    pairs.extend(limit.map(|limit| (key::MEMORY_LIMIT, number(limit.get() / 1e9))));
    match inputs.weight_size {
        None => {}
        Some(WeightSize::BitsPerWeight(bits)) => pairs.push((key::WEIGHT_BITS, number(bits))),
        Some(WeightSize::Total(_) | WeightSize::Parts(_)) => lacks.push("weight_gb"),
        Some(WeightSize::Streamed(_)) => lacks.push("streamed_gb"),
    }
    if let Some(speculation) = w.speculation {
        pairs.push((key::DRAFT_TOKENS, speculation.draft_tokens.to_string()));
        pairs.push((key::ACCEPTANCE, number(speculation.acceptance)));
    }
    let absent = [
        ("cached_prefix", w.cached_prefix > 0),
        ("inner_chunk", w.inner_chunk),
        ("static_batch", w.static_batch),
    ];
    lacks.extend(absent.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key));
    pairs
}

/// The formats of the roles. The weights' are left out where the page takes the same ones without them.
fn formats(
    inputs: &EstimateInputs,
    stored: &PrecisionChoice,
    lacks: &mut Vec<&'static str>,
) -> Vec<KeyedValue> {
    let named = &inputs.named;
    let without =
        PrecisionChoice { weights: stored.weights, ..*named }.over(stored) == inputs.precision;
    let with = named.over(&PrecisionChoice::of_weights(named.weights, stored)) == inputs.precision;
    let roles = match (without, with) {
        (true, _) => (None, named),
        (false, true) => (Some(named.weights), named),
        // A published copy in another format, whose formats are all named.
        (false, false) => (Some(inputs.precision.weights), &inputs.precision),
    };
    let (weights, others) = roles;
    if !without && !with {
        let base = PrecisionChoice::of_weights(others.weights, stored);
        lacks.extend((others.over(&base) != inputs.precision).then_some("weights"));
    }
    let pair = |key, format: Option<&'static calc_core::quant_format::QuantFormat>| {
        format.map(|format| (key, format.key.to_owned()))
    };
    let pairs = [
        pair(key::WEIGHTS, weights),
        pair(key::EXPERTS, others.experts),
        pair(key::ACTIVATIONS, others.activations),
        pair(key::KV_CACHE, others.kv_cache),
        pair(key::EMBEDDING, others.embedding),
    ];
    pairs.into_iter().flatten().collect()
}

/// The goal of a recommendation, where it differs from the usual one.
fn goal(inputs: &RecommendInputs, usual: RankedPart) -> Vec<KeyedValue> {
    let bounds = &inputs.bounds;
    let mut pairs = Vec::new();
    if inputs.objective != Objective::Latency {
        pairs.push((key::OBJECTIVE, inputs.objective.key().to_owned()));
    }
    if inputs.part != usual {
        pairs.push((key::PHASE, inputs.part.key().to_owned()));
    }
    if (bounds.quality - USUAL_QUALITY).abs() > 0.0 {
        pairs.push((key::LOSS, number(bounds.quality)));
    }
    pairs.extend(bounds.tpot.map(|time| (key::TPOT, number(time.get() * 1e3))));
    pairs.extend(bounds.ttft.map(|time| (key::TTFT, number(time.get() * 1e3))));
    pairs.extend(bounds.rate.map(|rate| (key::RATE, number(rate.get()))));
    pairs
}

/// A number that was multiplied by its unit, without the last digits, which are rounding errors.
fn number(value: f64) -> String {
    let rounded = format!("{value:.12e}").parse::<f64>().unwrap_or(value);
    rounded.to_string()
}
