//! Answer of the Plan view: the recommended scheme in three cards, and all schemes by time and loss.

use calc_core::quality::QualityLoss;
use calc_core::recommend::{
    Drop, Dropped, Outcome, Ranked, RankedPart, RecommendRequest, Recommendation, Task, recommend,
};
use calc_core::scheme::{Scheme, SchemeWeights};
use calc_core::units::Seconds;
use calc_core::workload::Workload;
use chart::mark::{Mark, mark};
use chart::schemes::{SchemePoint, Schemes};
use report::number_text as text;
use report::output::verdict::explain::Explanation;
use report::output::words::{advice, core_error, memory};

use super::advice::question::{repositories, with_model};
use super::advice::{Taken, Way, ways};
use super::derived::Cell;
use super::inputs::Inputs;

/// The last valid answer, and the inputs with the formats of its scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanShown {
    pub answer: PlanAnswer,
    /// The inputs with the formats of the scheme in the cards; as they are without one.
    pub taken: Inputs,
}

/// What to run, how good it is, and what else there is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanAnswer {
    /// The verdict: "Take GGUF Q4_K_M: it fits, 19 token/s."
    pub sentence: String,
    /// The reason, and the nearest change that would alter it.
    pub line: String,
    pub cards: Vec<Card>,
    /// All schemes, ranked ones first.
    pub rows: Vec<SchemeRow>,
    pub chart: Schemes,
    /// Head of the column with the ranked time.
    pub time_column: &'static str,
    /// Key of the scheme in the cards; empty without one.
    pub chosen: String,
    /// Name of the recommended scheme, where another one is in the cards.
    pub recommended: Option<String>,
    /// Changes that would put another scheme first, one sentence each.
    pub flips: Vec<String>,
    /// Ways to apply the scheme in the cards.
    pub ways: Vec<Way>,
}

/// A card: one number, what it is compared with, and two lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub name: &'static str,
    pub number: Cell,
    /// Text behind the number: its unit, interval or limit.
    pub beside: String,
    pub lines: Vec<String>,
}

/// A scheme in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemeRow {
    pub key: &'static str,
    pub name: String,
    pub mark: Mark,
    /// Why one would take it: fastest, balanced, best quality.
    pub picks: Vec<&'static str>,
    pub whole: String,
    pub interval: String,
    pub first: String,
    pub rate: String,
    pub memory: String,
    pub loss: String,
    /// Reason why it is out of the question; its times are not shown then.
    pub refused: Option<String>,
    /// True if it can be put in the cards.
    pub has_outcome: bool,
}

/// The next state to show: invalid inputs keep the last valid answer.
pub fn next(before: Option<&PlanShown>, inputs: &Inputs) -> PlanShown {
    match (with_model(inputs, |request| derive(request, inputs)), before) {
        (Some(shown), _) => shown,
        (None, Some(before)) => before.clone(),
        (None, None) => PlanShown { answer: PlanAnswer::default(), taken: inputs.clone() },
    }
}

fn derive(request: &RecommendRequest<'_>, inputs: &Inputs) -> PlanShown {
    let answer = match recommend(request) {
        Ok(answer) => answer,
        Err(error) => {
            let sentence = format!("{}.", core_error(&error));
            let answer = PlanAnswer { sentence, ..PlanAnswer::default() };
            return PlanShown { answer, taken: inputs.clone() };
        }
    };
    let seen = Seen::of(&answer, inputs.model.scheme);
    let mut taken = inputs.clone();
    if let Some(seen) = &seen {
        Taken::of(seen.scheme, &seen.outcome.precision).of_model(&mut taken);
    }
    let (sentence, line) = verdict(request, &answer, seen.as_ref());
    let first = answer.ranked.first();
    PlanShown {
        answer: PlanAnswer {
            sentence,
            line,
            cards: seen.as_ref().map_or_else(Vec::new, |seen| cards(request, &answer, seen)),
            rows: rows(request, &answer),
            chart: chart(request, &answer),
            time_column: part_name(request.part),
            chosen: seen.as_ref().map_or_else(String::new, |seen| seen.scheme.key.to_owned()),
            recommended: first
                .filter(|first| {
                    seen.as_ref().is_some_and(|seen| seen.scheme.key != first.scheme.key)
                })
                .map(|first| advice::scheme_name(first.scheme)),
            flips: first
                .map_or_else(Vec::new, |first| first.flips.iter().map(advice::flip).collect()),
            ways: seen.map_or_else(Vec::new, |seen| {
                ways(seen.scheme, seen.outcome.memory, request, repositories(&inputs.model))
            }),
        },
        taken,
    }
}

