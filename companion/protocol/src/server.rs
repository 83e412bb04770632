//! The messages of the daemon.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ability::Abilities;
use crate::device::DeviceName;
use crate::engine::EngineReport;
use crate::fault::Fault;
use crate::hex::Hex;
use crate::job::{JobId, JobSummary, NumberedEvent};
use crate::limits::Limits;
use crate::scope::Scope;
use crate::telemetry::Telemetry;
use crate::tolerant::{known_items, or_default};

/// A message with the number of the client's message that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Say {
    /// Number of the answered message; absent for events and telemetry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    pub say: ServerMessage,
}

/// The messages of the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// The first message on a socket.
    Hello(Hello),
    /// The client's proof is right; carries the daemon's proof.
    Identified(Identified),
    /// The pairing code is right and has become a key.
    Paired(Paired),
    /// The job is stored, now or by an earlier request with the same id.
    Accepted(Accepted),
    /// A list of jobs.
    Jobs {
        /// Latest first.
        #[serde(deserialize_with = "known_items")]
        jobs: Vec<JobSummary>,
        /// Older jobs were asked for and did not fit into this answer.
        #[serde(default, skip_serializing_if = "is_false")]
        more: bool,
        /// Jobs among these and before them that the daemon cannot read, and passes over.
        #[serde(default, skip_serializing_if = "is_zero")]
        passed_over: u32,
    },
    /// One event of a job that the client subscribed to.
    Event(NumberedEvent),
    /// The summary of a job at the start of a subscription; the events after number `after` follow.
    Snapshot {
        job: JobSummary,
        /// Number before the first event that follows; larger than requested if older events were dropped.
        after: u64,
    },
    /// Readings of all sensors.
    Telemetry(Telemetry),
    /// The state of the server that the session reads.
    Engine(EngineReport),
    /// The server is not read any more.
    EngineEnded {
        /// The reason, as a sentence without its full stop.
        why: String,
    },
    /// Done; no further content.
    Ok,
    /// The answer to `ping`.
    Pong,
    /// A refusal.
    Fault(Fault),
    /// The last message on a socket.
    Bye(Fault),
    /// A message of a later version.
    #[serde(other)]
    Unknown,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The daemon's introduction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Protocol versions of the daemon.
    pub protocol: Versions,
    /// Never changes.
    pub server: Hex<16>,
    pub nonce: Hex<32>,
    pub version: String,
    pub limits: Limits,
    /// Absent for the first daemons, for which [`Abilities::untold`] stands.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub can: Option<Box<Abilities>>,
}

/// A range of versions, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    pub min: u32,
    pub max: u32,
}

/// The start of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identified {
    /// HMAC-SHA-256 with the key over [`crate::proof::identified`].
    pub proof: Hex<32>,
    /// Scopes of the session.
    #[serde(deserialize_with = "known_items")]
    pub scopes: Vec<Scope>,
    /// Number of the session on this daemon.
    pub session: u64,
    /// Random at each start of the daemon.
    pub epoch: Hex<8>,
    /// Name of the processor, as in the daemon's records; empty if it is unknown or the daemon is older.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// The devices of the hello with their names; empty if the daemon is older.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "known_items")]
    pub devices: Vec<DeviceName>,
    /// The machine as a device of the catalog; absent if the daemon is older.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub here: Option<MachineHere>,
}

/// A machine as a device of the catalog, as the command line finds it for `--hardware here`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MachineHere {
    /// Key of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_key: Option<String>,
    /// The reason why there is none, as a sentence without its full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// A new key. Only its id is sent: both sides derive the secret from the code, see [`crate::proof::pair_key`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paired {
    pub key: Hex<8>,
    /// HMAC-SHA-256 with the code's characters over [`crate::proof::paired`].
    pub proof: Hex<32>,
    /// Scopes of the session.
    #[serde(deserialize_with = "known_items")]
    pub scopes: Vec<Scope>,
    /// Number of the session on this daemon.
    pub session: u64,
    /// Random at each start of the daemon.
    pub epoch: Hex<8>,
    /// Name of the processor, as in the daemon's records; empty if it is unknown or the daemon is older.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// The devices of the hello with their names; empty if the daemon is older.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "known_items")]
    pub devices: Vec<DeviceName>,
    /// The machine as a device of the catalog; absent if the daemon is older.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub here: Option<MachineHere>,
}

/// The answer to the start of a job, sent once the job is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub job: JobId,
    /// False if an earlier request with the same id started the job.
    pub fresh: bool,
}
