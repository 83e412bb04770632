//! Errors of the model as data. The message texts are in `report::output::words`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::quant_format::ComputeClass;
use crate::text::Text;

/// The request has no answer. A valid but unwelcome answer ("does not fit") is not an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A value is outside its allowed range, or is not a number.
    OutOfRange {
        /// Name of the input in requests.
        what: Text,
        value: f64,
        min: f64,
        max: f64,
    },
    /// No catalog row has the key.
    UnknownKey {
        /// Name of the catalog: hardware, model, format, power mode.
        catalog: &'static str,
        key: String,
        /// The most similar keys, best first; may be empty.
        nearest: Vec<String>,
    },
    /// The device has no peak on which this combination of formats can run.
    NoComputePath {
        /// Class requested by the formats.
        class: ComputeClass,
        device: Text,
    },
    /// A storage-only format was given for activations.
    StorageOnly {
        /// Key of the format.
        format: Text,
    },
    /// No clock, active SM count or bandwidth is published for the power mode.
    UnknownModeClock {
        device: Text,
        /// Name of the power mode.
        mode: Text,
    },
    /// The model cannot be split evenly over the devices.
    UnevenSplit {
        /// Kind of parallelism.
        parallel: &'static str,
        /// Number of devices in the split.
        ways: u64,
        /// Name of the count that must be divisible.
        what: &'static str,
        /// Value of that count in the model.
        count: u64,
    },
    /// An input does not apply to this kind of model.
    Inapplicable {
        /// Key of the input.
        input: &'static str,
        /// Part of the model to which it does not apply, or the model without the part.
        part: &'static str,
    },
    /// Two inputs exclude each other, or one requires the other.
    Conflict {
        first: &'static str,
        second: &'static str,
        /// True if the first requires the second; false if they exclude each other.
        needs: bool,
    },
    /// The answer needs a fact that is not published.
    UnknownFact {
        device: Text,
        /// Name of the missing fact.
        fact: &'static str,
    },
}

/// Checks that an integer is in its range.
///
/// # Errors
/// [`Error::OutOfRange`] with the name, the value and the range.
pub fn in_range(what: &'static str, value: u64, min: u64, max: u64) -> Result<u64, Error> {
    if value < min || value > max {
        return Err(Error::OutOfRange {
            what: Text::Borrowed(what),
            value: value as f64,
            min: min as f64,
            max: max as f64,
        });
    }
    Ok(value)
}

/// Checks that integers are in their ranges: name, value, least and largest.
///
/// # Errors
/// [`Error::OutOfRange`] for the first that is outside.
#[inline(never)] // Unrolled at each of its calls, it would be several kB of the page.
pub fn in_ranges(values: &[(&'static str, u64, u64, u64)]) -> Result<(), Error> {
    values
        .iter()
        .try_for_each(|(what, value, min, max)| in_range(what, *value, *min, *max).map(drop))
}

/// Checks that a real number is in its range; NaN is outside every range.
///
/// # Errors
/// [`Error::OutOfRange`] with the name, the value and the range.
pub fn real_in_range(what: &'static str, value: f64, min: f64, max: f64) -> Result<f64, Error> {
    if value >= min && value <= max {
        Ok(value)
    } else {
        Err(Error::OutOfRange { what: Text::Borrowed(what), value, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_outside_every_range() {
        assert!(real_in_range("acceptance", f64::NAN, 0.0, 1.0).is_err());
        assert!(real_in_range("acceptance", 1.0, 0.0, 1.0).is_ok());
    }
}
