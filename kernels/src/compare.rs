//! Whether a kernel's result is right: element by element against f64, safe against NaN.
//!
//! Error of a sum in FP32, to first order (n roundings after one another, each of 2⁻²⁴ relative to what is added up; they are as
//! often up as down, so √n of them remain):
//!
//! ```text
//! |ŷ − y| ≤ n · 2⁻²⁴ · Σ|w|·|x|,      n = √(K / 16) + 48
//! ```
//!
//! Every kernel adds up in 16 sums at least, side by side. 48 covers what a term passes besides: two scales, a zero point,
//! the sums of a block, joining the sums, the scale of row and tensor. Products of bytes are exact.
//! With K / 16 in place of its root, a kernel that leaves out an element of 16,384 would pass.

use calc_core::math::sqrt;

use crate::reference::ReferenceResult;

/// Half of the distance from 1 to the next FP32.
const ROUNDING: f64 = 1.0 / 16_777_216.0;
/// Sums that every kernel has side by side.
const SUMS: usize = 16;
/// Roundings that a term passes beside the sum.
const BESIDE: f64 = 48.0;

/// The element that is farthest off, as a share of what it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// Where.
    pub index: usize,
    /// What the kernel says.
    pub got: f64,
    /// What the reference says.
    pub expected: f64,
    /// How far apart they are.
    pub error: f64,
    /// How far they may be.
    pub tolerance: f64,
}

/// Why a result is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// It has the wrong number of elements.
    Length {
        /// What the kernel wrote.
        got: usize,
        /// What it should have.
        expected: usize,
    },
    /// An element is off by more than the tolerance, or is no number; the worst one.
    Element(Worst),
}

impl Worst {
    fn new(index: usize, got: f64, expected: f64, tolerance: f64) -> Self {
        Self { index, got, expected, error: (got - expected).abs(), tolerance }
    }

    /// True only for a number within the tolerance.
    pub fn is_right(&self) -> bool {
        self.error <= self.tolerance
    }

    /// Larger is worse; what is no number is worst.
    fn badness(&self) -> f64 {
        let share = self.error / self.tolerance;
        if share.is_nan() { f64::INFINITY } else { share }
    }
}

/// Compares a result with the reference. `Ok` has the worst element, too: how much of the tolerance it took.
///
/// # Errors
/// When the length differs, or an element is off or no number.
pub fn compare(got: &[f32], reference: &ReferenceResult) -> Result<Option<Worst>, Mismatch> {
    compare_rounded(got, reference, &|_| 0.0)
}

/// The same for results that were rounded to fewer bits: how much more each may be off for that reason.
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

/// See the head of the file; not below the smallest normal FP32.
fn tolerance(terms: usize, magnitude: f64) -> f64 {
    let roundings = sqrt(terms.div_ceil(SUMS) as f64) + BESIDE;
    roundings * ROUNDING * magnitude + f64::from(f32::MIN_POSITIVE)
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
    fn the_wrong_length_or_place_never_passes() {
        let length = compare(&[1.0, -2.0], &reference());
        assert_eq!(length, Err(Mismatch::Length { got: 2, expected: 3 }));
        assert!(compare(&[-2.0, 1.0, 0.0], &reference()).is_err());
        assert!(compare(&[], &reference()).is_err());
    }
}
