//! Graphics processors as Linux shows them without a library of their maker: DRM devices that render, devfreq devices, and what
//! NVIDIA's driver tells under `/proc`; the values of NVIDIA's cards come from its library.
//!
//! This file is longer than 400 lines because it says for every driver which quantities there are.

mod amd;
mod chip;
mod devfreq;
mod intel;
mod nvidia;
#[cfg_attr(not(target_os = "linux"), path = "gpu/no_nvml.rs")]
mod nvml;
mod sample;
mod users;

use std::time::Instant;

use super::{PowerMeter, Reading, SLEEPS, Sensors};

pub(crate) use users::{EngineTimes, GpuFiles};

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
    /// Paths of the nodes that programs open.
    nodes: Vec<String>,
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
    Nvidia,
    Other(String),
}

/// A card in a list of the driver.
#[derive(Debug)]
struct NvidiaCard {
    address: String,
    model: String,
    uuid: Option<String>,
    node: Option<String>,
}

/// The quantity that a reading of a graphics processor has, in its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GpuQuantity {
    /// A share of 1.
    Utilization,
    MemoryUsed,
    MemoryTotal,
    /// Part of the total that the driver reserves for itself, so that no program can allocate it.
    MemoryReserved,
    /// Now, or over as short a time as the driver has it.
    Power,
    /// Over a second or so, where the driver tells it beside the power of now.
    PowerAverage,
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
    /// Number of the latest error by NVIDIA's list of Xid errors; zero where there was none.
    LastXid,
}

/// Energy, power, clock and reasons of a card at a moment while it is measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CardSample {
    /// By its counter of energy [J].
    pub(crate) joules: Reading<f64>,
    /// Power of now [W].
    pub(crate) watts: Reading<f64>,
    /// Clock of its multiprocessors [Hz].
    pub(crate) clock: Reading<f64>,
    /// Reasons for a low clock, without rest.
    pub(crate) reasons: Reading<Vec<String>>,
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
    /// Names of the reasons for which the device is slowed down, if it is their number.
    pub(crate) reasons: Vec<String>,
    pub(crate) at: Instant,
}

impl GpuReading {
    fn new(
        quantity: GpuQuantity,
        rail: Option<String>,
        source: String,
        value: Reading<f64>,
    ) -> Self {
        Self { quantity, rail, source, value, reasons: Vec::new(), at: Instant::now() }
    }

    /// The reasons for which a part is slowed down, and the files that tell them.
    fn of_reasons(rail: Option<String>, files: &str, found: Reading<(f64, Vec<String>)>) -> Self {
        let (source, value, reasons) = match found {
            Ok((number, reasons)) => {
                let named = if reasons.is_empty() { "none".into() } else { reasons.join(", ") };
                (format!("{files}: {named}"), Ok(number), reasons)
            }
            Err(why) => (files.to_owned(), Err(why), Vec::new()),
        };
        let quantity = GpuQuantity::ThrottleReasons;
        Self { reasons, ..Self::new(quantity, rail, source, value) }
    }

    /// A file that is read, and how its number becomes one in the base unit.
    fn of(sensors: &Sensors, quantity: GpuQuantity, path: &str, scale: Scale) -> Self {
        let value = sensors.number(path).map(scale);
        Self::new(quantity, None, format!("/{path}"), value)
    }
}

/// Names of the memory as a part, as amdgpu and xe give them.
const MEMORY_PARTS: [&str; 2] = ["mem", "vram"];

/// Whether a part is the memory.
pub(crate) fn is_memory(rail: Option<&str>) -> bool {
    rail.is_some_and(|rail| MEMORY_PARTS.contains(&rail))
}

/// Words of reasons that are heat, a brake or another card. All other reasons are limits that the device always has, or that somebody set.
const FAULTS: [&str; 5] =
    ["temperature", "thermal", "hardware slowdown", "power brake", "slower card"];

/// Whether a reason for a low clock disturbs a measurement.
pub(crate) fn is_fault(reason: &str) -> bool {
    FAULTS.iter().any(|word| reason.contains(word))
}

/// Other processes that compute, by the library of a driver.
#[derive(Debug)]
struct Computing {
    processes: usize,
    /// Memory of all of them [B].
    memory: Reading<f64>,
    source: String,
}

/// Begin of the source where the other processes are those that compute, and not all that have a card open.
pub(crate) const COMPUTING: &str = "NVML, other processes that compute";

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
            Self::Nvidia => "nvidia",
            Self::Other(name) => name,
        }
    }
}

