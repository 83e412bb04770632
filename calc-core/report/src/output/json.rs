//! The published JSON: one file per verb, keys as scripts rely on them. Units are in the keys, times in seconds.
//! Add keys freely; rename none without a new schema number.

pub mod analyze;
pub mod bench;
pub mod catalog;
pub mod check;
pub mod compare;
pub mod estimate;
pub mod recommend;
pub mod tiling;

use calc_core::calibration::Basis;
use calc_core::device::Device;
use calc_core::expected::Expected;
use calc_core::provenance::Provenance;
use serde::Serialize;

use crate::output::words;

/// Number of this layout.
pub const SCHEMA: u32 = 1;

/// The device of an answer.
#[derive(Debug, Clone, Serialize)]
pub struct HardwareJson {
    key: String,
    name: String,
    power_mode: Option<String>,
}

impl HardwareJson {
    /// A device in a power mode.
    pub fn new(device: &Device, power_mode: Option<&str>) -> Self {
        Self {
            key: device.key.to_string(),
            name: device.name.to_string(),
            power_mode: power_mode.map(Into::into),
        }
    }
}

/// An expected time with its interval and origin.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ExpectedJson {
    time_s: f64,
    low_s: f64,
    high_s: f64,
    basis: Provenance,
}

impl From<Expected> for ExpectedJson {
    fn from(expected: Expected) -> Self {
        Self {
            time_s: expected.time.get(),
            low_s: expected.low.get(),
            high_s: expected.high.get(),
            basis: expected.provenance,
        }
    }
}

/// What expected times rest on.
#[derive(Debug, Clone, Serialize)]
pub struct FactorsJson {
    engine: &'static str,
    engine_named: bool,
    device_in_fit: bool,
    source: String,
}

impl FactorsJson {
    /// Says a basis.
    pub fn new(provenance: Provenance, basis: &Basis) -> Self {
        Self {
            engine: basis.engine.key(),
            engine_named: basis.is_named,
            device_in_fit: basis.in_fit,
            source: words::factors_source(provenance, basis),
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, Serialize)]
pub struct ProvenanceJson {
    kind: Provenance,
    source: String,
}

impl ProvenanceJson {
    /// An origin with the source of this very value.
    pub fn new(kind: Provenance, source: &str) -> Self {
        Self { kind, source: source.into() }
    }

    /// An origin in a row whose source is that of what was read in it; the rest says what it is.
    pub fn in_row(kind: Provenance, source: &str) -> Self {
        let source = match kind {
            Provenance::Recalled => "from memory; nobody opened a source",
            Provenance::Assumed => "assumed",
            Provenance::Read
            | Provenance::Derived
            | Provenance::Fitted
            | Provenance::Measured
            | Provenance::Mixed => source,
        };
        Self::new(kind, source)
    }
}

/// A value with its origin.
#[derive(Debug, Clone, Serialize)]
pub struct Sourced<T> {
    /// The value; null when unknown.
    pub value: Option<T>,
    /// Its origin; null with the value.
    pub provenance: Option<ProvenanceJson>,
}

impl<T> Sourced<T> {
    /// A value with its origin.
    pub const fn new(value: T, provenance: ProvenanceJson) -> Self {
        Self { value: Some(value), provenance: Some(provenance) }
    }

    /// Nobody knows.
    pub const UNKNOWN: Self = Self { value: None, provenance: None };
}
