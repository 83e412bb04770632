//! JSON answer of `estimate`.

use calc_core::estimate::{Estimate, PhaseEstimate};
use calc_core::model_arch::{LayerPart, ModelArch};
use calc_core::op::Traffic;
use calc_core::plan::{LayerRow, OpRow};
use calc_core::precision::Precision;
use calc_core::provenance::Provenance;
use calc_core::roofline::Bound;
use calc_core::workload::Workload;
use serde::Serialize;
use serde_json::{Value, json};

use super::cards::CardJson;
use super::host::{HostJson, PlacementJson, RemedyJson};
use super::images::ImagesJson;
use super::memory::MemoryJson;
use super::{ExpectedJson, FactorsJson, HardwareJson, MeanJson, SCHEMA, link};
use crate::input::request::{EstimateInputs, remedies};
use crate::output::words;

/// Estimate of a model on a device.
#[derive(Debug, Clone, Serialize)]
pub struct EstimateJson {
    schema: u32,
    hardware: HardwareJson,
    model: ModelJson,
    precision: PrecisionJson,
    workload: WorkloadJson,
    /// The link between several devices; null where nobody published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_link: Option<Value>,
    prefill: PhaseJson,
    decode: PhaseJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<ImagesJson>,
    first_token: FirstTokenJson,
    ttft_s: Option<f64>,
    tpot_s: Option<f64>,
    generation_s: Option<f64>,
    end_to_end_s: Option<f64>,
    throughput_token_per_s: Option<f64>,
    mean: Option<MeanJson>,
    expected: Option<LatenciesJson>,
    /// The same without what devices exchange over a link that nobody published; absent where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_link: Option<LatenciesJson>,
    factors: FactorsJson,
    memory: MemoryJson,
    energy: EnergyJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<PlacementJson>,
    /// Unlike cards that share the model by layers; absent for one device and for equal ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cards: Vec<CardJson>,
    /// Options of the engine that put the layers on these cards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cards_options: Vec<String>,
    /// Smallest changes of the request after which the model fits; absent where it does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fits_with: Vec<RemedyJson>,
    notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct ModelJson {
    key: String,
    parameters: u64,
    active_parameters: u64,
    /// Parameters of the towers for images and sound, which `parameters` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    tower_parameters: Option<u64>,
    /// Parameters of the layers for multi-token prediction, which `parameters` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    draft_layer_parameters: Option<u64>,
    /// The order of the layers in words; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    layer_pattern: Option<String>,
    basis: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct PrecisionJson {
    weights: &'static str,
    activations: &'static str,
    kv: &'static str,
    embedding: &'static str,
    lm_head: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    experts: Option<&'static str>,
    compute: &'static str,
}

impl PrecisionJson {
    fn new(precision: &Precision, moe: bool, compute: &'static str) -> Self {
        Self {
            weights: precision.weights.key,
            activations: precision.activations.key,
            kv: precision.kv_cache.key,
            embedding: precision.embedding.key,
            lm_head: precision.lm_head.key,
            experts: moe.then_some(precision.experts.key),
            compute,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct WorkloadJson {
    batch: u64,
    prompt: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_prefix: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_chunk: Option<bool>,
    context: u64,
    new_tokens: u64,
    tensor_parallel: u64,
    pipeline_parallel: u64,
    expert_parallel: u64,
    draft_tokens: Option<u64>,
    acceptance: Option<f64>,
    static_batch: bool,
}

impl From<&Workload> for WorkloadJson {
    fn from(workload: &Workload) -> Self {
        Self {
            batch: workload.batch,
            prompt: workload.prompt,
            cached_prefix: Some(workload.cached_prefix).filter(|tokens| *tokens > 0),
            inner_chunk: workload.inner_chunk.then_some(true),
            context: workload.context,
            new_tokens: workload.new_tokens,
            tensor_parallel: workload.parallel.tensor,
            pipeline_parallel: workload.parallel.pipeline.stages(),
            expert_parallel: workload.parallel.expert,
            draft_tokens: workload.speculation.map(|speculation| speculation.draft_tokens),
            acceptance: workload.speculation.map(|speculation| speculation.acceptance),
            static_batch: workload.static_batch,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct PhaseJson {
    flops: f64,
    bytes: f64,
    bytes_by_role: RolesJson,
    intensity_flop_per_byte: f64,
    ridge_flop_per_byte: f64,
    ideal_s: f64,
    expected: Option<ExpectedJson>,
    bound: Bound,
    expected_bound: Option<Bound>,
    expected_limit: Option<&'static str>,
    half_the_bytes_save: Option<f64>,
    mfu: Option<f64>,
    mbu: Option<f64>,
    operators: Vec<OperatorJson>,
    /// Operators by the part of the layers that they belong to.
    layers: Vec<LayerJson>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct RolesJson {
    weights: f64,
    kv_cache: f64,
    activations: f64,
}

impl From<Traffic> for RolesJson {
    fn from(traffic: Traffic) -> Self {
        Self {
            weights: traffic.weights.get(),
            kv_cache: traffic.kv_cache.get(),
            activations: traffic.activations.get(),
        }
    }
}

impl PhaseJson {
    /// Converts a phase; values that depend on an unknown link become null.
    fn new(model: &ModelArch, phase: &PhaseEstimate, known: bool) -> Self {
        let totals = &phase.totals;
        Self {
            flops: totals.cost.flops.get(),
            bytes: totals.cost.traffic.total().get(),
            bytes_by_role: totals.cost.traffic.into(),
            intensity_flop_per_byte: totals.cost.intensity().get(),
            ridge_flop_per_byte: phase.ridge.get(),
            ideal_s: totals.ideal.get(),
            expected: known.then(|| totals.expected.into()),
            bound: phase.bound,
            expected_bound: known.then_some(phase.expected_bound),
            expected_limit: known.then(|| totals.limit().key()),
            half_the_bytes_save: known.then(|| phase.half_bytes_save()),
            mfu: known.then_some(phase.mfu),
            mbu: known.then_some(phase.mbu),
            operators: phase.operators.iter().map(OperatorJson::from).collect(),
            layers: phase.layers.iter().map(|row| LayerJson::new(model, row)).collect(),
        }
    }
}

/// A part that layers have in common, over all of these layers.
#[derive(Debug, Clone, Serialize)]
struct LayerJson {
    /// The part in words; the first is the model outside its layers.
    part: String,
    /// Number of layers that have it; null outside the layers.
    layers: Option<u64>,
    flops: f64,
    bytes: f64,
    bytes_by_role: RolesJson,
    ideal_s: f64,
    expected_s: f64,
    operators: Vec<OperatorJson>,
}

impl LayerJson {
    fn new(model: &ModelArch, row: &LayerRow) -> Self {
        let totals = &row.totals;
        Self {
            part: words::layers::part(model, row.part),
            layers: (row.part != LayerPart::WHOLE).then(|| row.part.layers(model)),
            flops: totals.cost.flops.get(),
            bytes: totals.cost.traffic.total().get(),
            bytes_by_role: totals.cost.traffic.into(),
            ideal_s: totals.ideal.get(),
            expected_s: totals.expected.time.get(),
            operators: row.operators.iter().map(OperatorJson::from).collect(),
        }
    }
}

/// Operators of one name: the total over the instances.
#[derive(Debug, Clone, Serialize)]
struct OperatorJson {
    name: &'static str,
    count: u64,
    flops: f64,
    bytes: f64,
    ideal_s: f64,
    bound: Option<Bound>,
    expected_s: f64,
}

impl From<&OpRow> for OperatorJson {
    fn from(row: &OpRow) -> Self {
        Self {
            name: row.kind.key(),
            count: row.count,
            flops: row.totals.cost.flops.get(),
            bytes: row.totals.cost.traffic.total().get(),
            ideal_s: row.totals.ideal.get(),
            bound: row.kind.is_kernel().then(|| row.totals.time.bound()),
            expected_s: row.totals.expected.time.get(),
        }
    }
}

/// Schedule of the prefill behind `ttft_s`.
#[derive(Debug, Clone, Serialize)]
struct FirstTokenJson {
    chunk_tokens: u64,
    steps: u64,
    decoding_sequences: u64,
    ideal_s: f64,
    basis: Provenance,
    source: &'static str,
}

impl FirstTokenJson {
    fn new(answer: &Estimate) -> Self {
        Self {
            chunk_tokens: answer.chunks.tokens,
            steps: answer.chunks.steps,
            decoding_sequences: answer.chunks.riders,
            ideal_s: answer.ttft_ideal.get(),
            basis: answer.chunk.provenance,
            source: answer.chunk.source,
        }
    }
}

/// Latencies with their intervals.
#[derive(Debug, Clone, Serialize)]
struct LatenciesJson {
    ttft: ExpectedJson,
    tpot: ExpectedJson,
    generation: ExpectedJson,
    end_to_end: ExpectedJson,
}

impl LatenciesJson {
    fn new(answer: &Estimate) -> Self {
        Self {
            ttft: answer.ttft.into(),
            tpot: answer.tpot.into(),
            generation: answer.generation.into(),
            end_to_end: answer.end_to_end.into(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct EnergyJson {
    /// Energy of all devices; `watt` likewise.
    joule_per_token: Option<f64>,
    watt: Option<f64>,
    watt_per_device: Option<f64>,
    devices: u64,
    basis: &'static str,
}

/// The answer to a request, or its refusal, as indented JSON with a line break at the end.
pub fn pretty(inputs: &EstimateInputs) -> String {
    let written = match inputs.estimate() {
        Ok(answer) => serde_json::to_string_pretty(&EstimateJson::new(inputs, &answer)),
        Err(error) => serde_json::to_string_pretty(&json!({ "error": error.to_string() })),
    };
    written.unwrap_or_default() + "\n" // text keys and memory: writing them cannot fail
}

impl EstimateJson {
    /// Converts an estimate.
    pub fn new(inputs: &EstimateInputs, answer: &Estimate) -> Self {
        let model = &inputs.model;
        let compute = answer.paths.layer.class.key();
        let known = !answer.link_unknown;
        let energy = answer.energy.filter(|_| known);
        Self {
            schema: SCHEMA,
            hardware: HardwareJson::new(&inputs.device, inputs.power_mode.as_deref()),
            model: ModelJson {
                key: model.key.clone(),
                parameters: model.arch.n_params(),
                active_parameters: model.arch.n_active_params(),
                tower_parameters: Some(model.arch.n_tower_params()).filter(|params| *params > 0),
                draft_layer_parameters: model.arch.n_draft_params(),
                layer_pattern: words::layers::pattern(&model.arch),
                basis: model.provenance.key(),
            },
            precision: PrecisionJson::new(&answer.precision, model.arch.has_experts(), compute),
            workload: (&inputs.workload).into(),
            device_link: link::between(&inputs.device, &inputs.workload),
            prefill: PhaseJson::new(&model.arch, &answer.prefill, known),
            decode: PhaseJson::new(&model.arch, &answer.decode, known),
            images: ImagesJson::new(inputs, answer),
            first_token: FirstTokenJson::new(answer),
            ttft_s: known.then_some(answer.ttft.time.get()),
            tpot_s: known.then_some(answer.tpot.time.get()),
            generation_s: known.then_some(answer.generation.time.get()),
            end_to_end_s: known.then_some(answer.end_to_end.time.get()),
            throughput_token_per_s: known.then_some(answer.throughput.get()),
            mean: known.then(|| {
                MeanJson::new(&answer.mean, answer.mean.throughput(), Some(answer.mean_mbu))
            }),
            expected: known.then(|| LatenciesJson::new(answer)),
            without_link: answer.link_unknown.then(|| LatenciesJson::new(answer)),
            factors: FactorsJson::new(answer.tpot.provenance, &answer.basis),
            memory: MemoryJson::new(inputs, answer),
            energy: EnergyJson {
                joule_per_token: energy.map(|energy| energy.per_token.get()),
                watt: energy.map(|energy| energy.power.all.get()),
                watt_per_device: energy.map(|energy| energy.power.device.get()),
                devices: inputs.workload.parallel.devices(),
                basis: if energy.is_some() { words::ENERGY_BASIS } else { words::ENERGY_UNKNOWN },
            },
            host: inputs.host.as_ref().map(|host| HostJson::from(&host.host)),
            placement: answer.placement.map(|placement| PlacementJson::new(inputs, &placement)),
            cards: CardJson::all(inputs, answer),
            cards_options: words::cards::options(inputs, answer),
            fits_with: remedies(inputs, answer).iter().map(RemedyJson::from).collect(),
            notes: words::estimate_notes(inputs, answer),
        }
    }
}
