//! One measurement of a file, whatever the file's form.

use calc_core::catalog;
use calc_core::units::Seconds;

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    /// Format of the weights as the file has it.
    pub(super) weights: String,
    /// Format of the activations, if the file has it.
    pub(super) activations: Option<String>,
    /// Time.
    pub(super) time: Seconds,
    /// m, n and k, if the file has them.
    pub(super) shape: Option<(u64, u64, u64)>,
}

impl Measured {
    /// Its weights are in the format with this key.
    pub(super) fn is_of(&self, key: &str) -> bool {
        same_format(&self.weights, key)
    }
}

/// Two names of one format, whatever their case.
pub(super) fn same_format(a: &str, b: &str) -> bool {
    let key =
        |name: &str| catalog::format(name).map_or(name.to_owned(), |format| format.key.to_owned());
    key(a) == key(b)
}

/// A positive time.
pub(super) fn checked(time: f64) -> Result<Seconds, String> {
    if time > 0.0 && time < 1e9 {
        Ok(Seconds::new(time))
    } else {
        Err(format!("a time must be positive; got {time} s"))
    }
}
