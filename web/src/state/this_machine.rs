//! The machine of the connected daemon as a choice of device.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::device::Device;
use report::number_text;

use super::inputs::{Inputs, View};
use super::picker::{OptionGroup, PickerOption, device_choice, device_groups};
use super::place::OwnCalibration;

/// Key of the choice.
pub const HERE: &str = "#here";

/// The machine of the connected daemon.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ThisMachine {
    /// No daemon has told it.
    #[default]
    Unconnected,
    /// The catalog does not have it, and nothing was measured: the name of its processor.
    Unmeasured(String),
    /// A device of the catalog, or one of measured roofs, with what a calibration found.
    Known(Box<Cow<'static, Device>>, Option<Arc<OwnCalibration>>),
}

impl ThisMachine {
    /// Whether a device is what the choice stands for.
    pub fn is(&self, device: &Device) -> bool {
        matches!(self, Self::Known(known, _) if ***known == *device)
    }

    /// The choice as a group of its own.
    pub fn group(&self) -> OptionGroup {
        let (name, detail) = match self {
            Self::Unconnected => ("This machine".to_owned(), "connect it in Device".to_owned()),
            Self::Unmeasured(name) => {
                (format!("This machine: {name}"), "measure it in Device".to_owned())
            }
            Self::Known(device, _) => (
                format!("This machine: {}", device.name),
                number_text::published_bandwidth(device.bandwidth.value),
            ),
        };
        let haystack = format!("{name} here");
        let choices = vec![PickerOption::plain(HERE, name, detail, &haystack)];
        OptionGroup { title: "With the companion".to_owned(), choices }
    }

    /// Makes it the device; while it is unknown, opens the view that connects to it and measures it.
    pub fn choose(&self, inputs: &mut Inputs) {
        match self {
            Self::Unconnected | Self::Unmeasured(_) => inputs.view = View::Measure,
            Self::Known(device, own) => {
                inputs.set_device(Cow::clone(device));
                inputs.own.clone_from(own);
            }
        }
    }
}

/// All devices: the connected machine, the custom one while it is chosen and not that machine, and those of the catalog.
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
    let is_here = inputs.has_own_device() && here.is(&inputs.device);
    if is_here { HERE.to_owned() } else { inputs.device.key.to_string() }
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;

    use super::*;
    use crate::state::picker::{PickerCatalog, choice_at, found};

    #[test]
    fn a_known_machine_becomes_the_device_and_an_unknown_one_opens_the_view_that_measures_it() {
        let epyc = catalog::device("epyc_9654").expect("a key");
        let mut inputs = Inputs::default();
        let before = inputs.device.clone();
        for unknown in [ThisMachine::Unconnected, ThisMachine::Unmeasured("A chip".into())] {
            inputs.view = View::Plan;
            unknown.choose(&mut inputs);
            assert_eq!((inputs.view, &inputs.device), (View::Measure, &before));
        }
        let mut inputs = Inputs::default();
        let known = ThisMachine::Known(Box::new(Cow::Borrowed(epyc)), None);
        known.choose(&mut inputs);
        assert_eq!((inputs.view, &*inputs.device.key), (View::Plan, "epyc_9654"));
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
    fn a_measured_machine_that_is_the_device_is_in_the_list_once() {
        let measured = Device {
            key: "this_machine".into(),
            name: "A chip (measured here)".into(),
            ..catalog::device("epyc_9654").expect("a key").clone()
        };
        let edited = Device { name: "A chip (edited)".into(), ..measured.clone() };
        let mut inputs = Inputs::default();
        inputs.set_device(Cow::Owned(measured.clone()));
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
        let known =
            |device: &Device| ThisMachine::Known(Box::new(Cow::Owned(device.clone())), None);
        assert_eq!(named(&inputs, &known(&measured)), ["This machine: A chip (measured here)"]);
        assert_eq!(
            named(&inputs, &known(&edited)),
            ["A chip (measured here)", "This machine: A chip (edited)"]
        );
        assert_eq!(named(&inputs, &ThisMachine::Unconnected), ["A chip (measured here)"]);
        // A device of the catalog keeps its place in the catalog.
        let epyc = catalog::device("epyc_9654").expect("a key");
        inputs.set_device(Cow::Borrowed(epyc));
        let here = ThisMachine::Known(Box::new(Cow::Borrowed(epyc)), None);
        assert_eq!(chosen_device(&inputs, &here), "epyc_9654");
    }
}
