//! The samples of a run as a file, one line each, written while the program runs.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use report::output::table::csv_cell;
use serde_json::{Map, Value, json};

use super::sampler::Sample;
use crate::failure::Failure;
use crate::files;

/// A file of samples.
#[derive(Debug)]
pub(super) struct Series {
    path: PathBuf,
    file: File,
    is_csv: bool,
    /// Columns of the meters and the cards.
    heads: Vec<String>,
}

impl Series {
    /// Creates the file.
    ///
    /// # Errors
    /// Bad input for another ending, or a name that cannot be a file; a failure if it cannot be created.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let is_csv = match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => true,
            Some("jsonl") => false,
            _ => {
                return Err(Failure::bad(format!(
                    "series must end in .csv or .jsonl; got {}",
                    path.display()
                )));
            }
        };
        files::output(path).map_err(|why| Failure::bad(format!("{}: {why}", path.display())))?;
        let file = File::create(path).map_err(|error| files::unwritten(path, &error))?;
        Ok(Self { path: path.into(), file, is_csv, heads: Vec::new() })
    }

    /// Writes the heads of the columns.
    pub(super) fn begin(
        &mut self,
        meters: impl Iterator<Item = String>,
        cards: Vec<String>,
    ) -> io::Result<()> {
        self.heads = meters.map(|name| format!("power_watt.{name}")).chain(cards).collect();
        if !self.is_csv {
            return Ok(());
        }
        let names = COLUMNS.iter().copied().chain(self.heads.iter().map(String::as_str));
        let cells: Vec<String> = names.map(csv_cell).collect();
        writeln!(self.file, "{}", cells.join(","))
    }

    /// Writes a sample. What is missing is null, or an empty cell.
    pub(super) fn write(&mut self, sample: &Sample) -> io::Result<()> {
        let found = |found: &Result<f64, String>| found.as_ref().ok().copied();
        let has_program = sample.tree.processes > 0;
        let values = [
            Some(sample.t),
            found(&sample.utilization),
            has_program.then_some(sample.tree.rss as f64),
            has_program.then_some(sample.tree.processes as f64),
            found(&sample.memory_available),
            found(&sample.clock),
            found(&sample.temperature),
        ];
        let values = values.into_iter().chain(sample.power.iter().chain(&sample.cards).map(found));
        if self.is_csv {
            let cells: Vec<String> = values
                .map(|value| value.map_or(String::new(), |value| json!(value).to_string()))
                .collect();
            return writeln!(self.file, "{}", cells.join(","));
        }
        let names = COLUMNS.iter().map(ToString::to_string).chain(self.heads.iter().cloned());
        let line: Map<String, Value> = names.zip(values.map(|value| json!(value))).collect();
        writeln!(self.file, "{}", Value::Object(line))
    }

    /// The sentence about an error of writing.
    pub(super) fn lost(&self, error: &io::Error) -> String {
        format!("the series ends early: cannot write {}: {error}", self.path.display())
    }
}

/// The columns before those of the meters and the cards.
const COLUMNS: [&str; 7] = [
    "t_s",
    "cpu_utilization_ratio",
    "rss_byte",
    "processes",
    "memory_available_byte",
    "cpu_clock_hz",
    "temperature_celsius",
];
