//! Reference results in f64 of attention and of the operators that stream, with the tolerance of each value.
//!
//! Bounds are to first order in the unit roundoff u of FP32, as in `compare`, for kernels that compute in FP32:
//!
//! ```text
//! norm        |ŷ − y| ≤ 32 u |y|                     sum of squares, root, two products; the sums of 4 vectors go up and down
//! rotation    |ŷ − y| ≤  4 u (|a cos| + |b sin|)
//! gate        |ŷ − y| ≤ (32 + |g|) u |y|             e^−g to 4 u and, by the rounding of its argument, |g| u
//! embedding   exact
//! attention   |ô − o| ≤ Σ p |v| (r + e) + Σ p e |v|     e = (√(d / 16) + 8) u Σ|q k| / √d,  r = (√(S / 16) + 48) u
//! ```
//!
//! p are the weights of the S keys, e bounds the error of a score, and a weight has the same error, relative to it; the sum of the
//! weights has the mean of these errors. A result that is rounded to FP16 may be half a unit of FP16 off in addition. Where tensor cores
//! multiply the values, each weight is rounded before, which adds h Σ p |v| + s Σ |v| / Σ e^(x − largest x), h and s half a unit in the last
//! place of its format, relative and of its subnormal numbers.

use calc_core::math::{exp, sqrt};

use super::UNIT_ROUNDOFF;

/// Half a unit in the last place of FP16, relative; and of its subnormal numbers, absolute.
const HALF_PRECISION: (f64, f64) = (1.0 / 2048.0, 1.0 / 33_554_432.0);
/// Roundings of a normalized or gated value.
const ROUNDINGS: f64 = 32.0;

/// A kernel may take e^x of larger x for that of this one, just below the largest number of FP32.
const SATURATION: f64 = 88.0;

/// Expected values, each with the largest difference that passes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounded {
    pub values: Vec<f64>,
    pub tolerances: Vec<f64>,
}

impl Bounded {
    fn push(&mut self, value: f64, tolerance: f64) {
        self.values.push(value);
        // Results below the normal numbers may become zero.
        self.tolerances.push(tolerance + f64::from(f32::MIN_POSITIVE));
    }

    /// Widens the tolerances by the rounding of a kernel whose results are FP16.
    #[must_use]
    pub fn rounded_to_half(mut self) -> Self {
        for (value, tolerance) in self.values.iter().zip(&mut self.tolerances) {
            *tolerance += (value.abs() * HALF_PRECISION.0).max(HALF_PRECISION.1);
        }
        self
    }

    /// Largest error over tolerance; infinite for NaN, and where the number of values differs.
    pub fn error(&self, got: impl ExactSizeIterator<Item = f32>) -> f64 {
        if got.len() != self.values.len() {
            return f64::INFINITY;
        }
        let expected = self.values.iter().zip(&self.tolerances);
        let errors = got.zip(expected).map(|(got, (value, tolerance))| {
            let share = (f64::from(got) - value).abs() / tolerance;
            if share.is_nan() { f64::INFINITY } else { share }
        });
        errors.fold(0.0, f64::max)
    }
}

/// The sum of residual and branch of one token; FP16 is rounded by the kernel before the norm, so the norm has it rounded.
pub fn added(residual: &[f64], branch: &[f64]) -> Bounded {
    let mut sums = Bounded::default();
    for (x, b) in residual.iter().zip(branch) {
        sums.push(x + b, UNIT_ROUNDOFF * (x + b).abs());
    }
    sums
}

/// The norm of one token's sum.
pub fn normalized(sum: &[f64], weights: &[f64], epsilon: f64) -> Bounded {
    let squares: f64 = sum.iter().map(|x| x * x).sum();
    let factor = 1.0 / sqrt(squares / sum.len() as f64 + epsilon);
    let mut y = Bounded::default();
    for (x, w) in sum.iter().zip(weights) {
        let value = x * factor * w;
        y.push(value, ROUNDINGS * UNIT_ROUNDOFF * value.abs());
    }
    y
}

/// One head after rotation of its halves.
pub fn rotated(head: &[f64], cosines: &[f64], sines: &[f64]) -> Bounded {
    let (a, b) = head.split_at(head.len() / 2);
    let pairs = || a.iter().zip(b).zip(cosines.iter().zip(sines));
    let mut y = Bounded::default();
    let mut push = |plus: f64, other: f64| {
        y.push(plus + other, 4.0 * UNIT_ROUNDOFF * (plus.abs() + other.abs()));
    };
    pairs().for_each(|((a, b), (cos, sin))| push(a * cos, -b * sin));
    pairs().for_each(|((a, b), (cos, sin))| push(b * cos, a * sin));
    y
}

/// SiLU(gate) · up.
pub fn gated(gate: &[f64], up: &[f64]) -> Bounded {
    let mut y = Bounded::default();
    for (g, u) in gate.iter().zip(up) {
        let value = g * u / (1.0 + exp(-g));
        let saturated = (g * u).abs() * exp(-SATURATION);
        y.push(value, (ROUNDINGS + g.abs()) * UNIT_ROUNDOFF * value.abs() + saturated);
    }
    y
}

/// How a kernel rounds the weights of keys before they multiply values: half a unit in the last place, relative; and of subnormal numbers,
/// of a weight whose largest one is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightRounding {
    relative: f64,
    absolute: f64,
}

