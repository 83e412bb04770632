//! The machine of the connected daemon as a choice of device.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::device::Device;
use report::number_text;

use super::inputs::Inputs;
use super::picker::{OptionGroup, PickerOption, device_choice, device_groups};
use super::place::OwnCalibration;

/// Key of the choice that is the machine itself, and start of the keys of its other devices.
pub const HERE: &str = "#here";

/// A device with what a calibration found.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineDevice {
    pub device: Cow<'static, Device>,
    pub own: Option<Arc<OwnCalibration>>,
}

impl MachineDevice {
    /// A device of the catalog.
    pub const fn of_catalog(device: &'static Device) -> Self {
        Self { device: Cow::Borrowed(device), own: None }
    }

    /// The device of the page.
    pub fn chosen(inputs: &Inputs) -> Self {
        Self { device: inputs.device.clone(), own: inputs.own.clone() }
    }

    /// Makes it the device of the page.
    pub fn choose(&self, inputs: &mut Inputs) {
        inputs.set_device(Cow::clone(&self.device));
        inputs.own.clone_from(&self.own);
    }
}

/// A device of the daemon's machine as a choice.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineChoice {
    /// The name that it has in orders of measurements; empty for a device of the catalog that no backend measures.
    pub id: String,
    /// Its key in files of measurements; empty for such a device, too.
    pub file_key: String,
    /// The name that it reports.
    pub name: String,
    /// The device of the catalog, or the one of measured roofs; `None` until the device is measured, if the catalog lacks it.
    pub known: Option<MachineDevice>,
}

/// The devices of the connected daemon's machine; the first one stands for the machine. Empty while no daemon is connected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ThisMachine {
    pub devices: Vec<MachineChoice>,
}

impl ThisMachine {
    /// Whether a device is one of this machine.
    pub fn is(&self, device: &Device) -> bool {
        self.place_of(device).is_some()
    }

    fn place_of(&self, device: &Device) -> Option<usize> {
        let is_it = |known: &MachineDevice| *known.device == *device;
        self.devices.iter().position(|choice| choice.known.as_ref().is_some_and(is_it))
    }

    /// Takes measurements in place of what was known of their device.
    pub fn put(&mut self, file_key: &str, measured: MachineDevice) {
        if let Some(choice) = self.devices.iter_mut().find(|choice| choice.file_key == file_key) {
            choice.known = Some(measured);
        }
    }

    /// Takes measurements of a device that was not measured yet.
    pub fn put_first(&mut self, file_key: &str, measured: MachineDevice) {
        let is_measured = |known: &MachineDevice| *known.device.key == *file_key;
        let mut choices = self.devices.iter().filter(|choice| choice.file_key == file_key);
        if !choices.any(|choice| choice.known.as_ref().is_some_and(is_measured)) {
            self.put(file_key, measured);
        }
    }

    fn key(place: usize) -> String {
        if place == 0 { HERE.to_owned() } else { format!("{HERE}{place}") }
    }

    fn choice(&self, key: &str) -> Option<&MachineChoice> {
        let place = (0..self.devices.len()).find(|place| Self::key(*place) == key)?;
        self.devices.get(place)
    }

    /// The device of a choice; `None` while it is unknown.
    pub fn at(&self, key: &str) -> Option<MachineDevice> {
        self.choice(key)?.known.clone()
    }

    /// Name in orders of the device of a choice; empty without a daemon that measures it.
    pub fn id_at(&self, key: &str) -> String {
        self.choice(key).map(|choice| choice.id.clone()).unwrap_or_default()
    }

    /// The choices as a group of their own.
    pub fn group(&self) -> OptionGroup {
        let told = |(place, choice): (usize, &MachineChoice)| {
            let (name, detail) = match &choice.known {
                None => (&*choice.name, "measure it in Device".to_owned()),
                Some(MachineDevice { device, .. }) => {
                    (&*device.name, number_text::published_bandwidth(device.bandwidth.value))
                }
            };
            option(&Self::key(place), format!("This machine: {name}"), detail)
        };
        let mut choices: Vec<PickerOption> = self.devices.iter().enumerate().map(told).collect();
        if choices.is_empty() {
            let detail = "connect it in Device".to_owned();
            choices.push(option(HERE, "This machine".to_owned(), detail));
        }
        OptionGroup { title: "With the companion".to_owned(), choices }
    }
}

fn option(key: &str, name: String, detail: String) -> PickerOption {
    let haystack = format!("{name} here");
    PickerOption::plain(key, name, detail, &haystack)
}

/// All devices: the connected machine, the custom one while it is chosen and not of that machine, and those of the catalog.
pub fn all_devices(inputs: &Inputs, here: &ThisMachine) -> Vec<OptionGroup> {
    let is_apart = inputs.has_own_device() && !here.is(&inputs.device);
    let own = is_apart.then(|| OptionGroup {
        title: "Your own".to_owned(),
        choices: vec![device_choice(&inputs.device)],
    });
    own.into_iter().chain([here.group()]).chain(device_groups()).collect()
}

