//! The device file of this machine: measured roofs, and datasheet values if the processor is known.

use calc_core::catalog::{self, devices};
use calc_core::device::{Device, DeviceClass};
use report::input::device_file::DeviceFile;
use report::output::json::bench::BenchJson;
use serde_json::{Value, json};

use super::calibration::{Calibrated, peak_of};
use super::sensors::Sensors;

/// The catalog's device with this processor name. `None` if there is none.
pub(crate) fn known(processor: &str) -> Option<&'static Device> {
    let words = |name: &str| -> Vec<String> {
        let name = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
        name.split_whitespace().map(str::to_owned).collect()
    };
    let own = words(processor);
    devices::all().find(|device| {
        // A processor does not report the catalog name's brackets and memory size.
        let name = device.name.split(" (").next().unwrap_or_default();
        let name = words(name).into_iter().filter(|word| !word.ends_with("gb"));
        device.class == DeviceClass::Cpu && name.clone().count() > 1 && {
            let mut name = name;
            name.all(|word| own.contains(&word))
        }
    })
}

/// The device file. `base` is the catalog key of this machine, if the user gave one.
///
/// # Errors
/// An unknown key; a machine without a known memory size.
pub(crate) fn file(
    calibrated: &Calibrated,
    records: &[BenchJson],
    base: Option<&str>,
) -> Result<Value, String> {
    let base = match base {
        Some(key) => {
            Some(catalog::device(key).map_err(|error| report::output::words::core_error(&error))?)
        }
        None => known(&calibrated.device),
    };
    let tera = |chains| peak_of(records, chains).map(|rate| rounded(rate * 1e-12));
    let bandwidth = rounded(calibrated.read * 1e-9);
    let peaks = json!({"fp32": tera("fma_fp32"), "int8": tera("dot_int8")});
    let measured = format!(
        "measured by `ridgepoint calibrate` {}, kernels {}: reading, FP32 multiply-adds, INT8 dot products",
        calibrated.version, calibrated.kernel_hash
    );
    let mut file = match base {
        Some(base) => datasheet(base),
        None => unknown(bandwidth, &peaks)?,
    };
    file["key"] = json!(calibrated.key);
    file["name"] = json!(format!("{} (measured here)", calibrated.device));
    file["measured_bandwidth_gb_s"] = json!(bandwidth);
    file["measured_peaks_tflops"] = peaks;
    file["source"] = match base {
        Some(base) => json!(format!("{measured}; the rest of {}: {}", base.key, base.source)),
        None => json!(measured),
    };
    Ok(file)
}

/// The catalog's values.
fn datasheet(base: &Device) -> Value {
    DeviceFile::of(base, Some(&base.key)).to_json()
}

/// The measured values alone, for a machine without a datasheet.
fn unknown(bandwidth: f64, peaks: &Value) -> Result<Value, String> {
    let memory = Sensors::here().memory_gib().ok_or_else(|| {
        "the system does not report its memory size, which a device file must state; give this machine's catalog key with --hardware"
            .to_owned()
    })?;
    Ok(json!({
        "class": "cpu",
        "memory_gib": memory,
        "bandwidth_gb_s": bandwidth,
        "unified_memory": true,
        "dense_peaks_tflops": peaks,
        "notes": "No datasheet of this machine is known, so its values are the measured ones; --hardware names one.",
    }))
}

/// Four significant digits, the precision of a measurement.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalog_processors_are_found_by_their_reported_names() {
        for (name, key) in [
            ("AMD EPYC 9654 96-Core Processor", Some("epyc_9654")),
            ("INTEL(R) XEON(R) PLATINUM 8592+", Some("xeon_8592plus")),
            ("Raspberry Pi 5 Model B Rev 1.0", Some("raspberry_pi_5")),
            ("AMD EPYC", None),
            ("AMD EPYC 9655 96-Core Processor", Some("epyc_9655")),
            ("AMD EPYC 9999 96-Core Processor", None),
            ("", None),
        ] {
            assert_eq!(known(name).map(|device| &*device.key), key, "{name}");
        }
    }
}
