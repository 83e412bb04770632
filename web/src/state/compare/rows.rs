//! The rows of the comparison: texts of each column, and their differences from the first.

use calc_core::estimate::PhaseEstimate;
use calc_core::expected::Expected;
use calc_core::plan::Limit;
use calc_core::units::{Joules, Seconds, TokensPerSec};
use chart::mark::Mark;
use report::number_text as text;
use report::output::words::advice;

use super::super::plan::{CardScheme, ways_of};
use super::delta::{ComparedNumber, Delta, Quantity, Tone, delta, judged};
use super::room::UserRoom;
use super::{CompareColumn, ScenarioAnswer};

/// Name of the row that the chart reads out, too.
pub(super) const RATE: &str = "Decode rate";

/// Name of the row with the energy of the same part as the compared time.
pub(super) const WHOLE_ENERGY: &str = "Energy, whole answer";

/// A cell: a text, what stands below it, and the difference from the first column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompareCell {
    /// Empty where the column has no such number.
    pub text: String,
    /// Interval or remark.
    pub beside: String,
    pub delta: Option<Delta>,
    /// Mark of the scheme, in the row of schemes.
    pub mark: Option<Mark>,
    number: Option<ComparedNumber>,
}

impl CompareCell {
    fn of(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    fn number(text: String, beside: String, number: ComparedNumber) -> Self {
        Self { text, beside, number: Some(number), ..Self::default() }
    }
}

/// A row of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRow {
    pub name: &'static str,
    /// A cell for each column.
    pub cells: Vec<CompareCell>,
    /// The columns that can be read differ.
    pub differs: bool,
    /// Commands, which are set in a fixed width.
    pub is_code: bool,
}

/// All rows, the most asked first.
pub(super) fn rows(columns: &[CompareColumn]) -> Vec<CompareRow> {
    let row = |name,
               quantity: Option<Quantity>,
               cell: &dyn Fn(&ScenarioAnswer) -> Option<CompareCell>| {
        build(name, columns, quantity, cell)
    };
    let has_several_users = columns
        .iter()
        .filter_map(|column| column.answered.as_ref().ok()?.in_cards())
        .any(|found| found.users > 1);
    let mut rows = vec![
        row("Scheme", None, &|answered| Some(scheme(answered))),
        judged_by_fit(row("Fits", Some(Quantity::Need), &fits), columns),
        row("Users that fit", None, &users_that_fit),
        row(RATE, Some(Quantity::Rate), &|answered| rate(answered, 1.0)),
        row("Rate of each user", Some(Quantity::Rate), &|answered| {
            rate(answered, answered.in_cards()?.users as f64).filter(|_| has_several_users)
        }),
        row("First token", Some(Quantity::Time), &|answered| {
            Some(time(answered, &answered.running()?.outcome.ttft))
        }),
        row("Whole answer", Some(Quantity::Time), &|answered| {
            let running = answered.running()?;
            (answered.new_tokens() > 1).then(|| time(answered, &running.outcome.whole))
        }),
        traded(
            row(WHOLE_ENERGY, Some(Quantity::Cost), &|answered| energy(answered, true)),
            columns,
        ),
        traded(
            row("Energy per token", Some(Quantity::Cost), &|answered| energy(answered, false)),
            columns,
        ),
        row("Quality", Some(Quantity::Loss), &quality),
        row("Decode waits for", None, &|answered| {
            answered.running()?;
            Some(CompareCell::of(waits(&answered.shown.model.answer.estimate.middle)))
        }),
        row("Prompt waits for", None, &|answered| {
            answered.running()?;
            Some(CompareCell::of(waits(&answered.shown.model.answer.estimate.prefill)))
        }),
        row("Bandwidth", Some(Quantity::Supply), &bandwidth),
        row("Peak", Some(Quantity::Supply), &peak),
    ];
    rows.extend(
        ["Weights", "KV cache", "Activations", "Reserve"]
            .map(|name| row(name, Some(Quantity::Need), &|answered| memory_part(answered, name))),
    );
    let command = row("Command", None, &command);
    rows.push(CompareRow { is_code: true, ..command });
    rows.retain(|row| row.cells.iter().any(|cell| !cell.text.is_empty()));
    rows
}

