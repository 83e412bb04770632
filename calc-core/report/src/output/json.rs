//! The published JSON: one file per verb, keys as scripts rely on them. Units are in the keys, times in seconds.
//! Add keys freely; rename none without a new schema number.

pub mod analyze;
pub mod bench;
mod cards;
pub mod catalog;
pub mod check;
pub mod compare;
pub mod estimate;
pub mod fit;
pub mod formulas;
pub mod geometry;
mod host;
mod images;
pub mod inspect;
mod link;
pub mod measured;
mod memory;
pub mod recommend;
mod row;
pub mod scenarios;
pub mod schedule;
pub mod tiling;

use calc_core::calibration::{Basis, InFit};
use calc_core::device::Device;
use calc_core::expected::Expected;
use calc_core::plan::MeanToken;
use calc_core::provenance::Provenance;
use calc_core::units::TokensPerSec;
use serde::Serialize;

use crate::output::words;

/// Version of the published layout.
pub const SCHEMA: u32 = 1;

/// Device of an answer.
#[derive(Debug, Clone, Serialize)]
pub struct HardwareJson {
    key: String,
    name: String,
    power_mode: Option<String>,
}

impl HardwareJson {
    /// The device in a power mode.
    pub fn new(device: &Device, power_mode: Option<&str>) -> Self {
        Self {
            key: device.key.to_string(),
            name: device.name.to_string(),
            power_mode: power_mode.map(Into::into),
        }
    }
}

/// Expected time with its interval and provenance.
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

/// Means per output token over the generation; those of the step at the stated context if there is a single token.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MeanJson {
    tpot: ExpectedJson,
    ideal_s: f64,
    throughput_token_per_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mbu: Option<f64>,
    /// Energy of all devices; `watt` likewise.
    joule_per_token: Option<f64>,
    watt: Option<f64>,
}

impl MeanJson {
    /// Converts a mean; `mbu` where it is known.
    pub fn new(token: &MeanToken, throughput: TokensPerSec, mbu: Option<f64>) -> Self {
        Self {
            tpot: token.expected.into(),
            ideal_s: token.ideal.get(),
            throughput_token_per_s: throughput.get(),
            mbu,
            joule_per_token: token.energy.map(|energy| energy.per_token.get()),
            watt: token.energy.map(|energy| energy.power.all.get()),
        }
    }
}

/// Basis of expected times: the factors and their sources.
#[derive(Debug, Clone, Serialize)]
pub struct FactorsJson {
    engine: &'static str,
    engine_named: bool,
    device_in_fit: bool,
    source: String,
}

impl FactorsJson {
    /// Converts a basis.
    pub fn new(provenance: Provenance, basis: &Basis) -> Self {
        Self {
            engine: basis.engine.key(),
            engine_named: basis.is_named,
            device_in_fit: basis.in_fit == InFit::Device,
            source: words::factors_source(provenance, basis),
        }
    }
}

/// Provenance of a value.
#[derive(Debug, Clone, Serialize)]
pub struct ProvenanceJson {
    kind: Provenance,
    source: String,
}

impl ProvenanceJson {
    /// Provenance with the source of the value itself.
    pub fn new(kind: Provenance, source: &str) -> Self {
        Self { kind, source: source.into() }
    }

    /// Provenance in a row. The row's source covers the values read from it; the provenance of other values explains itself.
    pub fn in_row(kind: Provenance, source: &str) -> Self {
        let source = match kind {
            Provenance::Recalled => "from memory, not checked against a source",
            Provenance::Assumed => "assumed",
            Provenance::Read
            | Provenance::Reported
            | Provenance::Derived
            | Provenance::Fitted
            | Provenance::Measured
            | Provenance::Mixed => source,
        };
        Self::new(kind, source)
    }
}

/// Value with its provenance.
#[derive(Debug, Clone, Serialize)]
pub struct Sourced<T> {
    /// Null when unknown.
    pub value: Option<T>,
    /// Null when the value is unknown.
    pub provenance: Option<ProvenanceJson>,
}

impl<T> Sourced<T> {
    /// A known value.
    pub const fn new(value: T, provenance: ProvenanceJson) -> Self {
        Self { value: Some(value), provenance: Some(provenance) }
    }

    /// The unknown value.
    pub const UNKNOWN: Self = Self { value: None, provenance: None };
}
