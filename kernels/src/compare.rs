//! Comparison of a kernel's result with the f64 reference, element by element and NaN-safe.
//!
//! Rounding error of an FP32 sum, to first order: n successive roundings of 2⁻²⁴ each, relative to the sum of magnitudes. They go
//! up as often as down, so √n of them remain:
//!
//! ```text
//! |ŷ − y| ≤ n · 2⁻²⁴ · Σ|w|·|x|,      n = √(K / 16) + 48
//! ```
//!
//! Every kernel has at least 16 independent accumulators. 48 covers the other roundings of a term: two scales, a zero point,
//! block sums, the reduction, the scales of row and tensor. Products of bytes are exact.
//! With K / 16 in place of its root, a kernel that skips one element of 16,384 would pass.

use calc_core::math::sqrt;

use crate::reference::{ReferenceResult, UNIT_ROUNDOFF};

/// Independent accumulators of every kernel.
const ACCUMULATORS: usize = 16;
/// Roundings of a term outside the sum.
const OTHER_ROUNDINGS: f64 = 48.0;
/// Most outputs of a sample.
const SAMPLED: usize = 64;

/// The element with the largest error relative to its tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// Index of the element.
    pub index: usize,
    /// Value of the kernel.
    pub got: f64,
    /// Value of the reference.
    pub expected: f64,
    /// Absolute difference.
    pub error: f64,
    /// Largest difference that passes.
    pub tolerance: f64,
}

/// Reasons why a result is rejected.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Wrong number of elements.
    Length {
        /// Elements written.
        got: usize,
        /// Elements expected.
        expected: usize,
    },
    /// An element beyond its tolerance or NaN; the worst one.
    Element(Worst),
}

impl Worst {
    fn new(index: usize, got: f64, expected: f64, tolerance: f64) -> Self {
        Self { index, got, expected, error: (got - expected).abs(), tolerance }
    }

    /// Whether the error is within the tolerance; false for NaN.
    pub fn is_right(&self) -> bool {
        self.error <= self.tolerance
    }

    /// Error over tolerance; infinite for NaN.
    fn badness(&self) -> f64 {
        let share = self.error / self.tolerance;
        if share.is_nan() { f64::INFINITY } else { share }
    }
}

/// Compares a result with the reference. `Ok` holds the worst element, which shows how much of the tolerance was used.
///
/// # Errors
/// When the length differs, or an element is beyond its tolerance or NaN.
pub fn compare(got: &[f32], reference: &ReferenceResult) -> Result<Option<Worst>, Mismatch> {
    compare_rounded(got, reference, &|_| 0.0)
}

/// Compares a result that was rounded to fewer bits; `rounding` is the additional tolerance of an element.
///
/// # Errors
/// As [`compare`].
pub fn compare_rounded(
    got: &[f32],
    reference: &ReferenceResult,
    rounding: &dyn Fn(usize) -> f64,
) -> Result<Option<Worst>, Mismatch> {
    let expected = reference.values.len();
    if got.len() != expected {
        return Err(Mismatch::Length { got: got.len(), expected });
    }
    let elements = got.iter().zip(&reference.values).zip(&reference.magnitudes).enumerate();
    let worst = elements
        .map(|(index, ((got, expected), magnitude))| {
            let tolerance = tolerance(reference.terms, *magnitude) + rounding(index);
            Worst::new(index, f64::from(*got), *expected, tolerance)
        })
        .max_by(|a, b| a.badness().total_cmp(&b.badness()));
    match worst {
        Some(worst) if !worst.is_right() => Err(Mismatch::Element(worst)),
        other => Ok(other),
    }
}

/// An output beside its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledOutput {
    /// Its place among all outputs.
    pub at: usize,
    /// The kernel's value.
    pub got: f64,
    /// The reference of the operands as this kernel reads them.
    pub expected: f64,
    /// Σ|w|·|x|, the sum of magnitudes that rounding is relative to.
    pub magnitude: f64,
    /// Largest difference from the reference that passes.
    pub tolerance: f64,
}

