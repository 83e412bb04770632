//! Throughput and latency over batch and over context, with markers where memory ends and where the limiting resource changes.

use calc_core::lowering::Step;
use calc_core::plan::{Plan, Resource, Span};
use calc_core::units::Seconds;
use calc_core::workload::{MAX_BATCH, MAX_TOKENS, Workload};
use chart::curves::{Curve, Curves, Marker, Panel};
use report::number_text as text;

use crate::state::inputs::Inputs;
use crate::state::place::Place;

use super::fit::{LargestFit, largest, room};
use super::inputs::ModelInputs;
use super::operators::limiter_name;
use super::question::ModelQuestion;

/// Largest batch in the chart, unless the user's is larger.
const BATCHES: u64 = 1024;
/// First context in the chart and, for models without a stated limit, the last [tokens].
const FIRST_CONTEXT: u64 = 256;
const CONTEXTS: u64 = 131_072;
/// Most columns of a chart.
const MOST_COLUMNS: usize = 40;

/// The varied quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    /// Number of sequences.
    Batch,
    /// Tokens in the cache.
    Context,
}

impl CurveAxis {
    /// Both quantities.
    pub const ALL: [Self; 2] = [Self::Batch, Self::Context];

    /// Id in the document.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Batch => "by-batch",
            Self::Context => "by-context",
        }
    }

    /// Heading of the chart.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Batch => "Against batch",
            Self::Context => "Against context",
        }
    }

    /// Heading of the table's first column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "Batch",
            Self::Context => "Context",
        }
    }
}

impl CurveAxis {
    /// Headings of the table.
    pub const fn columns(self) -> [&'static str; 7] {
        let [_, others @ ..] = COLUMNS;
        let [a, b, c, d, e, f] = others;
        [self.name(), a, b, c, d, e, f]
    }
}

const COLUMNS: [&str; 7] = [
    "",
    "token/s, ideal",
    "token/s, expected",
    "Time per token, ideal",
    "Expected",
    "Interval",
    "Limit",
];

/// A row of the table beside a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow {
    /// Batch or context.
    pub at: u64,
    /// Throughput over the batch [token/s], at the roof and expected.
    throughput: [f64; 2],
    /// Time per token, at the roof and expected.
    latency: [Seconds; 2],
    /// Interval of the expected time.
    interval: [Seconds; 2],
    limiter: Resource,
    fits: bool,
}

impl SweepRow {
    /// The cells of the table. What does not fit has no speed.
    pub fn cells(&self) -> [String; 7] {
        if !self.fits {
            let at = text::count(self.at);
            return [&*at, "–", "–", "–", "–", "–", "does not fit"].map(str::to_owned);
        }
        [
            text::count(self.at),
            text::plain(self.throughput[0]),
            text::plain(self.throughput[1]),
            text::time(self.latency[0]),
            text::time(self.latency[1]),
            text::time_range(self.interval[0], self.interval[1]),
            limiter_name(self.limiter).to_owned(),
        ]
    }
}

/// A chart with its table and description.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveSweep {
    pub against: CurveAxis,
    pub curves: Curves,
    /// Rows of the table.
    pub rows: Vec<SweepRow>,
    /// Description of the chart in words.
    pub words: String,
}

impl CurveSweep {
    /// A value in words, for keyboard users of the chart.
    pub fn spoken(&self, place: Option<usize>) -> String {
        let Some(row) = place.and_then(|place| self.rows.get(place)) else { return String::new() };
        let name = self.against.name();
        let [at, _, rate, ideal, time, _, limit] = row.cells();
        if !row.fits {
            return format!("{name} {at}: {limit}");
        }
        format!("{name} {at}: {rate} token/s, {time} per token, ideal {ideal}, limited by {limit}")
    }
}

/// The curves for the inputs; invalid inputs keep the last valid curves.
#[expect(clippy::missing_panics_doc, reason = "the default inputs are valid, as a test shows")]
pub fn next(
    before: Option<&CurveSweep>,
    inputs: &ModelInputs,
    place: Place<'_>,
    against: CurveAxis,
) -> CurveSweep {
    let swept = derive(inputs, place, against);
    swept.or_else(|| before.cloned()).unwrap_or_else(|| {
        let usual = Inputs::default();
        derive(&usual.model, usual.place(), against).expect("the defaults are valid")
    })
}

/// The curves; `None` if the inputs have no answer.
fn derive(inputs: &ModelInputs, place: Place<'_>, against: CurveAxis) -> Option<CurveSweep> {
    let question = ModelQuestion::read(inputs, place).ok()?;
    let plan = Plan::new(question.request(question.workload)).ok()?;
    let known = !question.estimate().ok()?.link_unknown;
    Some(sweep(&question, against, room(&question, &plan), known))
}

