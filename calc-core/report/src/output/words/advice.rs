//! Sentences of the adviser: names of schemes, reasons for rank and rejection, changes that would flip the order.

use calc_core::expected::Expected;
use calc_core::lowering::Phase;
use calc_core::provenance::Provenance;
use calc_core::quality::{Metric, QualityLoss};
use calc_core::recommend::{
    Axis, Cause, Change, End, FirstBy, Flip, Largest, Objective, Outcome, PhaseWork, Ranked,
    RankedPart, Regime, Standing, Task,
};
use calc_core::schedule::{Slot, SlotFlip};
use calc_core::scheme::{Method, Scheme, SchemeWeights};
use calc_core::units::{Joules, TokensPerSec};
use calc_core::workload::Workload;

use crate::input::request::{RecommendInputs, Subject};
use crate::number_text as n;

mod drops;

pub use drops::{drop_counts, dropped};

/// Sentence beside times of devices whose link nobody published.
pub const WITHOUT_LINK: &str = "Nobody published the link between these devices: all times leave out what they exchange, \
                                so real ones are longer; a link that the request names counts.";

/// Name of a scheme: `INT4 g128, AWQ`, `FP8 weights and activations`.
pub fn scheme_name(scheme: &Scheme) -> String {
    let SchemeWeights::Format(format) = scheme.weights else {
        let name = match scheme.weights {
            SchemeWeights::Published => "as published",
            SchemeWeights::Half | SchemeWeights::Format(_) => "16 bits",
        };
        return name.into();
    };
    if let Some(file) = format.file {
        return format!("GGUF {}", file.name());
    }
    let name = match format.key {
        "fp8_e4m3" => "FP8",
        "int4_g128_sym" | "int4_gptq_g128" => "INT4 g128",
        "nf4_dq" => "NF4, double quantized",
        _ => format.short_name,
    };
    if scheme.activations.is_some() {
        return format!("{name} weights and activations");
    }
    match scheme.method {
        Method::Awq => format!("{name}, AWQ"),
        Method::Gptq => format!("{name}, GPTQ"),
        // NF4 has no variant with quantized activations, so its name needs no "weights".
        Method::Rtn if !format.key.starts_with("nf4") => format!("{name} weights"),
        Method::Rtn
        | Method::None
        | Method::NativeFp8
        | Method::NativeFp4
        | Method::LlamaQuantize => name.into(),
    }
}

/// Object of "use" or "take" where the name of a scheme is none: `Use it as published`.
pub const fn it(scheme: &Scheme) -> &'static str {
    match scheme.weights {
        SchemeWeights::Published => "it ",
        SchemeWeights::Half | SchemeWeights::Format(_) => "",
    }
}

/// Speedup over 16 bits, of a token in the mean and of the first token: `3.3 times as fast as 16 bits in decode and no faster in prefill`.
pub fn speedup(row: &Ranked) -> String {
    let times = |factor: f64| match factor {
        factor if factor > 1.05 => format!("{} times as fast as 16 bits", n::short(factor, 2)),
        factor if factor < 0.95 => {
            format!("{} times slower than 16 bits", n::short(1.0 / factor, 2))
        }
        _ => "no faster than 16 bits".to_owned(),
    };
    let (token, first) = (times(row.speedup_token), times(row.speedup_ttft));
    // One prompt in one step is the whole prefill; beside other requests or in chunks it is not.
    let is_prefill = row.outcome.ttft == row.outcome.prefill.expected;
    format!(
        "{token} in decode, {first} {}",
        if is_prefill { "in prefill" } else { "to the first token" }
    )
}

/// Interval of loss: `+2.4 to 2.8 % perplexity`.
pub fn quality(loss: &QualityLoss) -> String {
    let what = match loss.metric {
        Metric::Perplexity => "perplexity",
        Metric::TaskScore => "task scores",
    };
    let sign = match loss.metric {
        Metric::Perplexity => "+",
        Metric::TaskScore => "−",
    };
    if loss.high <= 0.0 {
        return "no loss".into();
    }
    let (low, high) = (n::short(loss.low, 2), n::short(loss.high, 2));
    if low == high {
        format!("{sign}{high}{}% {what}", n::SPACE)
    } else {
        format!("{sign}{low} to {high}{}% {what}", n::SPACE)
    }
}

/// Models that a loss is known of; `None` without a loss.
pub fn loss_origin(loss: &QualityLoss) -> Option<&'static str> {
    let origin = match loss.provenance {
        Provenance::Assumed => "assumed for 8B models, scaled to this size",
        _ => "published for 8B models, scaled to this size",
    };
    (loss.high > 0.0).then_some(origin)
}

