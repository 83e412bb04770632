//! Unlike cards that share a model by layers, in JSON.

use calc_core::estimate::Estimate;
use calc_core::plan::CardLoad;
use serde::Serialize;

use super::ExpectedJson;
use crate::input::request::EstimateInputs;
use crate::output::words::cards;

/// The layers of a card, their memory, and their time.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CardJson {
    key: String,
    name: String,
    /// Index of its first layer, counted from 0.
    first_layer: u64,
    layers: u64,
    has_lm_head: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<CardMemoryJson>,
    /// Its part of a decode step at the stated context, without the time on links.
    tpot_ideal_s: f64,
    tpot: ExpectedJson,
}

/// Bytes on one card.
#[derive(Debug, Clone, Copy, Serialize)]
struct CardMemoryJson {
    weights: f64,
    kv_cache: f64,
    activations: f64,
    reserve: f64,
    total: f64,
    usable: f64,
    fits: Option<bool>,
}

impl CardJson {
    /// The cards of an answer; none for equal devices.
    pub(super) fn all(inputs: &EstimateInputs, answer: &Estimate) -> Vec<Self> {
        let named = cards::keys(inputs).into_iter().zip(cards::names(inputs));
        answer
            .cards
            .iter()
            .zip(named)
            .map(|(load, (key, name))| Self::new(load, key, name))
            .collect()
    }

    fn new(load: &CardLoad, key: &str, name: &str) -> Self {
        let memory = load.memory.as_ref().map(|memory| CardMemoryJson {
            weights: (memory.weights + memory.towers).get(),
            kv_cache: memory.allotted_cache().get(),
            activations: memory.activations.get(),
            reserve: memory.reserve.get(),
            total: memory.total().get(),
            usable: memory.usable.bytes.get(),
            fits: memory.verdict().fits(),
        });
        Self {
            key: key.to_owned(),
            name: name.to_owned(),
            first_layer: load.layers.start,
            layers: cards::count(load),
            has_lm_head: load.has_head,
            memory,
            tpot_ideal_s: load.token.ideal.get(),
            tpot: load.token.expected.into(),
        }
    }
}
