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
    let texts: Vec<String> = texts.collect();
    let idle = |has_room: bool, why: &str| {
        let idle = named.clone().filter(|(load, _)| count(load) == 0 && load.has_room == has_room);
        let idle: Vec<&str> = idle.map(|(_, name)| name).collect();
        if idle.is_empty() {
            return String::new();
        }
        format!("; nothing on {}, which {why}", idle.join(", "))
    };
    let slow = idle(true, "would only slow the answer down");
    let full = idle(false, "has no room for a layer");
    format!("{}{slow}{full}", texts.join(", "))
}

/// Memory of all cards together.
pub fn total(answer: &Estimate) -> Bytes {
    let used = answer.cards.iter().filter_map(|load| load.memory.as_ref());
    used.map(MemoryFootprint::total).sum()
}

/// The options of an engine that put the layers on the cards; none for an engine without any, and for equal devices.
pub fn options(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    let used: Vec<&CardLoad> = answer.cards.iter().filter(|load| count(load) > 0).collect();
    // The LM head is one more layer of llama.cpp, which counts it for models without a head, too.
    let arch = &inputs.model.arch;
    let is_last =
        |load: &CardLoad| load.has_head || !arch.has_head && load.layers.end == arch.n_layers;
    let slots = |load: &CardLoad| count(load) + u64::from(is_last(load));
    let list = |counts: Vec<u64>| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let is_one = used.len() == 1;
    let places: Vec<u64> = (0..)
        .zip(&answer.cards)
        .filter(|(_, load)| count(load) > 0)
        .map(|(place, _)| place)
        .collect();
    let has_idle = used.len() < answer.cards.len();
    let visible = || format!("CUDA_VISIBLE_DEVICES={}", list(places.clone()));
    let on_cards = || format!("-ngl {}", super::placement::layers_on_card(0, &inputs.model.arch));
    match answer.basis.engine {
        _ if used.is_empty() => Vec::new(),
        Engine::LlamaCpp if is_one => {
            vec![on_cards(), "-sm none".to_owned(), format!("-mg {}", list(places))]
        }
        Engine::LlamaCpp => {
            let split = list(answer.cards.iter().map(slots).collect());
            vec![on_cards(), "-sm layer".to_owned(), format!("-ts {split}")]
        }
        Engine::Vllm if is_one => vec![visible()],
        Engine::Vllm => {
            let split = list(used.iter().map(|load| count(load)).collect());
            let stages = [
                format!("VLLM_PP_LAYER_PARTITION={split}"),
                format!("--pipeline-parallel-size {}", used.len()),
            ];
            has_idle.then(visible).into_iter().chain(stages).collect()
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

/// How an engine gets its layers on the cards: `llama.cpp: -ngl 81 -sm layer -ts 47,34`, or that it has no option for it.
pub fn how(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let (options, engine) = (options(inputs, answer), answer.basis.engine);
    let name = super::apply::engine_name(engine);
    match engine {
        Engine::Ollama => format!("{name}: no option sets this cut; {name} {OWN_CUT}"),
        _ if options.is_empty() => format!("{name}: no option is known that sets this cut"),
        _ => format!("{name}: {}", options.join(" ")),
    }
}

/// Where the layers are that an answer by Ollama counts on.
const OWN_CUT: &str = "cuts the layers by itself, by free memory, and its cut may be another one";

/// The sentence on places and options of an answer: `47 of 80 layers on … (derived). llama.cpp: -ngl 81 -sm layer -ts 47,34`.
pub fn sentence(inputs: &EstimateInputs, answer: &Estimate) -> String {
    format!("Cards: {} (derived). {}.", places(inputs, answer), how(inputs, answer))
}

/// Memory that a card has left, or lacks: `1.2 GB`, `3.4 GB short`.
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
pub fn notes(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    if answer.cards.is_empty() {
        return Vec::new();
    }
    let own = "memory is that of the card with the least to spare; work, time and energy are those of all cards, of which one computes at a time";
    let order = order(inputs, answer);
    [own.to_owned()].into_iter().chain(order).collect()
}

/// The cards that numbers in options stand for: engines number them by their own lists.
fn order(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let options = options(inputs, answer);
    let has = |start: &str| options.iter().any(|option| option.starts_with(start));
    let option = ["-ts", "-mg", "CUDA_VISIBLE_DEVICES", "VLLM_PP_LAYER_PARTITION"];
    let option = option.into_iter().find(|option| has(option))?;
    let (head, listed_by) = match answer.basis.engine {
        Engine::LlamaCpp if option == "-ts" => {
            (" and counts the LM head as a layer", "that llama.cpp prints at start")
        }
        Engine::LlamaCpp => ("", "that llama.cpp prints at start"),
        _ => ("", "of the devices of PyTorch"),
    };
    let names = names(inputs).join(", ");
    Some(format!(
        "{option} is for {names} in this order{head}; compare it with the list {listed_by}"
    ))
}

/// Notes on cards whose roofs were disturbed while they were measured, once for each of equal ones.
pub fn disturbed_roofs(inputs: &EstimateInputs) -> Vec<String> {
    let mut notes = Vec::new();
    for card in &inputs.listed {
        let note = super::roofs::disturbed(&card.device);
        let note = note.map(|note| format!("{}: {note}", card.name));
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    notes
}