/// The scheme in the cards: the one that was picked, else the recommended one.
struct Seen<'a> {
    scheme: &'static Scheme,
    outcome: &'a Outcome,
    quality: &'a QualityLoss,
    /// Reason why it is out of the question.
    refused: Option<String>,
    is_first: bool,
}

impl<'a> Seen<'a> {
    fn of(answer: &'a Recommendation, picked: Option<&'static Scheme>) -> Option<Self> {
        let is_picked = |scheme: &Scheme| picked.is_some_and(|picked| picked.key == scheme.key);
        let ranked = answer.ranked.iter().enumerate().find(|(_, row)| is_picked(row.scheme));
        let dropped = answer.dropped.iter().find(|row| is_picked(row.scheme));
        let refused = dropped.and_then(|row| {
            let outcome = row.outcome.as_ref()?;
            let refused = Some(advice::dropped(&row.reason, &row.quality));
            Some(Self {
                scheme: row.scheme,
                outcome,
                quality: &row.quality,
                refused,
                is_first: false,
            })
        });
        refused.or_else(|| {
            let (place, row) = ranked.or_else(|| answer.ranked.iter().enumerate().next())?;
            Some(Self {
                scheme: row.scheme,
                outcome: &row.outcome,
                quality: &row.quality,
                refused: None,
                is_first: place == 0,
            })
        })
    }
}

/// The workload of a request; `None` for a single product, which this view never asks about.
fn workload<'a>(request: &'a RecommendRequest<'_>) -> Option<&'a Workload> {
    match &request.task {
        Task::Shape(_) => None,
        Task::Model(task) => Some(&task.request.workload),
    }
}

/// Number of sequences.
fn batch(request: &RecommendRequest<'_>) -> f64 {
    workload(request).map_or(1.0, |workload| workload.batch as f64)
}

/// Rate over the batch, from a time per token.
fn rate(request: &RecommendRequest<'_>, token: Seconds) -> String {
    text::token_rate(calc_core::units::TokensPerSec::new(batch(request) / token.get()))
}

fn verdict(
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
    seen: Option<&Seen<'_>>,
) -> (String, String) {
    let Some(seen) = seen else { return nothing(answer) };
    let name = advice::scheme_name(seen.scheme);
    if let Some(reason) = &seen.refused {
        return (format!("{name} is out of the question: {reason}."), String::new());
    }
    let speed = rate(request, seen.outcome.token.expected.time);
    let all = if batch(request) > 1.0 { " in all" } else { "" };
    let take = if seen.is_first { "Take" } else { "With" };
    let sentence = format!("{take} {name}: it fits, {speed}{all}.");
    let mut line = Vec::new();
    if let Some(row) = answer.ranked.iter().find(|row| row.scheme.key == seen.scheme.key) {
        line.push(advice::regime(row, request.part, &answer.baseline));
        if seen.is_first {
            line.extend(advice::first_by(answer.first_by, &row.standing));
        }
    }
    (sentence, line.join(" "))
}

/// The verdict where no scheme meets the bounds: the one that needs the least memory, or the first one.
fn nothing(answer: &Recommendation) -> (String, String) {
    let short = answer.dropped.iter().filter_map(|row| match row.reason {
        Drop::Memory { needs, .. } => Some((row, needs)),
        _ => None,
    });
    let smallest = short.min_by(|a, b| a.1.get().total_cmp(&b.1.get())).map(|(row, _)| row);
    let said = |row: &Dropped| {
        format!(
            "{}: {}.",
            advice::scheme_name(row.scheme),
            advice::dropped(&row.reason, &row.quality)
        )
    };
    let line = match (smallest, answer.dropped.first()) {
        (Some(row), _) => format!("The smallest, {}", said(row)),
        (None, Some(row)) => said(row),
        (None, None) => String::new(),
    };
    ("Nothing meets the bounds.".to_owned(), line)
}

