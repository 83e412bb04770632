//! The rows of `doctor` about devices: those that can be measured, the libraries of GPUs, and the meters of graphics cards.

use std::thread;
use std::time::Duration;

use kernels::cuda::facts::{Absent, Facts};
use kernels::cuda::libraries::{self, Library};
use kernels::cuda::prebuilt::PREBUILT;
use kernels::devices::Device;

use super::{Finding, good, less};
use crate::clock::Clock;
use crate::hooks::Hooks;
use crate::measure::sensors::PatientSensors;
use crate::measure::{gpus, machine};
use crate::telemetry::{Owner, Quantity, SPAN, Sensor, SensorReader};

/// Longest wait for the driver of a card.
const WAIT: Duration = Duration::from_secs(3);

/// The devices that can be measured, each with what `--device` takes.
pub(super) fn devices(hooks: &Hooks) -> Vec<Finding> {
    let devices = kernels::devices::with_gpus(hooks.device());
    let row = |device: &Device| {
        let names = |asked: &&str| {
            kernels::devices::find(&devices, asked).is_some_and(|found| found.id == device.id)
        };
        let (id, kind) = (device.id.to_string(), device.id.backend.key());
        let taken: Vec<&str> = [&*id, kind, "auto"].into_iter().filter(names).collect();
        let names = machine::name(device);
        let key = names.catalog_key.map(|key| format!(", {key} of the catalog"));
        good(
            format!("device {id}"),
            format!(
                "{}{}; --device takes {}",
                device.name,
                key.unwrap_or_default(),
                taken.join(", ")
            ),
        )
    };
    devices.iter().map(row).collect()
}

/// The GPUs with CUDA, or the reason why there is none.
pub(super) fn gpus() -> Finding {
    let found = match kernels::devices::gpus() {
        Ok(found) => found,
        Err(Absent::NotBuilt) => return good("GPUs", gpus::absent(&Absent::NotBuilt)),
        Err(why @ (Absent::NoDriver | Absent::NoDevice)) => {
            let fix = "only for a machine with an NVIDIA GPU: install its driver, or name the folder of libcuda.so.1 by --cuda-libs";
            return less("GPUs", gpus::absent(&why), fix);
        }
        Err(why) => return less("GPUs", gpus::absent(&why), "follow the message"),
    };
    let said = |gpu: &Facts| {
        let (major, minor) = gpu.capability;
        format!("cuda:{} {}, architecture {major}.{minor}, {}", gpu.index, gpu.name, gpu.driver())
    };
    let all: Vec<String> = found.iter().map(said).collect();
    good("GPUs", format!("{}, by {}", all.join("; "), library(Library::Driver).unwrap_or_default()))
}

/// The version of NVIDIA's driver, and the latest version of CUDA that it has; `None` where no card of NVIDIA is.
pub(super) fn gpu_driver() -> Option<Finding> {
    let what = "GPU driver";
    let sensors = PatientSensors::here(WAIT);
    sensors.open_libraries();
    let found = sensors.ask("the driver of NVIDIA", |sensors| {
        let all = sensors.gpus();
        let gpu = all.iter().find(|gpu| gpu.is_nvidia());
        Ok(gpu.map(|gpu| (gpu.driver_version(sensors), sensors.cuda_of_driver())))
    });
    let fix = "follow the message: records have no version of the driver without it";
    let (version, cuda) = match found {
        Ok(found) => found?,
        Err(why) => return Some(less(what, why, fix)),
    };
    let listed = kernels::devices::gpus().unwrap_or_default();
    let by_cuda = || listed.first().map(Facts::driver);
    let cuda = cuda.map(|(major, minor)| format!("CUDA {major}.{minor}"));
    let cuda = cuda.or_else(|why| by_cuda().ok_or(why));
    let latest = match &cuda {
        Ok(cuda) => format!("latest version of CUDA that it has: {cuda}"),
        Err(why) => format!("its version of CUDA is not known: {why}"),
    };
    Some(match version {
        Ok(version) => good(what, format!("NVIDIA {version}; {latest}")),
        Err(why) => less(what, format!("{why}; {latest}"), fix),
    })
}

