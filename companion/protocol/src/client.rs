//! The messages of a client.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::engine::WatchEngine;
use crate::hex::Hex;
use crate::job::{JobId, JobSpec, RequestId};

/// A message with its number; every answer carries the number of its message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Chosen by the client; answers repeat it.
    pub id: u32,
    pub ask: ClientMessage,
}

/// The messages of clients. The first on a socket is `identify` or `pair`. Those without fields have braces, because serde
/// refuses unknown fields only then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Proves knowledge of a key.
    Identify(Identify),
    /// Proves knowledge of a pairing code; both sides derive a key from it.
    Pair(Pair),
    /// Starts a job; the same request id never starts a second one.
    StartJob(StartJob),
    /// Starts a job that measures what a canceled or interrupted one did not; the results of that one are its first events.
    ContinueJob(ContinueJob),
    /// Cancels a job; an ended job is left as it is.
    CancelJob { job: JobId },
    /// Lists jobs, the latest first. An answer is not longer than a message may be, or has one job.
    ListJobs {
        /// Largest number of jobs in the answer.
        #[serde(default = "default_list")]
        limit: u32,
        /// Only jobs before this one, to go on where an answer ended that said `more`; absent for the latest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<JobId>,
        /// The client reads a list with orders of later versions. Without it they are left out of the answer: pages of the first
        /// version lose the whole list by one. Sent only where the hello has `lists_later`.
        #[serde(default, skip_serializing_if = "is_false")]
        later: bool,
    },
    /// Subscribes to a job: its events after a number, then new events as they occur.
    SubscribeJob {
        job: JobId,
        /// Number of the last event that the client has; 0 for all events.
        #[serde(default)]
        after: u64,
    },
    /// Ends the subscription to a job.
    UnsubscribeJob { job: JobId },
    /// Subscribes to telemetry.
    SubscribeTelemetry {
        /// Rate, in Hz.
        hz: f64,
    },
    /// Ends the subscription to telemetry.
    UnsubscribeTelemetry {},
    /// Reads a running inference server again and again, in place of one that is read.
    WatchEngine(WatchEngine),
    /// Ends the reading of a server.
    UnwatchEngine {},
    /// Revokes the key of the session. The session ends as after `ridgepoint keys revoke`; a refusal is a fault.
    RevokeKey {},
    /// Asks for a `pong`.
    Ping {},
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

const fn default_list() -> u32 {
    100
}

/// Proof that the client knows a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// Protocol version of the client.
    pub protocol: u32,
    /// Public id of the key.
    pub key: Hex<8>,
    pub nonce: Hex<32>,
    /// HMAC-SHA-256 with the key over [`crate::proof::identify`].
    pub proof: Hex<32>,
}

/// Proof that the client knows a pairing code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub protocol: u32,
    pub nonce: Hex<32>,
    /// HMAC-SHA-256 with the code's characters over [`crate::proof::pair`].
    pub proof: Hex<32>,
    /// Name of the new key in `ridgepoint keys`.
    #[serde(default)]
    pub label: String,
}

/// The order to start a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartJob {
    /// Random; a repeated id gives the job that it started before.
    pub request: RequestId,
    pub job: JobSpec,
}

/// The order to continue a canceled or interrupted job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContinueJob {
    /// Random; a repeated id gives the job that it started before.
    pub request: RequestId,
    /// The job to continue.
    pub job: JobId,
}
