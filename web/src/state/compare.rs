//! The Compare view: two to four scenarios as columns, with the differences from the first one.
//! Every column is an answer of the Plan view; nothing is computed a second time.

pub mod delta;
pub mod names;
pub mod offers;
pub mod pinning;
mod rows;
mod verdict;

use std::sync::Arc;

use chart::mark::Mark;
use chart::spans::{Span, SpanTime, Spans};
use report::output::words::advice::capital;

use super::fragment;
use super::inputs::Inputs;
use super::model::question::Question;
use super::plan::{self, InCards, PlanShown};
use super::{goal::Bound, pins, url};

pub use delta::{Delta, Tone};
pub use rows::{CompareCell, CompareRow};

/// A scenario with the answer of the Plan view.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioAnswer {
    pub inputs: Inputs,
    pub shown: PlanShown,
}

impl ScenarioAnswer {
    /// The scheme in the cards, where there is one.
    fn in_cards(&self) -> Option<&InCards> {
        self.shown.answer.in_cards.as_ref()
    }

    /// The scheme in the cards if it runs and its times are known.
    fn running(&self) -> Option<&InCards> {
        let is_known = !self.shown.model.answer.estimate.link_unknown;
        self.in_cards().filter(|_| is_known && self.shown.answer.no_speed.is_none())
    }

    /// Why there is no speed; empty if there is one.
    fn no_speed(&self) -> String {
        if self.shown.model.answer.estimate.link_unknown {
            return "The bandwidth of the link between the devices is not known.".to_owned();
        }
        self.shown.answer.no_speed.clone().unwrap_or_default()
    }

    fn mark(&self) -> Option<Mark> {
        let answer = &self.shown.answer;
        answer.rows.iter().find(|row| row.key == answer.chosen).map(|row| row.mark)
    }
}

/// A pinned scenario, or the reason why it cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
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
    pub columns: Vec<Column>,
    /// All rows, also those that are equal.
    pub rows: Vec<CompareRow>,
    pub chart: Spans,
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
    let (list, carried) = if inputs.pins.list.is_empty() {
        own = vec![pins::text(inputs)];
        (&own, fragment::parts(inputs))
    } else {
        (&inputs.pins.list, inputs.pins.carried.clone())
    };
    let mut columns: Vec<Column> = list
        .iter()
        .map(|pin| Column {
            pin: pin.clone(),
            name: String::new(),
            answered: answer(before, pin, &carried),
        })
        .collect();
    let common = names::name(&mut columns);
    let (sentence, line) = verdict::verdict(&columns);
    CompareShown {
        sentence,
        line,
        common,
        faults: faults(&columns),
        rows: rows::rows(&columns),
        chart: chart(&columns),
        columns,
    }
}

/// The answer to a scenario: the one of before if nothing of it changed.
fn answer(
    before: Option<&CompareShown>,
    pin: &str,
    carried: &[fragment::Part],
) -> Result<Arc<ScenarioAnswer>, String> {
    let inputs = url::scenario(pin, carried)?;
    let mut known = before.into_iter().flat_map(CompareShown::answered);
    if let Some(known) = known.find(|known| known.inputs == inputs) {
        return Ok(known.clone());
    }
    let mut wrong: Vec<String> = match Question::read(&inputs.model, inputs.place()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.into_iter().map(|fault| capital(&fault.text)).collect(),
    };
    wrong.extend(Bound::ALL.into_iter().filter_map(|bound| inputs.goal.value(bound).err()));
    if !wrong.is_empty() {
        return Err(wrong.join(" "));
    }
    let shown = plan::next(None, &inputs);
    Ok(Arc::new(ScenarioAnswer { inputs, shown }))
}

