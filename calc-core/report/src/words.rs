//! Sentences: what was refused and why, and what an answer should be read with. One wording for page, CLI and REST.

mod errors;
mod notes;

pub use errors::nearest_text;
pub use notes::{analyze_notes, estimate_notes};

use calc_core::compare::Fit;
use calc_core::roofline::Bound;

/// How the energy of an estimate comes about.
pub const ENERGY_BASIS: &str = "estimate: idle + (TDP - idle) * ideal / expected";

/// Why there is none.
pub const ENERGY_UNKNOWN: &str =
    "unknown: nobody has published the power of this device, or the link it waits for";

/// The bound in one word.
pub const fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory",
        Bound::Compute => "compute",
    }
}

/// A verdict on a comparison of theory and measurement.
pub const fn fit(fit: Fit) -> &'static str {
    match fit {
        Fit::Excellent => "excellent: the mean error is under 10 %",
        Fit::Fair => "fair: the mean error is under 20 %",
        Fit::Poor => {
            "poor: the mean error is 20 % or more. Likely causes: the timed loop reads from cache instead of DRAM; \
             clocks or power mode are not the ones named; dequantization is not fused; the timer includes launches; \
             the kernel is far from the roof for this shape"
        }
    }
}
