//! Reasons why a file of measurements is refused, each with its sentence.

use core::fmt::{self, Write};

use crate::refusal_text::OneLine;

/// Reasons why a file of measurements is refused.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MeasurementError {
    Empty,
    /// A literal of Python that JSON does not have.
    NoJsonNumber {
        field: String,
        literal: &'static str,
    },
    /// A field that the file must have.
    Missing {
        place: String,
        field: String,
        tool: &'static str,
        /// Meaning and unit of its values.
        expected: &'static str,
    },
    /// A field with a value that cannot be its own.
    Wrong {
        place: String,
        field: String,
        expected: &'static str,
        got: String,
    },
    /// Two fields that say different times of one run.
    Contradiction {
        place: String,
        fields: [&'static str; 2],
        /// The times that they say [s].
        times: [f64; 2],
    },
    /// No request was answered.
    AllFailed {
        place: String,
        tool: &'static str,
    },
    /// A record of another tool than the first.
    OtherTool {
        place: String,
        first: &'static str,
    },
    /// A file of a tool in a form without the values of a comparison.
    OtherForm {
        found: &'static str,
        instead: &'static str,
    },
    /// A file without rows.
    NoRows {
        tool: &'static str,
    },
    TooMany {
        count: usize,
        most: usize,
    },
    /// A line of CSV that cannot be read.
    Line {
        place: String,
        reason: &'static str,
    },
}

impl fmt::Display for MeasurementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self {
            Self::Empty => line.write_str("the file is empty"),
            Self::NoJsonNumber { field, literal } => write!(
                line,
                "{field} is {literal}, which the tool writes where it measured nothing; a number was expected"
            ),
            Self::Missing { place, field, tool, expected } => {
                write!(line, "{place} of {tool}: {field} is missing; expected {expected}")
            }
            Self::Wrong { place, field, expected, got } => {
                write!(line, "{place}: {field} must be {expected}; got {got}")
            }
            Self::Contradiction { place, fields: [a, b], times: [first, second] } => write!(
                line,
                "{place}: {a} says {first:.4} s and {b} says {second:.4} s; {a} must be in ns and {b} in token/s of one run"
            ),
            Self::AllFailed { place, tool } => {
                write!(line, "{place} of {tool}: no request was completed, so nothing was measured")
            }
            Self::OtherTool { place, first } => write!(
                line,
                "{place} is not of {first} as the first one is; give each tool's records in a file of their own"
            ),
            Self::OtherForm { found, instead } => write!(line, "this is {found}; {instead}"),
            Self::NoRows { tool } => write!(line, "this file of {tool} has no measurement"),
            Self::TooMany { count, most } => {
                write!(
                    line,
                    "the file has {count} measurements; at most {most} are compared at once"
                )
            }
            Self::Line { place, reason } => write!(line, "{place}: {reason}"),
        }
    }
}

impl core::error::Error for MeasurementError {}
