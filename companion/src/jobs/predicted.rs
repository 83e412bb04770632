//! The predicted time of a benchmark job: a job beyond the limit of its kind is refused before it is queued, and the worker announces the
//! same time.

use protocol::bench::BenchSpec;
use protocol::fault::Fault;

use super::limits::BENCH;
use crate::reason::Reason;

/// Estimated time of a point: packing, warm-up, and samples until the interval is narrow enough [s].
const POINT_S: f64 = 5.0;
/// Longest time of a sample where their number is given: a large product [s].
const SAMPLE_S: f64 = 0.1;

/// Predicted time of a point [s].
pub(crate) fn point_s(bench: &BenchSpec) -> f64 {
    POINT_S + bench.iterations.map_or(0.0, |samples| f64::from(samples) * SAMPLE_S)
}

/// Refuses a job with so many points that its time is above the limit.
pub(super) fn has_time(bench: &BenchSpec, points: usize) -> Result<(), Fault> {
    let (point_s, limit_s) = (point_s(bench), BENCH.as_secs_f64());
    let predicted_s = point_s * points as f64;
    if predicted_s <= limit_s {
        return Ok(());
    }
    let shown = |number: f64| format!("{number:.0}");
    let fitting = (limit_s / point_s).floor();
    Err(Reason::TimeShort.with(&[&points, &shown(predicted_s), &shown(limit_s), &shown(fitting)]))
}

#[cfg(test)]
mod tests {
    use protocol::limits::LIMITS;

    use super::*;

    /// A kind without shapes and sizes has a few points, which no number of samples makes too long.
    #[test]
    fn the_largest_sweep_is_within_the_limit_of_its_kind() {
        assert!(4.0 * POINT_S * f64::from(LIMITS.points) <= BENCH.as_secs_f64());
    }

    #[test]
    fn a_job_that_takes_too_long_is_refused_with_the_number_of_points_that_fit() {
        let text = r#"{"what":"gemv","formats":["int8"],"iterations":4096}"#;
        let bench: BenchSpec = serde_json::from_str(text).unwrap();
        // A day, and 414.6 s per point.
        assert_eq!(has_time(&bench, 208), Ok(()));
        let fault = has_time(&bench, 209).unwrap_err();
        for part in ["209 points", "86651 s", "86400 s", "at most 208 points"] {
            assert!(fault.message.contains(part), "{part}: {}", fault.message);
        }
    }
}
