//! The output forms of an answer: table, Markdown, JSON, JSON lines, CSV.

pub(crate) mod sheet;

use std::borrow::Cow;
use std::io::{self, Write};

use clap::{Arg, ArgMatches};
use report::output::summary::Document;
use report::output::table;
use serde_json::Value;

use crate::failure::Failure;

/// The form in which an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Table,
    /// Indented JSON.
    Json,
    /// One JSON value per line.
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
    Md,
}

const FORMS: [(&str, Form); 5] = [
    ("table", Form::Table),
    ("json", Form::Json),
    ("jsonl", Form::Jsonl),
    ("csv", Form::Csv),
    ("md", Form::Md),
];

pub(crate) fn argument() -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FORM")
        .value_parser(FORMS.map(|(name, _)| name))
        .help("Form of the answer; default: table, on a terminal and in a pipe alike")
}

impl Form {
    /// The form that the user chose, if any.
    pub(crate) fn asked(matches: &ArgMatches) -> Option<Self> {
        let name = matches.get_one::<String>("output")?;
        FORMS.iter().find(|(known, _)| known == name).map(|(_, form)| *form)
    }

    /// The form that the user chose; by default a table.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        Self::asked(matches).unwrap_or(Self::Table)
    }
}

/// The rows of an answer, for the forms with one row per line.
#[derive(Debug)]
pub(crate) enum Rows {
    /// The answer itself is the only row.
    One,
    /// The list under this JSON pointer holds the rows of CSV; JSON lines write the object whole.
    At(&'static str),
    /// The answer is a list of rows.
    List,
}

/// An answer in all its forms.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) document: Document,
    /// The published JSON.
    pub(crate) value: Value,
    pub(crate) rows: Rows,
}

impl Answer {
    /// Prints the answer.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub(crate) fn print(&self, form: Form) -> Result<(), Failure> {
        print(&self.text(form))
    }

    /// The answer as text.
    pub(crate) fn text(&self, form: Form) -> String {
        match form {
            Form::Table => printable(&self.document.to_text()),
            Form::Md => printable(&self.document.to_markdown()),
            Form::Json => format!("{:#}\n", self.value),
            Form::Jsonl => self.json_lines().iter().map(|row| format!("{row}\n")).collect(),
            Form::Csv => table::json_to_csv(&self.csv_rows()),
        }
    }

    /// True if the list of rows is empty.
    pub(crate) fn has_no_rows(&self) -> bool {
        let Rows::At(pointer) = self.rows else { return false };
        self.value.pointer(pointer).and_then(Value::as_array).is_some_and(Vec::is_empty)
    }

    fn json_lines(&self) -> &[Value] {
        match (&self.rows, &self.value) {
            (Rows::List, Value::Array(rows)) => rows,
            _ => std::slice::from_ref(&self.value),
        }
    }

    fn csv_rows(&self) -> Cow<'_, [Value]> {
        match &self.rows {
            Rows::At(pointer) => rows_with_answer(self.value.clone(), pointer).into(),
            Rows::One | Rows::List => self.json_lines().into(),
        }
    }
}

/// The rows of an answer, each followed by the values of the whole answer: scalars in every row, lists in the first only, because
/// they may be long. A key of the answer that its rows have, too, gets the prefix `answer.`.
fn rows_with_answer(mut answer: Value, pointer: &str) -> Vec<Value> {
    if answer.pointer(pointer).and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return vec![answer];
    }
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
    let parent = answer.pointer_mut(parent).and_then(Value::as_object_mut);
    let rows = parent.and_then(|parent| parent.shift_remove(key));
    let (Some(Value::Array(rows)), Value::Object(shared)) = (rows, answer) else {
        return Vec::new();
    };
    let with_shared = |(index, row): (usize, Value)| {
        let Value::Object(mut row) = row else { return row };
        for (key, value) in shared.iter().filter(|(_, value)| index == 0 || !value.is_array()) {
            let key = if row.contains_key(key) { format!("answer.{key}") } else { key.clone() };
            row.insert(key, value.clone());
        }
        Value::Object(row)
    };
    rows.into_iter().enumerate().map(with_shared).collect()
}

/// Prints a finished text.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Removes terminal control characters: names come from files that somebody else may have written.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// A message as one line.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.trim_end().replace('\n', " "))
}

/// Longest word of a message, in characters: file names have up to 255.
const MAX_WORD: usize = 300;
/// Longest message, in characters.
const MAX_MESSAGE: usize = 2000;

/// A message with long words and long text cut, because it repeats input of the user.
pub(crate) fn clipped(line: &str) -> String {
    let cut = |text: &str, most: usize, kept: usize| {
        if text.chars().count() > most {
            text.chars().take(kept).chain(['…']).collect()
        } else {
            text.to_owned()
        }
    };
    let words: Vec<String> = line.split(' ').map(|word| cut(word, MAX_WORD, 60)).collect();
    cut(&words.join(" "), MAX_MESSAGE, MAX_MESSAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(one_line("a\u{1b}[2J\nb\u{9b}c\r\n"), "a\u{fffd}[2J b\u{fffd}c");
        assert_eq!(printable("a\nµ\t"), "a\nµ\u{fffd}");
    }
}
