//! The size of all weights of a model where it is known better than from the formats alone.

use crate::units::Bytes;

/// Allowed range of the size of all weights [GB].
pub const WEIGHT_GB: (f64, f64) = (1e-6, 1e6);
/// Allowed range of the mean bits per weight.
pub const WEIGHT_BITS: (f64, f64) = (0.1, 64.0);

/// Size of the weights, when it is known better than from the formats alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightSize {
    /// All weights including embeddings; the size of a file.
    Total(Bytes),
    /// Mean bits per weight over all parameters.
    BitsPerWeight(f64),
    /// Weights that the decode step of the request reads, as stated by a source; all weights are scaled alike.
    Streamed(Bytes),
}