/// Key of the chosen device in [`all_devices`].
pub fn chosen_device(inputs: &Inputs, here: &ThisMachine) -> String {
    let place = here.place_of(&inputs.device).filter(|_| inputs.has_own_device());
    place.map_or_else(|| inputs.device.key.to_string(), ThisMachine::key)
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;

    use super::*;
    use crate::state::picker::{PickerCatalog, choice_at, found};

    fn machine(devices: &[(&str, Option<&Device>)]) -> ThisMachine {
        let choice = |(key, device): &(&str, Option<&Device>)| MachineChoice {
            id: key.replace("this_machine", "id"),
            file_key: (*key).to_owned(),
            name: "A chip".to_owned(),
            known: device.map(|it| MachineDevice { device: Cow::Owned(it.clone()), own: None }),
        };
        ThisMachine { devices: devices.iter().map(choice).collect() }
    }

    fn measured(key: &'static str, name: &'static str) -> Device {
        let epyc = catalog::device("epyc_9654").expect("a key").clone();
        Device { key: key.into(), name: name.into(), ..epyc }
    }

    #[test]
    fn a_known_machine_is_a_choice_and_an_unknown_one_is_to_be_measured() {
        let epyc = catalog::device("epyc_9654").expect("a key");
        let unconnected = ThisMachine::default();
        assert_eq!(unconnected.at(HERE), None);
        assert_eq!(unconnected.group().choices[0].detail, "connect it in Device");
        let unmeasured = machine(&[("this_machine", None)]);
        assert_eq!(unmeasured.at(HERE), None);
        assert_eq!([unmeasured.id_at(HERE), unconnected.id_at(HERE)], ["id", ""]);
        assert_eq!(unmeasured.group().choices[0].name, "This machine: A chip");
        let known = machine(&[("this_machine", Some(epyc))]);
        assert_eq!(known.at("epyc_9654"), None);
        let mut inputs = Inputs::default();
        known.at(HERE).expect("a device").choose(&mut inputs);
        assert_eq!(&*inputs.device.key, "epyc_9654");
        let choice = &known.group().choices[0];
        assert!(choice.name.starts_with("This machine: EPYC 9654"), "{}", choice.name);
        assert_eq!(choice.key, HERE);
        for typed in ["this machine", "here", "This Machine"] {
            let all = all_devices(&Inputs::default(), &known);
            let first = choice_at(&found(&all, typed, PickerCatalog::Machines), 0);
            assert_eq!(first.map(|choice| choice.key).as_deref(), Some(HERE), "{typed}");
        }
    }

    #[test]
    fn measurements_of_a_processor_and_a_card_stand_side_by_side() {
        let (chip, card) =
            (measured("this_machine", "A chip"), measured("this_machine_cuda_0", "A card"));
        let of = |device: &Device| MachineDevice { device: Cow::Owned(device.clone()), own: None };
        let mut here = machine(&[("this_machine_cuda_0", None), ("this_machine", None)]);
        here.put("this_machine", of(&chip));
        here.put("this_machine_cuda_0", of(&card));
        here.put("this_machine_cuda_7", of(&measured("this_machine_cuda_7", "Gone")));
        let keys: Vec<String> = here.group().choices.into_iter().map(|it| it.key).collect();
        for (device, key) in [&card, &chip].into_iter().zip(&keys) {
            let mut inputs = Inputs::default();
            here.at(key).expect("a device").choose(&mut inputs);
            assert_eq!(&*inputs.device, device);
            assert_eq!(&chosen_device(&inputs, &here), key);
        }
        assert_eq!(keys.len(), 2);
        // A measured device that the page has stays; a device of the catalog gives way.
        here.put_first("this_machine", of(&measured("this_machine", "Older")));
        assert!(here.is(&chip));
        let epyc = catalog::device("epyc_9654").expect("a key");
        let mut here = machine(&[("this_machine", Some(epyc))]);
        here.put_first("this_machine", of(&chip));
        assert!(here.is(&chip) && !here.is(epyc));
    }

    #[test]
    fn a_measured_machine_that_is_the_device_is_in_the_list_once() {
        let device = measured("this_machine", "A chip (measured here)");
        let edited = measured("this_machine", "A chip (edited)");
        let mut inputs = Inputs::default();
        inputs.set_device(Cow::Owned(device.clone()));
        let named = |inputs: &Inputs, here: &ThisMachine| -> Vec<String> {
            let groups = all_devices(inputs, here);
            let chosen = chosen_device(inputs, here);
            assert_eq!(
                groups.iter().flat_map(|it| &it.choices).filter(|it| it.key == chosen).count(),
                1
            );
            let choices = groups.into_iter().flat_map(|group| group.choices);
            choices.map(|choice| choice.name).filter(|name| name.contains("A chip")).collect()
        };
        let known = |device: &Device| machine(&[("this_machine", Some(device))]);
        assert_eq!(named(&inputs, &known(&device)), ["This machine: A chip (measured here)"]);
        assert_eq!(
            named(&inputs, &known(&edited)),
            ["A chip (measured here)", "This machine: A chip (edited)"]
        );
        assert_eq!(named(&inputs, &ThisMachine::default()), ["A chip (measured here)"]);
        // A device of the catalog keeps its place in the catalog.
        let epyc = catalog::device("epyc_9654").expect("a key");
        inputs.set_device(Cow::Borrowed(epyc));
        assert_eq!(chosen_device(&inputs, &known(epyc)), "epyc_9654");
    }
}
