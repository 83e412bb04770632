//! The percentile bootstrap interval of a median, computed exactly instead of by random draws.

use calc_core::math::{exp, ln, sqrt};

use super::{Confidence, effective_size, median_of_sorted, sorted};

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the interval contains a value.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The percentile bootstrap interval of the median.
    ///
    /// For `m` draws with replacement from `n` sorted samples, the r-th smallest draw is at most `x[k]` if at least `r` draws are
    /// among the first `k`:
    ///
    /// ```text
    /// P(draw[r] ≤ x[k]) = P(B(m, k/n) ≥ r)      B binomial
    /// ```
    ///
    /// So the distribution of the median of all possible draws is known, and no random generator is needed. `m` is the
    /// [`effective_size`]; with `m = n` it is Efron's bootstrap.
    /// With an even `m` the ends are those of the two middle draws, which is conservative.
    pub(super) fn of_sorted(sorted: &[f64], m: usize, confidence: Confidence) -> Self {
        let n = sorted.len();
        let rank = m.div_ceil(2);
        let outside = (1.0 - confidence.share) / 2.0;
        // The last sample that the lower middle draw falls below with the tail probability.
        let is_outside = |k: usize| at_least(m, k as f64 / n as f64, rank) <= outside;
        let (mut yes, mut no) = (0, n);
        while no - yes > 1 {
            let middle = usize::midpoint(yes, no);
            if is_outside(middle) { yes = middle } else { no = middle }
        }
        let low = yes.min((n - 1) / 2);
        Self { low: sorted[low], high: sorted[n - 1 - low] }
    }

    /// Interval of the median of samples in the order in which they were taken. `None` without samples, or if one is NaN.
    pub fn of_median(samples: &[f64], confidence: Confidence) -> Option<Self> {
        let sorted = sorted(samples)?;
        Some(Self::of_sorted(&sorted, effective_size(samples, confidence), confidence))
    }
}

/// P(B(m, p) ≥ rank), computed relative to the largest term, so that nothing overflows or underflows.
fn at_least(m: usize, p: f64, rank: usize) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p >= 1.0 || rank == 0 { 1.0 } else { 0.0 };
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most m")]
    let mode = (((m + 1) as f64 * p) as usize).min(m);
    let odds = p / (1.0 - p);
    let up = |k: usize| (m - k) as f64 / (k + 1) as f64 * odds;
    let (mut total, mut upper) = (0.0, 0.0);
    let mut add = |k: usize, term: f64| {
        total += term;
        if k >= rank {
            upper += term;
        }
        // Smaller terms change no digit of the sum.
        term > 1e-17
    };
    let (mut k, mut term) = (mode, 1.0);
    while add(k, term) && k < m {
        term *= up(k);
        k += 1;
    }
    (k, term) = (mode, 1.0);
    while k > 0 {
        term /= up(k - 1);
        k -= 1;
        if !add(k, term) {
            break;
        }
    }
    upper / total
}

