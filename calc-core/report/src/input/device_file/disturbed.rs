//! The roofs of a device file that something disturbed while they were measured.

use calc_core::device::{Device, Roof, RoofSet};

use super::DeviceFileError;

/// The roof of a name in device files.
fn named(name: &str) -> Option<Roof> {
    Roof::all().find(|roof| roof.key() == name)
}

/// The names of the disturbed roofs of a device.
pub(super) fn names(device: &Device) -> Vec<String> {
    let disturbed = Roof::all().filter(|roof| device.disturbed_roofs().has(*roof));
    disturbed.map(|roof| roof.key().to_owned()).collect()
}

/// The roofs of names.
///
/// # Errors
/// A name that is none of a roof.
pub(super) fn of(names: &[String]) -> Result<RoofSet, DeviceFileError> {
    let wrong = |name: &String| DeviceFileError::WrongType {
        reason: format!(
            "disturbed_roofs: `{}` is no roof; they are {}",
            name.chars().take(60).collect::<String>(),
            Roof::all().map(Roof::key).collect::<Vec<_>>().join(", ")
        ),
    };
    names.iter().map(|name| named(name).ok_or_else(|| wrong(name))).collect()
}
