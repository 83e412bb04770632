//! Cards of NVIDIA's driver by its management library, NVML. It is opened at the first question about such a card, by no process that asks
//! none, and closed some time after the last one. Functions, fields and units are those of NVIDIA's "NVML API Reference Guide"; what a card does not tell has the library's
//! reason.

mod faults;
mod library;
mod meters;
mod processes;
mod reasons;
mod xid;

use calc_core::catalog;
use calc_core::device::DeviceClass;
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Clock, GpuVirtualizationMode, TemperatureSensor};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id::{
    NVML_FI_DEV_MEMORY_TEMP, NVML_FI_DEV_POWER_AVERAGE, NVML_FI_DEV_POWER_INSTANT,
};

use super::super::{Reading, Sensors};
use super::{Gpu, GpuQuantity, GpuReading, MEMORY_PARTS, NvidiaCard};
use faults::said;
use library::{Opened, opened};
pub(super) use meters::{counter, meters, sample};
pub(super) use processes::used;

/// A field by its number, and its name.
type Field = (u32, &'static str);

const INSTANT: Field = (NVML_FI_DEV_POWER_INSTANT, "field POWER_INSTANT");
const AVERAGE: Field = (NVML_FI_DEV_POWER_AVERAGE, "field POWER_AVERAGE");
const MEMORY_WARMTH: Field = (NVML_FI_DEV_MEMORY_TEMP, "field MEMORY_TEMP");

/// The function of power that all drivers have, and the span of its figure.
const USAGE: &str = "nvmlDeviceGetPowerUsage";
const USAGE_SPAN: &str = ": mean of a second, of GA100 and older cards the power of now";

/// The function or field that is asked, and its answer in the base unit.
type Answer = (&'static str, Result<f64, NvmlError>);

/// Version of the driver that the library is of.
pub(super) fn driver_version() -> Reading<String> {
    opened()?.nvml.sys_driver_version().map_err(|error| said("nvmlSystemGetDriverVersion", &error))
}

/// Latest version of CUDA that the driver has: the major and the minor one.
pub(super) fn cuda_version() -> Reading<(u32, u32)> {
    let asked = "nvmlSystemGetCudaDriverVersion";
    let found = opened()?.nvml.sys_cuda_driver_version().map_err(|error| said(asked, &error))?;
    let version = u32::try_from(found).map_err(|_error| format!("NVML, {asked}: {found}"))?;
    Ok((version / 1000, version % 1000 / 10))
}

/// All cards that the library knows, without those that do not answer.
///
/// # Errors
/// A library that does not open, and one by which no card answers.
pub(super) fn cards() -> Reading<Vec<NvidiaCard>> {
    let opened = opened()?;
    let nvml = &opened.nvml;
    let number = nvml.device_count().map_err(|error| said("nvmlDeviceGetCount", &error))?;
    let one = |index| {
        let card = nvml.device_by_index(index)?;
        Ok(NvidiaCard {
            address: address(&card.pci_info()?.bus_id),
            model: card.name()?,
            uuid: card.uuid().ok(),
            node: None,
        })
    };
    let (found, failed): (Vec<_>, Vec<_>) = (0..number).map(one).partition(Result::is_ok);
    match failed.into_iter().find_map(Result::err) {
        Some(error) if found.is_empty() => Err(said("nvmlDeviceGetHandleByIndex", &error)),
        _ => Ok(found.into_iter().flatten().collect()),
    }
}

/// A place on PCI as Linux and CUDA write it, with four digits of the domain; the library writes eight.
fn address(bus_id: &str) -> String {
    let lower = bus_id.to_lowercase();
    match lower.split_once(':') {
        Some((domain, rest)) if domain.len() == 8 && domain.starts_with("0000") => {
            format!("{}:{rest}", &domain[4..])
        }
        _ => lower,
    }
}

/// Opens the library, whose failure the readings tell.
pub(super) fn open() {
    drop(opened());
}

/// The readings of a card, and the reason why any others are missing.
pub(super) fn readings(gpu: &Gpu, sensors: &Sensors) -> (Vec<GpuReading>, String) {
    let opened = match opened() {
        Ok(opened) => opened,
        Err(why) => return (Vec::new(), why),
    };
    // Events come also of a card that answers nothing any more.
    let xid = xid::reading(&opened.nvml, &opened.listeners, &gpu.address);
    match card(&opened, gpu) {
        Ok(card) => {
            let mut all = of_card(&card, gpu, sensors);
            all.push(xid);
            (all, "NVML does not tell it".into())
        }
        Err(why) => (vec![xid], why),
    }
}

fn of_card(card: &Device<'_>, gpu: &Gpu, sensors: &Sensors) -> Vec<GpuReading> {
    let scope = scope(card);
    let row = |quantity, (asked, found): Answer| {
        let value = found.map_err(|error| said(asked, &error));
        let span = if asked == USAGE { USAGE_SPAN } else { "" };
        GpuReading::new(quantity, None, format!("NVML, {asked}{span}{scope}"), value)
    };
    let [power, average] = powers(card);
    let busy = card.utilization_rates().map(|rates| f64::from(rates.gpu) / 100.0);
    let warm = card.temperature(TemperatureSensor::Gpu).map(f64::from);
    let mut all = vec![
        row(GpuQuantity::Utilization, ("nvmlDeviceGetUtilizationRates", busy)),
        row(GpuQuantity::Power, power),
        row(GpuQuantity::PowerAverage, average),
        row(GpuQuantity::PowerCap, limit(card)),
        row(GpuQuantity::Energy, energy(card)),
        row(GpuQuantity::Temperature, ("nvmlDeviceGetTemperature", warm)),
        row(GpuQuantity::Clock, ("nvmlDeviceGetClockInfo (SM)", clock(card, Clock::SM))),
        row(
            GpuQuantity::MemoryClock,
            ("nvmlDeviceGetClockInfo (memory)", clock(card, Clock::Memory)),
        ),
    ];
    // Only cards with HBM or GDDR6X have this thermometer. Some with GDDR6X answer 0, which no memory that works has: it is not told.
    if let (asked, Ok(warmth)) = field(card, MEMORY_WARMTH) {
        let rail = Some(MEMORY_PARTS[0].to_owned());
        let told = if warmth > 0.0 { Ok(warmth) } else { Err(NvmlError::NoData) };
        all.push(GpuReading { rail, ..row(GpuQuantity::Temperature, (asked, told)) });
    }
    let throttle = "nvmlDeviceGetCurrentClocksThrottleReasons";
    let reasons = reasons::of(card).map_err(|error| said(throttle, &error));
    let reasons = reasons.map(|words| (words.len() as f64, words));
    all.push(GpuReading::of_reasons(None, &format!("NVML, {throttle}{scope}"), reasons));
    all.extend(memory(card, gpu, sensors, scope));
    all
}

/// Memory in use, all of it, and what the driver keeps for itself. A device that shares the memory of the system has what the system tells, where NVML tells none.
fn memory(card: &Device<'_>, gpu: &Gpu, sensors: &Sensors, scope: &str) -> Vec<GpuReading> {
    let asked = "nvmlDeviceGetMemoryInfo";
    let rows = |source: String, used, total| {
        [(GpuQuantity::MemoryUsed, used), (GpuQuantity::MemoryTotal, total)]
            .map(|(quantity, value)| GpuReading::new(quantity, None, source.clone(), value))
            .into()
    };
    match card.memory_info() {
        Ok(info) => {
            let source = format!("NVML, {asked}{scope}");
            let mut all: Vec<GpuReading> =
                rows(source.clone(), Ok(info.used as f64), Ok(info.total as f64));
            let reserved = Ok(info.reserved as f64);
            all.push(GpuReading::new(GpuQuantity::MemoryReserved, None, source, reserved));
            all
        }
        Err(NvmlError::NotSupported) if shares_memory(gpu, sensors) => {
            let total = sensors.memory_total();
            let free = sensors.memory_available();
            let used = total.clone().and_then(|total| Ok(total - free?));
            let source = format!(
                "/proc/meminfo: memory of the system, which the GPU shares; NVML does not support {asked} on it"
            );
            rows(source, used, total)
        }
        Err(error) => {
            let why = said(asked, &error);
            rows(format!("NVML, {asked}{scope}"), Err(why.clone()), Err(why))
        }
    }
}

/// Whether the catalog has the GPU, or the board, as a device whose GPU shares the memory of the processor.
fn shares_memory(gpu: &Gpu, sensors: &Sensors) -> bool {
    let board = sensors.text("proc/device-tree/model").unwrap_or_default();
    [&*gpu.model, board.trim_matches('\0')]
        .into_iter()
        .any(|name| catalog::device(name).is_ok_and(|it| it.class == DeviceClass::UnifiedGpu))
}

/// The card at the address. It is looked up each time, because it may have been lost, and by no index, which CUDA counts otherwise.
fn card<'a>(opened: &'a Opened, gpu: &Gpu) -> Reading<Device<'a>> {
    let found = opened.nvml.device_by_pci_bus_id(gpu.address.as_str());
    found.map_err(|error| said("nvmlDeviceGetHandleByPciBusId", &error))
}