fn build(
    name: &'static str,
    columns: &[CompareColumn],
    quantity: Option<Quantity>,
    cell: &dyn Fn(&ScenarioAnswer) -> Option<CompareCell>,
) -> CompareRow {
    let of = |column: &CompareColumn| column.answered.as_ref().ok().and_then(|found| cell(found));
    let mut cells: Vec<CompareCell> =
        columns.iter().map(|column| of(column).unwrap_or_default()).collect();
    let first = cells.first().and_then(|cell| cell.number.clone());
    if let (Some(quantity), Some(first)) = (quantity, first) {
        for cell in cells.iter_mut().skip(1) {
            cell.delta = cell.number.as_ref().and_then(|number| delta(quantity, &first, number));
        }
    }
    let mut read = columns.iter().zip(&cells).filter(|(column, _)| column.answered.is_ok());
    let said = |cell: &CompareCell| (cell.text.clone(), cell.beside.clone());
    let own = read.next().map(|(_, cell)| said(cell));
    let differs = read.any(|(_, cell)| Some(said(cell)) != own);
    CompareRow { name, cells, differs, is_code: false }
}

/// The differences of a row on memory, judged where one column fits and the other does not.
fn judged_by_fit(mut row: CompareRow, columns: &[CompareColumn]) -> CompareRow {
    let fits: Vec<bool> = columns
        .iter()
        .map(|column| column.answered.as_ref().is_ok_and(|answered| !answered.is_short()))
        .collect();
    for (cell, fits_here) in row.cells.iter_mut().zip(&fits) {
        cell.delta = match cell.delta.take() {
            Some(found) if *fits_here != fits[0] => Some(judged(&found.text, *fits_here)),
            other => other,
        };
    }
    row
}

/// The differences of a row on energy. Where less of it takes longer, or more of it less long, that is said, not judged.
fn traded(mut row: CompareRow, columns: &[CompareColumn]) -> CompareRow {
    let time = |column: &CompareColumn| column.answered.as_ref().ok()?.time();
    let first = columns
        .first()
        .and_then(|column| Some((column.answered.as_ref().ok()?.energy()?, time(column)?)));
    for (cell, column) in row.cells.iter_mut().zip(columns).skip(1) {
        let (Some(found), Some((energy, before))) = (&cell.delta, &first) else { continue };
        let slower = time(column).and_then(|time| delta(Quantity::Time, before, &time));
        let amount = cell.number.as_ref().and_then(|own| delta(Quantity::Need, energy, own));
        if let (Some(slower), Some(amount)) = (slower, amount)
            && ![found.tone, slower.tone].contains(&Tone::Unclear)
            && slower.tone != found.tone
        {
            let text = format!("{}, but {}", amount.text, slower.text);
            cell.delta = Some(Delta { text, tone: Tone::Plain });
        }
    }
    row
}

fn scheme(answered: &ScenarioAnswer) -> CompareCell {
    let answer = &answered.shown.answer;
    let Some(CardScheme { scheme, is_picked, .. }) = answered.in_cards() else {
        let beside = if answered.is_short() { String::new() } else { answer.line.clone() };
        return CompareCell { beside, ..CompareCell::of(answer.sentence.clone()) };
    };
    // The row on memory says what does not fit.
    let refused =
        answer.rows.iter().find(|row| row.key == answer.chosen && answer.no_speed.is_none());
    let beside = match refused.and_then(|row| row.refused.clone()) {
        Some(reason) => reason,
        None if *is_picked => "picked".to_owned(),
        None => "recommended".to_owned(),
    };
    CompareCell { mark: answered.mark(), beside, ..CompareCell::of(advice::scheme_name(scheme)) }
}

/// The card on memory: what is needed of what is usable, and what is left or short.
fn fits(answered: &ScenarioAnswer) -> Option<CompareCell> {
    if answered.in_cards().is_none() && answered.is_short() {
        let beside = answered.shown.answer.line.clone();
        return Some(CompareCell { beside, ..CompareCell::of("Does not fit".to_owned()) });
    }
    let card = answered.shown.answer.cards.first()?;
    let verdict = if card.name == "Fits" { String::new() } else { format!("{}: ", card.name) };
    let text = format!("{verdict}{} {}", card.number.text, card.beside);
    let beside = card.lines.first().cloned().unwrap_or_default();
    let needs = ComparedNumber::exact(answered.in_cards()?.outcome.memory.get());
    Some(CompareCell::number(text, beside, needs))
}

/// The most users that fit, the length that each of them has, and the scheme if it is not the one in the cards.
fn users_that_fit(answered: &ScenarioAnswer) -> Option<CompareCell> {
    let UserRoom { users, scheme } = answered.room?;
    let tokens = text::count(answered.shown.model.answer.memory.workload.longest());
    let beside = match answered.in_cards() {
        Some(_) => format!("with {tokens} tokens each"),
        None => format!("with {tokens} tokens each, in {}", advice::scheme_name(scheme)),
    };
    Some(CompareCell { beside, ..CompareCell::of(text::count(users)) })
}

