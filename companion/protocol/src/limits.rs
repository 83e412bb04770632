//! The daemon's limits. Its hello message states them; the page checks input against the same numbers before it sends a job.

use serde::{Deserialize, Serialize};

/// The limits of this version of the daemon.
pub const LIMITS: Limits = Limits {
    message_bytes: 256 * 1024,
    sessions: 64,
    messages_per_s: 20,
    subscriptions: 32,
    telemetry_hz: 20.0,
    queued_jobs: 32,
    jobs_per_key: 8,
    points: 4096,
    dimension: 65_536,
    job_s: 86_400,
};

/// The limits of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Largest message [bytes].
    pub message_bytes: u32,
    /// Concurrent sessions.
    pub sessions: u32,
    /// Sustained messages per second of one session; short bursts may exceed it.
    pub messages_per_s: u32,
    /// Jobs that one session may follow.
    pub subscriptions: u32,
    /// Highest telemetry rate [Hz].
    pub telemetry_hz: f64,
    /// Jobs in the queue.
    pub queued_jobs: u32,
    /// Queued and running jobs of one key.
    pub jobs_per_key: u32,
    /// Points of one benchmark job.
    pub points: u32,
    /// Largest M, N and K of a shape.
    pub dimension: u64,
    /// Time limit of a job [s].
    pub job_s: u32,
}
