//! JSON answers of `recommend`.

use calc_core::calibration::Engine;
use calc_core::error::Error;
use calc_core::footprint::MemoryVerdict;
use calc_core::precision::{Precision, PrecisionChoice};
use calc_core::provenance::Provenance;
use calc_core::quality::QualityLoss;
use calc_core::recommend::{
    DeviceChoice, Dropped, End, Largest, MemoryStep, Outcome, Ranked, RankedPart, RecommendRequest,
    Recommendation, Room, memory_steps, recommend, room,
};
use calc_core::scheme::{Scheme, SchemeWeights};
use serde_json::{Value, json};

use super::{ExpectedJson, HardwareJson, MeanJson, SCHEMA, host};
use crate::input::request::{RecommendInputs, RequestError, Subject};
use crate::output::words::apply::{self, Deployment};
use crate::output::words::{
    advice, context_note, memory, model_request_notes, roofs, split_notes, towers, weights,
};

/// The answer to a request, or its refusal, as indented JSON with a line break at the end.
pub fn pretty(inputs: &RecommendInputs) -> String {
    let answer = || {
        let request = inputs.request()?;
        Ok::<Value, RequestError>(recommendation(inputs, &request, &recommend(&request)?)?)
    };
    let value = answer().unwrap_or_else(|error| json!({ "error": error.to_string() }));
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n" // it goes to memory, which cannot fail
}

/// JSON answer of `recommend`.
///
/// # Errors
/// Only those of the recommendation.
pub fn recommendation(
    inputs: &RecommendInputs,
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
) -> Result<Value, Error> {
    let ranked: Result<Vec<Value>, Error> = answer
        .ranked
        .iter()
        .enumerate()
        .map(|(index, row)| ranked_row(inputs, request, answer, index, row))
        .collect();
    let baseline = &answer.baseline;
    let mut usual = json!({
        "scheme": scheme_precision(&calc_core::catalog::schemes::BASELINE, &baseline.precision),
        "ttft": ExpectedJson::from(baseline.ttft),
        "tpot": ExpectedJson::from(baseline.decode.expected),
        "mean": mean(baseline),
        "memory_bytes": baseline.memory.get(),
        "fits": baseline.verdict().fits(),
    });
    add_places(&mut usual, inputs, baseline);
    Ok(json!({
        "schema": SCHEMA,
        "hardware": HardwareJson::new(&inputs.device, inputs.power_mode.as_deref()),
        "workload": workload(inputs),
        "goal": goal(inputs),
        "link_unknown": inputs.lacks_link(),
        "baseline": usual,
        "best": {
            "prefill": answer.best_prefill.map(|scheme| scheme.key),
            "decode": answer.best_decode.map(|scheme| scheme.key),
        },
        "first_by": answer.ranked.first().map(|_| answer.first_by.key()),
        "ranked": ranked?,
        "dropped": answer.dropped.iter().map(dropped_row).collect::<Vec<_>>(),
        "memory_steps": memory_steps(request)?.iter().map(memory_step).collect::<Vec<_>>(),
        "notes": notes(inputs, answer),
    }))
}

pub(super) fn workload(inputs: &RecommendInputs) -> Value {
    match &inputs.subject {
        Subject::Shape { shape, phase, .. } => {
            json!({"m": shape.m, "n": shape.n, "k": shape.k, "phase": phase})
        }
        Subject::Model(model) => {
            let w = &model.workload;
            json!({
                "model": model.model.key, "batch": w.batch, "prompt": w.prompt,
                "context": w.context, "new_tokens": w.new_tokens,
                "tensor_parallel": w.parallel.tensor,
            })
        }
    }
}

pub(super) fn goal(inputs: &RecommendInputs) -> Value {
    let bounds = &inputs.bounds;
    json!({
        "objective": inputs.objective.key(),
        "phase": inputs.part.key(),
        "max_quality_loss": bounds.quality,
        "memory_limit_bytes": inputs.memory_limit().map(calc_core::units::Bytes::get),
        "max_tpot_s": bounds.tpot.map(calc_core::units::Seconds::get),
        "max_ttft_s": bounds.ttft.map(calc_core::units::Seconds::get),
        "min_token_per_s": bounds.rate.map(calc_core::units::TokensPerSec::get),
    })
}

fn ranked_row(
    inputs: &RecommendInputs,
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
    index: usize,
    row: &Ranked,
) -> Result<Value, Error> {
    let room = match &inputs.subject {
        Subject::Shape { .. } => None,
        Subject::Model(_) => Some(room(request, row.scheme)?),
    };
    let flips: Vec<Value> = row
        .flips
        .iter()
        .map(|flip| {
            let to = flip.to.map(|scheme| scheme.key);
            json!({"when": advice::change(flip.when), "to": to, "text": advice::flip(flip)})
        })
        .collect();
    let mut told = json!({
        "rank": index + 1,
        "scheme": scheme_precision(row.scheme, &row.outcome.precision),
        "speedup": {
            "prefill": row.speedup_prefill, "decode": row.speedup_decode,
            "ttft": row.speedup_ttft, "mean_tpot": row.speedup_token,
        },
        "ttft": ExpectedJson::from(row.outcome.ttft),
        "tpot": ExpectedJson::from(row.outcome.decode.expected),
        "mean": mean(&row.outcome),
        "joule_per_token": row.outcome.decode.energy.map(calc_core::units::Joules::get),
        "memory_bytes": row.outcome.memory.get(),
        "fits": row.outcome.verdict().fits(),
        "largest": room_json(room, row.outcome.usable.is_known),
        "quality": quality(&row.quality),
        "reason": {
            "regime": regime_key(row),
            "text": advice::regime(row, inputs.part, &answer.baseline),
        },
        "flips": flips,
        "apply": apply_json(inputs, row),
    });
    add_places(&mut told, inputs, &row.outcome);
    Ok(told)
}

