//! The form for a custom device. It starts as a copy of a device; only valid values are applied.

use std::borrow::Cow;

use calc_core::device::Device;
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::ComputeClass;
use report::input::device_file::{DeviceFile, FileNumber};
use report::input::number_input;
use report::number_text;
use report::output::verdict::{badge, badge_meaning, class_name};

use super::fragment;
use super::inputs::Inputs;

/// Badge of a number that the user stated.
pub const YOURS: &str = "yours";
/// Explanation of that badge.
const YOURS_MEANING: &str = "you or your file say so";
/// Prefix of the element ids of the device's facts; the index follows.
pub const FACT_ID: &str = "fact-";
/// Prefix of the element ids of the facts in the line under the device's name; the index follows.
pub const BRIEF_ID: &str = "brief-";

/// A numeric field of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditField {
    /// Path in a device file; also the element id.
    pub path: String,
    number: FileNumber,
    pub name: String,
    pub unit: &'static str,
}

impl EditField {
    /// Parses the text. An empty field is valid and means no value; anything else must be a number.
    fn value(&self, typed: &str) -> Result<Option<f64>, String> {
        if typed.trim().is_empty() {
            return Ok(None);
        }
        let value = number_input::real(typed).filter(|value| value.is_finite());
        let value = value.ok_or_else(|| format!("{} must be a number.", self.name))?;
        if self.number == FileNumber::SmCount
            && calc_core::math::floor(value).to_bits() != value.to_bits()
        {
            return Err(format!("{} must be a whole number.", self.name));
        }
        Ok(Some(value))
    }
}

/// State of the form.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The device before the edit; valid.
    good: DeviceFile,
    /// Catalog device that this one was copied from.
    base: Option<&'static Device>,
    pub name: String,
    /// The fields with their texts.
    pub fields: Vec<(EditField, String)>,
}

impl Draft {
    /// Starts from a copy of the chosen device, or from the device itself if it is already custom.
    pub fn of(inputs: &Inputs) -> Self {
        fragment::load_device_codec();
        let base = match &inputs.device {
            Cow::Borrowed(device) => Some(*device),
            Cow::Owned(_) => inputs.copy_of,
        };
        let device = match &inputs.device {
            Cow::Borrowed(device) => copy(device),
            Cow::Owned(device) => device.clone(),
        };
        let good = DeviceFile::of(&device, base.map(|base| &*base.key));
        let fields = fields().map(|field| {
            let text = number(&good, field.number).map_or(String::new(), number_text::typed);
            (field, text)
        });
        let fields = fields.collect();
        Self { good, base, name: device.name.to_string(), fields }
    }

    /// Replaces the text of a field.
    pub fn set(&mut self, path: &str, text: String) {
        if let Some((_, typed)) = self.fields.iter_mut().find(|(field, _)| field.path == path) {
            *typed = text;
        }
    }

    /// The text of a field.
    pub fn text(&self, path: &str) -> String {
        let found = self.fields.iter().find(|(field, _)| field.path == path);
        found.map_or(String::new(), |(_, text)| text.clone())
    }

    /// Error of a field, checked with the unedited values of the others; the L2 bandwidth is compared with the typed DRAM one.
    pub fn fault(&self, path: &str) -> Option<String> {
        let (field, typed) = self.fields.iter().find(|(field, _)| field.path == path)?;
        let value = match field.value(typed) {
            Ok(value) => value,
            Err(text) => return Some(text),
        };
        let mut changed = self.good.clone();
        // Only the field of L2 is bounded by another one: its bandwidth is at least that of the DRAM.
        changed.set(FileNumber::L2Rate, None);
        let is_l2 = field.number == FileNumber::L2Rate;
        if is_l2 {
            let is_dram = |(field, _): &&(EditField, String)| field.number == FileNumber::Bandwidth;
            let (dram, typed) = self.fields.iter().find(is_dram)?;
            changed.set(FileNumber::Bandwidth, dram.value(typed).ok()?);
        }
        changed.set(field.number, value);
        let error = changed.device().err()?.to_string();
        // The error names a file's key and the value; the form shows the label and the text beside it.
        let allowed = error.strip_prefix(path.rsplit('.').next().unwrap_or(path));
        if is_l2 {
            allowed?; // else the error is about the DRAM field, which shows it
        }
        Some(allowed.map_or_else(
            || format!("{error}."),
            |allowed| {
                let (allowed, _) = allowed.split_once("; got").unwrap_or((allowed, ""));
                let unit = format!("{}{}", number_text::SPACE, field.unit);
                format!("{}{allowed}{}.", field.name, unit.trim_end())
            },
        ))
    }

    /// The device, if all fields together are valid.
    pub fn device(&self) -> Option<Device> {
        let mut file = self.good.clone();
        file.rename(&self.name);
        for (field, typed) in &self.fields {
            let value = field.value(typed).ok()?;
            let before = number(&self.good, field.number);
            let is_as_before = before.zip(value).is_some_and(|(one, other)| is_same(one, other));
            if !is_as_before {
                // A typed number replaces the measured one, too, which would take precedence.
                file.forget_measured(field.number);
            }
            file.set(field.number, value);
        }
        file.device().ok()
    }

