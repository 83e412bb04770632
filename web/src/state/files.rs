//! Reads the user's files: a custom device, a calibration, or the config.json of a model, whose matrices become presets. The
//! command line reads the same files with the same code.
//!
//! `read` converts a file to lines of text, and `understand` parses these into a device, measurements or a model; both are in a
//! lazily loaded chunk.

use std::sync::Arc;

use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::hf_config::Unread;
use calc_core::model_arch::ModelArch;
use calc_core::text::Text;
use report::input::calibration_file;
use report::input::device_file::lines;
use report::input::model_file::lines::{self as model_lines, ModelLines};
use report::input::named_model::NamedModel;
use report::number_text;

use super::fragment;
use super::inputs::Inputs;
use super::model::inputs::Base;
use super::place::Own;
use super::presets::Preset;

/// Largest file that is read, in bytes; descriptions of devices and models are far smaller.
pub const MAX_BYTES: u32 = 16_000_000;

/// An opened file.
#[derive(Debug, Clone)]
pub enum Opened {
    Device(Box<Device>),
    Model(OpenedModel),
    /// A calibration: measurements of a device.
    Own(Own),
}

/// A model from a file.
#[derive(Debug, Clone)]
pub struct OpenedModel {
    /// Name of the model, and its number of parameters.
    pub title: String,
    /// A decode step (one token) through each kind of matrix.
    pub presets: Vec<Preset>,
    /// The whole model, for the Model view.
    pub model: Arc<ModelLines>,
    /// Function that makes this the Model view's model.
    pub take: fn(&Self, &mut Inputs),
}

/// Parses a file and returns it as lines. Device files and calibrations are recognized by keys that models do not have.
///
/// # Errors
/// Returns a sentence with the name of the file, the error and the allowed values.
pub fn read(name: &str, text: &str) -> Result<String, String> {
    if text.contains("\"bandwidth_gb_s\"") || text.contains("\"dense_peaks_tflops\"") {
        let lines = lines::write(text).map_err(|error| format!("{name}: {error}"))?;
        return Ok(format!("device\n{lines}"));
    }
    if text.contains("\"eta_memory\"") || text.contains("\"measured\"") {
        let own = calibration_file::parse(text).map_err(|error| format!("{name}: {error}"))?;
        return Ok(format!("own\n{}", calibration_file::lines::write(&own)));
    }
    let model =
        NamedModel::from_file(name, text, Unread::Refuse).map_err(|error| error.to_string())?;
    Ok(format!("model\n{}", model_lines::write(&model)))
}

/// Parses the lines that [`read`] returned.
///
/// # Errors
/// Returns a sentence if the text is not a result of [`read`].
pub fn understand(reply: &str) -> Result<Opened, String> {
    let strange = || "the file was read, but not understood".to_owned();
    let (kind, rest) = reply.split_once('\n').ok_or_else(strange)?;
    if kind == "device" {
        fragment::arrive();
        return lines::read(rest)
            .map(|device| Opened::Device(Box::new(device)))
            .map_err(|error| error.to_string());
    }
    if kind == "own" {
        fragment::arrive();
        return Own::read(rest).map(Opened::Own).ok_or_else(strange);
    }
    let model = model_lines::read(rest).ok_or_else(strange)?;
    Ok(Opened::Model(OpenedModel {
        title: format!("{}, {} parameters", model.name, number_text::count(model.arch.n_params())),
        presets: presets(&model.arch),
        model: Arc::new(model),
        take: |opened, inputs| inputs.model.set_base(Base::File(opened.model.clone())),
    }))
}

/// A decode step (one token) through each kind of matrix.
fn presets(arch: &ModelArch) -> Vec<Preset> {
    let mut presets: Vec<Preset> = Vec::new();
    arch.matrices(&mut |matrix| {
        let name = matrix.kind.key();
        if !presets.iter().any(|preset| preset.name == name) {
            let shape = GemmShape { m: 1, n: matrix.rows, k: matrix.cols };
            let meaning = Text::Borrowed(matrix.kind.describe());
            presets.push(Preset::product(Text::Borrowed(name), meaning, shape));
        }
    });
    presets
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: &str = include_str!("../../../docs/examples/custom-device.json");
    const OWN: &str = include_str!("../../../docs/examples/calibration.json");
    const MODEL: &str = include_str!("../../../docs/examples/custom-model.json");

    fn open(name: &str, text: &str) -> Result<Opened, String> {
        read(name, text).and_then(|reply| understand(&reply))
    }

    #[test]
    fn the_documented_files_open_here_too() {
        let Ok(Opened::Device(device)) = open("custom-device.json", DEVICE) else {
            panic!("a device")
        };
        assert_eq!(*device, report::input::device_file::parse(DEVICE).expect("a device"));
        let Ok(Opened::Own(own)) = open("calibration.json", OWN) else { panic!("measurements") };
        let parsed = calibration_file::parse(OWN).expect("measurements");
        assert_eq!(own.calibration, parsed.calibration().into());
        let Ok(Opened::Model(model)) = open("custom-model.json", MODEL) else { panic!("a model") };
        let names: Vec<&str> = model.presets.iter().map(|preset| &*preset.name).collect();
        assert_eq!(names, ["qkv", "o_proj", "gate_up", "down"]);
        assert!(model.title.contains("1\u{202f}147\u{202f}766\u{202f}784"), "{}", model.title);
    }

    #[test]
    fn refusals_name_the_file() {
        for text in ["", "{}", "[]", "{\"bandwidth_gb_s\": -1}", "{\"eta_memory\": 1}", "\u{0}"] {
            let error = open("mine.json", text).expect_err("refused");
            assert!(error.starts_with("mine.json: "), "{text}: {error}");
        }
        for reply in [
            "",
            "own",
            "own\nt4\tx",
            "device",
            "device\n",
            "model\nx",
            "model\nname\tx",
            "model\ngeometry\t1",
        ] {
            assert!(understand(reply).is_err(), "{reply}");
        }
    }
}