impl Sensors {
    /// Opens what the drivers of graphics processors need.
    pub(super) fn open_libraries(&self) {
        self.gpus().iter().for_each(|gpu| gpu.open(self));
    }

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
        let nodes = self.folder(&format!("{device}/drm")).into_iter();
        let nodes: Vec<String> =
            nodes.filter(|name| name.starts_with("card") || name.starts_with("renderD")).collect();
        let node = nodes.iter().find(|name| name.starts_with("card")).cloned();
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
            nodes: nodes.iter().map(|node| format!("/dev/dri/{node}")).collect(),
            node,
            driver,
            chip,
        }
    }
}

impl Gpu {
    /// The one at a place on its bus.
    pub(crate) fn at<'a>(gpus: &'a [Self], address: &str) -> Reading<&'a Self> {
        let found = gpus.iter().find(|gpu| gpu.address == address);
        found.ok_or_else(|| format!("no driver of a card at {address} is found"))
    }

    /// The only one that is on no bus: that of a board.
    pub(crate) fn of_board(gpus: &[Self]) -> Reading<&Self> {
        let all: Vec<&Self> = gpus.iter().filter(|gpu| gpu.bus_id().is_none()).collect();
        match all.as_slice() {
            [gpu] => Ok(gpu),
            [] => Err("this machine shows no GPU that is on no bus, as those of boards are".into()),
            several => Err(format!(
                "this machine shows {} GPUs that are on no bus, and which of them computed is not known",
                several.len()
            )),
        }
    }

    /// Whether it is a card with its own memory by a driver of AMD or Intel; NVIDIA's cards are not told apart here.
    pub(crate) fn is_card(&self, sensors: &Sensors) -> bool {
        match self.driver {
            GpuDriver::Amd => self.amd_is_card(sensors),
            // The graphics part of a processor is on the first bus, as `0000:00:02.0`.
            GpuDriver::I915 | GpuDriver::Xe => !self.address.starts_with("0000:00:"),
            GpuDriver::Nvidia | GpuDriver::Other(_) => false,
        }
    }

    /// Memory of a card [B], where the driver tells it without waking it up.
    pub(crate) fn own_memory(&self, sensors: &Sensors) -> Option<f64> {
        let device = self.device.as_ref().filter(|device| !sensors.sleeps(device))?;
        match self.driver {
            GpuDriver::Amd => sensors.number(&format!("{device}/mem_info_vram_total")).ok(),
            _ => None,
        }
    }

    /// Its place on PCI as NVIDIA's tools write it, with eight digits of the domain.
    pub(crate) fn bus_id(&self) -> Option<String> {
        let (domain, rest) = self.address.split_once(':')?;
        let is_pci = rest.contains(':') && domain.len() == 4;
        is_pci.then(|| format!("{domain:0>8}:{}", rest.to_uppercase()))
    }

    /// The readings of now, with a row and a reason for each of [`ROWS`] that it does not tell.
    pub(crate) fn readings(&self, sensors: &Sensors) -> Vec<GpuReading> {
        if self.sleeps(sensors) {
            return self.with_missing(Vec::new(), |_| SLEEPS.to_owned());
        }
        let mut all = match &self.chip {
            Some(chip) => chip::readings(sensors, chip, &self.driver),
            None => Vec::new(),
        };
        all.extend(match &self.driver {
            GpuDriver::Amd => self.amd_readings(sensors, &all),
            GpuDriver::I915 => self.i915_readings(sensors),
            GpuDriver::Xe => self.xe_readings(sensors),
            GpuDriver::Nvidia | GpuDriver::Other(_) => Vec::new(),
        });
        let mut unread = None;
        if self.driver == GpuDriver::Nvidia {
            let (found, why) = nvml::readings(self, sensors);
            all.extend(found);
            unread = Some(why);
        }
        if let Some(folder) = &self.frequencies {
            all.extend(devfreq::readings(sensors, folder, &all));
        }
        self.with_missing(all, |what| {
            let in_sysfs =
                || format!("driver {} tells no {what} of it in sysfs", self.driver.name());
            unread.clone().unwrap_or_else(in_sysfs)
        })
    }

    /// Whether the kernel has put it to sleep.
    pub(crate) fn sleeps(&self, sensors: &Sensors) -> bool {
        self.device.as_ref().is_some_and(|device| sensors.sleeps(device))
    }

    /// Opens the library of its driver, which may take seconds.
    fn open(&self, sensors: &Sensors) {
        if self.driver == GpuDriver::Nvidia && !self.sleeps(sensors) {
            nvml::open();
        }
    }

    /// Its meters that no class of sysfs shows.
    pub(super) fn meters(&self, sensors: &Sensors) -> Reading<Vec<PowerMeter>> {
        match self.driver {
            GpuDriver::Nvidia if self.sleeps(sensors) => Err(SLEEPS.into()),
            GpuDriver::Nvidia => nvml::meters(self),
            _ => Ok(Vec::new()),
        }
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
}

#[cfg(test)]
mod tests;
