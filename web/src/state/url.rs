//! The address as state: `?d=h100_sxm&m=64&v=1`. Only what differs from the default, in short keys chosen by hand.
//! What is not here: the browser's history (`session`).

use std::borrow::Cow;

use calc_core::analysis::MAX_DIMENSION;
use calc_core::catalog;
use calc_core::device::Device;
use calc_core::error::Error;
use report::number_text;

use super::inputs::{Field, Inputs, View, dimension};
use super::model;

/// Longest value that a message repeats.
const LONGEST_QUOTE: usize = 40;
/// Most messages; an address of garbage must not fill the page.
const MOST_NOTES: usize = 9;

/// Something in the address that the page could not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What was wrong, what is allowed, and what the page uses instead.
    pub text: String,
}

/// Reads a query, with or without its question mark. Whatever is wrong becomes a note, and the default holds.
pub fn read(query: &str) -> (Inputs, Vec<Note>) {
    read_beside(query, None)
}

/// Reads a query that may name the device of a file that is open.
pub fn read_beside(query: &str, opened: Option<&Device>) -> (Inputs, Vec<Note>) {
    let mut inputs = Inputs::default();
    let mut reader = Reader { notes: Vec::new(), opened: opened.cloned() };
    let pairs = pairs(query);
    let value = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    reader.view(&mut inputs, value("view"));
    reader.device(&mut inputs, value("d"));
    reader.mode(&mut inputs, value("pm"));
    for field in Field::ALL {
        reader.dimension(&mut inputs, field, value(field.id()));
    }
    reader.weights(&mut inputs, value("w"));
    reader.activations(&mut inputs, value("a"));
    reader.version(value("v"));
    reader.other_keys(&mut inputs, &pairs);
    reader.notes.truncate(MOST_NOTES);
    (inputs, reader.notes)
}

/// The query for these inputs, with its question mark; empty for the defaults. `None` while a field cannot be read:
/// an address must reproduce a page.
pub fn write(inputs: &Inputs) -> Option<String> {
    let shape = inputs.shape().ok()?;
    let usual = Inputs::default();
    let usual_shape = usual.shape().ok()?;
    let mut pairs: Vec<(&str, String)> = Vec::new();
    if inputs.view != usual.view {
        pairs.push(("view", inputs.view.key().to_owned()));
    }
    if inputs.device != usual.device {
        pairs.push(("d", inputs.device.key.to_string()));
    }
    pairs.extend(inputs.mode.as_ref().map(|mode| ("pm", mode.to_string())));
    for (key, value, usual) in [
        ("m", shape.m, usual_shape.m),
        ("n", shape.n, usual_shape.n),
        ("k", shape.k, usual_shape.k),
    ] {
        if value != usual {
            pairs.push((key, value.to_string()));
        }
    }
    if inputs.weights != usual.weights {
        pairs.push(("w", inputs.weights.key.to_owned()));
    }
    pairs.extend(inputs.activations.map(|format| ("a", format.key.to_owned())));
    model::url::write(&inputs.model, &mut pairs);
    if pairs.is_empty() {
        return Some(String::new());
    }
    pairs.push(("v", catalog::VERSION.to_string()));
    let encoded: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
    Some(format!("?{}", encoded.join("&")))
}

struct Reader {
    notes: Vec<Note>,
    opened: Option<Device>,
}

impl Reader {
    fn note(&mut self, key: &str, value: &str, rest: &str) {
        let quoted: String = value.chars().take(LONGEST_QUOTE).collect();
        let more = if value.chars().nth(LONGEST_QUOTE).is_some() { "…" } else { "" };
        self.notes.push(Note { text: format!("The address says {key}={quoted}{more}, {rest}") });
    }

    fn view(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        if let Some(view) = View::ALL.into_iter().find(|view| view.key() == value) {
            inputs.view = view;
            return;
        }
        let rest = "which is no view; there are kernel and model. The page shows kernel.";
        self.note("view", value, rest);
    }

    fn device(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        if let Some(opened) = self.opened.take_if(|device| device.key == value) {
            inputs.set_device(Cow::Owned(opened));
            return;
        }
        match catalog::device(value) {
            Ok(device) => inputs.set_device(Cow::Borrowed(device)),
            Err(error) => {
                let uses = format!("The page uses {}.", inputs.device.name);
                self.note(
                    "d",
                    value,
                    &format!(
                        "which is no device of the catalog{}. {uses}",
                        nearest(&error, "the device list names all keys")
                    ),
                );
            }
        }
    }

