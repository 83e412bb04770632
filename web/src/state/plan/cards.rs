//! The three cards: memory, speed, quality.

use calc_core::footprint::MemoryVerdict;
use calc_core::provenance::Provenance;
use calc_core::recommend::{Outcome, RecommendRequest, Recommendation};
use report::number_text as text;
use report::output::lesson;
use report::output::verdict::explain::{Explanation, NumberSource};
use report::output::words::{advice, memory};

use super::{CardOutcome, batch, loss_parts, rate, workload};
use crate::state::derived::Cell;
use crate::state::model::answer::ModelAnswer;

/// Title of the explanation of the speed.
pub const RATE: &str = "Tokens per second";

/// A card: one number, what it is compared with, and two lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub name: &'static str,
    pub number: Cell,
    /// Text behind the number: its unit, interval or limit.
    pub beside: String,
    pub lines: Vec<String>,
}

/// Cards of a scheme; one that does not fit has no speed. `model` is the model in the scheme.
pub(super) fn cards(
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
    seen: &CardOutcome<'_>,
    model: &ModelAnswer,
) -> Vec<Card> {
    let mut cards = vec![fits(request, seen, model)];
    if seen.outcome.verdict().may_fit() {
        cards.push(speed(request, seen, model));
    }
    cards.push(quality(answer, seen));
    cards
}

fn fits(request: &RecommendRequest<'_>, seen: &CardOutcome<'_>, model: &ModelAnswer) -> Card {
    let Outcome { memory: needs, usable, .. } = *seen.outcome;
    let most = if usable.is_known { "of" } else { "of at most" };
    let left = if needs <= usable.bytes {
        format!("{} left", text::bytes(usable.bytes - needs))
    } else {
        memory::shortage(needs - usable.bytes, usable.bytes)
    };
    let is_split = workload(request).is_some_and(|workload| workload.parallel.devices() > 1);
    let each = if is_split { " of each device" } else { "" };
    let name = if seen.outcome.verdict().may_fit() { "Fits" } else { "Does not fit" };
    Card {
        name,
        number: Cell {
            text: text::bytes(needs),
            explanation: Explanation {
                title: "Memory".to_owned(),
                formula: "weights + KV cache + activations + reserve".to_owned(),
                values: format!("{} of {} usable", text::bytes(needs), text::bytes(usable.bytes)),
                provenance: Provenance::Derived,
                source: "the formats and the shapes; the reserve is assumed".into(),
                lesson: lesson::MEMORY,
            },
        },
        beside: format!("{most} {}{each}", text::bytes(usable.bytes)),
        lines: vec![left, model.memory.brief_room()],
    }
}

fn speed(request: &RecommendRequest<'_>, seen: &CardOutcome<'_>, model: &ModelAnswer) -> Card {
    let Outcome { token, ttft, whole, .. } = seen.outcome;
    let rate = |time| rate(request, time);
    let interval = [token.expected.high, token.expected.low]
        .map(|time| text::short(batch(request) / time.get(), 3))
        .join("–");
    let energy =
        token.energy.map(|energy| format!(" · {} per token", text::energy(energy.per_token)));
    let tokens = workload(request).map_or(1, |workload| workload.new_tokens);
    let whole = (tokens > 1).then(|| format!("whole answer {}", advice::expected(whole)));
    let roof = format!("{} at the roof{}", rate(token.ideal), energy.unwrap_or_default());
    let alone = if batch(request) > 1.0 { ", one prompt at a time" } else { "" };
    let first = format!("first token {}{alone}", advice::expected(ttft));
    Card {
        name: "Speed",
        number: Cell {
            text: rate(token.expected.time),
            explanation: Explanation {
                title: RATE.to_owned(),
                formula: "users ÷ time per token, in the mean over the answer".to_owned(),
                values: format!(
                    "{} ÷ {}",
                    text::count(workload(request).map_or(1, |workload| workload.batch)),
                    advice::expected(&token.expected)
                ),
                provenance: token.expected.provenance,
                source: NumberSource::Factors(token.expected.provenance, model.estimate.basis),
                lesson: lesson::EXPECTED,
            },
        },
        beside: interval,
        lines: [Some(first), whole, Some(roof)].into_iter().flatten().collect(),
    }
}

fn quality(answer: &Recommendation, seen: &CardOutcome<'_>) -> Card {
    let base = &answer.baseline;
    let half = match base.verdict() {
        MemoryVerdict::DoesNotFit { missing } => {
            format!("16 bits would be {} short", text::bytes(missing))
        }
        _ => format!(
            "{} as fast as 16 bits per token",
            text::ratio(base.token.expected.time / seen.outcome.token.expected.time)
        ),
    };
    let (number, metric) = loss_parts(seen.quality);
    Card {
        name: "Quality",
        number: Cell {
            text: number,
            explanation: Explanation {
                title: "Loss of quality".to_owned(),
                formula: String::new(),
                values: "a range for the size of the model; larger models lose less".to_owned(),
                provenance: seen.quality.provenance,
                source: seen.quality.source.into(),
                lesson: lesson::SCHEMES,
            },
        },
        beside: metric,
        lines: core::iter::once(half)
            .chain(advice::loss_origin(seen.quality).map(str::to_owned))
            .collect(),
    }
}
