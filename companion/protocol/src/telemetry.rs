//! What the device says about itself right now.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One look at all sensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Wall clock, milliseconds since 1970.
    pub at_ms: u64,
    /// Every sensor that is known of, also those that are missing.
    pub readings: Vec<Reading>,
}

/// One sensor. A missing one is null with a reason, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Name with its unit, such as `memory_available_byte`.
    pub name: String,
    /// Its value.
    pub value: Option<f64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
