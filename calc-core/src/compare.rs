//! Compares predictions with measurements: the error of one point, and the verdict over several.

use crate::units::Seconds;

/// Accuracy of the predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Fit {
    /// Mean error under 10 %.
    Excellent,
    /// Mean error under 20 %.
    Fair,
    /// Mean error of 20 % or more; look for causes.
    Poor,
}

/// Summary of the errors of several points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean absolute error.
    pub mean: f64,
    /// Largest absolute error.
    pub worst: f64,
    /// Verdict on the mean error.
    pub fit: Fit,
}

/// Signed relative error of a prediction, positive if the measurement is slower.
///
/// ```text
/// error = (measured - predicted) / predicted
/// ```
///
/// ```
/// use calc_core::{compare::error, units::Seconds};
/// assert!((error(Seconds::new(110e-6), Seconds::new(100e-6)) - 0.1).abs() < 1e-12);
/// ```
pub fn error(measured: Seconds, predicted: Seconds) -> f64 {
    (measured - predicted) / predicted
}

/// Mean and worst absolute error; `None` without points. A NaN among the errors becomes the worst error, and the
/// verdict is poor.
pub fn score(errors: &[f64]) -> Option<Score> {
    if errors.is_empty() {
        return None;
    }
    let absolute = |error: &f64| if *error < 0.0 { -*error } else { *error };
    let mean = errors.iter().map(absolute).sum::<f64>() / errors.len() as f64;
    let worst = errors
        .iter()
        .map(absolute)
        .fold(0.0, |worst, error| if error <= worst { worst } else { error });
    let fit = if mean < 0.10 {
        Fit::Excellent
    } else if mean < 0.20 {
        Fit::Fair
    } else {
        Fit::Poor
    };
    Some(Score { mean, worst, fit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_mean() {
        for (errors, fit) in [
            ([0.05, -0.08], Fit::Excellent),
            ([0.3, 0.05], Fit::Fair),
            ([0.5, 0.1], Fit::Poor),
            ([f64::NAN, 0.0], Fit::Poor),
        ] {
            assert_eq!(score(&errors).expect("two points").fit, fit, "{errors:?}");
        }
        assert_eq!(score(&[]), None);
    }
}
