//! Search of a list: by the words of an option, and by the names that the catalogs know.

mod host;

use core::cmp::Reverse;

use calc_core::catalog;
use calc_core::catalog::model_names::other_release;
use calc_core::device::Device;
use calc_core::error::Error;
use report::input::named_model::geometry_of;
use report::input::request::beside::card_and_host;

use super::named_format::with_format;
use super::{OptionGroup, PickerOption};
use crate::state::several_cards::several_cards;
use host::beside_host;

pub(super) use host::NO_HOST;
pub use host::split_host;

/// The catalog whose published names a search understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickerCatalog {
    Devices,
    /// Devices, several of which can be typed: `2 x RTX 3090`.
    Machines,
    /// Models; one of the user's own can be pasted or opened.
    Models,
    /// Models that can draft.
    Drafters,
    Formats,
    /// Schemes have no names beside those in the list.
    Schemes,
}

/// Name of the option that opens the box for a `config.json`.
pub(super) const PASTE_NAME: &str = "Paste its config.json";

/// Key of the choice to paste a model.
pub const PASTE: &str = "#paste";
/// Key of the choice to open a model's file.
pub const OPEN: &str = "#file";
/// Title above the nearest names, and the message where none is near.
pub const NOTHING: &str = "Nothing has that name.";

impl PickerCatalog {
    /// Key of the entry that a published or written name means, else the keys near it.
    fn resolve(self, typed: &str) -> Result<String, Vec<String>> {
        let unknown = |error: Error| match error {
            Error::UnknownKey { nearest, .. } => nearest,
            _ => Vec::new(),
        };
        match self {
            Self::Devices | Self::Machines => {
                catalog::device(typed).map(|found| found.key.to_string())
            }
            Self::Models | Self::Drafters => {
                catalog::model(typed).map(|found| found.key.to_owned())
            }
            Self::Formats => catalog::format(typed).map(|found| found.key.to_owned()),
            Self::Schemes => return Err(Vec::new()),
        }
        .map_err(unknown)
    }
}

/// Separator of a number of devices and a key.
const TIMES: char = '*';
/// The number of devices in the key of an option, and the key of one device.
pub fn split_count(key: &str) -> (Option<u64>, &str) {
    let parts = key.split_once(TIMES);
    parts.map_or((None, key), |(count, key)| (count.parse().ok(), key))
}

/// The options that a typed name means or whose texts contain its words; without any, those with the nearest names. A model
/// that is found by the name of another release of its geometry says so.
pub fn found(groups: &[OptionGroup], typed: &str, names: PickerCatalog) -> Vec<OptionGroup> {
    let mut found = matching(groups, typed, names);
    if matches!(names, PickerCatalog::Models | PickerCatalog::Drafters) {
        for choice in found.iter_mut().flat_map(|group| &mut group.choices) {
            if let Ok(model) = catalog::model(&choice.key)
                && let Some(other) = other_release(typed, model)
            {
                choice.name = geometry_of(other, model);
            }
        }
    }
    if names == PickerCatalog::Models {
        with_format(&mut found, typed);
    }
    found
}

fn matching(groups: &[OptionGroup], typed: &str, names: PickerCatalog) -> Vec<OptionGroup> {
    let is_device = matches!(names, PickerCatalog::Machines | PickerCatalog::Devices);
    if let Some(title) = is_device.then(|| several_cards(typed)).flatten() {
        return vec![OptionGroup { title, choices: Vec::new() }];
    }
    if let Some((count, name)) =
        catalog::counted(typed).filter(|_| names == PickerCatalog::Machines)
    {
        let mut found = found(groups, name, PickerCatalog::Devices);
        for choice in found.iter_mut().flat_map(|group| &mut group.choices) {
            choice.key = format!("{count}{TIMES}{}", choice.key);
            choice.name = format!("{count} × {}", choice.name);
        }
        return found;
    }
    if let Some((card, host)) = card_and_host(typed).filter(|_| names == PickerCatalog::Machines) {
        return beside_host(found(groups, card, names), host);
    }
    let mut found = filtered(groups, typed);
    if typed.trim().is_empty() {
        return found;
    }
    let is_named = |choice: &&PickerOption| choice.name.eq_ignore_ascii_case(typed.trim());
    let named = groups.iter().flat_map(|group| &group.choices).find(is_named);
    let resolved = names.resolve(typed.trim());
    let key = match resolved.or_else(|nearest| named.map(|it| it.key.clone()).ok_or(nearest)) {
        Ok(key) => key,
        Err(nearest) if found.is_empty() => return near(groups, &nearest, names),
        Err(_) => return found,
    };
    let Some((title, meant)) = groups.iter().find_map(|group| {
        let meant = group.choices.iter().find(|choice| choice.key == key)?;
        Some((&group.title, meant))
    }) else {
        return found;
    };
    // The meant option comes first, before the others of its group, and only behind newer modes of the same board.
    let newer = newer_modes(typed.trim(), &key, names);
    let choices = newer.iter().filter_map(|newer| choice_of(groups, newer)).chain([meant]);
    let mut first = OptionGroup { title: title.clone(), choices: choices.cloned().collect() };
    for group in &mut found {
        group.choices.retain(|choice| choice.key != key && !newer.contains(&choice.key));
        if group.title == first.title {
            first.choices.append(&mut group.choices);
        }
    }
    found.retain(|group| !group.choices.is_empty());
    found.insert(0, first);
    found
}

