//! Changes of the pinned scenarios: add, remove, move to the first place, open one in Plan.

use super::super::fragment;
use super::super::inputs::{Inputs, Pins, View};
use super::super::model::inputs::ModelSource;
use super::super::{pins, url};

/// Opens a comparison of the scenario of the inputs with another one.
pub fn against(inputs: &mut Inputs, other: &str) {
    between(inputs, [pins::text(inputs), other.to_owned()]);
}

/// Opens a comparison of two scenarios that hold no more of the user's own than the inputs.
pub fn between(inputs: &mut Inputs, pins: [String; 2]) {
    let fragment_parts = fragment::parts(inputs);
    inputs.pins = Pins { list: pins.into(), fragment_parts, ..Pins::default() };
    inputs.view = View::Compare;
    show(inputs);
}

/// Pins the scenario of the inputs beside those that are pinned, and opens the comparison.
///
/// # Errors
/// Returns the reason why it cannot stand beside them, as a sentence.
pub fn pin(inputs: &mut Inputs) -> Result<(), String> {
    let own = pins::text(inputs);
    let mut next = inputs.clone();
    carry(&mut next)?;
    add(&mut next, own)?;
    next.view = View::Compare;
    show(&mut next);
    *inputs = next;
    Ok(())
}

/// Adds a column. A comparison without pinned scenarios begins with the scenario of the inputs.
///
/// # Errors
/// Returns the reason why there is no room, as a sentence.
pub fn add(inputs: &mut Inputs, scenario: String) -> Result<(), String> {
    begin(inputs);
    if inputs.pins.list.contains(&scenario) {
        return Ok(());
    }
    if inputs.pins.list.len() >= Pins::MOST {
        let most = Pins::MOST;
        return Err(format!("{most} scenarios are compared already; remove one to add another."));
    }
    inputs.pins.list.push(scenario);
    Ok(())
}

/// Removes a column.
pub fn remove(inputs: &mut Inputs, place: usize) {
    if place < inputs.pins.list.len() {
        inputs.pins.list.remove(place);
        drop_unused(inputs);
        show(inputs);
    }
}

/// Moves a column to the first place, to which the differences refer.
pub fn move_first(inputs: &mut Inputs, place: usize) {
    if let Some(front) = inputs.pins.list.get_mut(..=place) {
        front.rotate_right(1);
        show(inputs);
    }
}

/// Opens the scenario of a column in the Plan view; the pinned ones stay.
pub fn open(inputs: &mut Inputs, place: usize) {
    begin(inputs);
    let pin = inputs.pins.list.get(place);
    let found = pin.and_then(|pin| url::scenario(pin, &inputs.pins.fragment_parts).ok());
    if let Some(found) = found {
        inputs.take_scenario(found);
        inputs.view = View::Plan;
    }
}

/// A comparison without pinned scenarios has that of the inputs.
fn begin(inputs: &mut Inputs) {
    if inputs.pins.list.is_empty() {
        inputs.pins.list.push(pins::text(inputs));
        inputs.pins.fragment_parts = fragment::parts(inputs);
    }
}

/// Takes over the scenario of the first column, which the other views then show.
pub(super) fn show(inputs: &mut Inputs) {
    let first = inputs.pins.list.first();
    if let Some(Ok(first)) = first.map(|pin| url::scenario(pin, &inputs.pins.fragment_parts)) {
        inputs.take_scenario(first);
    }
}

/// Adds what the inputs hold of the user's own to what the pinned scenarios share: one link holds one of each.
fn carry(inputs: &mut Inputs) -> Result<(), String> {
    for (name, part) in fragment::parts(inputs) {
        let fragment_parts = &mut inputs.pins.fragment_parts;
        match fragment_parts.iter().find(|(other, _)| *other == name) {
            Some((_, other)) if *other == part => {}
            Some(_) => {
                let own = if name == "model" { "model" } else { "device" };
                return Err(format!(
                    "The comparison has another {own} of your own, and a link holds only one; remove that column first."
                ));
            }
            None => fragment_parts.push((name, part)),
        }
    }
    Ok(())
}

/// Drops what no pinned scenario uses from the fragment.
fn drop_unused(inputs: &mut Inputs) {
    let Pins { list, fragment_parts, .. } = &inputs.pins;
    let found: Vec<Inputs> =
        list.iter().filter_map(|pin| url::scenario(pin, fragment_parts).ok()).collect();
    let is_used = |name: &str| {
        found.iter().any(|inputs| match name {
            "device" => inputs.has_own_device(),
            "calibration" => inputs.own.is_some(),
            _ => matches!(inputs.model.base, ModelSource::File(_)),
        })
    };
    inputs.pins.fragment_parts.retain(|(name, _)| is_used(name));
}

#[cfg(test)]
mod tests {
    use super::*;

    const T4: &str = "model:llama-3.1-8b,d:t4";
    const H100: &str = "model:llama-3.1-8b,d:h100_sxm";

    fn own_device() -> Inputs {
        let mut inputs = Inputs::default();
        let device = inputs.device.to_mut();
        device.key = "mine".into();
        device.name = "Mine".into();
        inputs
    }

    #[test]
    fn a_scenario_is_compared_with_another_and_columns_come_and_go() {
        let mut inputs = Inputs::default();
        let own = pins::text(&inputs);
        against(&mut inputs, T4);
        assert_eq!(
            (inputs.view, inputs.pins.list.as_slice()),
            (View::Compare, &[own.clone(), T4.into()][..])
        );
        add(&mut inputs, H100.into()).expect("room");
        add(&mut inputs, H100.into()).expect("it is there already");
        move_first(&mut inputs, 2);
        assert_eq!(inputs.pins.list, [H100, &own, T4]);
        assert_eq!(inputs.device.key, "h100_sxm");
        remove(&mut inputs, 0);
        remove(&mut inputs, 7);
        assert_eq!(inputs.pins.list, [&own, T4]);
        open(&mut inputs, 1);
        assert_eq!((inputs.view, &*inputs.device.key), (View::Plan, "t4"));
        assert_eq!(inputs.pins.list.len(), 2, "the comparison is still there");
    }

    #[test]
    fn there_is_room_for_four() {
        let mut inputs = Inputs::default();
        for device in ["t4", "h100_sxm", "gb10"] {
            add(&mut inputs, format!("model:llama-3.1-8b,d:{device}")).expect("room");
        }
        let full = add(&mut inputs, "model:llama-3.1-8b,d:rtx_4090".into());
        assert!(full.is_err_and(|reason| reason.contains("4 scenarios")));
    }

    #[test]
    fn a_device_of_ones_own_stays_with_the_columns() {
        let mut inputs = own_device();
        against(&mut inputs, T4);
        move_first(&mut inputs, 1);
        assert_eq!(&*inputs.device.key, "t4");
        let (query, text) = (url::write(&inputs), fragment::text(&inputs));
        let (back, notes) = url::read_beside(&query, &fragment::parse(&text));
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(back, inputs);
        let mine = url::scenario(&back.pins.list[1], &back.pins.fragment_parts).expect("readable");
        assert_eq!(&*mine.device.name, "Mine");
        remove(&mut inputs, 1);
        assert!(inputs.pins.fragment_parts.is_empty());
    }

    #[test]
    fn a_link_holds_one_device_of_ones_own() {
        let mut inputs = own_device();
        pin(&mut inputs).expect("room");
        inputs.device.to_mut().name = "Mine, changed".into();
        inputs.mode = Some("7W".into());
        let refused = pin(&mut inputs).expect_err("another device under the same key");
        assert!(refused.contains("another device of your own"), "{refused}");
    }
}
