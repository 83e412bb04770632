//! A device of the reader's own, while it is edited: it starts as a copy, and only what can exist is taken over.

use std::borrow::Cow;

use calc_core::device::Device;
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::ComputeClass;
use report::input::device_file::lines;
use report::number_text;
use report::output::verdict::{badge, badge_meaning, class_name};

use super::decimal::{decimal, written};
use super::fragment;
use super::inputs::Inputs;

/// What stands where a number is the reader's.
pub const YOURS: &str = "yours";
/// What that means.
const YOURS_MEANING: &str = "you or your file say so";
/// The one number that must be whole.
const SM_COUNT: &str = "sm_count";
/// The one number that another bounds: it is not below that of the DRAM.
const L2_RATE: &str = "l2_gb_s";
const DRAM_RATE: &str = "bandwidth_gb_s";
/// What the facts of the device are called in the document, each with its place.
pub const FACT_ID: &str = "fact-";
/// The same of those in the line under its name.
pub const BRIEF_ID: &str = "brief-";

/// A number of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditField {
    /// Its path in a device file, and its id in the document.
    pub path: String,
    /// Its label.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
}

impl EditField {
    /// What was typed. An empty field is no number, which is fine; anything else must be one.
    fn value(&self, typed: &str) -> Result<Option<f64>, String> {
        if typed.trim().is_empty() {
            return Ok(None);
        }
        let value = decimal(typed).ok_or_else(|| format!("{} must be a number.", self.name))?;
        if self.path == SM_COUNT && calc_core::math::floor(value).to_bits() != value.to_bits() {
            return Err(format!("{} must be a whole number.", self.name));
        }
        Ok(Some(value))
    }
}

/// The form.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The device as the last good values made it, as lines.
    good: String,
    /// Device that it is a copy of.
    base: Option<&'static Device>,
    /// Name, as typed.
    pub name: String,
    /// Numbers, each with its text.
    pub fields: Vec<(EditField, String)>,
}

impl Draft {
    /// A copy of the chosen device; the device itself when it is the reader's own.
    pub fn of(inputs: &Inputs) -> Self {
        fragment::arrive();
        let base = match &inputs.device {
            Cow::Borrowed(device) => Some(*device),
            Cow::Owned(_) => inputs.copy_of,
        };
        let device = match &inputs.device {
            Cow::Borrowed(device) => copy(device),
            Cow::Owned(device) => device.clone(),
        };
        let good = lines::of_device(&device, base.map(|base| &*base.key));
        let fields = fields().map(|field| {
            let text = number(&device, &field.path).map_or(String::new(), written);
            (field, text)
        });
        Self { good, base, name: device.name.to_string(), fields: fields.collect() }
    }

    /// Changes the text of a field.
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

    /// What is wrong with a field, were everything else as it was.
    pub fn fault(&self, path: &str) -> Option<String> {
        let (field, typed) = self.fields.iter().find(|(field, _)| field.path == path)?;
        let value = match field.value(typed) {
            Ok(value) => value,
            Err(text) => return Some(text),
        };
        let mut rest = lines::with_number(&self.good, L2_RATE, None);
        if path == L2_RATE {
            let (dram, typed) = self.fields.iter().find(|(field, _)| field.path == DRAM_RATE)?;
            rest = lines::with_number(&rest, DRAM_RATE, dram.value(typed).ok()?);
        }
        let changed = lines::with_number(&rest, path, value);
        let error = lines::read(&changed).err()?.to_string();
        // The error speaks of a file and its keys; here are a label and what was typed.
        let allowed = error.strip_prefix(path.rsplit('.').next().unwrap_or(path));
        if path == L2_RATE {
            allowed?; // else it is about the DRAM, whose field says it
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

    /// The device, if all fields together make one.
    pub fn device(&self) -> Option<Device> {
        let mut text = lines::with_text(&self.good, "name", &self.name);
        for (field, typed) in &self.fields {
            let value = field.value(typed).ok()?;
            text = lines::with_number(&text, &field.path, value);
            // What was measured counts before what is stated, so a number that is typed puts it aside.
            if let Some(measured) = measured_path(&field.path)
                && !self.is_as_before(&field.path, value)
            {
                text = lines::with_number(&text, &measured, None);
            }
        }
        lines::read(&text).ok()
    }

    /// Whether a number is that of the device that the form began with.
    fn is_as_before(&self, path: &str, value: Option<f64>) -> bool {
        let before = lines::read(&self.good).ok().and_then(|before| number(&before, path));
        before.zip(value).is_some_and(|(before, value)| is_same(before, value))
    }

    /// Takes the device over, if there is one.
    pub fn apply(&self, inputs: &mut Inputs) {
        let Some(device) = self.device() else { return };
        let mode = inputs.mode.take();
        inputs.set_device(Cow::Owned(device));
        inputs.copy_of = self.base;
        inputs.mode = mode.filter(|name| inputs.device.power_mode(name).is_ok());
    }

    /// Where the number in a field comes from, as a badge; empty for none.
    pub fn badge(&self, path: &str) -> &'static str {
        let found = self.fields.iter().find(|(field, _)| field.path == path);
        let Some(Ok(Some(value))) = found.map(|(field, typed)| field.value(typed)) else {
            return "";
        };
        let of = |device: &Device| {
            number(device, path).filter(|base| is_same(*base, value))?;
            provenance(device, path)
        };
        let before = lines::read(&self.good).ok().and_then(|before| of(&before));
        let measured = before.filter(|before| *before == Provenance::Measured);
        measured.or_else(|| self.base.and_then(of)).map_or(YOURS, badge)
    }
}

/// Where a device file has the measured value that counts before the one at a path.
fn measured_path(path: &str) -> Option<String> {
    match path.split_once('.') {
        None if path == DRAM_RATE => Some(format!("measured_{DRAM_RATE}")),
        Some(("dense_peaks_tflops", class)) => Some(format!("measured_peaks_tflops.{class}")),
        _ => None,
    }
}

/// Equal but for what writing a number as a text leaves out.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs()
}

