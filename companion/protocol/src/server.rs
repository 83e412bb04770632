//! What the daemon says.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::hex::Hex;
use crate::job::{JobId, JobSummary, NumberedEvent};
use crate::limits::Limits;
use crate::scope::Scope;
use crate::telemetry::Telemetry;

/// A message of the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Say {
    /// Which message it answers; none if it comes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// What it says.
    pub say: ServerMessage,
}

/// All messages of the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// The first message on a socket.
    Hello(Hello),
    /// The key is proved, and the daemon proves that it knows it too.
    Identified(Identified),
    /// The code is proved, and a key is made of it.
    Paired(Paired),
    /// A job is kept and waits, or was already.
    Accepted(Accepted),
    /// Jobs.
    Jobs {
        /// The latest first.
        jobs: Vec<JobSummary>,
    },
    /// One event of a job that the client subscribed to.
    Event(NumberedEvent),
    /// A job in short, at the begin of a subscription: the events that follow start after `after`.
    Snapshot {
        /// The job.
        job: JobSummary,
        /// The number before the first event that follows; later than asked for where older events are dropped.
        after: u64,
    },
    /// What the device says about itself.
    Telemetry(Telemetry),
    /// Done, and nothing else to say.
    Ok,
    /// A sign of life.
    Pong,
    /// A refusal.
    Fault(Fault),
    /// The last message on a socket.
    Bye(Fault),
    /// A message of a later version.
    #[serde(other)]
    Unknown,
}

/// Who the daemon is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Versions that it speaks.
    pub protocol: Versions,
    /// Which daemon; the same for good.
    pub server: Hex<16>,
    /// Random bytes of the daemon, new each time.
    pub nonce: Hex<32>,
    /// The version of the program.
    pub version: String,
    /// What it takes at most.
    pub limits: Limits,
}

/// A range of versions, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest.
    pub min: u32,
    /// The newest.
    pub max: u32,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identified {
    /// HMAC-SHA-256 with the key over [`crate::proof::identified`].
    pub proof: Hex<32>,
    /// What the session may do.
    pub scopes: Vec<Scope>,
    /// Which session, on this daemon.
    pub session: u64,
    /// Changes when the daemon starts again.
    pub epoch: Hex<8>,
}

/// A new key, of which only its number crosses the wire: both sides compute it, as [`crate::proof::pair_key`] says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paired {
    /// Which key.
    pub key: Hex<8>,
    /// HMAC-SHA-256 with the code's characters over [`crate::proof::paired`].
    pub proof: Hex<32>,
    /// What the session may do.
    pub scopes: Vec<Scope>,
    /// Which session, on this daemon.
    pub session: u64,
    /// Changes when the daemon starts again.
    pub epoch: Hex<8>,
}

/// The answer to the start of a job, sent when the job is kept safely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Which job.
    pub job: JobId,
    /// False if this request had started it before.
    pub fresh: bool,
}
