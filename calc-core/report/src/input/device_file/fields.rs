//! The fields of a device file: those of a device that exists, the file that they make, and the numbers that a form edits.

use calc_core::device::{Device, PowerMode};
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::ComputeClass;
use calc_core::units::{FlopsPerSec, Watts};
use serde_json::Value;

use super::{DeviceFile, DeviceFileError, PeaksFile, PowerModeFile, device, disturbed};

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1024.0 * MIB;

/// A number of a device file that a form edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileNumber {
    Memory,
    Bandwidth,
    SmCount,
    L2,
    L2Rate,
    SharedMemory,
    Power,
    /// The dense peak of a class.
    Peak(ComputeClass),
}

impl FileNumber {
    /// Path in the file.
    pub fn path(self) -> String {
        match self {
            Self::Memory => "memory_gib".to_owned(),
            Self::Bandwidth => "bandwidth_gb_s".to_owned(),
            Self::SmCount => "sm_count".to_owned(),
            Self::L2 => "l2_mib".to_owned(),
            Self::L2Rate => "l2_gb_s".to_owned(),
            Self::SharedMemory => "shared_memory_per_sm_kib".to_owned(),
            Self::Power => "tdp_w".to_owned(),
            Self::Peak(class) => format!("dense_peaks_tflops.{}", class.key()),
        }
    }
}

impl DeviceFile {
    /// The fields of a device. `copy_of` is the key of the catalog device from which it was made.
    pub fn of(device: &Device, copy_of: Option<&str>) -> Self {
        let source = device.source.strip_prefix("custom file").unwrap_or(&device.source);
        Self {
            _schema: None,
            copy_of: copy_of.map(str::to_owned),
            key: device.key.to_string(),
            name: Some(device.name.to_string()),
            class: device.class,
            memory_gib: device.memory.value.get() / GIB,
            bandwidth_gb_s: device.bandwidth.value.get() / 1e9,
            unified_memory: Some(device.memory_platform.is_shared()),
            dense_peaks_tflops: peaks(device, |_| true),
            // A device has one value for each rate, the one in force; a file keeps the datasheet's beside the measured one.
            measured_bandwidth_gb_s: Some(device.bandwidth)
                .filter(|fact| fact.provenance == Provenance::Measured)
                .map(|fact| fact.value.get() / 1e9),
            measured_peaks_tflops: Some(peaks(device, |fact| {
                fact.provenance == Provenance::Measured
            })),
            disturbed_roofs: disturbed::names(device),
            vendor: device.vendor.to_string(),
            architecture: device.architecture.to_string(),
            compute_capability: device.compute_capability.as_deref().map(str::to_owned),
            sm_count: device.sm_count.map(|fact| fact.value),
            tensor_clock_mhz: device.tensor_clock.map(|fact| fact.value.get() / 1e6),
            l2_mib: device.l2.map(|fact| fact.value.get() / MIB),
            l2_gb_s: device.measured.l2_bandwidth.map(|fact| fact.value.get() / 1e9),
            shared_memory_per_sm_kib: device
                .shared_memory_per_sm
                .map(|fact| fact.value.get() / 1024.0),
            tdp_w: device.tdp.map(|fact| fact.value.get()),
            link_gb_s: device.link.map(|fact| fact.value.bandwidth.get() / 1e9),
            link_latency_us: device.link.map(|fact| fact.value.latency.get() * 1e6),
            power_modes: device.power_modes.iter().map(power_mode).collect(),
            source: source.trim_start_matches(": ").to_owned(),
            notes: device.notes.to_string(),
        }
    }

    /// Replaces the name; an empty one is the key.
    pub fn rename(&mut self, name: &str) {
        let name = name.trim();
        self.name = (!name.is_empty()).then(|| name.to_owned());
    }

    /// Parses the device of the fields.
    ///
    /// # Errors
    /// The refusals of [`super::parse`].
    pub fn device(self) -> Result<Device, DeviceFileError> {
        device(self)
    }

    /// Replaces a number, or removes it for `None`. A missing number that a device must have is refused by [`Self::device`].
    pub fn set(&mut self, number: FileNumber, value: Option<f64>) {
        match number {
            FileNumber::Memory => self.memory_gib = value.unwrap_or(f64::NAN),
            FileNumber::Bandwidth => self.bandwidth_gb_s = value.unwrap_or(f64::NAN),
            FileNumber::SmCount => self.sm_count = value.map(whole),
            FileNumber::L2 => self.l2_mib = value,
            FileNumber::L2Rate => self.l2_gb_s = value,
            FileNumber::SharedMemory => self.shared_memory_per_sm_kib = value,
            FileNumber::Power => self.tdp_w = value,
            FileNumber::Peak(class) => *self.dense_peaks_tflops.of(class) = value,
        }
    }

