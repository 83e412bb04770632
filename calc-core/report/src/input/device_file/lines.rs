//! A device file as lines of `path<TAB>value`, the form in which the page gets it from its chunk that parses JSON. The page itself
//! parses neither JSON nor decimal numbers, whose parsers would be a tenth of its size: a number is the 16 hexadecimal digits of
//! its bits.

use serde_json::Value;

use super::{DeviceFile, DeviceFileError, PeaksFile, PowerModeFile, device, parse};
use calc_core::device::{Device, DeviceClass, PowerMode};
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass;

/// Converts a valid device file to lines.
///
/// # Errors
/// The refusals of [`parse`].
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

/// Writes an existing device as such lines. `copy_of` is the key of the catalog device from which it was made.
pub fn of_device(device: &Device, copy_of: Option<&str>) -> String {
    let mut out = Writer(String::new());
    out.text("copy_of", copy_of.unwrap_or_default());
    out.text("key", &device.key);
    out.text("name", &device.name);
    out.text("class", class_key(device.class));
    out.real("memory_gib", Some(device.memory.value.get() / GIB));
    out.real("bandwidth_gb_s", Some(device.bandwidth.value.get() / 1e9));
    out.flag("unified_memory", device.memory_platform.is_shared());
    for class in ComputeClass::ALL {
        let peak = device.peaks.get(class).map(|fact| fact.value.get() / 1e12);
        out.real(&format!("dense_peaks_tflops.{}", class.key()), peak);
    }
    // A link carries one value for each rate, the one in force; a file keeps the datasheet's value beside the measured one.
    let measured = |provenance| provenance == Provenance::Measured;
    if measured(device.bandwidth.provenance) {
        out.real("measured_bandwidth_gb_s", Some(device.bandwidth.value.get() / 1e9));
    }
    for class in ComputeClass::ALL {
        let peak = device.peaks.get(class).filter(|fact| measured(fact.provenance));
        let peak = peak.map(|fact| fact.value.get() / 1e12);
        out.real(&format!("measured_peaks_tflops.{}", class.key()), peak);
    }
    out.text("vendor", &device.vendor);
    out.text("architecture", &device.architecture);
    out.text("compute_capability", device.compute_capability.as_deref().unwrap_or_default());
    out.real("sm_count", device.sm_count.map(|fact| f64::from(fact.value)));
    out.real("tensor_clock_mhz", device.tensor_clock.map(|fact| fact.value.get() / 1e6));
    out.real("l2_mib", device.l2.map(|fact| fact.value.get() / MIB));
    out.real("l2_gb_s", device.measured.l2_bandwidth.map(|fact| fact.value.get() / 1e9));
    let shared = device.shared_memory_per_sm.map(|fact| fact.value.get() / 1024.0);
    out.real("shared_memory_per_sm_kib", shared);
    out.real("tdp_w", device.tdp.map(|fact| fact.value.get()));
    out.real("link_gb_s", device.link.map(|fact| fact.value.bandwidth.get() / 1e9));
    out.real("link_latency_us", device.link.map(|fact| fact.value.latency.get() * 1e6));
    for (i, mode) in device.power_modes.iter().enumerate() {
        out.power_mode(&format!("power_modes.{i}."), mode);
    }
    out.text(
        "source",
        device
            .source
            .strip_prefix("custom file")
            .unwrap_or(&device.source)
            .trim_start_matches(": "),
    );
    out.text("notes", &device.notes);
    out.0
}

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1024.0 * MIB;

/// Key of a device class in a device file.
pub const fn class_key(class: DeviceClass) -> &'static str {
    match class {
        DeviceClass::DiscreteGpu => "discrete_gpu",
        DeviceClass::UnifiedGpu => "unified_gpu",
        DeviceClass::Cpu => "cpu",
    }
}

struct Writer(String);

impl Writer {
    fn line(&mut self, path: &str, value: &str) {
        self.0 += &format!("{path}\t{}\n", value.replace(char::is_control, " "));
    }

    fn text(&mut self, path: &str, value: &str) {
        if !value.is_empty() {
            self.line(path, value.trim());
        }
    }

    fn real(&mut self, path: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.line(path, &format!("{:016x}", value.to_bits()));
        }
    }

    fn flag(&mut self, path: &str, value: bool) {
        self.line(path, if value { "true" } else { "false" });
    }

    fn power_mode(&mut self, at: &str, mode: &PowerMode) {
        self.text(&format!("{at}name"), &mode.name);
        self.real(&format!("{at}watts"), mode.watts.map(calc_core::units::Watts::get));
        self.real(&format!("{at}gpu_clock_mhz"), mode.gpu_clock.map(|clock| clock.get() / 1e6));
        self.real(&format!("{at}active_sm"), mode.active_sm.map(f64::from));
        self.real(&format!("{at}bandwidth_gb_s"), mode.bandwidth.map(|rate| rate.get() / 1e9));
        self.flag(&format!("{at}default"), mode.default);
    }
}

