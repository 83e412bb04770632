//! What the daemon takes at most; it says so in its hello.

use serde::{Deserialize, Serialize};

/// The limits of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of one message.
    pub message_bytes: u32,
    /// Sessions at once.
    pub sessions: u32,
    /// Messages per second and session, over a longer time.
    pub messages_per_s: u32,
    /// Subscriptions of one session.
    pub subscriptions: u32,
    /// Readings of telemetry per second.
    pub telemetry_hz: f64,
    /// Jobs that wait.
    pub queued_jobs: u32,
    /// Jobs of one key that wait or run.
    pub jobs_per_key: u32,
    /// Points of one sweep.
    pub points: u32,
    /// Largest rows, columns and depth of a shape.
    pub dimension: u64,
    /// Seconds that a job may take.
    pub job_s: u32,
}