fn cards(request: &RecommendRequest<'_>, answer: &Recommendation, seen: &Seen<'_>) -> Vec<Card> {
    let mut cards = vec![fits(seen)];
    if seen.outcome.verdict().may_fit() {
        cards.push(speed(request, seen));
    }
    cards.push(quality(answer, seen));
    cards
}

fn fits(seen: &Seen<'_>) -> Card {
    let Outcome { memory: needs, usable, .. } = *seen.outcome;
    let most = if usable.is_known { "of" } else { "of at most" };
    let left = if needs <= usable.bytes {
        format!("{} left", text::bytes(usable.bytes - needs))
    } else {
        memory::shortage(needs - usable.bytes, usable.bytes)
    };
    let name = if seen.outcome.verdict().may_fit() { "Fits" } else { "Does not fit" };
    Card {
        name,
        number: Cell {
            text: text::bytes(needs),
            explanation: Explanation {
                title: "Memory".to_owned(),
                formula: "weights + KV cache + activations + reserve".to_owned(),
                values: format!("{} of {} usable", text::bytes(needs), text::bytes(usable.bytes)),
                provenance: calc_core::provenance::Provenance::Derived,
                source: "the formats and the shapes; the reserve is assumed".to_owned(),
            },
        },
        beside: format!("{most} {}", text::bytes(usable.bytes)),
        lines: vec![left],
    }
}

fn speed(request: &RecommendRequest<'_>, seen: &Seen<'_>) -> Card {
    let Outcome { token, ttft, whole, .. } = seen.outcome;
    let rate = |time| rate(request, time);
    let (low, high) = (rate(token.expected.high), rate(token.expected.low));
    let energy =
        token.energy.map(|energy| format!(" · {} per token", text::energy(energy.per_token)));
    let tokens = workload(request).map_or(1, |workload| workload.new_tokens);
    let whole = (tokens > 1).then(|| format!(" · whole answer {}", advice::expected(whole)));
    Card {
        name: "Speed",
        number: Cell {
            text: rate(token.expected.time),
            explanation: Explanation {
                title: "Tokens per second".to_owned(),
                formula: "users ÷ time per token, in the mean over the answer".to_owned(),
                values: format!(
                    "{} ÷ {}",
                    text::count(batch(request) as u64),
                    advice::expected(&token.expected)
                ),
                provenance: token.expected.provenance,
                source: "factors fitted on published measurements".to_owned(),
            },
        },
        beside: format!("{low} to {high}"),
        lines: vec![
            format!("first token {}{}", advice::expected(ttft), whole.unwrap_or_default()),
            format!("{} at the roof{}", rate(token.ideal), energy.unwrap_or_default()),
        ],
    }
}

fn quality(answer: &Recommendation, seen: &Seen<'_>) -> Card {
    let base = &answer.baseline;
    let half = match base.verdict() {
        calc_core::footprint::MemoryVerdict::DoesNotFit { missing } => {
            format!("16 bits would be {} short", text::bytes(missing))
        }
        _ => format!(
            "{} as fast as 16 bits per token",
            text::ratio(base.token.expected.time / seen.outcome.token.expected.time)
        ),
    };
    let whole = advice::quality(seen.quality);
    let (number, metric) = match whole.rsplit_once(&format!("{}% ", text::SPACE)) {
        Some((number, metric)) => (format!("{number}{}%", text::SPACE), metric.to_owned()),
        None => (whole, String::new()),
    };
    Card {
        name: "Quality",
        number: Cell {
            text: number,
            explanation: Explanation {
                title: "Loss of quality".to_owned(),
                formula: String::new(),
                values: "a range for the size of the model; larger models lose less".to_owned(),
                provenance: seen.quality.provenance,
                source: seen.quality.source.to_owned(),
            },
        },
        beside: metric,
        lines: vec![half],
    }
}

/// Name of the ranked time.
const fn part_name(part: RankedPart) -> &'static str {
    match part {
        RankedPart::Whole => "Whole answer",
        RankedPart::Prefill => "Prompt",
        RankedPart::Decode => "Time per token",
    }
}

