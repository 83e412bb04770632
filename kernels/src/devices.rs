//! The devices of this machine: what each can run, and how to open it. Callers take devices from this list and use them by
//! [`Backend`] alone.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread::{self, available_parallelism};

use calc_core::device::DeviceClass;
use calc_core::quant_format::QuantFormat;
use calc_core::units::Bytes;

use crate::backend::fake::{Fake, Script};
use crate::backend::{Backend, BackendKind, DeviceId, Fault, Kernel, Support, Work};
use crate::cpu::backend::{Cpu, LEAST_SETS};
use crate::cpu::isa::Isa;
use crate::cpu::{device, support};
#[cfg(target_os = "linux")]
use crate::cuda::backend as cuda;
use crate::cuda::facts::{Absent, Facts};
use crate::rotation::LastLevelCache;

/// A device that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Backend and index.
    pub id: DeviceId,
    /// Name that the device reports.
    pub name: String,
    /// Key of the device in the catalog, where one fits.
    pub catalog_key: Option<&'static str>,
    /// Class, by which memory and bus are known.
    pub class: DeviceClass,
    /// Memory of the device; `None` where that is the memory of the system.
    pub memory: Option<Bytes>,
    /// Place on its bus, such as `0000:03:00.0`, by which the system's sensors know a card; `None` for a processor.
    pub address: Option<String>,
    found: Found,
}

#[derive(Debug, Clone, PartialEq)]
enum Found {
    Cpu(LastLevelCache),
    Cuda(Facts),
    Fake(Script),
}

/// Settings of a device that is opened; those that a device does not have are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Threads of the processor; without a number one per physical core.
    pub workers: Option<usize>,
    /// Instruction set of the processor; without one the widest.
    pub isa: Option<Isa>,
}

/// The devices of this machine that need no driver, the processor first. A script adds the scripted device, in builds with debug assertions only.
pub fn all(script: Option<Script>) -> Vec<Device> {
    let cores: Vec<usize> = (0..available_parallelism().map_or(1, usize::from)).collect();
    let cache = LastLevelCache::or_assumed(device::last_level_cache(&cores));
    let cpu = Device {
        id: DeviceId::CPU,
        name: device::name(),
        catalog_key: None,
        class: DeviceClass::Cpu,
        memory: None,
        address: None,
        found: Found::Cpu(cache),
    };
    let scripted = script.filter(|_| cfg!(debug_assertions)).map(|script| Device {
        id: Fake::ID,
        name: Fake::NAME.into(),
        catalog_key: None,
        class: DeviceClass::DiscreteGpu,
        memory: Some(Fake::MEMORY),
        address: script.address(),
        found: Found::Fake(script),
    });
    [Some(cpu), scripted].into_iter().flatten().collect()
}

/// The devices of this machine, the processor first, then GPUs with CUDA; none where their driver is missing or does not work, which
/// `doctor` explains. It opens the driver's library.
pub fn with_gpus(script: Option<Script>) -> Vec<Device> {
    let mut devices = all(script);
    let found = gpus().unwrap_or_default().into_iter().map(gpu);
    devices.splice(1..1, found);
    devices
}

/// The GPUs with CUDA of this machine, in the driver's order. It opens the driver's library, and no GPU.
///
/// # Errors
/// When there is none, or the driver does not work.
#[cfg(target_os = "linux")]
pub fn gpus() -> Result<Vec<Facts>, Absent> {
    crate::cuda::gpu::all()
}

/// As elsewhere: none.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub const fn gpus() -> Result<Vec<Facts>, Absent> {
    Err(Absent::NotBuilt)
}

/// The device of a GPU.
pub fn gpu(facts: Facts) -> Device {
    let class =
        if facts.is_integrated { DeviceClass::UnifiedGpu } else { DeviceClass::DiscreteGpu };
    Device {
        id: DeviceId { backend: BackendKind::Cuda, index: facts.index },
        name: facts.name.clone(),
        catalog_key: None,
        class,
        address: facts.address.clone(),
        memory: facts.own_memory(),
        found: Found::Cuda(facts),
    }
}

