//! Answers for people: a heading, the verdict, tables, and the lines by which each figure can be followed.

mod analyze;
mod bench;
mod catalog;
mod check;
mod compare;
mod estimate;
mod recommend;
mod tiling;

pub use analyze::analyze;
pub use bench::{Difference, bench, bench_difference};
pub use catalog::{device, devices, format, formats, model, models, named_model};
pub use check::check;
pub use compare::compare;
pub use estimate::estimate;
pub use recommend::{devices as device_choices, recommendation, schedule};
pub use tiling::{best_tile, tiling_table, tilings};

use crate::output::table::Table;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A title.
    Heading(String),
    /// A line of text.
    Line(String),
    /// A table.
    Table(Table),
    /// Short remarks.
    Notes(Vec<String>),
}

/// An answer for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    blocks: Vec<Block>,
}

impl Document {
    /// Adds a title.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Adds a line of text.
    pub fn line(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Line(text.into()));
    }

    /// Adds a table, if it has rows.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Adds remarks, if there are any.
    pub fn notes(&mut self, notes: Vec<String>) {
        if !notes.is_empty() {
            self.blocks.push(Block::Notes(notes));
        }
    }

    /// For a terminal.
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

    /// Markdown.
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
