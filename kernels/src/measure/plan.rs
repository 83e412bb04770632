//! What is chosen before a measurement: how long to warm up, how long a window is, when to stop.

use std::time::Duration;

/// A plan of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Before the first sample.
    pub warm_up: WarmUp,
    /// The least length of a window. Longer where the clock is too coarse for it.
    pub window: Duration,
    /// When to stop.
    pub rule: StopRule,
}

/// Warming up ends by state and not by count: when the time per call is flat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmUp {
    /// At least this long.
    pub least: Duration,
    /// At most this long; then the result is flagged.
    pub most: Duration,
    /// A slice; the last four must agree.
    pub slice: Duration,
    /// How far the fastest and the slowest of the last four may be apart, as a share.
    pub spread: f64,
}

/// When there are enough samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopRule {
    /// When the interval of the median is narrow enough.
    Certain {
        /// Half its width, as a share of the median.
        half_width: f64,
        /// At least this many samples.
        least: usize,
        /// At least this long: what changes more slowly is not seen.
        shortest: Duration,
        /// At most this long; then the result is flagged.
        limit: Duration,
    },
    /// After this many, whatever they say.
    Iterations(usize),
}

impl Plan {
    /// What a processor needs: windows of 1 ms, half a percent, twenty samples or more, half a second or more.
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
