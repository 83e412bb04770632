//! Reads the user's files: a custom device, a calibration, or the config.json of a model, whose matrices become presets. The
//! command line reads the same files with the same code. It is in a chunk, with the parser of JSON.

use std::sync::Arc;

use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::hf_config::Unread;
use calc_core::model_arch::ModelArch;
use calc_core::text::Text;
use report::input::calibration_file::{self, lines};
use report::input::device_file;
use report::input::model_file::word::FileModel;
use report::input::named_model::NamedModel;
use report::number_text;

use super::fragment;
use super::inputs::Inputs;
use super::model::file_name;
use super::model::inputs::ModelSource;
use super::place::OwnCalibration;
use super::presets::Preset;

/// Largest file that is read, in bytes; descriptions of devices and models are far smaller.
pub const MAX_BYTES: u32 = 16_000_000;

/// An opened file.
#[derive(Debug, Clone)]
pub enum Opened {
    Device(Box<Device>),
    Model(OpenedModel),
    /// A calibration: measurements of a device.
    Calibration(OwnCalibration),
}

/// A model from a file.
#[derive(Debug, Clone)]
pub struct OpenedModel {
    /// Name of the model, and its number of parameters.
    pub title: String,
    /// A decode step (one token) through each kind of matrix.
    pub presets: Vec<Preset>,
    /// The whole model, for the Model view.
    pub model: Arc<FileModel>,
    /// Function that makes this the Model view's model.
    pub take: fn(&Self, &mut Inputs),
}

/// A file that is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Sentence with the name of the file, the error and the allowed values.
    pub reason: String,
    /// Text of the file, if its unread keys can be taken at their upper bound.
    pub bounded: Option<String>,
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self { reason, bounded: None }
    }
}

/// Reads a file. Device files and calibrations are recognized by keys that models do not have.
///
/// # Errors
/// Returns the reason, and whether the file could be read with its unread keys at their upper bound.
pub fn open(name: &str, text: &str, unread: Unread) -> Result<Opened, Refused> {
    fragment::load_device_codec();
    let strange = || "the file was read, but not understood".to_owned();
    if text.contains("\"bandwidth_gb_s\"") || text.contains("\"dense_peaks_tflops\"") {
        let device = device_file::parse(text).map_err(|error| format!("{name}: {error}"))?;
        return Ok(Opened::Device(Box::new(device)));
    }
    if text.contains("\"eta_memory\"") || text.contains("\"measured\"") {
        let own = calibration_file::parse(text).map_err(|error| format!("{name}: {error}"))?;
        return Ok(Opened::Calibration(
            OwnCalibration::read(&lines::write(&own)).ok_or_else(strange)?,
        ));
    }
    let model = NamedModel::of_config(name, text, unread).map_err(|error| Refused {
        reason: format!("{name}: {}", error.without_flag()),
        bounded: error.has_upper_bound().then(|| text.to_owned()),
    })?;
    let name = match unread {
        Unread::Refuse => model.name.clone(),
        Unread::UpperBound => file_name::bounded(&model.name),
    };
    let model = FileModel::of(&NamedModel { name, ..model }).ok_or_else(strange)?;
    Ok(Opened::Model(opened_model(model)))
}

/// The model of a file for both views.
pub fn opened_model(model: FileModel) -> OpenedModel {
    OpenedModel {
        title: format!(
            "{}, {} parameters",
            model.name,
            number_text::count(model.geometry.arch().n_params())
        ),
        presets: presets(model.geometry.arch()),
        model: Arc::new(model),
        take: |opened, inputs| inputs.model.set_base(ModelSource::File(opened.model.clone())),
    }
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
        super::open(name, text, Unread::Refuse).map_err(|refused| refused.reason)
    }

    #[test]
    fn unread_keys_are_refused_without_a_flag_or_taken_at_their_upper_bound() {
        let text = MODEL.replacen('{', "{\"kv_lora_rank\": 512,", 1);
        let refused = super::open("owner/model", &text, Unread::Refuse).expect_err("unread keys");
        assert!(refused.reason.starts_with("owner/model: `"), "{}", refused.reason);
        assert!(!refused.reason.contains("--"), "{}", refused.reason);
        assert_eq!(refused.bounded.as_deref(), Some(&*text));
        let Ok(Opened::Model(model)) = super::open("owner/model", &text, Unread::UpperBound) else {
            panic!("a model")
        };
        assert_eq!(model.model.name, "owner/model, upper bound");
        let base = ModelSource::File(model.model.clone());
        assert_eq!(base.repository(), "owner/model", "commands name the repository");
        let a = &model.model.geometry.arch().attention[0];
        assert_eq!(a.n_kv_heads, a.n_heads);
        assert!(model.model.notes.iter().any(|note| note.contains("upper bound")));
        let nothing = super::open("mine.json", "{}", Unread::Refuse).expect_err("no model");
        assert_eq!(nothing.bounded, None);
    }

    #[test]
    fn the_documented_files_open_here_too() {
        let Ok(Opened::Device(device)) = open("custom-device.json", DEVICE) else {
            panic!("a device")
        };
        assert_eq!(*device, device_file::parse(DEVICE).expect("a device"));
        let Ok(Opened::Calibration(own)) = open("calibration.json", OWN) else {
            panic!("measurements")
        };
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
    }
}
