//! The row filter: pairs of the address, and their allowed values.

use calc_core::catalog;

use super::rows::{Row, rows};
use crate::state::inputs::Inputs;
use crate::state::model::url::{self, Pair};
use crate::state::url::Note;

/// Keys in the address: set, device, engine, format, tier, left-out group.
pub const KEYS: [&str; 6] = ["fs", "fd", "fe", "ff", "ft", "fl"];

/// A part of the filter, in the order of [`KEYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Set,
    Device,
    Engine,
    Format,
    Tier,
    LeftOut,
}

impl Part {
    /// All parts, in the order of the page.
    pub const ALL: [Self; 6] =
        [Self::Set, Self::Device, Self::Engine, Self::Format, Self::Tier, Self::LeftOut];

    /// Key in the address.
    pub const fn key(self) -> &'static str {
        KEYS[self as usize]
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
fn values(of: fn(&Row) -> &'static str, name: fn(&str) -> String) -> Vec<(&'static str, String)> {
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

/// The chosen value of a part as in the address; empty for none.
pub fn chosen(pairs: &[Pair], part: Part) -> &str {
    pairs.iter().find(|(key, _)| *key == part.key()).map_or("", |(_, value)| value)
}

/// Sets the value of a part; an empty value clears it.
pub fn choose(inputs: &mut Inputs, part: Part, value: &str) {
    url::put(&mut inputs.model, part.key(), value);
}

/// The pairs of the filter, without the Model view's.
pub fn pairs(inputs: &Inputs) -> Vec<Pair> {
    url::pairs(&inputs.model).into_iter().filter(|(key, _)| KEYS.contains(key)).collect()
}

/// Notes on filter values of the address that match no row.
pub fn notes(pairs: &[Pair]) -> Vec<Note> {
    let mut notes = Vec::new();
    for part in Part::ALL {
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
        let known = |part: Part| {
            let value = chosen(pairs, part);
            let choices = part.choices();
            choices.iter().find(|(key, _)| *key == value).map_or("", |(key, _)| *key)
        };
        let [a, b, c, d, e, left_out] = Part::ALL;
        Self { values: [a, b, c, d, e].map(known), unseen: !known(left_out).is_empty() }
    }

    /// Whether a row passes the filter.
    pub fn holds(&self, row: &Row) -> bool {
        let set = rows().sets.get(row.set).map_or("", |set| set.key);
        let own = [set, row.device, row.engine, row.format, row.tier];
        self.values.iter().zip(own).all(|(wanted, own)| wanted.is_empty() || *wanted == own)
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
        for part in Part::ALL {
            for (value, _) in part.choices().iter().skip(1) {
                let mut inputs = Inputs::default();
                choose(&mut inputs, part, value);
                let query = url::write(&inputs);
                assert_eq!(url::read(&query), (inputs.clone(), Vec::new()), "{query}");
                assert!(notes(&pairs(&inputs)).is_empty(), "{query}");
                let filter = Filter::of(&pairs(&inputs));
                let left = rows().rows.iter().filter(|row| filter.holds(row)).count();
                assert!(
                    left > 0 && (left < rows().rows.len() || part == Part::LeftOut),
                    "{query}: {left}"
                );
                choose(&mut inputs, part, "");
                assert_eq!(inputs, Inputs::default());
            }
        }
    }

    #[test]
    fn two_choices_hold_together() {
        let mut inputs = Inputs::default();
        choose(&mut inputs, Part::Device, "gb10");
        choose(&mut inputs, Part::Set, "prefill");
        let filter = Filter::of(&pairs(&inputs));
        let shown: Vec<&Row> = rows().rows.iter().filter(|row| filter.holds(row)).collect();
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
