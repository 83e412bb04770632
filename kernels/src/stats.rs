//! What repeated measurements say: median, spread, and an interval that is honest about samples that depend on each other.
//! Numbers have the unit of the samples. Nothing here knows a clock.

mod effective_size;
mod interval;
mod series;

pub use effective_size::effective_size;
pub use interval::{Interval, ratio_interval};
pub use series::{Drift, autocorrelation, bimodal, drift};

/// How often an interval is to hold the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// The share of cases.
    pub share: f64,
    /// Deviations to either side that hold this share of a normal distribution.
    pub deviations: f64,
}

/// Confidence of every interval that is reported.
pub const CONFIDENCE: Confidence = Confidence { share: 0.95, deviations: 1.959_964 };

/// Confidence that is needed to say that two things differ. At 95 % equal things would be told apart in one of twenty
/// cases, and in a few more because samples are not quite independent.
pub const ALARM: Confidence = Confidence { share: 0.99, deviations: 2.575_829 };

/// Samples in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many samples.
    pub n: usize,
    /// Half of them are below.
    pub median: f64,
    /// Median of the distances from the median.
    pub mad: f64,
    /// One of twenty is below.
    pub p5: f64,
    /// One of twenty is above.
    pub p95: f64,
    /// The least, for diagnosis only.
    pub min: f64,
    /// Where the median of the process lies, with a confidence of 95 %.
    pub interval: Interval,
}

impl Summary {
    /// Of samples in the order in which they were taken. `None` without samples, or if one is no number.
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

    /// Half the width of the interval, as a share of the median.
    pub fn relative_half_width(&self) -> f64 {
        (self.interval.high - self.interval.low) / 2.0 / self.median.abs()
    }
}

/// The middle of the samples; of an even number of them the mean of the two in the middle.
pub fn median(samples: &[f64]) -> Option<f64> {
    sorted(samples).map(|sorted| median_of_sorted(&sorted))
}

/// From the least to the greatest. `None` without samples, or if one is no number.
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

/// Linear between the two samples next to the rank.
fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    // A rank is at least 0 and at most the number of samples.
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
        // 1..=9 with one outlier: the median is 5, distances are 0,1,1,2,2,3,3,4,95.
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
