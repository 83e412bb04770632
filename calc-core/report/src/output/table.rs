//! Text tables and their output: aligned for a terminal, Markdown, CSV, HTML.

use crate::output::work::expression::escaped;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// For names.
    Left,
    /// For numbers.
    Right,
}

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns.iter().map(|(name, align)| ((*name).into(), *align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty, further ones are dropped.
    pub fn push(&mut self, row: Vec<String>) {
        let mut row = row;
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// True for a table without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Text for a terminal: columns padded to their widest cell, a rule under the head.
    pub fn to_text(&self) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|i| self.width(i)).collect();
        let head: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let mut out = self.text_line(&head, &widths);
        out += &self.text_line(&rule, &widths);
        for row in &self.rows {
            out += &self.text_line(row, &widths);
        }
        out
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([self.columns[column].0.chars().count()]).max().unwrap_or(0)
    }

    fn text_line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded = cells
            .iter()
            .zip(widths)
            .zip(&self.columns)
            .map(|((cell, width), (_, align))| padded(cell, *width, *align));
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    }

    /// Text in GitHub's Markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            format!(
                "| {} |\n",
                cells.iter().map(|c| c.replace('|', "\\|")).collect::<Vec<_>>().join(" | ")
            )
        };
        let head: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rule: Vec<String> = self
            .columns
            .iter()
            .map(|(_, align)| if *align == Align::Left { "---" } else { "---:" }.into())
            .collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&head) + &line(&rule) + &rows
    }

    /// HTML table with a head; cells of numbers have the class `number`.
    pub fn to_html(&self) -> String {
        let kind = |align: Align| if align == Align::Left { "" } else { " class=\"number\"" };
        let head: String = self
            .columns
            .iter()
            .map(|(name, align)| {
                format!("<th scope=\"col\"{}>{}</th>", kind(*align), escaped(name))
            })
            .collect();
        let cell = |(cell, (_, align)): (&String, &(String, Align))| {
            format!("<td{}>{}</td>", kind(*align), escaped(cell))
        };
        let row = |row: &Vec<String>| {
            let cells: String = row.iter().zip(&self.columns).map(cell).collect();
            format!("<tr>{cells}</tr>")
        };
        let rows: String = self.rows.iter().map(row).collect();
        format!("<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    }
}

/// A cell padded with spaces to a width; `format!` allows no width above 65,535.
pub fn padded(cell: &str, width: usize, align: Align) -> String {
    let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
    match align {
        Align::Left => format!("{cell}{blanks}"),
        Align::Right => format!("{blanks}{cell}"),
    }
}

/// A cell of CSV, quoted where necessary.
pub fn csv_cell(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into()
    }
}

/// JSON objects as CSV: one row each, nested keys joined by dots, a list as its JSON in one cell, the columns of the first
/// object first.
pub fn json_to_csv(rows: &[serde_json::Value]) -> String {
    let flat: Vec<Vec<(String, String)>> = rows.iter().map(flatten).collect();
    let mut columns: Vec<&str> = Vec::new();
    for row in &flat {
        for (key, _) in row {
            if !columns.contains(&key.as_str()) {
                columns.push(key);
            }
        }
    }
    let head: Vec<String> = columns.iter().map(|column| csv_cell(column)).collect();
    let mut out = head.join(",") + "\n";
    for row in &flat {
        let cell = |column: &&str| {
            row.iter()
                .find(|(key, _)| key == column)
                .map_or(String::new(), |(_, value)| csv_cell(value))
        };
        out += &(columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

/// The scalars and lists of an object with their dotted keys.
fn flatten(value: &serde_json::Value) -> Vec<(String, String)> {
    use serde_json::Value;
    fn walk(prefix: &str, value: &Value, out: &mut Vec<(String, String)>) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    let path =
                        if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    walk(&path, value, out);
                }
            }
            Value::Null | Value::Object(_) => out.push((prefix.into(), String::new())),
            Value::String(text) => out.push((prefix.into(), text.clone())),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                out.push((prefix.into(), value.to_string()));
            }
        }
    }
    let mut out = Vec::new();
    walk("", value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_align_right_and_names_left() {
        let mut table = Table::new(&[("name", Align::Left), ("µs", Align::Right)]);
        table.push(vec!["qkv".into(), "7".into()]);
        table.push(vec!["attention".into(), "12".into()]);
        assert_eq!(table.to_text(), "name       µs\n─────────  ──\nqkv         7\nattention  12\n");
        assert_eq!(
            table.to_markdown(),
            "| name | µs |\n| --- | ---: |\n| qkv | 7 |\n| attention | 12 |\n"
        );
    }

    #[test]
    fn a_cell_may_have_any_width() {
        let mut table = Table::new(&[("name", Align::Left), ("n", Align::Right)]);
        table.push(vec!["x".repeat(100_000), "1".into()]);
        table.push(vec!["y".into(), "2".into()]);
        assert!(table.to_text().lines().last().is_some_and(|line| line.ends_with("  2")));
    }

    #[test]
    fn csv_keeps_every_row_in_the_same_columns() {
        let rows = [
            serde_json::json!({"a": {"b": 1.5}, "c": "x,y"}),
            serde_json::json!({"error": "say \"no\""}),
        ];
        assert_eq!(json_to_csv(&rows), "a.b,c,error\n1.5,\"x,y\",\n,,\"say \"\"no\"\"\"\n");
        let lists = [serde_json::json!({"s": [1, 2.5], "o": [{"k": "a"}], "e": {}, "n": null})];
        assert_eq!(json_to_csv(&lists).lines().count(), 2);
        let cells: Vec<String> = json_to_csv(&lists).lines().map(str::to_owned).collect();
        let mut columns: Vec<&str> = cells[0].split(',').collect();
        columns.sort_unstable();
        assert_eq!(columns, ["e", "n", "o", "s"]);
        assert!(cells[1].contains("\"[1,2.5]\"") && cells[1].contains("[{\"\"k\"\":\"\"a\"\"}]"));
    }
}
