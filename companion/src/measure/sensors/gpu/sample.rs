//! Facts of a graphics processor for a record: a quick reading while it is measured, and its driver.

use super::super::{Reading, Sensors};
use super::{CardSample, Gpu, GpuDriver, nvml};

/// Folder in which Windows puts the driver's libraries for its Linux (WSL2), where `/proc` shows no card.
const WSL: &str = "usr/lib/wsl/lib";

impl Sensors {
    /// Version of NVIDIA's driver of Windows, by its library; `None` on any other system.
    pub(crate) fn wsl_driver(&self) -> Option<Reading<String>> {
        (!self.folder(WSL).is_empty()).then(nvml::driver_version)
    }
}

impl Gpu {
    /// Version of its driver: of NVIDIA's by its library, and where that does not answer by the kernel's module.
    ///
    /// # Errors
    /// A driver that tells none.
    pub(crate) fn driver_version(&self, sensors: &Sensors) -> Reading<String> {
        match &self.driver {
            GpuDriver::Nvidia if self.sleeps(sensors) => sensors.nvidia_version(),
            GpuDriver::Nvidia => nvml::driver_version()
                .or_else(|why| sensors.nvidia_version().map_err(|file| format!("{why}; {file}"))),
            driver => sensors.text(&format!("sys/module/{}/version", driver.name())).map_err(|file| {
                format!("{file}; a driver that is a part of the kernel has its version, which `system` names")
            }),
        }
    }

    /// Energy, power, clock and reasons while it is measured, without the rest of its readings, which take longer.
    ///
    /// # Errors
    /// A driver that is read when samples begin and end alone, and a card that does not answer.
    pub(crate) fn sample(&self) -> Reading<CardSample> {
        match self.driver {
            GpuDriver::Nvidia => nvml::sample(self),
            _ => Err(format!("driver {} has no two meters of it", self.driver.name())),
        }
    }

    /// Its counter of energy alone [J].
    ///
    /// # Errors
    /// As above, and a card without such a counter.
    pub(crate) fn counter(&self) -> Reading<f64> {
        match self.driver {
            GpuDriver::Nvidia => nvml::counter(self),
            _ => self.sample()?.joules,
        }
    }
}
