//! Searchable lists: groups of options.

mod entered;
mod named_format;
mod search;

use calc_core::catalog::models::CatalogModel;
use calc_core::catalog::{devices, formats, models, schemes};
use calc_core::device::Device;
use calc_core::quant_format::{Encoding, QuantFormat};
use report::number_text;
use report::output::words::advice::scheme_name;

use super::model::answer::parameters;
use super::model::inputs::ModelSource;
use super::model::roles::Role;

pub use entered::{Entered, entered};
pub use named_format::{split_format, take_format};
pub use search::{NOTHING, OPEN, PASTE, PickerCatalog, found, split_count, split_host};

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickerOption {
    /// Internal key; empty for "by the rule".
    pub key: String,
    pub name: String,
    /// Short remark, shown at the right.
    pub detail: String,
    /// Names that the search matches in any part, in lower case.
    pub haystack: String,
    /// Vendor, chip or family, whose words the search matches from their start, in lower case.
    pub kind: String,
    /// Year of release and version, by which equal matches are ordered; zeros without.
    pub released: (u16, u16),
}

impl PickerOption {
    /// An option that has no kind and no date.
    pub fn plain(key: &str, name: String, detail: String, haystack: &str) -> Self {
        let (key, haystack) = (key.to_owned(), haystack.to_ascii_lowercase());
        Self { key, name, detail, haystack, kind: String::new(), released: (0, 0) }
    }
}

/// Options under a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionGroup {
    pub title: String,
    pub choices: Vec<PickerOption>,
}

/// Index of an option in the whole list.
pub fn position(groups: &[OptionGroup], key: &str) -> Option<usize> {
    groups.iter().flat_map(|group| &group.choices).position(|choice| choice.key == key)
}

/// The option at an index of the whole list.
pub fn choice_at(groups: &[OptionGroup], place: usize) -> Option<PickerOption> {
    groups.iter().flat_map(|group| &group.choices).nth(place).cloned()
}

/// Number of options.
pub fn count(groups: &[OptionGroup]) -> usize {
    groups.iter().map(|group| group.choices.len()).sum()
}

/// Name of an option; empty if there is none.
pub fn name_of(groups: &[OptionGroup], key: &str) -> String {
    let mut choices = groups.iter().flat_map(|group| &group.choices);
    choices.find(|choice| choice.key == key).map_or_else(String::new, |choice| choice.name.clone())
}

/// Each title with its options, and each option with its index in the whole list.
pub fn numbered(groups: Vec<OptionGroup>) -> Vec<(String, Vec<(usize, PickerOption)>)> {
    let mut place = 0..;
    let mut number = |choice| (place.next().unwrap_or_default(), choice);
    groups
        .into_iter()
        .map(|group| (group.title, group.choices.into_iter().map(&mut number).collect()))
        .collect()
}

/// All schemes, and the choice of the recommended one.
pub fn scheme_groups() -> Vec<OptionGroup> {
    let choice = |key: &str, name: String| {
        let haystack = format!("{name} {key}");
        PickerOption::plain(key, name, String::new(), &haystack)
    };
    let all = schemes::SCHEMES.iter().map(|scheme| choice(scheme.key, scheme_name(scheme)));
    vec![
        OptionGroup {
            title: "Recommended".to_owned(),
            choices: vec![choice("", "the best scheme".to_owned())],
        },
        OptionGroup { title: "One of your choice".to_owned(), choices: all.collect() },
    ]
}

/// All devices of the catalog.
pub fn device_groups() -> Vec<OptionGroup> {
    devices::groups()
        .map(|(title, devices)| OptionGroup {
            title: title.to_owned(),
            choices: devices.iter().map(device_choice).collect(),
        })
        .collect()
}

/// A device as an option.
pub fn device_choice(device: &Device) -> PickerOption {
    let detail = number_text::published_bandwidth(device.bandwidth.value);
    let haystack = format!("{} {} {}", device.name, device.key, device.aliases.join(" "));
    PickerOption {
        kind: format!("{} {}", device.vendor, device.architecture).to_ascii_lowercase(),
        released: (device.release_year.unwrap_or(0), 0),
        ..PickerOption::plain(&device.key, device.name.to_string(), detail, &haystack)
    }
}

