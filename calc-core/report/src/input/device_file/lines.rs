//! A device as lines of `path<TAB>value`, the form that links of the page carry. A number is the 16 hexadecimal digits of its bits,
//! so a link opens the same device to the last bit. The form is published with the links and stays.

use super::fields::whole;
use super::{DeviceFile, DeviceFileError, PeaksFile, PowerModeFile, device};
use calc_core::device::{Device, DeviceClass};
use calc_core::quant_format::ComputeClass;

/// Writes a device as such lines. `copy_of` is the key of the catalog device from which it was made.
pub fn of_device(device: &Device, copy_of: Option<&str>) -> String {
    let file = DeviceFile::of(device, copy_of);
    let mut out = Writer(String::new());
    out.text("copy_of", file.copy_of.as_deref().unwrap_or_default());
    out.text("key", &file.key);
    out.text("name", file.name.as_deref().unwrap_or_default());
    out.text("class", class_key(file.class));
    out.real("memory_gib", Some(file.memory_gib));
    out.real("bandwidth_gb_s", Some(file.bandwidth_gb_s));
    out.flag("unified_memory", file.unified_memory.unwrap_or(false));
    out.peaks("dense_peaks_tflops", file.dense_peaks_tflops);
    out.real("measured_bandwidth_gb_s", file.measured_bandwidth_gb_s);
    out.peaks("measured_peaks_tflops", file.measured_peaks_tflops.unwrap_or_default());
    out.text("disturbed_roofs", &file.disturbed_roofs.join(" "));
    out.text("vendor", &file.vendor);
    out.text("architecture", &file.architecture);
    out.text("compute_capability", file.compute_capability.as_deref().unwrap_or_default());
    out.real("sm_count", file.sm_count.map(f64::from));
    out.real("tensor_clock_mhz", file.tensor_clock_mhz);
    out.real("l2_mib", file.l2_mib);
    out.real("l2_gb_s", file.l2_gb_s);
    out.real("shared_memory_per_sm_kib", file.shared_memory_per_sm_kib);
    out.real("tdp_w", file.tdp_w);
    out.real("link_gb_s", file.link_gb_s);
    out.real("link_latency_us", file.link_latency_us);
    for (i, mode) in file.power_modes.iter().enumerate() {
        out.power_mode(&format!("power_modes.{i}."), mode);
    }
    out.text("source", &file.source);
    out.text("notes", &file.notes);
    out.0
}

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

    fn peaks(&mut self, path: &str, peaks: PeaksFile) {
        for class in ComputeClass::ALL {
            self.real(&format!("{path}.{}", class.key()), peaks.get(class));
        }
    }

    fn power_mode(&mut self, at: &str, mode: &PowerModeFile) {
        self.text(&format!("{at}name"), &mode.name);
        self.real(&format!("{at}watts"), mode.watts);
        self.real(&format!("{at}gpu_clock_mhz"), mode.gpu_clock_mhz);
        self.real(&format!("{at}active_sm"), mode.active_sm.map(f64::from));
        self.real(&format!("{at}bandwidth_gb_s"), mode.bandwidth_gb_s);
        self.flag(&format!("{at}default"), mode.default);
    }
}

/// Key of the catalog device from which the device of such lines was copied.
pub fn copy_of(lines: &str) -> Option<&str> {
    lines.lines().find_map(|line| line.strip_prefix("copy_of\t"))
}

/// Parses the device of such lines.
///
/// # Errors
/// The refusals of [`super::parse`]; lines that were not made by [`of_device`] describe an impossible device.
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
        disturbed_roofs: fields.words("disturbed_roofs"),
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

    fn words(&self, path: &str) -> Vec<String> {
        self.get(path).unwrap_or_default().split_whitespace().map(Into::into).collect()
    }

    fn real(&self, path: &str) -> Option<f64> {
        u64::from_str_radix(self.get(path)?, 16).ok().map(f64::from_bits)
    }

    /// Parses a whole number; an invalid one was refused when the file was read, and here becomes a number too small to accept.
    fn whole(&self, path: &str) -> Option<u32> {
        self.real(path).map(whole)
    }

    fn peaks(&self, path: &str) -> PeaksFile {
        let mut peaks = PeaksFile::default();
        for class in ComputeClass::ALL {
            *peaks.of(class) = self.real(&format!("{path}.{}", class.key()));
        }
        peaks
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
            let file = DeviceFile::of(&copy, Some(&original.key)).to_json().to_string();
            let parsed =
                super::super::parse(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(
                of_device(&parsed, Some(&original.key)),
                of_device(&read, Some(&original.key))
            );
        }
    }
}
