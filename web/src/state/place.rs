//! Where something runs: a device, its power mode, and what its owner measured there.

use std::sync::Arc;

use calc_core::calibration::Calibration;
use calc_core::device::{Device, PowerMode};
use report::input::calibration_file::lines;

/// Own measurements of a device, ready for the core.
#[derive(Debug, Clone)]
pub struct Own {
    /// Key of the device.
    pub device: String,
    /// When, how and with what they were made.
    pub about: String,
    /// As lines, for the address.
    pub lines: String,
    /// Before the fitted factors.
    pub calibration: Arc<Calibration>,
}

impl Own {
    /// Measurements as lines; `None` for what are none.
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

/// The lines say it all.
impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

/// A device in a power mode, with what was measured on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place<'a> {
    /// Device.
    pub device: &'a Device,
    /// Its power mode; `None` for its own peaks.
    pub mode: Option<&'a PowerMode>,
    /// Own measurements of it.
    pub own: Option<&'a Own>,
}

impl<'a> Place<'a> {
    /// A device as it comes.
    pub const fn of(device: &'a Device) -> Self {
        Self { device, mode: None, own: None }
    }

    /// What expected times rest on.
    pub fn calibration(self) -> &'a Calibration {
        self.own.map_or(&Calibration::FITTED, |own| &own.calibration)
    }
}
