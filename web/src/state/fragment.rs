//! What no catalog has travels in the address as a compressed fragment: named parts, such as a custom device. Here are the parts
//! as text; the boot script compresses it and checks it, with what the browser has for that.

use std::sync::OnceLock;

use calc_core::device::Device;
use report::input::device_file::lines;

use super::inputs::Inputs;
use super::model::asked;
use super::place::Own;

/// What the fragment begins with in the address.
pub const PREFIX: &str = "#s=";

/// A part: what it is, and its text.
pub type Part = (String, String);

/// What an address carries beside its query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Carried {
    /// Nothing.
    #[default]
    Nothing,
    /// These parts.
    Parts(Vec<Part>),
    /// Something that cannot be read: cut off, changed or too long.
    Broken,
}

impl Carried {
    /// The text of a part.
    pub fn part(&self, name: &str) -> Option<&str> {
        let Self::Parts(parts) = self else { return None };
        parts.iter().find(|(other, _)| other == name).map(|(_, text)| text.as_str())
    }
}

/// Everything of the inputs that no catalog has; empty when there is nothing.
pub fn text(inputs: &Inputs) -> String {
    let mut parts = Vec::new();
    if inputs.has_own_device() {
        parts.push(("device".to_owned(), device(inputs)));
    }
    if let Some(own) = &inputs.own {
        parts.push(("calibration".to_owned(), own.lines.clone()));
    }
    let own = inputs.model.pairs().into_iter().filter(|(key, _)| asked::is_carried(key));
    let model: String = own.map(|(key, value)| format!("{key}\t{value}\n")).collect();
    if !model.is_empty() {
        parts.push(("model".to_owned(), model));
    }
    join(&parts)
}

/// The device of the inputs, as lines.
pub fn device(inputs: &Inputs) -> String {
    let copy_of = inputs.copy_of.map(|device| &*device.key);
    lines_of_devices().map_or_else(String::new, |lines| (lines.write)(&inputs.device, copy_of))
}

/// Whether devices can be read; false where the chunk for it could not be fetched.
pub fn can_read_devices() -> bool {
    lines_of_devices().is_some()
}

/// The device of a part; `None` for what describes none.
pub fn read_device(part: &str) -> Option<Device> {
    (lines_of_devices()?.read)(part)
}

/// What was measured on a device, of a part; `None` for what says nothing of the kind.
pub fn read_own(part: &str) -> Option<Own> {
    (lines_of_devices()?.read_own)(part)
}

/// Devices and measurements as lines. They come in chunks: with whatever makes devices, and with an address that carries one.
struct LinesOfDevices {
    read: fn(&str) -> Option<Device>,
    write: fn(&Device, Option<&str>) -> String,
    read_own: fn(&str) -> Option<Own>,
}

static LINES: LinesOfDevices = LinesOfDevices {
    read: |part| lines::read(part).ok(),
    write: lines::of_device,
    read_own: Own::read,
};

static ARRIVED: OnceLock<&'static LinesOfDevices> = OnceLock::new();

/// Without chunks everything is here from the start.
fn lines_of_devices() -> Option<&'static LinesOfDevices> {
    if cfg!(feature = "lazy") { ARRIVED.get().copied() } else { Some(&LINES) }
}

/// Devices can be read and written from now on: whatever makes one, or brings one, says so first.
pub fn arrive() {
    ARRIVED.get_or_init(|| &LINES);
}

fn join(parts: &[Part]) -> String {
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

/// The parts of a text that [`text`] wrote; anything else is broken.
pub fn understand(text: &str) -> Carried {
    let mut lines = text.lines();
    let mut parts = Vec::new();
    while let Some(head) = lines.next() {
        let count = head.split_once(' ').and_then(|(_, count)| count.parse::<usize>().ok());
        let Some(count) = count else { return Carried::Broken };
        let part: Vec<&str> = lines.by_ref().take(count).collect();
        if part.len() < count {
            return Carried::Broken;
        }
        let name = head.split(' ').next().unwrap_or_default();
        parts.push((name.to_owned(), part.join("\n")));
    }
    if parts.is_empty() { Carried::Broken } else { Carried::Parts(parts) }
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
        assert_eq!(understand(&join(&parts)), Carried::Parts(parts));
    }

    #[test]
    fn what_is_cut_off_or_made_up_is_broken() {
        for text in
            ["", "device", "device x\n", "device 2\na", "device 99999999999999999999\n", "\n"]
        {
            assert_eq!(understand(text), Carried::Broken, "{text:?}");
        }
    }

    #[test]
    fn the_catalog_needs_no_fragment() {
        assert_eq!(text(&Inputs::default()), "");
    }
}
