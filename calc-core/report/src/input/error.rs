//! Reasons why a request is refused, each with its sentence.

use core::fmt::{self, Write};

use super::{calibration_file, device_file};
use crate::refusal_text::{OneLine, core_error, nearest_text};

/// Reasons why a request is refused.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// Refused by `calc-core`.
    Core(calc_core::error::Error),
    /// A required value is absent.
    Missing {
        key: &'static str,
    },
    /// Empty or blank text.
    Empty {
        key: &'static str,
    },
    /// A machine that is no device of the catalog; a sentence.
    Here {
        reason: String,
    },
    /// A key that this verb does not have.
    UnknownField {
        key: String,
        /// Nearest keys of the verb.
        nearest: Vec<String>,
    },
    /// A field of another operator.
    NotOfOperator {
        key: String,
        operator: String,
        /// Keys of the request's operator.
        takes: Vec<&'static str>,
    },
    NotANumber {
        key: String,
        value: String,
    },
    /// A count with a fraction.
    NotWhole {
        key: String,
        value: String,
    },
    /// A value that another field says, too, as another one.
    Twice {
        key: &'static str,
        /// The other field, with its words.
        of: &'static str,
        value: String,
    },
    /// A text that says a part more than once.
    SaidTwice {
        key: &'static str,
        part: &'static str,
        value: String,
    },
    /// A text that is no size of an image.
    NotASize {
        key: &'static str,
        value: String,
    },
    /// A number, list or object in place of a text.
    NotText {
        key: String,
        value: String,
    },
    /// A word outside a fixed set.
    NotOneOf {
        key: &'static str,
        value: String,
        allowed: Vec<&'static str>,
    },
    /// Anything but a list of JSON objects of a length in this range.
    NotObjects {
        key: &'static str,
        least: usize,
        most: usize,
    },
    /// A refusal of one scenario of several.
    InScenario {
        /// Place in the list, from 1.
        number: usize,
        error: Box<Self>,
    },
    /// A refusal of one run of a file of measurements.
    InRun {
        /// Name of the run.
        label: String,
        error: Box<Self>,
    },
    /// A field that a file of measurements does not tell, or does not take.
    NotInFile {
        key: &'static str,
        /// Name of the tool that wrote it.
        tool: &'static str,
    },
    /// A model that only a file of measurements names.
    ModelOfFile {
        name: String,
        /// Field of the file.
        of: &'static str,
    },
    /// Any number of kernels but one.
    OneKernel {
        found: usize,
        /// Names to choose from, at most a few.
        names: Vec<String>,
    },
    /// A line that is not a JSON object.
    NotJson {
        /// Message of the parser.
        reason: String,
    },
    /// A list of cards where one device is asked for.
    SeveralCards {
        name: String,
    },
    /// A repository of the hub without a catalog row.
    UnknownModel {
        name: String,
        /// Nearest keys of the catalog.
        nearest: Vec<String>,
    },
    /// A file that cannot be read.
    Unreadable {
        path: String,
        /// Message of the system.
        reason: String,
    },
    DeviceFile {
        path: String,
        error: device_file::DeviceFileError,
    },
    CalibrationFile {
        path: String,
        error: calibration_file::CalibrationFileError,
    },
    /// A calibration of another device.
    OtherDevice {
        path: String,
        /// Device key in the file.
        measured: String,
        /// Device key in the request.
        asked: String,
    },
    ModelFile {
        path: String,
        /// Refusal as a sentence.
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
            Self::Here { reason } => line.write_str(reason),
            Self::Missing { key: "weights" } => {
                line.write_str("weights is missing; name a format such as fp16, q4_k_m or awq")
            }
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
                if key.ends_with("_gb") {
                    line.write_str("; write it alone or with GB or GiB, such as 24, 24GB or 24GiB")
                } else if value.starts_with(|first: char| first.is_ascii_digit()) {
                    line.write_str("; write the number alone, such as 4096, 8k or 1e6")
                } else {
                    Ok(())
                }
            }
            Self::NotWhole { key, value } => {
                write!(line, "{key} must be a whole number; got {value}")
            }
            Self::Twice { key, of, value } => {
                write!(line, "{key} and {of} `{value}` name different values; give one of them")
            }
            Self::SaidTwice { key, part, value } => {
                write!(line, "{key} `{value}` names more than one {part}; give one")
            }
            Self::NotASize { key, value } => {
                write!(
                    line,
                    "{key} must be width and height in pixels, such as 1024x768, or 3x1024x768 for three images; got `{value}`"
                )
            }
            Self::NotText { key, value } => {
                write!(line, "{key} must be a name in quotes; got {value}")
            }
            Self::NotOneOf { key, value, allowed } => {
                write!(line, "{key} must be one of {}; got `{value}`", allowed.join(", "))
            }
            Self::NotObjects { key, least, most } => {
                write!(line, "{key} must be a list of {least} to {most} JSON objects")
            }
            Self::InScenario { number, error } => write!(line, "scenario {number}: {error}"),
            Self::InRun { label, error } => write!(line, "{label}: {error}"),
            Self::NotInFile { key: "kernel", tool } => {
                write!(
                    line,
                    "kernel chooses among the kernels of a profile, and a file of {tool} has none"
                )
            }
            Self::NotInFile { key, tool } => {
                write!(line, "{key} is missing; a file of {tool} does not tell it")
            }
            Self::ModelOfFile { name, of } => write!(
                line,
                "the file names the model `{name}` ({of}), which the catalog does not have; name it with model"
            ),
            Self::OneKernel { found, names } => write!(
                line,
                "kernel must choose one kernel of the profile and chooses {found}; some are {}",
                names.join(", ")
            ),
            Self::NotJson { reason } => write!(line, "not a JSON object: {reason}"),
            Self::SeveralCards { name } => write!(
                line,
                "`{name}` lists several cards, and only estimate and check take unlike ones; name one device here"
            ),
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
