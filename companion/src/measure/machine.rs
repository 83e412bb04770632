//! The devices of this machine: their names in messages, and the one that a flag or an order asks for.

use std::fmt;

use calc_core::catalog;
use calc_core::device::DeviceClass;
use kernels::backend::{BackendKind, Description, DeviceId, Fault};
use kernels::devices::{self, Device};
use protocol::device::DeviceName;

use crate::hooks::Hooks;

/// Backends that other builds have, so that their names are no spelling errors.
const ELSEWHERE: [&str; 1] = ["cuda"];

/// The devices of this machine, the processor first; the scripted one only under its hook.
pub(crate) fn devices(hooks: &Hooks) -> Vec<Device> {
    devices::all(hooks.device())
}

/// The name of a device in messages.
pub(crate) fn name(device: &Device) -> DeviceName {
    of(device.id, &device.name, device.catalog_key)
}

/// The name of an opened device in messages.
pub(crate) fn name_of(description: &Description) -> DeviceName {
    of(description.id, &description.device, description.catalog_key)
}

fn of(id: DeviceId, name: &str, key: Option<&str>) -> DeviceName {
    DeviceName {
        backend: id.backend.key().to_owned(),
        index: id.index,
        name: name.to_owned(),
        catalog_key: catalog_key(key, name),
    }
}

/// Key of a device in the catalog: as its backend tells it, else by the name of the processor.
pub(crate) fn catalog_key(told: Option<&str>, name: &str) -> Option<String> {
    told.map(str::to_owned).or_else(|| Some(known(name)?.key.to_string()))
}

/// The catalog's device with this processor name. `None` if there is none.
fn known(processor: &str) -> Option<&'static calc_core::device::Device> {
    let words = |name: &str| -> Vec<String> {
        let name = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
        name.split_whitespace().map(str::to_owned).collect()
    };
    let own = words(processor);
    catalog::devices::all().find(|device| {
        // A processor does not report the catalog name's brackets and memory size.
        let name = device.name.split(" (").next().unwrap_or_default();
        let name = words(name).into_iter().filter(|word| !word.ends_with("gb"));
        device.class == DeviceClass::Cpu && name.clone().count() > 1 && {
            let mut name = name;
            name.all(|word| own.contains(&word))
        }
    })
}

/// The reason why no device is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// This machine lacks it, or this build its backend: the name, and the devices that there are.
    Absent(String, String),
    /// The text names no device: the text, and the known backends.
    NoName(String, String),
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(asked, there) => {
                write!(f, "this machine has no device `{asked}`; it has {there}")
            }
            Self::NoName(asked, known) => write!(
                f,
                "`{asked}` is no device; a device is auto, or {known} with an index such as cpu:0"
            ),
        }
    }
}

/// The device that a flag or an order names; the first one if it names none.
///
/// # Errors
/// A text that names no device, and a device that this machine lacks.
pub(crate) fn find<'a>(devices: &'a [Device], asked: Option<&str>) -> Result<&'a Device, NotFound> {
    let asked = asked.unwrap_or("auto");
    if let Some(found) = devices::find(devices, asked) {
        return Ok(found);
    }
    if asked == "auto" || DeviceId::parse(asked).is_some() || is_elsewhere(asked) {
        let there: Vec<String> =
            devices.iter().map(|device| format!("{} ({})", device.id, device.name)).collect();
        let note = if is_elsewhere(asked) { "; this build has no kernels for it" } else { "" };
        return Err(NotFound::Absent(asked.to_owned(), there.join(", ") + note));
    }
    let kinds = BackendKind::ALL.iter().filter(|kind| **kind != BackendKind::Fake);
    let known: Vec<&str> = kinds.map(|kind| kind.key()).chain(ELSEWHERE).collect();
    Err(NotFound::NoName(asked.to_owned(), known.join(" or ")))
}

/// Whether it names a device of a backend that this build lacks.
fn is_elsewhere(asked: &str) -> bool {
    let key = asked.split_once(':').map_or(asked, |(key, _)| key);
    ELSEWHERE.contains(&key) && DeviceId::parse(&asked.replacen(key, "cpu", 1)).is_some()
}

/// The sentence about a device that does not open.
pub(crate) fn unopened(device: &Device, fault: &Fault) -> String {
    format!("{} ({}) cannot be measured: {}", device.id, device.name, said(fault))
}

/// A fault of a device as a clause.
pub(crate) fn said(fault: &Fault) -> String {
    match fault {
        Fault::NoDevice => "it is gone, or its driver does not answer".to_owned(),
        Fault::Unsupported => "it has no such kernel".to_owned(),
        Fault::NoMemory { bytes } => {
            format!("it lacks memory: {} GB are needed", bytes.div_ceil(1_000_000_000))
        }
        Fault::Device(why) => format!("it failed: {why}"),
        other => format!("it failed: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use kernels::backend::fake::Script;

    use super::*;

    #[test]
    fn a_missing_device_differs_from_a_misspelt_one() {
        let here = devices::all(Some(Script::GOOD));
        for (asked, id) in [
            (None, "cpu:0"),
            (Some("auto"), "cpu:0"),
            (Some("cpu"), "cpu:0"),
            (Some("fake:0"), "fake:0"),
        ] {
            let found = find(&here, asked).map(|device| device.id.to_string());
            assert_eq!(found.as_deref(), Ok(id), "{asked:?}");
        }
        for absent in ["cpu:1", "cuda", "cuda:0", "cuda:17", "fake:3"] {
            let why = find(&here, Some(absent)).unwrap_err();
            assert!(matches!(why, NotFound::Absent(..)), "{absent}: {why}");
            assert!(why.to_string().contains("it has cpu:0 ("), "{why}");
        }
        for garbage in
            ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cudax", "cuda0", "cpu:", "cpu:0:0"]
        {
            let why = find(&here, Some(garbage)).unwrap_err();
            assert!(matches!(why, NotFound::NoName(..)), "{garbage}: {why}");
        }
    }

    #[test]
    fn a_processor_has_its_catalog_key_where_one_fits() {
        assert_eq!(
            catalog_key(None, "AMD EPYC 9654 96-Core Processor").as_deref(),
            Some("epyc_9654")
        );
        assert_eq!(catalog_key(Some("h100_sxm"), "whatever").as_deref(), Some("h100_sxm"));
        assert_eq!(catalog_key(None, "a processor"), None);
    }

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