/// Computes the answer at every batch or context of the chart.
fn sweep(
    question: &ModelQuestion<'_>,
    against: CurveAxis,
    room: LargestFit,
    known: bool,
) -> CurveSweep {
    let w = question.workload;
    let (here, last, fits_up_to) = match against {
        CurveAxis::Batch => (w.batch, w.batch.max(BATCHES), room.batch),
        CurveAxis::Context => {
            let longest = question.arch.max_context.unwrap_or(CONTEXTS).min(MAX_TOKENS);
            (w.context, longest.max(w.context).max(2 * FIRST_CONTEXT), room.tokens)
        }
    };
    let first = if against == CurveAxis::Batch { 1 } else { FIRST_CONTEXT.min(here.max(1)) };
    let rows: Vec<SweepRow> = steps(first, last, here)
        .into_iter()
        .filter_map(|at| row(question, against, at, fits_up_to))
        .collect();
    let crossing = crossing(question, against, &rows);
    let cutoff = (fits_up_to < last).then_some(fits_up_to);
    CurveSweep {
        against,
        words: words(
            (against, longest(question, against), w.context),
            rows.first().map(|row| row.limiter),
            crossing,
            fits_up_to,
        ),
        curves: Curves {
            x_name: match against {
                CurveAxis::Batch => "batch, sequences".to_owned(),
                CurveAxis::Context => "context, tokens".to_owned(),
            },
            panels: [
                panel("token/s in total", &rows, known, |row| row.throughput),
                panel("time per token, ms", &rows, known, |row| {
                    row.latency.map(|time| time.get() * 1e3)
                }),
            ],
            limit: cutoff.map(|at| Marker { at: at as f64, label: "memory ends".to_owned() }),
            crossing: crossing.map(|(at, limiter)| Marker {
                at: at as f64,
                label: format!("{} limits", limiter_name(limiter)),
            }),
            here: rows.iter().position(|row| row.at == here),
        },
        rows,
    }
}

fn panel(
    name: &str,
    rows: &[SweepRow],
    known: bool,
    value: impl Fn(&SweepRow) -> [f64; 2],
) -> Panel {
    let curve = |place: usize, name: &str, dashed| Curve {
        name: name.to_owned(),
        points: rows.iter().map(|row| (row.at as f64, value(row)[place])).collect(),
        dashed,
    };
    let mut curves = vec![curve(0, "ideal", true)];
    if known {
        curves.push(curve(1, "expected", false));
    }
    Panel { name: name.to_owned(), curves }
}

/// Powers of two and the midpoints between them, both ends, and the user's own value.
fn steps(first: u64, last: u64, here: u64) -> Vec<u64> {
    let mut steps = Vec::with_capacity(MOST_COLUMNS);
    let mut power = first.next_power_of_two();
    let mut add = |at: u64| {
        let before = steps.last().copied().unwrap_or(0);
        if before < here && here < at {
            steps.push(here.max(first));
        }
        if at > steps.last().copied().unwrap_or(0) {
            steps.push(at);
        }
    };
    add(first);
    while power < last {
        add(power);
        if power > 1 && power + power / 2 < last {
            add(power + power / 2);
        }
        power *= 2;
    }
    add(last);
    steps
}

fn workload(question: &ModelQuestion<'_>, against: CurveAxis, at: u64) -> Workload {
    // Only the decode step is computed, so prompt and new tokens do not matter.
    let w = Workload { new_tokens: 1, ..question.workload };
    match against {
        CurveAxis::Batch => Workload { batch: at, ..w },
        CurveAxis::Context => Workload { context: at, ..w },
    }
}

fn row(
    question: &ModelQuestion<'_>,
    against: CurveAxis,
    at: u64,
    fits_up_to: u64,
) -> Option<SweepRow> {
    let w = workload(question, against, at);
    let plan = Plan::new(question.request(w)).ok()?;
    let draft = plan.draft().ok()?;
    let Span { ideal, expected } = plan.token(draft.as_ref(), w.context);
    let rate = |time: Seconds| w.batch as f64 / time.get();
    Some(SweepRow {
        at,
        throughput: [rate(ideal), rate(expected.time)],
        latency: [ideal, expected.time],
        interval: [expected.low, expected.high],
        limiter: plan.step(Step::decode(w.batch, w.context)).expected_resource(),
        fits: at <= fits_up_to,
    })
}

/// The first value at which the limiting resource differs from the one at the start.
fn crossing(
    question: &ModelQuestion<'_>,
    against: CurveAxis,
    rows: &[SweepRow],
) -> Option<(u64, Resource)> {
    let first = rows.first()?.limiter;
    let place = rows.iter().position(|row| row.limiter != first)?;
    let (before, after) = (rows.get(place - 1)?.at, rows.get(place)?);
    let is_before = |more: u64| {
        let w = workload(question, against, before + more);
        Plan::new(question.request(w)).is_ok_and(|plan| {
            plan.step(Step::decode(w.batch, w.context)).expected_resource() == first
        })
    };
    Some((before + largest(after.at - before, is_before) + 1, after.limiter))
}

/// Longest context that the model supports.
fn longest(question: &ModelQuestion<'_>, against: CurveAxis) -> Option<u64> {
    question.arch.max_context.filter(|_| against == CurveAxis::Context)
}

/// A name at the start of a sentence.
fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}

fn words(
    (against, longest, context): (CurveAxis, Option<u64>, u64),
    first: Option<Resource>,
    crossing: Option<(u64, Resource)>,
    fits_up_to: u64,
) -> String {
    let name = against.name().to_ascii_lowercase();
    let most = if against == CurveAxis::Batch { MAX_BATCH } else { MAX_TOKENS };
    let memory = match fits_up_to {
        0 => format!("No {name} fits."),
        more if longest.is_some_and(|longest| longest < more) => {
            format!("Memory holds any {name} that the model is made for.")
        }
        all if all == most => format!("Memory sets no limit to the {name}."),
        limit => format!("Memory ends after {name} {}.", text::count(limit)),
    };
    let limit = match crossing {
        None => format!(
            "{} limits all along.",
            capital(limiter_name(first.unwrap_or(Resource::Memory)))
        ),
        Some((at, limiter)) => {
            format!("From {} on, {} limits.", text::count(at), limiter_name(limiter))
        }
    };
    match against {
        CurveAxis::Batch => {
            format!("Steps at context {}. {memory} {limit}", text::count(context))
        }
        CurveAxis::Context => format!("{memory} {limit}"),
    }
}

#[cfg(test)]
mod tests;
