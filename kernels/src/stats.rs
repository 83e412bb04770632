//! Statistics of repeated measurements: median, spread, and an interval that accounts for dependent samples.
//! Values have the unit of the samples. Nothing here reads a clock.

mod effective_size;
mod interval;
mod series;

pub use effective_size::effective_size;
pub use interval::{Interval, ratio_interval};
pub use series::{Drift, autocorrelation, bimodal, drift};

/// A confidence level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// Probability that an interval covers the true value.
    pub share: f64,
    /// Two-sided quantile of the normal distribution [standard deviations].
    pub deviations: f64,
}

/// Confidence of reported intervals.
pub const CONFIDENCE: Confidence = Confidence { share: 0.95, deviations: 1.959_964 };

/// Confidence required to call two things different. At 95 %, one of twenty comparisons of equal things would differ, and a
/// few more because samples are not quite independent.
pub const ALARM: Confidence = Confidence { share: 0.99, deviations: 2.575_829 };

/// Summary of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub n: usize,
    pub median: f64,
    /// Median absolute deviation from the median.
    pub mad: f64,
    /// 5th percentile.
    pub p5: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Smallest sample, for diagnosis only.
    pub min: f64,
    /// Interval of the median with 95 % confidence.
    pub interval: Interval,
}

impl Summary {
    /// Summarizes samples in the order in which they were taken. `None` without samples, or if one is NaN.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let sorted = sorted(samples)?;
        let median = median_of_sorted(&sorted);
        let distances: Vec<f64> = samples.iter().map(|x| (x - median).abs()).collect();
        Some(Self {
            n: samples.len(),
            median,
            mad: self::median(&distances)?,
            p5: quantile_of_sorted(&sorted, 0.05),
            p95: quantile_of_sorted(&sorted, 0.95),
            min: sorted[0],
            interval: Interval::of_sorted(&sorted, effective_size(samples, CONFIDENCE), CONFIDENCE),
        })
    }

    /// Half the width of the interval, relative to the median.
    pub fn relative_half_width(&self) -> f64 {
        (self.interval.high - self.interval.low) / 2.0 / self.median.abs()
    }
}

/// Median of the samples; the mean of the two middle ones for an even number.
pub fn median(samples: &[f64]) -> Option<f64> {
    sorted(samples).map(|sorted| median_of_sorted(&sorted))
}

/// Sorts the samples. `None` without samples, or if one is NaN.
pub fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || samples.iter().any(|x| x.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    f64::midpoint(sorted[low], sorted[high])
}

/// Linear interpolation between the two samples next to the rank.
fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    // A rank is between 0 and the number of samples.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank in range")]
    let below = rank as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_by_hand() {
        // 1..=9 with one outlier: the median is 5, the deviations are 0,1,1,2,2,3,3,4,95.
        let samples = [5.0, 1.0, 100.0, 3.0, 2.0, 8.0, 4.0, 7.0, 6.0];
        let summary = Summary::of(&samples).unwrap();
        assert_eq!((summary.n, summary.median, summary.mad, summary.min), (9, 5.0, 2.0, 1.0));
        // Ranks 0.4 and 7.6 of 0..=8.
        assert!((summary.p5 - 1.4).abs() < 1e-12, "{}", summary.p5);
        assert!((summary.p95 - (8.0 + 0.6 * 92.0)).abs() < 1e-9, "{}", summary.p95);
    }

    #[test]
    fn medians() {
        for (samples, expected) in [
            (&[][..], None),
            (&[3.0], Some(3.0)),
            (&[4.0, 1.0], Some(2.5)),
            (&[9.0, 1.0, 2.0], Some(2.0)),
            (&[1.0, f64::NAN], None),
        ] {
            assert_eq!(median(samples), expected, "{samples:?}");
        }
    }
}
