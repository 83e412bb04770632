//! The row filter: pairs of the address, and their allowed values.

use calc_core::calibration::fitted::MEASURED;
use calc_core::calibration::{Basis, InFit, MeasuredRows};
use calc_core::catalog;

use super::FILTER_KEYS;
use super::rows::{PublishedRow, rows};
use crate::state::inputs::{Inputs, View};
use crate::state::model::url::{self, Pair};
use crate::state::url::Note;

/// A part of the filter, in the order of [`FILTER_KEYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterField {
    Set,
    Device,
    Engine,
    Format,
    Tier,
    LeftOut,
}

impl FilterField {
    /// All parts, in the order of the page.
    pub const ALL: [Self; 6] =
        [Self::Set, Self::Device, Self::Engine, Self::Format, Self::Tier, Self::LeftOut];

    /// Key in the address.
    pub const fn key(self) -> &'static str {
        FILTER_KEYS[self as usize]
    }

    /// Label in the form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "What was timed",
            Self::Device => "Device",
            Self::Engine => "Engine",
            Self::Format => "Format",
            Self::Tier => "Source",
            Self::LeftOut => "Left out of the fit",
        }
    }

    /// Name of the choice of none.
    const fn usual(self) -> &'static str {
        match self {
            Self::Set | Self::Device | Self::Engine | Self::Format | Self::Tier => "all",
            Self::LeftOut => "a board with a model and an engine",
        }
    }

    /// Values with their names; the first is the choice of none.
    pub fn choices(self) -> Vec<(&'static str, String)> {
        let mut choices = vec![("", self.usual().to_owned())];
        choices.extend(match self {
            Self::Set => rows().sets.iter().map(|set| (set.key, set.name.to_owned())).collect(),
            Self::Device => values(|row| row.device, device_name),
            Self::Engine => values(|row| row.engine, str::to_owned),
            Self::Format => values(|row| row.format, format_name),
            Self::Tier => named(&[
                ("A", "A: clean, official"),
                ("B", "B: official, less clean"),
                ("C", "C: community"),
            ]),
            Self::LeftOut => named(&[("device", "the whole device")]),
        });
        choices
    }
}

fn named(list: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    list.iter().map(|(key, name)| (*key, (*name).to_owned())).collect()
}

/// The distinct values of the rows, sorted by name.
fn values(
    of: fn(&PublishedRow) -> &'static str,
    name: fn(&str) -> String,
) -> Vec<(&'static str, String)> {
    let mut values: Vec<(&str, String)> = Vec::new();
    for key in rows().rows.iter().map(of) {
        if values.iter().all(|(known, _)| *known != key) {
            values.push((key, name(key)));
        }
    }
    values.sort_by(|(_, a), (_, b)| a.cmp(b));
    values
}

/// Name of a device; its key if the catalog does not have it.
pub fn device_name(key: &str) -> String {
    catalog::device(key).map_or_else(|_| key.to_owned(), |device| device.name.to_string())
}

/// Short name of a format; its key if the catalog does not have it.
pub fn format_name(key: &str) -> String {
    catalog::format(key).map_or(key, |format| format.short_name).to_owned()
}

/// Start of a value that filters only where rows are left: the format of a prediction that others stand for.
const IF_ANY: char = '~';

/// The chosen value of a part; empty for none.
pub fn chosen(pairs: &[Pair], part: FilterField) -> &str {
    let typed = given(pairs, part);
    let Some(value) = typed.strip_prefix(IF_ANY) else { return typed };
    let is_left = |row: &&PublishedRow| {
        let wanted = |other: FilterField| match given(pairs, other) {
            value if value.starts_with(IF_ANY) => "",
            value => value,
        };
        FilterField::ALL.into_iter().zip(cells(row)).all(|(other, own)| {
            let wanted = if other == part { value } else { wanted(other) };
            wanted.is_empty() || wanted == own
        })
    };
    if rows().rows.iter().any(|row| is_left(&row)) { value } else { "" }
}

/// The value of a part as in the address.
fn given(pairs: &[Pair], part: FilterField) -> &str {
    pairs.iter().find(|(key, _)| *key == part.key()).map_or("", |(_, value)| value)
}

/// The values of a row, in the order of [`FilterField::ALL`] without the last part.
fn cells(row: &PublishedRow) -> [&'static str; 5] {
    let set = rows().sets.get(row.set).map_or("", |set| set.key);
    [set, row.device, row.engine, row.format, row.tier]
}

/// The Trust view with the rows behind an expected time: those of the device with the engine, in the format where there are
/// some; of a device without any with this engine, all of its rows; else those of the engine.
pub fn behind(inputs: &Inputs, basis: &Basis, format: &str) -> Inputs {
    let is_own =
        |rows: &&MeasuredRows| basis.in_fit == InFit::Device && Some(rows.device) == basis.device;
    let is_engine = |rows: &MeasuredRows| rows.engine == Some(basis.engine);
    let device = MEASURED.iter().find(is_own).map_or("", |rows| rows.device);
    let pair = MEASURED.iter().filter(is_own).any(is_engine);
    let engine = if pair || device.is_empty() && MEASURED.iter().any(is_engine) {
        basis.engine.key()
    } else {
        ""
    };
    let mut behind = Inputs { view: View::Trust, ..inputs.clone() };
    for part in FilterField::ALL {
        choose(&mut behind, part, "");
    }
    choose(&mut behind, FilterField::Device, device);
    choose(&mut behind, FilterField::Engine, engine);
    choose(&mut behind, FilterField::Format, &format!("{IF_ANY}{format}"));
    behind
}

/// Sets the value of a part; an empty value clears it.
pub fn choose(inputs: &mut Inputs, part: FilterField, value: &str) {
    url::put(&mut inputs.model, part.key(), value);
}

