//! What the reader chose. Numbers stay as they were typed until they are read, so that a wrong one can be shown as it is.

use std::borrow::Cow;

use calc_core::analysis::MAX_DIMENSION;
use calc_core::catalog;
use calc_core::cost::gemm::GemmShape;
use calc_core::device::{Device, PowerMode};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::text::{Text, text};
use report::number_text;

use super::model::inputs::ModelInputs;

/// What the page answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// One operator on a device.
    #[default]
    Kernel,
    /// A whole model on a device.
    Model,
}

impl View {
    /// In the order of the navigation.
    pub const ALL: [Self; 2] = [Self::Kernel, Self::Model];

    /// Its name in the navigation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "Kernel",
            Self::Model => "Model",
        }
    }

    /// Its name in the address.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Model => "model",
        }
    }
}

/// Everything that decides what the page shows. A device from a file is an owned one; the address names it by its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// What the page answers.
    pub view: View,
    /// Device.
    pub device: Cow<'static, Device>,
    /// Its power mode; `None` for its own peaks.
    pub mode: Option<Text>,
    /// Tokens, as typed.
    pub m: String,
    /// Outputs, as typed.
    pub n: String,
    /// Inputs, as typed.
    pub k: String,
    /// Weights.
    pub weights: &'static QuantFormat,
    /// Activations; `None` leaves them to the rule.
    pub activations: Option<&'static QuantFormat>,
    /// What is asked of a whole model.
    pub model: ModelInputs,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            view: View::default(),
            device: Cow::Borrowed(
                catalog::device("jetson_orin_nano_8gb_super").expect("a key of the catalog"),
            ),
            mode: None,
            m: "1".to_owned(),
            n: "4096".to_owned(),
            k: "4096".to_owned(),
            weights: catalog::format("int4_g128").expect("a key of the catalog"),
            activations: None,
            model: ModelInputs::default(),
        }
    }
}

/// A field that takes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the dimensions themselves")]
pub enum Field {
    M,
    N,
    K,
}

impl Field {
    /// In the order of the form.
    pub const ALL: [Self; 3] = [Self::M, Self::N, Self::K];

    /// Its label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::M => "M",
            Self::N => "N",
            Self::K => "K",
        }
    }

    /// Its name in the document and in the address.
    pub const fn id(self) -> &'static str {
        match self {
            Self::M => "m",
            Self::N => "n",
            Self::K => "k",
        }
    }

    /// What it counts.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::M => "tokens",
            Self::N => "outputs",
            Self::K => "inputs",
        }
    }
}

/// A field that cannot be read, with what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which field.
    pub field: Field,
    /// What is wrong, as a sentence.
    pub text: String,
}

impl Inputs {
    /// The text of a field.
    pub fn text(&self, field: Field) -> &str {
        match field {
            Field::M => &self.m,
            Field::N => &self.n,
            Field::K => &self.k,
        }
    }

    /// Replaces the text of a field.
    pub fn set_text(&mut self, field: Field, text: String) {
        match field {
            Field::M => self.m = text,
            Field::N => self.n = text,
            Field::K => self.k = text,
        }
    }

    /// Chooses a device. Power modes belong to a device, so the mode goes.
    pub fn set_device(&mut self, device: Cow<'static, Device>) {
        if device != self.device {
            self.device = device;
            self.mode = None;
        }
    }

    /// The chosen power mode.
    pub fn power_mode(&self) -> Option<&PowerMode> {
        self.mode.as_ref().and_then(|name| self.device.power_mode(name).ok())
    }

    /// The shape.
    ///
    /// # Errors
    /// Every field that cannot be read.
    pub fn shape(&self) -> Result<GemmShape, Vec<Fault>> {
        match Field::ALL.map(|field| dimension(field, self.text(field))) {
            [Ok(m), Ok(n), Ok(k)] => Ok(GemmShape { m, n, k }),
            read => Err(read.into_iter().filter_map(Result::err).collect()),
        }
    }

    /// The formats of a row of the table: the chosen activations with any weights.
    pub fn precision(&self, weights: &'static QuantFormat) -> PrecisionChoice {
        PrecisionChoice { activations: self.activations, ..PrecisionChoice::weights(weights) }
    }

