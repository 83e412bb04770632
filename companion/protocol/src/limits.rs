//! The limits of a daemon, as its hello announces them.

use serde::{Deserialize, Serialize};

/// The limits of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Largest message, in bytes.
    pub message_bytes: u32,
    /// Sessions at once.
    pub sessions: u32,
    /// Messages per second and session, averaged.
    pub messages_per_s: u32,
    /// Subscriptions of one session.
    pub subscriptions: u32,
    /// Highest rate of telemetry, in Hz.
    pub telemetry_hz: f64,
    /// Waiting jobs.
    pub queued_jobs: u32,
    /// Waiting and running jobs of one key.
    pub jobs_per_key: u32,
    /// Points of one sweep.
    pub points: u32,
    /// Largest rows, columns and depth of a shape.
    pub dimension: u64,
    /// Longest job, in s.
    pub job_s: u32,
}
