//! A custom device as a JSON file, the same for command line and page.
//! The format is documented in `docs/guides/custom-devices.md` and as a JSON Schema in `docs/schema/device.schema.json`.

use core::fmt::{self, Write};

use calc_core::catalog;
use calc_core::device::{
    Device, DeviceClass, Link, MeasuredRates, MemoryPlatform, Peaks, PowerMode, RoofSet,
};
use calc_core::error::{Error, real_in_range};
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::ComputeClass;
use calc_core::text::{List, Text};
use calc_core::units::{Bytes, BytesPerSec, FlopsPerSec, Hertz, Seconds, Watts};
use serde::{Deserialize, Serialize};

use crate::refusal_text::{OneLine, core_error};

mod copy;
mod disturbed;
mod fields;
pub mod lines;
mod wrong_type;

pub use fields::FileNumber;

/// Largest accepted file [byte].
pub const MAX_BYTES: usize = 1 << 20;

/// Reasons why a device file is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum DeviceFileError {
    /// Larger than [`MAX_BYTES`].
    TooLarge {
        /// Size of the file [byte].
        bytes: usize,
    },
    /// An unknown, missing or repeated key, or a value of the wrong type.
    WrongType {
        /// Key, expected type and given value.
        reason: String,
    },
    /// Malformed JSON, or an invalid device key.
    Malformed {
        /// Mistake and its position.
        reason: String,
    },
    Impossible(Error),
    NoPeak,
    /// Power modes with equal names, or two default modes.
    ModeNames {
        reason: String,
    },
    /// A key that a catalog device has.
    CatalogKey {
        key: String,
    },
}

impl From<Error> for DeviceFileError {
    fn from(error: Error) -> Self {
        Self::Impossible(error)
    }
}

/// Fields of the JSON file. Units are in the names; peaks are dense, and a multiply-add counts 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceFile {
    #[serde(rename = "$schema", default, skip_serializing)]
    _schema: Option<String>,
    copy_of: Option<String>,
    key: String,
    name: Option<String>,
    class: DeviceClass,
    memory_gib: f64,
    bandwidth_gb_s: f64,
    unified_memory: Option<bool>,
    dense_peaks_tflops: PeaksFile,
    measured_bandwidth_gb_s: Option<f64>,
    measured_peaks_tflops: Option<PeaksFile>,
    #[serde(default)]
    disturbed_roofs: Vec<String>,
    #[serde(default)]
    vendor: String,
    #[serde(default)]
    architecture: String,
    compute_capability: Option<String>,
    sm_count: Option<u32>,
    tensor_clock_mhz: Option<f64>,
    l2_mib: Option<f64>,
    l2_gb_s: Option<f64>,
    shared_memory_per_sm_kib: Option<f64>,
    tdp_w: Option<f64>,
    link_gb_s: Option<f64>,
    link_latency_us: Option<f64>,
    #[serde(default)]
    power_modes: Vec<PowerModeFile>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    notes: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeaksFile {
    fp64: Option<f64>,
    fp32: Option<f64>,
    tf32: Option<f64>,
    fp16: Option<f64>,
    bf16: Option<f64>,
    fp8: Option<f64>,
    fp6: Option<f64>,
    fp4: Option<f64>,
    int8: Option<f64>,
    int4: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerModeFile {
    name: String,
    watts: Option<f64>,
    gpu_clock_mhz: Option<f64>,
    active_sm: Option<u32>,
    bandwidth_gb_s: Option<f64>,
    #[serde(default)]
    default: bool,
}

/// Parses a device file.
///
/// # Errors
/// [`DeviceFileError`] with the field, its value and the allowed range.
pub fn parse(text: &str) -> Result<Device, DeviceFileError> {
    if text.len() > MAX_BYTES {
        return Err(DeviceFileError::TooLarge { bytes: text.len() });
    }
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(DeviceFileError::Malformed { reason: "the file is empty".into() });
    }
    let file: DeviceFile = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        wrong_type::find(text).unwrap_or(DeviceFileError::Malformed { reason })
    })?;
    device(file)
}

