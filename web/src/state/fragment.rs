//! Inputs that are in no catalog, such as a custom device, are stored in the address as a compressed fragment of named parts.
//! This module handles the parts as text; the boot script compresses and verifies it with the browser's own functions.

use std::sync::OnceLock;

use calc_core::device::Device;
use report::input::device_file::lines;

use super::inputs::{Inputs, View};
use super::model::url;
use super::pins;
use super::place::OwnCalibration;

/// Prefix of the fragment in the address.
pub const PREFIX: &str = "#s=";

/// A part: its name and its text.
pub type FragmentPart = (String, String);

/// Contents of an address's fragment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fragment {
    #[default]
    Empty,
    Parts(Vec<FragmentPart>),
    /// The fragment is invalid: truncated, altered or too long.
    Invalid,
}

impl Fragment {
    /// The text of a part, by name.
    pub fn part(&self, name: &str) -> Option<&str> {
        let Self::Parts(parts) = self else { return None };
        parts.iter().find(|(other, _)| other == name).map(|(_, text)| text.as_str())
    }
}

/// Start of the names of parts that belong to pinned scenarios.
const PINNED: &str = "pinned-";

/// All inputs that are in no catalog, as text; empty if there are none.
pub fn text(inputs: &Inputs) -> String {
    let mut parts = if follows_first(inputs) { Vec::new() } else { parts(inputs) };
    let pinned = inputs.pins.fragment_parts.iter();
    parts.extend(pinned.map(|(name, part)| (format!("{PINNED}{name}"), part.clone())));
    join(&parts)
}

/// Whether the scenario of the inputs is the first one of the comparison that is open, so that the address need not repeat it.
pub fn follows_first(inputs: &Inputs) -> bool {
    inputs.view == View::Compare
        && inputs.pins.list.first() == Some(&pins::text(inputs))
        && parts(inputs).iter().all(|part| inputs.pins.fragment_parts.contains(part))
}

/// The parts of the pinned scenarios, without the start of their names. A fragment without such parts lends its own.
pub fn of_pins(fragment: &Fragment) -> Vec<FragmentPart> {
    let Fragment::Parts(parts) = fragment else { return Vec::new() };
    let pinned: Vec<FragmentPart> = parts
        .iter()
        .filter_map(|(name, part)| Some((name.strip_prefix(PINNED)?.to_owned(), part.clone())))
        .collect();
    if pinned.is_empty() { parts.clone() } else { pinned }
}

/// The inputs that are in no catalog and belong to the scenario, as parts.
pub fn parts(inputs: &Inputs) -> Vec<FragmentPart> {
    let mut parts = Vec::new();
    if inputs.has_own_device() {
        parts.push(("device".to_owned(), device(inputs)));
    }
    if let Some(own) = &inputs.own {
        parts.push(("calibration".to_owned(), own.lines.clone()));
    }
    let own = url::pairs(&inputs.model).into_iter().filter(|(key, _)| url::is_in_fragment(key));
    let model: String = own.map(|(key, value)| format!("{key}\t{value}\n")).collect();
    if !model.is_empty() {
        parts.push(("model".to_owned(), model));
    }
    // Reading drops the line break at the end of a part, so writing leaves it out.
    for (_, part) in &mut parts {
        part.truncate(part.trim_end_matches('\n').len());
    }
    parts
}

/// The custom device of the inputs, as lines.
pub fn device(inputs: &Inputs) -> String {
    let copy_of = inputs.copy_of.map(|device| &*device.key);
    device_codec().map_or_else(String::new, |lines| (lines.write)(&inputs.device, copy_of))
}

/// Whether devices can be read; false if their chunk could not be fetched.
pub fn can_read_devices() -> bool {
    device_codec().is_some()
}

/// Parses a device; `None` if the part is invalid.
pub fn read_device(part: &str) -> Option<Device> {
    (device_codec()?.read)(part)
}

/// Parses measurements of a device; `None` if the part is invalid.
pub fn read_own(part: &str) -> Option<OwnCalibration> {
    (device_codec()?.read_own)(part)
}

/// Functions for devices and measurements. They are in lazily loaded chunks: with the code that creates devices, and with an
/// address that has one.
struct DeviceCodec {
    read: fn(&str) -> Option<Device>,
    write: fn(&Device, Option<&str>) -> String,
    read_own: fn(&str) -> Option<OwnCalibration>,
}

static CODEC: DeviceCodec = DeviceCodec {
    read: |part| lines::read(part).ok(),
    write: lines::of_device,
    read_own: OwnCalibration::read,
};

static LOADED: OnceLock<&'static DeviceCodec> = OnceLock::new();

/// Without the feature `lazy` the functions are always available.
fn device_codec() -> Option<&'static DeviceCodec> {
    if cfg!(feature = "lazy") { LOADED.get().copied() } else { Some(&CODEC) }
}

/// Makes the functions available. Every chunk that contains them calls this first.
pub fn load_device_codec() {
    LOADED.get_or_init(|| &CODEC);
}

fn join(parts: &[FragmentPart]) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        text += &format!("{name} {}\n", part.lines().count());
        part.lines().for_each(|line| {
            text += line;
            text.push('\n');
        });
    }
    text
}

/// Parses a text that [`text`] wrote; anything else is [`Fragment::Invalid`].
pub fn parse(text: &str) -> Fragment {
    let mut lines = text.lines();
    let mut parts = Vec::new();
    while let Some(head) = lines.next() {
        let count = head.split_once(' ').and_then(|(_, count)| count.parse::<usize>().ok());
        let Some(count) = count else { return Fragment::Invalid };
        let part: Vec<&str> = lines.by_ref().take(count).collect();
        if part.len() < count {
            return Fragment::Invalid;
        }
        let name = head.split(' ').next().unwrap_or_default();
        parts.push((name.to_owned(), part.join("\n")));
    }
    if parts.is_empty() { Fragment::Invalid } else { Fragment::Parts(parts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_whatever_their_lines_say() {
        let parts = vec![
            ("device".to_owned(), "a\tb\nmodel 3\n\nx".to_owned()),
            ("model".into(), String::new()),
        ];
        assert_eq!(parse(&join(&parts)), Fragment::Parts(parts));
    }

    #[test]
    fn what_is_cut_off_or_made_up_is_broken() {
        for text in
            ["", "device", "device x\n", "device 2\na", "device 99999999999999999999\n", "\n"]
        {
            assert_eq!(parse(text), Fragment::Invalid, "{text:?}");
        }
    }

    #[test]
    fn the_catalog_needs_no_fragment() {
        assert_eq!(text(&Inputs::default()), "");
    }
}
