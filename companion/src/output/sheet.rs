//! Rows on their way out one by one, in every form, without keeping them.

use std::io::{self, Write};

use report::output::table::{Align, csv_cell, padded};
use serde_json::Value;

use super::{Form, one_line};

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// Its name.
    pub(crate) name: String,
    /// Its width in a table.
    pub(crate) width: usize,
    /// Numbers stand right.
    pub(crate) right: bool,
}

/// A table that is written row by row.
#[derive(Debug)]
pub(crate) struct Sheet<W> {
    form: Form,
    heads: Vec<Head>,
    out: W,
    rows: u64,
}

impl<W: Write> Sheet<W> {
    pub(crate) const fn new(form: Form, heads: Vec<Head>, out: W) -> Self {
        Self { form, heads, out, rows: 0 }
    }

    /// Writes what stands above the rows; people see the title too.
    pub(crate) fn begin(&mut self, title: &str) -> io::Result<()> {
        let names: Vec<String> = self.heads.iter().map(|head| head.name.clone()).collect();
        match self.form {
            Form::Json => self.out.write_all(b"["),
            Form::Jsonl => Ok(()),
            Form::Csv => self.line(&names),
            Form::Table => {
                self.title(title)?;
                self.line(&names)?;
                let rules: Vec<String> =
                    self.heads.iter().map(|head| "─".repeat(head.width)).collect();
                self.line(&rules)
            }
            Form::Md => {
                self.title(title)?;
                self.line(&names)?;
                let rules: Vec<String> = self
                    .heads
                    .iter()
                    .map(|head| if head.right { "---:" } else { "---" }.into())
                    .collect();
                self.line(&rules)
            }
        }
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        if title.is_empty() { Ok(()) } else { write!(self.out, "{}\n\n", one_line(title)) }
    }

    /// Writes a row: JSON for machines, cells below the heads.
    pub(crate) fn row(
        &mut self,
        json: impl FnOnce() -> Vec<u8>,
        cells: impl FnOnce() -> Vec<String>,
    ) -> io::Result<()> {
        self.rows += 1;
        match self.form {
            Form::Json => {
                self.out.write_all(if self.rows == 1 { b"\n  " } else { b",\n  " })?;
                self.out.write_all(&json())
            }
            Form::Jsonl => {
                self.out.write_all(&json())?;
                self.out.write_all(b"\n")
            }
            Form::Csv | Form::Table | Form::Md => self.line(&cells()),
        }
    }

    fn line(&mut self, cells: &[String]) -> io::Result<()> {
        let line = match self.form {
            Form::Csv => cells.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(","),
            Form::Md => {
                let cells: Vec<String> =
                    cells.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
                format!("| {} |", cells.join(" | "))
            }
            Form::Table | Form::Json | Form::Jsonl => self.padded(cells),
        };
        writeln!(self.out, "{line}")
    }

    fn padded(&self, cells: &[String]) -> String {
        let padded = cells.iter().zip(&self.heads).map(|(cell, Head { width, right, .. })| {
            let cell = one_line(cell);
            padded(&cell, *width, if *right { Align::Right } else { Align::Left })
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    }

    /// Writes what stands below the rows.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.form == Form::Json {
            self.out.write_all(if self.rows == 0 { b"]\n" } else { b"\n]\n" })?;
        }
        self.out.flush()
    }
}

/// A JSON value as a cell.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