fn part_time(part: RankedPart, outcome: &Outcome) -> calc_core::expected::Expected {
    match part {
        RankedPart::Whole => outcome.whole,
        RankedPart::Prefill => outcome.prefill.expected,
        RankedPart::Decode => outcome.decode.expected,
    }
}

fn scheme_mark(scheme: &Scheme) -> Mark {
    match scheme.weights {
        SchemeWeights::Format(format) => mark(format.key),
        SchemeWeights::Half | SchemeWeights::Published => mark("fp16"),
    }
}

fn rows(request: &RecommendRequest<'_>, answer: &Recommendation) -> Vec<SchemeRow> {
    let picks = picks(answer, request.part);
    let ranked = answer.ranked.iter().map(|row| SchemeRow {
        picks: picks
            .iter()
            .filter(|(key, _)| *key == row.scheme.key)
            .map(|(_, pick)| *pick)
            .collect(),
        ..timed(request, row.scheme, &row.outcome, &row.quality)
    });
    let dropped = answer.dropped.iter().map(|row| {
        let refused = Some(advice::dropped(&row.reason, &row.quality));
        let has_outcome = row.outcome.is_some();
        SchemeRow { refused, has_outcome, ..untimed(row.scheme, &row.quality) }
    });
    ranked.chain(dropped).collect()
}

fn untimed(scheme: &'static Scheme, loss: &QualityLoss) -> SchemeRow {
    SchemeRow {
        key: scheme.key,
        name: advice::scheme_name(scheme),
        mark: scheme_mark(scheme),
        picks: Vec::new(),
        whole: String::new(),
        interval: String::new(),
        first: String::new(),
        rate: String::new(),
        memory: String::new(),
        loss: advice::quality(loss),
        refused: None,
        has_outcome: true,
    }
}

fn timed(
    request: &RecommendRequest<'_>,
    scheme: &'static Scheme,
    outcome: &Outcome,
    loss: &QualityLoss,
) -> SchemeRow {
    let time = part_time(request.part, outcome);
    SchemeRow {
        whole: text::time(time.time),
        interval: text::time_range(time.low, time.high),
        first: text::time(outcome.ttft.time),
        rate: rate(request, outcome.token.expected.time),
        memory: text::bytes(outcome.memory),
        ..untimed(scheme, loss)
    }
}

/// Names of the picks by key of the scheme: the fastest, the recommended one, and the one that loses least.
fn picks(answer: &Recommendation, part: RankedPart) -> Vec<(&'static str, &'static str)> {
    let time = |row: &&Ranked| part_time(part, &row.outcome).time.get();
    let least = |by: &dyn Fn(&&Ranked, &&Ranked) -> core::cmp::Ordering| {
        answer.ranked.iter().min_by(|a, b| by(a, b)).map(|row| row.scheme.key)
    };
    let fastest = least(&|a, b| time(a).total_cmp(&time(b)));
    let best =
        least(&|a, b| a.quality.high.total_cmp(&b.quality.high).then(time(a).total_cmp(&time(b))));
    let balanced = answer.ranked.first().map(|row| row.scheme.key);
    [(balanced, "recommended"), (fastest, "fastest"), (best, "best quality")]
        .into_iter()
        .filter_map(|(key, pick)| Some((key?, pick)))
        .collect()
}

fn chart(request: &RecommendRequest<'_>, answer: &Recommendation) -> Schemes {
    let point = |scheme: &Scheme, outcome: &Outcome, loss: &QualityLoss, refused| {
        let time = part_time(request.part, outcome);
        SchemePoint {
            key: scheme.key.to_owned(),
            label: advice::scheme_name(scheme),
            mark: scheme_mark(scheme),
            time: time.time.get(),
            low: time.low.get(),
            high: time.high.get(),
            loss: loss.high,
            refused,
        }
    };
    let ranked =
        answer.ranked.iter().map(|row| point(row.scheme, &row.outcome, &row.quality, false));
    let dropped = answer.dropped.iter().filter_map(|row| {
        let outcome = row.outcome.as_ref()?;
        Some(point(row.scheme, outcome, &row.quality, true))
    });
    let points: Vec<SchemePoint> = ranked.chain(dropped).collect();
    Schemes {
        time_name: format!("{}, expected (line: interval)", part_name(request.part)),
        front: front(&points),
        points,
        limit: Some(request.bounds.quality),
    }
}