/// Outputs from all over a result; `rounding` as in [`compare_rounded`]. None of a result of the wrong length.
pub fn sampled(
    got: &[f32],
    reference: &ReferenceResult,
    rounding: &dyn Fn(usize) -> f64,
) -> Vec<SampledOutput> {
    if got.len() != reference.values.len() {
        return Vec::new();
    }
    let step = got.len().div_ceil(SAMPLED).max(1);
    let sample = |at: usize| {
        let magnitude = reference.magnitudes[at];
        let tolerance = tolerance(reference.terms, magnitude) + rounding(at);
        let (got, expected) = (f64::from(got[at]), reference.values[at]);
        SampledOutput { at, got, expected, magnitude, tolerance }
    };
    (0..got.len()).step_by(step).map(sample).collect()
}

/// Tolerance by the equation of this module; at least the smallest normal FP32.
fn tolerance(terms: usize, magnitude: f64) -> f64 {
    let roundings = sqrt(terms.div_ceil(ACCUMULATORS) as f64) + OTHER_ROUNDINGS;
    roundings * UNIT_ROUNDOFF * magnitude + f64::from(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> ReferenceResult {
        ReferenceResult {
            values: vec![1.0, -2.0, 0.0],
            magnitudes: vec![10.0, 10.0, 0.0],
            terms: 100,
        }
    }

    #[test]
    fn what_is_right_passes_and_says_how_close_it_was() {
        let worst = compare(&[1.0, -2.000_01, 0.0], &reference()).unwrap().unwrap();
        assert_eq!(worst.index, 1);
        assert!(worst.error > 0.0 && worst.is_right());
    }

    #[test]
    fn the_worst_of_many_is_named() {
        let Err(Mismatch::Element(worst)) = compare(&[1.1, -3.0, 0.0], &reference()) else {
            panic!("two elements are off")
        };
        assert_eq!((worst.index, worst.error), (1, 1.0));
    }

    #[test]
    fn what_is_no_number_never_passes() {
        for spoiler in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for index in 0..3 {
                let mut got = [1.0, -2.0, 0.0];
                got[index] = spoiler;
                let Err(Mismatch::Element(worst)) = compare(&got, &reference()) else {
                    panic!("{spoiler} passed at {index}")
                };
                assert_eq!(worst.index, index);
            }
        }
        let broken = ReferenceResult { values: vec![f64::NAN], magnitudes: vec![1.0], terms: 1 };
        assert!(compare(&[0.0], &broken).is_err());
        let broken = ReferenceResult { values: vec![0.0], magnitudes: vec![f64::NAN], terms: 1 };
        assert!(compare(&[0.0], &broken).is_err());
    }

    #[test]
    fn a_sample_is_from_all_over_a_result_with_its_tolerance() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let reference = ReferenceResult { magnitudes: vec![10.0; 1000], values, terms: 100 };
        let got: Vec<f32> = (0..1000_u16).map(f32::from).collect();
        let samples = sampled(&got, &reference, &|at| at as f64);
        let places: Vec<usize> = samples.iter().map(|sample| sample.at).collect();
        assert_eq!((places.len(), &places[..2], places[62]), (63, &[0, 16][..], 992));
        let last = samples[62];
        assert_eq!((last.got, last.expected, last.magnitude), (992.0, 992.0, 10.0));
        assert!((last.tolerance - 992.0 - tolerance(100, 10.0)).abs() < 1e-9);
        assert_eq!(sampled(&got[1..], &reference, &|_| 0.0), []);
    }

    #[test]
    fn the_wrong_length_or_place_never_passes() {
        let length = compare(&[1.0, -2.0], &reference());
        assert_eq!(length, Err(Mismatch::Length { got: 2, expected: 3 }));
        assert!(compare(&[-2.0, 1.0, 0.0], &reference()).is_err());
        assert!(compare(&[], &reference()).is_err());
    }
}
