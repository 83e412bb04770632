//! Which rows are shown: pairs of the address, and what each may be.

use calc_core::catalog;

use super::rows::{Row, rows};
use crate::state::inputs::Inputs;
use crate::state::model::asked::Pair;
use crate::state::url::Note;

/// Keys in the address: set, device, engine, format, tier, what was left out.
pub const KEYS: [&str; 6] = ["fs", "fd", "fe", "ff", "ft", "fl"];

/// A choice of the filter, in the order of its keys.
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
    /// In the order of the page.
    pub const ALL: [Self; 6] =
        [Self::Set, Self::Device, Self::Engine, Self::Format, Self::Tier, Self::LeftOut];

    /// Its key in the address.
    pub const fn key(self) -> &'static str {
        KEYS[self as usize]
    }

    /// Its name.
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

    /// What it is when nothing is chosen.
    const fn usual(self) -> &'static str {
        match self {
            Self::Set | Self::Device | Self::Engine | Self::Format | Self::Tier => "all",
            Self::LeftOut => "a board with a model and an engine",
        }
    }

    /// Values with their names; the first is for none.
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

/// What rows have, each once, by name.
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

/// The name of a device; its key where the catalog has none.
pub fn device_name(key: &str) -> String {
    catalog::device(key).map_or_else(|_| key.to_owned(), |device| device.name.to_string())
}

/// The name of a format; its key where the catalog has none.
pub fn format_name(key: &str) -> String {
    catalog::format(key).map_or(key, |format| format.short_name).to_owned()
}

/// What is chosen, as the address has it: empty for none.
pub fn chosen(pairs: &[Pair], part: Part) -> &str {
    pairs.iter().find(|(key, _)| *key == part.key()).map_or("", |(_, value)| value)
}

/// Chooses; an empty value is none.
pub fn choose(inputs: &mut Inputs, part: Part, value: &str) {
    inputs.model.put(part.key(), value);
}

/// What is chosen: the pairs of the filter alone.
pub fn pairs(inputs: &Inputs) -> Vec<Pair> {
    inputs.model.pairs().into_iter().filter(|(key, _)| KEYS.contains(key)).collect()
}

/// What the address chose that no row has.
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

/// A filter that was understood: keys that no row has choose nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    values: [&'static str; 5],
    /// A whole device was left out of the fit that predicts.
    pub unseen: bool,
}

impl Filter {
    /// Format and tier, which stay when a group of device, engine and set is chosen.
    pub const fn format_and_tier(&self) -> (&'static str, &'static str) {
        (self.values[3], self.values[4])
    }

    /// Understands pairs of the address.
    pub fn of(pairs: &[Pair]) -> Self {
        let known = |part: Part| {
            let value = chosen(pairs, part);
            let choices = part.choices();
            choices.iter().find(|(key, _)| *key == value).map_or("", |(key, _)| *key)
        };
        let [a, b, c, d, e, left_out] = Part::ALL;
        Self { values: [a, b, c, d, e].map(known), unseen: !known(left_out).is_empty() }
    }

    /// Whether a row is shown.
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
