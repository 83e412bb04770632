//! Answers for people: a heading, the verdict, tables, and the lines that derive each figure.

mod analyze;
mod bench;
mod catalog;
mod check;
mod compare;
mod device;
mod estimate;
mod inspect;
mod measured;
mod model;
mod recommend;
mod tiling;

pub use analyze::{analyze, shape as operator_name};
pub use bench::{Difference, Judged, bench, bench_difference, bench_remarks};
pub use catalog::{devices, format, formats, models};
pub use check::{check, claimed, what as checked};
pub use compare::compare;
pub use device::device;
pub use estimate::estimate;
pub use inspect::inspect;
pub use measured::measured;
pub use model::{model, named_model};
pub use recommend::{devices as device_choices, recommendation, schedule};
pub use tiling::{best_tile, tiling_table, tilings};

use calc_core::calibration::Calibration;

use crate::output::table::Table;

/// A line that says when, how and with what the user's own factors were measured: also how many points were flagged.
fn measured_how(out: &mut Document, own: Option<&Calibration>) {
    if let Some(own) = own.filter(|own| !own.about.is_empty()) {
        out.line(format!("calibration {}", own.about));
    }
}

/// Part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Heading(String),
    Line(String),
    Table(Table),
    Notes(Vec<String>),
}

/// Largest number of characters in a line of a catalog row.
const LINE: usize = 118;

/// The text in lines of at most `width` characters, divided at spaces.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut().filter(|_| line == 0 || line + 1 + word.chars().count() <= width) {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) => *last = format!("{last} {word}"),
            None => lines.push(word.into()),
        }
    }
    lines
}

/// A line of a catalog row: what it says and the text, further lines below the text.
fn labeled(label: &str, text: &str) -> String {
    const LABEL: usize = 13;
    let lines = folded(text, LINE - LABEL).join(&format!("\n{}", " ".repeat(LABEL)));
    format!("{label:<LABEL$}{lines}")
}

/// A note of a catalog row, folded.
fn folded_note(text: &str) -> String {
    folded(text, LINE - 4).join("\n    ")
}

/// Adds a row whose last cell is folded; its further lines are rows that have nothing else.
fn push_folded(table: &mut Table, mut cells: Vec<String>, last: &str, width: usize) {
    for line in folded(last, width) {
        let blank = vec![String::new(); cells.len()];
        let mut row = core::mem::replace(&mut cells, blank);
        row.push(line);
        table.push(row);
    }
}

/// Answer for people, as a sequence of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    blocks: Vec<Block>,
}

impl Document {
    /// Appends a title.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Appends a line of text.
    pub fn line(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Line(text.into()));
    }

    /// Appends a line of text, if there is one.
    pub fn line_if(&mut self, text: Option<impl Into<String>>) {
        self.blocks.extend(text.map(|text| Block::Line(text.into())));
    }

    /// Appends a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Appends notes, unless there are none.
    pub fn notes(&mut self, notes: Vec<String>) {
        if !notes.is_empty() {
            self.blocks.push(Block::Notes(notes));
        }
    }

    /// Writes the document for a terminal.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (i, block) in self.blocks.iter().enumerate() {
            out += &match block {
                Block::Heading(text) if i == 0 => format!("{text}\n"),
                Block::Heading(text) => format!("\n{text}\n"),
                Block::Line(text) => format!("{text}\n"),
                Block::Table(table) if i == 0 => table.to_text(),
                Block::Table(table) => format!("\n{}", table.to_text()),
                Block::Notes(notes) => {
                    let lines: String = notes.iter().map(|note| format!("  - {note}\n")).collect();
                    format!("\nNotes\n{lines}")
                }
            };
        }
        out
    }

    /// Writes the document as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        for (i, block) in self.blocks.iter().enumerate() {
            out += &match block {
                Block::Heading(text) if i == 0 => format!("# {text}\n"),
                Block::Heading(text) => format!("\n## {text}\n"),
                Block::Line(text) => format!("\n{text}\n"),
                Block::Table(table) if i == 0 => table.to_markdown(),
                Block::Table(table) => format!("\n{}", table.to_markdown()),
                Block::Notes(notes) => {
                    let lines: String = notes.iter().map(|note| format!("- {note}\n")).collect();
                    format!("\n## Notes\n\n{lines}")
                }
            };
        }
        out
    }
}