/// The option with a key.
fn choice_of<'a>(groups: &'a [OptionGroup], key: &str) -> Option<&'a PickerOption> {
    groups.iter().flat_map(|group| &group.choices).find(|choice| choice.key == key)
}

/// Keys of the same board with newer modes, where a name leaves them open: Super for `orin nano`.
fn newer_modes(typed: &str, key: &str, names: PickerCatalog) -> Vec<String> {
    let is_device = matches!(names, PickerCatalog::Devices | PickerCatalog::Machines);
    let Some(meant) = catalog::device(key).ok().filter(|_| is_device) else { return Vec::new() };
    if typed.eq_ignore_ascii_case(&meant.name) {
        return Vec::new();
    }
    let parts = |device: &Device| (device.memory.value, device.sm_count.map(|count| count.value));
    catalog::devices_left_open(typed, meant)
        .into_iter()
        .filter(|other| parts(other) == parts(meant) && other.release_year > meant.release_year)
        .map(|other| other.key.to_string())
        .collect()
}

/// The options with these keys, and the ways to bring a model that no list has.
fn near(groups: &[OptionGroup], keys: &[String], names: PickerCatalog) -> Vec<OptionGroup> {
    let choices: Vec<PickerOption> =
        keys.iter().filter_map(|key| choice_of(groups, key)).cloned().collect();
    let nearest = OptionGroup { title: format!("{NOTHING} The nearest:"), choices };
    let own = |key: &str, name: &str| PickerOption::plain(key, name.to_owned(), String::new(), "");
    let own = (names == PickerCatalog::Models).then(|| OptionGroup {
        title: if nearest.choices.is_empty() { NOTHING } else { "A model of your own" }.to_owned(),
        choices: vec![own(PASTE, PASTE_NAME), own(OPEN, "Open its config.json")],
    });
    core::iter::once(nearest).filter(|near| !near.choices.is_empty()).chain(own).collect()
}

/// Filters to the options that contain every word of the query and drops empty groups. Options with the query as a whole word
/// come first (`t4` finds the T4 before the T4000), then those whose names have its words; of equal ones the newest.
pub(super) fn filtered(groups: &[OptionGroup], query: &str) -> Vec<OptionGroup> {
    let query = query.to_ascii_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    if words.is_empty() {
        return groups.iter().filter(|group| !group.choices.is_empty()).cloned().collect();
    }
    let is_of_kind = |choice: &PickerOption, word: &str| {
        let mut kinds = choice.kind.split(|letter: char| !letter.is_alphanumeric());
        kinds.any(|kind| kind.starts_with(word))
    };
    let matches = |choice: &&PickerOption| {
        words.iter().all(|word| choice.haystack.contains(word) || is_of_kind(choice, word))
    };
    let rank = |choice: &PickerOption| {
        let is_exact = choice.haystack.split_whitespace().any(|word| word == query);
        (is_exact, words.iter().all(|word| choice.haystack.contains(word)))
    };
    let remaining = |group: &OptionGroup| {
        let mut choices: Vec<PickerOption> =
            group.choices.iter().filter(matches).cloned().collect();
        choices.sort_by_key(|choice| Reverse((rank(choice), choice.released)));
        OptionGroup { title: group.title.clone(), choices }
    };
    let found = groups.iter().map(remaining).filter(|group| !group.choices.is_empty());
    let mut found: Vec<OptionGroup> = found.collect();
    let first =
        |group: &OptionGroup| group.choices.first().map(|best| (rank(best), best.released.0));
    found.sort_by_key(|group| Reverse(first(group)));
    found
}

