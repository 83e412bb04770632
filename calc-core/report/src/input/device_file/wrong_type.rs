//! Finds the key of a device file that is unknown, missing or of the wrong type. It runs after the parser has refused the file,
//! so that the message names keys of the file instead of types of our code.

use calc_core::catalog::nearest;
use calc_core::error::Error;
use serde_json::{Map, Number, Value};

use super::DeviceFileError;

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Real,
    Whole,
    Flag,
    Class,
    Peaks,
    Modes,
    Roofs,
}

/// Requirement of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
    /// May be absent, but not `null`.
    Absent,
}

use Kind::{Class, Flag, Modes, Peaks, Real, Roofs, Text, Whole};
use Need::{Absent, Optional, Required};

type Key = (&'static str, Kind, Need);

const DEVICE: [Key; 25] = [
    ("$schema", Text, Optional),
    ("key", Text, Required),
    ("name", Text, Optional),
    ("class", Class, Required),
    ("memory_gib", Real, Required),
    ("bandwidth_gb_s", Real, Required),
    ("unified_memory", Flag, Optional),
    ("dense_peaks_tflops", Peaks, Required),
    ("measured_bandwidth_gb_s", Real, Optional),
    ("measured_peaks_tflops", Peaks, Optional),
    ("disturbed_roofs", Roofs, Absent),
    ("vendor", Text, Absent),
    ("architecture", Text, Absent),
    ("compute_capability", Text, Optional),
    ("sm_count", Whole, Optional),
    ("tensor_clock_mhz", Real, Optional),
    ("l2_mib", Real, Optional),
    ("l2_gb_s", Real, Optional),
    ("shared_memory_per_sm_kib", Real, Optional),
    ("tdp_w", Real, Optional),
    ("link_gb_s", Real, Optional),
    ("link_latency_us", Real, Optional),
    ("power_modes", Modes, Absent),
    ("source", Text, Absent),
    ("notes", Text, Absent),
];

const PEAKS: [Key; 10] = [
    ("fp64", Real, Optional),
    ("fp32", Real, Optional),
    ("tf32", Real, Optional),
    ("fp16", Real, Optional),
    ("bf16", Real, Optional),
    ("fp8", Real, Optional),
    ("fp6", Real, Optional),
    ("fp4", Real, Optional),
    ("int8", Real, Optional),
    ("int4", Real, Optional),
];

const MODE: [Key; 6] = [
    ("name", Text, Required),
    ("watts", Real, Optional),
    ("gpu_clock_mhz", Real, Optional),
    ("active_sm", Whole, Optional),
    ("bandwidth_gb_s", Real, Optional),
    ("default", Flag, Absent),
];

const CLASSES: [&str; 3] = ["discrete_gpu", "unified_gpu", "cpu"];

/// The first mistake in the keys of a file; `None` when keys and types are right.
pub(super) fn find(text: &str) -> Option<DeviceFileError> {
    match serde_json::from_str(text).ok()? {
        Value::Object(fields) => object("", &fields, &DEVICE).err(),
        other => Some(wrong(format!("a device file is a JSON object; this is {}", found(&other)))),
    }
}

fn object(path: &str, fields: &Map<String, Value>, keys: &[Key]) -> Result<(), DeviceFileError> {
    for name in fields.keys() {
        if keys.iter().all(|(key, ..)| key != name) {
            let near = nearest(name, keys.iter().map(|(key, ..)| *key));
            let hint = crate::refusal_text::nearest_text(&near);
            let name: String = name.chars().take(60).collect();
            return Err(wrong(format!("unknown field `{path}{name}`{hint}")));
        }
    }
    for (key, kind, need) in keys {
        match fields.get(*key) {
            None if *need == Required => return Err(wrong(format!("{path}{key} is missing"))),
            None => {}
            Some(Value::Null) if *need == Optional => {}
            Some(value) => check(&format!("{path}{key}"), value, *kind)?,
        }
    }
    Ok(())
}

fn check(path: &str, value: &Value, kind: Kind) -> Result<(), DeviceFileError> {
    let expected = match (kind, value) {
        (Text, Value::String(_)) | (Real, Value::Number(_)) | (Flag, Value::Bool(_)) => {
            return Ok(());
        }
        (Class, Value::String(name)) if CLASSES.contains(&&**name) => return Ok(()),
        (Whole, Value::Number(number)) => return whole(path, number),
        (Peaks, Value::Object(peaks)) => return object(&format!("{path}."), peaks, &PEAKS),
        (Modes, Value::Array(modes)) => return each_mode(path, modes),
        (Roofs, Value::Array(names)) if names.iter().all(Value::is_string) => return Ok(()),
        (Text, _) => "a text in quotes",
        (Real, _) => "a number, without quotes",
        (Whole, _) => "a whole number, without quotes",
        (Flag, _) => "true or false",
        (Class, _) => "one of discrete_gpu, unified_gpu, cpu",
        (Peaks, _) => "an object of numbers, such as {\"fp16\": 50}",
        (Modes, _) => "a list of objects, each with a name",
        (Roofs, _) => "a list of names of roofs, such as [\"bandwidth\", \"fp16\"]",
    };
    Err(wrong(format!("{path} must be {expected}; got {}", found(value))))
}

/// Refuses numbers such as `46.0`: counts are whole numbers of 32 bits.
fn whole(path: &str, number: &Number) -> Result<(), DeviceFileError> {
    if number.as_u64().is_some_and(|count| u32::try_from(count).is_ok()) {
        return Ok(());
    }
    let (value, min, max) = (number.as_f64().unwrap_or(f64::NAN), 1.0, 1e6);
    if value.fract() == 0.0 && !(min..=max).contains(&value) {
        return Err(Error::OutOfRange { what: path.to_owned().into(), value, min, max }.into());
    }
    Err(wrong(format!("{path} must be a whole number; got {number}")))
}

fn each_mode(path: &str, modes: &[Value]) -> Result<(), DeviceFileError> {
    modes.iter().enumerate().try_for_each(|(i, mode)| match mode {
        Value::Object(fields) => object(&format!("{path}[{i}]."), fields, &MODE),
        other => {
            Err(wrong(format!("{path}[{i}] must be an object with a name; got {}", found(other))))
        }
    })
}

fn wrong(reason: String) -> DeviceFileError {
    DeviceFileError::WrongType { reason }
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}
