//! The answer of the worker as the page shows it: rows in an order, the chart, a point in words and as a scenario.

use std::borrow::Cow;
use std::cmp::Ordering;

use calc_core::catalog;
use calc_core::explore::Criterion;
use calc_core::units::{Bytes, Seconds};
use chart::front::{Brush, Front, FrontPoint, Measure};
use report::number_text as text;
use report::output::words::advice;

use super::ExploreField;
use super::asked::{RowFilter, Subject, criterion, criterion_name, kept, subject};
use super::column::{Order, PointColumn};
use super::row::ExploreRow;
use super::sweep::without_drafts;
use crate::state::inputs::{Inputs, Pins, Tab, View};
use crate::state::model::fields;
use crate::state::model::inputs::ModelSource;
use crate::state::scenario::{PEAKS, brief};
use crate::state::{fragment, url};

/// Most rows that the table has at once; the files have all.
pub const MOST_ROWS: usize = 300;

/// The last answer of the worker.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploreAnswer {
    pub sentence: String,
    pub rows: Vec<ExploreRow>,
    pub subject: Subject,
    pub criteria: [Criterion; 2],
}

impl ExploreAnswer {
    /// Reads a reply of the worker to these inputs; a line that cannot be read is left out.
    pub fn read(reply: &str, inputs: &Inputs) -> Self {
        let mut lines = reply.lines();
        let sentence = lines.next().unwrap_or_default().to_owned();
        let across = criterion(inputs, ExploreField::Across).unwrap_or(Criterion::Rate);
        let up = criterion(inputs, ExploreField::Up).unwrap_or(Criterion::Energy);
        Self {
            sentence,
            rows: lines.filter_map(ExploreRow::read).collect(),
            subject: subject(inputs).unwrap_or(Subject::Devices),
            criteria: [across, up],
        }
    }

    /// The row of a key on the chart.
    pub fn row(&self, key: Option<&str>) -> Option<&ExploreRow> {
        self.rows.get(key?.parse::<usize>().ok()?)
    }

    /// Rows of the table by index, the best by the first criterion first. A brush shows all points inside.
    pub fn visible(&self, kept: RowFilter, brush: Option<&Brush>) -> Vec<usize> {
        let all = 0..self.rows.len();
        let mut shown: Vec<usize> = match (brush, kept) {
            (Some(brush), _) => all.filter(|place| self.is_inside(brush, *place)).collect(),
            (None, RowFilter::Front) => all.filter(|place| self.rows[*place].is_on_front).collect(),
            (None, RowFilter::Each) => self.best_of_each(),
        };
        shown.sort_by(|a, b| self.by_costs(*a, *b));
        shown
    }

    /// Value of a row by one of the two criteria.
    fn value(&self, row: &ExploreRow, axis: usize) -> f64 {
        self.criteria[axis].value_of(row.costs[axis])
    }

    fn is_inside(&self, brush: &Brush, place: usize) -> bool {
        let row = &self.rows[place];
        brush.holds(self.value(row, 0), self.value(row, 1))
    }

    fn by_costs(&self, a: usize, b: usize) -> Ordering {
        let costs = |place: usize| self.rows[place].costs;
        let by = |place: usize| costs(a)[place].total_cmp(&costs(b)[place]);
        by(0).then(by(1)).then(a.cmp(&b))
    }

    /// The best row of every device or model; rows of one stand together.
    fn best_of_each(&self) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            match best.last_mut() {
                Some(last) if is_same(&self.rows[*last], row) => {
                    if self.by_costs(place, *last) == Ordering::Less {
                        *last = place;
                    }
                }
                _ => best.push(place),
            }
        }
        best
    }

    /// The chart of all rows.
    pub fn chart(&self) -> Front {
        let point = |(place, row): (usize, &ExploreRow)| FrontPoint {
            key: place.to_string(),
            label: brief(&row.name).to_owned(),
            mark: row.mark(),
            x: self.value(row, 0),
            y: self.value(row, 1),
            is_on_front: row.is_on_front,
        };
        Front {
            measures: self.criteria.map(measure),
            points: self.rows.iter().enumerate().map(point).collect(),
        }
    }
}

fn is_same(one: &ExploreRow, other: &ExploreRow) -> bool {
    one.subject == other.subject && one.name == other.name
}

fn measure(criterion: Criterion) -> Measure {
    let better = if criterion.more_is_better() { "more is better" } else { "less is better" };
    Measure { name: format!("{}, expected ({better})", criterion_name(criterion)), criterion }
}

