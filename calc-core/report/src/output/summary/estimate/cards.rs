//! Several devices: their split, and the table of unlike cards.

use calc_core::estimate::Estimate;
use calc_core::footprint::MemoryFootprint;
use calc_core::parallel::Parallel;
use calc_core::units::Bytes;

use crate::input::request::EstimateInputs;
use crate::number_text as n;
use crate::output::summary::Document;
use crate::output::table::{Align, Table};
use crate::output::words;

/// Adds how several devices share the model, and their link.
pub(super) fn split(out: &mut Document, inputs: &EstimateInputs, answer: &Estimate) {
    let Parallel { tensor, pipeline, expert } = inputs.workload.parallel;
    if tensor * pipeline * expert == 1 {
        return;
    }
    out.line(if answer.cards.is_empty() {
        format!("split       tensor {tensor}, pipeline {pipeline}, expert {expert}; figures are those of one device")
    } else {
        format!("cards       {}", words::cards::places(inputs, answer))
    });
    out.line(format!("link        {}", words::link(&inputs.device)));
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
    let options = words::cards::options(answer);
    if !options.is_empty() {
        let engine = words::apply::engine_name(answer.basis.engine);
        out.line(format!("{engine}: {}", options.join(" ")));
    }
}