/// The device of a file whose values are possible.
fn device(file: DeviceFile) -> Result<Device, DeviceFileError> {
    check_names(&file)?;
    let base = file.copy_of.as_deref().map(catalog::device).transpose()?;
    let bandwidth = gb_s("bandwidth_gb_s", file.bandwidth_gb_s)?;
    let ceilings = Ceilings::of(&file)?;
    let source = if file.source.is_empty() {
        "custom file".into()
    } else {
        format!("custom file: {}", file.source)
    };
    let (measured, link, power_modes) = (measured(&file)?, link(&file)?, power_modes(&file)?);
    let device = Device {
        name: one_line(file.name.as_ref().unwrap_or(&file.key)),
        aliases: List::Borrowed(&[]),
        vendor: one_line(&file.vendor),
        architecture: one_line(&file.architecture),
        compute_capability: file.compute_capability.as_deref().map(one_line),
        form_factor: Text::Borrowed("custom"),
        class: file.class,
        release_year: None,
        memory: Fact::assumed(Bytes::from_gib(real_in_range(
            "memory_gib",
            file.memory_gib,
            1e-3,
            1e6,
        )?)),
        memory_type: Text::Borrowed(""),
        memory_platform: if file.unified_memory.unwrap_or(file.class != DeviceClass::DiscreteGpu) {
            MemoryPlatform::Shared
        } else {
            MemoryPlatform::Dedicated
        },
        bandwidth: Fact::assumed(bandwidth),
        peaks: match peaks(&file.dense_peaks_tflops, Provenance::Assumed)? {
            Peaks::NONE => return Err(DeviceFileError::NoPeak),
            peaks => peaks,
        },
        fp16_accumulate_fp16: None,
        fp8_accumulate_fp16: None,
        sparse_multiplier: 1.0,
        sm_count: file
            .sm_count
            .map(|count| whole("sm_count", count))
            .transpose()?
            .map(Fact::assumed),
        boost_clock: None,
        tensor_clock: optional("tensor_clock_mhz", file.tensor_clock_mhz, 1.0, 1e5)?
            .map(|v| Fact::assumed(Hertz::from_mhz(v))),
        l2: optional("l2_mib", file.l2_mib, 1e-3, 1e6)?.map(|v| Fact::assumed(Bytes::from_mib(v))),
        measured,
        shared_memory_per_sm: optional(
            "shared_memory_per_sm_kib",
            file.shared_memory_per_sm_kib,
            1.0,
            1e6,
        )?
        .map(|v| Fact::assumed(Bytes::from_kib(v))),
        registers_per_sm: None,
        tdp: optional("tdp_w", file.tdp_w, 0.1, 1e5)?.map(|v| Fact::assumed(Watts::new(v))),
        interconnect: Text::Borrowed(""),
        link: link.map(Fact::assumed),
        power_modes: List::Owned(power_modes),
        source: one_line(&source),
        notes: one_line(&file.notes),
        key: Text::Owned(file.key),
    };
    let mut device = match base {
        Some(base) => copy::inherit(device, base),
        None => device,
    };
    ceilings.put_before(&mut device);
    Ok(device)
}

/// A text without line breaks, tabs and other control characters: links carry it as a line.
fn one_line(text: &str) -> Text {
    Text::Owned(text.replace(char::is_control, " "))
}

/// Roofs measured on the machine; they override the datasheet's values.
struct Ceilings {
    bandwidth: Option<BytesPerSec>,
    peaks: Peaks,
    disturbed: RoofSet,
}

impl Ceilings {
    fn of(file: &DeviceFile) -> Result<Self, DeviceFileError> {
        let bandwidth = file.measured_bandwidth_gb_s;
        let none = PeaksFile::default();
        Ok(Self {
            bandwidth: bandwidth.map(|v| gb_s("measured_bandwidth_gb_s", v)).transpose()?,
            peaks: peaks(
                file.measured_peaks_tflops.as_ref().unwrap_or(&none),
                Provenance::Measured,
            )?,
            disturbed: disturbed::of(&file.disturbed_roofs)?,
        })
    }

    fn put_before(&self, device: &mut Device) {
        for class in ComputeClass::ALL {
            if let Some(peak) = self.peaks.get(class) {
                device.peaks = device.peaks.with(class, peak);
            }
        }
        if let Some(value) = self.bandwidth {
            device.bandwidth = Fact { value, provenance: Provenance::Measured };
        }
        device.measured.disturbed = self.disturbed;
        device.measured.disturbed = device.disturbed_roofs();
    }
}

/// Checks names: the key is part of links and JSON, so it is short and plain; modes are found by name.
fn check_names(file: &DeviceFile) -> Result<(), DeviceFileError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if file.key.is_empty() || file.key.len() > 64 || !file.key.chars().all(plain) {
        let reason =
            format!("key `{}`: 1 to 64 letters, digits, `_`, `-` or `.` allowed", file.key);
        return Err(DeviceFileError::Malformed { reason });
    }
    if catalog::device(&file.key).is_ok() {
        return Err(DeviceFileError::CatalogKey { key: file.key.clone() });
    }
    let modes = &file.power_modes;
    let wrong = |reason: String| Err(DeviceFileError::ModeNames { reason });
    for (i, mode) in modes.iter().enumerate() {
        if mode.name.trim().is_empty() || mode.name.len() > 64 {
            return wrong(format!("name `{}`: 1 to 64 characters allowed", mode.name));
        }
        if modes[..i].iter().any(|other| other.name.eq_ignore_ascii_case(&mode.name)) {
            return wrong(format!("two are called `{}`", mode.name));
        }
    }
    if modes.iter().filter(|mode| mode.default).count() > 1 {
        return wrong("a device boots in one of them; two say `default`".into());
    }
    Ok(())
}

