//! Several devices: their split, and the table of unlike cards.

use calc_core::estimate::Estimate;
use calc_core::footprint::MemoryFootprint;
use calc_core::parallel::Parallel;
use calc_core::roofline::ComputePath;
use calc_core::units::Bytes;

use crate::input::request::EstimateInputs;
use crate::number_text as n;
use crate::output::summary::Document;
use crate::output::table::{Align, Table};
use crate::output::words;

/// Adds how several devices share the model, and their link.
pub(super) fn split(out: &mut Document, inputs: &EstimateInputs, answer: &Estimate) {
    let Parallel { tensor, pipeline, expert } = inputs.workload.parallel;
    let pipeline = pipeline.stages();
    if inputs.workload.parallel.devices() == 1 {
        return;
    }
    out.line(if answer.cards.is_empty() {
        // A note says of which devices the numbers of stages are.
        let of = if tensor * expert > 1 { "; figures are those of one device" } else { "" };
        format!("split       tensor {tensor}, pipeline {pipeline}, expert {expert}{of}")
    } else {
        format!("cards       {}", words::cards::places(inputs, answer))
    });
    out.line(format!("link        {}", words::link(&inputs.device)));
}

/// The roofs of the device, or of each of several unlike cards with its name.
pub(super) fn roofs(inputs: &EstimateInputs, answer: &Estimate) -> Vec<String> {
    let text = |bandwidth, path: ComputePath| {
        let (peak, class) = (n::published_rate(path.peak, path.class), path.class.key());
        format!("{} DRAM, {peak} {class} dense", n::published_bandwidth(bandwidth))
    };
    if answer.cards.is_empty() {
        return vec![text(answer.bandwidth, answer.paths.layer)];
    }
    let named = answer.cards.iter().zip(words::cards::names(inputs));
    named.map(|(load, name)| format!("{} on {name}", text(load.bandwidth, load.layer))).collect()
}

/// Adds the layers, the memory and the time of each card, and the options that put the layers there.
pub(super) fn cards(out: &mut Document, inputs: &EstimateInputs, answer: &Estimate) {
    out.line(format!("all cards   {}", n::bytes(words::cards::total(answer))));
    let mut table = Table::new(&[
        ("card", Align::Left),
        ("layers", Align::Left),
        ("weights", Align::Right),
        ("KV cache", Align::Right),
        ("total", Align::Right),
        ("spare", Align::Right),
        ("ideal", Align::Right),
        ("per token", Align::Right),
    ]);
    for (load, name) in answer.cards.iter().zip(words::cards::names(inputs)) {
        let bytes = |of: fn(&MemoryFootprint) -> Bytes| {
            load.memory.as_ref().map_or(n::NO_NUMBER.to_owned(), |memory| n::bytes(of(memory)))
        };
        table.push(vec![
            name.to_owned(),
            words::cards::layers(load),
            bytes(|memory| memory.weights + memory.towers),
            bytes(MemoryFootprint::allotted_cache),
            bytes(MemoryFootprint::total),
            words::cards::spare(load),
            n::time(load.token.ideal),
            n::time(load.token.expected.time),
        ]);
    }
    out.heading("Cards");
    out.table(table);
    out.line(words::cards::how(inputs, answer));
}
