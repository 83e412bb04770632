//! The Compare view: two to four scenarios as columns, with the differences from the first one.
//! Every column is an answer of the Plan view; nothing is computed a second time.

pub mod delta;
pub mod names;
pub mod offers;
pub mod pinning;
mod room;
mod rows;
pub mod schemes;
mod verdict;

use std::sync::Arc;

use calc_core::units::Seconds;
use chart::mark::Mark;
use chart::spans::{Span, SpanTime, Spans};
use report::output::words::advice::capital;

use super::fragment;
use super::inputs::Inputs;
use super::model::question::ModelQuestion;
use super::plan::{self, CardScheme, PlanShown};
use super::{goal::Bound, pins, place::disturbed_roofs, url};
use delta::{ComparedNumber, ErrorSource};
use room::UserRoom;

pub use delta::{Delta, Tone};
pub use rows::{CompareCell, CompareRow};
pub use schemes::SchemeChange;

/// A scenario with the answer of the Plan view.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioAnswer {
    pub inputs: Inputs,
    pub shown: PlanShown,
    /// How many users fit.
    pub room: Option<UserRoom>,
}

impl ScenarioAnswer {
    /// The scheme in the cards, where there is one.
    fn in_cards(&self) -> Option<&CardScheme> {
        self.shown.answer.in_cards.as_ref()
    }

    /// The scheme in the cards if it runs and its times are known.
    fn running(&self) -> Option<&CardScheme> {
        let is_known = !self.shown.model.answer.estimate.link_unknown;
        self.in_cards().filter(|_| is_known && self.shown.answer.no_speed.is_none())
    }

    /// Why there is no speed, in a few words; empty if there is one.
    fn no_speed(&self) -> &'static str {
        if self.is_short() {
            "does not fit"
        } else if self.in_cards().is_none() {
            "no scheme meets the bounds"
        } else if self.running().is_none() {
            "the bandwidth of the link between the devices is not known"
        } else {
            ""
        }
    }

    /// True if there is less memory than the scheme in the cards needs, or than any scheme needs for these users.
    fn is_short(&self) -> bool {
        let users = self.shown.model.answer.memory.workload.batch;
        match self.in_cards() {
            Some(found) => !found.outcome.verdict().may_fit(),
            None => self.room.is_some_and(|room| room.users < users),
        }
    }

    /// Number of new tokens.
    fn new_tokens(&self) -> u64 {
        self.shown.model.answer.memory.workload.new_tokens
    }

    /// The compared time: the whole answer, or of a single token its own.
    fn time(&self) -> Option<ComparedNumber> {
        let outcome = self.running()?.outcome;
        let expected = if self.new_tokens() > 1 { outcome.whole } else { outcome.token.expected };
        let [value, low, high] = [expected.time, expected.low, expected.high].map(Seconds::get);
        Some(ComparedNumber { value, low, high, source: self.error_source() })
    }

    /// Where the errors of the times come from.
    fn error_source(&self) -> Option<ErrorSource> {
        let found = self.in_cards()?;
        Some(ErrorSource {
            device: self.inputs.device.key.to_string(),
            engine: self.inputs.model.engine,
            scheme: found.scheme.key,
            users: found.users,
        })
    }

    /// Energy of what the time is compared of; its interval is that of the time.
    fn energy(&self) -> Option<ComparedNumber> {
        let (outcome, time) = (self.running()?.outcome, self.time()?);
        let value = if self.new_tokens() > 1 {
            outcome.whole_energy?.get() * self.new_tokens() as f64
        } else {
            outcome.token.energy?.per_token.get()
        };
        let [low, high] = [time.low, time.high].map(|end| value * (end / time.value));
        // The draw at idle is assumed, and in each power mode for itself.
        Some(ComparedNumber { value, low, high, source: None })
    }

    fn mark(&self) -> Option<Mark> {
        let answer = &self.shown.answer;
        answer.rows.iter().find(|row| row.key == answer.chosen).map(|row| row.mark)
    }
}

/// A pinned scenario, or the reason why it cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareColumn {
    /// The scenario as it stands in the address.
    pub pin: String,
    /// The points in which it differs from the other columns.
    pub name: String,
    /// The answer, or what cannot be read, in sentences.
    pub answered: Result<Arc<ScenarioAnswer>, String>,
}

/// The comparison as it is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompareShown {
    /// Who wins by how much, and why.
    pub sentence: String,
    /// The reason, and the columns that have no speed.
    pub line: String,
    /// The scenario line that all columns share, with "…" where they differ.
    pub common: String,
    /// Why the comparison is not whole: too few columns, or the same one twice.
    pub faults: Vec<String>,
    /// Reasons to doubt the roofs of a device, once for each device.
    pub warnings: Vec<String>,
    pub columns: Vec<CompareColumn>,
    /// All rows, also those that are equal.
    pub rows: Vec<CompareRow>,
    pub chart: Spans,
    /// A click that changes the scheme of all columns.
    pub hold: Option<SchemeChange>,
}

impl CompareShown {
    /// The rows to show: those that differ, or all if there is nothing to differ from.
    pub fn shown_rows(&self, all: bool) -> Vec<CompareRow> {
        let all = all || self.answered().count() < 2;
        self.rows.iter().filter(|row| all || row.differs).cloned().collect()
    }

    /// Scenario of the first column that can be read.
    pub fn first(&self) -> Option<&Inputs> {
        self.answered().map(|answered| &answered.inputs).next()
    }