    fn mode(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        let device = &inputs.device;
        match device.power_mode(value) {
            Ok(mode) if calc_core::roofline::Roofs::new(device, Some(mode)).is_ok() => {
                inputs.mode = Some(mode.name.clone());
            }
            Ok(_) => {
                let rest = "a power mode whose clocks nobody has published. The page uses the device's own peaks.";
                self.note("pm", value, rest);
            }
            Err(_) if device.power_modes.is_empty() => {
                self.note("pm", value, &format!("but {} has no power modes.", device.name));
            }
            Err(_) => {
                let names: Vec<&str> = device.power_modes.iter().map(|mode| &*mode.name).collect();
                let rest =
                    format!("which {} does not have; it has {}.", device.name, names.join(", "));
                self.note("pm", value, &rest);
            }
        }
    }

    fn dimension(&mut self, inputs: &mut Inputs, field: Field, value: Option<&str>) {
        let Some(value) = value else { return };
        if let Ok(value) = dimension(field, value) {
            inputs.set_text(field, value.to_string());
            return;
        }
        let rest = format!(
            "but {} is a whole number from 1 to {}. The page uses {}.",
            field.name(),
            number_text::count(MAX_DIMENSION),
            inputs.text(field)
        );
        self.note(field.id(), value, &rest);
    }

    fn weights(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        match catalog::format(value) {
            Ok(format) => inputs.weights = format,
            Err(error) => {
                let uses = format!("The page uses {}.", inputs.weights.key);
                self.note(
                    "w",
                    value,
                    &format!(
                        "which is no format{}. {uses}",
                        nearest(&error, "for example fp16, fp8_e4m3, int4_g128")
                    ),
                );
            }
        }
    }

    fn activations(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        match catalog::format(value) {
            Ok(format) if format.class.is_some() => inputs.activations = Some(format),
            Ok(_) => {
                let rest = "a format that stores weights only. Activations need one that is computed in, such as fp16, fp8_e4m3 or int8. The page uses the rule.";
                self.note("a", value, rest);
            }
            Err(error) => {
                let rest = format!(
                    "which is no format{}. The page uses the rule.",
                    nearest(&error, "for example fp16, bf16, fp8_e4m3")
                );
                self.note("a", value, &rest);
            }
        }
    }

    fn version(&mut self, value: Option<&str>) {
        let Some(value) = value else { return };
        match value.parse::<u32>() {
            Ok(version) if version == catalog::VERSION => {}
            Ok(version) if version < catalog::VERSION => {
                let now = catalog::VERSION;
                self.note(
                    "v",
                    value,
                    &format!("an older catalog than this page's {now}: numbers may have moved."),
                );
            }
            _ => self.note(
                "v",
                value,
                &format!("but this page has catalog version {}.", catalog::VERSION),
            ),
        }
    }

    /// The keys of the Model view, and what no view knows.
    fn other_keys(&mut self, inputs: &mut Inputs, pairs: &[(String, String)]) {
        const KNOWN: [&str; 9] = ["view", "d", "pm", "m", "n", "k", "w", "a", "v"];
        for (key, value) in pairs.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str())) {
            match model::url::read(&mut inputs.model, key, value) {
                Some(Ok(())) => continue,
                Some(Err(rest)) => {
                    self.note(key, value, &rest);
                    continue;
                }
                None => {}
            }
            let key: String = key.chars().take(LONGEST_QUOTE).collect();
            self.note(
                &key,
                value,
                &format!("a key that the page does not have; it has {}.", KNOWN.join(", ")),
            );
        }
    }
}