    /// Takes over a preset.
    pub fn apply(&mut self, preset: &Preset) {
        for (field, value) in
            Field::ALL.into_iter().zip([preset.shape.m, preset.shape.n, preset.shape.k])
        {
            self.set_text(field, value.to_string());
        }
    }
}

/// Reads a dimension. Blanks between digits are fine, because numbers are printed with them.
///
/// # Errors
/// A sentence with the allowed range.
pub fn dimension(field: Field, typed: &str) -> Result<u64, Fault> {
    let digits: String = typed.chars().filter(|letter| !letter.is_whitespace()).collect();
    let in_range = |value: &u64| (1..=MAX_DIMENSION).contains(value);
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = if is_plain { digits.parse().ok().filter(in_range) } else { None };
    value.ok_or_else(|| Fault {
        field,
        text: format!(
            "{} must be a whole number from 1 to {}.",
            field.name(),
            number_text::count(MAX_DIMENSION)
        ),
    })
}

/// A shape with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: Text,
    /// What it stands for.
    pub meaning: Text,
    /// The shape.
    pub shape: GemmShape,
}

/// The shapes to begin with.
pub fn presets() -> [Preset; 4] {
    // Gate and up projection of Llama-3.1-8B as one product: N = 2 * 14336, K = 4096.
    let ffn = |m| GemmShape { m, n: 28_672, k: 4096 };
    [
        Preset {
            name: text("decode 4096²"),
            meaning: text("one token through a square matrix"),
            shape: GemmShape { m: 1, n: 4096, k: 4096 },
        },
        Preset {
            name: text("prefill 2048"),
            meaning: text("2048 tokens through a square matrix"),
            shape: GemmShape { m: 2048, n: 4096, k: 4096 },
        },
        Preset {
            name: text("FFN decode"),
            meaning: text("gate and up of Llama-3.1-8B, one token"),
            shape: ffn(1),
        },
        Preset {
            name: text("FFN batch 64"),
            meaning: text("gate and up of Llama-3.1-8B, 64 tokens"),
            shape: ffn(64),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_whole_and_in_range() {
        for (typed, expected) in [
            ("1", 1),
            (" 4096 ", 4096),
            ("28\u{202f}672", 28_672),
            ("1000000000", 1_000_000_000),
            ("007", 7),
        ] {
            assert_eq!(dimension(Field::M, typed), Ok(expected), "{typed:?}");
        }
        for typed in [
            "",
            " ",
            "0",
            "-1",
            "1.5",
            "1e3",
            "4k",
            "1000000001",
            "10^30",
            "NaN",
            "inf",
            "+5",
            "0x10",
            "99999999999999999999999999999999999999",
            "٣",
        ] {
            let fault = dimension(Field::K, typed).expect_err(typed);
            assert!(
                fault.text.starts_with("K must be a whole number from 1 to 1"),
                "{}",
                fault.text
            );
        }
    }

    #[test]
    fn every_wrong_field_is_named() {
        let inputs = Inputs { m: "x".into(), k: "0".into(), ..Inputs::default() };
        let fields: Vec<Field> =
            inputs.shape().expect_err("two faults").iter().map(|f| f.field).collect();
        assert_eq!(fields, [Field::M, Field::K]);
    }

    #[test]
    fn another_device_drops_the_power_mode() {
        let mut inputs = Inputs { mode: Some("7W".into()), ..Inputs::default() };
        inputs.set_device(inputs.device.clone());
        assert!(inputs.power_mode().is_some());
        inputs.set_device(Cow::Borrowed(catalog::device("t4").expect("catalog key")));
        assert_eq!(inputs.mode, None);
    }

    #[test]
    fn the_ffn_preset_is_that_of_the_model() {
        let model = catalog::model("llama-3.1-8b").expect("catalog key");
        let [.., ffn, _] = presets();
        assert_eq!(ffn.shape.k, model.arch.hidden_size);
        assert_eq!(ffn.shape.n, 2 * 14_336);
    }
}