/// The pairs of the filter, without the Model view's.
pub fn pairs(inputs: &Inputs) -> Vec<Pair> {
    url::pairs(&inputs.model).into_iter().filter(|(key, _)| FILTER_KEYS.contains(key)).collect()
}

/// Notes on filter values of the address that match no row.
pub fn notes(pairs: &[Pair]) -> Vec<Note> {
    let mut notes = Vec::new();
    for part in FilterField::ALL {
        let value = chosen(pairs, part);
        let choices = part.choices();
        if !choices.iter().any(|(known, _)| *known == value) {
            let some: Vec<&str> = choices.iter().skip(1).take(3).map(|(key, _)| *key).collect();
            let rest = format!(
                "which no row has; there are {} and others. The page shows all.",
                some.join(", ")
            );
            notes.push(Note::on(part.key(), value, &rest));
        }
    }
    notes
}

/// A parsed filter; values that match no row are ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    values: [&'static str; 5],
    /// Show predictions by fits that left out the whole device.
    pub unseen: bool,
}

impl Filter {
    /// Keys of format and tier, which are kept when a group of device, engine and set is chosen.
    pub const fn format_and_tier(&self) -> (&'static str, &'static str) {
        (self.values[3], self.values[4])
    }

    /// Parses pairs of the address.
    pub fn of(pairs: &[Pair]) -> Self {
        let known = |part: FilterField| {
            let value = chosen(pairs, part);
            let choices = part.choices();
            choices.iter().find(|(key, _)| *key == value).map_or("", |(key, _)| *key)
        };
        let [a, b, c, d, e, left_out] = FilterField::ALL;
        Self { values: [a, b, c, d, e].map(known), unseen: !known(left_out).is_empty() }
    }

    /// Whether a row passes the filter.
    pub fn holds(&self, row: &PublishedRow) -> bool {
        self.values.iter().zip(cells(row)).all(|(wanted, own)| wanted.is_empty() || *wanted == own)
    }

    /// Key of the chosen set; empty for all.
    pub const fn set(&self) -> &'static str {
        self.values[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::url;

    #[test]
    fn every_choice_comes_back_from_the_address_and_leaves_rows() {
        for part in FilterField::ALL {
            for (value, _) in part.choices().iter().skip(1) {
                let mut inputs = Inputs::default();
                choose(&mut inputs, part, value);
                let query = url::write(&inputs);
                assert_eq!(url::read(&query), (inputs.clone(), Vec::new()), "{query}");
                assert!(notes(&pairs(&inputs)).is_empty(), "{query}");
                let filter = Filter::of(&pairs(&inputs));
                let left = rows().rows.iter().filter(|row| filter.holds(row)).count();
                assert!(
                    left > 0 && (left < rows().rows.len() || part == FilterField::LeftOut),
                    "{query}: {left}"
                );
                choose(&mut inputs, part, "");
                assert_eq!(inputs, Inputs::default());
            }
        }
    }

    #[test]
    fn behind_an_expected_time_there_are_rows_of_its_device_engine_and_format() {
        for (device, weights, expected) in [
            ("h100_sxm", "fp8_e4m3", ["h100_sxm", "vllm", "fp8_e4m3"]),
            ("rtx_4090", "gguf_q4_k", ["rtx_4090", "llama.cpp", "gguf_q4_k"]),
            ("rtx_4090", "mxfp4", ["rtx_4090", "llama.cpp", ""]),
            ("jetson_orin_nano_8gb_super", "gguf_q4_k", ["jetson_orin_nano_8gb_super", "", ""]),
            ("mi300x", "bf16", ["", "vllm", "bf16"]),
        ] {
            let device = catalog::device(device).expect("catalog key");
            let mut inputs = Inputs::default();
            inputs.set_device(std::borrow::Cow::Borrowed(device));
            inputs.model.engine = calc_core::calibration::Engine::of(expected[1]);
            let answer = crate::state::model::answer::derive(&inputs.model, inputs.place());
            let basis = answer.expect("valid").estimate.basis;
            let behind = behind(&inputs, &basis, weights);
            let found = pairs(&behind);
            let said = [FilterField::Device, FilterField::Engine, FilterField::Format]
                .map(|part| chosen(&found, part));
            assert_eq!((behind.view, said), (View::Trust, expected), "{}", device.key);
            let filter = Filter::of(&found);
            assert!(rows().rows.iter().any(|row| filter.holds(row)), "{}", device.key);
            assert!(notes(&found).is_empty());
        }
    }

    #[test]
    fn two_choices_hold_together() {
        let mut inputs = Inputs::default();
        choose(&mut inputs, FilterField::Device, "gb10");
        choose(&mut inputs, FilterField::Set, "prefill");
        let filter = Filter::of(&pairs(&inputs));
        let shown: Vec<&PublishedRow> =
            rows().rows.iter().filter(|row| filter.holds(row)).collect();
        assert!(!shown.is_empty());
        assert!(
            shown.iter().all(|row| row.device == "gb10" && rows().sets[row.set].key == "prefill")
        );
    }

    #[test]
    fn what_no_row_has_is_named_and_chooses_nothing() {
        let (inputs, wrong) = url::read("?view=trust&fd=toaster&fs=gemm&v=1");
        assert!(wrong.is_empty());
        let found = notes(&pairs(&inputs));
        assert_eq!(found.len(), 1);
        assert!(found[0].text.contains("fd=toaster"), "{}", found[0].text);
        assert_eq!(Filter::of(&pairs(&inputs)).set(), "gemm");
        assert_eq!(
            rows().rows.iter().filter(|row| Filter::of(&pairs(&inputs)).holds(row)).count(),
            998
        );
    }
}
