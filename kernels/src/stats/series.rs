//! Properties of a series beyond its median: drift, bimodality, autocorrelation.

use super::{ALARM, Interval, median, sorted};

/// Smallest relative drift that is flagged.
const MIN_DRIFT: f64 = 0.01;
/// Smallest relative distance of two levels that is flagged.
const MIN_GAP: f64 = 0.02;
/// Smallest distance of two levels over the spread within them. A normal distribution cut in half has 2.7, a uniform one 3.5.
const SEPARATION: f64 = 4.5;

/// Fewest samples of a part that is compared with another.
const MIN_PART: usize = 5;

/// Change of the median between two parts of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Median of the later part over that of the earlier, minus 1.
    pub change: f64,
    /// Whether it is significant and above 1 %.
    pub is_real: bool,
}

/// Compares the last third with the first, and both sides of every tenth, so that a step near an end is found, too.
/// Returns the largest significant change, else that of the thirds. `None` with fewer than fifteen samples.
pub fn drift(samples: &[f64]) -> Option<Drift> {
    let n = samples.len();
    let thirds = change(&samples[..n / 3], &samples[n - n / 3..])?;
    let tenths = (1..10).filter_map(|tenth| {
        let (before, after) = samples.split_at(n * tenth / 10);
        change(before, after)
    });
    let real = tenths.chain([thirds]).filter(|drift| drift.is_real);
    Some(real.max_by(|a, b| a.change.abs().total_cmp(&b.change.abs())).unwrap_or(thirds))
}

fn change(before: &[f64], after: &[f64]) -> Option<Drift> {
    if before.len().min(after.len()) < MIN_PART {
        return None;
    }
    let change = median(after)? / median(before)? - 1.0;
    // Samples are treated as independent: a series that wanders by more than 1 % drifts. Two such intervals separate by chance
    // far less often than once in a hundred series.
    let interval = |part: &[f64]| Some(Interval::of_sorted(&sorted(part)?, part.len(), ALARM));
    let (before, after) = (interval(before)?, interval(after)?);
    let apart = before.high < after.low || after.high < before.low;
    Some(Drift { change, is_real: apart && change.abs() > MIN_DRIFT })
}

/// Whether the samples form two levels, as with two clock rates or two placements in memory.
pub fn bimodal(samples: &[f64]) -> bool {
    let Some(sorted) = sorted(samples) else { return false };
    let n = sorted.len();
    if n < 20 {
        return false;
    }
    // A level has at least a tenth of the samples; fewer are outliers.
    let least = n.div_ceil(10);
    (least..=n - least).any(|cut| {
        let (low, high) = sorted.split_at(cut);
        let gap = middle(high) - middle(low);
        let spread = (spread(low) * cut as f64 + spread(high) * (n - cut) as f64) / n as f64;
        // The gap between the levels must be wide, or any slope would count as two levels.
        let step = high[0] - low[cut - 1];
        gap > MIN_GAP * middle(&sorted).abs() && gap > SEPARATION * spread && step > gap / 4.0
    })
}

