//! What a session may do.

use serde::{Deserialize, Serialize};

/// A right. A session has those of its key, of the daemon's flags and of the way it came, all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// See the device, its telemetry, jobs and results.
    Read,
    /// Start and cancel measurements.
    Bench,
    /// Reserved: look at models of the user and quantize them.
    Files,
    /// Reserved: change the power mode for a time.
    Power,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Bench, Self::Files, Self::Power];

    /// Its name on the wire and on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Bench => "bench",
            Self::Files => "files",
            Self::Power => "power",
        }
    }
}
