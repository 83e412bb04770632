//! Fields of a record, checked as they are read: every refusal names record, field and what was expected.

use calc_core::units::Seconds;
use serde_json::{Map, Value};

use super::error::MeasurementError;

/// Times outside of this range are no times of a run [s].
const TIMES: (f64, f64) = (1e-12, 1e9);
/// Times and rates outside of this range are none in any unit; the inverse of a smaller one is infinite.
const REALS: (f64, f64) = (1e-12, 1e18);
/// Largest count of tokens, requests or layers.
const MOST: f64 = 1e12;
/// Largest number of characters of a value in a sentence.
const SHOWN: usize = 60;

/// A record of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) fields: &'a Map<String, Value>,
    /// Place in the file, from 1.
    pub(super) number: usize,
    /// Name of the tool.
    pub(super) tool: &'static str,
}

impl<'a> Record<'a> {
    pub(super) fn place(&self) -> String {
        format!("record {}", self.number)
    }

    pub(super) fn missing(&self, field: &str, expected: &'static str) -> MeasurementError {
        MeasurementError::Missing {
            place: self.place(),
            field: field.into(),
            tool: self.tool,
            expected,
        }
    }

    pub(super) fn wrong(
        &self,
        field: &str,
        expected: &'static str,
        got: &Value,
    ) -> MeasurementError {
        MeasurementError::Wrong {
            place: self.place(),
            field: field.into(),
            expected,
            got: clipped(&got.to_string()),
        }
    }

    /// A value that is not null.
    pub(super) fn get(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, field: &str) -> Option<&'a str> {
        self.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    /// A whole number from 0; `None` where the field is absent.
    pub(super) fn maybe_count(&self, field: &str) -> Result<Option<u64>, MeasurementError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let refused = || self.wrong(field, "a whole number from 0", value);
        let number = value.as_f64().filter(|number| number.fract() == 0.0);
        number.and_then(whole).map(Some).ok_or_else(refused)
    }

    pub(super) fn count(&self, field: &str) -> Result<u64, MeasurementError> {
        self.maybe_count(field)?.ok_or_else(|| self.missing(field, "a whole number from 0"))
    }

    /// A number above 0; `None` where the field is absent.
    pub(super) fn maybe_real(
        &self,
        field: &str,
        expected: &'static str,
    ) -> Result<Option<f64>, MeasurementError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let number = value.as_f64().filter(|number| (REALS.0..=REALS.1).contains(number));
        number.map(Some).ok_or_else(|| self.wrong(field, expected, value))
    }

    /// A time in a unit of `per_second` to the second; `None` where the field is absent.
    pub(super) fn maybe_time(
        &self,
        field: &str,
        (per_second, expected): (f64, &'static str),
    ) -> Result<Option<Seconds>, MeasurementError> {
        let Some(number) = self.maybe_real(field, expected)? else { return Ok(None) };
        let time = number / per_second;
        if (TIMES.0..=TIMES.1).contains(&time) {
            Ok(Some(Seconds::new(time)))
        } else {
            Err(self.wrong(field, expected, &self.fields[field]))
        }
    }

    pub(super) fn time(
        &self,
        field: &str,
        unit: (f64, &'static str),
    ) -> Result<Seconds, MeasurementError> {
        self.maybe_time(field, unit)?.ok_or_else(|| self.missing(field, unit.1))
    }
}

/// Units of times: number per second, and the words of a refusal.
pub(super) const SECONDS: (f64, &str) = (1.0, "a time in seconds above 0");
pub(super) const MILLISECONDS: (f64, &str) = (1e3, "a time in ms above 0");
pub(super) const NANOSECONDS: (f64, &str) = (1e9, "a time in ns above 0");

/// A count without its fraction; `None` below 0, above the largest one, and for NaN.
pub(super) fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked, and a fraction is dropped on purpose"
    )]
    (0.0..=MOST).contains(&number).then_some(number as u64)
}

/// The first characters of a text.
pub(super) fn clipped(text: &str) -> String {
    let clip: String = text.chars().take(SHOWN).collect();
    if clip.len() < text.len() { format!("{clip}…") } else { clip }
}
