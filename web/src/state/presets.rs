//! Preset shapes and scenarios.

use std::borrow::Cow;

use calc_core::catalog;
use calc_core::cost::gemm::GemmShape;
use calc_core::text::{Text, text};

use super::inputs::Inputs;
use super::operator::{Field, Op};

/// A named preset: a shape, or a shape on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    pub name: Text,
    /// Description of the workload.
    pub meaning: Text,
    /// Key of the device and name of its power mode, if the preset includes a device.
    pub device: Option<(&'static str, Option<&'static str>)>,
    pub op: Op,
    /// Values of the operator's fields.
    pub values: Vec<(Field, u64)>,
}

impl Preset {
    /// A matrix product on the currently chosen device.
    pub fn product(name: Text, meaning: Text, GemmShape { m, n, k }: GemmShape) -> Self {
        let values = vec![(Field::M, m), (Field::N, n), (Field::K, k)];
        Self { name, meaning, device: None, op: Op::Gemm, values }
    }

    /// Whether the inputs equal the preset.
    pub fn is_chosen(&self, inputs: &Inputs) -> bool {
        let is_here = self
            .device
            .is_none_or(|(key, mode)| inputs.device.key == key && inputs.mode.as_deref() == mode);
        let same = |(field, value): &(Field, u64)| inputs.typed.number(*field) == Some(*value);
        is_here && inputs.op == self.op && self.values.iter().all(same)
    }

    /// Sets the inputs to the preset.
    pub fn apply(&self, inputs: &mut Inputs) {
        if let Some((key, mode)) = self.device
            && let Ok(device) = catalog::device(key)
        {
            inputs.set_device(Cow::Borrowed(device));
            inputs.mode = mode.map(Into::into);
        }
        inputs.op = self.op;
        for (field, value) in &self.values {
            inputs.typed.set(*field, value.to_string());
        }
    }
}

/// The shapes, and the scenarios of edge, desktop and server.
pub fn presets() -> Vec<Preset> {
    let square = |name, meaning, m| {
        Preset::product(text(name), text(meaning), GemmShape { m, n: 4096, k: 4096 })
    };
    let on = |key, mode, preset| Preset { device: Some((key, mode)), ..preset };
    let ffn = Preset {
        name: text("FFN decode"),
        meaning: text("gate and up, activation and down of Llama-3.1-8B, one token"),
        device: None,
        op: Op::FeedForward,
        values: vec![(Field::Tokens, 1), (Field::Hidden, 4096), (Field::Width, 14_336)],
    };
    let nano = "jetson_orin_nano_8gb_super";
    vec![
        square("decode 4096²", "one token through a square matrix", 1),
        square("prefill 2048", "2048 tokens through a square matrix", 2048),
        ffn,
        on(nano, None, square("edge decode", "one token on a Jetson Orin Nano Super", 1)),
        on(
            nano,
            Some("7W"),
            square("edge at 7 W", "one token on a Jetson Orin Nano Super in its 7 W mode", 1),
        ),
        on("gb10", None, square("desktop decode", "one token on a GB10", 1)),
        on("gb10", None, square("desktop prefill", "2048 tokens on a GB10", 2048)),
        on("h100_sxm", None, square("server prefill", "2048 tokens on an H100", 2048)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::derived::derive;

    #[test]
    fn a_preset_makes_what_it_says() {
        for preset in presets() {
            let mut inputs = Inputs::default();
            preset.apply(&mut inputs);
            assert!(preset.is_chosen(&inputs), "{}", preset.name);
            let kernel = derive(&inputs).expect("valid");
            assert!(kernel.runs, "{}", preset.name);
            if let Some((key, mode)) = preset.device {
                assert_eq!((&*inputs.device.key, inputs.mode.as_deref()), (key, mode));
            }
        }
    }

    #[test]
    fn scenarios_have_their_bound() {
        let bound = |name: &str| {
            let mut inputs = Inputs::default();
            let preset =
                presets().into_iter().find(|preset| preset.name == name).expect("a preset");
            preset.apply(&mut inputs);
            derive(&inputs).expect("valid").sentence
        };
        for (name, expected) in [
            ("edge decode", "Memory-bound"),
            ("edge at 7 W", "Memory-bound"),
            ("desktop decode", "Memory-bound"),
            ("desktop prefill", "Compute-bound"),
            ("server prefill", "Compute-bound"),
        ] {
            assert!(bound(name).starts_with(expected), "{name}: {}", bound(name));
        }
    }

    #[test]
    fn the_ffn_preset_is_that_of_the_model() {
        let model = catalog::model("llama-3.1-8b").expect("catalog key");
        let ffn = presets().into_iter().find(|preset| preset.op == Op::FeedForward).expect("one");
        assert_eq!(ffn.values[1], (Field::Hidden, model.arch.hidden_size));
        assert_eq!(ffn.values[2], (Field::Width, model.arch.dense[0].width));
    }
}