fn optional(
    what: &'static str,
    value: Option<f64>,
    min: f64,
    max: f64,
) -> Result<Option<f64>, Error> {
    value.map(|value| real_in_range(what, value, min, max)).transpose()
}

fn whole(what: &'static str, value: u32) -> Result<u32, Error> {
    real_in_range(what, f64::from(value), 1.0, 1e6).map(|_| value)
}

fn gb_s(what: &'static str, value: f64) -> Result<BytesPerSec, Error> {
    real_in_range(what, value, 1e-3, 1e7).map(BytesPerSec::from_gb)
}

/// The measured rates. A cache rate below the DRAM bandwidth is refused as a mistake: most often TB/s instead of GB/s, or a
/// measurement whose data did not fit L2. Such a roof would lie below the DRAM roof.
fn measured(file: &DeviceFile) -> Result<MeasuredRates, Error> {
    let l2 = optional("l2_gb_s", file.l2_gb_s, file.bandwidth_gb_s, 1e7)?;
    let l2_bandwidth = l2.map(|v| Fact::assumed(BytesPerSec::from_gb(v)));
    Ok(MeasuredRates { l2_bandwidth, ..MeasuredRates::UNKNOWN })
}

fn peaks(file: &PeaksFile, provenance: Provenance) -> Result<Peaks, Error> {
    let mut peaks = Peaks::NONE;
    for class in ComputeClass::ALL {
        if let Some(tera) = file.get(class) {
            let tera = real_in_range(class.key(), tera, 1e-6, 1e8)?;
            peaks = peaks.with(class, Fact { value: FlopsPerSec::from_tera(tera), provenance });
        }
    }
    Ok(peaks)
}

fn link(file: &DeviceFile) -> Result<Option<Link>, Error> {
    let latency = optional("link_latency_us", file.link_latency_us, 0.0, 1e6)?;
    let Some(bandwidth) = file.link_gb_s else {
        let conflict =
            Error::Conflict { first: "link_latency_us", second: "link_gb_s", needs: true };
        return if latency.is_some() { Err(conflict) } else { Ok(None) };
    };
    let latency = latency.unwrap_or(5.0);
    Ok(Some(Link::ring(gb_s("link_gb_s", bandwidth)?, Seconds::new(latency * 1e-6))))
}

fn power_modes(file: &DeviceFile) -> Result<Vec<PowerMode>, Error> {
    file.power_modes.iter().enumerate().map(|(id, mode)| power_mode(id, mode, file)).collect()
}

/// A power mode: no more SMs, clock or bandwidth than the device has.
fn power_mode(id: usize, mode: &PowerModeFile, device: &DeviceFile) -> Result<PowerMode, Error> {
    let all_sm = device.sm_count.map_or(1e6, f64::from);
    let clock = device.tensor_clock_mhz.unwrap_or(1e5);
    let active_sm = optional("active_sm", mode.active_sm.map(f64::from), 1.0, all_sm)?;
    let bandwidth = optional("bandwidth_gb_s", mode.bandwidth_gb_s, 1e-3, device.bandwidth_gb_s)?;
    Ok(PowerMode {
        id: u32::try_from(id).unwrap_or(u32::MAX),
        name: one_line(&mode.name),
        watts: optional("watts", mode.watts, 0.1, 1e5)?.map(Watts::new),
        gpu_clock: optional("gpu_clock_mhz", mode.gpu_clock_mhz, 1.0, clock)?.map(Hertz::from_mhz),
        active_sm: mode.active_sm.filter(|_| active_sm.is_some()),
        memory_clock: None,
        bandwidth: bandwidth.map(BytesPerSec::from_gb),
        cpu_cores: None,
        cpu_clock: None,
        default: mode.default,
        provenance: Provenance::Assumed,
        notes: Text::Borrowed(""),
    })
}

impl fmt::Display for DeviceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self {
            Self::TooLarge { bytes } => {
                write!(line, "a device file has at most {MAX_BYTES} bytes; this one has {bytes}")
            }
            Self::WrongType { reason } => line.write_str(reason),
            Self::Malformed { reason } => write!(line, "not a device file: {reason}"),
            Self::Impossible(error) => line.write_str(&core_error(error)),
            Self::NoPeak => {
                line.write_str("dense_peaks_tflops names no peak; at least one is needed")
            }
            Self::ModeNames { reason } => write!(line, "power_modes: {reason}"),
            Self::CatalogKey { key } => {
                write!(line, "key `{key}` is a device of the catalog; choose another")
            }
        }
    }
}

impl core::error::Error for DeviceFileError {}
