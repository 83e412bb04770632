//! A running inference server (llama.cpp, vLLM, SGLang) that the daemon reads for the page.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::tolerant::known_items;

/// The order to read a server every two seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchEngine {
    /// `http://` with a host of the daemon's machine, such as `127.0.0.1`, and a port.
    pub url: String,
    /// Model and device that it is compared with, by the names of request fields, such as `hardware`.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Texts of the files that fields name: a device, a calibration.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// The state of a server between two readings, in the words of `ridgepoint attach`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EngineReport {
    /// Engine, version, address and model.
    pub heading: String,
    #[serde(default, deserialize_with = "known_items")]
    pub live: Vec<LiveRow>,
    /// Model and device of the comparison; empty where nothing is compared.
    #[serde(default)]
    pub subject: String,
    /// The judgment in a sentence.
    #[serde(default)]
    pub sentence: String,
    #[serde(default, deserialize_with = "known_items")]
    pub rates: Vec<RateRow>,
    /// Possible explanations of the difference, one sentence each.
    #[serde(default)]
    pub explanations: Vec<String>,
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A figure that the server tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveRow {
    pub name: String,
    /// With its unit.
    pub value: String,
    /// How it was found.
    #[serde(default)]
    pub source: String,
}

/// A rate beside the live one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateRow {
    pub name: String,
    /// Token/s of all requests.
    pub rate: String,
    /// Time of a step.
    #[serde(default)]
    pub step: String,
    /// The live rate over this one.
    #[serde(default)]
    pub share: String,
}
