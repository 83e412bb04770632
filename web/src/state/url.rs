//! The address as state: `?d=h100_sxm&m=64&v=1`. It has only values that differ from the default, in short, hand-chosen keys.
//! The browser's history is handled in `session`.

mod pinned;
mod reader;
#[cfg(test)]
mod requests;

use std::sync::OnceLock;

use report::output::address::{self, key};
use report::percent::pairs;

use super::fragment::{Fragment, follows_first};
use super::inputs::{Inputs, View};
use super::model::stages;
use super::operator::Field;
use super::{fragment, pins, points};
use reader::Reader;

pub use pinned::scenario;

/// Longest value that a note quotes, in characters.
const LONGEST_QUOTE: usize = 40;
/// Most notes; a malformed address must not fill the page.
const MOST_NOTES: usize = 9;

/// A note on a value that the page could not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The error, the allowed values, and the value used instead.
    pub text: String,
}

impl Note {
    /// A note on a key and its value; `rest` completes the sentence.
    pub fn on(key: &str, value: &str, rest: &str) -> Self {
        let quoted: String = value.chars().take(LONGEST_QUOTE).collect();
        let more = if value.chars().nth(LONGEST_QUOTE).is_some() { "…" } else { "" };
        Self { text: format!("The address says {key}={quoted}{more}, {rest}") }
    }
}

/// Reads a query beside the contents of a fragment.
type Read = fn(&str, &Fragment) -> (Inputs, Vec<Note>);

/// The reader of addresses, which names every device, model and format, so it is in a chunk of its own.
static ARRIVED: OnceLock<Read> = OnceLock::new();

/// Makes the reader of addresses available. Its chunk calls this first.
pub fn arrive() {
    ARRIVED.get_or_init(|| read_beside);
}

/// Whether an address says nothing, so that the page shows its default.
pub fn is_bare(query: &str, fragment: &Fragment) -> bool {
    query.is_empty() && *fragment == Fragment::Empty
}

/// Reads an address; `None` while the chunk for it is missing. A bare one needs none, and without the feature `lazy` it is there.
pub fn read_with_chunk(query: &str, fragment: &Fragment) -> Option<(Inputs, Vec<Note>)> {
    if is_bare(query, fragment) {
        return Some((Inputs::default(), Vec::new()));
    }
    if cfg!(not(feature = "lazy")) {
        arrive();
    }
    ARRIVED.get().map(|read| read(query, fragment))
}

/// Reads a query, with or without its question mark. Each invalid value becomes a note, and the default is used.
pub fn read(query: &str) -> (Inputs, Vec<Note>) {
    read_beside(query, &Fragment::Empty)
}

/// Reads a query together with the contents of the fragment.
pub fn read_beside(query: &str, fragment: &Fragment) -> (Inputs, Vec<Note>) {
    read_pairs(&pairs(query), fragment)
}

fn read_pairs(pairs: &[(String, String)], fragment: &Fragment) -> (Inputs, Vec<Note>) {
    stages::load();
    let mut inputs = Inputs::default();
    let mut reader = Reader { notes: Vec::new(), fragment };
    let value = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    reader.view(&mut inputs, value(key::VIEW), pairs.is_empty());
    reader.tab(&mut inputs, value("tab"));
    reader.device(&mut inputs, value(key::DEVICE));
    reader.own(&mut inputs);
    reader.mode(&mut inputs, value(key::POWER_MODE));
    reader.operator(&mut inputs, value(key::OPERATOR));
    for field in Field::ALL {
        reader.number(&mut inputs, *field, value(field.id()));
    }
    reader.switch(&mut inputs.typed.fused, key::UNFUSED, value(key::UNFUSED));
    reader.switch(&mut inputs.typed.gated, key::PLAIN, value(key::PLAIN));
    reader.weights(&mut inputs, value(key::OPERATOR_WEIGHTS));
    reader.activations(&mut inputs, value(key::OPERATOR_ACTIVATIONS));
    reader.kv_cache(&mut inputs, value(key::OPERATOR_KV_CACHE));
    reader.points(&mut inputs, value("pt"));
    reader.version(value(key::VERSION));
    reader.other_keys(&mut inputs, pairs);
    reader.model(&mut inputs);
    reader.pins(&mut inputs, pairs);
    reader.notes.truncate(MOST_NOTES);
    (inputs, reader.notes)
}

/// Whether all fields are valid: an address must reproduce a page.
pub fn is_readable(inputs: &Inputs) -> bool {
    inputs.operator().is_ok()
}

/// The view of an address without the key `view`: the landing if the address is bare. Links from before the landing was Plan
/// have no key for Kernel.
const fn view_without_key(is_bare: bool) -> View {
    if is_bare { View::Plan } else { View::Kernel }
}