/// Tokens per second of all users, divided among `users`.
fn rate(answered: &ScenarioAnswer, users: f64) -> Option<CompareCell> {
    let running = answered.running()?;
    let Expected { time, low, high, .. } = running.outcome.token.expected;
    let rate = |time: Seconds| running.users as f64 / users / time.get();
    let number = ComparedNumber {
        value: rate(time),
        low: rate(high),
        high: rate(low),
        source: answered.error_source(),
    };
    let shown = text::token_rate(TokensPerSec::new(number.value));
    let interval = format!("{}–{}", text::short(number.low, 3), text::short(number.high, 3));
    Some(CompareCell::number(shown, interval, number))
}

fn time(answered: &ScenarioAnswer, expected: &Expected) -> CompareCell {
    let Expected { time, low, high, .. } = *expected;
    let [value, low_end, high_end] = [time, low, high].map(Seconds::get);
    let source = answered.error_source();
    let number = ComparedNumber { value, low: low_end, high: high_end, source };
    CompareCell::number(text::time(time), text::time_range(low, high), number)
}

/// Energy of the prompt and all tokens of one answer, or of a single token where only one is asked for.
fn energy(answered: &ScenarioAnswer, whole: bool) -> Option<CompareCell> {
    let number = answered.energy().filter(|_| whole == (answered.new_tokens() > 1))?;
    let [shown, low, high] =
        [number.value, number.low, number.high].map(|value| text::energy(Joules::new(value)));
    let what = if whole { ", prompt and answer" } else { "" };
    Some(CompareCell::number(shown, format!("{low} to {high}{what}"), number))
}

fn quality(answered: &ScenarioAnswer) -> Option<CompareCell> {
    let loss = answered.in_cards()?.quality;
    let number = ComparedNumber { low: loss.low, ..ComparedNumber::exact(loss.high) };
    Some(CompareCell::number(advice::quality(&loss), String::new(), number))
}

/// The resource that a step waits for in the expected time.
fn waits(phase: &PhaseEstimate) -> String {
    let traffic = &phase.totals.cost.traffic;
    let parts = [
        ("weights", traffic.weights),
        ("KV cache", traffic.kv_cache),
        ("activations", traffic.activations),
    ];
    let [first, others @ ..] = parts;
    let largest =
        others.into_iter().fold(first, |best, part| if part.1 > best.1 { part } else { best });
    match phase.totals.limit() {
        Limit::Links => "links between devices".to_owned(),
        Limit::Host => "the host".to_owned(),
        Limit::Launch => "launching of kernels".to_owned(),
        Limit::Memory => {
            format!("memory, {} {}", text::percent(largest.1 / traffic.total()), largest.0)
        }
        Limit::Compute => "arithmetic".to_owned(),
    }
}

fn bandwidth(answered: &ScenarioAnswer) -> Option<CompareCell> {
    let bandwidth = answered.shown.model.answer.estimate.bandwidth;
    answered.in_cards()?;
    Some(CompareCell::number(
        text::published_bandwidth(bandwidth),
        String::new(),
        ComparedNumber::exact(bandwidth.get()),
    ))
}

/// The peak that the matrix products of the layers run on.
fn peak(answered: &ScenarioAnswer) -> Option<CompareCell> {
    answered.in_cards()?;
    let path = answered.shown.model.answer.estimate.paths.layer;
    Some(CompareCell::number(
        text::published_rate(path.peak, path.class),
        path.class.key().to_ascii_uppercase(),
        ComparedNumber::exact(path.peak.get()),
    ))
}

fn memory_part(answered: &ScenarioAnswer, name: &str) -> Option<CompareCell> {
    answered.in_cards()?;
    let parts = &answered.shown.model.answer.memory.parts;
    let part = parts.iter().find(|part| part.name == name)?;
    let number = ComparedNumber::exact(part.bytes.get());
    Some(CompareCell::number(part.size.text.clone(), String::new(), number))
}

fn command(answered: &ScenarioAnswer) -> Option<CompareCell> {
    answered.running()?;
    let way = ways_of(&answered.shown, &answered.inputs).into_iter().next()?;
    Some(CompareCell { beside: way.tool, ..CompareCell::of(way.text) })
}
