//! The limits of a session and of the daemon, in one place: sessions keep them, and the hello announces them.

use protocol::limits::Limits;

use super::places;
use crate::jobs;

/// Bytes of a message.
pub(super) const MESSAGE: usize = 256 * 1024;
/// Messages per second and session, averaged.
pub(super) const MESSAGES_PER_S: u32 = 20;
/// Jobs that one session follows.
pub(super) const SUBSCRIPTIONS: usize = 32;
/// Lowest and highest rate of telemetry, in Hz.
pub(super) const TELEMETRY_HZ: (f64, f64) = (0.2, 20.0);

/// The limits that the hello announces.
pub(super) fn limits() -> Limits {
    Limits {
        message_bytes: u32::try_from(MESSAGE).unwrap_or(u32::MAX),
        sessions: u32::try_from(places::SESSIONS).unwrap_or(u32::MAX),
        messages_per_s: MESSAGES_PER_S,
        subscriptions: u32::try_from(SUBSCRIPTIONS).unwrap_or(u32::MAX),
        telemetry_hz: TELEMETRY_HZ.1,
        queued_jobs: jobs::QUEUED,
        jobs_per_key: jobs::PER_KEY,
        points: u32::try_from(jobs::POINTS).unwrap_or(u32::MAX),
        dimension: jobs::DIMENSION,
        job_s: jobs::JOB_S,
    }
}
