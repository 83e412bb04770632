//! The link between several devices, as its field shows it.

use calc_core::device::Device;
use report::input::request::link::ChosenLink;

use super::inputs::ModelInputs;
use crate::state::inputs::Inputs;

/// Key of a link with a bandwidth and a latency of the user's own.
pub const OWN: &str = "own";
/// The own link before anything is typed: PCIe 4.0 x16.
const FIRST: &str = "25,5";

/// A value of the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The device's own link.
    Device,
    /// A preset, by key.
    Preset(String),
    Own {
        /// Bandwidth per direction [GB/s].
        bandwidth: String,
        /// Latency of a hop [µs].
        latency: String,
    },
}

impl Choice {
    /// Key of the option.
    pub fn key(&self) -> &str {
        match self {
            Self::Device => "",
            Self::Preset(key) => key,
            Self::Own { .. } => OWN,
        }
    }

    /// The own link to begin with: the one that is chosen, if it is one.
    pub fn own(&self) -> String {
        match self {
            Self::Own { bandwidth, latency } => format!("{bandwidth},{latency}"),
            Self::Device | Self::Preset(_) => FIRST.to_owned(),
        }
    }
}

/// The choice of the inputs.
pub fn choice(inputs: &ModelInputs) -> Choice {
    let Some(link) = &inputs.link else { return Choice::Device };
    match link.key.split_once(',') {
        Some((bandwidth, latency)) => {
            Choice::Own { bandwidth: bandwidth.to_owned(), latency: latency.to_owned() }
        }
        None => Choice::Preset(link.key.to_string()),
    }
}

/// Text of the option for the device's own link.
pub fn of_device(device: &Device) -> String {
    match &device.link {
        Some(link) => format!("of the device: {}", ChosenLink::figures(&link.value)),
        None => "of the device: not published".to_owned(),
    }
}

/// Sentence on the link in force.
pub fn figures(inputs: &Inputs) -> String {
    match (&inputs.model.link, &inputs.device.link) {
        (Some(link), _) => {
            format!("{}; {}.", ChosenLink::figures(&link.link), link.source)
        }
        (None, Some(link)) => format!("{}, as the catalog has it.", ChosenLink::figures(&link.value)),
        (None, None) => {
            "Nobody published it: ideal times are without it, and expected ones are unknown until you choose one.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use calc_core::catalog;
    use calc_core::catalog::links::LINKS;
    use report::input::request::link::read;

    use crate::state::model::fields::Field;
    use crate::state::model::question::ModelQuestion;

    fn with(link: &str) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.model.link = read(link).ok().map(Arc::new);
        inputs.model.set_text(Field::Tensor, "2".to_owned());
        inputs
    }

    #[test]
    fn a_choice_is_a_preset_or_ones_own() {
        assert_eq!(choice(&Inputs::default().model), Choice::Device);
        for preset in &LINKS {
            assert_eq!(choice(&with(preset.key).model).key(), preset.key);
        }
        let own = Choice::Own { bandwidth: "12.5".into(), latency: "8".into() };
        assert_eq!(choice(&with("12.5, 8.0").model), own);
        assert_eq!((own.key(), &*own.own()), (OWN, "12.5,8"));
        assert_eq!(choice(&with(FIRST).model).key(), OWN);
    }

    #[test]
    fn the_chosen_link_is_that_of_the_estimate() {
        let mut fast = with("nvlink4");
        let mut slow = with("10gbe");
        let device = catalog::device("gb10").expect("catalog key");
        for inputs in [&mut fast, &mut slow] {
            inputs.set_device(std::borrow::Cow::Borrowed(device));
            assert!(inputs.model.has_several_devices());
        }
        let time = |inputs: &Inputs| {
            let question = ModelQuestion::read(&inputs.model, inputs.place()).expect("valid");
            question.estimate().expect("valid").tpot.time.get()
        };
        // 64 all-reduces of two hops of 300 µs and of 5 µs.
        assert!(time(&slow) - time(&fast) > 0.037);
        assert!(figures(&slow).contains("per hop"), "{}", figures(&slow));
    }
}
