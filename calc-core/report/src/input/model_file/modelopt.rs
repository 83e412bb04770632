//! `hf_quant_config.json`, in which ModelOpt states the formats of a checkpoint beside its config.json.

use serde_json::{Map, Value, json};

use super::python::without_infinities;

/// Key of the formats in a config.json.
const IN_CONFIG: &str = "quantization_config";
/// Key of the formats in the file of ModelOpt.
const OF_MODELOPT: &str = "quantization";

/// The config.json with the formats of the `hf_quant_config.json` beside it. A config.json that states formats of its own, and
/// texts that are not of these kinds, stay as they are.
pub fn with_quantization(config: &str, beside: &str) -> String {
    joined(config, beside).unwrap_or_else(|| config.into())
}

fn joined(config: &str, beside: &str) -> Option<String> {
    let config = without_infinities(config.strip_prefix('\u{feff}').unwrap_or(config));
    let mut config: Map<String, Value> = serde_json::from_str(&config).ok()?;
    let mut nested = ["text_config", "llm_config", "language_config", "decoder_config"].iter();
    let inner = nested.find_map(|name| config.get(*name)?.get(IN_CONFIG));
    if inner.is_some() || config.get(IN_CONFIG).is_some_and(|stated| !stated.is_null()) {
        return None;
    }
    let beside: Value = serde_json::from_str(&without_infinities(beside)).ok()?;
    let mut formats = beside.get(OF_MODELOPT)?.as_object()?.clone();
    // Checkpoints without an algorithm have a quantized cache alone.
    formats.get("quant_algo").filter(|algorithm| algorithm.is_string())?;
    formats.entry("quant_method").or_insert_with(|| json!("modelopt"));
    config.insert(IN_CONFIG.into(), Value::Object(formats));
    serde_json::to_string(&config).ok()
}

/// True for the text of an `hf_quant_config.json`.
pub(super) fn is_quantization(text: &str) -> bool {
    let file: Option<Map<String, Value>> = serde_json::from_str(text).ok();
    file.is_some_and(|file| file.get(OF_MODELOPT).is_some_and(Value::is_object))
}