    /// Removes the measured value, which takes precedence over a number, if it has one.
    pub fn forget_measured(&mut self, number: FileNumber) {
        match (number, &mut self.measured_peaks_tflops) {
            (FileNumber::Bandwidth, _) => self.measured_bandwidth_gb_s = None,
            (FileNumber::Peak(class), Some(peaks)) => *peaks.of(class) = None,
            _ => {}
        }
    }

    /// A number in the unit of the file.
    pub fn number(&self, number: FileNumber) -> Option<f64> {
        match number {
            FileNumber::Memory => Some(self.memory_gib),
            FileNumber::Bandwidth => Some(self.bandwidth_gb_s),
            FileNumber::SmCount => self.sm_count.map(f64::from),
            FileNumber::L2 => self.l2_mib,
            FileNumber::L2Rate => self.l2_gb_s,
            FileNumber::SharedMemory => self.shared_memory_per_sm_kib,
            FileNumber::Power => self.tdp_w,
            FileNumber::Peak(class) => self.dense_peaks_tflops.get(class),
        }
    }

    /// The file, as JSON.
    pub fn to_json(&self) -> Value {
        let mut file = serde_json::to_value(self).unwrap_or_default();
        trim(&mut file);
        file
    }
}

impl PeaksFile {
    /// The peak of a class [TFLOP/s].
    pub(super) const fn of(&mut self, class: ComputeClass) -> &mut Option<f64> {
        match class {
            ComputeClass::Fp64 => &mut self.fp64,
            ComputeClass::Fp32 => &mut self.fp32,
            ComputeClass::Tf32 => &mut self.tf32,
            ComputeClass::Fp16 => &mut self.fp16,
            ComputeClass::Bf16 => &mut self.bf16,
            ComputeClass::Fp8 => &mut self.fp8,
            ComputeClass::Fp6 => &mut self.fp6,
            ComputeClass::Fp4 => &mut self.fp4,
            ComputeClass::Int8 => &mut self.int8,
            ComputeClass::Int4 => &mut self.int4,
        }
    }

    pub(super) fn get(mut self, class: ComputeClass) -> Option<f64> {
        *self.of(class)
    }
}

fn peaks(device: &Device, is_taken: impl Fn(Fact<FlopsPerSec>) -> bool) -> PeaksFile {
    let mut file = PeaksFile::default();
    for class in ComputeClass::ALL {
        let peak = device.peaks.get(class).filter(|fact| is_taken(*fact));
        *file.of(class) = peak.map(|fact| fact.value.get() / 1e12);
    }
    file
}

fn power_mode(mode: &PowerMode) -> PowerModeFile {
    PowerModeFile {
        name: mode.name.to_string(),
        watts: mode.watts.map(Watts::get),
        gpu_clock_mhz: mode.gpu_clock.map(|clock| clock.get() / 1e6),
        active_sm: mode.active_sm,
        bandwidth_gb_s: mode.bandwidth.map(|rate| rate.get() / 1e9),
        default: mode.default,
    }
}

/// Leaves out what is unknown, and rounds numbers.
fn trim(value: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(trim);
            fields.retain(|_, value| !is_empty(value));
        }
        Value::Array(items) => items.iter_mut().for_each(trim),
        Value::Number(number) => {
            if let Some(real) = number.as_f64().filter(|_| number.is_f64()) {
                *value = Value::from(rounded(real));
            }
        }
        Value::String(text) => *text = text.trim().to_owned(),
        Value::Null | Value::Bool(_) => {}
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
pub(super) fn whole(value: f64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::text::Text;

    #[test]
    fn changed_values_are_the_users() {
        let original = calc_core::catalog::device("t4").expect("catalog key");
        let copy = Device { key: Text::Borrowed("copy"), ..original.clone() };
        let file = DeviceFile::of(&copy, Some("t4"));
        let with = |value: Option<f64>, copy_of: &str| {
            let mut changed = file.clone();
            changed.set(FileNumber::Bandwidth, value);
            DeviceFile { copy_of: Some(copy_of.to_owned()), ..changed }.device()
        };
        let read = with(Some(400.0), "t4").expect("a device");
        assert_eq!(read.bandwidth.provenance, Provenance::Assumed);
        assert_eq!(read.memory, original.memory);
        assert!(with(None, "t4").is_err() && with(Some(400.0), "nothing").is_err());
    }
}
