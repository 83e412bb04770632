//! JSON answer of `check`.

use calc_core::check::{Check, Drafts, Explanation, HostBandwidth};
use calc_core::plan::Span;
use calc_core::provenance::Fact;
use calc_core::roofline::Bound;
use calc_core::units::{BytesPerSec, FlopsPerSec, Watts};
use serde::Serialize;
use serde_json::{Value, json};

use super::{ExpectedJson, HardwareJson, SCHEMA};
use crate::input::request::{CheckInputs, Done};
use crate::output::words::check as words;

/// Judged claim.
#[derive(Debug, Clone, Serialize)]
pub struct CheckJson {
    schema: u32,
    hardware: HardwareJson,
    subject: SubjectJson,
    verdict: &'static str,
    time_s: f64,
    ideal_s: f64,
    expected: ExpectedJson,
    bound: Bound,
    flops: f64,
    bytes: f64,
    implied: RatesJson,
    datasheet: RatesJson,
    sustained: SustainedJson,
    /// Bandwidth of the host's memory; absent without a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostRatesJson>,
    share: ShareJson,
    /// Null for an operator, and where the installed memory is unknown.
    fits: Option<bool>,
    explanations: Vec<Value>,
    notes: Vec<String>,
}

/// Subject of the claimed time.
#[derive(Debug, Clone, Serialize)]
struct SubjectJson {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    op: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u64>,
    weights: Option<&'static str>,
    compute: &'static str,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct RatesJson {
    byte_per_s: f64,
    flop_per_s: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct SustainedJson {
    byte_per_s: f64,
    byte_basis: &'static str,
    flop_per_s: f64,
    flop_basis: &'static str,
}

/// Bandwidth of the host's memory: implied by the claim, of its modules, and sustained.
#[derive(Debug, Clone, Copy, Serialize)]
struct HostRatesJson {
    implied_byte_per_s: f64,
    byte_per_s: f64,
    byte_basis: &'static str,
    sustained_byte_per_s: f64,
    sustained_basis: &'static str,
}

impl From<HostBandwidth> for HostRatesJson {
    fn from(HostBandwidth { implied, datasheet, sustained, .. }: HostBandwidth) -> Self {
        Self {
            implied_byte_per_s: implied.get(),
            byte_per_s: datasheet.value.get(),
            byte_basis: datasheet.provenance.key(),
            sustained_byte_per_s: sustained.value.get(),
            sustained_basis: sustained.provenance.key(),
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
struct ShareJson {
    of_datasheet: f64,
    of_sustained: f64,
}

impl CheckJson {
    /// Converts a judgment.
    pub fn new(inputs: &CheckInputs, answer: &Check) -> Self {
        let rates = |bandwidth: BytesPerSec, rate: FlopsPerSec| RatesJson {
            byte_per_s: bandwidth.get(),
            flop_per_s: rate.get(),
        };
        let (datasheet, sustained) = (answer.datasheet, answer.sustained);
        Self {
            schema: SCHEMA,
            hardware: HardwareJson::new(inputs.device(), inputs.power_mode()),
            subject: subject(inputs, answer),
            verdict: words::verdict(answer.verdict),
            time_s: answer.time.get(),
            ideal_s: answer.ideal.get(),
            expected: answer.expected.into(),
            bound: answer.bound,
            flops: answer.cost.flops.get(),
            bytes: answer.cost.traffic.total().get(),
            implied: rates(answer.implied.bandwidth, answer.implied.rate),
            datasheet: rates(datasheet.bandwidth, datasheet.peak),
            sustained: ceilings(sustained.bandwidth, sustained.peak),
            host: answer.host.map(HostRatesJson::from),
            share: ShareJson {
                of_datasheet: answer.share.of_datasheet,
                of_sustained: answer.share.of_sustained,
            },
            fits: answer.memory.and_then(|memory| memory.verdict().fits()),
            explanations: answer.explanations.iter().map(|it| explanation(it, answer)).collect(),
            notes: words::notes(inputs, answer),
        }
    }
}

const fn ceilings(bandwidth: Fact<BytesPerSec>, peak: Fact<FlopsPerSec>) -> SustainedJson {
    SustainedJson {
        byte_per_s: bandwidth.value.get(),
        byte_basis: bandwidth.provenance.key(),
        flop_per_s: peak.value.get(),
        flop_basis: peak.provenance.key(),
    }
}

fn subject(inputs: &CheckInputs, answer: &Check) -> SubjectJson {
    let compute = answer.class.key();
    match &inputs.done {
        Done::Operator(inputs) => SubjectJson {
            kind: "operator",
            op: Some(inputs.operator.kind().key()),
            model: None,
            batch: None,
            weights: inputs.operator.has_weights().then_some(inputs.precision.weights.key),
            compute,
        },
        Done::Token(model) | Done::Answer(model) => SubjectJson {
            kind: if matches!(inputs.done, Done::Answer(_)) { "answer" } else { "token" },
            op: None,
            model: Some(model.model.key.clone()),
            batch: Some(model.workload.batch),
            weights: Some(answer.weights.key),
            compute,
        },
    }
}

/// JSON of an explanation: its kind, its sentence, and its numbers.
fn explanation(found: &Explanation, answer: &Check) -> Value {
    let (kind, mut numbers) = match found {
        Explanation::AsExpected => ("as_expected", json!({})),
        Explanation::DoesNotFit { needs, usable } => {
            ("memory", json!({ "memory_bytes": needs.get(), "usable_bytes": usable.get() }))
        }
        Explanation::Format { format, activations, bits, span: times } => (
            "format",
            with(
                times,
                json!({
                    "format": format.key,
                    "activations": activations.map(|format| format.key),
                    "bits": bits,
                }),
            ),
        ),
        Explanation::Drafts { shortest, easiest } => (
            "speculative_decoding",
            json!({ "shortest": drafts(shortest), "easiest": easiest.as_ref().map(drafts) }),
        ),
        Explanation::Batch { batch, reaches, below } => (
            "batch",
            json!({
                "batch": batch,
                "token_per_s": reaches.get(),
                "token_per_s_below": below.get(),
            }),
        ),
        Explanation::OneOf { batch, span: times } => {
            ("one_of_batch", with(times, json!({ "batch": batch })))
        }
        Explanation::Mode { name, budget, span: times } => (
            "power_mode",
            with(times, json!({ "power_mode": name, "watt": budget.map(Watts::get) })),
        ),
        Explanation::Cache { l2, resident, left } => (
            "l2_cache",
            json!({ "l2_bytes": l2.get(), "resident_bytes": resident.get(), "ideal_s": left.get() }),
        ),
        Explanation::Prompt { prompt, rest } => {
            ("prompt", with(rest, json!({ "prompt": span(prompt) })))
        }
        Explanation::Units { class, peak, span: times } => (
            "other_units",
            with(times, json!({ "compute": class.key(), "peak_flop_per_s": peak.get() })),
        ),
        Explanation::Cpu { device, span: times } => (
            "cpu_fallback",
            with(
                times,
                json!({
                    "hardware": device.key,
                    "bandwidth_byte_per_s": device.bandwidth.value.get(),
                }),
            ),
        ),
        Explanation::Engine { engine, span: times } => {
            ("engine", with(times, json!({ "engine": engine.key() })))
        }
        Explanation::Offload { device, share, span: times } => {
            ("offload", with(times, json!({ "hardware": device.key, "share": share })))
        }
        Explanation::Bandwidth { expected, needed } => (
            "bandwidth",
            json!({ "expected_byte_per_s": expected.get(), "needed_byte_per_s": needed.get() }),
        ),
        Explanation::Overhead { kernels, floor, needed } => (
            "overhead",
            json!({ "kernels": kernels, "floor_s": floor.get(), "needed_s": needed.get() }),
        ),
        Explanation::Clock { full, needed } => {
            ("clock", json!({ "full_hz": full.get(), "needed_hz": needed.get() }))
        }
    };
    numbers["kind"] = kind.into();
    numbers["text"] = words::explanation(found, answer).into();
    numbers
}

fn drafts(drafts: &Drafts) -> Value {
    json!({
        "draft_tokens": drafts.draft_tokens,
        "acceptance": drafts.acceptance,
        "tokens_per_round": drafts.tokens_per_round,
    })
}

fn span(span: &Span) -> Value {
    json!({ "ideal_s": span.ideal.get(), "expected": ExpectedJson::from(span.expected) })
}

/// Adds ideal and expected time to the numbers of an explanation.
fn with(times: &Span, mut numbers: Value) -> Value {
    numbers["ideal_s"] = times.ideal.get().into();
    numbers["expected"] = json!(ExpectedJson::from(times.expected));
    numbers
}
