//! Readings of the device's sensors.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::tolerant::known_items;

/// One reading of all sensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Wall clock, in ms since 1970.
    pub at_ms: u64,
    /// All known sensors, missing ones included.
    #[serde(deserialize_with = "known_items")]
    pub readings: Vec<Reading>,
}

/// The reading of one sensor. A missing sensor is null with a reason, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Name with its unit, such as `memory_available_byte`.
    pub name: String,
    pub value: Option<f64>,
    /// The reason if the value is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