/// Converts the lines of [`write`] back to a JSON file.
pub fn to_json(lines: &str) -> String {
    let mut file = Value::Object(serde_json::Map::new());
    for (path, value) in lines.lines().filter_map(|line| line.split_once('\t')) {
        let last = path.rsplit('.').next().unwrap_or(path);
        let bits = || u64::from_str_radix(value, 16).map_or(f64::NAN, f64::from_bits);
        let value = match last {
            "copy_of" | "key" | "name" | "class" | "vendor" | "architecture"
            | "compute_capability" | "source" | "notes" => Value::from(value),
            "unified_memory" | "default" => Value::from(value == "true"),
            "sm_count" | "active_sm" => Value::from(whole(bits())),
            _ => Value::from(rounded(bits())),
        };
        put(&mut file, path, value);
    }
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

/// Sets the value at a path and creates the objects and lists on the way.
fn put(file: &mut Value, path: &str, value: Value) {
    match path.split('.').collect::<Vec<_>>()[..] {
        [peaks @ ("dense_peaks_tflops" | "measured_peaks_tflops"), class] => {
            file[peaks][class] = value;
        }
        ["power_modes", index, field] => {
            let index: usize = index.parse().unwrap_or(0);
            if !file["power_modes"].is_array() {
                file["power_modes"] = Value::Array(Vec::new());
            }
            if let Some(modes) = file["power_modes"].as_array_mut() {
                let last = index.min(modes.len());
                if last == modes.len() {
                    modes.push(Value::Null);
                }
                modes[last][field] = value;
            }
        }
        _ => file[path] = value,
    }
}

/// Rounds off the last digits, which conversions between units change.
fn rounded(value: f64) -> f64 {
    format!("{value:.12e}").parse().unwrap_or(value)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts from floats saturate"
)]
fn whole(value: f64) -> u32 {
    value as u32
}

/// The lines with the number at a path replaced, or removed for `None`.
pub fn with_number(lines: &str, path: &str, value: Option<f64>) -> String {
    let others =
        lines.lines().filter(|line| line.split_once('\t').is_none_or(|(at, _)| at != path));
    let mut out = Writer(others.map(|line| format!("{line}\n")).collect());
    out.real(path, value);
    out.0
}

/// The lines with the text at a path replaced.
pub fn with_text(lines: &str, path: &str, value: &str) -> String {
    let others =
        lines.lines().filter(|line| line.split_once('\t').is_none_or(|(at, _)| at != path));
    let mut out = Writer(others.map(|line| format!("{line}\n")).collect());
    out.text(path, value);
    out.0
}

/// Key of the catalog device from which the device of such lines was copied.
pub fn copy_of(lines: &str) -> Option<&str> {
    lines.lines().find_map(|line| line.strip_prefix("copy_of\t"))
}

/// Parses the device of such lines.
///
/// # Errors
/// The refusals of [`parse`]; lines that were not made by [`write`] describe an impossible device.
pub fn read(lines: &str) -> Result<Device, DeviceFileError> {
    let fields = Lines(lines.lines().filter_map(|line| line.split_once('\t')).collect());
    let modes = (0..).map(|i| format!("power_modes.{i}."));
    let modes =
        modes.take_while(|mode| fields.0.iter().any(|(path, _)| path.starts_with(mode.as_str())));
    device(DeviceFile {
        _schema: None,
        copy_of: fields.text("copy_of"),
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
        dense_peaks_tflops: fields.peaks("dense_peaks_tflops"),
        measured_bandwidth_gb_s: fields.real("measured_bandwidth_gb_s"),
        measured_peaks_tflops: Some(fields.peaks("measured_peaks_tflops")),
        vendor: fields.text("vendor").unwrap_or_default(),
        architecture: fields.text("architecture").unwrap_or_default(),
        compute_capability: fields.text("compute_capability"),
        sm_count: fields.whole("sm_count"),
        tensor_clock_mhz: fields.real("tensor_clock_mhz"),
        l2_mib: fields.real("l2_mib"),
        l2_gb_s: fields.real("l2_gb_s"),
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

    /// Parses a whole number; an invalid one was refused when the file was read, and here becomes a number too small to accept.
    fn whole(&self, path: &str) -> Option<u32> {
        self.real(path).map(whole)
    }

    #[inline(never)]
    fn peaks(&self, path: &str) -> PeaksFile {
        let peak = |class: &str| self.real(&format!("{path}.{class}"));
        PeaksFile {
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
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::devices;
    use calc_core::text::Text;

    #[test]
    fn changed_values_are_the_users() {
        let original = calc_core::catalog::device("t4").expect("catalog key");
        let copy = Device { key: Text::Borrowed("copy"), ..original.clone() };
        let lines = with_number(&of_device(&copy, Some("t4")), "bandwidth_gb_s", Some(400.0));
        let read = read(&with_text(&lines, "name", "Mine")).expect("a device");
        assert_eq!((read.bandwidth.provenance, &*read.name), (Provenance::Assumed, "Mine"));
        assert_eq!(read.memory, original.memory);
        assert!(super::read(&with_number(&lines, "bandwidth_gb_s", None)).is_err());
        assert!(super::read(&with_text(&lines, "copy_of", "nothing")).is_err());
    }

    #[test]
    fn a_copy_of_every_device_is_a_device() {
        for original in devices::all() {
            let copy = Device { key: Text::Borrowed("copy"), ..original.clone() };
            let lines = of_device(&copy, Some(&original.key));
            let read = read(&lines).unwrap_or_else(|error| panic!("{}: {error}", original.key));
            assert_eq!(copy_of(&lines), Some(&*original.key));
            assert_eq!(of_device(&read, Some(&original.key)), lines, "{}", original.key);
            assert_eq!(read.power_modes.len(), original.power_modes.len());
            // Nothing was changed, so every fact is the original's, to the last bit and with its provenance.
            assert_eq!((read.bandwidth, read.memory), (original.bandwidth, original.memory));
            assert_eq!(
                (read.peaks, read.tdp, read.l2),
                (original.peaks, original.tdp, original.l2)
            );
            let file = to_json(&lines);
            let parsed =
                super::super::parse(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(
                of_device(&parsed, Some(&original.key)),
                of_device(&read, Some(&original.key))
            );
        }
    }
}
