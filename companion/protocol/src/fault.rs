//! Refusals and failures: a code for programs and a sentence for people.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// A refusal or a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub code: FaultCode,
    /// One sentence that says what to do next.
    pub message: String,
    /// Delay before another try, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u32>,
}

impl Fault {
    /// A fault that waiting does not resolve.
    pub fn new(code: FaultCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_after_ms: None }
    }
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    /// Malformed message.
    Malformed,
    /// Missing or wrong proof.
    Unauthenticated,
    /// The session lacks the scope.
    Forbidden,
    /// No such job.
    NotFound,
    /// A value out of its range.
    BadInput,
    /// The request id has started another job.
    Conflict,
    /// The queue, or the share of one key, is full.
    QueueFull,
    /// Too many messages or subscriptions.
    Rate,
    /// No common protocol version.
    Version,
    /// Not supported by this daemon.
    Unsupported,
    /// The worker sent nothing for too long, the job took much longer than predicted, or a killed worker has not ended and holds the device.
    Hung,
    /// The worker exited without reporting a result.
    Crashed,
    /// The worker wrote malformed messages, or more than it may.
    Garbled,
    /// The worker reported a failure.
    Failed,
    /// The daemon ended while the job waited or ran; it is not started again.
    Interrupted,
    /// The results cannot be stored.
    Storage,
    /// The daemon is shutting down.
    Draining,
    /// A defect of the daemon.
    Internal,
    /// A code of a later version.
    #[serde(other)]
    Unknown,
}

impl FaultCode {
    /// All codes, in declaration order.
    pub const ALL: [Self; 19] = [
        Self::Malformed,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::BadInput,
        Self::Conflict,
        Self::QueueFull,
        Self::Rate,
        Self::Version,
        Self::Unsupported,
        Self::Hung,
        Self::Crashed,
        Self::Garbled,
        Self::Failed,
        Self::Interrupted,
        Self::Storage,
        Self::Draining,
        Self::Internal,
        Self::Unknown,
    ];

    /// The name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::BadInput => "bad_input",
            Self::Conflict => "conflict",
            Self::QueueFull => "queue_full",
            Self::Rate => "rate",
            Self::Version => "version",
            Self::Unsupported => "unsupported",
            Self::Hung => "hung",
            Self::Crashed => "crashed",
            Self::Garbled => "garbled",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Storage => "storage",
            Self::Draining => "draining",
            Self::Internal => "internal",
            Self::Unknown => "unknown",
        }
    }
}

// The one of later versions is the last, so a code that is not in the list moves it.
const _: () = assert!(FaultCode::Unknown as usize + 1 == FaultCode::ALL.len());
