//! Graphics processors as Linux shows them without a library of their maker: DRM devices that render, devfreq devices, and what
//! NVIDIA's driver tells under `/proc`.

mod amd;
mod chip;
mod devfreq;
mod intel;
mod nvidia;

use std::time::Instant;

use super::{Reading, Sensors};

const DRM: &str = "sys/class/drm";

/// A graphics processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// Driver and address, such as `amdgpu@0000:03:00.0`. Names of devices that run kernels have no `@`.
    pub(crate) name: String,
    /// Its place on its bus: of PCI, or as the device tree names it.
    pub(crate) address: String,
    /// Node of the device, such as `card0` or `nvidia0`.
    pub(crate) node: Option<String>,
    /// Name of the product, else driver and number on PCI.
    pub(crate) model: String,
    /// Number of this very chip, if the driver tells it.
    pub(crate) uuid: Option<String>,
    driver: GpuDriver,
    /// Folder of the DRM node.
    card: Option<String>,
    /// Folder of the device.
    device: Option<String>,
    /// Folder of its chip in hwmon.
    chip: Option<String>,
    /// Folder in devfreq.
    frequencies: Option<String>,
}

/// The driver of a graphics processor, by what it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GpuDriver {
    Amd,
    I915,
    Xe,
    /// With its version.
    Nvidia(String),
    Other(String),
}

/// The quantity that a reading of a graphics processor has, in its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GpuQuantity {
    /// A share of 1.
    Utilization,
    MemoryUsed,
    MemoryTotal,
    Power,
    PowerCap,
    /// A counter [J].
    Energy,
    Temperature,
    Clock,
    /// Largest clock that is allowed now.
    ClockLimit,
    MemoryClock,
    /// Number of reasons for which it is slowed down now; the source names them.
    ThrottleReasons,
}

/// A reading of a graphics processor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GpuReading {
    pub(crate) quantity: GpuQuantity,
    /// Part of the device that is read.
    pub(crate) rail: Option<String>,
    /// File that is read, and what it covers.
    pub(crate) source: String,
    pub(crate) value: Reading<f64>,
    pub(crate) at: Instant,
}

impl GpuReading {
    fn new(
        quantity: GpuQuantity,
        rail: Option<String>,
        source: String,
        value: Reading<f64>,
    ) -> Self {
        Self { quantity, rail, source, value, at: Instant::now() }
    }

    /// A file that is read, and how its number becomes one in the base unit.
    fn of(sensors: &Sensors, quantity: GpuQuantity, path: &str, scale: Scale) -> Self {
        let value = sensors.number(path).map(scale);
        Self::new(quantity, None, format!("/{path}"), value)
    }
}

type Scale = fn(f64) -> f64;
const AS_IT_IS: Scale = |number| number;
const OF_PERCENT: Scale = |percent| percent / 100.0;
const OF_THOUSANDTHS: Scale = |thousandths| thousandths / 1e3;
const OF_MILLIONTHS: Scale = |millionths| millionths / 1e6;
const OF_MILLIONS: Scale = |millions| millions * 1e6;

/// Quantities of which every graphics processor has a row, and their names in sentences.
const ROWS: [(GpuQuantity, &str); 5] = [
    (GpuQuantity::Utilization, "utilization"),
    (GpuQuantity::MemoryUsed, "memory"),
    (GpuQuantity::Power, "power"),
    (GpuQuantity::Temperature, "temperature"),
    (GpuQuantity::Clock, "clock"),
];

impl GpuDriver {
    fn by_name(name: &str) -> Self {
        match name {
            "amdgpu" => Self::Amd,
            "i915" => Self::I915,
            "xe" => Self::Xe,
            other => Self::Other(other.to_owned()),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Amd => "amdgpu",
            Self::I915 => "i915",
            Self::Xe => "xe",
            Self::Nvidia(_) => "nvidia",
            Self::Other(name) => name,
        }
    }
}

impl Sensors {
    /// All graphics processors, in a fixed order.
    pub(crate) fn gpus(&self) -> Vec<Gpu> {
        let mut found = self.nvidia_gpus();
        for node in self.folder(DRM).into_iter().filter(|name| name.starts_with("renderD")) {
            let gpu = self.drm_gpu(&format!("{DRM}/{node}/device"));
            if found.iter().all(|known| known.address != gpu.address) {
                found.push(gpu);
            }
        }
        for (address, folder) in self.devfreq_gpus() {
            match found.iter_mut().find(|known| known.address == address) {
                Some(known) => known.frequencies = Some(folder),
                None => found.push(self.devfreq_gpu(address, folder)),
            }
        }
        found
    }

