//! Pinned scenarios in the address: `c`, once for each in the order of the columns, and `rows=all`.

use super::{Note, read_pairs};
use crate::state::fragment::{self, Fragment, FragmentPart};
use crate::state::inputs::{Inputs, Pins, View};
use crate::state::pins;

use report::output::address::key;

use super::reader::Reader;

/// Longest scenario that is read, in characters.
const LONGEST: usize = 2000;

/// Reads a pinned scenario. `fragment_parts` are the parts of the fragment that the pinned scenarios share.
///
/// # Errors
/// Returns all that cannot be read, as sentences.
pub fn scenario(text: &str, fragment_parts: &[FragmentPart]) -> Result<Inputs, String> {
    if text.chars().nth(LONGEST).is_some() {
        return Err(format!("This scenario is longer than {LONGEST} characters."));
    }
    let pairs = pins::pairs(text)?;
    let (mut inputs, notes) = read_pairs(&pairs, &own_parts(&pairs, fragment_parts));
    if !notes.is_empty() {
        let mut faults = String::new();
        for note in &notes {
            faults += if faults.is_empty() { "" } else { " " };
            faults += fault(note);
        }
        return Err(faults);
    }
    inputs.view = View::Plan;
    Ok(inputs)
}

/// The parts of the fragment that a scenario names: it names a device by its key, and a model of the user's own by naming none.
fn own_parts(pairs: &[(String, String)], fragment_parts: &[FragmentPart]) -> Fragment {
    let value = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    let device = value("d").unwrap_or_default();
    let is_named = |(name, part): &&FragmentPart| match name.as_str() {
        "device" => fragment::read_device(part).is_none_or(|own| *own.key == *device),
        "calibration" => fragment::read_own(part).is_some_and(|own| own.device == device),
        "model" => value("model").is_none(),
        _ => false,
    };
    let parts: Vec<FragmentPart> = fragment_parts.iter().filter(is_named).cloned().collect();
    if parts.is_empty() { Fragment::Empty } else { Fragment::Parts(parts) }
}

/// The part of a note that says what is wrong. Nothing stands in for a value of a pinned scenario.
fn fault(note: &Note) -> &str {
    let end = note.text.find(" The page ").unwrap_or(note.text.len());
    &note.text[..end]
}

/// Adds the pairs of the pinned scenarios. `follows`: the address leaves out the scenario of the inputs.
pub(super) fn write(inputs: &Inputs, follows: bool, pairs: &mut Vec<(&str, String)>) {
    let is_compared = inputs.view == View::Compare && !inputs.pins.list.is_empty();
    // Without the key `d` the scenario would be the first pinned one.
    if is_compared && !follows && !pairs.iter().any(|(key, _)| *key == key::DEVICE) {
        pairs.push((key::DEVICE, inputs.device.key.to_string()));
    }
    pairs.extend(inputs.pins.list.iter().map(|pin| (key::SCENARIO, pin.clone())));
    if inputs.pins.all_rows {
        pairs.push(("rows", "all".to_owned()));
    }
}

impl Reader<'_> {
    /// Reads the pinned scenarios. In the Compare view an address without a device has the first of them as its own scenario.
    pub(super) fn pins(&mut self, inputs: &mut Inputs, pairs: &[(String, String)]) {
        let fragment_parts = fragment::of_pins(self.fragment);
        let has_own = pairs.iter().any(|(key, _)| key == "d");
        let mut count = 0;
        for (key, value) in pairs {
            match (key.as_str(), value.as_str()) {
                ("rows", "all") => inputs.pins.all_rows = true,
                ("rows", value) => self.note("rows", value, "but it can only be all."),
                ("c", value) => {
                    count += 1;
                    if count <= Pins::MOST {
                        read_pin(inputs, value, &fragment_parts, has_own);
                    }
                }
                _ => {}
            }
        }
        if count > Pins::MOST {
            let most = Pins::MOST;
            let text = format!(
                "The address has {count} scenarios to compare; the page shows the first {most}."
            );
            self.notes.insert(0, Note { text });
        }
        if count > 0 {
            inputs.pins.fragment_parts = fragment_parts;
        }
    }
}