/// Adds where the memory of an outcome of a model lies, if it has a host.
pub(super) fn add_places(row: &mut Value, inputs: &RecommendInputs, outcome: &Outcome) {
    if let Subject::Model(model) = &inputs.subject {
        host::add_places(row, model, outcome);
    }
}

/// Means per output token of a scheme.
pub fn mean(outcome: &Outcome) -> MeanJson {
    MeanJson::new(&outcome.token, outcome.token.throughput(), None)
}

/// The largest batch and context, each with its limit: memory, a bound on time, or the model. Null where the memory limits it
/// and is unknown.
pub fn room_json(room: Option<Room>, is_known: bool) -> Value {
    let (batch, context) = room.map_or((None, None), |room| (room.batch, room.context));
    let told = |most: Option<Largest>| match most {
        Some(Largest { end: End::Memory, .. }) if !is_known => (None, Some("memory_unknown")),
        most => (most.map(|most| most.value), most.map(|most| most.end.key())),
    };
    let ((batch, batch_end), (context, context_end)) = (told(batch), told(context));
    json!({
        "batch": batch, "batch_end": batch_end, "context": context, "context_end": context_end,
    })
}

fn regime_key(row: &Ranked) -> &'static str {
    use calc_core::recommend::Regime;
    match row.regime {
        Regime::Weights => "weights",
        Regime::KvCache => "kv_cache",
        Regime::Activations => "activations",
        Regime::Compute => "compute",
        Regime::Overhead => "overhead",
        Regime::Links => "links",
        Regime::Host => "host",
    }
}

/// A scheme with its formats on a device.
pub fn scheme_precision(scheme: &Scheme, precision: &Precision) -> Value {
    json!({
        "key": scheme.key,
        "name": advice::scheme_name(scheme),
        "weights": precision.weights.key,
        "experts": precision.experts.key,
        "activations": precision.activations.key,
        "kv": precision.kv_cache.key,
        "method": scheme.method.key(),
    })
}

/// A loss of quality with its origin.
pub fn quality(loss: &QualityLoss) -> Value {
    json!({
        "metric": loss.metric.key(), "low": loss.low, "high": loss.high,
        "source": loss.source, "basis": loss.provenance,
    })
}

fn apply_json(inputs: &RecommendInputs, row: &Ranked) -> Value {
    let ways = apply::apply(row.scheme, &Deployment::of(inputs, &row.outcome));
    json!({
        "own": null, // published for a quantizer of our own
        "torchao": ways.torchao.map(|way| json!({
            "config": way.config, "min_version": way.min_version, "fallback": way.fallback,
        })),
        "timed_engine": ways.timed.key(),
        "serve": ways.serve.iter().map(|way| json!({
            "engine": way.engine.key(), "text": way.text,
        })).collect::<Vec<_>>(),
        "vllm": ways.of(Engine::Vllm),
        "llama_cpp": ways.of(Engine::LlamaCpp),
    })
}

fn dropped_row(row: &Dropped) -> Value {
    json!({
        "scheme": {
            "key": row.scheme.key, "name": advice::scheme_name(row.scheme),
            "method": row.scheme.method.key(),
        },
        "quality": quality(&row.quality),
        "reason": {"kind": row.reason.key(), "text": advice::dropped(&row.reason, &row.quality)},
    })
}

fn memory_step(step: &MemoryStep) -> Value {
    json!({
        "scheme": step.scheme.key, "memory_bytes": step.memory.get(),
        "quality": quality(&step.quality), "tpot_s": step.tpot.get(), "mean_tpot_s": step.mean_tpot.get(),
    })
}

/// Notes on what the request leaves open or says by mistake.
pub fn usual_notes(inputs: &RecommendInputs) -> Vec<String> {
    match &inputs.subject {
        Subject::Shape { .. } => Vec::new(),
        Subject::Model(model) => model_request_notes(model),
    }
}

/// The formats that losses of quality are relative to, for a model that is published in fewer than 16 bits.
fn loss_basis(inputs: &RecommendInputs, answer: &Recommendation) -> Option<String> {
    let Subject::Model(model) = &inputs.subject else { return None };
    let ranked = answer.ranked.iter().map(|row| (row.scheme, row.quality));
    let dropped = answer.dropped.iter().map(|row| (row.scheme, row.quality));
    let (_, own) =
        ranked.chain(dropped).find(|(scheme, _)| scheme.weights == SchemeWeights::Published)?;
    let PrecisionChoice { weights, experts, .. } = model.model.stored;
    let experts = experts.map_or(String::new(), |format| format!(", experts in {}", format.key));
    (own.high <= 0.0).then(|| {
        format!("losses are relative to the model as published, in {}{experts}", weights.key)
    })
}

