//! Lines that make the files of a scheme from the 16-bit weights, and the names of those files.
//!
//! Sources: llm-compressor's `oneshot`, its modifiers as of 0.13 and the preset schemes of compressed-tensors; llama.cpp's
//! `convert_hf_to_gguf.py --help`; `examples/hf_ptq` of NVIDIA ModelOpt; the page on GPTQ of transformers.

use calc_core::catalog::formats;
use calc_core::catalog::model_names::is_hub_id;
use calc_core::scheme::Scheme;

use super::{Deployment, argument, short};
use crate::number_text as text;

/// Weights that an engine loads.
pub(super) struct Checkpoint {
    /// Lines that make them, each with its line break; empty for a repository of the hub.
    pub made_by: String,
    /// Repository or folder, as a word of a command.
    pub path: String,
    /// Format to which the engine quantizes 16-bit weights while it loads them.
    pub quantization: Option<&'static str>,
}

impl Checkpoint {
    /// Weights that are not quantized here.
    pub(super) fn of(name: &str) -> Self {
        Self { made_by: String::new(), path: argument(name), quantization: None }
    }
}

/// The weights that a request names as published, unless they are a GGUF file.
pub(super) fn published(to: &Deployment<'_>) -> Option<Checkpoint> {
    let is_gguf =
        to.repositories.stored.is_some_and(|stored| stored.weights.key.starts_with("gguf_"));
    (!is_gguf).then(|| Checkpoint::of(to.repositories.published))
}

/// Checkpoint for engines that read compressed-tensors; `None` for schemes that the format does not have.
pub(super) fn checkpoint(scheme: &Scheme, to: &Deployment<'_>) -> Option<Checkpoint> {
    match scheme.key {
        "as_published" => return published(to),
        _ if !to.repositories.has_half => return None,
        "half" => return Some(Checkpoint::of(to.repositories.model)),
        "fp8_w8a8" if to.half_that_does_not_fit().is_none() => {
            let half = Checkpoint::of(to.repositories.model);
            return Some(Checkpoint { quantization: Some("fp8"), ..half });
        }
        _ => {}
    }
    let Recipe { suffix, modifiers, is_calibrated } = recipe(scheme, to)?;
    let why = to.half_that_does_not_fit().map_or(String::new(), |half| {
        format!(
            "# the 16-bit weights ({}) do not fit on this device: run the next line where the host's memory holds them\n",
            text::bytes(half)
        )
    });
    let folder = format!("./{}-{suffix}", file_name(to.repositories.model));
    let data = if is_calibrated {
        r#", dataset="open_platypus", num_calibration_samples=512, max_seq_length=2048"#
    } else {
        ""
    };
    let script = format!(
        "from llmcompressor import oneshot; {modifiers}; oneshot(model={}, recipe=recipe{data}, output_dir={})",
        literal(to.repositories.model),
        literal(&folder)
    );
    Some(Checkpoint {
        made_by: format!("{why}python -c {}\n", argument(&script)),
        path: argument(&folder),
        quantization: None,
    })
}

/// Instructions to llm-compressor.
struct Recipe {
    /// End of the folder's name.
    suffix: &'static str,
    /// Python statements that define `recipe`.
    modifiers: String,
    /// Needs a data set: activations or errors are measured.
    is_calibrated: bool,
}