/// NVRTC, which a build without kernels for a GPU needs.
pub(super) fn cuda_compiler() -> Finding {
    let has_kernels = !PREBUILT.is_empty();
    let kernels = if has_kernels {
        "kernels for GPUs are inside this program"
    } else {
        "no kernels for GPUs are inside this program"
    };
    match library(Library::Nvrtc) {
        Some(file) => good("CUDA compiler", format!("{file}; {kernels}")),
        None if has_kernels => good("CUDA compiler", format!("not found; {kernels}")),
        None => less(
            "CUDA compiler",
            format!("NVRTC was not found; {kernels}"),
            "only for a machine with an NVIDIA GPU: `pip install nvidia-cuda-nvrtc-cu12`, or name the folder of libnvrtc by --cuda-libs",
        ),
    }
}

/// cuBLASLt, without which a GPU has no products of matrices: the first version of those that were found that serves each GPU by its
/// name. None is started, which would open the GPU.
pub(super) fn cuda_products() -> Finding {
    let of = |gpu: Facts| {
        let mut all = libraries::found().iter().filter(|it| it.library == Library::CublasLt);
        let cuda = gpu.cuda / 1000;
        let own = all.find(|it| libraries::serves(it, gpu.capability, cuda).is_ok());
        let file = own.map_or_else(|| "none serves it".into(), |it| it.file.display().to_string());
        format!("cuda:{}: {file}", gpu.index)
    };
    let gpus: Vec<_> = kernels::devices::gpus().unwrap_or_default().into_iter().map(of).collect();
    match library(Library::CublasLt) {
        Some(_) if !gpus.is_empty() => good("CUDA products", gpus.join("; ")),
        Some(file) => good("CUDA products", file),
        None => less(
            "CUDA products",
            "cuBLASLt was not found; a GPU measures no GEMM without it",
            "only for a machine with an NVIDIA GPU: `pip install nvidia-cublas-cu12`, or name the folder of libcublasLt by --cuda-libs",
        ),
    }
}

/// The file of a library that was opened; its name where the loader found it.
fn library(which: Library) -> Option<String> {
    let found = libraries::found().iter().find(|found| found.library == which)?;
    Some(found.file.display().to_string())
}

/// The meter of each graphics card, or the reason why it has none.
pub(super) fn gpu_power() -> Finding {
    let mut reader = SensorReader::prepared(Clock::default());
    // Power that follows from energy is a difference of two readings.
    reader.sensed();
    thread::sleep(SPAN);
    let sensed = reader.sensed();
    let of_card = |name: &str| {
        let is_its =
            |it: &&Sensor| matches!(&it.of.device, Some(Owner::Card(card)) if card == name);
        let mut its = sensed.sensors.iter().filter(is_its);
        let power = its.clone().find(|it| it.quantity == Quantity::Watts && !it.is_power_cap());
        // A card that does not answer has another row alone.
        let row = power.or_else(|| its.next())?;
        Some(row.value.as_ref().map(|_| row.source.clone()).map_err(Clone::clone))
    };
    let none = || Err("it does not answer".to_owned());
    let all = sensed.gpus.iter().map(|gpu| (&gpu.name, of_card(&gpu.name).unwrap_or_else(none)));
    let all: Vec<_> = all.collect();
    let said = all.iter().map(|(name, found)| match found {
        Ok(source) => format!("{name}: {source}"),
        Err(why) => format!("{name}: {why}"),
    });
    let said = said.collect::<Vec<_>>().join("; ");
    match all.iter().all(|(_, found)| found.is_ok()) {
        true if said.is_empty() => match reader.unseen() {
            Some(why) => less("GPU power", why, "follow the message"),
            None => good("GPU power", "no graphics card"),
        },
        true => good("GPU power", said),
        false => {
            less("GPU power", said, "follow the message: energy on this card is null without it")
        }
    }
}