/// Bound of a row's time, and the effect of fewer bits on it.
pub fn regime(row: &Ranked, part: RankedPart, baseline: &Outcome) -> String {
    let longer = row.outcome.longer_phase(part);
    let (work, base) = (row.outcome.step(part, longer), baseline.step(part, longer));
    let phase = match longer {
        Phase::Prefill => "Prefill",
        Phase::Decode => "Decode",
    };
    match row.regime {
        Regime::Weights => weights_text(phase, work, base),
        Regime::KvCache => format!(
            "{phase} mostly reads the KV cache: {} of {} per step. Fewer bits for weights change little.",
            n::bytes(work.traffic.kv_cache),
            n::bytes(work.traffic.total())
        ),
        Regime::Activations => format!(
            "{phase} mostly moves activations: {} of {}.",
            n::bytes(work.traffic.activations),
            n::bytes(work.traffic.total())
        ),
        Regime::Compute => compute_text(phase, row, work, base),
        Regime::Links => format!(
            "{phase} waits for the links between devices: {} of its time.",
            n::percent(work.links / work.expected.time)
        ),
        Regime::Host => format!(
            "{phase} waits for the host: {} of its time.",
            n::percent(work.host / work.expected.time)
        ),
        Regime::Overhead => format!(
            "{phase} waits for launches of kernels: they take {} of its time, and no format shortens them.",
            n::percent(work.floors / work.expected.time)
        ),
    }
}

/// Reason why the first row leads although another is better by the objective.
pub fn first_by(reason: FirstBy, first: &Standing) -> Option<String> {
    match reason {
        FirstBy::Score => None,
        FirstBy::LessLoss => Some(
            "Some schemes come out ahead, but by less than the prediction can tell apart, so the smaller loss of quality decides."
                .into(),
        ),
        FirstBy::LessMemory => Some(
            "Within the uncertainty it is as fast as a scheme that needs much more memory, and it loses no more quality."
                .into(),
        ),
        FirstBy::Published => Some(
            "Within the uncertainty it is as fast as the best requantization, which loses as much and is not much smaller."
                .into(),
        ),
        FirstBy::Size => Some(format!(
            "With {} every byte counts: of those within 5{}% of the best it is the smallest, or as small and loses less.",
            n::bytes(first.limit),
            n::SPACE
        )),
    }
}

fn weights_text(phase: &str, work: &PhaseWork, base: &PhaseWork) -> String {
    let share = match work.traffic.weights / work.traffic.total() {
        share if share > 0.995 => "nearly all".to_owned(),
        share => n::percent(share),
    };
    let less = base.traffic.weights / work.traffic.weights;
    if less > 1.05 {
        format!(
            "{phase} waits for weights: {share} of its traffic. They are {} times smaller than in 16 bits.",
            n::short(less, 2)
        )
    } else {
        format!("{phase} waits for weights: {share} of its traffic.")
    }
}

fn compute_text(phase: &str, row: &Ranked, work: &PhaseWork, base: &PhaseWork) -> String {
    let faster = base.compute / work.compute;
    if row.scheme.activations.is_some() && faster > 1.05 {
        format!(
            "{phase} waits for arithmetic, and its products run on units {} times as fast as those for 16 bits.",
            n::short(faster, 2)
        )
    } else {
        format!("{phase} waits for arithmetic, which fewer bits for weights alone do not speed up.")
    }
}

/// Largest value of an axis, with the model's own limit: `40 960 (the model's limit)`.
pub fn largest(most: Largest) -> String {
    let end = match most.end {
        End::Model => " (the model's limit)",
        End::Memory | End::Time | End::Range => "",
    };
    format!("{}{end}", n::count(most.value))
}

/// Threshold of a change: `batch ≥ 48`.
pub fn change(change: Change) -> String {
    let axis = |axis: Axis| match axis {
        Axis::Rows => "M",
        Axis::Batch => "batch",
        Axis::Prompt => "prompt",
        Axis::Text => "prompt without images",
        Axis::Context => "context",
    };
    match change {
        Change::From(on, value) => format!("{} ≥ {}", axis(on), n::count(value)),
        Change::DownFrom(on, value) => format!("{} ≤ {}", axis(on), n::count(value)),
        Change::LossAllowed(loss) => format!("loss up to {}{}%", n::short(loss, 2), n::SPACE),
        Change::LossBelow(loss) => format!("loss below {}{}%", n::short(loss, 2), n::SPACE),
        Change::Memory(bytes) => format!("memory ≥ {}", n::bytes(bytes)),
    }
}

/// Flip of the order as a sentence: `Batch ≥ 48: INT8 weights and activations is first.`
pub fn flip(flip: &Flip) -> String {
    let when = capital(&change(flip.when));
    let Some(to) = flip.to else { return format!("{when}: no scheme meets the bounds.") };
    let name = scheme_name(to);
    match flip.cause {
        Cause::Passes => format!("{when}: {name} is first."),
        Cause::TheOtherDrops => {
            let from = scheme_name(flip.from);
            format!("{when}: {from} no longer meets the bounds, and {name} is first.")
        }
        Cause::Admitted => format!("{when}: {name} would be first."),
    }
}