#[cfg(test)]
mod tests {
    use calc_core::catalog::models;

    use super::*;
    use crate::state::model::inputs::ModelSource;
    use crate::state::picker::{
        choice_at, device_groups, drafter_groups, model_groups, split_format, weight_groups,
    };

    #[test]
    fn what_people_type_is_the_first_choice() {
        let models = model_groups(&ModelSource::Catalog(models::all().next().expect("a model")));
        for (groups, names, typed, key) in [
            (&models, PickerCatalog::Models, "llama3.1:8b", "llama-3.1-8b"),
            (&models, PickerCatalog::Models, "llama3.1", "llama-3.1-8b"),
            (&models, PickerCatalog::Models, "Llama 3.1 8B Instruct", "llama-3.1-8b"),
            (&models, PickerCatalog::Models, "llama-3.1-8b-instruct", "llama-3.1-8b"),
            (
                &models,
                PickerCatalog::Models,
                "meta-llama/Meta-Llama-3.1-8B-Instruct",
                "llama-3.1-8b",
            ),
            (
                &models,
                PickerCatalog::Models,
                "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF",
                "llama-3.1-8b",
            ),
            (&models, PickerCatalog::Models, "Qwen3-30B-A3B", "qwen3-30b-a3b"),
            (&models, PickerCatalog::Models, "qwen3:30b-a3b", "qwen3-30b-a3b"),
            (&models, PickerCatalog::Models, "Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b"),
            (&models, PickerCatalog::Models, "deepseek v3", "deepseek-v3"),
            (
                &device_groups(),
                PickerCatalog::Devices,
                "Orin Nano Super",
                "jetson_orin_nano_8gb_super",
            ),
            (&device_groups(), PickerCatalog::Devices, "4090", "rtx_4090"),
            (&device_groups(), PickerCatalog::Devices, "RTX 4090", "rtx_4090"),
            (&device_groups(), PickerCatalog::Devices, "rtx4090", "rtx_4090"),
            (&device_groups(), PickerCatalog::Devices, "dgx spark", "gb10"),
            (&device_groups(), PickerCatalog::Devices, "NVIDIA H100 80GB HBM3", "h100_sxm"),
            (&device_groups(), PickerCatalog::Devices, "M4 Max", "apple_m4_max"),
            (&device_groups(), PickerCatalog::Devices, "Tesla T4", "t4"),
            (&device_groups(), PickerCatalog::Devices, "h100", "h100_sxm"),
            (&device_groups(), PickerCatalog::Devices, "orin nano", "jetson_orin_nano_8gb_super"),
            (&device_groups(), PickerCatalog::Devices, "rtx 3090 ti", "rtx_3090_ti"),
            (&models, PickerCatalog::Models, "70b", "llama-3.1-70b"),
            (&weight_groups(), PickerCatalog::Formats, "Q4_K_M", "gguf_q4_k"),
        ] {
            let first = choice_at(&found(groups, typed, names), 0);
            let first = first.map(|choice| split_format(&choice.key).0.to_owned());
            assert_eq!(first.as_deref(), Some(key), "{typed}");
        }
    }

    #[test]
    fn chips_are_searched_from_the_start_of_their_words() {
        let keys = |typed: &str| -> Vec<String> {
            let found = found(&device_groups(), typed, PickerCatalog::Devices);
            found.into_iter().flat_map(|group| group.choices).map(|choice| choice.key).collect()
        };
        assert_eq!(
            keys("h100"),
            ["h100_sxm", "h100_sxm_64gb", "h100_sxm_96gb", "h100_nvl", "h100_pcie"]
        );
        assert!(!keys("100").contains(&"a30".to_owned()), "its chip is a GA100");
        for typed in ["gh100", "hopper", "nvidia hopper"] {
            assert!(keys(typed).contains(&"h200_sxm".to_owned()), "{typed}");
        }
        let blackwell = keys("blackwell");
        assert!(blackwell.contains(&"b200".to_owned()), "{blackwell:?}");
    }