/// A note where the first scheme was not calibrated and another one was: factors of other devices say little about this one's kernels.
fn unmeasured_first(inputs: &RecommendInputs, answer: &Recommendation) -> Option<String> {
    let calibration = match &inputs.subject {
        Subject::Model(model) => model.calibration.as_ref(),
        Subject::Shape { calibration, .. } => calibration.as_ref(),
    };
    calibration.filter(|own| !own.rows.is_empty())?;
    let is_measured = |row: &&Ranked| {
        let basis = row.outcome.token.expected.provenance;
        matches!(basis, Provenance::Measured | Provenance::Mixed)
    };
    let first = answer.ranked.first().filter(|row| !is_measured(row))?;
    let measured = answer.ranked.iter().find(is_measured)?;
    let [first, measured] = [first, measured].map(|row| advice::scheme_name(row.scheme));
    Some(format!(
        "{first} was not calibrated here: its expected time comes from other devices and may be much too short; the first scheme with factors measured on this device is {measured}"
    ))
}

/// Notes to a recommendation.
pub fn notes(inputs: &RecommendInputs, answer: &Recommendation) -> Vec<String> {
    let mut notes = usual_notes(inputs);
    if inputs.lacks_link() {
        notes.push(advice::WITHOUT_LINK.trim_end_matches('.').to_owned());
    }
    notes.extend(unmeasured_first(inputs, answer));
    notes.extend(roofs::disturbed(&inputs.device));
    notes.extend(memory::notes(&inputs.device, answer.baseline.usable));
    notes.extend(subject_notes(&inputs.subject));
    notes.extend(loss_basis(inputs, answer));
    if matches!(inputs.subject, Subject::Model(_)) {
        notes.push("losses are published or assumed for models of 8 billion parameters, and scaled to this model's size".to_owned());
    }
    if let MemoryVerdict::DoesNotFit { missing } = answer.baseline.verdict() {
        let short = memory::shortage(missing, answer.baseline.usable.bytes);
        notes.push(format!(
            "16 bits do not fit, {short}: speedups are against a device with enough memory"
        ));
    }
    if let Subject::Model(model) = &inputs.subject {
        let of_size =
            model.weight_size.is_some().then(|| weights::size_in_ranking(model).to_owned());
        notes.extend(of_size.into_iter().chain(towers::would_fit_without(inputs, answer)));
    }
    if answer.ranked.is_empty() {
        notes.push("no scheme meets all bounds; every one is listed with its reason".to_owned());
    }
    if let Some(asked) = &inputs.asked_weights {
        let rank = answer.ranked.iter().position(|row| row.outcome.precision.weights.key == asked);
        notes.push(match rank {
            Some(index) => {
                format!("the requested weights {asked} are first at rank {}", index + 1)
            }
            None => format!("the requested weights {asked} are in no ranked scheme"),
        });
    }
    if let Subject::Model(model) = &inputs.subject
        && inputs.part == RankedPart::Decode
        && model.workload.new_tokens == 1
    {
        notes.push(format!(
            "no answer length is given, so schemes are ranked by the time per token at context {}, and the commands have room for one new token; with more new tokens, schemes are ranked by the whole request",
            model.workload.context
        ));
    }
    if answer.ranked.iter().any(|row| row.outcome.precision.weights.file.is_some()) {
        notes.push("GGUF rows are the files that llama.cpp writes, most of them mixtures of formats, embeddings included".into());
    }
    notes
}

/// JSON answer of `recommend --hardware any`: the smallest device first.
pub fn devices(inputs: &RecommendInputs, found: &[DeviceChoice]) -> Value {
    json!({
        "schema": SCHEMA,
        "workload": workload(inputs),
        "goal": goal(inputs),
        "devices": found.iter().map(|choice| json!({
            "key": choice.device.key, "name": choice.device.name,
            "memory_bytes": choice.device.memory.value.get(),
            "tdp_w": choice.device.tdp.map(|tdp| tdp.value.get()),
            "scheme": scheme_precision(choice.scheme, &choice.outcome.precision),
            "needs_bytes": choice.outcome.memory.get(),
            "fits": choice.outcome.verdict().fits(),
            "ttft_s": choice.outcome.ttft.time.get(),
            "tpot_s": choice.outcome.decode.expected.time.get(),
            "mean_tpot_s": choice.outcome.token.expected.time.get(),
        })).collect::<Vec<_>>(),
        "notes": usual_notes(inputs),
    })
}

/// Notes on a context beyond the model's limit, and on numbers that hold for one device of a group.
pub(super) fn subject_notes(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Shape { .. } => Vec::new(),
        Subject::Model(inputs) => {
            context_note(inputs).into_iter().chain(split_notes(&inputs.workload.parallel)).collect()
        }
    }
}