/// The query for these inputs, with its question mark; empty for the defaults. Invalid fields are left out.
pub fn write(inputs: &Inputs) -> String {
    let usual = Inputs::default();
    let mut pairs: Vec<(&str, String)> = Vec::new();
    if inputs.tab != usual.tab {
        pairs.push(("tab", inputs.tab.key().to_owned()));
    }
    let follows = follows_first(inputs);
    if !follows {
        pairs.extend(pins::place(inputs));
    }
    if inputs.op != usual.op {
        pairs.push((key::OPERATOR, inputs.op.key().to_owned()));
    }
    for field in Field::ALL {
        let value =
            inputs.typed.number(*field).filter(|value| usual.typed.number(*field) != Some(*value));
        pairs.extend(value.map(|value| (field.id(), value.to_string())));
    }
    for (key, usual) in [(key::UNFUSED, inputs.typed.fused), (key::PLAIN, inputs.typed.gated)] {
        if !usual {
            pairs.push((key, "1".to_owned()));
        }
    }
    if inputs.weights != usual.weights {
        pairs.push((key::OPERATOR_WEIGHTS, inputs.weights.key.to_owned()));
    }
    pairs.extend(
        inputs.activations.map(|format| (key::OPERATOR_ACTIVATIONS, format.key.to_owned())),
    );
    pairs.extend(inputs.kv.map(|format| (key::OPERATOR_KV_CACHE, format.key.to_owned())));
    pairs.extend(points::write(&inputs.points).map(|points| ("pt", points)));
    if !follows {
        pairs.extend(pins::question(inputs));
    }
    inputs.explore.write(&mut pairs);
    pinned::write(inputs, follows, &mut pairs);
    let has_fragment = !fragment::text(inputs).is_empty();
    if inputs.view != view_without_key(pairs.is_empty() && !has_fragment) {
        pairs.insert(0, (key::VIEW, inputs.view.key().to_owned()));
    }
    address::query(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::inputs::Tab;
    use crate::state::operator::Op;
    use calc_core::catalog::{self, devices};
    use std::borrow::Cow;

    fn with(numbers: &[(Field, &str)]) -> Inputs {
        let mut inputs = Inputs { view: View::Kernel, ..Inputs::default() };
        for (field, text) in numbers {
            inputs.typed.set(*field, (*text).to_owned());
        }
        inputs
    }

    fn round_trip(inputs: &Inputs) {
        let query = write(inputs);
        let (back, notes) = read(&query);
        assert_eq!((&back, notes.len()), (inputs, 0), "{query}");
    }

    #[test]
    fn a_bare_address_is_the_default_and_needs_no_reader() {
        assert_eq!(read(""), (Inputs::default(), Vec::new()));
        assert!(is_bare("", &Fragment::Empty));
        assert!(!is_bare("?v=1", &Fragment::Empty) && !is_bare("", &Fragment::Invalid));
        for query in ["", "?d=t4"] {
            let found = read_with_chunk(query, &Fragment::Empty);
            assert_eq!(found, Some(read(query)), "without chunks it is always there");
        }
    }

    #[test]
    fn the_default_has_an_empty_address() {
        assert_eq!(write(&Inputs::default()), "");
        assert_eq!(read(""), (Inputs::default(), Vec::new()));
        assert_eq!(read("?"), (Inputs::default(), Vec::new()));
    }

    #[test]
    fn the_view_is_in_the_address_where_the_rest_does_not_say_it() {
        let with_m = with(&[(Field::M, "64")]);
        for view in View::ALL {
            round_trip(&Inputs { view, ..Inputs::default() });
            round_trip(&Inputs { view, ..with_m.clone() });
        }
        let kernel = Inputs { view: View::Kernel, ..Inputs::default() };
        assert_eq!(write(&kernel), "?view=kernel&v=1");
        assert_eq!(write(&with_m), "?m=64&v=1");
        assert_eq!(write(&Inputs { view: View::Plan, ..with_m }), "?view=plan&m=64&v=1");
    }

    #[test]
    fn the_open_tab_comes_back() {
        for tab in Tab::ALL {
            round_trip(&Inputs { tab, ..Inputs::default() });
        }
        let inputs = Inputs { tab: Tab::Memory, ..Inputs::default() };
        assert_eq!(write(&inputs), "?view=plan&tab=memory&v=1");
    }

    #[test]
    fn a_fragment_opens_the_view_that_wrote_it() {
        let fragment = Fragment::Parts(vec![("model".into(), "file\tx".into())]);
        assert_eq!(read_beside("", &fragment).0.view, View::Kernel);
        let mut inputs = Inputs::default();
        crate::state::model::url::put(&mut inputs.model, "file", "x");
        assert_eq!(write(&inputs), "?view=plan&v=1");
        inputs.view = View::Kernel;
        assert_eq!(write(&inputs), "");
    }

    #[test]
    fn every_device_mode_and_format_comes_back() {
        for device in devices::all() {
            let mut inputs = with(&[(Field::M, "64"), (Field::N, "28672")]);
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
    fn every_operator_and_field_comes_back() {
        for op in Op::ALL {
            let mut inputs =
                Inputs { op, kv: catalog::format("fp8_e4m3").ok(), ..Inputs::default() };
            inputs.typed.fused = false;
            inputs.typed.gated = false;
            for field in Field::ALL {
                inputs.typed.set(*field, "64".to_owned());
                round_trip(&inputs);
            }
        }
    }

    #[test]
    fn points_come_back() {
        let (points, _) = points::parse("my kernel, 3.8, 0.35\nü&=%, 1e2, 5", 9);
        round_trip(&Inputs { points, ..Inputs::default() });
    }

    /// Links that were published, each with the address that the page writes for it.
    const LINKS: &str = include_str!("../../tests/links.txt");

    #[test]
    fn every_published_link_opens_as_before() {
        let links: Vec<_> = LINKS.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(links.len() >= 30);
        for line in links {
            let (link, written) = line.split_once(' ').unwrap_or((line, ""));
            let (inputs, notes) = read(if link == "/" { "" } else { link });
            assert!(notes.is_empty(), "{link}: {notes:?}");
            assert_eq!(write(&inputs), written, "{link}");
            assert_eq!(read(written).0, inputs, "{link}");
            let views = ["view=", "="].map(|key| link.contains(key));
            let view = match views {
                [true, _] => inputs.view, // its key is in what is written
                [false, true] => View::Kernel,
                [false, false] => View::Plan,
            };
            assert_eq!(inputs.view, view, "{link}");
        }
    }

    #[test]
    fn the_views_share_one_state() {
        let mut inputs = Inputs { view: View::Model, ..with(&[(Field::M, "64")]) };
        inputs.set_device(Cow::Borrowed(catalog::device("t4").expect("catalog key")));
        round_trip(&inputs);
        assert_eq!(write(&inputs), "?view=model&d=t4&m=64&v=1");
        round_trip(&Inputs { view: View::Kernel, ..inputs });
    }

    #[test]
    fn only_what_differs_is_written() {
        let inputs = with(&[(Field::M, " 64 ")]);
        assert_eq!(write(&inputs), "?m=64&v=1");
        let wrong = with(&[(Field::M, "x"), (Field::N, "1024")]);
        assert_eq!((is_readable(&wrong), &*write(&wrong)), (false, "?n=1024&v=1"));
    }

    fn check_note(query: &str, parts: &[&str]) {
        let (inputs, notes) = read(query);
        let view = if query.contains("view=") { View::Plan } else { View::Kernel };
        assert_eq!(inputs, Inputs { view, ..Inputs::default() }, "{query}");
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
        check_note(
            "?d=rtx_4090,rtx_3090",
            &["several cards", "--hardware \"rtx_4090 + rtx_3090\"", "Orin Nano"],
        );
        check_note("?pm=turbo", &["pm=turbo", "MAXN_SUPER"]);
        check_note("?m=0", &["m=0", "from 1 to 1"]);
        check_note("?n=-4", &["n=-4", "uses 4096"]);
        check_note("?k=1e30", &["k=1e30"]);
        check_note("?w=int4_g", &["w=int4_g", "int4_g128"]);
        check_note("?a=nf4", &["a=nf4", "weights only"]);
        check_note("?a=<script>", &["a=<script>", "no format"]);
        check_note("?v=0", &["v=0", "older"]);
        check_note("?v=99", &["version 1"]);
        check_note("?q=1", &["q=1", "d, pm, op"]);
        check_note("?op=conv", &["op=conv", "attention"]);
        check_note("?uf=yes", &["uf=yes", "only be 1"]);
        check_note("?ak=fp7", &["ak=fp7", "no format"]);
        check_note("?ac=-1", &["ac=-1", "from 0 to"]);
        check_note("?pt=a~1", &["pt=a~1", "no points"]);
        check_note(
            "?view=table",
            &["view=table", "plan, compare, explore, kernel, model, measure, trust"],
        );
        check_note("?model=llama-3.1-9b", &["model=llama-3.1-9b", "llama-3.1-8b"]);
        check_note("?engine=fast", &["engine=fast", "llama.cpp"]);
        check_note("?tab=all", &["tab=all", "schemes, questions, operators"]);
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
}
