//! A device in a power mode, with the measurements that its owner made on it.

use std::sync::Arc;

use calc_core::calibration::Calibration;
use calc_core::device::{Device, PowerMode};
use calc_core::provenance::Provenance;
use report::input::calibration_file::lines;
use report::output::words::roofs;

/// A device's own measurements, ready for the core.
#[derive(Debug, Clone)]
pub struct OwnCalibration {
    /// Key of the device.
    pub device: String,
    /// Date, method and tools of the measurements.
    pub about: String,
    /// The measurements as lines, for the address.
    pub lines: String,
    /// Own factors, which take precedence over the published fit.
    pub calibration: Arc<Calibration>,
}

impl OwnCalibration {
    /// Parses measurements from lines; `None` if they are invalid.
    pub fn read(text: &str) -> Option<Self> {
        let measured = lines::read(text)?;
        Some(Self {
            calibration: Arc::new(measured.calibration()),
            device: measured.device,
            about: measured.about,
            lines: text.to_owned(),
        })
    }
}

/// The lines determine all other fields.
impl PartialEq for OwnCalibration {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

/// A device in a power mode, with its owner's measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place<'a> {
    pub device: &'a Device,
    /// `None`: the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    pub own: Option<&'a OwnCalibration>,
}

impl<'a> Place<'a> {
    /// A device without power mode and own measurements.
    pub const fn of(device: &'a Device) -> Self {
        Self { device, mode: None, own: None }
    }

    /// Whether the roofs of the device were measured.
    pub fn is_measured(self) -> bool {
        self.device.bandwidth.provenance == Provenance::Measured
    }

    /// Calibration of expected times: the own one, else the published one.
    pub fn calibration(self) -> &'a Calibration {
        self.own.map_or(&Calibration::FITTED, |own| &own.calibration)
    }
}

/// Sentence about roofs of a device that were disturbed while they were measured; empty for all others.
pub fn disturbed_roofs(device: &Device) -> String {
    roofs::disturbed(device).map_or_else(String::new, |note| format!("{note}."))
}

/// Sentence about expected times on measured roofs that rest on factors of other machines; empty for all others.
pub fn factors_of_others(place: Place<'_>) -> &'static str {
    if place.is_measured() && place.own.is_none() {
        "The roofs are those of the machine. Expected times still rest on factors of other machines, so measured times may lie outside their intervals; a calibration in Device, some minutes, measures these factors, too."
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_roofs_without_own_factors_say_whose_factors_count() {
        let mut device = calc_core::catalog::device("t4").expect("in the catalog").clone();
        assert_eq!(factors_of_others(Place::of(&device)), "");
        device.bandwidth.provenance = Provenance::Measured;
        assert!(factors_of_others(Place::of(&device)).contains("factors of other machines"));
        let own = OwnCalibration {
            device: device.key.to_string(),
            about: String::new(),
            lines: String::new(),
            calibration: Arc::new(Calibration::FITTED),
        };
        assert_eq!(factors_of_others(Place { own: Some(&own), ..Place::of(&device) }), "");
    }
}
