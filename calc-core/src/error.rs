//! What the model refuses, as data. The sentences are in `report::output::words`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::quant_format::ComputeClass;
use crate::text::Text;

/// A request that has no answer. An answer that the reader may dislike ("does not fit") is not an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A value outside its allowed range, or no number at all.
    OutOfRange {
        /// The name of the input, as in a request.
        what: Text,
        /// The offending value.
        value: f64,
        /// Smallest allowed value.
        min: f64,
        /// Largest allowed value.
        max: f64,
    },
    /// A key that no catalog row has.
    UnknownKey {
        /// What was looked up: hardware, model, format, power mode.
        catalog: &'static str,
        /// The key as given.
        key: String,
        /// The nearest keys, best first; may be empty.
        nearest: Vec<String>,
    },
    /// The device has none of the peaks on which this combination could run.
    NoComputePath {
        /// Class that the formats ask for.
        class: ComputeClass,
        /// Device asked.
        device: Text,
    },
    /// A storage-only format was asked for activations.
    StorageOnly {
        /// Key of the format.
        format: Text,
    },
    /// A power mode whose clock, active SM count or bandwidth nobody has published.
    UnknownModeClock {
        /// Device.
        device: Text,
        /// Mode.
        mode: Text,
    },
    /// A split of the model over devices that does not come out even.
    UnevenSplit {
        /// Which kind of parallelism.
        parallel: &'static str,
        /// How many ways.
        ways: u64,
        /// What must divide.
        what: &'static str,
        /// Its count in the model.
        count: u64,
    },
    /// A split that this kind of model does not support.
    UnsupportedSplit {
        /// Which kind of parallelism.
        parallel: &'static str,
        /// Which part of the model refuses it.
        part: &'static str,
    },
    /// Two inputs that exclude each other, or one that needs the other.
    Conflict {
        /// First input.
        first: &'static str,
        /// Second input.
        second: &'static str,
        /// True when the first needs the second; false when they exclude each other.
        needs: bool,
    },
    /// A fact that the answer needs and that nobody has published.
    UnknownFact {
        /// Device.
        device: Text,
        /// Name of the fact.
        fact: &'static str,
    },
}

/// Checks a whole number against its range.
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

/// Checks a real number against its range; a NaN is outside every range.
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