impl WeightRounding {
    /// They stay in FP32.
    pub const NONE: Self = Self { relative: 0.0, absolute: 0.0 };
    /// To FP16.
    pub const FP16: Self = Self { relative: HALF_PRECISION.0, absolute: HALF_PRECISION.1 };
    /// To BF16, whose smallest numbers are those of FP32.
    pub const BF16: Self = Self { relative: 1.0 / 256.0, absolute: 0.0 };
}

/// Attention of one query to keys and values, rows of the query's width, by a kernel in FP32.
pub fn attended(query: &[f64], keys: &[f64], values: &[f64]) -> Bounded {
    attended_with(WeightRounding::NONE, query, keys, values)
}

/// As [`attended`], by a kernel that rounds the weights of keys.
pub fn attended_with(
    rounding: WeightRounding,
    query: &[f64],
    keys: &[f64],
    values: &[f64],
) -> Bounded {
    let d = query.len();
    let scale = 1.0 / sqrt(d as f64);
    let roundings = (sqrt(d.div_ceil(16) as f64) + 8.0) * UNIT_ROUNDOFF;
    let scores: Vec<(f64, f64)> = keys
        .chunks_exact(d)
        .map(|key| {
            let products = query.iter().zip(key).map(|(q, k)| q * k);
            let (sum, size) = products.fold((0.0, 0.0), |(s, m), x| (s + x, m + f64::abs(x)));
            (sum * scale, size * scale * roundings)
        })
        .collect();
    let largest = scores.iter().fold(f64::NEG_INFINITY, |most, (score, _)| most.max(*score));
    let weights: Vec<f64> = scores.iter().map(|(score, _)| exp(score - largest)).collect();
    let total: f64 = weights.iter().sum();
    let mean_error =
        weights.iter().zip(&scores).map(|(p, (_, error))| p * error).sum::<f64>() / total;
    let sums = (sqrt(scores.len().div_ceil(16) as f64) + 48.0) * UNIT_ROUNDOFF;
    let (mut out, mut sizes, mut errors) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
    for ((p, (_, error)), value) in weights.iter().zip(&scores).zip(values.chunks_exact(d)) {
        for (i, v) in value.iter().enumerate() {
            out[i] += p / total * v;
            sizes[i] += p / total * v.abs();
            errors[i] += (p * (error + rounding.relative) + rounding.absolute) / total * v.abs();
        }
    }
    let mut bounded = Bounded::default();
    for i in 0..d {
        bounded.push(out[i], sizes[i] * (sums + mean_error) + errors[i]);
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(bounded: &Bounded, expected: &[f64]) {
        assert_eq!(bounded.values.len(), expected.len());
        for (value, expected) in bounded.values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        }
    }

    #[test]
    fn results_by_hand() {
        near(&added(&[1.0, -2.0], &[0.5, 0.5]), &[1.5, -1.5]);
        // √((9 + 16) / 2) is 3.5355.
        near(&normalized(&[3.0, 4.0], &[1.0, 2.0], 0.0), &[0.848_528_137, 2.262_741_700]);
        near(&rotated(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0], &[1.0, 0.0]), &[-3.0, 2.0, 1.0, 4.0]);
        near(&gated(&[0.0, 1.0], &[5.0, 2.0]), &[0.0, 1.462_117_157]);
        // Equal scores: the mean of the values. A score of ln 3 above the other: three quarters.
        near(&attended(&[0.0], &[1.0, 2.0], &[4.0, 8.0]), &[6.0]);
        near(&attended(&[1.098_612_289], &[1.0, 0.0], &[4.0, 8.0]), &[5.0]);
        // Four dimensions: the score is half the product.
        let keys = [2.197_224_577, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let values = [4.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 1.0];
        near(&attended(&[1.0, 0.0, 0.0, 0.0], &keys, &values), &[5.0, 0.0, 0.0, 0.25]);
    }

    #[test]
    fn rounded_weights_add_half_a_unit_of_their_format() {
        let tolerance =
            |rounding| attended_with(rounding, &[0.0], &[1.0, 2.0], &[4.0, 8.0]).tolerances[0];
        // Two weights of a half, each rounded from 1; mean magnitude 6.
        let more = |rounding| tolerance(rounding) - tolerance(WeightRounding::NONE);
        for (rounding, expected) in [
            (WeightRounding::FP16, 6.0 / 2048.0 + 6.0 / 33_554_432.0),
            (WeightRounding::BF16, 6.0 / 256.0),
        ] {
            assert!((more(rounding) - expected).abs() < 1e-12, "{rounding:?}");
        }
    }

    #[test]
    fn an_error_is_a_share_of_the_tolerance() {
        let bounded = Bounded { values: vec![1.0, 2.0], tolerances: vec![0.5, 0.25] };
        for (got, expected) in [
            (vec![1.0, 2.0], 0.0),
            (vec![1.25, 2.0], 0.5),
            (vec![1.0, 1.0], 4.0),
            (vec![1.0], f64::INFINITY),
            (vec![f32::NAN, 2.0], f64::INFINITY),
            (vec![1.0, f32::INFINITY], f64::INFINITY),
        ] {
            let error = bounded.error(got.iter().copied());
            let is_same = error.is_infinite() == expected.is_infinite();
            let is_near = error.is_infinite() || (error - expected).abs() < 1e-12;
            assert!(is_same && is_near, "{got:?}: {error}");
        }
        let half = bounded.rounded_to_half();
        assert!((half.tolerances[1] - (0.25 + 2.0 / 2048.0)).abs() < 1e-12);
    }
}