    fn answered(&self) -> impl Iterator<Item = &Arc<ScenarioAnswer>> {
        self.columns.iter().filter_map(|column| column.answered.as_ref().ok())
    }

    /// A column of the chart in words, for the reader at the keyboard.
    pub fn spoken(&self, key: Option<&str>) -> String {
        let place = self.chart.rows.iter().position(|row| Some(row.key.as_str()) == key);
        let Some((place, column)) = place.and_then(|at| Some((at, self.columns.get(at)?))) else {
            return String::new();
        };
        let told = |name: &str| {
            let row = self.rows.iter().find(|row| row.name == name)?;
            let cell = row.cells.get(place)?;
            (!cell.text.is_empty()).then(|| format!("{name} {} {}", cell.text, cell.beside))
        };
        let told: Vec<String> =
            ["Whole answer", rows::RATE, "Fits"].into_iter().filter_map(told).collect();
        format!("{}: {}", column.name, told.join(", "))
    }
}

/// The comparison of the pinned scenarios; without one, the scenario of the inputs alone. Answers of before are kept.
pub fn next(before: Option<&CompareShown>, inputs: &Inputs) -> CompareShown {
    let own;
    let (list, fragment_parts) = if inputs.pins.list.is_empty() {
        own = vec![pins::text(inputs)];
        (&own, fragment::parts(inputs))
    } else {
        (&inputs.pins.list, inputs.pins.fragment_parts.clone())
    };
    let mut columns: Vec<CompareColumn> = list
        .iter()
        .map(|pin| CompareColumn {
            pin: pin.clone(),
            name: String::new(),
            answered: answer(before, pin, &fragment_parts),
        })
        .collect();
    let common = names::name(&mut columns);
    let (sentence, line) = verdict::verdict(&columns);
    CompareShown {
        sentence,
        line,
        common,
        faults: faults(&columns),
        warnings: warnings(&columns),
        rows: rows::rows(&columns),
        chart: chart(&columns),
        hold: schemes::hold(&columns),
        columns,
    }
}

/// The answer to a scenario: the one of before if nothing of it changed.
fn answer(
    before: Option<&CompareShown>,
    pin: &str,
    fragment_parts: &[fragment::FragmentPart],
) -> Result<Arc<ScenarioAnswer>, String> {
    let inputs = url::scenario(pin, fragment_parts)?;
    let mut known = before.into_iter().flat_map(CompareShown::answered);
    if let Some(known) = known.find(|known| known.inputs == inputs) {
        return Ok(known.clone());
    }
    let mut wrong: Vec<String> = match ModelQuestion::read(&inputs.model, inputs.place()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.into_iter().map(|fault| capital(&fault.text)).collect(),
    };
    wrong.extend(Bound::ALL.into_iter().filter_map(|bound| inputs.goal.value(bound).err()));
    if !wrong.is_empty() {
        return Err(wrong.join(" "));
    }
    let shown = plan::next(None, &inputs);
    let room = room::room(&inputs, &shown);
    Ok(Arc::new(ScenarioAnswer { inputs, shown, room }))
}

fn faults(columns: &[CompareColumn]) -> Vec<String> {
    let mut faults = Vec::new();
    match columns.iter().filter(|column| column.answered.is_ok()).count() {
        0 => faults.push("No scenario of this comparison can be read.".to_owned()),
        1 => faults
            .push("There is one scenario so far; add another one to compare it with.".to_owned()),
        _ => {}
    }
    for (place, column) in columns.iter().enumerate() {
        let same = columns[..place].iter().position(|other| other.pin == column.pin);
        faults.extend(same.map(|same| {
            format!("Column {} is the same scenario as column {}.", place + 1, same + 1)
        }));
    }
    faults
}

/// Roofs that were disturbed while they were measured, by device.
fn warnings(columns: &[CompareColumn]) -> Vec<String> {
    let mut said = Vec::new();
    for answered in columns.iter().filter_map(|column| column.answered.as_ref().ok()) {
        let device = &answered.inputs.device;
        let why = disturbed_roofs(device);
        let line = format!("{}: {why}", device.name);
        if !why.is_empty() && !said.contains(&line) {
            said.push(line);
        }
    }
    said
}

/// Whole answers as marks; of single tokens, the time per token.
fn chart(columns: &[CompareColumn]) -> Spans {
    let is_long = |column: &CompareColumn| {
        let answered = column.answered.as_ref().ok();
        answered.is_some_and(|answered| answered.new_tokens() > 1)
    };
    let whole = columns.iter().any(is_long);
    let row = |(place, column): (usize, &CompareColumn)| {
        let time = match &column.answered {
            Err(_) => Err("cannot be read".to_owned()),
            Ok(answered) => {
                span_time(answered, whole).ok_or_else(|| answered.no_speed().to_owned())
            }
        };
        Span { key: format!("{place}"), label: column.name.clone(), time }
    };
    let what = if whole { "Whole answer" } else { "Time per token" };
    let rows = columns.iter().enumerate().map(row).collect();
    Spans { time_name: format!("{what}, expected"), rows }
}

fn span_time(answered: &ScenarioAnswer, whole: bool) -> Option<SpanTime> {
    let outcome = &answered.running()?.outcome;
    let estimate = &answered.shown.model.answer.estimate;
    let (expected, ideal) = if whole {
        (outcome.whole, estimate.end_to_end_ideal)
    } else {
        (outcome.token.expected, outcome.token.ideal)
    };
    Some(SpanTime {
        mark: answered.mark()?,
        expected: expected.time,
        low: expected.low,
        high: expected.high,
        ideal,
    })
}

#[cfg(test)]
mod tests;