/// Ratio median(b) / median(a) of two independent series, and its interval.
/// On a logarithmic scale, the distances of the medians from their ends add in quadrature (Zou and Donner's MOVER).
/// `None` if a series is empty or has a value that is not positive.
pub fn ratio_interval(a: &[f64], b: &[f64], confidence: Confidence) -> Option<(f64, Interval)> {
    let logs = |samples: &[f64]| -> Option<(f64, Interval)> {
        if samples.iter().any(|x| !(*x > 0.0 && x.is_finite())) {
            return None;
        }
        let logs: Vec<f64> = samples.iter().map(|x| ln(*x)).collect();
        let sorted = sorted(&logs)?;
        Some((median_of_sorted(&sorted), Interval::of_median(&logs, confidence)?))
    };
    let ((a, of_a), (b, of_b)) = (logs(a)?, logs(b)?);
    let sides = |x: f64, y: f64| sqrt(x * x + y * y);
    let low = b - a - sides(b - of_b.low, of_a.high - a);
    let high = b - a + sides(of_b.high - b, a - of_a.low);
    Some((exp(b - a), Interval { low: exp(low), high: exp(high) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::stats::{ALARM, CONFIDENCE};

    #[test]
    fn binomial_tails_by_hand() {
        // B(10, 0.2): P(≥ 5) = 1 − (0.107374 + 0.268435 + 0.301990 + 0.201327 + 0.088080) = 0.032793.
        for (m, p, rank, expected) in [
            (10, 0.2, 5, 0.032_793),
            (10, 0.1, 5, 0.001_635),
            (1, 0.3, 1, 0.3),
            (3, 0.5, 2, 0.5),
            (5, 0.0, 1, 0.0),
            (5, 1.0, 5, 1.0),
            (5, 0.4, 0, 1.0),
        ] {
            let got = at_least(m, p, rank);
            assert!((got - expected).abs() < 1e-6, "{m} {p} {rank}: {got}");
        }
    }

    #[test]
    fn large_samples_neither_overflow_nor_vanish() {
        let got = at_least(100_000, 0.5, 50_001);
        assert!((got - 0.4987).abs() < 1e-3, "{got}");
        assert!(at_least(100_000, 0.4, 50_000) < 1e-100);
    }

    #[test]
    fn the_interval_of_ten_leaves_out_the_extremes() {
        let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
        // P(B(10, 1/10) ≥ 5) = 0.0016 and P(B(10, 2/10) ≥ 5) = 0.0328: one sample is outside on either side.
        assert_eq!(Interval::of_sorted(&sorted, 10, CONFIDENCE), Interval { low: 2.0, high: 9.0 });
        assert_eq!(Interval::of_sorted(&[3.0], 1, CONFIDENCE), Interval { low: 3.0, high: 3.0 });
    }

    #[test]
    fn it_agrees_with_a_bootstrap_that_draws() {
        let mut random = Random::new(3);
        let mut samples: Vec<f64> = (0..41).map(|_| random.normal()).collect();
        let mut medians: Vec<f64> = (0..4000)
            .map(|_| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below 41"
                )]
                let draws: Vec<f64> =
                    (0..41).map(|_| samples[(random.uniform() * 41.0) as usize]).collect();
                super::super::median(&draws).unwrap()
            })
            .collect();
        medians.sort_unstable_by(f64::total_cmp);
        samples.sort_unstable_by(f64::total_cmp);
        let exact = Interval::of_sorted(&samples, 41, CONFIDENCE);
        let rank = |x: f64| samples.iter().position(|y| *y >= x).unwrap();
        assert!(rank(exact.low).abs_diff(rank(medians[100])) <= 1);
        assert!(rank(exact.high).abs_diff(rank(medians[3900])) <= 1);
    }

    #[test]
    fn deviations_are_those_that_hold_the_share() {
        // For many tosses of a coin, the bound lies z·√m/2 beyond the middle.
        let throws = 4_000_000;
        for confidence in [CONFIDENCE, ALARM] {
            let beyond = confidence.deviations * sqrt(f64::from(throws)) / 2.0;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let rank = (f64::from(throws) / 2.0 + beyond).round() as usize;
            let share = 1.0 - 2.0 * at_least(4_000_000, 0.5, rank);
            assert!((share - confidence.share).abs() < 2e-4, "{share}");
        }
    }

    /// Share of 2000 autoregressive series with factor `memory` whose interval contains the true median, 0.
    fn coverage(n: usize, memory: f64, confidence: Confidence) -> f64 {
        let mut random = Random::new(11);
        let covered = (0..2000).filter(|_| {
            let mut state = random.normal() / sqrt(1.0 - memory * memory);
            let mut next = || {
                state = memory * state + random.normal();
                state
            };
            let samples: Vec<f64> = (0..n).map(|_| next()).collect();
            Interval::of_median(&samples, confidence).unwrap().contains(0.0)
        });
        covered.count() as f64 / 2000.0
    }

    #[test]
    fn it_holds_the_median_as_often_as_it_says_where_samples_are_many_for_their_memory() {
        // Three standard deviations of 2000 trials are 1.5 % at 95 % and 0.7 % at 99 %. More coverage is conservative.
        for (n, memory, confidence, wanted) in [
            (20, 0.0, CONFIDENCE, 0.95),
            (100, 0.0, CONFIDENCE, 0.95),
            (500, 0.0, CONFIDENCE, 0.95),
            (40, 0.5, CONFIDENCE, 0.95),
            (100, 0.5, CONFIDENCE, 0.95),
            (500, 0.8, CONFIDENCE, 0.95),
            (100, 0.5, ALARM, 0.99),
            (500, 0.8, ALARM, 0.99),
            // Too few samples for an autocorrelation time of nine; this is the coverage that remains.
            (100, 0.8, CONFIDENCE, 0.935),
            (40, 0.8, CONFIDENCE, 0.91),
            (20, 0.8, CONFIDENCE, 0.86),
        ] {
            let share = coverage(n, memory, confidence);
            println!("{n} samples, memory {memory}: {share} of {}", confidence.share);
            let chance = 3.0 * sqrt(wanted * (1.0 - wanted) / 2000.0);
            assert!(share >= wanted - chance, "{n} {memory}: {share}");
            assert!(share < 1.0, "an interval that is never wrong is of no use");
        }
    }

    #[test]
    fn a_ratio_lies_between_its_ends_and_refuses_what_is_no_time() {
        let a: Vec<f64> = (0..21).map(|i| 1.0 + 0.001 * f64::from(i)).collect();
        let b: Vec<f64> = a.iter().map(|x| 1.02 * x).collect();
        let (ratio, interval) = ratio_interval(&a, &b, CONFIDENCE).unwrap();
        assert!((ratio - 1.02).abs() < 1e-12 && interval.contains(1.02) && interval.low > 1.0);
        assert!(ratio_interval(&a, &a, CONFIDENCE).unwrap().1.contains(1.0));
        for bad in [&[][..], &[0.0], &[-1.0], &[f64::NAN], &[f64::INFINITY]] {
            assert_eq!(ratio_interval(&a, bad, CONFIDENCE), None, "{bad:?}");
        }
    }
}
