//! The user's inputs. Numbers are stored as typed, so that invalid text can be shown unchanged.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::analysis::Operator;
use calc_core::catalog;
use calc_core::device::{Device, PowerMode};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::Roofs;
use calc_core::text::Text;
use report::input::request::SCENARIOS;

use super::explore::ExploreTexts;
use super::goal::Goal;
use super::model::inputs::ModelInputs;
use super::operator::{Op, OperatorFault, Typed};
use super::place::{OwnCalibration, Place};
use super::points::OwnPoint;

/// A view of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The recommended scheme for a model on a device, beside all others. The bare address opens it.
    #[default]
    Plan,
    /// Two to four scenarios side by side.
    Compare,
    /// All devices for a model, or all models for a device.
    Explore,
    /// One operator on a device.
    Kernel,
    /// A whole model on a device.
    Model,
    /// Published measurements against predictions.
    Trust,
    /// Measurements on the user's own machine.
    Measure,
}

impl View {
    /// All views, in the order of the navigation.
    pub const ALL: [Self; 7] = [
        Self::Plan,
        Self::Compare,
        Self::Explore,
        Self::Kernel,
        Self::Model,
        Self::Measure,
        Self::Trust,
    ];

    /// Label in the navigation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "Plan",
            Self::Compare => "Compare",
            Self::Explore => "Explore",
            Self::Kernel => "Kernel",
            Self::Model => "Model",
            Self::Trust => "Trust",
            Self::Measure => "Device",
        }
    }

    /// Key in the address.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Compare => "compare",
            Self::Explore => "explore",
            Self::Kernel => "kernel",
            Self::Model => "model",
            Self::Trust => "trust",
            Self::Measure => "measure",
        }
    }
}

/// A tab of the Plan view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tab {
    #[default]
    Schemes,
    Operators,
    Memory,
    /// Speed over users and over context.
    Scale,
    Questions,
}

impl Tab {
    /// All tabs, in the order of the tab list.
    pub const ALL: [Self; 5] =
        [Self::Schemes, Self::Questions, Self::Operators, Self::Memory, Self::Scale];

    /// Text on the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Schemes => "Schemes",
            Self::Operators => "Operators",
            Self::Memory => "Memory",
            Self::Scale => "Users and context",
            Self::Questions => "Is this possible?",
        }
    }

    /// Key in the address.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Schemes => "schemes",
            Self::Operators => "operators",
            Self::Memory => "memory",
            Self::Scale => "scale",
            Self::Questions => "questions",
        }
    }
}

/// Scenarios that were pinned for a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pins {
    /// Each scenario as it stands in the address, in the order of the columns.
    pub list: Vec<String>,
    /// Device, measurements and model of the user's own that the scenarios name, as parts of the fragment.
    pub fragment_parts: Vec<(String, String)>,
    /// Rows that are equal in all columns are shown, too.
    pub all_rows: bool,
}

impl Pins {
    /// Most scenarios of a comparison.
    pub const MOST: usize = SCENARIOS.1;
}

/// All inputs that determine the page's content. A custom device is owned, one of the catalog borrowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    pub view: View,
    /// The open tab of the Plan view.
    pub tab: Tab,
    pub device: Cow<'static, Device>,
    /// Catalog device that a custom device was copied from.
    pub copy_of: Option<&'static Device>,
    /// Name of the power mode; `None`: the device's own peaks.
    pub mode: Option<Text>,
    /// The owner's measurements on this device.
    pub own: Option<Arc<OwnCalibration>>,
    /// Kind of operator.
    pub op: Op,
    /// Numbers of the operator, as typed.
    pub typed: Typed,
    /// Format of the weights.
    pub weights: &'static QuantFormat,
    /// Format of the activations; `None`: the default rule chooses.
    pub activations: Option<&'static QuantFormat>,
    /// Format of the KV cache; `None`: the default rule chooses.
    pub kv: Option<&'static QuantFormat>,
    /// The user's own points.
    pub points: Vec<OwnPoint>,
    pub goal: Goal,
    pub pins: Pins,
    /// Fields of the Explore view, as typed.
    pub explore: ExploreTexts,
    /// Inputs of the Model view and the filter of the Trust view.
    pub model: ModelInputs,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            view: View::default(),
            tab: Tab::default(),
            device: Cow::Borrowed(&catalog::devices::USUAL),
            copy_of: None,
            mode: None,
            own: None,
            op: Op::default(),
            typed: Typed::default(),
            weights: &catalog::formats::INT4_G128,
            activations: None,
            kv: None,
            points: Vec::new(),
            goal: Goal::default(),
            pins: Pins::default(),
            explore: ExploreTexts::default(),
            model: ModelInputs::default(),
        }
    }
}

