//! Facts of a graphics processor for a record: a quick reading while it is measured, and its driver.

use super::super::{Reading, Sensors};
use super::{CardSample, Gpu, GpuDriver, nvml};

impl Sensors {
    /// Latest version of CUDA that NVIDIA's driver has, by its library: the major and the minor one.
    ///
    /// # Errors
    /// A system without that library, and one that does not tell it.
    pub(crate) fn cuda_of_driver(&self) -> Reading<(u32, u32)> {
        let all = self.gpus();
        match all.iter().find(|gpu| gpu.is_nvidia() && !gpu.sleeps(self)) {
            Some(_) => nvml::cuda_version(),
            None => Err("no card of NVIDIA is awake".into()),
        }
    }
}

impl Gpu {
    /// Whether NVIDIA's own driver has it.
    pub(crate) fn is_nvidia(&self) -> bool {
        self.driver == GpuDriver::Nvidia
    }

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