/// Modules that stay in 16 bits, as a list of Python: LM head; routers, which choose experts by small differences; and towers, whose
/// weights an estimate counts in 16 bits. Every published recipe leaves them so.
fn ignored(to: &Deployment<'_>) -> String {
    let mut modules = vec![r#""lm_head""#];
    if to.served.is_some_and(|(arch, _)| arch.has_experts()) {
        modules.push(r#""re:.*(gate|router)$""#);
    }
    if to.served.is_some_and(|(arch, _)| !arch.towers.is_empty()) {
        modules.push(r#""re:.*(visual|vision|audio|multi_modal_projector).*""#);
    }
    format!("[{}]", modules.join(", "))
}

fn recipe(scheme: &Scheme, to: &Deployment<'_>) -> Option<Recipe> {
    let ignore = ignored(to);
    let import = |module: &str, modifier: &str| {
        format!("from llmcompressor.modifiers.{module} import {modifier}")
    };
    let rounded = |preset: &str| {
        let import = import("quantization", "QuantizationModifier");
        format!(
            r#"{import}; recipe = QuantizationModifier(targets="Linear", scheme="{preset}", ignore={ignore})"#
        )
    };
    let (suffix, modifiers, is_calibrated) = match scheme.key {
        "fp8_w8a8" => ("FP8-Dynamic", rounded("FP8_DYNAMIC"), false),
        "int8_w8a16" => ("W8A16", rounded("W8A16"), false),
        "int8_w8a8" => ("W8A8", rounded("W8A8"), false),
        "int4_g128_rtn" => ("W4A16", rounded("W4A16"), false),
        "int4_g128_awq" => {
            let (awq, rounded) = (import("transform.awq", "AWQModifier"), rounded("W4A16_ASYM"));
            ("W4A16-AWQ", format!("{awq}; {rounded}; recipe = [AWQModifier(), recipe]"), true)
        }
        "int4_g128_gptq" => {
            let gptq = import("gptq", "GPTQModifier");
            let recipe = format!(
                r#"{gptq}; recipe = GPTQModifier(targets="Linear", scheme="W4A16", ignore={ignore})"#
            );
            ("W4A16-GPTQ", recipe, true)
        }
        "int4_g32_rtn" => {
            let import = import("quantization", "QuantizationModifier");
            let weights = r#"{"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": False}"#;
            let recipe = format!(
                r#"{import}; recipe = QuantizationModifier(config_groups={{"group_0": {{"targets": ["Linear"], "weights": {weights}}}}}, ignore={ignore})"#
            );
            ("W4A16-G32", recipe, false)
        }
        "nvfp4_w4a16" => ("NVFP4A16", rounded("NVFP4A16"), false),
        "nvfp4_w4a4" => ("NVFP4", rounded("NVFP4"), true),
        "mxfp4_w4a16" => ("MXFP4A16", rounded("MXFP4A16"), false),
        _ => return None,
    };
    Some(Recipe { suffix, modifiers, is_calibrated })
}

/// Lines that make a GGUF file of a type, and the file.
pub(super) fn gguf(file: &str, to: &Deployment<'_>) -> (String, String) {
    let model = to.repositories.model;
    let (half, path) = (gguf_path(model, "f16"), gguf_path(model, file));
    // A single product stands for no model that could be converted.
    let converted = to.served.map_or(String::new(), |_| convert(model));
    let is_half = file == "f16";
    // The converted file has the published experts, which llama-quantize refuses to quantize again.
    let has_mxfp4 =
        to.repositories.stored.is_some_and(|stored| stored.experts == Some(&formats::MXFP4));
    let kept = if has_mxfp4 { "--tensor-type exps=mxfp4 " } else { "" };
    let made_by = if is_half {
        converted
    } else {
        format!("{converted}llama-quantize {kept}{half} {path} {file}\n")
    };
    (made_by, path)
}

/// The line that makes the GGUF file of a tower, and that file; `None` where no tower counts in memory. The script puts `mmproj-`
/// before the name of its output.
pub(super) fn tower(to: &Deployment<'_>) -> Option<(String, String)> {
    to.served.filter(|(arch, _)| !arch.towers.is_empty())?;
    let model = to.repositories.model;
    let remote = if is_hub_id(model) { "--remote " } else { "" };
    let (name, file) = (argument(model), gguf_name(model, "f16"));
    let made_by = format!(
        "python convert_hf_to_gguf.py {remote}{name} --mmproj --outtype f16 --outfile {}\n",
        argument(&file)
    );
    Some((made_by, argument(&format!("mmproj-{file}"))))
}

/// The line that makes the drafter's GGUF file; empty where the workload drafts with no model.
pub(super) fn draft(to: &Deployment<'_>) -> String {
    to.drafts().map_or(String::new(), |(draft, _)| convert(draft))
}

/// GGUF file of a model and file type, as a word of a command.
pub(super) fn gguf_path(model: &str, file: &str) -> String {
    argument(&gguf_name(model, file))
}

pub(super) fn gguf_name(model: &str, file: &str) -> String {
    format!("{}-{file}.gguf", file_name(model))
}

/// The line that converts a repository or folder to a GGUF file in FP16.
fn convert(model: &str) -> String {
    let remote = if is_hub_id(model) { "--remote " } else { "" };
    let file = gguf_path(model, "f16");
    format!(
        "python convert_hf_to_gguf.py {remote}{} --outtype f16 --outfile {file}\n",
        argument(model)
    )
}

/// Checkpoint that ModelOpt writes for TensorRT-LLM; `None` for schemes without a format of its script.
pub(super) fn modelopt(scheme: &Scheme, to: &Deployment<'_>) -> Option<Checkpoint> {
    let (suffix, format) = match scheme.key {
        "as_published" => return published(to),
        _ if !to.repositories.has_half => return None,
        "half" => return Some(Checkpoint::of(to.repositories.model)),
        "fp8_w8a8" => ("FP8", "fp8"),
        "int4_g128_awq" => ("INT4-AWQ", "int4_awq"),
        "nvfp4_w4a4" => ("NVFP4", "nvfp4"),
        _ => return None,
    };
    let model = to.repositories.model;
    let path = argument(&format!("./{}-{suffix}", file_name(model)));
    let made_by = format!(
        "# hf_ptq.py is in the examples of NVIDIA ModelOpt\n\
         python hf_ptq.py --pyt_ckpt_path {} --qformat {format} --kv_cache_qformat none --export_path {path}\n",
        argument(model)
    );
    Some(Checkpoint { made_by, path, quantization: None })
}

/// The line that makes a GPTQ checkpoint in 4 bits and groups of 128 below `models`, and its folder's name.
pub(super) fn gptq(model: &str) -> (String, String) {
    let name = format!("{}-GPTQ", file_name(model));
    let (model, folder) = (literal(model), literal(&format!("models/{name}")));
    let script = format!(
        r#"from transformers import AutoModelForCausalLM, AutoTokenizer, GPTQConfig; tokenizer = AutoTokenizer.from_pretrained({model}); config = GPTQConfig(bits=4, group_size=128, dataset="c4", tokenizer=tokenizer); model = AutoModelForCausalLM.from_pretrained({model}, device_map="auto", quantization_config=config); model.save_pretrained({folder}); tokenizer.save_pretrained({folder})"#
    );
    (format!("python -c {}\n", argument(&script)), name)
}

/// Last component of a model's name, as part of a file name.
pub(super) fn file_name(model: &str) -> String {
    if model.chars().any(char::is_control) { "MODEL".to_owned() } else { plain(short(model)) }
}

/// A string of Python. Control characters, which no name has, make it a stand-in.
fn literal(text: &str) -> String {
    let is_broken = text.chars().any(char::is_control);
    format!("\"{}\"", if is_broken { "MODEL".to_owned() } else { plain(text) })
}

/// The text without the letters that end a string of Python.
fn plain(text: &str) -> String {
    text.replace(['"', '\\'], "")
}
