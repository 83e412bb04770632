//! Rows of the format table.

use calc_core::analysis::Analysis;
use calc_core::error::Error;
use calc_core::quant_format::QuantFormat;
use chart::mark::{Mark, mark};
use report::number_text as text;
use report::output::lesson;
use report::output::verdict::{class_name, explain};

use super::{Cell, OperatorQuestion, refusal};
use crate::state::inputs::ComparedRole;

/// Number of columns after the format: bytes, FLOP/B, ideal, expected, speedup.
pub const COLUMNS: usize = 5;

/// A format in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRow {
    /// Key of the format.
    pub key: String,
    pub name: String,
    pub mark: Mark,
    /// The user chose this format.
    pub chosen: bool,
    pub state: RowState,
}

/// Numbers of a row, or the reason why there are none.
#[derive(Debug, Clone, PartialEq)]
pub enum RowState {
    /// The device computes the format.
    Runs {
        /// Class that it is computed in, if that differs from the format.
        computes_as: Option<String>,
        /// Bytes, FLOP/B, ideal, expected, speedup.
        cells: Box<[Cell; COLUMNS]>,
        /// Interval of the expected time.
        interval: String,
    },
    /// The device or a rule refuses the format.
    Refused {
        /// The reason as a sentence.
        reason: String,
    },
}

impl KernelRow {
    /// Class that the format is computed in, if that differs from the format.
    pub fn computes_as(&self) -> Option<String> {
        match &self.state {
            RowState::Runs { computes_as, .. } => computes_as.clone(),
            RowState::Refused { .. } => None,
        }
    }

    /// The remaining numbers of the chosen row, which small screens show below it.
    pub fn rest(&self) -> Option<String> {
        match &self.state {
            RowState::Runs { cells, interval, .. } if self.chosen => {
                let [bytes, intensity, ..] = &**cells;
                Some(format!("{} · {} FLOP/B · expected {interval}", bytes.text, intensity.text))
            }
            RowState::Runs { .. } | RowState::Refused { .. } => None,
        }
    }
}

impl OperatorQuestion<'_> {
    pub(super) fn row(
        &self,
        format: &'static QuantFormat,
        answer: &Result<Analysis, Error>,
        baseline: Option<&Analysis>,
    ) -> KernelRow {
        let state = match answer {
            Ok(answer) => self.numbers(format, answer, baseline),
            Err(error) => RowState::Refused { reason: refusal(error) },
        };
        KernelRow {
            key: format.key.to_owned(),
            name: format.short_name.to_owned(),
            mark: mark(format.key),
            chosen: format.key == self.inputs.format().key,
            state,
        }
    }

    fn numbers(
        &self,
        format: &QuantFormat,
        answer: &Analysis,
        baseline: Option<&Analysis>,
    ) -> RowState {
        let expected = answer.expected;
        // Only weights can be computed in their own format; the format of a cache or carrier does not determine the arithmetic.
        let is_itself =
            self.inputs.role() != ComparedRole::Weights || format.class == Some(answer.path.class);
        let computes_as = (!is_itself).then(|| class_name(answer.path.class));
        let speedup = match baseline {
            Some(baseline) => Cell {
                text: text::ratio(baseline.expected.time / expected.time),
                explanation: explain::speedup(answer, baseline),
            },
            None => Cell {
                text: text::NO_NUMBER.to_owned(),
                explanation: explain::fact(
                    "No 16-bit baseline on this device",
                    expected.provenance,
                    &self.inputs.device,
                    lesson::EXPECTED,
                ),
            },
        };
        RowState::Runs {
            computes_as,
            interval: text::time_range(expected.low, expected.high),
            cells: Box::new([
                Cell {
                    text: text::bytes(answer.cost.traffic.total()),
                    explanation: explain::bytes(answer, &self.operator),
                },
                Cell {
                    text: text::plain(answer.cost.intensity().get()),
                    explanation: explain::intensity(answer, &self.operator),
                },
                Cell {
                    text: text::time(answer.ideal),
                    explanation: explain::ideal(answer, &self.inputs.device),
                },
                Cell { text: text::time(expected.time), explanation: explain::expected(answer) },
                speedup,
            ]),
        }
    }
}
