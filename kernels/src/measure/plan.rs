//! Parameters of a measurement: warm-up, length of a window, stop rule.

use std::time::Duration;

/// Parameters of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Warm-up before the first sample.
    pub warm_up: WarmUp,
    /// Shortest window; longer where the clock is too coarse.
    pub window: Duration,
    /// Stop rule.
    pub rule: StopRule,
}

/// Warm-up ends when the time per call is stable, not after a number of calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmUp {
    /// Shortest warm-up.
    pub least: Duration,
    /// Longest duration; a measurement that reaches it is flagged.
    pub most: Duration,
    /// Length of a slice; the last four must agree.
    pub slice: Duration,
    /// Largest relative spread of the last four slices.
    pub spread: f64,
}

/// When to stop sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopRule {
    /// When the interval of the median is narrow enough.
    Certain {
        /// Half the width of the interval, relative to the median.
        half_width: f64,
        /// Fewest samples.
        least: usize,
        /// Shortest duration: slower changes are not seen.
        shortest: Duration,
        /// Longest duration; a measurement that reaches it is flagged.
        limit: Duration,
    },
    /// After this many samples.
    Iterations(usize),
}

impl Plan {
    /// Default for processors: windows of 1 ms, a half width of 0.5 %, at least 20 samples and 0.5 s.
    pub const STANDARD: Self = Self {
        warm_up: WarmUp {
            least: Duration::from_millis(300),
            most: Duration::from_secs(3),
            slice: Duration::from_millis(50),
            spread: 0.02,
        },
        window: Duration::from_millis(1),
        rule: StopRule::Certain {
            half_width: 0.005,
            least: 20,
            shortest: Duration::from_millis(500),
            limit: Duration::from_secs(10),
        },
    };
}