    /// Applies the device to the inputs, if it is valid.
    pub fn apply(&self, inputs: &mut Inputs) {
        let Some(device) = self.device() else { return };
        let mode = inputs.mode.take();
        inputs.set_device(Cow::Owned(device));
        inputs.copy_of = self.base;
        inputs.mode = mode.filter(|name| inputs.device.power_mode(name).is_ok());
    }

    /// Badge for the source of a field's number; empty for an empty field.
    pub fn badge(&self, path: &str) -> &'static str {
        let found = self.fields.iter().find(|(field, _)| field.path == path);
        let Some((field, typed)) = found else { return "" };
        let Ok(Some(value)) = field.value(typed) else { return "" };
        let of = |device: &Device| {
            let file = DeviceFile::of(device, None);
            number(&file, field.number).filter(|base| is_same(*base, value))?;
            provenance(device, field.number)
        };
        let before = self.good.clone().device().ok().and_then(|before| of(&before));
        let measured = before.filter(|before| *before == Provenance::Measured);
        measured.or_else(|| self.base.and_then(of)).map_or(YOURS, badge)
    }
}

/// Equality up to the rounding of a number that was formatted as text.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs()
}

/// Badge of a device fact, and its explanation; an assumed value of a custom device is the user's own.
pub fn fact_badge(inputs: &Inputs, provenance: Provenance) -> (&'static str, &'static str) {
    if inputs.has_own_device() && provenance == Provenance::Assumed {
        (YOURS, YOURS_MEANING)
    } else {
        (badge(provenance), badge_meaning(provenance))
    }
}

/// Badge of any explained number, and its explanation, by the number's element id.
pub fn explained_badge(
    inputs: &Inputs,
    id: &str,
    provenance: Provenance,
) -> (&'static str, &'static str) {
    if [FACT_ID, BRIEF_ID].iter().any(|start| id.starts_with(start)) {
        fact_badge(inputs, provenance)
    } else {
        (badge(provenance), badge_meaning(provenance))
    }
}

/// A copy gets a key of its own; its source names the original.
fn copy(device: &Device) -> Device {
    let key: String = device.key.chars().take(50).collect();
    Device {
        key: format!("{key}_copy").into(),
        name: format!("{}, copy", device.name).into(),
        source: format!("a copy of {}: {}", device.name, device.source.trim()).into(),
        ..device.clone()
    }
}

fn fields() -> impl Iterator<Item = EditField> {
    let field = |number: FileNumber, name: &str, unit| EditField {
        path: number.path(),
        number,
        name: name.to_owned(),
        unit,
    };
    let peak = move |class: ComputeClass| {
        let is_integer = matches!(class, ComputeClass::Int8 | ComputeClass::Int4);
        let unit = if is_integer { "TOP/s" } else { "TFLOP/s" };
        field(FileNumber::Peak(class), &class_name(class), unit)
    };
    [
        field(FileNumber::Memory, "Memory", "GiB"),
        field(FileNumber::Bandwidth, "DRAM bandwidth", "GB/s"),
        field(FileNumber::SmCount, "SMs", ""),
        field(FileNumber::L2, "L2 cache", "MiB"),
        field(FileNumber::L2Rate, "L2 bandwidth, measured", "GB/s"),
        field(FileNumber::SharedMemory, "Shared memory per SM", "KiB"),
        field(FileNumber::Power, "Power", "W"),
    ]
    .into_iter()
    .chain(ComputeClass::ALL.into_iter().map(peak))
}

/// A number in the unit of the form, with nine digits, so that rounding errors of unit conversions are dropped.
fn number(file: &DeviceFile, number: FileNumber) -> Option<f64> {
    let exact = file.number(number)?;
    let scale = 1e9 / magnitude(exact);
    Some(calc_core::math::round(exact * scale) / scale)
}

/// The largest power of ten that is not above a number.
fn magnitude(value: f64) -> f64 {
    calc_core::math::exp10(calc_core::math::floor(calc_core::math::log10(value.abs().max(1e-12))))
}

fn provenance(device: &Device, number: FileNumber) -> Option<Provenance> {
    fn of<T>(fact: Option<Fact<T>>) -> Option<Provenance> {
        fact.map(|fact| fact.provenance)
    }
    match number {
        FileNumber::Memory => Some(device.memory.provenance),
        FileNumber::Bandwidth => Some(device.bandwidth.provenance),
        FileNumber::SmCount => of(device.sm_count),
        FileNumber::L2 => of(device.l2),
        FileNumber::L2Rate => of(device.measured.l2_bandwidth),
        FileNumber::SharedMemory => of(device.shared_memory_per_sm),
        FileNumber::Power => of(device.tdp),
        FileNumber::Peak(class) => of(device.peaks.get(class)),
    }
}

#[cfg(test)]
mod tests;