    #[test]
    fn a_name_of_another_release_says_whose_geometry_it_is() {
        let models = model_groups(&ModelSource::Catalog(models::all().next().expect("a model")));
        for (typed, name) in [
            ("llama 3.3", "Llama-3.3-70B-Instruct (geometry of Llama-3.1 70B)"),
            ("llama 3.1 70b", "Llama-3.1 70B"),
            ("llama3.1:8b", "Llama-3.1 8B"),
        ] {
            let first = choice_at(&found(&models, typed, PickerCatalog::Models), 0);
            assert_eq!(first.map(|choice| choice.name).as_deref(), Some(name), "{typed}");
        }
    }

    #[test]
    fn a_number_in_front_of_a_device_counts_devices() {
        for (typed, expected) in [
            ("2 x rtx 3090", (Some(2), "rtx_3090")),
            ("2x RTX 3090", (Some(2), "rtx_3090")),
            ("2xRTX 3090", (Some(2), "rtx_3090")),
            ("2 × rtx 3090", (Some(2), "rtx_3090")),
            ("4 H100", (Some(4), "h100_sxm")),
            ("8 * h100 sxm", (Some(8), "h100_sxm")),
            ("3090", (None, "rtx_3090")),
            ("4090", (None, "rtx_4090")),
            ("8 GB Orin Nano Super", (None, "jetson_orin_nano_8gb_super")),
            ("2 xavier nx", (Some(2), "jetson_xavier_nx_8gb")),
            ("2 dgx sparks", (Some(2), "gb10")),
        ] {
            let first = choice_at(&found(&device_groups(), typed, PickerCatalog::Machines), 0);
            let key = first.map_or_else(String::new, |choice| choice.key);
            assert_eq!(split_count(&key), expected, "{typed}");
        }
        let found = found(&device_groups(), "2 x rtx 3090", PickerCatalog::Devices);
        assert!(found.iter().flat_map(|group| &group.choices).all(|it| !it.key.contains(TIMES)));
    }

    #[test]
    fn an_unknown_name_offers_the_nearest_and_ways_to_bring_a_model() {
        let keys = |groups: &[OptionGroup]| -> Vec<String> {
            groups.iter().flat_map(|group| &group.choices).map(|each| each.key.clone()).collect()
        };
        let models = model_groups(&ModelSource::Catalog(models::all().next().expect("a model")));
        let near = found(&models, "lama 3.1 8x", PickerCatalog::Models);
        assert!(near[0].title.starts_with(NOTHING), "{near:?}");
        assert_eq!(keys(&near)[0], "llama-3.1-8b", "{near:?}");
        assert!(keys(&near).ends_with(&[PASTE.to_owned(), OPEN.to_owned()]));
        assert_eq!(keys(&found(&models, "§§§§", PickerCatalog::Models)), [PASTE, OPEN]);
        let near = found(&device_groups(), "h10o sxm", PickerCatalog::Devices);
        assert_eq!(keys(&near)[0], "h100_sxm", "{near:?}");
        assert!(found(&device_groups(), "§§§§", PickerCatalog::Devices).is_empty());
        assert!(
            !keys(&found(&drafter_groups(), "lama 3.1 8x", PickerCatalog::Drafters))
                .contains(&PASTE.to_owned())
        );
    }

    #[test]
    fn every_name_of_the_list_is_found_first_under_itself() {
        let models = model_groups(&ModelSource::Catalog(models::all().next().expect("a model")));
        for (groups, names) in
            [(device_groups(), PickerCatalog::Devices), (models, PickerCatalog::Models)]
        {
            for choice in groups.iter().flat_map(|group| &group.choices) {
                for typed in [&choice.key, &choice.name] {
                    let first = choice_at(&found(&groups, typed, names), 0);
                    assert_eq!(first.as_ref(), Some(choice), "{typed}");
                }
            }
        }
    }

    #[test]
    fn a_whole_word_comes_before_a_part_of_one() {
        for (query, expected) in [("t4", "t4"), ("l4", "l4")] {
            let found = filtered(&device_groups(), query);
            assert_eq!(choice_at(&found, 0).expect("a device").key, expected, "{query}");
        }
    }
}
