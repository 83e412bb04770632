//! The reasons why a request has no answer, each with its sentence.

use core::fmt::{self, Write};

use super::{calibration_file, device_file};
use crate::refusal_text::{OneLine, core_error, nearest_text};

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// The model refuses it.
    Core(calc_core::error::Error),
    /// A value that must be given.
    Missing {
        /// Its key.
        key: &'static str,
    },
    /// A name without a letter.
    Empty {
        /// Its key.
        key: &'static str,
    },
    /// A key that this verb does not have.
    UnknownField {
        /// As given.
        key: String,
        /// The nearest keys that it has.
        nearest: Vec<String>,
    },
    /// A field of another operator.
    NotOfOperator {
        /// As given.
        key: String,
        /// Operator of the request.
        operator: String,
        /// Its own fields.
        takes: Vec<&'static str>,
    },
    /// Not a number.
    NotANumber {
        /// Key.
        key: String,
        /// As given.
        value: String,
    },
    /// A count with a fraction.
    NotWhole {
        /// Key.
        key: String,
        /// As given.
        value: String,
    },
    /// A number, list or object where a name belongs.
    NotText {
        /// Key.
        key: String,
        /// As given.
        value: String,
    },
    /// Not one of a few words.
    NotOneOf {
        /// Key.
        key: &'static str,
        /// As given.
        value: String,
        /// The words.
        allowed: Vec<&'static str>,
    },
    /// A line that is not a JSON object.
    NotJson {
        /// What the parser says.
        reason: String,
    },
    /// A repository of the hub that the catalog does not know.
    UnknownModel {
        /// As given.
        name: String,
        /// The nearest keys of the catalog.
        nearest: Vec<String>,
    },
    /// A file that cannot be read.
    Unreadable {
        /// Its name.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A device file that is refused.
    DeviceFile {
        /// Its name.
        path: String,
        /// Why.
        error: device_file::DeviceFileError,
    },
    /// A calibration file that is refused.
    CalibrationFile {
        /// Its name.
        path: String,
        /// Why.
        error: calibration_file::CalibrationFileError,
    },
    /// A calibration of another device.
    OtherDevice {
        /// Name of the file.
        path: String,
        /// Key of its device.
        measured: String,
        /// Key of the device of the request.
        asked: String,
    },
    /// A model file that is refused.
    ModelFile {
        /// Its name.
        path: String,
        /// Why, as a sentence.
        reason: String,
    },
}

impl From<calc_core::error::Error> for RequestError {
    fn from(error: calc_core::error::Error) -> Self {
        Self::Core(error)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self {
            Self::Core(error) => line.write_str(&core_error(error)),
            Self::Missing { key } => write!(line, "{key} is missing"),
            Self::Empty { key } => write!(line, "{key} is empty; give a value or leave it out"),
            Self::UnknownField { key, nearest } => {
                write!(line, "unknown field `{key}`{}", nearest_text(nearest))
            }
            Self::NotOfOperator { key, operator, takes } => {
                write!(
                    line,
                    "unknown field `{key}` of {operator}, which takes {}",
                    takes.join(", ")
                )
            }
            Self::NotANumber { key, value } => {
                write!(line, "{key} must be a number; got `{value}`")?;
                if value.starts_with(|first: char| first.is_ascii_digit()) {
                    line.write_str("; write the number alone, such as 4096, 8k or 1e6")
                } else {
                    Ok(())
                }
            }
            Self::NotWhole { key, value } => {
                write!(line, "{key} must be a whole number; got {value}")
            }
            Self::NotText { key, value } => {
                write!(line, "{key} must be a name in quotes; got {value}")
            }
            Self::NotOneOf { key, value, allowed } => {
                write!(line, "{key} must be one of {}; got `{value}`", allowed.join(", "))
            }
            Self::NotJson { reason } => write!(line, "not a JSON object: {reason}"),
            Self::UnknownModel { name, nearest } => {
                let nearest = if nearest.is_empty() {
                    String::new()
                } else {
                    format!("; nearest: {}", nearest.join(", "))
                };
                write!(line, "`{name}` is not in the catalog{nearest}; give its config.json")
            }
            Self::Unreadable { path, reason } => write!(line, "cannot read {path}: {reason}"),
            Self::DeviceFile { path, error } => write!(line, "{path}: {error}"),
            Self::CalibrationFile { path, error } => write!(line, "{path}: {error}"),
            Self::OtherDevice { path, measured, asked } => {
                write!(line, "{path}: measured on {measured}; the request is about {asked}")
            }
            Self::ModelFile { path, reason } => write!(line, "{path}: {reason}"),
        }
    }
}

impl core::error::Error for RequestError {}
