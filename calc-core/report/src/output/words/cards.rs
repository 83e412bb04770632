//! Unlike cards that share a model by layers: which layers lie where, and the options of engines that put them there.

use calc_core::calibration::Engine;
use calc_core::estimate::Estimate;
use calc_core::footprint::MemoryFootprint;
use calc_core::plan::CardLoad;
use calc_core::units::Bytes;

use crate::input::request::EstimateInputs;
use crate::number_text as n;

/// The names of the cards in the order of their layers.
pub fn names(inputs: &EstimateInputs) -> Vec<&str> {
    inputs.devices().map(|device| &*device.name).collect()
}

/// The keys of the cards in the order of their layers.
pub fn keys(inputs: &EstimateInputs) -> Vec<&str> {
    inputs.devices().map(|device| &*device.key).collect()
}

/// Number of layers of a card.
pub const fn count(load: &CardLoad) -> u64 {
    load.layers.end - load.layers.start
}

/// The layers of a card, counted from 1: `1 to 47`; with the LM head where it is there.
pub fn layers(load: &CardLoad) -> String {
    let head = if load.has_head { " and LM head" } else { "" };
    match count(load) {
        0 => "none".to_owned(),
        1 => format!("{}{head}", load.layers.end),
        _ => format!("{} to {}{head}", load.layers.start + 1, load.layers.end),
    }
}

/// Which layers lie where: `47 of 80 layers on GeForce RTX 4090, 33 and the LM head on GeForce RTX 3090`.
pub fn places(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let all = inputs.model.arch.n_layers;
    let named = answer.cards.iter().zip(names(inputs));
    let used = named.clone().filter(|(load, _)| count(load) > 0);
    let texts = used.enumerate().map(|(index, (load, name))| {
        let of = if index == 0 { format!(" of {all} layers") } else { String::new() };
        let head = if load.has_head { " and the LM head" } else { "" };
        format!("{}{of}{head} on {name}", count(load))
    });
    let idle: Vec<&str> =
        named.filter(|(load, _)| count(load) == 0).map(|(_, name)| name).collect();
    let texts: Vec<String> = texts.collect();
    let idle = match &idle[..] {
        [] => String::new(),
        names => {
            format!("; nothing on {}, which would only slow the answer down", names.join(", "))
        }
    };
    format!("{}{idle}", texts.join(", "))
}

/// Memory of all cards together.
pub fn total(answer: &Estimate) -> Bytes {
    let used = answer.cards.iter().filter_map(|load| load.memory.as_ref());
    used.map(MemoryFootprint::total).sum()
}

/// The options of an engine that put the layers on the cards; none for an engine without any, and for equal devices.
pub fn options(answer: &Estimate) -> Vec<String> {
    let used: Vec<&CardLoad> = answer.cards.iter().filter(|load| count(load) > 0).collect();
    // The LM head is one more layer of llama.cpp.
    let slots = |load: &CardLoad| count(load) + u64::from(load.has_head);
    let list = |counts: Vec<u64>| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let is_one = used.len() == 1;
    let main = answer.cards.iter().position(|load| count(load) > 0).unwrap_or(0);
    match answer.basis.engine {
        _ if used.is_empty() => Vec::new(),
        Engine::LlamaCpp if is_one => ["-ngl 99", "-sm none"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("-mg {main}")])
            .collect(),
        Engine::LlamaCpp => {
            let split = list(answer.cards.iter().map(slots).collect());
            vec!["-ngl 99".to_owned(), "-sm layer".to_owned(), format!("-ts {split}")]
        }
        Engine::Vllm if is_one => vec![format!("CUDA_VISIBLE_DEVICES={main}")],
        Engine::Vllm => {
            let split = list(used.iter().map(|load| count(load)).collect());
            vec![
                format!("VLLM_PP_LAYER_PARTITION={split}"),
                format!("--pipeline-parallel-size {}", used.len()),
            ]
        }
        Engine::Ollama
        | Engine::IdealKernels
        | Engine::Sglang
        | Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc => Vec::new(),
    }
}

/// How an engine gets its layers on the cards: `llama.cpp: -ngl 99 -sm layer -ts 47,34`, or that it has no option for it.
pub fn how(answer: &Estimate) -> String {
    let (options, engine) = (options(answer), answer.basis.engine);
    let name = super::apply::engine_name(engine);
    match engine {
        Engine::Ollama => format!("{name}: no option sets this cut; {name} {OWN_CUT}"),
        _ if options.is_empty() => format!("{name}: no option is known that sets this cut"),
        _ => format!("{name}: {}", options.join(" ")),
    }
}

/// Where the layers are that an answer by Ollama counts on.
const OWN_CUT: &str = "cuts the layers by itself, by free memory, and its cut may be another one";

/// The sentence on places and options of an answer: `47 of 80 layers on … (derived). llama.cpp: -ngl 99 -sm layer -ts 47,34`.
pub fn sentence(inputs: &EstimateInputs, answer: &Estimate) -> String {
    format!("Cards: {} (derived). {}.", places(inputs, answer), how(answer))
}

/// Memory that a card has left, or lacks: `1.2 GB`, `-3.4 GB`.
pub fn spare(load: &CardLoad) -> String {
    let Some(memory) = &load.memory else { return n::NO_NUMBER.to_owned() };
    let spare = memory.usable.bytes - memory.total();
    if spare < Bytes::ZERO {
        format!("{} short", n::bytes(Bytes::ZERO - spare))
    } else {
        n::bytes(spare)
    }
}

/// Notes on an answer of several cards.
pub fn notes(answer: &Estimate) -> Vec<String> {
    if answer.cards.is_empty() {
        return Vec::new();
    }
    let own = "memory is that of the card with the least to spare; work, time and energy are those of all cards, of which one computes at a time";
    let order = match answer.basis.engine {
        Engine::LlamaCpp => Some(
            "-ts counts the LM head as a layer and is in the order of the cards that llama.cpp prints, the fastest first",
        ),
        _ => None,
    };
    [own].into_iter().chain(order).map(str::to_owned).collect()
}
