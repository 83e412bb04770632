//! An answer in a few lines, for a program that reads it aloud: a sentence, and the numbers with their intervals and origins.

pub mod catalog;
pub mod fit;
pub mod scenarios;

use calc_core::analysis::Analysis;
use calc_core::check::Check;
use calc_core::estimate::Estimate;
use calc_core::expected::Expected;
use calc_core::plan::MeanToken;
use calc_core::recommend::{DeviceChoice, Outcome, Ranked, Recommendation};
use calc_core::units::{Seconds, TokensPerSec};

use super::summary;
use super::words::advice::{self, scheme_name};
use super::words::remedies::Asked;
use super::words::{self, memory};
use crate::input::request::{AnalyzeInputs, CheckInputs, EstimateInputs, RecommendInputs, Subject};
use crate::number_text as n;

/// Rows of a ranking that are named after the first one.
const NAMED: usize = 3;

/// An answer in a few lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// The answer in plain sentences.
    pub sentence: String,
    /// Numbers and reasons, one sentence each.
    pub lines: Vec<String>,
}

impl Brief {
    /// All lines, the sentence first.
    pub fn text(&self) -> String {
        let lines = core::iter::once(&self.sentence).chain(&self.lines);
        lines.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// A time with its interval and origin: `7.96 ms (7.23–9.03 ms; fitted)`.
fn timed(expected: &Expected) -> String {
    let range = n::time_range(expected.low, expected.high);
    format!("{} ({range}; {})", n::time(expected.time), expected.provenance.key())
}

/// A rate of tokens with its interval and origin: `183 token/s (161 to 202 token/s; fitted)`.
fn rated(token: &MeanToken) -> String {
    format!("{} {}", whole_rate(token), rate_interval(token))
}

/// The rate of all sequences: `183 token/s`, `1 460 token/s in all`.
fn whole_rate(token: &MeanToken) -> String {
    let all = if token.batch > 1 { " in all" } else { "" };
    format!("{}{all}", n::token_rate(token.throughput()))
}

/// The interval of a rate and its origin. The slow end of the time gives the low rate; a common unit stands once.
fn rate_interval(token: &MeanToken) -> String {
    let Expected { low, high, provenance, .. } = token.expected;
    let [slow, fast] = [high, low].map(|time| n::token_rate(rate(token, time)));
    let unit = |text: &str| text.rsplit(n::SPACE).next().map(str::to_owned);
    let number = slow.rsplit_once(n::SPACE).filter(|_| unit(&slow) == unit(&fast));
    let slow = number.map_or(slow.as_str(), |(number, _)| number);
    format!("({slow} to {fast}; {})", provenance.key())
}

/// The rate of a batch whose tokens take this time.
fn rate(token: &MeanToken, time: Seconds) -> TokensPerSec {
    TokensPerSec::new(token.batch as f64 / time.get())
}

/// Place of an answer: `H100 SXM5 80GB`, `Jetson Orin Nano 8GB Super in mode 15W`.
fn place(device: &str, mode: Option<&str>) -> String {
    mode.map_or_else(|| device.to_owned(), |mode| format!("{device} in mode {mode}"))
}

/// The model, its weights and its place: `Llama-3.1 8B in BF16 on H100 SXM5 80GB`.
fn subject(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let place = place(&inputs.hardware_name(), inputs.power_mode.as_deref());
    let experts = Some(answer.precision.experts)
        .filter(|format| inputs.model.arch.has_experts() && *format != answer.precision.weights);
    let experts =
        experts.map_or(String::new(), |format| format!(" with experts in {}", format.short_name));
    format!("{} in {}{experts} on {place}", inputs.model.name, answer.precision.weights.short_name)
}

/// An estimate: fit, rate and first token.
pub fn estimate(inputs: &EstimateInputs, answer: &Estimate) -> Brief {
    let fit = memory::fit_of(inputs, answer);
    let speed =
        if answer.memory.verdict().may_fit() { speed(inputs, answer) } else { String::new() };
    let mut lines = vec![format!(
        "Memory: needs {} (derived); usable are {} = {}.",
        n::bytes(answer.memory.total()),
        n::bytes(answer.memory.usable.bytes),
        memory::origin_of(inputs, answer)
    )];
    if !answer.link_unknown {
        lines.extend(latencies(inputs, answer));
    }
    let sources: Vec<&str> = inputs.devices().map(|device| &*device.source).collect();
    lines.push(format!("Model: {}; device: {}.", inputs.model.source, sources.join("; ")));
    if !answer.cards.is_empty() {
        lines.push(words::cards::sentence(inputs, answer));
    }
    if let (Some(host), Some(placement)) = (answer.memory.host, answer.placement) {
        let arch = &inputs.model.arch;
        let options = words::placement::options(&placement, arch, &inputs.workload);
        let how = match words::placement::no_option(answer.basis.engine) {
            Some(sentence) => sentence.to_owned(),
            None => format!("llama.cpp: {}", options.join(" ")),
        };
        lines.push(format!(
            "Placement: {}; host: {} (derived). {how}.",
            words::placement::places(&placement, arch),
            words::placement::bytes(&host),
        ));
    }
    lines.extend(words::remedies::what_would_fit(inputs, answer, Asked::Fields));
    lines.extend(notes(words::estimate_notes(inputs, answer)));
    let (subject, limit) = (subject(inputs, answer), limit(inputs));
    Brief { sentence: format!("{subject}: {limit}{fit}{speed}"), lines }
}

/// The sentence for a workload that the model does not serve, and a blank; empty for others.
fn limit(inputs: &EstimateInputs) -> String {
    words::too_long(inputs).map_or(String::new(), |sentence| format!("{sentence} "))
}

/// The speed of a model that may fit.
fn speed(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let bound = words::limit(&answer.middle);
    let roof = n::token_rate(answer.mean.ideal_throughput());
    if answer.link_unknown {
        return format!(" Decode {bound}: {}.", words::without_link(answer));
    }
    let workload = &inputs.workload;
    format!(
        " Decode {bound}: {} expected {}{}{}, {roof} at the roof{} (derived). First token after {}.",
        whole_rate(&answer.mean),
        rate_interval(&answer.mean),
        words::rate_at_context(workload, answer),
        words::without_hand_over(inputs),
        words::roof_leaves_out(&answer.middle),
        timed(&answer.ttft)
    )
}

fn latencies(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    let mut lines = vec![format!(
        "Time per token: {}{}; {} at the roof (derived).",
        timed(&answer.mean.expected),
        words::mean_over(&inputs.workload),
        n::time(answer.mean.ideal)
    )];
    if inputs.workload.new_tokens > 1 {
        lines.push(format!("Whole answer: {}.", timed(&answer.end_to_end)));
    }
    let energy = answer.mean.energy;
    lines.extend(energy.map(|energy| {
        let joule = n::energy(energy.per_token);
        format!("Energy: {joule} per token ({}).", words::ENERGY_BASIS)
    }));
    lines.push(factors(answer.mean.expected.provenance, &answer.basis));
    lines
}

fn factors(
    provenance: calc_core::provenance::Provenance,
    basis: &calc_core::calibration::Basis,
) -> String {
    format!("Factors of the expected times: {}.", words::factors_source(provenance, basis))
}

fn notes(notes: Vec<String>) -> impl Iterator<Item = String> {
    notes.into_iter().map(|note| format!("Note: {note}."))
}

/// An operator: its bound and its time.
pub fn operator(inputs: &AnalyzeInputs, answer: &Analysis) -> Brief {
    let place = place(&inputs.device.name, inputs.power_mode.as_deref());
    let name = summary::operator_name(&inputs.operator);
    let bound = words::bound(answer.reached().bound());
    let sentence = format!(
        "{name} on {place}: expected {}, {} at the roof (derived); it is {bound}-bound.",
        timed(&answer.expected),
        n::time(answer.ideal)
    );
    let lines = vec![factors(answer.expected.provenance, &answer.basis)];
    Brief { sentence, lines }
}

/// A judged claim.
pub fn check(inputs: &CheckInputs, answer: &Check) -> Brief {
    let place = place(&inputs.hardware_name(), inputs.power_mode());
    let sentence = format!(
        "{} on {place}: {} Claimed {}; expected {}, {} at the roof (derived).",
        summary::checked(inputs),
        words::check::sentence(answer),
        summary::claimed(inputs, answer).replace("  =", " ="),
        timed(&answer.expected),
        n::time(answer.ideal)
    );
    let mut lines = words::check::explanations(answer);
    lines.extend(notes(words::check::notes(inputs, answer)));
    Brief { sentence, lines }
}

/// A scheme with its numbers: `GGUF Q4_K_M, 14.1 token/s (12.6 to 15.2; fitted), 5.52 GB, +1.3 % perplexity`.
fn scheme(row: &Ranked) -> String {
    format!(
        "{}, {}, {}",
        scheme_name(row.scheme),
        outcome(&row.outcome),
        advice::quality(&row.quality)
    )
}

fn outcome(outcome: &Outcome) -> String {
    format!("{}, {}", rated(&outcome.token), n::bytes(outcome.memory))
}

/// A recommendation: the first-ranked scheme, why, and the next ones.
pub fn recommend(
    inputs: &RecommendInputs,
    answer: &Recommendation,
    notes_of: Vec<String>,
) -> Brief {
    let place = place(&inputs.device.name, inputs.power_mode.as_deref());
    let what = match &inputs.subject {
        Subject::Shape { shape, .. } => format!("GEMM {} × {} × {}", shape.m, shape.n, shape.k),
        Subject::Model(model) => model.model.name.clone(),
    };
    let Some(first) = answer.ranked.first() else {
        let counts = advice::drop_counts(&answer.dropped);
        let sentence = format!("{what} on {place}: no scheme meets all bounds. {counts}");
        let mut lines = words::remedies::ways_out(inputs, Asked::Fields);
        lines.extend(notes(notes_of));
        return Brief { sentence, lines };
    };
    let numbers = |row: &Ranked| match &inputs.subject {
        Subject::Shape { .. } => timed(&row.outcome.token.expected),
        Subject::Model(_) => outcome(&row.outcome),
    };
    let sentence = format!(
        "{what} on {place}: use {}{}: {}; {}, {} ({}).",
        advice::it(first.scheme),
        scheme_name(first.scheme),
        numbers(first),
        advice::speedup(first),
        advice::quality(&first.quality),
        first.quality.provenance.key()
    );
    let mut lines = vec![advice::regime(first, inputs.part, &answer.baseline)];
    lines.extend(advice::first_by(answer.first_by, &first.standing));
    let next = answer.ranked.iter().skip(1).take(NAMED).map(|row| {
        let (name, loss) = (scheme_name(row.scheme), advice::quality(&row.quality));
        format!("{name}, {}, {loss}", numbers(row))
    });
    let next: Vec<String> = next.collect();
    if !next.is_empty() {
        lines.push(format!("Next: {}.", next.join("; ")));
    }
    lines.extend(first.flips.iter().map(advice::flip));
    lines.push(advice::drop_counts(&answer.dropped));
    lines.retain(|line| !line.is_empty());
    lines.extend(notes(notes_of));
    Brief { sentence, lines }
}

/// The devices that meet a goal.
pub fn devices(inputs: &RecommendInputs, found: &[DeviceChoice], notes_of: Vec<String>) -> Brief {
    let model = match &inputs.subject {
        Subject::Model(model) => model.model.name.as_str(),
        Subject::Shape { .. } => "this product",
    };
    let Some(first) = found.first() else {
        let sentence = format!("No device of the catalog runs {model} within all bounds.");
        return Brief { sentence, lines: notes(notes_of).collect() };
    };
    let sentence = format!(
        "{} devices run {model} within all bounds; the smallest is {}.",
        found.len(),
        choice(first)
    );
    let mut lines: Vec<String> =
        found.iter().skip(1).take(NAMED).map(|next| format!("Next: {}.", choice(next))).collect();
    lines.extend(notes(notes_of));
    Brief { sentence, lines }
}

/// A device with its scheme and its numbers.
fn choice(choice: &DeviceChoice) -> String {
    let unknown = if choice.outcome.usable.is_known {
        ""
    } else {
        ", if so much memory is installed, which is unknown"
    };
    format!(
        "{} with {}, {}{unknown}",
        choice.device.name,
        scheme_name(choice.scheme),
        outcome(&choice.outcome)
    )
}

#[cfg(test)]
mod tests;
