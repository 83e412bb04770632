//! Scenarios that differ from one in a single point: another power mode, number of users, scheme or device.

use std::borrow::Cow;

use calc_core::catalog::{self, schemes};

use super::super::derived::{ModeChoice, mode_choices};
use super::super::inputs::Inputs;
use super::super::model::fields::Field;
use super::super::pins;
use super::super::scenario::{BEST, PEAKS};

/// Number of users that a scenario with one user is compared with.
const MANY_USERS: &str = "16";

/// A scenario to compare with, one click away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The point in which it differs: `7W`, `MAXN_SUPER · 25 W`, `16 users`, `16 bits`.
    pub label: String,
    /// The scenario as it is pinned.
    pub pin: String,
}

/// All offers for a scenario, without those that are pinned already.
pub fn offers(inputs: &Inputs) -> Vec<Offer> {
    let mut offers = Vec::new();
    let mut offer = |label: String, change: &dyn Fn(&mut Inputs)| {
        let mut other = inputs.clone();
        change(&mut other);
        let pin = pins::text(&other);
        if !inputs.pins.list.contains(&pin) {
            offers.push(Offer { label, pin });
        }
    };
    for mode in mode_choices(inputs).into_iter().filter(|mode| !mode.unknown && !mode.chosen) {
        let label = if mode.name.is_empty() { PEAKS.to_owned() } else { mode.text.clone() };
        offer(label, &|other| {
            other.mode = (!mode.name.is_empty()).then(|| mode.name.clone().into());
        });
    }
    let is_one = inputs.model.text(Field::Batch).trim() == "1";
    let users = if is_one { MANY_USERS } else { "1" };
    let plural = if is_one { "users" } else { "user" };
    offer(format!("{users} {plural}"), &|other| {
        other.model.set_text(Field::Batch, users.to_owned());
    });
    let half = Some(&schemes::BASELINE);
    let is_half = inputs.model.scheme.map(|scheme| scheme.key) == half.map(|scheme| scheme.key);
    if !is_half {
        offer("16 bits".to_owned(), &|other| other.model.scheme = half);
    }
    if inputs.model.scheme.is_some() {
        offer(BEST.to_owned(), &|other| other.model.scheme = None);
    }
    offers
}

/// The two power modes with the least power against each other, for a scenario with the peaks of the datasheet.
pub fn mode_pair(inputs: &Inputs) -> Option<(String, [String; 2])> {
    if inputs.mode.is_some() {
        return None;
    }
    let pin = |mode: &ModeChoice| {
        pins::text(&Inputs { mode: Some(mode.name.clone().into()), ..inputs.clone() })
    };
    let modes = mode_choices(inputs);
    let mut known = modes.iter().filter(|mode| !mode.unknown && !mode.name.is_empty());
    let (less, more) = (known.next()?, known.next()?);
    Some((format!("{} against {}", more.text, less.text), [pin(more), pin(less)]))
}

/// The scenario on another device of the catalog; `None` for an unknown key.
pub fn on_device(inputs: &Inputs, key: &str) -> Option<String> {
    let device = catalog::device(key).ok()?;
    let mut other = inputs.clone();
    other.set_device(Cow::Borrowed(device));
    Some(pins::text(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::url;

    #[test]
    fn a_board_offers_its_modes_and_every_scenario_users_and_precision() {
        let mut inputs = Inputs { mode: Some("15W".into()), ..Inputs::default() };
        let labels = |inputs: &Inputs| -> Vec<String> {
            offers(inputs).into_iter().map(|offer| offer.label).collect()
        };
        let all = labels(&inputs);
        for label in ["7W", "datasheet peaks", "16 users", "16 bits"] {
            assert!(all.iter().any(|other| other == label), "{label}: {all:?}");
        }
        assert!(!all.contains(&"15W".to_owned()));
        assert_eq!(mode_pair(&inputs), None);
        let (label, pins) = mode_pair(&Inputs::default()).expect("two modes");
        assert_eq!(label, "15W against 7W");
        assert!(pins[0].contains("pm:15W") && pins[1].contains("pm:7W"), "{pins:?}");
        let (device, _) = url::read("?d=t4");
        assert_eq!(mode_pair(&device), None);
        assert_eq!(labels(&device), ["16 users", "16 bits"]);
        inputs.model.scheme = Some(&schemes::BASELINE);
        inputs.model.set_text(Field::Batch, "8".into());
        let all = labels(&inputs);
        assert!(all.contains(&"1 user".to_owned()) && all.contains(&"the best scheme".to_owned()));
    }

    #[test]
    fn every_offer_can_be_read_and_differs() {
        let inputs = Inputs::default();
        let own = pins::text(&inputs);
        for Offer { pin, label } in offers(&inputs) {
            let back = url::scenario(&pin, &[]).expect("readable");
            assert_eq!(pins::text(&back), pin, "{label}");
            assert_ne!(pin, own);
        }
        let other = on_device(&inputs, "jetson_agx_orin_64gb").expect("a key");
        assert_eq!(other, "model:llama-3.1-8b,d:jetson_agx_orin_64gb");
        assert_eq!(on_device(&inputs, "nowhere"), None);
    }
}
