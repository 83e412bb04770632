//! Exports of a comparison: its rows as CSV and Markdown, and everything as JSON. The texts are those of the page.

use report::output::table::{Align, Table, csv_cell};
use serde_json::{Map, Value, json};

use crate::state::compare::{CompareCell, CompareShown, next};
use crate::state::inputs::Inputs;

/// Content of an export; `None` for an unknown kind.
pub(super) fn export(inputs: &Inputs, kind: &str) -> Option<String> {
    let shown = next(None, inputs);
    match kind {
        "csv" => Some(csv(&shown)),
        "md" => Some(markdown(&shown)),
        "json" => Some(json(&shown)),
        _ => None,
    }
}

/// The text of a cell with its interval or remark, and the difference from the first column.
fn whole(cell: &CompareCell) -> String {
    let delta = cell.delta.as_ref().map_or("", |delta| delta.text.as_str());
    let parts = [cell.text.as_str(), cell.beside.as_str(), delta];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// A row for each number, a column for each scenario, and first the scenarios themselves.
fn csv(shown: &CompareShown) -> String {
    let line = |name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
        format!("{},{}\n", csv_cell(name), cells.join(","))
    };
    let columns = || shown.columns.iter();
    let mut text = line("row", columns().map(|column| column.name.clone()).collect());
    text += &line("scenario", columns().map(|column| column.pin.clone()).collect());
    for row in &shown.rows {
        text += &line(row.name, row.cells.iter().map(whole).collect());
    }
    text
}

fn markdown(shown: &CompareShown) -> String {
    let heads = shown.columns.iter().map(|column| (column.name.as_str(), Align::Left));
    let heads: Vec<_> = core::iter::once(("", Align::Left)).chain(heads).collect();
    let mut table = Table::new(&heads);
    for row in &shown.rows {
        let cells = row.cells.iter().map(|cell| whole(cell).replace('\n', "; "));
        table.push(core::iter::once(row.name.to_owned()).chain(cells).collect());
    }
    let CompareShown { sentence, line, common, .. } = shown;
    format!("# {sentence}\n\n{common}\n\n{line}\n\n{}", table.to_markdown())
}

fn json(shown: &CompareShown) -> String {
    let column = |(place, column): (usize, &crate::state::compare::CompareColumn)| {
        let rows: Map<String, Value> = shown
            .rows
            .iter()
            .filter_map(|row| Some((row.name.to_owned(), cell(row.cells.get(place)?)?)))
            .collect();
        json!({
            "name": column.name,
            "scenario": column.pin,
            "error": column.answered.as_ref().err(),
            "rows": rows,
        })
    };
    let columns: Vec<Value> = shown.columns.iter().enumerate().map(column).collect();
    let all = json!({
        "verdict": shown.sentence,
        "reason": shown.line,
        "scenario": shown.common,
        "columns": columns,
    });
    serde_json::to_string_pretty(&all).map(|text| text + "\n").unwrap_or_default()
}

/// A cell; `None` where the column has no such number.
fn cell(cell: &CompareCell) -> Option<Value> {
    let CompareCell { text, beside, delta, .. } = cell;
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let delta = delta.as_ref().map(|delta| &delta.text);
    some(text).map(|text| json!({ "text": text, "beside": some(beside), "difference": delta }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::export::tests::export;
    use crate::state::export_kinds::kinds;
    use crate::state::inputs::View;

    const QUERY: &str = "?view=compare&c=d:t4&c=d:h100_sxm,batch:16&c=d:gone&v=1";

    #[test]
    fn every_kind_has_every_column_with_its_numbers() {
        for (kind, _) in kinds(View::Compare) {
            let text = export(kind, QUERY);
            assert!(text.contains("Tesla T4") && text.contains("H100 SXM"), "{kind}: {text}");
            assert!(text.contains("token/s") && text.contains("Decode rate"), "{kind}: {text}");
        }
        assert_eq!(export("svg", QUERY), "", "a chart is no answer");
    }

    #[test]
    fn json_says_what_cannot_be_read_and_the_scenario_of_each_column() {
        let all: Value = serde_json::from_str(&export("json", QUERY)).expect("JSON");
        let columns = all["columns"].as_array().expect("columns");
        assert_eq!(columns[1]["scenario"], "model:llama-3.1-8b,d:h100_sxm,batch:16");
        assert!(columns[0]["error"].is_null() && columns[0]["rows"]["Fits"]["text"].is_string());
        assert!(columns[2]["error"].as_str().is_some_and(|text| text.contains("no device")));
        assert_eq!(columns[2]["rows"], json!({}));
        assert!(columns[1]["rows"]["Bandwidth"]["difference"].is_string());
    }

    #[test]
    fn csv_has_a_cell_for_every_column() {
        let csv = export("csv", "?view=compare&c=d:t4&c=d:l4&v=1");
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some("row,Tesla T4,L4"));
        let scenarios = "scenario,\"model:llama-3.1-8b,d:t4\",\"model:llama-3.1-8b,d:l4\"";
        assert_eq!(lines.next(), Some(scenarios));
        assert!(csv.contains("Decode rate,"), "{csv}");
    }
}
