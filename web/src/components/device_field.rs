//! Device picker with the device's facts in a line.

use leptos::prelude::*;

use super::edit_device::EditDevice;
use super::erased::{block, derived, memo, text};
use super::explained::Explained;
use super::own_measurements::OwnMeasurementsLine;
use super::picker::Picker;
use crate::state::derived::{DeviceFact, facts, weakest};
use crate::state::editor::{BRIEF_ID, fact_badge};
use crate::state::inputs::View;
use crate::state::model::beside::{with, without_host};
use crate::state::picker::{PickerCatalog, split_count, split_host};
use crate::state::session::{Session, Step};
use crate::state::this_machine::{HERE, MachineDevice, all_devices, chosen_device};

/// Selects the device; below it are its main facts, the edit button and the line about own measurements.
#[component]
pub fn DeviceField() -> impl IntoView {
    let session = expect_context::<Session>();
    // An operator is of one device.
    let names = match session.inputs.with_untracked(|inputs| inputs.view) {
        View::Plan | View::Explore | View::Model => PickerCatalog::Machines,
        View::Compare | View::Kernel | View::Trust | View::Measure => PickerCatalog::Devices,
    };
    let brief = memo(move |_| {
        let facts = session.inputs.with(facts);
        facts.into_iter().filter(|fact| fact.in_brief).collect::<Vec<_>>()
    });
    let fact = move |(index, fact): (usize, DeviceFact)| {
        let before = match index {
            0 => String::new(),
            1 => " · ".to_owned(),
            _ => format!(" · {} ", fact.name.split(',').next().unwrap_or_default()),
        };
        view! {
            {before}
            <Explained id=format!("{BRIEF_ID}{index}") cell=fact.value/>
        }
    };
    let facts = block(move || {
        let sure = brief.with(|facts| weakest(facts));
        let (badge, meaning) = session.inputs.with_untracked(|inputs| fact_badge(inputs, sure));
        view! {
            {brief.get().into_iter().enumerate().map(fact).collect_view()}
            " "
            <span class="badge" title=meaning>{badge}</span>
        }
        .into_any()
    });
    view! {
        <Picker
            id="device"
            label="Device"
            groups=derived(move || session.here.with(|here| session.inputs.with(|inputs| all_devices(inputs, here))))
            names=names
            chosen=text(move || session.here.with(|here| session.inputs.with(|inputs| chosen_device(inputs, here))))
            detail=text(String::new)
            on_choose=Callback::new(move |key: String| choose(session, &key))
        />
        <p class="brief">{facts} " " <EditDevice/></p>
        <OwnMeasurementsLine/>
    }
}

/// Why a machine that was chosen is not the device yet.
const fn not_yet(is_known: bool) -> &'static str {
    if is_known {
        "This machine is not measured yet: measure its roofs here, and it is the device everywhere."
    } else {
        "This machine is not connected: connect its daemon here, and it is the device everywhere."
    }
}

/// Makes the choice of the list the device, with the number and the host that were typed beside its name.
fn choose(session: Session, key: &str) {
    let (key, host) = split_host(key);
    let (count, key) = split_count(key);
    let chosen = if key.starts_with(HERE) {
        session.here.with_untracked(|here| here.at(key))
    } else {
        let Ok(device) = calc_core::catalog::device(key) else { return };
        Some(MachineDevice::of_catalog(device))
    };
    if chosen.is_none() {
        let (id, is_known) =
            session.here.with_untracked(|here| (here.id_at(key), !here.devices.is_empty()));
        session.to_measure.set_value(id);
        session.note(not_yet(is_known).to_owned());
    }
    session.edit(Step::Choice, |inputs| {
        let Some(chosen) = &chosen else {
            // The view that connects to the machine and measures it.
            inputs.view = View::Measure;
            return;
        };
        chosen.choose(inputs);
        if let Some(count) = count {
            inputs.model.set_devices(count);
        }
        if let Some(host) = host {
            let beside = without_host(inputs.model.beside.as_deref());
            inputs.model.beside = with(beside.as_deref(), "host", host, &chosen.device);
        }
    });
}