fn faults(columns: &[Column]) -> Vec<String> {
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

/// Whole answers as marks; of single tokens, the time per token.
fn chart(columns: &[Column]) -> Spans {
    let is_long = |column: &Column| {
        let answered = column.answered.as_ref().ok();
        answered.is_some_and(|answered| rows::new_tokens(answered) > 1)
    };
    let whole = columns.iter().any(is_long);
    let row = |(place, column): (usize, &Column)| {
        let time = match &column.answered {
            Err(_) => Err("cannot be read".to_owned()),
            Ok(answered) => span_time(answered, whole).ok_or_else(|| answered.no_speed()),
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
mod tests {
    use super::*;
    use report::number_text::SPACE;

    fn compared(query: &str) -> CompareShown {
        let (inputs, _) = url::read(query);
        next(None, &inputs)
    }

    fn plain(text: &str) -> String {
        text.replace([SPACE, '\u{a0}'], " ")
    }

    const ORINS: &str = "?view=compare&c=d:jetson_orin_nano_8gb_super,prompt:4096&c=d:jetson_agx_orin_64gb,prompt:4096";

    #[test]
    fn orin_nano_against_agx_orin_says_who_wins_and_why() {
        let shown = compared(ORINS);
        assert_eq!(shown.faults, Vec::<String>::new());
        let sentence = plain(&shown.sentence);
        assert!(
            sentence.starts_with("Jetson AGX Orin 64GB") && sentence.contains("× faster"),
            "{sentence}"
        );
        assert!(shown.line.contains("the prompt waits for arithmetic"), "{}", shown.line);
        let short = compared(&ORINS.replace("prompt:4096", "prompt:64"));
        let line = plain(&short.line);
        assert!(line.contains("204.8 GB/s instead of 102.4 GB/s (2 × as much)"), "{line}");
        assert!(shown.common.starts_with("Llama-3.1 8B on … "), "{}", shown.common);
        let rate = shown.rows.iter().find(|row| row.name == rows::RATE).expect("a row");
        assert!(rate.differs && rate.cells[0].delta.is_none());
        assert!(rate.cells[1].delta.as_ref().is_some_and(|delta| delta.tone == Tone::Better));
        assert!(shown.chart.rows.iter().all(|row| row.time.is_ok()));
        assert!(shown.spoken(Some("1")).starts_with("Jetson AGX Orin 64GB: Whole answer "));
        assert_eq!(shown.spoken(None), "");
        assert_eq!(shown.shown_rows(false).iter().find(|row| !row.differs), None);
        assert!(shown.shown_rows(true).len() > shown.shown_rows(false).len());
    }

    #[test]
    fn what_does_not_fit_shows_no_speed() {
        let shown = compared(
            "?view=compare&c=d:jetson_orin_nano_8gb_super&c=d:jetson_orin_nano_8gb_super,scheme:half",
        );
        let name = &shown.columns[1].name;
        assert_eq!(name, "16 bits");
        assert!(shown.sentence.starts_with("Only the best scheme fits: "), "{}", shown.sentence);
        for row in shown
            .rows
            .iter()
            .filter(|row| [rows::RATE, "First token", "Whole answer", "Energy"].contains(&row.name))
        {
            assert_eq!(row.cells[1].text, "", "{row:?}");
        }
        let fits = shown.rows.iter().find(|row| row.name == "Fits").expect("a row");
        assert!(fits.cells[1].text.starts_with("Does not fit: "), "{fits:?}");
        assert!(shown.chart.rows[1].time.is_err());
    }

    #[test]
    fn one_user_against_sixteen_says_what_all_and_what_each_get() {
        let shown = compared("?view=compare&c=d:h100_sxm&c=d:h100_sxm,batch:16");
        assert_eq!(shown.columns[1].name, "16 users");
        let sentence = plain(&shown.sentence);
        assert!(sentence.starts_with("16 users get ") && sentence.contains(" each"), "{sentence}");
    }

    #[test]
    fn unreadable_lonely_and_equal_columns_are_said() {
        let gone = compared("?view=compare&c=d:gone&c=d:t4");
        assert!(gone.columns[0].answered.as_ref().is_err_and(|text| text.contains("no device")));
        assert_eq!(gone.columns[0].name, "Column 1");
        assert!(gone.faults[0].contains("one scenario so far"), "{:?}", gone.faults);
        assert!(gone.rows.iter().all(|row| row.cells[0].text.is_empty()));
        let nothing = compared("?view=compare&c=%F0%9F%92%A9&c=,,,:");
        assert!(nothing.faults[0].contains("can be read"), "{:?}", nothing.faults);
        let same = compared("?view=compare&c=d:t4&c=d:t4");
        assert!(same.faults[0].contains("Column 2 is the same scenario as column 1"));
        assert_eq!(same.columns[1].name, "Column 2");
        let wrong = compared("?view=compare&c=d:t4,batch:0&c=d:t4,loss:x");
        let errors: Vec<_> =
            wrong.columns.iter().map(|column| column.answered.as_ref().err()).collect();
        assert!(
            errors.iter().all(|error| error.is_some_and(|text| !text.is_empty())),
            "{errors:?}"
        );
        let alone = compared("?view=compare&d=t4");
        assert_eq!((alone.columns.len(), alone.faults.len()), (1, 1));
    }

    #[test]
    fn answers_are_kept_while_columns_move() {
        let (mut inputs, _) = url::read(ORINS);
        let before = next(None, &inputs);
        inputs.pins.list.reverse();
        let after = next(Some(&before), &inputs);
        let [a, b] = [&before.columns[0], &after.columns[1]].map(|column| column.answered.as_ref());
        assert!(Arc::ptr_eq(a.expect("readable"), b.expect("readable")));
    }

    #[test]
    fn every_device_beside_the_default_one_has_a_sentence() {
        for device in calc_core::catalog::devices::all().step_by(3) {
            let shown = compared(&format!(
                "?view=compare&c=d:jetson_orin_nano_8gb_super&c=d:{}",
                device.key
            ));
            assert!(!shown.sentence.is_empty(), "{}", device.key);
        }
    }
}