/// The badge of a fact of a device, and what it means: what a reader states is theirs.
pub fn fact_badge(inputs: &Inputs, provenance: Provenance) -> (&'static str, &'static str) {
    if inputs.has_own_device() && provenance == Provenance::Assumed {
        (YOURS, YOURS_MEANING)
    } else {
        (badge(provenance), badge_meaning(provenance))
    }
}

/// The same for any number that explains itself, by its id in the document.
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

/// A copy needs a key of its own; its source says what it was copied from.
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
    let field = |path: &str, name: &str, unit| EditField {
        path: path.to_owned(),
        name: name.to_owned(),
        unit,
    };
    let peak = move |class: ComputeClass| {
        let is_integer = matches!(class, ComputeClass::Int8 | ComputeClass::Int4);
        let unit = if is_integer { "TOP/s" } else { "TFLOP/s" };
        field(&format!("dense_peaks_tflops.{}", class.key()), &class_name(class), unit)
    };
    [
        field("memory_gib", "Memory", "GiB"),
        field(DRAM_RATE, "DRAM bandwidth", "GB/s"),
        field(SM_COUNT, "SMs", ""),
        field("l2_mib", "L2 cache", "MiB"),
        field(L2_RATE, "L2 bandwidth, measured", "GB/s"),
        field("shared_memory_per_sm_kib", "Shared memory per SM", "KiB"),
        field("tdp_w", "Power", "W"),
    ]
    .into_iter()
    .chain(ComputeClass::ALL.into_iter().map(peak))
}

/// The value at a path in the unit of the form.
fn number(device: &Device, path: &str) -> Option<f64> {
    let text = lines::of_device(device, None);
    let line = text.lines().find_map(|line| line.strip_prefix(path)?.strip_prefix('\t'))?;
    let exact = u64::from_str_radix(line, 16).ok().map(f64::from_bits)?;
    // Without the last digits that conversions between units leave behind.
    let scale = 1e9 / magnitude(exact);
    Some(calc_core::math::round(exact * scale) / scale)
}

/// The power of ten below a number.
fn magnitude(value: f64) -> f64 {
    calc_core::math::exp10(calc_core::math::floor(calc_core::math::log10(value.abs().max(1e-12))))
}

fn provenance(device: &Device, path: &str) -> Option<Provenance> {
    fn of<T>(fact: Option<Fact<T>>) -> Option<Provenance> {
        fact.map(|fact| fact.provenance)
    }
    match path {
        "memory_gib" => Some(device.memory.provenance),
        DRAM_RATE => Some(device.bandwidth.provenance),
        SM_COUNT => of(device.sm_count),
        "l2_mib" => of(device.l2),
        L2_RATE => of(device.measured.l2_bandwidth),
        "shared_memory_per_sm_kib" => of(device.shared_memory_per_sm),
        "tdp_w" => of(device.tdp),
        _ => {
            let class = path.strip_prefix("dense_peaks_tflops.")?;
            let class = ComputeClass::ALL.into_iter().find(|other| other.key() == class)?;
            of(device.peaks.get(class))
        }
    }
}

#[cfg(test)]
mod tests;