/// The nearest keys, or where to find all.
fn nearest(error: &Error, otherwise: &str) -> String {
    match error {
        Error::UnknownKey { nearest, .. } if !nearest.is_empty() => {
            format!("; near it are {}", nearest.join(", "))
        }
        _ => format!("; {otherwise}"),
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let query = query.strip_prefix('?').unwrap_or(query);
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect()
}

/// Percent codes and plus signs resolved; what is no code stays as it is, what is no UTF-8 becomes a replacement sign.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.extend(u8::try_from(high * 16 + low));
                at += 3;
                continue;
            }
            (b'+', ..) => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Everything but letters, digits and `-_.~` as percent codes.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(
                [byte >> 4, byte & 15]
                    .map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)])),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::devices;

    fn round_trip(inputs: &Inputs) {
        let query = write(inputs).expect("valid inputs");
        let (back, notes) = read(&query);
        assert_eq!((&back, notes.len()), (inputs, 0), "{query}");
    }

    #[test]
    fn the_default_has_an_empty_address() {
        assert_eq!(write(&Inputs::default()).as_deref(), Some(""));
        assert_eq!(read(""), (Inputs::default(), Vec::new()));
        assert_eq!(read("?"), (Inputs::default(), Vec::new()));
    }

    #[test]
    fn every_device_mode_and_format_comes_back() {
        for device in devices::all() {
            let mut inputs = Inputs { m: "64".into(), n: "28672".into(), ..Inputs::default() };
            inputs.set_device(Cow::Borrowed(device));
            round_trip(&inputs);
            for mode in device.power_modes.iter() {
                if calc_core::roofline::Roofs::new(device, Some(mode)).is_ok() {
                    round_trip(&Inputs { mode: Some(mode.name.clone()), ..inputs.clone() });
                }
            }
        }
        for format in calc_core::catalog::formats::FORMATS {
            let activations = format.class.map(|_| format);
            round_trip(&Inputs { weights: format, activations, ..Inputs::default() });
        }
    }

    #[test]
    fn the_views_share_one_state() {
        let mut inputs = Inputs { view: View::Model, m: "64".into(), ..Inputs::default() };
        inputs.set_device(Cow::Borrowed(catalog::device("t4").expect("catalog key")));
        round_trip(&inputs);
        assert_eq!(write(&inputs).as_deref(), Some("?view=model&d=t4&m=64&v=1"));
        round_trip(&Inputs { view: View::Kernel, ..inputs });
    }

    #[test]
    fn only_what_differs_is_written() {
        let inputs = Inputs { m: " 64 ".into(), ..Inputs::default() };
        assert_eq!(write(&inputs).as_deref(), Some("?m=64&v=1"));
        assert_eq!(write(&Inputs { m: "x".into(), ..Inputs::default() }), None);
    }

    fn check_note(query: &str, parts: &[&str]) {
        let (inputs, notes) = read(query);
        assert_eq!(inputs, Inputs::default(), "{query}");
        assert_eq!(notes.len(), 1, "{query}: {notes:?}");
        for part in parts {
            assert!(notes[0].text.contains(part), "{query}: {:?} lacks {part}", notes[0].text);
        }
    }

    #[test]
    fn garbage_in_any_key_is_named_and_the_default_holds() {
        check_note("?d=h10", &["d=h10", "h100_sxm", "Jetson Orin Nano"]);
        check_note(
            "?d=%F0%9F%92%A9%F0%9F%92%A9%F0%9F%92%A9%F0%9F%92%A9%F0%9F%92%A9",
            &["no device", "device list"],
        );
        check_note("?pm=turbo", &["pm=turbo", "MAXN_SUPER"]);
        check_note("?m=0", &["m=0", "from 1 to 1"]);
        check_note("?n=-4", &["n=-4", "uses 4096"]);
        check_note("?k=1e30", &["k=1e30"]);
        check_note("?w=int4", &["w=int4", "int4_g128"]);
        check_note("?a=nf4", &["a=nf4", "weights only"]);
        check_note("?a=<script>", &["a=<script>", "no format"]);
        check_note("?v=0", &["v=0", "older"]);
        check_note("?v=99", &["version 1"]);
        check_note("?q=1", &["q=1", "d, pm, m"]);
        check_note("?view=table", &["view=table", "kernel and model"]);
        check_note("?m", &["m=,"]);
        check_note("?m=%ZZ", &["m=%ZZ"]);
    }

    #[test]
    fn a_mode_of_another_device_is_named() {
        let (inputs, notes) = read("?d=t4&pm=7W");
        assert_eq!((&*inputs.device.key, inputs.mode, notes.len()), ("t4", None, 1));
    }

    #[test]
    fn a_long_address_makes_short_notes() {
        let query = format!("?d={}&{}", "x".repeat(1_000_000), "&z=1".repeat(1_000));
        let (_, notes) = read(&query);
        assert!(notes.len() <= MOST_NOTES);
        assert!(notes.iter().all(|note| note.text.len() < 400));
    }

    #[test]
    fn percent_codes_come_back() {
        for text in ["MAXN_SUPER", "a b&c=d%+ü", "§", ""] {
            assert_eq!(decoded(&encoded(text)), text);
        }
        assert_eq!(decoded("a+b%2"), "a b%2");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }
}