impl PointColumn {
    /// Head of the column.
    pub const fn head(self, subject: Subject) -> &'static str {
        match self {
            Self::Name => match subject {
                Subject::Devices => "Device",
                Subject::Models => "Model",
            },
            Self::Mode => "Power mode",
            Self::Scheme => "Scheme",
            Self::Batch => "Users",
            Self::Prompt => "Tokens in",
            Self::Rate => "Rate per user",
            Self::Throughput => "Rate of all",
            Self::First => "First token",
            Self::Whole => "Whole answer",
            Self::Energy => "Energy",
            Self::Memory => "Memory",
            Self::Loss => "Loss",
        }
    }

    /// The number that the column is sorted by; names are sorted as texts.
    fn number(self, row: &ExploreRow) -> f64 {
        match self {
            Self::Name | Self::Mode | Self::Scheme => 0.0,
            Self::Batch => row.batch as f64,
            Self::Prompt => row.prompt as f64,
            Self::Rate => row.rate(),
            Self::Throughput => row.throughput(),
            Self::First => row.first,
            Self::Whole => row.whole[0],
            Self::Energy => row.energy,
            Self::Memory => row.memory[0],
            Self::Loss => row.loss_high,
        }
    }

    /// The text of a cell, and the interval beside it.
    pub fn cell(self, row: &ExploreRow) -> (String, String) {
        let [_, low, high] = row.token;
        let range = |low: f64, high: f64| {
            let short = |value: f64| text::short(value, 2);
            format!("{} to {}", short(low), short(high))
        };
        let plain = |text: String| (text, String::new());
        match self {
            Self::Name => plain(row.name.clone()),
            Self::Mode => plain(mode(row).to_owned()),
            Self::Scheme => plain(advice::scheme_name(row.scheme)),
            Self::Batch => plain(text::count(row.batch)),
            Self::Prompt => plain(text::count(row.prompt)),
            Self::Rate => {
                (text::criterion(Criterion::Rate, row.rate()), range(1.0 / high, 1.0 / low))
            }
            Self::Throughput => {
                let users = row.batch as f64;
                (
                    text::criterion(Criterion::Throughput, row.throughput()),
                    range(users / high, users / low),
                )
            }
            Self::First => plain(text::time(Seconds::new(row.first))),
            Self::Whole => {
                let [time, low, high] = row.whole.map(Seconds::new);
                (text::time(time), text::time_range(low, high))
            }
            Self::Energy => plain(text::criterion(Criterion::Energy, row.energy)),
            Self::Memory => {
                let installed = text::capacity(Bytes::new(row.memory[1]));
                (text::criterion(Criterion::Memory, row.memory[0]), format!("of {installed}"))
            }
            // The number, and what is lost below it.
            Self::Loss => match row.loss.rsplit_once("% ") {
                Some((number, metric)) => (format!("{number}%"), metric.to_owned()),
                None => plain(row.loss.clone()),
            },
        }
    }
}

fn mode(row: &ExploreRow) -> &str {
    if row.mode.is_empty() { PEAKS } else { &row.mode }
}

/// Sorts rows by a column; equal ones keep their order.
pub fn sort(rows: &mut [usize], answer: &ExploreAnswer, (column, descending): Order) {
    rows.sort_by(|a, b| {
        let (a, b) = (&answer.rows[*a], &answer.rows[*b]);
        let text = |row: &ExploreRow| match column {
            PointColumn::Name | PointColumn::Mode | PointColumn::Scheme => {
                column.cell(row).0.to_lowercase()
            }
            _ => String::new(),
        };
        let numbers = column.number(a).total_cmp(&column.number(b));
        let order = numbers.then_with(|| text(a).cmp(&text(b)));
        if descending { order.reverse() } else { order }
    });
}

/// A row in words.
pub fn spoken(row: &ExploreRow) -> String {
    let cell = |column: PointColumn| {
        let (text, interval) = column.cell(row);
        if interval.is_empty() { text } else { format!("{text} ({interval})") }
    };
    let (users, each) = if row.batch == 1 { ("user", "") } else { ("users", " each") };
    let mut said = vec![
        format!("{} at {} with {}", row.name, mode(row), cell(PointColumn::Scheme)),
        format!(
            "{} {users}, {} tokens in{each}",
            cell(PointColumn::Batch),
            cell(PointColumn::Prompt)
        ),
        format!("{} for each", cell(PointColumn::Rate)),
    ];
    if row.batch > 1 {
        said.push(format!("{} in all", cell(PointColumn::Throughput)));
    }
    said.extend([
        format!("first token after {}", cell(PointColumn::First)),
        format!("whole answer after {}", cell(PointColumn::Whole)),
        format!("{} a token", cell(PointColumn::Energy)),
        {
            let (needed, installed) = PointColumn::Memory.cell(row);
            format!("{needed} {installed}")
        },
        format!("loss {}", cell(PointColumn::Loss)),
    ]);
    said.join(" · ")
}

/// The inputs with the scenario of a row, in the Plan view.
pub fn opened(inputs: &Inputs, row: &ExploreRow) -> Inputs {
    let mut inputs = inputs.clone();
    if subject(&inputs) == Ok(Subject::Models) {
        if let Ok(model) = catalog::model(&row.subject) {
            inputs.model.set_base(ModelSource::Catalog(model));
        }
        without_drafts(&mut inputs);
    } else {
        if let Ok(device) = catalog::device(&row.subject)
            && *inputs.device.key != *row.subject
        {
            inputs.set_device(Cow::Borrowed(device));
        }
        inputs.mode = (!row.mode.is_empty()).then(|| row.mode.clone().into());
    }
    inputs.model.scheme = Some(row.scheme);
    inputs.model.set_text(fields::Field::Batch, row.batch.to_string());
    inputs.model.set_text(fields::Field::Prompt, row.prompt.to_string());
    (inputs.view, inputs.tab) = (View::Plan, Tab::default());
    inputs
}

/// The request to the worker: the address without all that does not change its answer.
pub fn address(inputs: &Inputs) -> String {
    let mut asked = Inputs { view: View::Explore, tab: Tab::default(), ..inputs.clone() };
    asked.pins = Pins::default();
    for look in [ExploreField::Rows, ExploreField::Sort, ExploreField::Brush] {
        asked.explore.set(look, String::new());
    }
    asked.model.claim = Default::default();
    asked.model.filter = Default::default();
    asked.model.scheme = None;
    if !inputs.explore.get(ExploreField::Batches).is_empty() {
        asked.model.set_text(fields::Field::Batch, fields::Field::Batch.spec().usual.to_owned());
    }
    format!("{}\n{}", url::write(&asked), fragment::text(&asked))
}

/// The rows of the table that the inputs choose.
pub fn kept_rows(inputs: &Inputs) -> RowFilter {
    kept(inputs).unwrap_or(RowFilter::Front)
}

#[cfg(test)]
mod tests;
