//! Effective sample size of a series of dependent samples, by batch means.

use calc_core::math::{exp, pow};

use super::Confidence;
use super::series::centered_ranks;

/// Fewest samples from which dependence is estimated.
const MIN_SAMPLES: usize = 8;
/// Fewest batches, and the smallest effective sample size.
const MIN_BATCHES: usize = 4;

/// Effective sample size for an interval of the median: the number of independent samples with the same uncertainty.
///
/// The series is divided into `q = 2·∛n` batches. For independent samples, the mean rank of a batch of `b` has the standard
/// deviation of the ranks over √b. The square of the excess is the integrated autocorrelation time, the number of samples
/// that carry the information of one. Batches grow with n beyond that time, so no sum over lags must be truncated:
///
/// ```text
/// time           = Σ b·mean² / (q−1) / variance of the ranks
/// effective size = n / time · (z / t)²
/// ```
///
/// Few batches estimate the time with an error of their own, which the quantile `t` of Student's distribution with q−1 degrees
/// of freedom accounts for; `z` is the quantile of the normal distribution. The result is at most n and at least 4 (or n).
pub fn effective_size(samples: &[f64], confidence: Confidence) -> usize {
    let n = samples.len();
    if n < MIN_SAMPLES {
        return n;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most n")]
    let batches = (2.0 * pow(n as f64, 1.0 / 3.0)) as usize;
    let batches = batches.max(MIN_BATCHES);
    let time = autocorrelation_time(&centered_ranks(samples), batches).max(1.0);
    let wider = student_over_normal(confidence.deviations, (batches - 1) as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most n")]
    let size = (n as f64 / time / (wider * wider)) as usize;
    size.clamp(MIN_BATCHES, n)
}

/// Integrated autocorrelation time in samples, from the batch means. 0 if all samples are equal.
fn autocorrelation_time(ranks: &[f64], batches: usize) -> f64 {
    let n = ranks.len();
    let variance = ranks.iter().map(|x| x * x).sum::<f64>() / n as f64;
    if variance <= 0.0 {
        return 0.0;
    }
    let of_batch = |batch: usize| {
        let ranks = &ranks[n * batch / batches..n * (batch + 1) / batches];
        let sum: f64 = ranks.iter().sum();
        sum * sum / ranks.len() as f64
    };
    (0..batches).map(of_batch).sum::<f64>() / (batches - 1) as f64 / variance
}

/// Quantile of Student's distribution over that of the normal one, by Wallace's approximation:
///
/// ```text
/// t² = ν·(exp((z·(8ν+3)/(8ν+1))² / ν) − 1)
/// ```
fn student_over_normal(z: f64, freedom: f64) -> f64 {
    let scaled = z * (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0);
    calc_core::math::sqrt(freedom * (exp(scaled * scaled / freedom) - 1.0)) / z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::stats::{ALARM, CONFIDENCE};

    #[test]
    fn deviations_of_student_are_those_of_any_table() {
        for (confidence, freedom, expected) in [
            (CONFIDENCE, 3.0, 3.182),
            (CONFIDENCE, 9.0, 2.262),
            (CONFIDENCE, 30.0, 2.042),
            (ALARM, 9.0, 3.250),
            (ALARM, 30.0, 2.750),
        ] {
            let z = confidence.deviations;
            let got = z * student_over_normal(z, freedom);
            assert!((got / expected - 1.0).abs() < 0.015, "{freedom}: {got}");
        }
    }

    #[test]
    fn the_autocorrelation_time_by_hand() {
        // Ranks −1.5, −0.5 | 0.5, 1.5: variance 1.25; batches contribute 2² / 2 twice, over 1 degree of freedom.
        for (ranks, expected) in
            [([-1.5, -0.5, 0.5, 1.5], 4.0 / 1.25), ([-1.5, 1.5, 0.5, -0.5], 0.0), ([0.0; 4], 0.0)]
        {
            let time = autocorrelation_time(&ranks, 2);
            assert!((time - expected).abs() < 1e-12, "{ranks:?}: {time}");
        }
    }

    #[test]
    fn samples_that_remember_are_worth_less() {
        let mut random = Random::new(5);
        let noise: Vec<f64> = (0..400).map(|_| random.normal()).collect();
        let held: Vec<f64> = (0..400).map(|i| noise[i / 10]).collect();
        let worth = |samples: &[f64]| effective_size(samples, CONFIDENCE);
        assert!(worth(&noise) > 200, "{}", worth(&noise));
        assert!((20..80).contains(&worth(&held)), "{}", worth(&held));
        // A higher confidence has a larger Student correction.
        assert!(effective_size(&noise, ALARM) < worth(&noise));
        assert_eq!(worth(&noise[..7]), 7);
    }

    #[test]
    fn a_long_series_is_summed_in_no_time() {
        // A sum over a quarter of all lags would take 10¹⁰ products.
        let slope: Vec<f64> = (0..200_000).map(f64::from).collect();
        let start = std::time::Instant::now();
        let worth = effective_size(&slope, CONFIDENCE);
        assert!(worth < 200, "{worth}");
        assert!(start.elapsed().as_secs_f64() < 10.0, "{:?}", start.elapsed());
    }
}
