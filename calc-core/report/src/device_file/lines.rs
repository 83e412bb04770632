//! A device file as lines of `path<TAB>value`: how the page gets it from the program that reads JSON for it. The page itself
//! parses neither JSON nor decimal numbers, which would be a tenth of its size: a number is the 16 hexadecimal digits of
//! its bits.

use serde_json::Value;

use super::{DeviceFile, DeviceFileError, PeaksFile, PowerModeFile, device, parse};
use calc_core::device::{Device, DeviceClass};

/// The lines of a device file that [`parse`] accepts.
///
/// # Errors
/// What [`parse`] refuses.
pub fn write(text: &str) -> Result<String, DeviceFileError> {
    parse(text)?;
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| DeviceFileError::Malformed { reason: error.to_string() })?;
    let mut lines = String::new();
    walk("", &value, &mut lines);
    Ok(lines)
}

fn walk(path: &str, value: &Value, lines: &mut String) {
    let below = |key: &str| if path.is_empty() { key.into() } else { format!("{path}.{key}") };
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| walk(&below(key), value, lines));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, value)| walk(&below(&i.to_string()), value, lines));
        }
        Value::String(text) => {
            *lines += &format!("{path}\t{}\n", text.replace(char::is_control, " "));
        }
        Value::Bool(value) => *lines += &format!("{path}\t{value}\n"),
        Value::Number(number) => {
            let bits = number.as_f64().unwrap_or(f64::NAN).to_bits();
            *lines += &format!("{path}\t{bits:016x}\n");
        }
    }
}

/// The device of such lines.
///
/// # Errors
/// As [`parse`]; lines that nothing wrote describe an impossible device.
pub fn read(lines: &str) -> Result<Device, DeviceFileError> {
    let fields = Lines(lines.lines().filter_map(|line| line.split_once('\t')).collect());
    let peak = |class: &str| fields.real(&format!("dense_peaks_tflops.{class}"));
    let modes = (0..).map(|i| format!("power_modes.{i}."));
    let modes =
        modes.take_while(|mode| fields.0.iter().any(|(path, _)| path.starts_with(mode.as_str())));
    device(DeviceFile {
        _schema: None,
        key: fields.text("key").unwrap_or_default(),
        name: fields.text("name"),
        class: match fields.get("class") {
            Some("unified_gpu") => DeviceClass::UnifiedGpu,
            Some("cpu") => DeviceClass::Cpu,
            _ => DeviceClass::DiscreteGpu,
        },
        memory_gib: fields.real("memory_gib").unwrap_or(f64::NAN),
        bandwidth_gb_s: fields.real("bandwidth_gb_s").unwrap_or(f64::NAN),
        unified_memory: fields.flag("unified_memory"),
        dense_peaks_tflops: PeaksFile {
            fp64: peak("fp64"),
            fp32: peak("fp32"),
            tf32: peak("tf32"),
            fp16: peak("fp16"),
            bf16: peak("bf16"),
            fp8: peak("fp8"),
            fp6: peak("fp6"),
            fp4: peak("fp4"),
            int8: peak("int8"),
            int4: peak("int4"),
        },
        vendor: fields.text("vendor").unwrap_or_default(),
        architecture: fields.text("architecture").unwrap_or_default(),
        compute_capability: fields.text("compute_capability"),
        sm_count: fields.whole("sm_count"),
        tensor_clock_mhz: fields.real("tensor_clock_mhz"),
        l2_mib: fields.real("l2_mib"),
        shared_memory_per_sm_kib: fields.real("shared_memory_per_sm_kib"),
        tdp_w: fields.real("tdp_w"),
        link_gb_s: fields.real("link_gb_s"),
        link_latency_us: fields.real("link_latency_us"),
        power_modes: modes.map(|mode| fields.power_mode(&mode)).collect(),
        source: fields.text("source").unwrap_or_default(),
        notes: fields.text("notes").unwrap_or_default(),
    })
}

struct Lines<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Lines<'a> {
    fn get(&self, path: &str) -> Option<&'a str> {
        self.0.iter().find(|(other, _)| *other == path).map(|(_, value)| *value)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.get(path).map(Into::into)
    }

    fn real(&self, path: &str) -> Option<f64> {
        u64::from_str_radix(self.get(path)?, 16).ok().map(f64::from_bits)
    }

    /// A whole number; anything else was refused when the file was read, and is here, too, as too small.
    fn whole(&self, path: &str) -> Option<u32> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts from floats saturate"
        )]
        self.real(path).map(|value| value as u32)
    }

    fn flag(&self, path: &str) -> Option<bool> {
        self.get(path)?.parse().ok()
    }

    fn power_mode(&self, mode: &str) -> PowerModeFile {
        PowerModeFile {
            name: self.text(&format!("{mode}name")).unwrap_or_default(),
            watts: self.real(&format!("{mode}watts")),
            gpu_clock_mhz: self.real(&format!("{mode}gpu_clock_mhz")),
            active_sm: self.whole(&format!("{mode}active_sm")),
            bandwidth_gb_s: self.real(&format!("{mode}bandwidth_gb_s")),
            default: self.flag(&format!("{mode}default")).unwrap_or(false),
        }
    }
}
