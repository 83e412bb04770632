//! The format of a matrix as a file stores it: one of the catalog, with a factor where that is only the nearest.

use super::quantization::QuantizerFormats;
use crate::quant_format::QuantFormat;
use crate::units::Bytes;

/// A format with the bytes of the file relative to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stored {
    pub(super) format: &'static QuantFormat,
    factor: f64,
}

impl Stored {
    pub(super) const fn plain(format: &'static QuantFormat) -> Self {
        Self { format, factor: 1.0 }
    }

    pub(super) const fn of(found: &QuantizerFormats) -> Self {
        Self { format: found.weights, factor: found.factor }
    }

    pub(super) fn bits(&self) -> f64 {
        self.format.bits_per_element() * self.factor
    }

    pub(super) fn bytes(&self, rows: u64, cols: u64) -> Bytes {
        self.format.stored_bytes(rows, cols) * self.factor
    }
}