/// The device that a flag or message names: `auto` is the first one.
pub fn find<'a>(devices: &'a [Device], asked: &str) -> Option<&'a Device> {
    if asked == "auto" {
        return devices.first();
    }
    let id = DeviceId::parse(asked)?;
    devices.iter().find(|device| device.id == id)
}

impl Device {
    /// Kernels that it runs, without opening it.
    pub fn support(&self) -> Support {
        match &self.found {
            Found::Cpu(cache) => support::of(*cache),
            Found::Cuda(facts) => crate::cuda::support::of(facts),
            Found::Fake(_) => Fake::supported(),
        }
    }

    /// Bytes that a measurement of this work allocates, without opening it.
    pub fn needed(&self, work: &Work) -> u64 {
        match &self.found {
            Found::Cuda(facts) => crate::cuda::support::needed(facts, work),
            Found::Cpu(cache) => cache.needed(&work.kernel, work.cache, LEAST_SETS),
            Found::Fake(_) => Fake::needed(),
        }
    }

    /// Multiprocessors of a GPU, each of which computes a tile of a product at a time; `None` where they are not known.
    pub const fn multiprocessors(&self) -> Option<u32> {
        match &self.found {
            Found::Cuda(facts) => Some(facts.processors),
            Found::Cpu(_) | Found::Fake(_) => None,
        }
    }

    /// Format of the input that a kernel reads there, as [`Backend::activations`].
    pub fn activations(&self, kernel: Kernel) -> Option<&'static QuantFormat> {
        match &self.found {
            Found::Cpu(_) => support::activations(kernel),
            Found::Cuda(facts) => crate::cuda::support::activations(kernel, facts),
            Found::Fake(_) => None,
        }
    }

    /// Opens the device on this thread, and checks that it works.
    ///
    /// # Errors
    /// When the device is gone or does not work.
    pub fn open(&self, settings: &Settings) -> Result<Box<dyn Backend>, Fault> {
        let mut backend: Box<dyn Backend> = match &self.found {
            Found::Cpu(_) => Box::new(Cpu::new(settings.workers, settings.isa)),
            #[cfg(target_os = "linux")]
            Found::Cuda(facts) => Box::new(cuda::Cuda::new(facts.clone())),
            #[cfg(not(target_os = "linux"))]
            Found::Cuda(_) => return Err(Fault::NoDevice),
            Found::Fake(script) => {
                Box::new(Fake::new(*script, Rc::new(RefCell::new(thread::sleep))))
            }
        };
        backend.probe()?;
        Ok(backend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cache;

    const READ: Work =
        Work { kernel: Kernel::Read { bytes: 1 << 20 }, cache: Cache::Cold, seed: 1 };

    #[test]
    fn a_device_is_found_by_its_name_and_no_other_is() {
        let devices = all(Some(Script::GOOD));
        for (asked, expected) in [
            ("auto", Some(DeviceId::CPU)),
            ("cpu", Some(DeviceId::CPU)),
            ("cpu:0", Some(DeviceId::CPU)),
            ("fake:0", Some(Fake::ID)),
            ("cpu:1", None),
            ("cuda:0", None),
        ] {
            assert_eq!(find(&devices, asked).map(|device| device.id), expected, "{asked}");
        }
        assert_eq!(find(&all(None), "fake"), None);
    }

    #[test]
    fn a_device_in_the_list_is_the_one_that_opens() {
        for device in all(Some(Script::GOOD)) {
            let backend = device.open(&Settings { workers: Some(1), isa: None }).unwrap();
            let description = backend.describe();
            assert_eq!((description.id, &description.device), (device.id, &device.name));
            assert_eq!(backend.support().kernels, device.support().kernels);
            assert!(backend.needed(&READ) > 0 && device.needed(&READ) > 0);
        }
    }

    #[test]
    fn a_device_that_vanished_does_not_open() {
        let devices = all(Script::parse("absent"));
        let gone = find(&devices, "fake").unwrap().open(&Settings::default()).err();
        assert_eq!(gone, Some(Fault::NoDevice));
    }
}
