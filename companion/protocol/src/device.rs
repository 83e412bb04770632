//! The name of a device in orders, events and readings.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// A device of a daemon's machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceName {
    /// Key of the backend, such as `cpu`.
    pub backend: String,
    /// Number of the device among those of its backend.
    #[serde(default)]
    pub index: u32,
    /// Name that the device reports; empty if it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Key of the device in the catalog, where one fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_key: Option<String>,
}

impl DeviceName {
    /// The name in orders and readings, such as `cpu:0`.
    pub fn id(&self) -> String {
        id(&self.backend, self.index)
    }
}

/// Key of the measured processor in device and calibration files.
pub const PROCESSOR_KEY: &str = "this_machine";

/// Key of a measured device in device and calibration files; each device of a machine has its own.
pub fn file_key(backend: &str, index: u32) -> String {
    if (backend, index) == ("cpu", 0) {
        String::from(PROCESSOR_KEY)
    } else {
        format!("{PROCESSOR_KEY}_{backend}_{index}")
    }
}

/// The device that an order asks for, such as `cpu:0`. An order without a name is for the processor; one without an index, for the first device
/// of its backend.
pub fn asked_id(asked: Option<&str>) -> String {
    match asked.filter(|name| *name != "auto") {
        None => id("cpu", 0),
        Some(name) if name.contains(':') => String::from(name),
        Some(backend) => id(backend, 0),
    }
}

/// The name of a device in orders and readings: `cpu:0`.
pub fn id(backend: &str, index: u32) -> String {
    format!("{backend}:{index}")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) const fn is_first(index: &u32) -> bool {
    *index == 0
}