/// The part that readings are of, where it is not simply a card.
fn scope(card: &Device<'_>) -> &'static str {
    if card.mig_mode().is_ok_and(|mode| mode.current != 0) {
        return ": the whole card, which is divided (MIG)";
    }
    match card.virtualization_mode() {
        Ok(GpuVirtualizationMode::Vgpu) => ": a share of a card (vGPU)",
        _ => "",
    }
}

/// Instant and average power. The one that a driver tells by a function alone stands first where instant power is not told apart.
fn powers(card: &Device<'_>) -> [Answer; 2] {
    let instant = instant(card);
    let average = field(card, AVERAGE);
    let average = (average.0, drawn(average.1, 1e-3));
    let usage = || (USAGE, drawn(card.power_usage().map(f64::from), 1e-3));
    match (&instant.1, &average.1) {
        (Ok(_), Ok(_)) => [instant, average],
        (Ok(_), Err(_)) => [instant, usage()],
        (Err(_), _) => [usage(), average],
    }
}

fn instant(card: &Device<'_>) -> Answer {
    let (asked, found) = field(card, INSTANT);
    (asked, drawn(found, 1e-3))
}

/// A power or limit [W]. A card that is on draws power, so zero is no answer.
fn drawn(found: Result<f64, NvmlError>, unit: f64) -> Result<f64, NvmlError> {
    let watts = found? * unit;
    if watts > 0.0 { Ok(watts) } else { Err(NvmlError::NoData) }
}

fn limit(card: &Device<'_>) -> Answer {
    let asked = "nvmlDeviceGetEnforcedPowerLimit";
    (asked, drawn(card.enforced_power_limit().map(f64::from), 1e-3))
}

fn energy(card: &Device<'_>) -> Answer {
    let joules = card.total_energy_consumption().map(|millijoules| millijoules as f64 / 1e3);
    ("nvmlDeviceGetTotalEnergyConsumption", joules)
}

fn clock(card: &Device<'_>, of: Clock) -> Result<f64, NvmlError> {
    card.clock_info(of).map(|mhz| f64::from(mhz) * 1e6)
}

/// A field in the unit of the library.
fn field(card: &Device<'_>, (id, name): Field) -> Answer {
    let found = card.field_values_for(&[FieldId(id)]).and_then(|mut samples| {
        let sample = samples.pop().unwrap_or(Err(NvmlError::NoData))?;
        Ok(match sample.value? {
            SampleValue::F64(value) => value,
            SampleValue::U32(value) => f64::from(value),
            SampleValue::U64(value) => value as f64,
            SampleValue::I64(value) => value as f64,
        })
    });
    (name, found)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn places_on_pci_are_written_as_linux_does() {
        for (bus_id, expected) in [
            ("00000000:0A:00.0", "0000:0a:00.0"),
            ("0000:01:00.0", "0000:01:00.0"),
            ("00010000:01:00.0", "00010000:01:00.0"),
        ] {
            assert_eq!(address(bus_id), expected);
        }
    }
}
