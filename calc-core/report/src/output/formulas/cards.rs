//! The formulas of unlike cards that share a model: the layers of each, their memory and their time.

use calc_core::estimate::Estimate;
use calc_core::provenance::Provenance;

use crate::input::request::EstimateInputs;
use crate::number_text as text;
use crate::output::lesson;
use crate::output::verdict::explain::Explanation;
use crate::output::words::cards;
use crate::output::words::memory::fullest_card;

/// Says of the parts of the memory on which card they are: the one with the least to spare.
pub(super) fn fullest(inputs: &EstimateInputs, answer: &Estimate, told: &mut [Explanation]) {
    let name = fullest_card(answer).and_then(|index| cards::names(inputs).into_iter().nth(index));
    let Some(name) = name else { return };
    for part in told {
        part.title += &format!(" on {name}");
    }
}

/// The layers of each card with their memory and time.
pub(super) fn layers(inputs: &EstimateInputs, answer: &Estimate) -> Vec<Explanation> {
    let all = inputs.model.arch.n_layers;
    let named = answer.cards.iter().zip(cards::names(inputs));
    let told = named.map(|(load, name)| {
        let held = load.memory.as_ref().map(|memory| {
            let (total, usable) = (text::bytes(memory.total()), text::bytes(memory.usable.bytes));
            let (ideal, expected) = (load.token.ideal, load.token.expected.time);
            format!(
                ", {all} in all: {total} of {usable} usable, {} per token ideal and {} expected",
                text::time(ideal),
                text::time(expected)
            )
        });
        Explanation {
            title: format!("Layers on {name}"),
            formula: "of all cuts into consecutive layers that fit, the one with the least time per token"
                .to_owned(),
            values: format!("{}{}", cards::layers(load), held.unwrap_or_default()),
            provenance: Provenance::Derived,
            source: format!(
                "{} and {}",
                text::published_bandwidth(load.bandwidth),
                text::published_rate(load.layer.peak, load.layer.class)
            )
            .into(),
            lesson: lesson::PARALLEL,
        }
    });
    told.collect()
}