impl Inputs {
    /// Chooses a device. Power mode and measurements belong to the old device and are cleared.
    pub fn set_device(&mut self, device: Cow<'static, Device>) {
        if device != self.device {
            if device.key != self.device.key {
                self.own = None;
            }
            if let Some(beside) = &self.model.beside {
                self.model.beside = beside.kept(Some(&device), None);
            }
            self.device = device;
            self.copy_of = None;
            self.mode = None;
        }
    }

    /// Takes the scenario of other inputs: device, power mode, measurements, goal, model and workload.
    pub fn take_scenario(&mut self, other: Self) {
        self.device = other.device;
        self.copy_of = other.copy_of;
        self.mode = other.mode;
        self.own = other.own;
        self.goal = other.goal;
        self.model = other.model;
    }

    /// Whether the device is custom, so in no catalog.
    pub fn has_own_device(&self) -> bool {
        matches!(self.device, Cow::Owned(_))
    }

    /// The chosen power mode.
    pub fn power_mode(&self) -> Option<&PowerMode> {
        self.mode.as_ref().and_then(|name| self.device.power_mode(name).ok())
    }

    /// The device in its power mode, with the owner's measurements.
    pub fn place(&self) -> Place<'_> {
        Place { device: &self.device, mode: self.power_mode(), own: self.own.as_deref() }
    }

    /// The operator with its shape.
    ///
    /// # Errors
    /// Returns all invalid fields.
    pub fn operator(&self) -> Result<Operator, Vec<OperatorFault>> {
        self.typed.operator(self.op)
    }

    /// The device's faster 16-bit float format.
    pub fn half(&self) -> &'static QuantFormat {
        let roofs = Roofs::new(&self.device, self.power_mode());
        roofs.map_or(&catalog::formats::FP16, |roofs| roofs.half())
    }

    /// The role whose formats the table compares.
    pub const fn role(&self) -> ComparedRole {
        match self.op {
            Op::Gemm | Op::FeedForward | Op::MixtureOfExperts => ComparedRole::Weights,
            Op::Attention | Op::KvAppend => ComparedRole::KvCache,
            Op::Norm => ComparedRole::Carrier,
        }
    }

    /// The chosen format of the compared role.
    pub fn format(&self) -> &'static QuantFormat {
        match self.role() {
            ComparedRole::Weights => self.weights,
            ComparedRole::KvCache => self.kv.unwrap_or_else(|| self.carrier()),
            ComparedRole::Carrier => self.carrier(),
        }
    }

    /// Storage format between matrix products: the activation format if it has 16 bits or more, else the faster 16-bit format.
    pub fn carrier(&self) -> &'static QuantFormat {
        let carries =
            |format: &&'static QuantFormat| format.class.is_some_and(ComputeClass::is_carrier);
        self.activations.filter(carries).unwrap_or_else(|| self.half())
    }

    /// Chooses the format of the compared role.
    pub fn set_format(&mut self, format: &'static QuantFormat) {
        match self.role() {
            ComparedRole::Weights => self.weights = format,
            ComparedRole::KvCache => self.kv = Some(format),
            ComparedRole::Carrier => self.activations = Some(format),
        }
    }

    /// The formats of a table row: as chosen, except for the compared role.
    pub fn precision(&self, format: &'static QuantFormat) -> PrecisionChoice {
        match self.role() {
            ComparedRole::Weights => PrecisionChoice {
                activations: self.activations,
                kv_cache: self.kv,
                ..PrecisionChoice::weights(format)
            },
            ComparedRole::KvCache => PrecisionChoice {
                activations: self.activations,
                kv_cache: Some(format),
                ..PrecisionChoice::weights(self.half())
            },
            ComparedRole::Carrier => PrecisionChoice::weights(format),
        }
    }
}

/// The role whose formats the table compares: the largest input of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedRole {
    /// Weights of a matrix product.
    Weights,
    /// KV cache that attention reads.
    KvCache,
    /// Activations between matrix products.
    Carrier,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_device_drops_the_power_mode() {
        let mut inputs = Inputs { mode: Some("7W".into()), ..Inputs::default() };
        inputs.set_device(inputs.device.clone());
        assert!(inputs.power_mode().is_some());
        inputs.set_device(Cow::Borrowed(catalog::device("t4").expect("catalog key")));
        assert_eq!(inputs.mode, None);
    }

    #[test]
    fn a_chosen_format_is_the_one_of_the_role() {
        let fp8 = catalog::format("fp8_e4m3").expect("catalog key");
        let fp32 = catalog::format("fp32").expect("catalog key");
        for (op, format) in [(Op::Gemm, fp8), (Op::Attention, fp8), (Op::Norm, fp32)] {
            let mut inputs = Inputs { op, ..Inputs::default() };
            inputs.set_format(format);
            assert_eq!(inputs.format(), format, "{op:?}");
        }
    }
}
