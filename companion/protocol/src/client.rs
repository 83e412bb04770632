//! What a client says.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::hex::Hex;
use crate::job::{JobId, JobSpec, RequestId};

/// A message of a client; every answer to it carries its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Chosen by the client.
    pub id: u32,
    /// What it asks.
    pub ask: ClientMessage,
}

/// All messages of clients. The first on a socket is `identify` or `pair`. Those without fields have braces, because only then
/// are unknown fields refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Proves a key.
    Identify(Identify),
    /// Proves a pairing code and makes a key of it.
    Pair(Pair),
    /// Starts a job, once.
    StartJob(StartJob),
    /// Ends a job; one that has ended stays as it is.
    CancelJob {
        /// Which.
        job: JobId,
    },
    /// Asks for the jobs, the latest first.
    ListJobs {
        /// At most so many.
        #[serde(default = "default_list")]
        limit: u32,
    },
    /// Asks for a job's events: those after a number, then new ones as they come.
    SubscribeJob {
        /// Which.
        job: JobId,
        /// The last number that the client has; 0 for all.
        #[serde(default)]
        after: u64,
    },
    /// No more events of a job.
    UnsubscribeJob {
        /// Which.
        job: JobId,
    },
    /// Asks for telemetry at a rate.
    SubscribeTelemetry {
        /// Readings per second.
        hz: f64,
    },
    /// No more telemetry.
    UnsubscribeTelemetry {},
    /// Asks for a sign of life.
    Ping {},
}

const fn default_list() -> u32 {
    100
}

/// The proof of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// The version that the client speaks.
    pub protocol: u32,
    /// Which key.
    pub key: Hex<8>,
    /// Random bytes of the client, new each time.
    pub nonce: Hex<32>,
    /// HMAC-SHA-256 with the key over [`crate::proof::identify`].
    pub proof: Hex<32>,
}

/// The proof of a pairing code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The version that the client speaks.
    pub protocol: u32,
    /// Random bytes of the client, new each time.
    pub nonce: Hex<32>,
    /// HMAC-SHA-256 with the code's characters over [`crate::proof::pair`].
    pub proof: Hex<32>,
    /// How the list of keys calls this one.
    #[serde(default)]
    pub label: String,
}

/// The start of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartJob {
    /// Random; the same one again gives the same job again.
    pub request: RequestId,
    /// What to do.
    pub job: JobSpec,
}
