//! One point of a sweep as a row: its fields, then its figures or the reason why there are none.

use report::input::request::RequestError;
use serde_json::{Map, Value, json};

use super::figures::{Figure, keys_of};
use super::grid::Grid;
use crate::output::Form;
use crate::output::sheet::{Head, cell};
use crate::verbs::flags::{Flag, Kind};

/// A point with its answer.
pub(super) struct SweepRow<'a> {
    pub(super) grid: &'a Grid,
    /// Index of the point.
    pub(super) point: u64,
    /// The fields of the request.
    pub(super) fields: &'a Map<String, Value>,
    /// The figures, or the error.
    pub(super) result: Result<Vec<Figure>, RequestError>,
}

/// Width of a figure in a table; the widest is `2.23 × 10⁻³⁰⁸ s`.
const FIGURE_WIDTH: usize = 12;

/// A table shows the fields that vary; constant ones are above it.
fn inputs(grid: &Grid, form: Form) -> impl Iterator<Item = &'static Flag> + '_ {
    let changes = move |len: u64| !for_people(form) || len > 1;
    grid.axes().iter().filter(move |(_, axis)| changes(axis.count())).map(|(flag, _)| *flag)
}

fn for_people(form: Form) -> bool {
    matches!(form, Form::Table | Form::Md)
}

/// The fields that are constant over all rows.
pub(super) fn title(grid: &Grid) -> String {
    let fixed = grid.axes().iter().filter(|(_, axis)| axis.count() == 1);
    fixed
        .map(|(flag, axis)| format!("{} {}", flag.key, axis.value(0)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The columns of a table or CSV.
pub(super) fn heads(grid: &Grid, form: Form) -> Vec<Head> {
    let widest = |key: &str| {
        let (_, axis) = grid.axes().iter().find(|(flag, _)| flag.key == key)?;
        axis.samples().map(|value| value.chars().count()).max()
    };
    let head = |name: &str, width: usize, right: bool| Head {
        name: name.into(),
        width: width.max(name.len()),
        right,
    };
    let mut heads = if for_people(form) { Vec::new() } else { vec![head("point", 0, true)] };
    for flag in inputs(grid, form) {
        heads.push(head(flag.key, widest(flag.key).unwrap_or(0), flag.kind == Kind::Number));
    }
    for (key, shown) in keys_of(grid.verb()) {
        if shown || !for_people(form) {
            heads.push(head(key, FIGURE_WIDTH, true));
        }
    }
    heads.push(head("error", 0, false));
    heads
}

impl SweepRow<'_> {
    /// The row as a line of JSON, with the position that `merge` needs.
    pub(super) fn json(&self) -> Vec<u8> {
        let mut line = Map::new();
        line.insert("sweep".into(), json!(self.grid.id()));
        line.insert("point".into(), json!(self.point));
        line.insert("points".into(), json!(self.grid.points()));
        for (flag, _) in self.grid.axes() {
            line.insert(flag.key.into(), typed(flag, &self.fields[flag.key]));
        }
        match &self.result {
            Ok(figures) => {
                let keys = keys_of(self.grid.verb());
                line.extend(
                    keys.iter()
                        .zip(figures)
                        .map(|((key, _), figure)| ((*key).into(), figure.json())),
                );
            }
            Err(error) => {
                line.insert("error".into(), json!(error.to_string()));
            }
        }
        Value::Object(line).to_string().into_bytes()
    }

    /// The row as cells below the column heads.
    pub(super) fn cells(&self, form: Form) -> Vec<String> {
        let mut cells = if for_people(form) { Vec::new() } else { vec![self.point.to_string()] };
        cells.extend(inputs(self.grid, form).map(|flag| cell(&self.fields[flag.key])));
        let keys = keys_of(self.grid.verb());
        let shown = keys.iter().enumerate().filter(|(_, (_, shown))| *shown || !for_people(form));
        cells.extend(shown.map(|(i, _)| match &self.result {
            Ok(figures) if for_people(form) => figures[i].text(),
            Ok(figures) => cell(&figures[i].json()),
            Err(_) => String::new(),
        }));
        cells.push(self.result.as_ref().err().map(ToString::to_string).unwrap_or_default());
        cells
    }
}

/// A numeric text as a JSON number, any other as a string.
fn typed(flag: &Flag, value: &Value) -> Value {
    match (flag.kind, value) {
        (Kind::Number, Value::String(text)) => {
            let whole = text.parse::<u64>().map(|number| json!(number));
            whole
                .or_else(|_| text.parse::<f64>().map(|number| json!(number)))
                .unwrap_or_else(|_| value.clone())
        }
        _ => value.clone(),
    }
}
