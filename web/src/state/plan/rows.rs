//! All schemes of the Plan view, as a table and as a chart.

use calc_core::expected::Expected;
use calc_core::order::sort_short;
use calc_core::quality::QualityLoss;
use calc_core::recommend::{Outcome, Ranked, RankedPart, RecommendRequest, Recommendation};
use calc_core::scheme::{Scheme, SchemeWeights};
use chart::mark::{Mark, mark};
use chart::schemes::{SchemePoint, Schemes};
use report::number_text as text;
use report::output::words::advice;
use report::output::words::apply::engine_name;

use super::{loss_parts, rate};

/// A scheme in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemeRow {
    pub key: &'static str,
    pub name: String,
    /// Engine that runs it, where not all schemes have the same one; else empty.
    pub engine: &'static str,
    pub mark: Mark,
    /// Why one would take it: recommended, fastest and in what, best quality.
    pub picks: Vec<&'static str>,
    pub whole: String,
    pub interval: String,
    pub first: String,
    pub rate: String,
    pub memory: String,
    pub loss: String,
    /// Name of what is lost; empty without a loss.
    pub metric: String,
    /// Reason why it is out of the question; its times are not shown then.
    pub refused: Option<String>,
}

/// Name of the ranked time.
pub(super) const fn part_name(part: RankedPart) -> &'static str {
    match part {
        RankedPart::Whole => "Whole answer",
        RankedPart::Prefill => "Prompt",
        RankedPart::Decode => "Time per token",
    }
}

fn part_time(part: RankedPart, outcome: &Outcome) -> Expected {
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

/// Ranked schemes, then those that are out of the question.
pub(super) fn rows(request: &RecommendRequest<'_>, answer: &Recommendation) -> Vec<SchemeRow> {
    let picks = picks(answer, request.part);
    let first = answer.ranked.first().map(|row| row.standing.engine);
    let one_engine = answer.ranked.iter().all(|row| Some(row.standing.engine) == first);
    let ranked = answer.ranked.iter().map(|row| SchemeRow {
        picks: picks
            .iter()
            .filter(|(key, _)| *key == row.scheme.key)
            .map(|(_, pick)| *pick)
            .collect(),
        engine: if one_engine { "" } else { engine_name(row.standing.engine) },
        ..timed(request, row.scheme, &row.outcome, &row.quality)
    });
    let dropped = answer.dropped.iter().map(|row| {
        let refused = Some(advice::dropped(&row.reason, &row.quality));
        SchemeRow { refused, ..untimed(row.scheme, &row.quality) }
    });
    ranked.chain(dropped).collect()
}

fn untimed(scheme: &'static Scheme, loss: &QualityLoss) -> SchemeRow {
    let (loss, metric) = loss_parts(loss);
    SchemeRow {
        key: scheme.key,
        name: advice::scheme_name(scheme),
        engine: "",
        mark: scheme_mark(scheme),
        picks: Vec::new(),
        whole: String::new(),
        interval: String::new(),
        first: String::new(),
        rate: String::new(),
        memory: String::new(),
        loss,
        metric,
        refused: None,
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

/// Pick of the scheme with the shortest ranked time, with what it is fastest in; another one may have the highest rate.
const fn fastest_in(part: RankedPart) -> &'static str {
    match part {
        RankedPart::Whole => "fastest answer",
        RankedPart::Prefill => "fastest prompt",
        RankedPart::Decode => "fastest token",
    }
}

/// Names of the picks by key of the scheme: the recommended one, the fastest in the ranked time and in the rate, and the one
/// that loses least.
fn picks(answer: &Recommendation, part: RankedPart) -> Vec<(&'static str, &'static str)> {
    let time = |row: &&Ranked| part_time(part, &row.outcome).time.get();
    let least = |by: &dyn Fn(&&Ranked, &&Ranked) -> core::cmp::Ordering| {
        answer.ranked.iter().min_by(|a, b| by(a, b)).map(|row| row.scheme.key)
    };
    let fastest = least(&|a, b| time(a).total_cmp(&time(b)));
    let best =
        least(&|a, b| a.quality.high.total_cmp(&b.quality.high).then(time(a).total_cmp(&time(b))));
    let token = |row: &&Ranked| row.outcome.token.expected.time.get();
    let rate = least(&|a, b| token(a).total_cmp(&token(b))).filter(|_| part != RankedPart::Decode);
    let balanced = answer.ranked.first().map(|row| row.scheme.key);
    let named = [
        (balanced, "recommended"),
        (fastest, fastest_in(part)),
        (rate.filter(|key| Some(*key) != fastest), "highest rate"),
        (best, "best quality"),
    ];
    named.into_iter().filter_map(|(key, pick)| Some((key?, pick))).collect()
}

/// All schemes that the device runs, by time and loss.
pub(super) fn chart(request: &RecommendRequest<'_>, answer: &Recommendation) -> Schemes {
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
    sort_short(&mut front, |&a, &b| points[a].time < points[b].time);
    front
}
