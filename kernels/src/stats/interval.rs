//! The bootstrap interval of a median, worked out exactly instead of drawn at random.

use calc_core::math::{exp, ln, sqrt};

use super::{autocorrelation, median_of_sorted, sorted};

/// Two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The percentile bootstrap interval of the median.
    ///
    /// If one draws `m` samples from `n` sorted ones with replacement, the r-th smallest draw is at most `x[k]` when at
    /// least `r` draws fall among the first `k`:
    ///
    /// ```text
    /// P(draw[r] ≤ x[k]) = P(B(m, k/n) ≥ r)      B binomial
    /// ```
    ///
    /// So the distribution of the median of all possible draws is known, and no generator is needed. `m` is the number
    /// of samples that are worth as much as independent ones, [`effective_size`]; with `m = n` it is Efron's bootstrap.
    /// With an even `m` the ends are those of the two middle draws, which is on the safe side.
    pub(super) fn of_sorted(sorted: &[f64], m: usize, confidence: f64) -> Self {
        let n = sorted.len();
        let rank = m.div_ceil(2);
        let outside = (1.0 - confidence) / 2.0;
        // The last sample that the lower middle draw stays below in few cases.
        let is_outside = |k: usize| at_least(m, k as f64 / n as f64, rank) <= outside;
        let (mut yes, mut no) = (0, n);
        while no - yes > 1 {
            let middle = usize::midpoint(yes, no);
            if is_outside(middle) { yes = middle } else { no = middle }
        }
        let low = yes.min((n - 1) / 2);
        Self { low: sorted[low], high: sorted[n - 1 - low] }
    }

    /// Of the median of samples in the order in which they were taken. `None` without samples, or if one is no number.
    pub fn of_median(samples: &[f64], confidence: f64) -> Option<Self> {
        let sorted = sorted(samples)?;
        Some(Self::of_sorted(&sorted, effective_size(samples), confidence))
    }
}

/// P(B(m, p) ≥ rank), from terms relative to the greatest one, so that nothing overflows or vanishes.
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
        // Terms this small change no digit of the sum.
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

/// How many independent samples these are worth: `n` over the time in which they forget, which is summed over the
/// autocorrelation of their ranks until it is lost in noise. Never more than there are, and at least 4 (or all).
pub fn effective_size(samples: &[f64]) -> usize {
    let n = samples.len();
    if n < 8 {
        return n;
    }
    let correlation = autocorrelation(samples, n / 4);
    let mut time = 1.0;
    // In pairs of lags, as long as their sum is positive (Geyer's initial positive sequence).
    for pair in correlation.chunks_exact(2) {
        let sum = pair[0] + pair[1];
        if sum <= 2.0 / sqrt(n as f64) {
            break;
        }
        time += 2.0 * sum;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most n")]
    let size = (n as f64 / time) as usize;
    size.clamp(4, n)
}

/// The interval of median(b) / median(a) of two independent series, and the ratio itself between its ends.
/// On a logarithmic scale the distances of either median from its ends add up as squares (Zou and Donner's MOVER).
/// `None` when a series is empty or holds what is no positive number.
pub fn ratio_interval(a: &[f64], b: &[f64], confidence: f64) -> Option<(f64, Interval)> {
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
        assert_eq!(Interval::of_sorted(&sorted, 10, 0.95), Interval { low: 2.0, high: 9.0 });
        assert_eq!(Interval::of_sorted(&[3.0], 1, 0.95), Interval { low: 3.0, high: 3.0 });
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
        let exact = Interval::of_sorted(&samples, 41, 0.95);
        let rank = |x: f64| samples.iter().position(|y| *y >= x).unwrap();
        assert!(rank(exact.low).abs_diff(rank(medians[100])) <= 1);
        assert!(rank(exact.high).abs_diff(rank(medians[3900])) <= 1);
    }

    #[test]
    fn it_covers_the_median_in_95_of_100_cases_also_when_samples_remember() {
        for (memory, wanted) in [(0.0, 0.94), (0.5, 0.91), (0.8, 0.88)] {
            let mut random = Random::new(11);
            let covered = (0..1000).filter(|_| {
                let mut state = random.normal() / sqrt(1.0 - memory * memory);
                let samples: Vec<f64> = (0..100)
                    .map(|_| {
                        state = memory * state + random.normal();
                        state
                    })
                    .collect();
                Interval::of_median(&samples, 0.95).unwrap().contains(0.0)
            });
            let share = covered.count() as f64 / 1000.0;
            println!("memory {memory}: the interval holds the median in {share} of cases");
            assert!(share >= wanted, "{memory}: {share}");
        }
    }

    #[test]
    fn samples_that_remember_are_worth_less() {
        let mut random = Random::new(5);
        let noise: Vec<f64> = (0..400).map(|_| random.normal()).collect();
        let held: Vec<f64> = (0..400).map(|i| noise[i / 10]).collect();
        assert!(effective_size(&noise) > 250, "{}", effective_size(&noise));
        assert!(effective_size(&held) < 80, "{}", effective_size(&held));
    }

    #[test]
    fn a_ratio_lies_between_its_ends_and_refuses_what_is_no_time() {
        let a: Vec<f64> = (0..21).map(|i| 1.0 + 0.001 * f64::from(i)).collect();
        let b: Vec<f64> = a.iter().map(|x| 1.02 * x).collect();
        let (ratio, interval) = ratio_interval(&a, &b, 0.95).unwrap();
        assert!((ratio - 1.02).abs() < 1e-12 && interval.contains(1.02) && interval.low > 1.0);
        assert!(ratio_interval(&a, &a, 0.95).unwrap().1.contains(1.0));
        for bad in [&[][..], &[0.0], &[-1.0], &[f64::NAN], &[f64::INFINITY]] {
            assert_eq!(ratio_interval(&a, bad, 0.95), None, "{bad:?}");
        }
    }
}