    /// A device that renders. Those that only show pictures have no such node.
    fn drm_gpu(&self, device: &str) -> Gpu {
        let known = self.text(&format!("{device}/uevent")).unwrap_or_default();
        let of = |key: &str| {
            let value = known.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            value.map(str::to_owned)
        };
        let driver = of("DRIVER").or_else(|| self.target(&format!("{device}/driver")));
        let driver = GpuDriver::by_name(&driver.unwrap_or_else(|| "drm".into()));
        let address = of("PCI_SLOT_NAME").or_else(|| self.target(device));
        let address = address.unwrap_or_else(|| device.to_owned());
        let node = self.folder(&format!("{device}/drm")).into_iter();
        let node = node.filter(|name| name.starts_with("card")).min();
        let chips = format!("{device}/hwmon");
        let chip = self.folder(&chips).first().map(|chip| format!("{chips}/{chip}"));
        let told = |file: &str| {
            let text = self.text(&format!("{device}/{file}")).ok();
            text.filter(|text| !text.is_empty())
        };
        let numbered = || Some(format!("{} {}", driver.name(), of("PCI_ID")?));
        let model = told("product_name").or_else(numbered);
        Gpu {
            name: format!("{}@{address}", driver.name()),
            card: node.as_ref().map(|node| format!("{DRM}/{node}")),
            model: model.unwrap_or_else(|| driver.name().to_owned()),
            uuid: told("unique_id"),
            device: Some(device.to_owned()),
            frequencies: None,
            address,
            node,
            driver,
            chip,
        }
    }
}

impl Gpu {
    /// Its place on PCI as NVIDIA's tools write it, with eight digits of the domain.
    pub(crate) fn bus_id(&self) -> Option<String> {
        let (domain, rest) = self.address.split_once(':')?;
        let is_pci = rest.contains(':') && domain.len() == 4;
        is_pci.then(|| format!("{domain:0>8}:{}", rest.to_uppercase()))
    }

    /// The readings of now, with a row and a reason for each of [`ROWS`] that it does not tell.
    pub(crate) fn readings(&self, sensors: &Sensors) -> Vec<GpuReading> {
        if self.sleeps(sensors) {
            let why = "it sleeps, and reading would wake it up";
            return self.with_missing(Vec::new(), |_| why.to_owned());
        }
        let mut all = match &self.chip {
            Some(chip) => chip::readings(sensors, chip, &self.driver),
            None => Vec::new(),
        };
        all.extend(match &self.driver {
            GpuDriver::Amd => self.amd_readings(sensors, &all),
            GpuDriver::I915 => self.i915_readings(sensors),
            GpuDriver::Xe => self.xe_readings(sensors),
            GpuDriver::Nvidia(_) | GpuDriver::Other(_) => Vec::new(),
        });
        if let Some(folder) = &self.frequencies {
            all.extend(devfreq::readings(sensors, folder, &all));
        }
        self.with_missing(all, |what| match &self.driver {
            GpuDriver::Nvidia(version) => format!(
                "driver {version} of the {} tells its {what} by the library NVML alone, which this build does not load yet",
                self.model
            ),
            driver => format!("driver {} tells no {what} of it in sysfs", driver.name()),
        })
    }

    fn with_missing(
        &self,
        mut all: Vec<GpuReading>,
        why: impl Fn(&str) -> String,
    ) -> Vec<GpuReading> {
        for (quantity, what) in ROWS {
            let is_there = |reading: &GpuReading| {
                // Power follows from energy.
                let same =
                    quantity == GpuQuantity::Power && reading.quantity == GpuQuantity::Energy;
                same || reading.quantity == quantity
            };
            if !all.iter().any(is_there) {
                all.push(GpuReading::new(quantity, None, self.name.clone(), Err(why(what))));
            }
        }
        // Readings of a quantity stand together, in the order of the driver.
        all.sort_by_key(|reading| reading.quantity);
        all
    }

    fn sleeps(&self, sensors: &Sensors) -> bool {
        let Some(device) = &self.device else { return false };
        sensors.text(&format!("{device}/power/runtime_status")).is_ok_and(|it| it == "suspended")
    }
}

#[cfg(test)]
mod tests;