/// Quantity of the ranking, as a sentence fragment.
pub fn ranked_by(task: &Task<'_>, objective: &str, part: RankedPart) -> String {
    let part = match (task, part) {
        (Task::Shape(_), _) => "this product".to_owned(),
        (Task::Model(_), RankedPart::Whole) => "prompt and all new tokens".to_owned(),
        (Task::Model(model), RankedPart::Decode) if model.request.workload.new_tokens > 1 => {
            format!("a token at context {}", n::count(model.request.workload.context))
        }
        (Task::Model(_), part) => part.key().to_owned(),
    };
    format!("ranked by expected {objective} of {part}")
}

/// Short text of an expected time.
pub fn expected(expected: &Expected) -> String {
    format!("{} ({})", n::time(expected.time), n::time_range(expected.low, expected.high))
}

/// The text with a capital first letter, which is a Latin one.
pub fn capital(text: &str) -> String {
    let mut capital = text.to_owned();
    if let Some(first) = capital.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    capital
}

/// Short name of a power mode, scheme and batch: `15W, INT4 g128, AWQ, batch 4`.
pub fn slot_name(slot: &Slot) -> String {
    let mode = slot.mode.as_ref().map_or(String::new(), |mode| format!("{mode}, "));
    format!("{mode}{}, batch {}", scheme_name(slot.scheme), n::count(slot.batch))
}

/// Name of the rate by which throughput ranks, where it is not the mean rate of decode.
pub fn ranked_rate_name(inputs: &RecommendInputs) -> Option<String> {
    let Subject::Model(model) = &inputs.subject else { return None };
    let Workload { context, new_tokens, .. } = model.workload;
    let name = match inputs.part {
        RankedPart::Prefill => "prompt rate".to_owned(),
        RankedPart::Whole => "rate with prompts".to_owned(),
        RankedPart::Decode if new_tokens > 1 => format!("rate at context {}", n::count(context)),
        RankedPart::Decode => return None,
    };
    (inputs.objective == Objective::Throughput).then_some(name)
}

/// The rate by which throughput ranks, where it is not the mean rate of decode: tokens of the ranked part over the batch.
pub fn ranked_rate(inputs: &RecommendInputs, slot: &Slot) -> Option<TokensPerSec> {
    let Subject::Model(model) = &inputs.subject else { return None };
    let tokens = inputs.part.tokens(&model.workload) as f64;
    ranked_rate_name(inputs).map(|_| TokensPerSec::new(tokens / slot.standing.score))
}

/// Name of the energy by which a schedule ranks, where it is not the mean energy of decode.
pub fn ranked_energy_name(inputs: &RecommendInputs) -> Option<String> {
    let Subject::Model(model) = &inputs.subject else { return None };
    let Workload { context, new_tokens, .. } = model.workload;
    let name = match inputs.part {
        RankedPart::Prefill => "energy/prompt token".to_owned(),
        RankedPart::Whole => "energy with prompts".to_owned(),
        RankedPart::Decode if new_tokens > 1 => format!("energy at context {}", n::count(context)),
        RankedPart::Decode => return None,
    };
    (inputs.objective == Objective::Energy).then_some(name)
}

/// The energy per token by which a schedule ranks, where it is not the mean energy of decode.
pub fn ranked_energy(inputs: &RecommendInputs, slot: &Slot) -> Option<Joules> {
    ranked_energy_name(inputs).map(|_| Joules::new(slot.standing.score))
}

/// Threshold from which another slot is best: `power cap ≥ 15 W`.
pub fn slot_change(flip: &SlotFlip) -> String {
    match flip {
        SlotFlip::Cap(watts, _) => format!("power cap ≥ {}{}W", n::short(watts.get(), 3), n::SPACE),
        SlotFlip::LossAllowed(loss, _) => change(Change::LossAllowed(*loss)),
        SlotFlip::LossBelow(loss, _) => change(Change::LossBelow(*loss)),
        SlotFlip::Context(value, _) => change(Change::From(Axis::Context, *value)),
    }
}

/// The change of slot as a sentence.
pub fn slot_flip(flip: &SlotFlip) -> String {
    let when = capital(&slot_change(flip));
    match flip {
        SlotFlip::Cap(_, slot) | SlotFlip::LossAllowed(_, slot) | SlotFlip::LossBelow(_, slot) => {
            format!("{when}: {} would be first.", slot_name(slot))
        }
        SlotFlip::Context(_, Some(slot)) => format!("{when}: {} is first.", slot_name(slot)),
        SlotFlip::Context(_, None) => format!("{when}: no scheme meets the bounds."),
    }
}
