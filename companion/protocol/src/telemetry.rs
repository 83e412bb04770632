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
    /// Device that it belongs to, as in orders (`cpu:0`, `cuda:0`), or by driver and address, such as `amdgpu@0000:03:00.0`, a card that is read and not measured;
    /// absent for the whole machine, and for older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Part of the device or machine that a meter covers, such as `package-0` or `VDD_IN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<String>,
    /// File, driver or meter that is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Readings of one sensor at the moments of [`crate::job::JobEvent::Readings`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SensorSeries {
    /// Name with its unit, as in [`Reading`].
    pub name: String,
    /// As in [`Reading`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// As in [`Reading`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<String>,
    /// Five digits of each value, in the order of the moments; null where the sensor gave none.
    pub values: Vec<Option<f64>>,
}