/// Reads a pinned scenario; what cannot be read stays as it is. The first one is that of the inputs unless they have their own.
fn read_pin(inputs: &mut Inputs, text: &str, fragment_parts: &[FragmentPart], has_own: bool) {
    let Ok(found) = scenario(text, fragment_parts) else {
        inputs.pins.list.push(text.to_owned());
        return;
    };
    let is_first = inputs.pins.list.is_empty();
    inputs.pins.list.push(pins::text(&found));
    if is_first && !has_own && inputs.view == View::Compare {
        inputs.take_scenario(found);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, write};
    use super::*;
    use report::percent;

    const TWO: &str = "?view=compare&c=model:llama-3.1-8b,d:jetson_orin_nano_8gb_super&c=model:llama-3.1-8b,d:jetson_agx_orin_64gb,pm:MAXN&v=1";

    #[test]
    fn the_link_of_a_comparison_comes_back_and_holds_its_first_scenario() {
        let (inputs, notes) = read(TWO);
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(write(&inputs), TWO);
        assert_eq!(inputs.pins.list.len(), 2);
        let swapped = "?view=compare&c=model:llama-3.1-8b,d:t4&c=model:llama-3.1-8b,d:jetson_orin_nano_8gb_super&rows=all&v=1";
        let (swapped_inputs, _) = read(swapped);
        assert_eq!(
            (&*swapped_inputs.device.key, write(&swapped_inputs)),
            ("t4", swapped.to_owned())
        );
        assert!(swapped_inputs.pins.all_rows);
    }

    #[test]
    fn a_scenario_of_its_own_stays_beside_the_pinned_ones() {
        let (mut inputs, _) = read("?view=plan&d=t4&c=d:h100_sxm&v=1");
        assert_eq!(write(&inputs), "?view=plan&d=t4&c=model:llama-3.1-8b,d:h100_sxm&v=1");
        inputs.view = View::Compare;
        let link = write(&inputs);
        assert_eq!(link, "?view=compare&d=t4&c=model:llama-3.1-8b,d:h100_sxm&v=1");
        assert_eq!(read(&link).0, inputs);
        let mut usual = Inputs { view: View::Compare, ..Inputs::default() };
        usual.pins.list = vec!["model:llama-3.1-8b,d:t4".to_owned()];
        assert_eq!(read(&write(&usual)).0, usual, "the default scenario is written, too");
    }

    #[test]
    fn a_percent_encoded_plan_query_is_a_column() {
        let (inputs, notes) =
            read("?view=compare&c=%3Fview%3Dplan%26d%3Dt4%26prompt%3D2048&c=d%3Dh100_sxm");
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(inputs.pins.list[0], "model:llama-3.1-8b,d:t4,prompt:2048");
        assert_eq!(inputs.pins.list[1], "model:llama-3.1-8b,d:h100_sxm");
    }

    #[test]
    fn what_cannot_be_read_is_said_and_nothing_stands_in() {
        for (text, says) in [
            ("d:gone_gpu", "d=gone_gpu, which is no device of the catalog"),
            ("model:llama-9", "model=llama-9"),
            ("d:t4,pm:7W", "has no power modes"),
            ("garbage", "is no part of a scenario"),
            ("d:t4,zz:1", "a key that the page does not have"),
            ("%F0%9F%92%A9=1&=&&&", "a key that the page does not have"),
        ] {
            let error = scenario(text, &[]).expect_err(text);
            assert!(error.contains(says) && !error.contains("The page uses"), "{error}");
            let link = format!("?view=compare&c={}&c=d:t4&v=1", percent::encoded(text));
            let (inputs, _) = read(&link);
            assert_eq!(inputs.pins.list[0], text);
            assert_eq!(read(&write(&inputs)).0, inputs, "{text}");
        }
        assert!(scenario(&"d:t4,".repeat(1_000), &[]).is_err());
        let nested = format!("?view=compare&c={}", "c%3D".repeat(400));
        assert_eq!(read(&nested).0.view, View::Compare);
    }

    #[test]
    fn more_than_four_are_left_out_with_a_note() {
        let query = format!("?view=compare{}", "&c=d:t4".repeat(900));
        let (inputs, notes) = read(&query);
        assert_eq!((inputs.pins.list.len(), notes.len()), (4, 1));
        assert!(notes[0].text.contains("900 scenarios"), "{notes:?}");
    }
}
