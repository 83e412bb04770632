//! The scopes of a session.

use serde::{Deserialize, Serialize};

/// A permission. A session has a scope only if its key, the daemon's flags and the kind of its connection all allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read the device, its telemetry, jobs and results.
    Read,
    /// Start and cancel measurements.
    Bench,
    /// Reserved: read models of the user and quantize them.
    Files,
    /// Reserved: change the power mode temporarily.
    Power,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Read, Self::Bench, Self::Files, Self::Power];

    /// The name in JSON and on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Bench => "bench",
            Self::Files => "files",
            Self::Power => "power",
        }
    }
}
