//! What the reader chose. Numbers stay as they were typed until they are read, so that a wrong one can be shown as it is.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::analysis::Operator;
use calc_core::catalog;
use calc_core::device::{Device, PowerMode};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::Roofs;
use calc_core::text::Text;

use super::goal::Goal;
use super::model::asked::Asked;
use super::operator::{Fault, Op, Typed};
use super::place::{Own, Place};
use super::points::OwnPoint;

/// What the page answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// One operator on a device.
    #[default]
    Kernel,
    /// A whole model on a device.
    Model,
    /// Published measurements against predictions.
    Trust,
    /// Measurements of the reader's own machine.
    Measure,
}

impl View {
    /// In the order of the navigation.
    pub const ALL: [Self; 4] = [Self::Kernel, Self::Model, Self::Trust, Self::Measure];

    /// Its name in the navigation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "Kernel",
            Self::Model => "Model",
            Self::Trust => "Trust",
            Self::Measure => "Measure",
        }
    }

    /// Its name in the address.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Model => "model",
            Self::Trust => "trust",
            Self::Measure => "measure",
        }
    }
}

/// Everything that decides what the page shows. A device that no catalog has is an owned one.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// What the page answers.
    pub view: View,
    /// Device.
    pub device: Cow<'static, Device>,
    /// The device of the catalog that it is an edited copy of.
    pub copy_of: Option<&'static Device>,
    /// Its power mode; `None` for its own peaks.
    pub mode: Option<Text>,
    /// What its owner measured on it.
    pub own: Option<Arc<Own>>,
    /// Operator.
    pub op: Op,
    /// Its numbers, as typed.
    pub typed: Typed,
    /// Weights.
    pub weights: &'static QuantFormat,
    /// Activations; `None` leaves them to the rule.
    pub activations: Option<&'static QuantFormat>,
    /// KV cache; `None` leaves it to the rule.
    pub kv: Option<&'static QuantFormat>,
    /// Points of the reader's own.
    pub points: Vec<OwnPoint>,
    /// What the reader wants of a quantization.
    pub goal: Goal,
    /// What is asked of a whole model, and the filter of the Trust view.
    pub model: Asked,
}

impl Default for Inputs {
    fn default() -> Self {
        let device = catalog::device("jetson_orin_nano_8gb_super");
        let weights = catalog::format("int4_g128");
        // Not `expect`, which writes errors with all their numbers: some kilobytes of page.
        let (Ok(device), Ok(weights)) = (device, weights) else {
            unreachable!("they are keys of the catalog")
        };
        Self {
            view: View::default(),
            device: Cow::Borrowed(device),
            copy_of: None,
            mode: None,
            own: None,
            op: Op::default(),
            typed: Typed::default(),
            weights,
            activations: None,
            kv: None,
            points: Vec::new(),
            goal: Goal::default(),
            model: Asked::default(),
        }
    }
}

impl Inputs {
    /// Chooses a device. Power modes and measurements belong to a device, so they go.
    pub fn set_device(&mut self, device: Cow<'static, Device>) {
        if device != self.device {
            if device.key != self.device.key {
                self.own = None;
            }
            self.device = device;
            self.copy_of = None;
            self.mode = None;
        }
    }

    /// The device is none of the catalog.
    pub fn has_own_device(&self) -> bool {
        matches!(self.device, Cow::Owned(_))
    }

    /// The chosen power mode.
    pub fn power_mode(&self) -> Option<&PowerMode> {
        self.mode.as_ref().and_then(|name| self.device.power_mode(name).ok())
    }

    /// Where everything runs.
    pub fn place(&self) -> Place<'_> {
        Place { device: &self.device, mode: self.power_mode(), own: self.own.as_deref() }
    }

    /// The operator with its shape.
    ///
    /// # Errors
    /// Every field that cannot be read.
    pub fn operator(&self) -> Result<Operator, Vec<Fault>> {
        self.typed.operator(self.op)
    }

    /// The faster 16-bit float of the device.
    pub fn half(&self) -> &'static QuantFormat {
        let roofs = Roofs::new(&self.device, self.power_mode());
        roofs.map_or(&catalog::formats::FP16, |roofs| roofs.half())
    }

    /// The role whose formats are compared.
    pub const fn role(&self) -> Role {
        match self.op {
            Op::Gemm | Op::FeedForward | Op::MixtureOfExperts => Role::Weights,
            Op::Attention | Op::KvAppend => Role::KvCache,
            Op::Norm => Role::Carrier,
        }
    }

    /// The format of that role.
    pub fn format(&self) -> &'static QuantFormat {
        match self.role() {
            Role::Weights => self.weights,
            Role::KvCache => self.kv.unwrap_or_else(|| self.carrier()),
            Role::Carrier => self.carrier(),
        }
    }

    /// What everything between matmuls is stored in: the activation format if it has 16 bits or more, else half.
    pub fn carrier(&self) -> &'static QuantFormat {
        let carries =
            |format: &&'static QuantFormat| format.class.is_some_and(ComputeClass::is_carrier);
        self.activations.filter(carries).unwrap_or_else(|| self.half())
    }

    /// Chooses the format of that role.
    pub fn set_format(&mut self, format: &'static QuantFormat) {
        match self.role() {
            Role::Weights => self.weights = format,
            Role::KvCache => self.kv = Some(format),
            Role::Carrier => self.activations = Some(format),
        }
    }

    /// The formats of a row of the table: everything as chosen, but for the role that is compared.
    pub fn precision(&self, format: &'static QuantFormat) -> PrecisionChoice {
        match self.role() {
            Role::Weights => PrecisionChoice {
                activations: self.activations,
                kv_cache: self.kv,
                ..PrecisionChoice::weights(format)
            },
            Role::KvCache => PrecisionChoice {
                activations: self.activations,
                kv_cache: Some(format),
                ..PrecisionChoice::weights(self.half())
            },
            Role::Carrier => PrecisionChoice::weights(format),
        }
    }
}

/// The role whose formats are compared: what an operator mostly reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The weights of a product.
    Weights,
    /// The cache that attention reads.
    KvCache,
    /// What flows between products.
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