/// Schemes that no other one beats in both time and loss, fastest first, by index.
fn front(points: &[SchemePoint]) -> Vec<usize> {
    let is_beaten = |point: &SchemePoint| {
        points.iter().any(|other| {
            !other.refused
                && other.time <= point.time
                && other.loss <= point.loss
                && (other.time < point.time || other.loss < point.loss)
        })
    };
    let mut front: Vec<usize> = (0..points.len())
        .filter(|&index| points.get(index).is_some_and(|point| !point.refused && !is_beaten(point)))
        .collect();
    front.sort_by(|&a, &b| points[a].time.total_cmp(&points[b].time));
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::inputs::View;
    use crate::state::model::fields::Field;
    use crate::state::model::inputs::Base;
    use calc_core::catalog::{self, devices, models, schemes};
    use std::borrow::Cow;

    fn inputs(device: &str, model: &str) -> Inputs {
        let mut inputs = Inputs { view: View::Plan, ..Inputs::default() };
        inputs.set_device(Cow::Borrowed(catalog::device(device).expect("catalog key")));
        inputs.model.set_base(Base::Catalog(catalog::model(model).expect("catalog key")));
        inputs.model.set_text(Field::Prompt, "4096".into());
        inputs.model.set_text(Field::Generate, "128".into());
        inputs
    }

    #[test]
    fn the_recommended_scheme_is_in_the_cards_and_its_formats_are_taken() {
        let inputs = inputs("jetson_orin_nano_8gb_super", "llama-3.1-8b");
        let shown = next(None, &inputs);
        let answer = &shown.answer;
        assert!(answer.sentence.starts_with("Take GGUF Q4_K_M: it fits, "), "{}", answer.sentence);
        let names: Vec<&str> = answer.cards.iter().map(|card| card.name).collect();
        assert_eq!(names, ["Fits", "Speed", "Quality"]);
        assert_eq!(answer.chosen, "gguf_q4_k");
        assert_eq!(answer.rows[0].picks[0], "recommended");
        assert!(shown.taken.model.formats != inputs.model.formats);
        assert!(answer.ways.iter().any(|way| way.text.contains("llama-server")));
    }

    #[test]
    fn a_picked_scheme_takes_the_cards_and_the_recommended_one_is_named() {
        let mut inputs = inputs("h100_sxm", "llama-3.1-8b");
        inputs.model.scheme = schemes::scheme("gguf_q6_k");
        let answer = next(None, &inputs).answer;
        assert_eq!(answer.chosen, "gguf_q6_k");
        assert!(answer.recommended.is_some() && answer.sentence.starts_with("With GGUF Q6_K"));
        inputs.model.scheme = schemes::scheme("int2_g64_rtn");
        let refused = next(None, &inputs).answer;
        assert!(refused.sentence.contains("out of the question"), "{}", refused.sentence);
    }

    #[test]
    fn what_does_not_fit_has_no_speed() {
        let shown = next(None, &inputs("jetson_orin_nano_8gb_super", "llama-3.1-405b"));
        let answer = shown.answer;
        assert_eq!(answer.sentence, "Nothing meets the bounds.");
        assert!(answer.cards.is_empty() && answer.line.contains("short of"), "{}", answer.line);
        assert!(answer.rows.iter().all(|row| row.rate.is_empty() && row.refused.is_some()));
    }

    #[test]
    fn every_model_on_every_device_has_a_sentence() {
        let everywhere = devices::all().map(|device| (&*device.key, "gpt-oss-20b"));
        let all = models::all().map(|model| ("h100_sxm", model.key));
        for (device, model) in everywhere.chain(all) {
            let shown = next(None, &inputs(device, model));
            assert!(!shown.answer.sentence.is_empty(), "{device} {model}");
            let front = &shown.answer.chart.front;
            let points = &shown.answer.chart.points;
            assert!(front.windows(2).all(|two| points[two[0]].loss > points[two[1]].loss));
        }
    }
}