/// All formats as weights, grouped by bits per weight.
pub fn weight_groups() -> Vec<OptionGroup> {
    let all = || formats::FORMATS.iter().copied();
    let is_gguf = |format: &&QuantFormat| format.key.starts_with("gguf");
    let group = |title: &str, formats: Vec<&'static QuantFormat>| OptionGroup {
        title: title.to_owned(),
        choices: formats.into_iter().map(format_choice).collect(),
    };
    let between = |low: f64, high: f64| {
        all()
            .filter(|format| !is_gguf(format))
            .filter(|format| (low..high).contains(&format.bits_per_element()))
            .collect()
    };
    vec![
        group("4 bits and fewer", between(0.0, 6.0)),
        group("6 and 8 bits", between(6.0, 16.0)),
        group("16 bits and more", between(16.0, f64::INFINITY)),
        group("GGUF", all().filter(is_gguf).collect()),
    ]
}

/// The formats that can be computed in, and the default rule; `rule` names its present choice.
pub fn activation_groups(rule: &str) -> Vec<OptionGroup> {
    let computes = |encoding: Encoding| {
        formats::FORMATS
            .iter()
            .copied()
            .filter(move |format| format.class.is_some() && format.encoding == encoding)
            .map(format_choice)
            .collect::<Vec<_>>()
    };
    let group = |title: &str, choices| OptionGroup { title: title.to_owned(), choices };
    vec![
        by_rule(rule),
        group("Floats", computes(Encoding::Float)),
        group("Integers", computes(Encoding::Int)),
    ]
}

/// All formats as a KV cache, and the default rule; `rule` names its present choice.
pub fn cache_groups(rule: &str) -> Vec<OptionGroup> {
    core::iter::once(by_rule(rule)).chain(weight_groups()).collect()
}

fn by_rule(rule: &str) -> OptionGroup {
    let haystack = format!("{rule} by the rule default automatic");
    let choice = PickerOption::plain("", format!("{rule}, by the rule"), String::new(), &haystack);
    OptionGroup { title: "Default".to_owned(), choices: vec![choice] }
}

/// All models by family. A model that is not in the catalog is an option of its own, so that its name is shown.
pub fn model_groups(chosen: &ModelSource) -> Vec<OptionGroup> {
    let mut groups: Vec<OptionGroup> = Vec::new();
    if let ModelSource::File(model) = chosen {
        groups.push(OptionGroup {
            title: "opened".to_owned(),
            choices: vec![PickerOption::plain(
                "",
                model.name.clone(),
                parameters(model.geometry.arch()),
                &model.name,
            )],
        });
    }
    groups.extend(catalog_models());
    groups
}

/// The models that can draft, after the option of none.
pub fn drafter_groups() -> Vec<OptionGroup> {
    let none =
        PickerOption::plain("", "none, drafts cost nothing".to_owned(), String::new(), "none");
    let none = OptionGroup { title: "Default".to_owned(), choices: vec![none] };
    core::iter::once(none).chain(catalog_models()).collect()
}

fn catalog_models() -> Vec<OptionGroup> {
    let choice = |model: &'static CatalogModel| {
        let others = model.other_names.join(" ");
        let haystack = format!("{} {} {} {others}", model.name, model.key, model.hf_id);
        PickerOption {
            kind: model.family.to_ascii_lowercase(),
            released: (model.release_year, version(model.key)),
            ..PickerOption::plain(
                model.key,
                model.name.to_owned(),
                parameters(&model.arch),
                &haystack,
            )
        }
    };
    let mut groups: Vec<OptionGroup> = Vec::new();
    for model in models::all() {
        if let Some(group) = groups.iter_mut().find(|group| group.title == model.family) {
            group.choices.push(choice(model));
        } else {
            let title = model.family.to_owned();
            groups.push(OptionGroup { title, choices: vec![choice(model)] });
        }
    }
    groups
}