fn middle(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

/// Standard deviation estimated from the interquartile range, which is 1.35 standard deviations of a normal distribution.
fn spread(sorted: &[f64]) -> f64 {
    (sorted[sorted.len() * 3 / 4] - sorted[sorted.len() / 4]) / 1.35
}

/// Autocorrelation of the ranks at a lag: robust against outliers, independent of scale.
pub fn autocorrelation(samples: &[f64], lag: usize) -> f64 {
    let ranks = centered_ranks(samples);
    let total: f64 = ranks.iter().map(|x| x * x).sum();
    let products = ranks.iter().zip(ranks.get(lag..).unwrap_or_default());
    if total > 0.0 { products.map(|(a, b)| a * b).sum::<f64>() / total } else { 0.0 }
}

/// Ranks minus their mean; equal samples share their mean rank.
pub(super) fn centered_ranks(samples: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_unstable_by(|a, b| samples[*a].total_cmp(&samples[*b]));
    let mut ranks = vec![0.0; samples.len()];
    let mut start = 0;
    for equal in order.chunk_by(|a, b| samples[*a].total_cmp(&samples[*b]).is_eq()) {
        let rank = start as f64 + (equal.len() - 1) as f64 / 2.0;
        for index in equal {
            ranks[*index] = rank - (samples.len() - 1) as f64 / 2.0;
        }
        start += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noise(n: usize, of: impl Fn(usize, &mut Random) -> f64) -> Vec<f64> {
        let mut random = Random::new(23);
        (0..n).map(|i| of(i, &mut random)).collect()
    }

    #[test]
    fn a_slow_slide_and_a_step_are_drift_and_noise_is_not() {
        for (series, expected) in [
            (noise(90, |_, r| 1.0 + 0.01 * r.normal()), false),
            (noise(90, |i, r| 1.0 + 0.0008 * i as f64 + 0.01 * r.normal()), true),
            (noise(90, |i, r| if i < 45 { 1.0 } else { 1.1 } + 0.02 * r.normal()), true),
            (noise(90, |i, r| if i < 79 { 1.0 } else { 1.3 } + 0.02 * r.normal()), true),
            (noise(90, |i, r| if i < 11 { 1.3 } else { 1.0 } + 0.02 * r.normal()), true),
            // Significant, but too small to matter.
            (noise(300, |i, _| 1.0 + 0.000_01 * i as f64), false),
        ] {
            assert_eq!(drift(&series).unwrap().is_real, expected);
        }
        assert_eq!(drift(&[1.0; 14]), None);
    }

    #[test]
    fn the_sign_of_drift_says_which_way() {
        let slower = noise(60, |i, _| if i < 30 { 1.0 } else { 1.1 });
        assert!((drift(&slower).unwrap().change - 0.1).abs() < 1e-9);
        let faster: Vec<f64> = slower.into_iter().rev().collect();
        assert!(drift(&faster).unwrap().change < 0.0);
    }

    #[test]
    fn two_levels_are_found_and_one_is_not_taken_for_two() {
        for (name, series, expected) in [
            ("normal", noise(400, |_, r| 1.0 + 0.05 * r.normal()), false),
            ("even", noise(400, |_, r| 1.0 + 0.2 * r.uniform()), false),
            (
                "with outliers",
                noise(400, |i, r| 1.0 + 0.01 * r.normal() + if i % 20 == 0 { 0.5 } else { 0.0 }),
                false,
            ),
            (
                "long tail",
                noise(400, |_, r| 1.0 - 0.05 * calc_core::math::ln(1.0 - r.uniform())),
                false,
            ),
            ("constant", vec![1.0; 50], false),
            (
                "two clocks",
                noise(400, |_, r| if r.uniform() < 0.3 { 1.2 } else { 1.0 } + 0.01 * r.normal()),
                true,
            ),
            (
                "too close",
                noise(400, |_, r| if r.coin() { 1.01 } else { 1.0 } + 0.0005 * r.normal()),
                false,
            ),
        ] {
            assert_eq!(bimodal(&series), expected, "{name}");
        }
    }

    #[test]
    fn autocorrelation_by_hand() {
        // Ranks −1.5, −0.5, 0.5, 1.5: squares sum to 5; lag 1: 0.75 − 0.25 + 0.75 = 1.25.
        assert!((autocorrelation(&[1.0, 2.0, 3.0, 400.0], 1) - 0.25).abs() < 1e-12);
        assert!(autocorrelation(&[1.0, 1.0, 1.0], 2).abs() < 1e-12);
        let swings = noise(100, |i, _| if i % 2 == 0 { 1.0 } else { 2.0 });
        assert!(autocorrelation(&swings, 1) < -0.9 && autocorrelation(&swings, 2) > 0.9);
    }
}
