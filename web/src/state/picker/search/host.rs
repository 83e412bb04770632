//! Devices that are named with a host: `rtx 4090 with 96 GB of DDR5`.

use calc_core::catalog;
use calc_core::tiers::Host;

use super::{OptionGroup, PickerOption, split_count};

/// Title above devices that were named with a host.
pub(in crate::state::picker) const NO_HOST: &str =
    "Shares its memory with its processor, so it has no host";
/// Separator of a key or a name and a host.
const BESIDE: &str = " with ";
/// The cards among the options, each with a host; options without a card as they are, under a title that says why.
pub(super) fn beside_host(found: Vec<OptionGroup>, host: &str) -> Vec<OptionGroup> {
    let is_card = |choice: &PickerOption| {
        catalog::device(split_count(&choice.key).1)
            .is_ok_and(|device| Host::impossible(device).is_none())
    };
    let has_cards = found.iter().any(|group| group.choices.iter().any(is_card));
    let placed = |mut group: OptionGroup| {
        if has_cards {
            group.choices.retain(is_card);
            for choice in &mut group.choices {
                choice.key = format!("{}{BESIDE}{host}", choice.key);
                choice.name = format!("{}{BESIDE}{host}", choice.name);
            }
        } else {
            NO_HOST.clone_into(&mut group.title);
        }
        group
    };
    found.into_iter().map(placed).filter(|group| !group.choices.is_empty()).collect()
}

/// The key of an option, and the host behind it.
pub fn split_host(key: &str) -> (&str, Option<&str>) {
    key.split_once(BESIDE).map_or((key, None), |(key, host)| (key, Some(host)))
}

#[cfg(test)]
mod tests {
    use super::super::{PickerCatalog, found};
    use super::*;
    use crate::state::picker::{choice_at, device_groups};

    #[test]
    fn a_card_with_a_host_is_found_as_people_write_it() {
        let groups = device_groups();
        for (typed, key) in [
            ("rtx 4090 with 96 GB of DDR5", "rtx_4090 with 96 GB of DDR5"),
            ("4090 + 64GB", "rtx_4090 with 64GB"),
            ("rtx 3090 with ddr5-6000x2", "rtx_3090 with ddr5-6000x2"),
        ] {
            let found = found(&groups, typed, PickerCatalog::Machines);
            let first = choice_at(&found, 0).expect(typed);
            assert_eq!(first.key, key);
            let (card, host) = split_host(&first.key);
            assert!(catalog::device(card).is_ok() && host.is_some(), "{typed}");
        }
        let board = found(&groups, "dgx spark with 96 GB of DDR5", PickerCatalog::Machines);
        assert_eq!((&*board[0].title, &*board[0].choices[0].key), (NO_HOST, "gb10"));
        assert_eq!(split_host("rtx_4090"), ("rtx_4090", None));
    }
}
