//! Quality loss of a scheme: a range scaled to the size of the model, with its source. The published rows are in
//! `catalog::quality`.

use crate::math;
use crate::provenance::Provenance;

/// Unit of a quality loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Relative rise of the perplexity [%].
    Perplexity,
    /// Relative loss of benchmark scores [%].
    TaskScore,
}

impl Metric {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Perplexity => "perplexity_rise_percent",
            Self::TaskScore => "task_score_loss_percent",
        }
    }
}

/// Smallest and largest expected quality loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QualityLoss {
    pub metric: Metric,
    /// Smaller end, in the unit of `metric` [%].
    pub low: f64,
    /// Larger end, in the unit of `metric` [%].
    pub high: f64,
    pub source: &'static str,
    pub provenance: Provenance,
}

/// Parameter counts that bound the segments of the size factor: constant up to `SMALL`, 1 within `MIDDLE`, constant
/// from `LARGE` on.
const SMALL: f64 = 3e9;
const MIDDLE: (f64, f64) = (6.5e9, 9e9);
const LARGE: f64 = 70e9;

/// Smallest and largest factor on the quality loss for a model size, relative to a model of 8 billion parameters.
///
/// ```text
/// 1.5 to 2 up to 3 billion parameters, 1 from 6.5 to 9 billion, 0.4 from 70 billion on; between them linear in
/// log(parameters)
/// ```
///
/// A judgment, not a measurement: larger models lose less.
///
/// ```
/// use calc_core::quality::size_factors;
/// assert_eq!(size_factors(1_000_000_000), (1.5, 2.0));
/// assert_eq!(size_factors(8_000_000_000), (1.0, 1.0));
/// assert_eq!(size_factors(405_000_000_000), (0.4, 0.4));
/// ```
pub fn size_factors(parameters: u64) -> (f64, f64) {
    let size = (parameters as f64).clamp(SMALL, LARGE);
    let blend = |from: f64, to: f64, low: f64, high: f64| {
        low + (high - low) * math::ln(size / from) / math::ln(to / from)
    };
    if size < MIDDLE.0 {
        (blend(SMALL, MIDDLE.0, 1.5, 1.0), blend(SMALL, MIDDLE.0, 2.0, 1.0))
    } else if size <= MIDDLE.1 {
        (1.0, 1.0)
    } else {
        let factor = blend(MIDDLE.1, LARGE, 1.0, 0.4);
        (factor, factor)
    }
}

impl QualityLoss {
    /// Scales the range from 8 billion parameters to another size.
    #[must_use]
    pub fn at_size(self, parameters: u64) -> Self {
        let (low, high) = size_factors(parameters);
        Self { low: self.low * low, high: self.high * high, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_models_never_lose_more() {
        let sizes =
            [1, 3, 4, 6, 7, 8, 9, 14, 32, 69, 70, 671].map(|billion| billion * 1_000_000_000);
        for pair in sizes.windows(2) {
            let (smaller, larger) = (size_factors(pair[0]), size_factors(pair[1]));
            assert!(larger.0 <= smaller.0 && larger.1 <= smaller.1, "{pair:?}");
            assert!(larger.0 <= larger.1, "{pair:?}");
        }
    }
}
