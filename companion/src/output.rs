//! The forms of an answer: a table for people, Markdown, JSON, JSON lines, CSV.

pub(crate) mod sheet;

use std::borrow::Cow;
use std::io::{self, Write};

use clap::{Arg, ArgMatches};
use report::output::summary::Document;
use report::output::table;
use serde_json::Value;

use crate::failure::Failure;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Table,
    /// Indented JSON.
    Json,
    /// One JSON value per line.
    Jsonl,
    /// Comma-separated values with a head.
    Csv,
    /// Markdown.
    Md,
}

const FORMS: [(&str, Form); 5] = [
    ("table", Form::Table),
    ("json", Form::Json),
    ("jsonl", Form::Jsonl),
    ("csv", Form::Csv),
    ("md", Form::Md),
];

/// `-o/--output`.
pub(crate) fn argument() -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FORM")
        .value_parser(FORMS.map(|(name, _)| name))
        .help("Form of the answer; without it a table, on a terminal and into a pipe alike")
}

impl Form {
    /// The form asked for, if one was.
    pub(crate) fn asked(matches: &ArgMatches) -> Option<Self> {
        let name = matches.get_one::<String>("output")?;
        FORMS.iter().find(|(known, _)| known == name).map(|(_, form)| *form)
    }

    /// The form asked for, else a table.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        Self::asked(matches).unwrap_or(Self::Table)
    }
}

/// What the lines of an answer are, where a form has lines.
#[derive(Debug)]
pub(crate) enum Rows {
    /// The answer itself is the one row.
    One,
    /// The answer is an object, whose list under this JSON pointer has the rows of CSV; JSON lines keep the object whole.
    At(&'static str),
    /// The answer is a list of rows.
    List,
}

/// An answer in all its forms.
#[derive(Debug)]
pub(crate) struct Answer {
    /// For people.
    pub(crate) document: Document,
    /// The published JSON.
    pub(crate) value: Value,
    /// Its rows.
    pub(crate) rows: Rows,
}

impl Answer {
    /// Prints it.
    ///
    /// # Errors
    /// When stdout does not take it.
    pub(crate) fn print(&self, form: Form) -> Result<(), Failure> {
        print(&self.in_form(form))
    }

    fn in_form(&self, form: Form) -> String {
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

/// The rows of an answer, each followed by what belongs to the whole answer: values in every row, lists in the first only,
/// because they may be long. A key of the answer that its rows have, too, begins with `answer.`.
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

/// Text without what steers a terminal: names come from files that somebody else may have written.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// A message as one line.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.trim_end().replace('\n', " "))
}

/// Longest word of a message: names of files have 255 characters.
const MAX_WORD: usize = 300;
/// Longest message.
const MAX_MESSAGE: usize = 2000;

/// A message without the length of what somebody typed.
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
    fn nothing_that_steers_a_terminal_gets_out() {
        assert_eq!(one_line("a\u{1b}[2J\nb\u{9b}c\r\n"), "a\u{fffd}[2J b\u{fffd}c");
        assert_eq!(printable("a\nµ\t"), "a\nµ\u{fffd}");
    }
}