/// Ten times the version in a key: 31 of `llama-3.1-8b`, 30 of `llama-3-8b`.
fn version(key: &str) -> u16 {
    let digits = |text: &str| {
        let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        (text[..end].parse().unwrap_or(0), end)
    };
    let Some(from) = key.find(|letter: char| letter.is_ascii_digit()) else { return 0 };
    let (whole, end): (u16, usize) = digits(&key[from..]);
    let tenths = key[from + end..].strip_prefix('.').map_or(0, |rest| digits(rest).0);
    whole.saturating_mul(10).saturating_add(tenths.min(9))
}

/// All formats for a role, and the default; `rule` names the default's present choice.
pub fn role_groups(role: Role, rule: &str) -> Vec<OptionGroup> {
    match role {
        Role::Activations => activation_groups(rule),
        Role::Experts | Role::KvCache | Role::Embedding => cache_groups(rule),
        Role::Weights => {
            let name = format!("{rule}, as stored");
            let choice =
                PickerOption::plain("", name, String::new(), &format!("{rule} as stored default"));
            let usual = OptionGroup { title: "Default".to_owned(), choices: vec![choice] };
            core::iter::once(usual).chain(weight_groups()).collect()
        }
    }
}

fn format_choice(format: &'static QuantFormat) -> PickerOption {
    let haystack = format!("{} {} {}", format.short_name, format.name, format.key);
    PickerOption::plain(format.key, format.short_name.to_owned(), bits(format), &haystack)
}

/// Bits per element, as in `4.25 bit`.
pub fn bits(format: &QuantFormat) -> String {
    format!("{}{}bit", number_text::short(format.bits_per_element(), 4), number_text::SPACE)
}

#[cfg(test)]
mod tests {
    use super::search::filtered;
    use super::*;

    fn keys_of(groups: &[OptionGroup], query: &str) -> Vec<String> {
        filtered(groups, query)
            .into_iter()
            .flat_map(|group| group.choices)
            .map(|choice| choice.key)
            .collect()
    }

    #[test]
    fn every_device_and_format_is_in_a_list() {
        assert_eq!(count(&device_groups()), devices::all().count());
        assert_eq!(count(&weight_groups()), formats::FORMATS.len());
        assert_eq!(count(&cache_groups("FP16")), formats::FORMATS.len() + 1);
    }

    #[test]
    fn a_search_needs_every_word_in_any_order_and_case() {
        let groups = device_groups();
        assert_eq!(keys_of(&groups, "nano SUPER 8gb"), ["jetson_orin_nano_8gb_super"]);
        assert!(keys_of(&groups, "b10").contains(&"gb10".to_owned()), "by its alias");
        assert!(keys_of(&groups, "h100 nonsense").is_empty());
        assert_eq!(keys_of(&groups, "  ").len(), devices::all().count());
        assert!(keys_of(&weight_groups(), "q4_k").contains(&"gguf_q4_k".to_owned()));
    }

    #[test]
    fn storage_only_formats_are_no_activations() {
        let keys = keys_of(&activation_groups("FP16"), "");
        assert!(keys.contains(&"fp8_e4m3".to_owned()) && keys[0].is_empty());
        assert!(!keys.iter().any(|key| key.starts_with("gguf") || key == "nf4"));
    }

    #[test]
    fn places_count_through_the_groups() {
        let groups = device_groups();
        let place = position(&groups, "t4").expect("in the list");
        assert_eq!(choice_at(&groups, place).expect("in the list").key, "t4");
        assert_eq!(choice_at(&groups, 1_000), None);
        assert_eq!(name_of(&groups, "t4"), choice_at(&groups, place).expect("in the list").name);
        assert_eq!(name_of(&groups, "nothing"), "");
        let numbered: Vec<(usize, PickerOption)> =
            numbered(groups).into_iter().flat_map(|(_, choices)| choices).collect();
        assert!(numbered.iter().enumerate().all(|(index, (place, _))| index == *place));
        assert_eq!(numbered[place].1.key, "t4");
    }
}
