//! The device file of a measured device: its roofs, and datasheet values where the catalog knows it.

use calc_core::catalog;
use calc_core::device::{Device, DeviceClass, Roof};
use calc_core::units::Bytes;
use protocol::device::file_key;
use report::input::device_file::{self, DeviceFile};
use report::output::json::bench::BenchJson;
use serde_json::{Value, json};

use super::sensors::Sensors;
use super::{machine, roofs};

/// The device file of measured roofs. `base` is the catalog key of the device, if the user gave one; else the key that the device
/// itself has.
///
/// # Errors
/// An unknown key; records without a bandwidth, or without any peak; a device without a known memory size.
pub(crate) fn file(
    measured: &MeasuredRoofs<'_>,
    device: &kernels::devices::Device,
    base: Option<&str>,
) -> Result<Value, String> {
    let memory = || {
        let own = device.memory.map(|bytes| bytes.get() / GIB);
        own.or_else(|| Sensors::here().memory_gib()).ok_or_else(|| {
            "the system does not report its memory size, which a device file must state; give this machine's catalog key with --hardware"
                .to_owned()
        })
    };
    stated(measured, device, base, &memory)
}

/// The device of [`file`], as page and command line read it. Without a known memory size it has one of 1 GiB: no time depends on it.
///
/// # Errors
/// See [`file`].
pub(crate) fn measured(
    measured: &MeasuredRoofs<'_>,
    device: &kernels::devices::Device,
    base: Option<&str>,
) -> Result<Device, String> {
    let memory = device.memory.map_or(1.0, |bytes| bytes.get() / GIB);
    let file = stated(measured, device, base, &|| Ok(memory))?;
    device_file::parse(&file.to_string()).map_err(|why| why.to_string())
}

const GIB: f64 = Bytes::from_gib(1.0).get();

fn stated(
    measured: &MeasuredRoofs<'_>,
    device: &kernels::devices::Device,
    base: Option<&str>,
    memory: &dyn Fn() -> Result<f64, String>,
) -> Result<Value, String> {
    let own = machine::catalog_key(device.id, device.catalog_key, &device.name, device.memory);
    let base = match base.or(own.as_deref()) {
        Some(key) => {
            Some(catalog::device(key).map_err(|error| report::output::words::core_error(&error))?)
        }
        None => None,
    };
    let found = roofs::peaks(measured.records);
    if found.is_empty() {
        return Err("no peak could be measured".to_owned());
    }
    let mut peaks = json!({});
    for (class, rate) in &found {
        peaks[class.key()] = json!(rounded(rate * 1e-12));
    }
    let bandwidth = rounded(measured.bandwidth * 1e-9);
    let conditions = &measured.first.conditions;
    let classes: Vec<&str> = found.iter().map(|(class, _)| class.key()).collect();
    let source = format!(
        "measured by `ridgepoint {}` {}, kernels {}{}: reading, peaks of {}",
        measured.by,
        conditions.version,
        conditions.kernel_hash,
        conditions.driver().map_or_else(String::new, |it| format!(", {it}")),
        classes.join(", ")
    );
    let mut file = match base {
        Some(base) => datasheet(base),
        None => unknown(bandwidth, &peaks, device, memory()?),
    };
    file["key"] = json!(file_key(&measured.first.backend, measured.first.index));
    file["name"] = json!(format!("{} (measured here)", device.name));
    file["measured_bandwidth_gb_s"] = json!(bandwidth);
    file["measured_peaks_tflops"] = peaks;
    let disturbed = roofs::disturbed(measured.records, measured.bandwidth);
    if !disturbed.is_empty() {
        let names = Roof::all().filter(|roof| disturbed.has(*roof)).map(Roof::key);
        file[DISTURBED] = names.collect();
    }
    file["source"] = match base {
        Some(base) => json!(format!("{source}; the rest of {}: {}", base.key, base.source)),
        None => json!(source),
    };
    Ok(file)
}

/// Key of the disturbed roofs in a device file, which older programs refuse.
const DISTURBED: &str = "disturbed_roofs";

/// The texts of a device file for a message: without the key that older programs refuse, and the whole one where that key is in it.
pub(crate) fn texts(mut file: Value) -> (String, Option<String>) {
    let text = |file: &Value| format!("{file:#}\n");
    let whole = text(&file);
    match file.as_object_mut().and_then(|fields| fields.remove(DISTURBED)) {
        Some(_) => (text(&file), Some(whole)),
        None => (whole, None),
    }
}

/// The roofs of a device, as measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredRoofs<'a> {
    /// The verb that measured them.
    pub(crate) by: &'static str,
    /// Read bandwidth [B/s].
    pub(crate) bandwidth: f64,
    /// A record of the reading.
    pub(crate) first: &'a BenchJson,
    /// Records of the peaks, and of products.
    pub(crate) records: &'a [BenchJson],
}

impl<'a> MeasuredRoofs<'a> {
    /// The roofs in the records of a job.
    ///
    /// # Errors
    /// See [`roofs::bandwidth`].
    pub(crate) fn of(records: &'a [BenchJson]) -> Result<Self, String> {
        let (first, bandwidth) = roofs::bandwidth(records)?;
        Ok(Self { by: "serve", bandwidth, first, records })
    }

    /// The roofs of a calibration, whose bandwidth [B/s] also its products show.
    ///
    /// # Errors
    /// See [`roofs::bandwidth`].
    pub(crate) fn calibrated(bandwidth: f64, records: &'a [BenchJson]) -> Result<Self, String> {
        Ok(Self { by: "calibrate", bandwidth, ..Self::of(records)? })
    }
}

/// The catalog's values.
fn datasheet(base: &Device) -> Value {
    DeviceFile::of(base, Some(&base.key)).to_json()
}

/// The values that were measured and that the device itself tells, for a device without a datasheet.
fn unknown(
    bandwidth: f64,
    peaks: &Value,
    device: &kernels::devices::Device,
    memory_gib: f64,
) -> Value {
    let class = device.class;
    let mut file = json!({
        "class": class,
        "memory_gib": rounded(memory_gib),
        "bandwidth_gb_s": bandwidth,
        "unified_memory": class != DeviceClass::DiscreteGpu,
        "dense_peaks_tflops": peaks,
        "notes": "No datasheet of this device is known, so its values are the measured ones; --hardware names one.",
    });
    if let Some(count) = device.multiprocessors() {
        file["sm_count"] = json!(count);
    }
    file
}

/// Four significant digits, the precision of a measurement.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
