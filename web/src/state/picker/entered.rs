//! Answers to Enter behind a typed name: it takes an option and says how it read the name, or says why it takes none.

use super::search::{NO_HOST, NOTHING, PASTE_NAME};
use super::{OptionGroup, PickerCatalog, PickerOption, choice_at, count};
use crate::state::several_cards::brief;

/// An answer to Enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// Takes the option with this key.
    Taken {
        key: String,
        /// How the name was read; empty where it is that of the option.
        said: String,
    },
    /// Takes none, for this reason.
    Refused(String),
}

/// The answer to Enter behind a typed name, from the option at `place` of the list for it.
pub fn entered(
    list: &[OptionGroup],
    place: usize,
    typed: &str,
    names: PickerCatalog,
) -> Option<Entered> {
    let typed = typed.trim();
    let title = list.first().map_or(NOTHING, |group| &group.title);
    if title.starts_with(NOTHING) {
        return Some(Entered::Refused(nothing(list, typed, names)));
    }
    if count(list) == 0 {
        return Some(Entered::Refused(format!("{title} Nothing was changed.")));
    }
    let PickerOption { key, name, .. } = choice_at(list, place)?;
    let is_own = typed.is_empty() || [&key, &name].map(|own| plain(own)).contains(&plain(typed));
    let mut said =
        if is_own { String::new() } else { format!("“{}” read as {name}.", brief(typed)) };
    if title == NO_HOST {
        said = format!("{said} {NO_HOST}.");
    }
    Some(Entered::Taken { key, said })
}

/// The refusal of a name that nothing has, with the names near it.
fn nothing(list: &[OptionGroup], typed: &str, names: PickerCatalog) -> String {
    let what = match names {
        PickerCatalog::Devices | PickerCatalog::Machines => "device",
        PickerCatalog::Models | PickerCatalog::Drafters => "model",
        PickerCatalog::Formats => "format",
        PickerCatalog::Schemes => "scheme",
    };
    if names == PickerCatalog::Models && typed.starts_with('{') {
        return format!("This is a file: choose “{PASTE_NAME}” in the list. Nothing was changed.");
    }
    let choices = list.iter().flat_map(|group| &group.choices);
    let near: Vec<&str> =
        choices.filter(|choice| !choice.key.starts_with('#')).map(|choice| &*choice.name).collect();
    let near =
        if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) };
    format!("No {what} matches “{}”{near}. Nothing was changed.", brief(typed))
}

/// Letters and digits of a name, by which names are compared.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use calc_core::catalog::models;

    use super::*;
    use crate::state::model::inputs::ModelSource;
    use crate::state::picker::{device_groups, found, model_groups};
    use crate::state::several_cards::several_cards;

    fn on_enter(groups: &[OptionGroup], typed: &str, names: PickerCatalog) -> Entered {
        entered(&found(groups, typed, names), 0, typed, names).expect("an answer")
    }

    #[test]
    fn a_name_that_is_not_the_options_own_is_said() {
        let devices = device_groups();
        for (typed, key, said) in [
            ("rtx 4090", "rtx_4090", ""),
            ("GeForce RTX 4090", "rtx_4090", ""),
            ("dgx spark", "gb10", "“dgx spark” read as "),
            ("h100", "h100_sxm", "“h100” read as H100 SXM"),
            ("", "", ""),
        ] {
            let Entered::Taken { key: taken, said: told } =
                on_enter(&devices, typed, PickerCatalog::Machines)
            else {
                panic!("{typed} was refused")
            };
            assert!(typed.is_empty() || taken == key, "{typed}: {taken}");
            assert!(
                told.starts_with(said) && told.is_empty() == said.is_empty(),
                "{typed}: {told}"
            );
        }
    }

    #[test]
    fn a_list_of_cards_is_refused_by_a_sentence() {
        let devices = device_groups();
        for (typed, says) in [
            ("rtx 4090 + rtx 3090", "--hardware \"rtx 4090 + rtx 3090\""),
            ("4090 + 2x 3090", "--hardware \"4090 + 2x 3090\""),
            ("rtx_4090,rtx_3090", "--hardware \"rtx_4090 + rtx_3090\""),
            ("rtx 4090 and rtx 3090", "one kind of card"),
            ("rtx 4090 with rtx 3090", "one kind of card"),
            ("rtx 4090 + rtx 4090", "such as 2 x GeForce RTX 4090"),
        ] {
            for names in [PickerCatalog::Machines, PickerCatalog::Devices] {
                let said = on_enter(&devices, typed, names);
                assert!(matches!(&said, Entered::Refused(said) if said.contains(says)), "{said:?}");
            }
        }
        for typed in ["rtx 4090 with 96 GB of DDR5", "2 x rtx 3090", "ryzen 9 7950x, 64 GB of ddr5"]
        {
            assert_eq!(several_cards(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_name_that_nothing_has_is_refused_with_the_names_near_it() {
        let models = model_groups(&ModelSource::Catalog(models::all().next().expect("a model")));
        for (groups, names, typed, says) in [
            (
                &models,
                PickerCatalog::Models,
                "§§§§",
                "No model matches “§§§§”. Nothing was changed.",
            ),
            (&models, PickerCatalog::Models, "lama 3.1 8x", "near it: Llama-3.1 8B"),
            (
                &models,
                PickerCatalog::Models,
                "{\"hidden_size\": 1}",
                "choose “Paste its config.json”",
            ),
            (
                &device_groups(),
                PickerCatalog::Machines,
                "no such thing",
                "No device matches “no such",
            ),
        ] {
            let said = on_enter(groups, typed, names);
            assert!(matches!(&said, Entered::Refused(said) if said.contains(says)), "{said:?}");
        }
    }
}
